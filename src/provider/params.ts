import { printable } from '../base/errors.ts'
import { isGiven } from '../base/json/known-fields.ts'
import { paramsReader } from '../client/transport/params.ts'
import { invalidParams } from './error.ts'

export const params = paramsReader(message => invalidParams(`${message}.`))

/** Refuses an object that has other fields than these: a field that is ignored could change the result elsewhere. */
export function refuseOtherFields(place: string, value: unknown, known: readonly string[]): void {
  const others = params.names(place, value).filter(name => !known.includes(name))
  const given = params.fields(place, value, others)
  const other = others.find(name => isGiven(given[name]))
  if (other === undefined) return
  throw invalidParams(`The ${place} has a field that is not supported here: ${printable(other.slice(0, 40))}.`)
}

/** @param isForWallet whether `pending` is the block of the view, too: whoever sends asks for it, and nothing proves what waits */
export function readBlock(value: unknown, isForWallet: boolean): bigint | 'latest' {
  const named = typeof value === 'object' && value !== null ? blockNumberIn(value) : (value ?? 'latest')
  if (named === 'latest' || named === 'safe' || named === 'finalized') return 'latest'
  if (named === 'pending' && isForWallet) return 'latest'
  if (named === 'pending')
    throw invalidParams('The block tag pending has no proof: wallets get `latest` for it, see `forward`.')
  if (named === 'earliest') throw invalidParams('The block tag earliest has no proof.')
  return params.quantity('block', named, 64)
}

/** EIP-1898. Refuses block hashes: few blocks have a state that is proven, and clients name these by number. */
function blockNumberIn(block: object): unknown {
  const { blockNumber, blockHash } = params.fields('block', block, ['blockNumber', 'blockHash'])
  if (blockNumber !== undefined && blockHash === undefined) return blockNumber
  throw invalidParams('The block is not given by its number, and by its hash it is not looked up here.')
}
