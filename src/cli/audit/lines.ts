import { DocumentError } from '../words/error.ts'
import { MAX_LINES } from './limits.ts'

/** Whole lines of an input, to be verified in one go. */
export interface Batch {
  /** The number of its first line, from 1. */
  readonly firstLine: number
  readonly count: number
  /** The lines, without terminators, joined by `\n`. A line that was too long is empty here. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Which lines were too long, counted from 0 within the batch. */
  readonly tooLong: readonly number[]
}

const [LF, CR] = [0x0a, 0x0d]

/** The `indexOf` of a buffer is many times faster than that of a typed array. */
const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length)

interface BatchLimits {
  /** A batch ends with the first line that brings it to this many bytes. */
  readonly batchLength: number
  /** In bytes, without the terminator; the content of a longer line is dropped as it arrives. */
  readonly maxLineLength: number
}

/**
 * Splits a stream of bytes into batches of whole lines. Never holds more than one batch and one line in memory.
 *
 * If the input fails, yields the whole lines before the failure, and then rethrows its error.
 *
 * A line ends with `\n` or `\r\n`; the last one may end with the input. An empty line is a line.
 *
 * @param requireShort called as soon as a line is too long, with its number
 */
export async function* readBatches(
  chunks: AsyncIterable<Uint8Array>,
  limits: BatchLimits,
  requireShort = (_: number) => {},
): AsyncGenerator<Batch> {
  const { batchLength } = limits
  let firstLine = 1
  let batch = createBatch(limits)
  try {
    for await (const bytes of chunks) {
      const chunk = asBuffer(bytes)
      let start = 0
      while (start < chunk.length) {
        const end = chunk.indexOf(LF, start)
        batch.add(chunk.subarray(start, end < 0 ? chunk.length : end))
        if (batch.isTooLong) requireShort(firstLine + batch.count)
        if (end < 0) break
        batch.endLine()
        if (batch.length >= batchLength || batch.count >= MAX_LINES) {
          yield batch.finish(firstLine)
          firstLine += batch.count
          batch = createBatch(limits)
        }
        start = end + 1
      }
    }
  } catch (error) {
    // Keeps the lines that are complete, and drops the one that was cut off.
    batch.dropOpenLine()
    if (batch.count > 0) yield batch.finish(firstLine)
    throw error
  }
  if (batch.isInsideLine) batch.endLine()
  if (batch.count > 0) yield batch.finish(firstLine)
}

function createBatch({ batchLength, maxLineLength }: BatchLimits) {
  // Room for the line that ends the batch, so that its bytes are rarely copied.
  let bytes = new Uint8Array(2 * batchLength)
  const tooLong: number[] = []
  let lineStart = 0

  function reserve(more: number): void {
    if (batch.length + more <= bytes.length) return
    const grown = new Uint8Array(Math.max(2 * bytes.length, batch.length + more))
    grown.set(bytes.subarray(0, batch.length))
    bytes = grown
  }

  const batch = {
    length: 0,
    count: 0,
    isInsideLine: false,
    isTooLong: false,
    add(part: Uint8Array) {
      batch.isInsideLine ||= part.length > 0
      // One more byte, for the carriage return of a terminator whose line feed is still on its way.
      batch.isTooLong ||= batch.length - lineStart + part.length > maxLineLength + 1
      if (batch.isTooLong) {
        batch.length = lineStart
        return
      }
      reserve(part.length + 1)
      bytes.set(part, batch.length)
      batch.length += part.length
    },
    endLine() {
      if (batch.length > lineStart && bytes[batch.length - 1] === CR) batch.length--
      if (batch.isTooLong || batch.length - lineStart > maxLineLength) {
        tooLong.push(batch.count)
        batch.length = lineStart
      }
      reserve(1)
      bytes[batch.length++] = LF
      lineStart = batch.length
      batch.count++
      batch.isInsideLine = false
      batch.isTooLong = false
    },
    dropOpenLine() {
      batch.length = lineStart
      batch.isInsideLine = false
    },
    /** The batch, without the terminator of its last line. */
    finish: (firstLine: number): Batch => {
      return { firstLine, count: batch.count, bytes: bytes.subarray(0, batch.length - 1), tooLong }
    },
  }
  return batch
}

/** The lines of a batch, in order; `null` for a line that was too long. */
export function* linesOf({ bytes, count, tooLong }: Batch): Generator<Uint8Array | null> {
  const long = new Set(tooLong)
  const buffer = asBuffer(bytes)
  let start = 0
  for (let index = 0; index < count; index++) {
    const found = buffer.indexOf(LF, start)
    const end = found < 0 ? bytes.length : found
    yield long.has(index) ? null : bytes.subarray(start, end)
    start = end + 1
  }
}

export type Lines = AsyncGenerator<string, undefined, undefined>

/** The lines of a stream, as texts. @throws DocumentError as soon as one has more bytes, because it may have no end */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxLineLength: number): Lines {
  const refuse = (line: number) => {
    throw new DocumentError(`line ${line} is longer than ${maxLineLength} bytes`)
  }
  for await (const batch of readBatches(chunks, { batchLength: 2 ** 16, maxLineLength }, refuse)) {
    const [first] = batch.tooLong
    // One byte too long, which its terminator may have been.
    if (first !== undefined) refuse(batch.firstLine + first)
    for (const bytes of linesOf(batch)) yield asBuffer(bytes ?? new Uint8Array()).toString()
  }
  return undefined
}
