import { decodeQuantity, encodeQuantity } from '../../../base/hex.ts'
import { invalidParams } from '../../../provider/error.ts'
import { params as read } from '../../../provider/params.ts'
import { describeStored, type Stored } from '../block.ts'
import type { BlockStore } from '../block-store.ts'
import { type Method, MethodError, type Methods, rpcCodes } from '../json-rpc.ts'

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
