import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import { it, onTestFinished } from 'vitest'
import { progressFile } from '../../src/cli/files/progress-file.ts'
import { run } from '../../src/cli/run.ts'
import { createWorld } from '../../src/devnet/index.ts'
import type { GetProofResult, Hex, Scheme } from '../../src/entry/index.ts'

export { networkFile, networkOf } from './network-file.ts'

/** Runs the program in this process. */
export async function runHere(
  argv: readonly string[],
  { stdin = '' as string | Uint8Array | AsyncIterable<Uint8Array>, isTTY = false, columns = 0 } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const stdout = collector(isTTY, columns)
  const stderr = collector(isTTY, columns)
  const input = typeof stdin === 'string' || stdin instanceof Uint8Array ? Readable.from([Buffer.from(stdin)]) : stdin
  const code = await run(argv, { stdin: input, stdout: stdout.stream, stderr: stderr.stream })
  const result = { code, stdout: stdout.text(), stderr: stderr.text() }
  // The output never contains a stack trace.
  if (/^\s+at .*:\d+/m.test(result.stdout + result.stderr)) throw new Error(`a stack trace: ${result.stderr}`)
  return result
}

/** A stream that collects what is written to it. `columns` is the width of the terminal, 0 if unknown. */
export function collector(isTTY: boolean, columns = 0) {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  // Node asks a terminal for its colours, and the terminal asks the environment.
  const { getColorDepth } = WriteStream.prototype
  return { stream: Object.assign(stream, { isTTY, columns, getColorDepth }), text: () => chunks.join('') }
}

/** A folder with these files, removed after the test. Values other than text and bytes are written as JSON. */
export function folderOf(files: Readonly<Record<string, unknown>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    const isRaw = typeof content === 'string' || content instanceof Uint8Array
    writeFileSync(join(folder, name), isRaw ? content : JSON.stringify(content))
  }
  return folder
}

export const fileOf = (content: unknown): string => join(folderOf({ 'input.json': content }), 'input.json')

/** Replaces the progress in a file, as a run of this user does. */
export function saveProgress(path: string, progress: unknown): void {
  const { askedFor } = JSON.parse(readFileSync(path, 'utf8'))
  const unable = (text: string) => {
    throw new Error(text)
  }
  progressFile(path, askedFor, unable).save(progress)
}

/** Why no progress of another is believed. */
export const NOT_OWN =
  'is not the progress of a run of this user on this machine, or it was changed, so nothing in it is believed'

/** Every command, in the order of the help text. */
export const COMMANDS = [
  ...['verify', 'record state', 'record call', 'record logs', 'record message', 'follow state', 'follow messages'],
  ...['snapshot', 'diff', 'audit', 'inspect', 'serve', 'proxy'],
]

/** Endpoints where nothing listens. */
export const NOWHERE = ['--l1', 'http://127.0.0.1:1', '--l2', 'http://127.0.0.1:1']
export const ADDRESS: Hex = `0x${'aa'.repeat(20)}`
export const PRESENT: Hex = `0x${'11'.repeat(32)}`
export const ABSENT: Hex = `0x${'22'.repeat(32)}`

/** A question and its answer: an account, a slot that exists, and one that does not. */
export interface Sample {
  scheme: Scheme['name']
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  result: GetProofResult
}

export function sampleOf(scheme: Scheme, address = ADDRESS, storageKeys = [PRESENT, ABSENT]): Sample {
  const world = createWorld(scheme)
  world.setAccount(ADDRESS, { nonce: 3n, balance: 10n ** 18n })
  world.setStorage(ADDRESS, { key: PRESENT, value: `0x${'00'.repeat(31)}07` })
  const result = world.getProof(address, storageKeys)
  return { scheme: scheme.name, stateRoot: world.stateRoot(), address, storageKeys, result }
}

/** The options that state the sample's question. */
export const flagsOf = ({ stateRoot, address, storageKeys }: Sample): string[] => [
  ...['--state-root', stateRoot, '--address', address],
  ...storageKeys.flatMap(key => ['--storage-key', key]),
]

/** A test that only Linux can run, and why. */
export function itOnLinux(reason: string) {
  const isLinux = process.platform === 'linux'
  if (!isLinux) console.warn(`skipped 1 test: ${reason}`)
  return it.skipIf(!isLinux)
}
