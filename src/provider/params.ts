import { paramsReader } from '../rpc/params.ts'
import { invalidParams } from './error.ts'

export const params = paramsReader(message => invalidParams(`${message}.`))

/** Reads the block that a client requests. `latest` is the block of the view. */
export function readBlock(value: unknown): bigint | 'latest' {
  const named = typeof value === 'object' && value !== null ? blockNumberIn(value) : (value ?? 'latest')
  if (named === 'latest' || named === 'safe' || named === 'finalized') return 'latest'
  if (named === 'pending' || named === 'earliest') throw invalidParams(`The block tag ${named} has no proof.`)
  return params.quantity('block', named, 64)
}

/** EIP-1898. Refuses block hashes, because no proof shows which block a hash belongs to. */
function blockNumberIn(block: object): unknown {
  const { blockNumber, blockHash } = params.fields('block', block, ['blockNumber', 'blockHash'])
  if (blockNumber !== undefined && blockHash === undefined) return blockNumber
  throw invalidParams('The block is not given by its number: block hashes are not proven.')
}
