/**
 * Writes what this package returns as JSON: `JSON.stringify` throws for bigints, here they become decimal strings.
 *
 * @param value anything; what JSON cannot express at all becomes `null`
 * @param space the indentation, as for `JSON.stringify`
 * @throws TypeError if the value contains itself
 *
 * @example
 * ```ts
 * import { stringify } from 'rollup-state-proof'
 *
 * console.log(stringify({ balance: 10n ** 18n })) // {"balance":"1000000000000000000"}
 * ```
 */
export function stringify(value: unknown, space?: string | number | undefined): string {
  function encode(this: unknown, name: string, part: unknown): unknown {
    // A toJSON that the program gave to all bigints, often for want of this function, has been called on the part already.
    const own: unknown = Reflect.get(Object(this), name)
    const number = typeof own === 'bigint' || own instanceof BigInt ? own : part
    return typeof number === 'bigint' || number instanceof BigInt ? `${number}` : part
  }
  // The compiler does not know that it returns undefined for undefined, functions and symbols.
  const text: string | undefined = JSON.stringify(value, encode, space)
  return text ?? 'null'
}
