import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { folderOf, NOT_OWN, runHere } from './io.ts'

/** An audit that has ended, of a user whose state folder is at `home`. */
async function start(home: string) {
  vi.stubEnv('XDG_STATE_HOME', home)
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = folderOf({ 'in.ndjson': 'no record\n' })
  const out = join(folder, 'out')
  const again = (...more: string[]) => runHere(['audit', '--jobs', '1', join(folder, 'in.ndjson'), '-o', out, ...more])
  return { first: await again(), again, out }
}

const keyIn = (home: string) => join(home, 'rollup-state-proof', 'key')

it('is made once, for this user alone', async () => {
  const home = join(folderOf(), 'not', 'yet')
  const { first, again } = await start(home)
  expect(first).toMatchObject({ code: 1, stderr: '' })
  const key = readFileSync(keyIn(home))
  expect(key).toHaveLength(32)
  if (process.platform !== 'win32')
    expect([keyIn(home), join(home, 'rollup-state-proof')].map(path => statSync(path).mode & 0o777)).toEqual([
      0o600, 0o700,
    ])
  expect(await again()).toMatchObject({ code: 1, stderr: '' })
  expect(readFileSync(keyIn(home)).equals(key)).toBe(true)
})

it('is needed to continue: without it, or with another, a run has to start over', async () => {
  const home = folderOf()
  const { again, out } = await start(home)
  const key = readFileSync(keyIn(home))
  const refused = { code: 2, stdout: '', stderr: expect.stringContaining(`${out}.audit exists, and ${NOT_OWN}`) }
  rmSync(keyIn(home))
  expect(await again()).toMatchObject(refused)
  // Another was made, which did not sign this.
  expect(readFileSync(keyIn(home)).equals(key)).toBe(false)
  vi.stubEnv('XDG_STATE_HOME', folderOf())
  expect(await again()).toMatchObject(refused)
  vi.stubEnv('XDG_STATE_HOME', home)
  writeFileSync(keyIn(home), key)
  expect(await again()).toMatchObject({ code: 1, stderr: '' })
  // A signature that was cut, or left out.
  const saved = readFileSync(`${out}.audit`, 'utf8')
  for (const wrong of [saved.replace(/"signature":"../, '"signature":"'), saved.replace('"signature"', '"other"')]) {
    expect(wrong).not.toBe(saved)
    writeFileSync(`${out}.audit`, wrong)
    expect(await again()).toMatchObject(refused)
  }
  expect((await again('--force')).code).toBe(1)
})

it('works without one that can be kept, says so once, and does not continue', async () => {
  const {
    'a file': path,
    link,
    short,
  } = {
    'a file': join(folderOf({ home: '' }), 'home'),
    link: folderOf(),
    short: folderOf(),
  }
  const home = folderOf()
  await start(home)
  for (const [folder, write] of [
    [link, () => symlinkSync(keyIn(home), keyIn(link))],
    [short, () => writeFileSync(keyIn(short), 'short')],
  ] as const) {
    await start(folder)
    rmSync(keyIn(folder))
    write()
  }
  let count = 0
  for (const [unusable, reason] of [
    [path, `cannot write ${keyIn(path)}: not a directory`],
    [link, `cannot read ${keyIn(link)}: `],
    [short, `${keyIn(short)} is not a key of 32 bytes`],
  ] as const) {
    const { first, again } = await start(unusable)
    expect(first.code).toBe(1)
    expect(first.stderr.split('\n').filter(line => line !== '')).toEqual([expect.stringContaining(reason)])
    expect(first.stderr).toContain('if this run is interrupted, it has to start over')
    const second = await again()
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining(NOT_OWN)])
    expect((await again('--force')).code).toBe(1)
    count++
  }
  expect(count).toBe(3)
})

it('is never below the working folder, which may be that of a sender', async () => {
  vi.stubEnv('HOME', folderOf())
  const { first } = await start('state')
  expect(first).toMatchObject({ code: 1, stderr: '' })
  expect(statSync(keyIn(join(homedir(), '.local', 'state'))).size).toBe(32)
  expect(statSync('state', { throwIfNoEntry: false })).toBe(undefined)
})
