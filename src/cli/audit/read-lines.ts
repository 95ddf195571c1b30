import { invalid } from '../../base/arguments.ts'
import { hasMethod, readOptions, verifyWhole } from '../../base/options.ts'
import { DEFAULT_LINE_LENGTH, MAX_LINE_LENGTH } from './limits.ts'
import { linesOf, readBatches } from './lines.ts'

/** A stream as browsers and `fetch` have them: any `ReadableStream<Uint8Array>` is one. */
export interface ByteStream {
  /** Locks the stream. */
  getReader(): {
    /** The next chunk. */
    read(): Promise<{
      /** Whether the stream has ended. */
      done: boolean
      /** Bytes, if it has not. */
      value?: Uint8Array | undefined
    }>
    /** Ends the stream. */
    cancel(): Promise<void>
  }
}

/** How {@link readLines} splits a stream. */
export interface ReadLinesOptions {
  /** The maximum length of a line, in bytes, without its end. Default: 16 MiB. */
  maxLineLength?: number | undefined
}

export const TOO_LONG = 'longer than a record may be'
const NOT_UTF8 = 'not UTF-8'
/** What stands in place of a line without a text. Neither is JSON, and each is the reason of its verdict. */
export const TEXTS_IN_PLACE_OF_LINES: readonly string[] = [TOO_LONG, NOT_UTF8]

/**
 * Splits a stream of UTF-8 into lines, for `verifyRecords`. A line ends with `\n` or `\r\n`; the last one may end with the
 * stream. Empty lines are lines. Never holds more than one chunk and one line.
 *
 * In place of a line that is too long, it yields `longer than a record may be`; in place of one that is not UTF-8, `not UTF-8`:
 * `verifyRecords` gives each an `unreadable` verdict, and goes on.
 *
 * @param stream such as `response.body`, a file's `createReadStream`, or the output of a `DecompressionStream`
 * @param options the maximum length of a line
 * @returns the lines, without their ends. It throws what the stream throws, after the lines that came before
 * @throws ArgumentError if the stream is none, or an option is unknown or invalid; while it is read, if its chunks are not bytes
 *
 * @example
 * ```ts
 * import { readLines } from 'rollup-state-proof/bulk'
 *
 * const { body } = new Response('{"a":1}\n{"b":2}')
 * if (body !== null) for await (const line of readLines(body)) console.log(line)
 * // {"a":1}
 * // {"b":2}
 * ```
 */
export function readLines(
  stream: AsyncIterable<Uint8Array> | ByteStream,
  options: ReadLinesOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { maxLineLength = DEFAULT_LINE_LENGTH } = readOptions('', options, ['maxLineLength'])
  verifyWhole('maxLineLength', maxLineLength, 1, MAX_LINE_LENGTH)
  if (!hasMethod(stream, Symbol.asyncIterator) && !hasMethod(stream, 'getReader')) {
    throw invalid('stream', 'a stream of bytes', stream)
  }
  return linesIn(Symbol.asyncIterator in stream ? stream : chunksOf(stream), maxLineLength)
}

async function* linesIn(chunks: AsyncIterable<Uint8Array>, maxLineLength: number) {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  const textOf = (line: Uint8Array | null): string => {
    if (line === null) return TOO_LONG
    try {
      return utf8.decode(line)
    } catch {
      return NOT_UTF8
    }
  }
  // A batch ends with its first line: whoever waits for a line gets it as soon as it is there.
  for await (const batch of readBatches(onlyBytes(chunks), { batchLength: 1, maxLineLength })) {
    for (const line of linesOf(batch)) yield textOf(line)
  }
}

async function* onlyBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array)) throw invalid('stream', 'chunks of bytes', chunk)
    yield chunk
  }
}

/** Not every browser can iterate over its streams. */
async function* chunksOf(stream: ByteStream): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      if (value !== undefined) yield value
    }
  } finally {
    await reader.cancel()
  }
}
