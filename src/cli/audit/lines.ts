import { DocumentError } from '../words/value.ts'
import { MAX_LINES } from './limits.ts'

export interface Batch {
  readonly firstLine: number
  readonly count: number
  /** The lines, as they came. Of a line that is too long, only the beginning, which is too long as well. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In bytes, without the terminator. */
  readonly maxLineLength: number
}

const [LF, CR] = [0x0a, 0x0d]

/** The `indexOf` of a buffer is many times faster than that of a typed array. */
const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length)

/**
 * Splits a stream of bytes into batches of whole lines, at least one for each chunk that ends one. Never holds more than a chunk and one
 * line in memory. A line ends with `\n` or `\r\n`; the last one may end with the input. An empty line is a line.
 */
export async function* readBatches(chunks: AsyncIterable<Uint8Array>, maxLineLength: number): AsyncGenerator<Batch> {
  let firstLine = 1
  // The beginning of a line whose end is still on its way, and whether the line was too long.
  let [open, length, isDropped] = [Buffer.alloc(0), 0, false]
  const batchOf = (count: number, more: Uint8Array): Batch => {
    const bytes = new Uint8Array(length + more.length)
    bytes.set(open.subarray(0, length))
    bytes.set(more, length)
    const batch = { firstLine, count, bytes, maxLineLength }
    firstLine += count
    length = 0
    return batch
  }
  for await (const bytes of chunks) {
    const chunk = asBuffer(bytes)
    let start = isDropped ? chunk.indexOf(LF) + 1 : 0
    if (isDropped && start === 0) continue
    isDropped = false
    for (let count = 1, end = chunk.indexOf(LF, start) + 1; end > 0; count++) {
      const next = chunk.indexOf(LF, end) + 1
      if (next === 0 || count === MAX_LINES) {
        yield batchOf(count, chunk.subarray(start, end))
        start = end
        count = 0
      }
      end = next
    }
    const rest = chunk.subarray(start)
    // Twice the length, so that a line of many chunks is copied few times.
    if (length + rest.length > open.length) open = Buffer.concat([open], 2 * (length + rest.length))
    length += rest.copy(open, length)
    // One more byte may be the carriage return of its terminator.
    if (length <= maxLineLength + 1) continue
    length = maxLineLength + 2
    yield batchOf(1, new Uint8Array())
    open = Buffer.alloc(0)
    isDropped = true
  }
  if (length > 0) yield batchOf(1, new Uint8Array())
}

export function* linesOf({ bytes, count, maxLineLength }: Batch): Generator<Uint8Array | null> {
  const buffer = asBuffer(bytes)
  for (let start = 0, index = 0; index < count; index++) {
    const found = buffer.indexOf(LF, start)
    const next = found < 0 ? bytes.length : found
    const end = next > start && bytes[next - 1] === CR ? next - 1 : next
    yield end - start > maxLineLength ? null : bytes.subarray(start, end)
    start = next + 1
  }
}

export type Lines = AsyncGenerator<string, undefined, undefined>

/** The lines of a stream, as texts. @throws DocumentError as soon as one has more bytes, because it may have no end */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxLineLength: number): Lines {
  let line = 0
  for await (const batch of readBatches(chunks, maxLineLength)) {
    for (const bytes of linesOf(batch)) {
      line++
      if (bytes === null) throw new DocumentError(`line ${line} is longer than ${maxLineLength} bytes`)
      yield asBuffer(bytes).toString()
    }
  }
  return undefined
}

export type RowFormat = 'ndjson' | 'csv'

export const formatOf = (path: string): RowFormat => (path.endsWith('.csv') ? 'csv' : 'ndjson')

/** Numbers, hexadecimal and fixed names, by column. */
export type Row = Readonly<Record<string, unknown>>

/** A format for rows with these columns. What a row does not have is empty in CSV, and left out of JSON. */
export function rowWriter(columns: readonly string[], format: RowFormat) {
  const isCsv = format === 'csv'
  return {
    /** The line before the rows; empty if the format has none. */
    heading: isCsv ? `${columns.join()}\n` : '',
    lineOf(row: Row): string {
      // Nothing in a row needs quotes.
      if (isCsv) return `${columns.map(name => `${row[name] ?? ''}`).join()}\n`
      const fields = columns.flatMap(name => (row[name] == null ? [] : [[name, row[name]] as const]))
      return `${JSON.stringify(Object.fromEntries(fields), (_, field) => (typeof field === 'bigint' ? `${field}` : field))}\n`
    },
  }
}
