import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { CHUNK_LENGTH, type Input, readFileChunks, unpack } from '../audit/input.ts'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_MIB } from '../limits.ts'
import { DocumentError, parseJson } from '../words/value.ts'

/** Parses a file, or standard input for `-`, which may be packed. @throws UsageError if it is not a JSON text */
export async function readJson(path: string, io: Io): Promise<unknown> {
  const [{ name, open } = { name: '', open: () => io.stdin }] = openInputs([path], io).inputs
  const parts: Uint8Array[] = []
  await orUsageError(`cannot read ${name}`, async () => {
    let length = 0
    for await (const part of unpack(open())) {
      length += part.length
      if (length > MAX_INPUT_BYTES) throw tooLarge(name)
      parts.push(part)
    }
  })
  return parseFile(name, Buffer.concat(parts))
}

/** All bytes of a file. @param isOwn whether it is one of this program, and so a regular file: no link, and no FIFO without a writer */
export const readWhole = (path: string, isOwn = false): Buffer =>
  orUsageError(`cannot read ${path}`, () => {
    // Windows has neither flag.
    const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants
    const file = openSync(path, isOwn ? O_RDONLY | O_NONBLOCK | O_NOFOLLOW : O_RDONLY)
    try {
      // Checks the opened file: by now, the path could name another one.
      if (isOwn && !fstatSync(file).isFile()) throw new UsageError(`${path} is not a regular file`)
      const parts: Uint8Array[] = []
      for (let length = 0; ; ) {
        const part = new Uint8Array(CHUNK_LENGTH)
        const read = readSync(file, part)
        if (read === 0) return Buffer.concat(parts)
        length += read
        if (length > MAX_INPUT_BYTES) throw tooLarge(path)
        parts.push(part.subarray(0, read))
      }
    } finally {
      closeSync(file)
    }
  })

const tooLarge = (name: string) => new UsageError(`${name} is larger than ${MAX_INPUT_MIB} MiB`)

/** The name of a file in messages. */
export const nameOf = (path: string): string => (path === '-' ? 'standard input' : path)

/** What `read` makes of the content of a file. @throws UsageError if it is of no use, with the name of the file */
export function readAs<T>(path: string, content: unknown, read: (content: unknown) => T): T {
  try {
    return read(content)
  } catch (error) {
    throw error instanceof DocumentError ? new UsageError(`${nameOf(path)}: ${error.message}`) : error
  }
}

/** How the name of the file ends that proves rows: a bundle, and then lines of which only the command knows that wrote them. */
export const ROWS_EVIDENCE = '.evidence.ndjson'

export function parseFile(name: string, bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    const isOfRows = name.endsWith(ROWS_EVIDENCE)
    throw new UsageError(
      `${name} is ${isOfRows ? 'the evidence of rows: check it with --check of the command that wrote them' : error.message}`,
    )
  }
}

/** @throws UsageError before reading anything, if one of the files cannot be read */
export function openInputs(files: readonly string[], { stdin }: Io) {
  if (files.filter(file => file === '-').length > 1) throw new UsageError('standard input (-) is given twice')
  // Node reads nothing from a folder, as if it were empty.
  if (files.includes('-') && stdin === process.stdin && fstatSync(0).isDirectory())
    throw new UsageError('standard input is a folder')
  // Unknown if an input is not a file: then NaN.
  let [read, length] = [0, 0]
  const inputs = files.map((file): Input => {
    const stats = file === '-' ? undefined : orUsageError(`cannot read ${file}`, () => statSync(file))
    if (stats?.isDirectory()) throw new UsageError(`${file} is a folder: name a file in it`)
    length += stats?.isFile() ? stats.size : Number.NaN
    if (file === '-') return { name: 'standard input', open: () => stdin }
    return { name: file, open: () => readFileChunks(file, more => (read += more)) }
  })
  /** The share of the files that was read so far; NaN if it is unknown. */
  return { inputs, share: () => read / length }
}
