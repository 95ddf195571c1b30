/** What a stranger's JSON value is, and what to call it. */

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What fits in a word, as it is; of the rest no more than what it is: an object can fail to become a string. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  return isObject(value) ? 'an object' : String(value)
}
