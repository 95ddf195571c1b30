/** All places in a JSON document, as paths of keys. */
export function placesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, key]))]
}

/** A copy of `value` with the part at `path` replaced by the result of `change`. */
export function changedAt(value: unknown, path: readonly string[], change: (part: unknown) => unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  if (typeof value !== 'object' || value === null) throw new Error('no such place')
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value }
  return Object.assign(copy, { [key]: changedAt(Reflect.get(value, key), rest, change) })
}
