import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bigintToBytes, bytesToHex, concatBytes, equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { bytesUpTo } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { mismatch } from '../tree/path.ts'

/**
 * The storage slot of an entry in a Solidity mapping, 32 bytes: keccak256(key || slot).
 *
 * @param entry `slot`: where the mapping is declared, a number, or 32 bytes if the mapping is itself inside something else.
 * `keys`: one key, or several that lead into nested mappings, the outermost first; each a number (any uint type), an address
 * of 20 bytes, or 32 bytes (bytes32)
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { mappingSlot } from 'rollup-state-proof'
 *
 * // mapping(address owner => mapping(address spender => uint256)) allowances, declared in slot 1
 * const owner = '0x00000000000000000000000000000000000000aa'
 * const spender = '0x00000000000000000000000000000000000000bb'
 * const ofOwner = mappingSlot({ slot: 1n, keys: [owner] })
 * console.log(mappingSlot({ slot: 1n, keys: [owner, spender] }) === mappingSlot({ slot: ofOwner, keys: [spender] })) // true
 * ```
 */
export function mappingSlot(entry: { slot: bigint | Hex; keys: readonly (bigint | Hex)[] }): Hex {
  const { slot, keys } = readOptions('', entry, ['slot', 'keys'])
  const declared = word('slot', slot)
  const words = readItems('keys', keys, mappingKey)
  if (words.length === 0) throw invalid('keys', 'at least one key', keys)
  return bytesToHex(words.reduce<Uint8Array>((running, key) => keccak256(concatBytes(key, running)), declared))
}

/**
 * The storage key of a slot number, 32 bytes.
 *
 * @param slot from 0 to 2^256 - 1, as the compiler reports it for a variable
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { slotKey } from 'rollup-state-proof'
 *
 * console.log(slotKey(2n)) // 0x0000000000000000000000000000000000000000000000000000000000000002
 * ```
 */
export function slotKey(slot: bigint): Hex {
  return bytesToHex(bigintToBytes(verifyUint('slot', slot, 256), 32))
}

function mappingKey(key: bigint | Hex): Uint8Array {
  const isAddress = typeof key === 'string' && key.length === 2 + 2 * 20
  return isAddress ? concatBytes(new Uint8Array(12), decodeArgument('', key, 20)) : word('', key)
}

/** A number as 32 bytes, big-endian; 32 bytes unchanged. */
function word(name: string, value: bigint | Hex): Uint8Array {
  if (typeof value === 'bigint') return bigintToBytes(verifyUint(name, value, 256), 32)
  if (typeof value === 'string') return decodeArgument(name, value, 32)
  throw invalid(name, 'a bigint, or 0x-prefixed hexadecimal of 32 bytes', value)
}

const reader = /* @__PURE__ */ readerOf('BAD_HEX')

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
