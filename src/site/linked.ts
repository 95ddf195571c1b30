import { MAX_LINK_CHARACTERS, MAX_LINKED_BYTES } from './limits.ts'

/**
 * A file in the fragment of a link, which no browser sends to a server. A link carries no words about the file: whoever made it
 * could put words of trust into somebody's mouth.
 */

/** What the fragment of such a link begins with. */
export const LINKED = 'z.'

/** The file as a part of a fragment; null if it is too large, or the browser compresses nothing. */
export async function packFile(blob: Blob): Promise<string | null> {
  if (blob.size > MAX_LINKED_BYTES || typeof CompressionStream === 'undefined') return null
  const stream = blob.stream().pipeThrough(new CompressionStream('deflate-raw'))
  const packed = new Uint8Array(await new Response(stream).arrayBuffer())
  const characters = Array.from(packed, byte => String.fromCharCode(byte)).join('')
  const text = btoa(characters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return text.length > MAX_LINK_CHARACTERS ? null : `${LINKED}${text}`
}

/** The file in such a part of a fragment; null if there is none. A stranger may have made it: what it unpacks to is bounded. */
export async function unpackFile(source: string): Promise<Blob | null> {
  try {
    const characters = atob(source.slice(LINKED.length).replaceAll('-', '+').replaceAll('_', '/'))
    const packed = new Blob([Uint8Array.from(characters, character => character.charCodeAt(0))])
    const reader = packed.stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
    const parts: Uint8Array<ArrayBuffer>[] = []
    for (let size = 0; size <= MAX_LINKED_BYTES; ) {
      const { done, value } = await reader.read()
      if (done) return new Blob(parts)
      size += value.length
      parts.push(value)
    }
    void reader.cancel()
  } catch {
    // It is no such part, or the browser unpacks nothing.
  }
  return null
}
