import type { FileHandle } from 'node:fs/promises'
import { countVerdict, createTally, type Tally } from './audited.ts'
import { CHUNK_LENGTH } from './input.ts'
import { linesOf, readBatches } from './lines.ts'

/**
 * How long a file is without the part of a line with which a run ended that was killed, in bytes. Looked for from the end
 * backwards, for the file may be large.
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
 * @throws Error when a line is not a verdict
 */
export async function readWritten(file: FileHandle): Promise<Tally> {
  const tally = createTally()
  let line = 0
  const chunks = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_LENGTH })
  for await (const batch of readBatches(chunks, {
    batchLength: CHUNK_LENGTH,
    maxLineLength: Number.POSITIVE_INFINITY,
  })) {
    for (const bytes of linesOf(batch)) {
      const text = Buffer.from(bytes ?? []).toString()
      const verdict = JSON.parse(text)
      // Who changes it in between is not who runs this; it need only be what this program writes.
      if (typeof verdict?.verdict !== 'string') throw new Error('a line is not a verdict')
      line = verdict.line === 1 ? 1 : line + 1
      if (verdict.line !== line) throw new Error('a verdict is missing')
      countVerdict(tally, verdict, `${text}\n`)
    }
  }
  return tally
}
