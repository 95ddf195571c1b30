import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { progressFile } from '../../src/cli/files/progress-file.ts'
import { folderOf, NOT_OWN } from './io.ts'

/** Progress that is saved, of a user whose state folder is at `home`, and how to read it again. */
function start(home: string) {
  vi.stubEnv('XDG_STATE_HOME', home)
  onTestFinished(() => void vi.unstubAllEnvs())
  const path = join(folderOf(), 'progress')
  const told: string[] = []
  const open = () => progressFile(path, { command: 'test' }, text => void told.push(text))
  open().save({ at: 7 })
  return { path, told, again: () => open().read(), anew: () => open().save({ at: 7 }) }
}

const keyIn = (home: string) => join(home, 'rollup-state-proof', 'key')

it('is made once, for this user alone', () => {
  const home = join(folderOf(), 'not', 'yet')
  const { again, told } = start(home)
  const key = readFileSync(keyIn(home))
  expect(key).toHaveLength(32)
  if (process.platform !== 'win32')
    expect([keyIn(home), join(home, 'rollup-state-proof')].map(path => statSync(path).mode & 0o777)).toEqual([
      0o600, 0o700,
    ])
  expect([again(), told]).toEqual([{ at: 7 }, []])
  expect(readFileSync(keyIn(home)).equals(key)).toBe(true)
})

it('is needed to continue: without it, or with another, a run has to start over', () => {
  const home = folderOf()
  const { again, anew, path } = start(home)
  const key = readFileSync(keyIn(home))
  const refused = `${path} exists, and ${NOT_OWN}`
  rmSync(keyIn(home))
  expect(again).toThrow(refused)
  // Another was made, which did not sign this.
  expect(readFileSync(keyIn(home)).equals(key)).toBe(false)
  vi.stubEnv('XDG_STATE_HOME', folderOf())
  expect(again).toThrow(refused)
  vi.stubEnv('XDG_STATE_HOME', home)
  writeFileSync(keyIn(home), key)
  expect(again()).toEqual({ at: 7 })
  // A signature that was cut, or left out.
  const saved = readFileSync(path, 'utf8')
  for (const wrong of [saved.replace(/"signature":"../, '"signature":"'), saved.replace('"signature"', '"other"')]) {
    expect(wrong).not.toBe(saved)
    writeFileSync(path, wrong)
    expect(again).toThrow(refused)
  }
  anew()
  expect(again()).toEqual({ at: 7 })
})

it('works without one that can be kept, says so once, and does not continue', () => {
  const [path, link, short, home] = [join(folderOf({ home: '' }), 'home'), folderOf(), folderOf(), folderOf()]
  for (const folder of [home, link, short]) {
    start(folder)
    if (folder !== home) rmSync(keyIn(folder))
  }
  symlinkSync(keyIn(home), keyIn(link))
  writeFileSync(keyIn(short), 'short')
  let count = 0
  for (const [unusable, reason] of [
    [path, `cannot write ${keyIn(path)}: not a directory`],
    [link, `cannot read ${keyIn(link)}: `],
    [short, `${keyIn(short)} is not a key of 32 bytes`],
  ] as const) {
    const { told, again, anew } = start(unusable)
    expect(told).toEqual([expect.stringContaining(reason)])
    expect(told[0]).toContain('if this run is interrupted, it has to start over')
    expect(again).toThrow(NOT_OWN)
    anew()
    count++
  }
  expect(count).toBe(3)
})

it('is never below the working folder, which may be that of a sender', () => {
  vi.stubEnv('HOME', folderOf())
  const { told } = start('state')
  expect(told).toEqual([])
  expect(statSync(keyIn(join(homedir(), '.local', 'state'))).size).toBe(32)
  expect(statSync('state', { throwIfNoEntry: false })).toBe(undefined)
})
