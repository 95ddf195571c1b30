import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DocumentError } from '../document/error.ts'
import { parseJson } from '../document/value.ts'
import { type Io, UsageError } from './command.ts'

/**
 * A slot's proof takes 6 to 13 kB of JSON, so this is room for more than a thousand. Parsed, hostile JSON takes up to 50
 * times its size in memory: four times this limit would already end some processes.
 */
export const MAX_INPUT_MIB = 16

/** The number that an option gives. @throws UsageError */
export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : -1
  if (number < least || number > most) throw new UsageError(`${name}: expected ${least} to ${most}`)
  return number
}

/** The arguments of a command that takes one path, and of options only `--json`. */
export function parsePath(args: readonly string[], expectation: string): { path: string; json: boolean } {
  const options = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const [path, ...more] = positionals
  if (path === undefined || more.length > 0) throw new UsageError(expectation)
  return { path, json: values.json }
}

export function isFolder(path: string): boolean {
  // A missing file is for the reading to report.
  return orUsageError(`cannot read ${path}`, () => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

/** The JSON files below `folder`, sorted; JSON schemas are not counted among them. */
export function listJsonFiles(folder: string): string[] {
  return orUsageError(`cannot list ${folder}`, () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => !entry.isDirectory() && entry.name.endsWith('.json') && !entry.name.endsWith('.schema.json'))
      .map(entry => join(entry.parentPath, entry.name))
      .sort(),
  )
}

/** Parses the file at `path`, or standard input for `-`. @throws UsageError when it is not a JSON text */
export async function readJson(path: string, io: Io): Promise<unknown> {
  const name = path === '-' ? 'standard input' : path
  const bytes = await readCapped(name, path === '-' ? io.stdin : createReadStream(path))
  try {
    return parseJson(bytes)
  } catch (error) {
    throw error instanceof DocumentError ? new UsageError(`${name} is ${error.message}`) : error
  }
}

async function readCapped(name: string, chunks: AsyncIterable<string | Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of chunks) {
      const part = Buffer.from(chunk)
      length += part.length
      if (length > MAX_INPUT_MIB * 2 ** 20) throw new UsageError(`${name} is larger than ${MAX_INPUT_MIB} MiB`)
      parts.push(part)
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`cannot read ${name}: ${messageOf(error)}`)
  }
  return Buffer.concat(parts)
}

/** What `work` throws is wrong usage: `what` and why. */
export function orUsageError<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new UsageError(`${what}: ${messageOf(error)}`)
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
