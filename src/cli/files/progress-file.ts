import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import { fieldIn, fieldsOf, messageOf, printable, show } from '../words/value.ts'
import { parseFile, readWhole } from './input.ts'
import { REMEDY, refuseOverwrite, statRegular, writeWhole } from './output-file.ts'

/** What a run was asked for, by name. It is compared before an earlier run is continued. */
export type AskedFor = Readonly<Record<string, string>>

const PROGRESS = 'progress of rollup-state-proof'

const NOT_OWN =
  'is not the progress of a run of this user on this machine, or it was changed, so nothing in it is believed'

/** What a run was asked for and how far it is, signed: whoever sends files would otherwise choose what counts as verified. */
export function progressFile(path: string, askedFor: AskedFor, warn: Warn, remedy = REMEDY) {
  let key: Buffer | undefined
  const sign = (text: string): string => {
    key ??= openKey(warn)
    return createHmac('sha256', key).update(`${PROGRESS}\n${text}`).digest('hex')
  }
  /** The first item is the version of the format. */
  const textOf = (before: unknown, progress: unknown) => JSON.stringify([1, before, progress])
  const exists = () => statRegular(path) !== undefined
  return {
    path,
    exists,
    /** Undefined if there is none. @throws UsageError if it is not the progress of a run for the same request */
    read(): unknown {
      if (!exists()) return undefined
      const content = readOwn(path)
      const [before, progress] = [fieldsOf(fieldIn(content, 'askedFor')), fieldIn(content, 'progress') ?? null]
      const own = Buffer.from(sign(textOf(before, progress)))
      const found = Buffer.from(show(fieldIn(content, 'signature')))
      const isOwn = own.length === found.length && timingSafeEqual(own, found)
      if (!isOwn) throw refuseOverwrite(path, NOT_OWN, remedy)
      const differing = Object.keys(askedFor).filter(name => before[name] !== askedFor[name])
      if (differing.length === 0) return progress
      throw refuseOverwrite(path, `is of another request (it differs in ${differing.join(', ')})`, remedy)
    },
    save(progress: unknown): void {
      const signature = sign(textOf(askedFor, progress))
      const text = `${JSON.stringify({ kind: PROGRESS, askedFor, progress, signature })}\n`
      // Progress that is too large to be read again is useless, so what was saved before stays.
      if (Buffer.byteLength(text) <= MAX_INPUT_BYTES) writeWhole(path, text, true)
    },
  }
}

function readOwn(path: string): unknown {
  try {
    return parseFile(path, readWhole(path, true))
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}

/** In bytes. */
const KEY_LENGTH = 32

export type Warn = (text: string) => void

export const warnOn =
  ({ stderr }: Io): Warn =>
  text =>
    void stderr.write(`${text}\n`)

/** Where programs keep what must outlive a run, for this user alone. */
function stateFolder(): string {
  const { XDG_STATE_HOME: stated = '', LOCALAPPDATA: local = '' } = process.env
  // Any other would be below the working folder, which may be the sender's.
  if (isAbsolute(stated)) return stated
  return process.platform === 'win32' && isAbsolute(local) ? local : join(homedir(), '.local', 'state')
}

/** The key with which a user's runs sign what a later run believes. @param warn is told if it cannot be kept: then it is for this run alone */
function openKey(warn: Warn): Buffer {
  const folder = join(stateFolder(), 'rollup-state-proof')
  const path = join(folder, 'key')
  try {
    if (!existsSync(path)) orUsageError(`cannot write ${path}`, () => makeKey(folder, path))
    const key = readWhole(path, true)
    if (key.length === KEY_LENGTH) return key
    throw new UsageError(`${path} is not a key of ${KEY_LENGTH} bytes`)
  } catch (error) {
    warn(`${printable(messageOf(error))}: if this run is interrupted, it has to start over`)
    return randomBytes(KEY_LENGTH)
  }
}

function makeKey(folder: string, path: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    writeWhole(path, randomBytes(KEY_LENGTH), false, { mode: 0o600 })
  } catch (error) {
    // Several first runs may begin at once.
    if (!existsSync(path)) throw error
  }
}
