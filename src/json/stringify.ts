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
  const encode = (_: string, part: unknown) => (typeof part === 'bigint' ? `${part}` : part)
  // The compiler does not know that it returns undefined for undefined, functions and symbols.
  const text: string | undefined = JSON.stringify(value, encode, space)
  return text ?? 'null'
}
