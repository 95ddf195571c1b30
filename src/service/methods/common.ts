import { decodeQuantity, encodeQuantity } from '../../hex.ts'
import { paramsReader } from '../../rpc/params.ts'
import { type Block, describeBlock } from '../block.ts'
import type { BlockStore } from '../block-store.ts'
import { type Method, MethodError, type Methods, rpcCodes } from '../json-rpc.ts'

export const invalidParams = (message: string) => new MethodError(rpcCodes.invalidParams, message)

export const blockNotFound = () => new MethodError(rpcCodes.serverError, 'block not found')

export const read = paramsReader(invalidParams)

/** @param tags the number that each tag stands for */
export function readBlock(block: unknown, tags: Readonly<Record<string, bigint>>): bigint {
  const tagged = typeof block === 'string' && Object.hasOwn(tags, block) ? tags[block] : undefined
  const number = tagged ?? decodeQuantity(block, 64)
  if (number === null) throw invalidParams(`block: expected a quantity or one of ${Object.keys(tags).join(', ')}`)
  return number
}

/**
 * The methods that both endpoints have, and those of one. Blocks have no transactions, so the parameter that requests them in full is ignored.
 *
 * @param numberOf reads the number of a block from a parameter
 */
export function methodsOf(
  chainId: bigint,
  blocks: BlockStore<{ readonly block: Block }>,
  numberOf: (block: unknown) => bigint,
  others: Record<string, Method>,
): Methods {
  const constant =
    (value: () => string): Method =>
    params =>
      read.take(params, 0, 0) && value()
  const describe = (number: bigint | undefined) => {
    const stored = number === undefined ? undefined : blocks.at(number)
    return stored ? describeBlock(stored.block) : null
  }
  const common: Record<string, Method> = {
    eth_chainId: constant(() => encodeQuantity(chainId)),
    net_version: constant(() => `${chainId}`),
    web3_clientVersion: constant(() => 'rollup-state-proof'),
    eth_blockNumber: constant(() => encodeQuantity(blocks.newest())),
    eth_getBlockByNumber: params => describe(numberOf(read.take(params, 1, 2)[0])),
    eth_getBlockByHash: params => describe(blocks.numberOf(read.bytes('block hash', read.take(params, 1, 2)[0], 32))),
  }
  return new Map(Object.entries({ ...common, ...others }))
}
