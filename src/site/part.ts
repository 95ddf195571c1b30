import { guessSchemeOfPath, leafPaths, schemeNamed } from '../cli/words/answer.ts'
import { brief, fieldsOf, isObject, printable, show } from '../cli/words/value.ts'
import { type ByteField, entries, readFields } from './bytes.ts'
import { MAX_NAME_CHARACTERS, MAX_PART_CHARACTERS, PARTS_PER_STEP } from './limits.ts'

/** The file itself, part by part, and single digits of it that are changed. */

/** Names and indexes, from the outside in. */
export type Place = readonly (string | number)[]

/** Another digit in a text of the file. */
export interface DigitChange {
  readonly place: Place
  readonly at: number
  readonly digit: string
}

export interface PartRow {
  readonly name: string | number
  /** What can be opened has a size, and a text has characters. */
  readonly kind: 'list' | 'object' | 'hex' | 'text'
  readonly size: number
  readonly text: string
  /** What the bytes mean, if the specification says so. */
  readonly fields: readonly ByteField[]
}

export type Part = ReturnType<typeof viewPart>

export const withDigits = (content: unknown, changes: readonly DigitChange[]): unknown =>
  changes.reduce((changed, { place, at, digit }) => withDigit(changed, place, at, digit), content)

function withDigit(value: unknown, [name, ...inside]: Place, at: number, digit: string): unknown {
  if (name === undefined) return typeof value === 'string' ? value.slice(0, at) + digit + value.slice(at + 1) : value
  const change = (part: unknown) => withDigit(part, inside, at, digit)
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? change(item) : item))
  return isObject(value) && Object.hasOwn(value, name) ? { ...value, [name]: change(value[name]) } : value
}

const partAt = (content: unknown, place: Place): unknown =>
  place.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
    content,
  )

/** Some of what an object or a list holds. @param scheme as the form states it */
export function viewPart(content: unknown, place: Place, start: number, scheme: string) {
  const part = partAt(content, place)
  const all: readonly (readonly [string | number, unknown])[] = Array.isArray(part)
    ? [...part.entries()]
    : Object.entries(fieldsOf(part))
  const rows = all.slice(start, start + PARTS_PER_STEP).map(([name, value]): PartRow => {
    const isLong = typeof name === 'string' && name.length > MAX_NAME_CHARACTERS
    const shown = { name: isLong ? brief(name) : name, fields: [] }
    if (Array.isArray(value) && !isLong) return { ...shown, kind: 'list', size: value.length, text: '' }
    if (isObject(value) && !isLong) return { ...shown, kind: 'object', size: Object.keys(value).length, text: '' }
    if (typeof value !== 'string') return { ...shown, kind: 'text', size: 0, text: show(value) }
    const text = printable(value.slice(0, MAX_PART_CHARACTERS))
    const isHex = /^0x[0-9a-fA-F]*$/.test(text) && !isLong
    const fields = isHex ? fieldsAt(content, [...place, name], value, scheme) : []
    return { ...shown, fields, kind: isHex ? 'hex' : 'text', size: value.length, text }
  })
  return { rows, total: all.length }
}

function fieldsAt(content: unknown, place: Place, text: string, name: string): readonly ByteField[] {
  const entry = entries.find(one => one === place.at(-1))
  const holder = place.slice(0, place.at(-2) === 'proofRelatedNodes' ? -2 : -1)
  const isInside = leafPaths.some(({ proof }) => proof === holder.at(-1))
  const scheme = schemeNamed(name) ?? guessSchemeOfPath(partAt(content, holder))
  if (entry === undefined || !isInside || scheme === undefined) return []
  return readFields(scheme, place.includes('accountProof') ? 0 : 1, entry, text).fields
}

/** Where in the file an object or a list is; null if it is not in it. */
export function placeOfPart(content: unknown, wanted: unknown): Place | null {
  if (typeof content !== 'object' || content === null || typeof wanted !== 'object') return null
  if (content === wanted) return []
  for (const [name, value] of Array.isArray(content) ? content.entries() : Object.entries(content)) {
    const inside = placeOfPart(value, wanted)
    if (inside !== null) return [name, ...inside]
  }
  return null
}
