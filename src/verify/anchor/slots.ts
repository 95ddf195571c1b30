import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bigintToBytes, bytesToHex, concatBytes, type Hex } from '../../base/bytes.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { keccak256 } from '../hash/keccak/index.ts'

const WORD_LENGTH = 32
const ADDRESS_LENGTH = 20

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
  return bytesToHex(bigintToBytes(verifyUint('slot', slot, 256), WORD_LENGTH))
}

function mappingKey(key: bigint | Hex): Uint8Array {
  const isAddress = typeof key === 'string' && key.length === 2 + 2 * ADDRESS_LENGTH
  if (!isAddress) return word('', key)
  return concatBytes(new Uint8Array(WORD_LENGTH - ADDRESS_LENGTH), decodeArgument('', key, ADDRESS_LENGTH))
}

/** A number as 32 bytes, big-endian; 32 bytes unchanged. */
function word(name: string, value: bigint | Hex): Uint8Array {
  if (typeof value === 'bigint') return bigintToBytes(verifyUint(name, value, 256), WORD_LENGTH)
  if (typeof value === 'string') return decodeArgument(name, value, WORD_LENGTH)
  throw invalid(name, 'a bigint, or 0x-prefixed hexadecimal of 32 bytes', value)
}
