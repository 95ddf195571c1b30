import { printable } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { invalidParams, isProviderError } from '../../provider/error.ts'
import type { Failure } from '../../provider/json-rpc.ts'
import { params as read } from '../../provider/requests.ts'
import { Refusal } from '../http/server.ts'
import { type BlockStore, describeStored, type Stored } from './block.ts'

/** An error to send to the client. The HTTP status counts only if there is no JSON-RPC answer to hold the error. */
export class MethodError extends Refusal {
  readonly code: number

  constructor(code: number, message: string, status = 500, headers: Readonly<Record<string, string>> = {}) {
    super(status, message, headers)
    this.code = code
  }
}

export const rpcCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  serverError: -32000,
  limited: -32005,
} as const

export type Method = (params: readonly unknown[]) => unknown
export type Methods = ReadonlyMap<string, Method>

export async function answerRequest(methods: Methods, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = methods.get(method)
  if (answer !== undefined) return answer(params)
  throw new MethodError(rpcCodes.methodNotFound, `the method ${printable(method.slice(0, 80))} does not exist`)
}

/** What a client gets to see of what a method throws. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof MethodError || isProviderError(error)))
    return { code: rpcCodes.internal, message: 'internal error' }
  const { code, message } = error
  return { code, message }
}

export const blockNotFound = () => new MethodError(rpcCodes.serverError, 'block not found')

/** The number of a block that is given by number, by tag or by hash (EIP-1898). @param tags the number that each tag stands for */
export function readBlock(
  block: unknown,
  tags: Readonly<Record<string, bigint>>,
  { numberOf }: Pick<BlockStore<never>, 'numberOf'>,
): bigint {
  const isObject = typeof block === 'object' && block !== null
  const { blockHash, blockNumber } = isObject ? read.fields('block', block, ['blockHash', 'blockNumber']) : {}
  if (blockHash !== undefined) {
    const number = numberOf(read.bytes('block hash', blockHash, 32))
    if (number === undefined) throw blockNotFound()
    return number
  }
  const given = isObject ? blockNumber : block
  const tagged = typeof given === 'string' && Object.hasOwn(tags, given) ? tags[given] : undefined
  const number = tagged ?? decodeQuantity(given, 64)
  if (number === null) throw invalidParams(`block: expected a quantity or one of ${Object.keys(tags).join(', ')}`)
  return number
}

/** The methods that both endpoints have, and those of one. @param numberOf reads the number of a block from a parameter */
export function methodsOf(
  chainId: bigint,
  blocks: BlockStore<Stored>,
  numberOf: (block: unknown) => bigint,
  others: Record<string, Method>,
): Methods {
  const constant =
    (value: () => string): Method =>
    params =>
      read.take(params, 0, 0) && value()
  const common: Record<string, Method> = {
    eth_chainId: constant(() => encodeQuantity(chainId)),
    net_version: constant(() => `${chainId}`),
    web3_clientVersion: constant(() => 'rollup-state-proof'),
    eth_blockNumber: constant(() => encodeQuantity(blocks.newest())),
    eth_getBlockByNumber(params) {
      const [block, isFull] = read.take(params, 1, 2)
      return describeStored(blocks.at(numberOf(block)), isFull === true)
    },
    eth_getBlockByHash(params) {
      const [hash, isFull] = read.take(params, 1, 2)
      const number = blocks.numberOf(read.bytes('block hash', hash, 32)) ?? -1n
      return describeStored(blocks.at(number), isFull === true)
    },
  }
  return new Map(Object.entries({ ...common, ...others }))
}
