import type { Hex } from '../../base/bytes.ts'
import { lowerCase } from '../../base/hex.ts'
import { isGiven } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'

const reader = readerOf('ARGUMENT_INVALID')
/** Whether it is hexadecimal of `least` to `most` digits. The length is checked before the digits. */
const isHex = (value: unknown, least: number, most: number): value is string =>
  typeof value === 'string' && value.length >= 2 + least && value.length <= 2 + most && /^0x[0-9a-f]*$/i.test(value)

/**
 * Makes readers of the parameters that clients of JSON-RPC send. `place` names a parameter in messages. Hexadecimal is returned
 * in lower case.
 *
 * @param refuse makes the error for a parameter that does not fit
 */
export function paramsReader(refuse: (message: string) => Error) {
  /** Of any length up to `most` bytes. */
  function data(place: string, value: unknown, most: number): Hex {
    if (isHex(value, 0, 2 * most) && value.length % 2 === 0) return lowerCase(value)
    throw refuse(`${place}: expected 0x-prefixed hexadecimal of at most ${most} bytes`)
  }

  /** Leading zeros are allowed, because clients send them. */
  function quantity(place: string, value: unknown, bits: number): bigint {
    const number = isHex(value, 1, 64) ? BigInt(value) : null
    if (number !== null && number < 1n << BigInt(bits)) return number
    throw refuse(`${place}: expected a quantity below 2^${bits}`)
  }

  return {
    data,
    quantity,
    /** Returns `least` to `most` parameters. Omitted parameters at the end are undefined. */
    take(params: unknown, least: number, most: number): readonly unknown[] {
      const given = params === undefined ? [] : params
      if (!Array.isArray(given)) throw refuse('params: expected an array')
      if (given.length >= least && !given.slice(most).some(isGiven)) return given.slice(0, most)
      throw refuse(`params: expected ${least === most ? least : `${least} to ${most}`} parameters, got ${given.length}`)
    },
    /** The own properties of an object. A null counts as undefined. */
    fields<Name extends string>(place: string, value: unknown, names: readonly Name[]) {
      try {
        return reader.fields(value, names)
      } catch {
        throw refuse(`${place}: expected an object`)
      }
    },
    /** The names of the own properties of an object, as they are. */
    names(place: string, value: unknown): readonly string[] {
      try {
        reader.fields(value, [])
        return Object.keys(Object(value))
      } catch {
        throw refuse(`${place}: expected an object`)
      }
    },
    /** Of exactly `length` bytes. */
    bytes(place: string, value: unknown, length: number): Hex {
      if (isHex(value, 2 * length, 2 * length)) return lowerCase(value)
      throw refuse(`${place}: expected 0x-prefixed hexadecimal of ${length} bytes`)
    },
    /** The number of a slot, as a quantity or as 32 bytes. */
    slot: (place: string, value: unknown): Hex => `0x${quantity(place, value, 256).toString(16).padStart(64, '0')}`,
    /** An array of at most `most` items. */
    list<T>(place: string, value: unknown, most: number, read: (place: string, item: unknown) => T): T[] {
      if (!Array.isArray(value)) throw refuse(`${place}: expected an array`)
      if (value.length > most) throw refuse(`${place}: expected at most ${most} items`)
      return Array.from(value, (item, index) => read(`${place}[${index}]`, item))
    },
  }
}
