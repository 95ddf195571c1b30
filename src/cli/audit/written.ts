import type { FileHandle } from 'node:fs/promises'
import { DocumentError } from '../words/error.ts'
import { otherVersion } from '../words/value.ts'
import { countVerdict, createTally, type Tally } from './audited.ts'
import { CHUNK_LENGTH } from './input.ts'
import { linesOf, readBatches } from './lines.ts'

/**
 * The length of a file in bytes, without the incomplete last line that a killed run leaves. Searches backwards from the end,
 * because the file may be large.
 */
export async function endOfLastLine(file: FileHandle): Promise<number> {
  const chunk = new Uint8Array(2 ** 16)
  let { size: end } = await file.stat()
  while (end > 0) {
    const start = Math.max(end - chunk.length, 0)
    const { bytesRead } = await file.read(chunk, 0, end - start, start)
    const found = chunk.subarray(0, bytesRead).lastIndexOf(0x0a)
    if (found >= 0) return start + found + 1
    end = start
  }
  return 0
}

/**
 * Counts the verdicts that earlier runs wrote.
 *
 * @param length of what is read, in bytes
 * @throws DocumentError for a verdict of another version
 * @throws Error if a line is not a verdict, or a verdict is missing
 */
export async function readWritten(file: FileHandle, length: number): Promise<Tally> {
  const tally = createTally()
  if (length === 0) return tally
  let line = 0
  const chunks = file.createReadStream({ start: 0, end: length - 1, autoClose: false, highWaterMark: CHUNK_LENGTH })
  const limits = { batchLength: CHUNK_LENGTH, maxLineLength: Number.POSITIVE_INFINITY }
  for await (const batch of readBatches(chunks, limits)) {
    for (const bytes of linesOf(batch)) {
      const text = Buffer.from(bytes ?? []).toString()
      const verdict = JSON.parse(text)
      // A shallow check is enough: the file is the user's own, and only has to be what this program writes.
      if (typeof verdict?.verdict !== 'string') throw new Error('a line is not a verdict')
      const other = otherVersion(verdict)
      if (other !== undefined) throw new DocumentError(`holds a verdict that ${other}`)
      line = verdict.line === 1 ? 1 : line + 1
      if (verdict.line !== line) throw new Error('a verdict is missing')
      countVerdict(tally, verdict, `${text}\n`)
    }
  }
  return tally
}
