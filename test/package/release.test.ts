import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const hasGit = spawnSync('git', ['--version']).status === 0
if (!hasGit) console.warn('skipped: all tests of the release script, because there is no git')
/** All packages, from what was built before. */
const PUBLISH = 'npm publish --ignore-scripts --workspaces --include-workspace-root'
const withGit = it.skipIf(!hasGit)

/** Contains an origin, a checkout of it, and an `npm` that only records its arguments. */
let folder: string
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: join(folder, 'checkout'), stdio: 'pipe', encoding: 'utf8' })
const write = (file: string, text: string) => writeFileSync(join(folder, file), text, { mode: 0o755 })
const writeManifest = (changes: object) =>
  write('checkout/package.json', JSON.stringify({ version: '1.2.3', repository: 'https://example.org/', ...changes }))
const commit = () => {
  git('add', '--all')
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--allow-empty', '--message', 'a change')
}

beforeEach(() => {
  if (!hasGit) return
  folder = mkdtempSync(join(tmpdir(), 'release-'))
  for (const path of ['origin', 'bin', 'checkout/.ci']) mkdirSync(join(folder, path), { recursive: true })
  git('init', '--quiet', '--bare', '../origin')
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', '../origin')
  cpSync('.ci/release', join(folder, 'checkout/.ci/release'))
  writeManifest({})
  write('checkout/CHANGELOG.md', '# Changelog\n\n## 1.2.3\n\n- New.\n\n## 1.2.2\n')
  write('checkout/.ci/run', 'echo run >> ../calls\n')
  write('bin/npm', '#!/bin/sh\necho npm "$@" >> ../calls\n')
  commit()
})
afterEach(() => {
  if (hasGit) rmSync(folder, { recursive: true, force: true })
})

/** Runs the script. Returns its last line of output and the commands it started. */
function release({ options = [], token = '' }: { options?: string[]; token?: string } = {}) {
  const { PATH = '' } = process.env
  const { status, stdout, stderr } = spawnSync('bash', ['.ci/release', ...options], {
    cwd: join(folder, 'checkout'),
    env: { ...process.env, PATH: `${join(folder, 'bin')}:${PATH}`, ACTIONS_ID_TOKEN_REQUEST_URL: token },
    encoding: 'utf8',
  })
  const said = (status === 0 ? stdout : stderr).trim().split('\n').at(-1)
  const calls = join(folder, 'calls')
  return { said, calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [] }
}

withGit('runs every step but publishes nothing without --publish', () => {
  expect(release()).toEqual({
    said: 'release: v1.2.3 would be published',
    calls: ['run', 'npm run build', `${PUBLISH} --dry-run --access public`],
  })
  expect(git('ls-remote', '--tags', 'origin')).toBe('')
})

withGit('publishes from the workflow, with provenance, and sets the tag', () => {
  expect(release({ options: ['--publish'], token: 'https://token' })).toEqual({
    said: 'release: v1.2.3 is published',
    calls: ['run', 'npm run build', `${PUBLISH} --provenance --access public`],
  })
  expect(git('ls-remote', '--tags', 'origin')).toContain('refs/tags/v1.2.3')
  expect(release().said).toBe('release: refused: the tag v1.2.3 exists')
})

withGit.each<{ reason: string; spoil?: () => unknown; options?: string[]; token?: string }>([
  { reason: 'the working tree is not clean', spoil: () => write('checkout/stray', '') },
  { reason: 'the working tree is not clean', spoil: () => appendFileSync(join(folder, 'checkout/CHANGELOG.md'), 'x') },
  { reason: 'this is not the branch main', spoil: () => git('checkout', '--quiet', '-b', 'other') },
  { reason: 'this is not the branch main', spoil: () => git('checkout', '--quiet', '--detach') },
  {
    reason: "the newest entry of CHANGELOG.md is '1.2.3', the version is 1.2.4",
    spoil: () => [writeManifest({ version: '1.2.4' }), commit()],
  },
  {
    reason: "the newest entry of CHANGELOG.md is '1.2.3', the version is 1.2.2",
    spoil: () => [writeManifest({ version: '1.2.2' }), commit()],
  },
  { reason: 'the tag v1.2.3 exists', spoil: () => git('push', '--quiet', 'origin', 'main:refs/tags/v1.2.3') },
  { reason: 'origin does not say which tags it has', spoil: () => git('remote', 'remove', 'origin') },
  { reason: 'only the release workflow publishes', options: ['--publish'] },
  {
    reason: 'package.json names no repository, and provenance is a statement about one',
    spoil: () => [writeManifest({ repository: undefined }), commit()],
    options: ['--publish'],
    token: 'https://token',
  },
  { reason: 'unknown option --dry', options: ['--dry'] },
])('refuses before it runs anything: $reason', ({ reason, spoil, ...how }) => {
  spoil?.()
  expect(release(how)).toEqual({ said: `release: refused: ${reason}`, calls: [] })
})

withGit('refuses to release if the checks leave files behind', () => {
  write('checkout/.ci/run', 'echo run >> ../calls; touch stray\n')
  commit()
  expect(release()).toEqual({ said: 'release: refused: the working tree is not clean', calls: ['run'] })
})
