import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeArgument, invalid } from '../arguments.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, concatBytes, type Hex } from '../bytes.ts'
import { ArgumentError } from '../errors.ts'

const WORD_LENGTH = 32
const ADDRESS_LENGTH = 20
const SLOT_COUNT = 1n << 256n

/**
 * The storage slot of an entry in a Solidity mapping, 32 bytes: keccak256(key || slot). Further keys lead into nested mappings.
 *
 * @param slot where the mapping is declared: a number, or 32 bytes if the mapping is itself inside something else
 * @param keys each a number (any uint type), an address of 20 bytes, or 32 bytes (bytes32)
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { mappingSlot } from 'rollup-state-proof/anchor'
 *
 * // mapping(address owner => mapping(address spender => uint256)) allowances, declared in slot 1
 * const owner = '0x00000000000000000000000000000000000000aa'
 * const spender = '0x00000000000000000000000000000000000000bb'
 * console.log(mappingSlot(1n, owner, spender) === mappingSlot(mappingSlot(1n, owner), spender)) // true
 * ```
 */
export function mappingSlot(slot: bigint | Hex, ...keys: readonly (bigint | Hex)[]): Hex {
  if (keys.length === 0) throw new ArgumentError({ path: 'keys', expected: 'at least one key' })
  return bytesToHex(
    keys.reduce<Uint8Array>(
      (running, key, index) => keccak_256(concatBytes(mappingKey(`keys[${index}]`, key), running)),
      word('slot', slot),
    ),
  )
}

/**
 * The storage slot where element `index` of a Solidity dynamic array begins, 32 bytes: keccak256(slot) + index * size.
 *
 * @param slot where the array is declared
 * @param index of the element; for elements that share a slot, that of the slot
 * @param slotsPerElement how many slots an element takes
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { arraySlot } from 'rollup-state-proof/anchor'
 *
 * // struct Point { uint256 x; uint256 y; }  Point[] points, declared in slot 3
 * const [first, second] = [arraySlot(3n, 0n, 2n), arraySlot(3n, 1n, 2n)]
 * console.log(BigInt(second) - BigInt(first)) // 2n
 * ```
 */
export function arraySlot(slot: bigint | Hex, index: bigint, slotsPerElement = 1n): Hex {
  const first = bytesToBigint(keccak_256(word('slot', slot)))
  const offset = bytesToBigint(word('index', index)) * bytesToBigint(word('slotsPerElement', slotsPerElement))
  return bytesToHex(bigintToBytes((first + offset) % SLOT_COUNT, WORD_LENGTH))
}

/** The storage key of slot number `slot`, 32 bytes. Throws an ArgumentError. */
export const slotKey = (slot: bigint): Hex => bytesToHex(word('slot', slot))

function mappingKey(name: string, key: bigint | Hex): Uint8Array {
  const isAddress = typeof key === 'string' && key.length === 2 + 2 * ADDRESS_LENGTH
  if (!isAddress) return word(name, key)
  return concatBytes(new Uint8Array(WORD_LENGTH - ADDRESS_LENGTH), decodeArgument(name, key, ADDRESS_LENGTH))
}

/** A number as 32 bytes, big-endian; 32 bytes unchanged. */
function word(name: string, value: bigint | Hex): Uint8Array {
  if (typeof value === 'string') return decodeArgument(name, value, WORD_LENGTH)
  if (typeof value !== 'bigint') throw invalid(name, 'a bigint, or 0x-prefixed hexadecimal of 32 bytes', value)
  if (value < 0n || value >= SLOT_COUNT) {
    throw new ArgumentError({ path: name, expected: 'a number from 0 to 2^256 - 1', found: `${value}` })
  }
  return bigintToBytes(value, WORD_LENGTH)
}
