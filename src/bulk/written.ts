import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { addCounts, countedAs, MAX_REJECTED } from './audited.ts'
import { CHUNK_LENGTH } from './input.ts'
import { linesOf, readBatches } from './lines.ts'

/** What an earlier run has written: whole lines, each one a verdict. */
export interface WrittenVerdicts {
  readonly lines: number
  readonly kinds: Readonly<Record<string, number>>
  readonly rejected: readonly string[]
}

/** Drops the part of a line with which a run ended that was killed. @returns the length that is left, in bytes */
export async function dropPartialLine(path: string): Promise<number> {
  const file = await open(path, 'r+')
  try {
    const length = await endOfLastLine(file)
    await file.truncate(length)
    return length
  } finally {
    await file.close()
  }
}

/** From the end backwards, for the file may be large. */
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
 * Reads the verdicts of an earlier run.
 *
 * @throws SyntaxError when a line is no verdict
 */
export async function readWritten(path: string): Promise<WrittenVerdicts> {
  const kinds: Record<string, number> = Object.create(null)
  const rejected: string[] = []
  let lines = 0
  const chunks = createReadStream(path, { highWaterMark: CHUNK_LENGTH })
  for await (const batch of readBatches(chunks, CHUNK_LENGTH, Number.POSITIVE_INFINITY)) {
    for (const line of linesOf(batch)) {
      const text = Buffer.from(line ?? []).toString()
      const kind = countedAs(JSON.parse(text))
      addCounts(kinds, { [kind]: 1 })
      if (kind !== 'present' && kind !== 'absent' && rejected.length < MAX_REJECTED) rejected.push(`${text}\n`)
      lines++
    }
  }
  return { lines, kinds, rejected }
}
