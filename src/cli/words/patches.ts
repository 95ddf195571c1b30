import { DocumentError } from './error.ts'
import { type Fields, fieldsOf, hasFields, isObject, show } from './value.ts'

/** A vector can state its input as a list of changes to the input of another vector, its base. Neither is trusted. */

/**
 * The name of the base, a file in the folder `valid` beside the vector's own folder; null if the vector has no base.
 *
 * @throws DocumentError if it is not a plain name, because it must not lead to any other folder
 */
export function baseNameOf(vector: unknown): string | null {
  if (!hasFields(vector, 'base', 'patches')) return null
  const { base } = fieldsOf(vector)
  if (typeof base === 'string' && /^[a-z0-9-]{1,100}$/.test(base)) return base
  throw new DocumentError(`base: expected the name of a vector, got ${show(base)}`)
}

/** The vector with the changed input of its base in place of `patches`. Does not modify the base. @throws DocumentError */
export function applyPatches(vector: unknown, base: unknown): Fields {
  const { patches, ...rest } = fieldsOf(vector)
  const { input: original } = fieldsOf(base)
  if (!Array.isArray(patches)) throw new DocumentError(`patches: expected an array, got ${show(patches)}`)
  const input: unknown = structuredClone(original)
  for (const patch of patches) applyPatch(input, patch)
  return { ...rest, input }
}

/** Sets the `value` at a path of names and indices joined by dots, or truncates the array there to a `length`. */
function applyPatch(input: unknown, patch: unknown): void {
  const { path, value, length } = fieldsOf(patch)
  if (typeof path !== 'string') throw new DocumentError(`a patch needs a path, got ${show(path)}`)
  const refused = () => new DocumentError(`nothing can be changed at the path ${path}`)
  const memberOf = (holder: unknown, name: string): unknown => {
    // Own members only: `__proto__` would lead to the prototype that all objects share.
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) throw refused()
    return Reflect.get(holder, name)
  }
  const names = path.split('.')
  if (hasFields(patch, 'length')) {
    const list = names.reduce(memberOf, input)
    const isShorter = Array.isArray(list) && typeof length === 'number' && length >= 0 && length <= list.length
    if (!isShorter || !Number.isInteger(length)) throw refused()
    list.length = length
    return
  }
  if (!hasFields(patch, 'value')) throw refused()
  const name = names.pop() ?? ''
  const holder = names.reduce(memberOf, input)
  // At most one past the end: an array with a gap of millions would take hours to read.
  const isPlace = Array.isArray(holder) ? /^\d{1,9}$/.test(name) && Number(name) <= holder.length : isObject(holder)
  if (!isPlace) throw refused()
  // Not an assignment, because assigning to `__proto__` would replace the prototype.
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true })
}
