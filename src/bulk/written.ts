import type { FileHandle } from 'node:fs/promises'
import { countVerdict, createTally, type Tally } from './audited.ts'
import { CHUNK_LENGTH } from './input.ts'
import { linesOf, readBatches } from './lines.ts'

/** Drops the part of a line with which a run ended that was killed. */
export async function dropPartialLine(file: FileHandle): Promise<void> {
  await file.truncate(await endOfLastLine(file))
}

/** In bytes. Looked for from the end backwards, for the file may be large. */
async function endOfLastLine(file: FileHandle): Promise<number> {
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
  const chunks = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_LENGTH })
  for await (const batch of readBatches(chunks, CHUNK_LENGTH, Number.POSITIVE_INFINITY)) {
    for (const line of linesOf(batch)) {
      const text = Buffer.from(line ?? []).toString()
      const verdict = JSON.parse(text)
      // Who changes it in between is not who runs this; it need only be what this program writes.
      if (typeof verdict?.verdict !== 'string') throw new Error('a line is not a verdict')
      countVerdict(tally, verdict, `${text}\n`)
    }
  }
  return tally
}
