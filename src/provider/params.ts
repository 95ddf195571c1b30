import type { Hex } from '../bytes.ts'
import { invalidParams } from './error.ts'

/** Limit on the data of a call, in bytes. Init code has at most 48 KiB, and no calldata comes near this. */
const MAX_DATA_LENGTH = 2 ** 20
const MAX_LISTED = 1024

/** An own property of a value that a client sent. Null counts as undefined. */
export const ownOf = (source: object, name: string): unknown =>
  Object.hasOwn(source, name) ? (Reflect.get(source, name) ?? undefined) : undefined

/** Returns `least` to `most` parameters. Omitted parameters at the end are undefined. */
export function takeParams(params: unknown, least: number, most: number): readonly unknown[] {
  const given = params === undefined ? [] : params
  if (!Array.isArray(given)) throw invalidParams('They are not an array.')
  const isLess = given.length < least
  if (isLess || given.slice(most).some(param => param !== undefined && param !== null)) {
    throw invalidParams(`Expected ${least === most ? least : `${least} to ${most}`}, got ${given.length}.`)
  }
  return given.slice(0, most)
}

export function readObject(place: string, value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw invalidParams(`${place} is not an object.`)
}

/** Hexadecimal of `length` bytes, in lower case. */
export function readHex(place: string, value: unknown, length: number): Hex {
  if (typeof value === 'string' && value.length === 2 + 2 * length && /^0x[0-9a-f]*$/i.test(value)) {
    return `0x${value.slice(2).toLowerCase()}`
  }
  throw invalidParams(`${place} is not 0x-prefixed hexadecimal of ${length} bytes.`)
}

export function readData(place: string, value: unknown): Hex {
  if (typeof value === 'string' && value.length <= 2 + 2 * MAX_DATA_LENGTH && value.length % 2 === 0) {
    if (/^0x[0-9a-f]*$/i.test(value)) return `0x${value.slice(2).toLowerCase()}`
  }
  throw invalidParams(`${place} is not 0x-prefixed hexadecimal of at most ${MAX_DATA_LENGTH} bytes.`)
}

/** Reads a quantity. Leading zeros are allowed, because clients send them. */
export function readQuantity(place: string, value: unknown, bits: number): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) {
    const quantity = BigInt(value)
    if (quantity < 1n << BigInt(bits)) return quantity
  }
  throw invalidParams(`${place} is not a quantity below 2^${bits}.`)
}

/** Reads the number of a slot, as a quantity or as 32 bytes. */
export function readSlot(place: string, value: unknown): Hex {
  return `0x${readQuantity(place, value, 256).toString(16).padStart(64, '0')}`
}

/** An array of at most 1024 items. */
export function readList<T>(place: string, value: unknown, read: (place: string, item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw invalidParams(`${place} is not an array.`)
  if (value.length > MAX_LISTED) throw invalidParams(`${place} has more than ${MAX_LISTED} items.`)
  return Array.from(value, (item, index) => read(`${place}[${index}]`, item))
}

/** Reads the block that a client requests. `latest` is the block of the view. */
export function readBlock(value: unknown): bigint | 'latest' {
  const named = typeof value === 'object' && value !== null ? blockNumberIn(value) : (value ?? 'latest')
  if (named === 'latest' || named === 'safe' || named === 'finalized') return 'latest'
  if (named === 'pending' || named === 'earliest') throw invalidParams(`The block tag ${named} has no proof.`)
  return readQuantity('The block', named, 64)
}

/** EIP-1898. Refuses block hashes, because no proof shows which block a hash belongs to. */
function blockNumberIn(block: object): unknown {
  const number = ownOf(block, 'blockNumber')
  if (number === undefined || ownOf(block, 'blockHash') !== undefined) {
    throw invalidParams('The block is not given by its number: block hashes are not proven.')
  }
  return number
}
