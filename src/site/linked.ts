import { MAX_KEPT_BYTES, MAX_LINK_CHARACTERS, MAX_LINKED_BYTES } from './limits.ts'

/** A file in the fragment of a link, which no browser sends to a server; and the file of this tab, over a reload. */

/** What the fragment of such a link begins with. */
export const LINKED = 'z.'

/** The file as a part of a fragment; null if it is too large, or the browser compresses nothing. */
export async function packFile(blob: Blob): Promise<string | null> {
  if (blob.size > MAX_LINKED_BYTES || typeof CompressionStream === 'undefined') return null
  const packed = await new Response(blob.stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer()
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

const KEY = 'file'

/** Keeps a file for a reload of this tab, unless it is too large, or the browser keeps nothing. */
export async function keepForReload(source: string, { blob, name }: KeptFile): Promise<void> {
  try {
    sessionStorage.removeItem(KEY)
    if (blob.size > MAX_KEPT_BYTES) return
    const text = await blob.text()
    sessionStorage.setItem(KEY, JSON.stringify([source, name, text]))
  } catch {
    // It is a convenience.
  }
}

/** The file that was kept; null if it is another one. */
export function keptForReload(source: string): KeptFile | null {
  try {
    const [kept, name, text] = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return kept === source ? { name: String(name), blob: new Blob([String(text)]) } : null
  } catch {
    return null
  }
}

export function forgetKept(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // There is nothing to forget.
  }
}
