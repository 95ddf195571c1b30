import { encodeQuantity } from '../../base/hex.ts'
import { type Fields, fieldIn } from './value.ts'

/** What is proven, as vectors write it. */

/** Of a state, with only the nonce and the balance of the account. */
export const spellEvidence = ({ account, ...rest }: Fields): object =>
  spellNumbers({
    ...rest,
    account: account && { nonce: fieldIn(account, 'nonce'), balance: fieldIn(account, 'balance') },
  })

/** The fields, with hexadecimal quantities for all bigints. */
export const spellNumbers = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, spellNumber(value)]))

const spellNumber = (value: unknown): unknown => {
  if (typeof value === 'bigint') return encodeQuantity(value)
  return typeof value === 'object' && value !== null ? spellNumbers(value) : value
}
