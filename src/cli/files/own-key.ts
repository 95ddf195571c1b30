import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Io } from '../command.ts'
import { codeOf, orUsageError, UsageError } from '../errors.ts'
import { messageOf, printable } from '../words/value.ts'
import { linkExclusive, temporaryIn } from './exclusive.ts'
import { readWhole } from './input.ts'

/** In bytes. */
const KEY_LENGTH = 32

/** Told what a user has to know before a run. */
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

/**
 * The key with which a user's runs sign what a later run believes. Whoever sends the user files does not have it. It is made
 * when it is first needed.
 *
 * @param warn is told if it cannot be kept. Then it is one for this run alone
 */
function openKey(warn: Warn): Buffer {
  const folder = join(stateFolder(), 'rollup-state-proof')
  const path = join(folder, 'key')
  try {
    if (!existsSync(path)) orUsageError(`cannot write ${path}`, () => makeKey(folder, path))
    const key = readWhole(path, constants.O_NOFOLLOW ?? 0, true)
    if (key.length === KEY_LENGTH) return key
    throw new UsageError(`${path} is not a key of ${KEY_LENGTH} bytes`)
  } catch (error) {
    warn(`${printable(messageOf(error))}: if this run is interrupted, it has to start over`)
    return randomBytes(KEY_LENGTH)
  }
}

function makeKey(folder: string, path: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Whole before it has its name, because several first runs may begin at once.
  const temporary = temporaryIn(folder)
  try {
    writeFileSync(temporary, randomBytes(KEY_LENGTH), { flag: 'wx', mode: 0o600, flush: true })
    linkExclusive(temporary, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Signs texts with the key of this user, which is read once. */
export function openSigner(warn: Warn) {
  let key: Buffer | undefined
  const sign = (text: string): string => {
    key ??= openKey(warn)
    return createHmac('sha256', key).update(`progress of rollup-state-proof\n${text}`).digest('hex')
  }
  return {
    sign,
    isSigned(text: string, signature: unknown): boolean {
      const [own, found] = [Buffer.from(sign(text)), Buffer.from(String(signature))]
      return own.length === found.length && timingSafeEqual(own, found)
    },
  }
}
