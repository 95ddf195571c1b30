import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { MAX_FILE_DEPTH } from '../../base/json/limits.ts'
import { ExcessiveJson, parseBounded } from '../../base/json/parse.ts'
import { MAX_TEXT_CHARACTERS } from './limits.ts'

/** A file that cannot be used for its purpose. The message says why, and is worded to follow the file's name. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
}

export { isGiven }

/** Reads and describes JSON values from outside. Only own properties count. */

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The own properties of an object, without a prototype, so that a missing name stays missing. Empty for any other value. */
export const fieldsOf = (value: unknown): Fields =>
  Object.assign(Object.create(null), isObject(value) ? value : undefined)

/** One own property of an object; undefined for any other value. */
export const fieldIn = (value: unknown, name: string): unknown => (isObject(value) ? readOwn(value, name) : undefined)

export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const hasFields = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every(name => Object.hasOwn(value, name))

/** A string, number, boolean or null as text; an object or array only by its kind, because converting one can throw. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  return isObject(value) ? 'an object' : String(value)
}

/** Replaces whatever could move the cursor, recolour or reverse the text, in a terminal or on a page. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')

/** Of a JSON text: escapes what {@link printable} replaces, which occurs only inside strings, where an escape means the same. */
export const escapeUnprintable = (json: string): string =>
  json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, text => text.replace(/[\s\S]/g, escapeUnit))

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Cuts a text that is longer than `most` to `kept` characters, and says how many it had. */
export const cut = (text: string, most: number, kept = most): string =>
  text.length <= most ? text : `${text.slice(0, kept)}... (${text.length} characters)`

export const brief = (text: string): string =>
  text.length > MAX_TEXT_CHARACTERS
    ? `${printable(text.slice(0, MAX_TEXT_CHARACTERS))}… (${text.length} characters)`
    : printable(text)

/** How a text is encoded: as PowerShell writes it, UTF-16 says so with its byte order mark. */
export const encodingOf = ([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' =>
  first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'

/** Parses a JSON text in UTF-8, or in UTF-16 with a byte order mark. @throws DocumentError */
export function parseJson(bytes: Uint8Array): unknown {
  const encoding = encodingOf(bytes)
  // The decoder is fatal, because it must not replace bytes silently. It drops the byte order mark.
  const decoder = new TextDecoder(encoding, { fatal: true })
  const text = orDocumentError(`not ${encoding.toUpperCase()}`, () => decoder.decode(bytes))
  if (text.trim() === '') throw new DocumentError('empty')
  if (/^.?\0/s.test(text)) throw new DocumentError('UTF-16 without a byte order mark: save it as UTF-8')
  try {
    return parseBounded(text, MAX_FILE_DEPTH)
  } catch (error) {
    if (error instanceof ExcessiveJson) throw new DocumentError(`more than this program reads: ${error.message}`)
    const [first = '', ...more] = text.trimStart().split('\n', 2)
    throw new DocumentError(
      more.length > 0 && isJson(first)
        ? 'one JSON text per line: the command audit reads such files of answers or evidence of state, diff those of traces'
        : `not JSON: ${messageOf(error)}`,
    )
  }
}

function isJson(text: string): boolean {
  try {
    parseBounded(text, MAX_FILE_DEPTH)
    return true
  } catch {
    return false
  }
}

function orDocumentError<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new DocumentError(`${what}: ${messageOf(error)}`)
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
