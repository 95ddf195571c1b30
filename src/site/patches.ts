import { type Fields, fieldsOf } from '../cli/words/value.ts'

/** A change to the input of a vector: sets what is at a path of names and indices joined by dots, or the length of the list there. */
interface Patch {
  readonly path: string
  readonly value?: unknown
  readonly length?: number
}

/** The vector with the changed input of its base in place of `patches`. Both are of this project. Does not modify the base. */
export function applyPatches(vector: unknown, base: unknown): Fields {
  const { patches, ...rest } = fieldsOf(vector)
  const { input: original } = fieldsOf(base)
  const input: unknown = structuredClone(original)
  // The generator has written them.
  for (const { path, value, length } of patches as readonly Patch[]) {
    const names = path.split('.')
    const last = length === undefined ? names.pop() : undefined
    const holder = names.reduce((at: unknown, name) => Reflect.get(Object(at), name), input)
    Reflect.set(Object(holder), last ?? 'length', last === undefined ? length : value)
  }
  return { ...rest, input }
}
