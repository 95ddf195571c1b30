import { statSync } from 'node:fs'
import { readFileChunks } from '../audit/input.ts'
import { linesOf, readBatches } from '../audit/lines.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import { messageOf } from '../words/value.ts'

const LINES = { batchLength: 2 ** 20, maxLineLength: MAX_INPUT_BYTES }

type Chunks = AsyncIterable<Uint8Array>

/** The lines of a regular file; null for a line that is too long. @throws UsageError */
export async function* linesIn(
  path: string,
  unpacked: (chunks: Chunks) => Chunks,
): AsyncGenerator<string | null, undefined, undefined> {
  // Others would never end, or wait for a writer.
  if (!orUsageError(`cannot read ${path}`, () => statSync(path)).isFile())
    throw new UsageError(`${path} is not a regular file`)
  try {
    for await (const batch of readBatches(unpacked(readFileChunks(path)), LINES)) {
      for (const bytes of linesOf(batch)) yield bytes && Buffer.from(bytes).toString()
    }
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  }
  return undefined
}
