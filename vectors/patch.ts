/** Sets the value at the path (names and indices joined by dots), or truncates the array there. */
export type Patch = { path: string; value: unknown } | { path: string; length: number }

/** The patches that turn `before` into `after`. */
export function difference(before: unknown, after: unknown, path: readonly (string | number)[] = []): Patch[] {
  if (Object.is(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after) && after.length - before.length < 2) {
    const patches = after.flatMap((item, index) => difference(before[index], item, [...path, index]))
    return after.length < before.length ? [...patches, { path: path.join('.'), length: after.length }] : patches
  }
  if (!isObject(before) || !isObject(after))
    return [{ path: path.join('.'), value: after === undefined ? null : after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap(name => difference(before[name], after[name], [...path, name]))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
