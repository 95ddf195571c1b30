/** The known parts of a document: a scalar, the fields of an object, or the shape of the items of an array. */
export type Shape = 'scalar' | { readonly fields?: Readonly<Record<string, Shape>>; readonly items?: Shape }

export const scalars = (names: readonly string[]): Shape => ({
  fields: Object.fromEntries(names.map(name => [name, 'scalar'] as const)),
})

/** How {@link pickKnown} treats the values that it copies. */
export interface Admission {
  /** Called before each value is copied, with its length in characters. Throws if the total is too large. */
  charge(length: number): void
  /** Returns what to keep of a string; null to drop it. */
  admitText(text: string): string | null
}

/** The cost of a value that is not a string, so that a list of empty objects is charged too. */
const SMALL = 8

/**
 * Copies the known fields of an untrusted document. Reads own properties only, and drops everything else. A value of the wrong
 * kind stays wrong, so that the verifier can report it: an object in place of a string becomes an empty object. A value that
 * cannot be read counts as missing.
 */
export function pickKnown(source: unknown, shape: Shape, admission: Admission): unknown {
  admission.charge(typeof source === 'string' ? source.length : SMALL)
  if (typeof source === 'string') return admission.admitText(source)
  if (typeof source === 'number' || typeof source === 'boolean' || source === null) return source
  if (typeof source !== 'object') return undefined
  const isList = tryRead(() => Array.isArray(source))
  if (isList === undefined) return undefined
  const { fields: known = {}, items } = shape === 'scalar' ? {} : shape
  if (isList) return items === undefined ? [] : pickItems(source, items, admission)
  const fields: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(known)) {
    const value = readOwn(source, name)
    if (value !== undefined) fields[name] = pickKnown(value, kind, admission)
  }
  return fields
}

function pickItems(source: object, shape: Shape, admission: Admission): unknown[] | null {
  const length = readOwn(source, 'length')
  // A proxy can report any length, but every item is charged. What has no length is no list.
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) return null
  const items: unknown[] = []
  for (let index = 0; index < length; index++) {
    items.push(pickKnown(readOwn(source, index) ?? null, shape, admission))
  }
  return items
}

/** The own property of this name; undefined if there is none or reading it fails. A getter or a proxy can throw anything. */
export const readOwn = (source: object, name: PropertyKey): unknown =>
  tryRead(() => (Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined))

/** null counts as missing: some serializers write it for a missing field. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
