import { decodeArgument } from '../../base/arguments.ts'
import { equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { bytesUpTo } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { mismatch } from '../tree/path.ts'

const reader = readerOf('BAD_HEX')

/** keccak256 of the empty string: the code hash of an account without code. */
export const EMPTY_CODE_HASH: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/**
 * Verifies contract code, such as `eth_getCode` answers, against the code hash of a proven account.
 *
 * @param code hexadecimal; `0x` for an account without code
 * @param codeHash 32 bytes, keccak256: the `codeHash` of an account that `verifyProof` returned
 * @returns the code, decoded
 * @throws ProofError `CODE_HASH_MISMATCH`, `BAD_HEX`; ArgumentError
 *
 * @example
 * ```ts
 * import { verifyCode } from 'rollup-state-proof'
 *
 * const codeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
 * console.log(verifyCode('0x', codeHash).length) // 0
 * ```
 */
export function verifyCode(code: unknown, codeHash: Hex): Uint8Array {
  const expected = decodeArgument('codeHash', codeHash, 32)
  const bytes = atPath('code', () => bytesUpTo(reader, Number.POSITIVE_INFINITY)(code))
  const found = keccak256(bytes)
  if (!equalBytes(found, expected)) throw mismatch('CODE_HASH_MISMATCH', expected, found)
  return bytes
}
