import { statSync } from 'node:fs'
import { readFileChunks } from '../audit/input.ts'
import { type Lines, readLines } from '../audit/lines.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import { messageOf } from '../words/value.ts'

type Chunks = AsyncIterable<Uint8Array>

/** The lines of a regular file. @throws UsageError also if a line is too long */
export async function* linesIn(path: string, unpacked: (chunks: Chunks) => Chunks): Lines {
  // Others would never end, or wait for a writer.
  if (!orUsageError(`cannot read ${path}`, () => statSync(path)).isFile())
    throw new UsageError(`${path} is not a regular file`)
  try {
    yield* readLines(unpacked(readFileChunks(path)), MAX_INPUT_BYTES)
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  }
  return undefined
}
