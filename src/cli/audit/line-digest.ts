import { createHash } from 'node:crypto'
import type { Batch } from './lines.ts'

const LINE_END = Uint8Array.of(0x0a)

/** The digest of some lines: of all that their verdicts depend on. */
export function createLineDigest() {
  const [lines, tooLong] = [createHash('sha256'), createHash('sha256')]
  let count = 0
  return {
    add(batch: Batch): void {
      lines.update(batch.bytes).update(LINE_END)
      // Of a line that is too long, only that is known.
      for (const index of batch.tooLong) tooLong.update(`${count + index},`)
      count += batch.count
    },
    /** SHA-256 of the lines, each with a line feed: what `sha256sum` prints of an input that ends with one. */
    ofLines: (): string => lines.copy().digest('hex'),
    get: (): string => createHash('sha256').update(lines.copy().digest()).update(tooLong.copy().digest()).digest('hex'),
  }
}
