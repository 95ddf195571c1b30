import { MAX_KEPT_BYTES, MAX_LINK_CHARACTERS, MAX_LINKED_BYTES } from './limits.ts'
import type { Suggested } from './statement.ts'

/**
 * A file in the fragment of a link, which no browser sends to a server; and the file of this tab, over a reload. A link carries no
 * words about the file: whoever made it could put words of trust into somebody's mouth.
 */

/** What the fragment of such a link begins with. */
export const LINKED = 'z.'

/** The file as a part of a fragment; null if it is too large, cannot be read, or the browser compresses nothing. */
export async function packFile(blob: Blob): Promise<string | null> {
  if (blob.size > MAX_LINKED_BYTES || typeof CompressionStream === 'undefined') return null
  const stream = blob.stream().pipeThrough(new CompressionStream('deflate-raw'))
  const packed = await new Response(stream).arrayBuffer().catch(() => null)
  if (packed === null) return null
  const characters = Array.from(new Uint8Array(packed), byte => String.fromCharCode(byte)).join('')
  const text = btoa(characters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return text.length > MAX_LINK_CHARACTERS ? null : `${LINKED}${text}`
}

/** The file in such a part of a fragment; null if there is none. A stranger may have made it: what it unpacks to is bounded. */
export async function unpackFile(source: string): Promise<Blob | null> {
  if (source.length > MAX_LINK_CHARACTERS + LINKED.length || typeof DecompressionStream === 'undefined') return null
  try {
    const characters = atob(source.slice(LINKED.length).replaceAll('-', '+').replaceAll('_', '/'))
    const packed = new Blob([Uint8Array.from(characters, character => character.charCodeAt(0))])
    const reader = packed.stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
    const parts: Uint8Array<ArrayBuffer>[] = []
    for (let size = 0; ; ) {
      const { done, value } = await reader.read()
      if (done) return new Blob(parts)
      size += value.length
      if (size > MAX_LINKED_BYTES) {
        void reader.cancel()
        return null
      }
      parts.push(value)
    }
  } catch {
    return null
  }
}

export interface KeptFile {
  readonly blob: Blob
  readonly name: string
}

/** What is kept over a reload of this tab: a file; and the visitor's own words about it, which no link carries. */
const [FILE, WORDS] = ['file', 'words']

/** @param of what it belongs to @param parts none if nothing is to be kept */
function keep(key: string, of: string, ...parts: readonly unknown[]): void {
  try {
    sessionStorage.removeItem(key)
    if (parts.length > 0) sessionStorage.setItem(key, JSON.stringify([of, ...parts]))
  } catch {
    // It is a convenience, which browsers can forbid.
  }
}

/** The parts that are kept of it; none if they belong to something else. */
function kept(key: string, of: string): readonly unknown[] {
  try {
    const [owner, ...parts] = JSON.parse(sessionStorage.getItem(key) ?? '[]')
    return owner === of && of !== '' ? parts : []
  } catch {
    return []
  }
}

/** What was to be kept last: a file that is read later must not take its place. */
let latest: KeptFile | null = null

/** Keeps a file for a reload of this tab, unless it is too large, or the browser keeps nothing. */
export async function keepForReload(source: string, file: KeptFile): Promise<void> {
  latest = file
  const { blob, name } = file
  // On disk, it may have changed since it was opened.
  const text = blob.size > MAX_KEPT_BYTES ? null : await blob.text().catch(() => null)
  if (latest === file) keep(FILE, source, ...(text === null ? [] : [name, text]))
}

/** The file that was kept; null if it is another one. */
export function keptForReload(source: string): KeptFile | null {
  const [name, text] = kept(FILE, source)
  return text === undefined ? null : { name: String(name), blob: new Blob([String(text)]) }
}

/** Keeps what the visitor has typed or confirmed about a file. @param digest of the file */
export const keepWords = (digest: string, words: Suggested): void => keep(WORDS, digest, words)

/** What the visitor has said of this very file; nothing if it was of another one. */
export const keptWords = (digest: string): Suggested => Object(kept(WORDS, digest)[0])

export function forgetKept(): void {
  latest = null
  keep(FILE, '')
  keep(WORDS, '')
}
