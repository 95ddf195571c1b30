import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { poseidon2 } from '../../src/poseidon2.ts'
import { PROGRAM } from '../package/build.ts'
import { fileOf, flagsOf, itOnLinux, sampleOf } from './io.ts'

const sample = sampleOf(poseidon2)
const COMMAND = `"${process.execPath}" ${PROGRAM}`

/** Runs a shell command, in which $PROGRAM is this program. */
function shell(line: string, input = '') {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line.replaceAll('$PROGRAM', COMMAND)], {
    input,
    encoding: 'utf8',
  })
  expect(stdout + stderr).not.toMatch(/^\s+at .*:\d+/m)
  return { status, stdout, stderr }
}

it('exits with the code of the verdict', () => {
  const wrongRoot = { ...sample, stateRoot: `0x${'00'.repeat(32)}` as const }
  expect(shell(`$PROGRAM verify - ${flagsOf(sample).join(' ')}`, JSON.stringify(sample.result)).status).toBe(0)
  expect(shell(`$PROGRAM verify - ${flagsOf(wrongRoot).join(' ')}`, JSON.stringify(sample.result)).status).toBe(1)
  expect(shell('$PROGRAM verify no-such-file').status).toBe(2)
})

it('tolerates a closed pipe and a closed standard input', () => {
  const file = fileOf(sample)
  // The reader exits before the first line.
  expect(shell(`$PROGRAM verify ${file} | true; exit \${PIPESTATUS[0]}`)).toMatchObject({ status: 0, stderr: '' })
  const run = shell(`$PROGRAM vectors vectors/poseidon2 --json | head -1; exit \${PIPESTATUS[0]}`)
  expect(run).toMatchObject({ status: 0, stderr: '' })
  expect(run.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(shell('$PROGRAM verify - <&-').status).toBe(2)
  expect(shell('$PROGRAM verify - < .').status).toBe(2)
  expect(shell('$PROGRAM audit < .')).toMatchObject({ status: 2, stderr: expect.stringContaining('is a folder') })
})

it('exits with 2, never 1, if it crashes', () => {
  const crash = `process.on('newListener', name => name === 'uncaughtException' && setImmediate(() => { throw Error('late') }))`
  const { status, stderr } = shell(`${COMMAND.replace(' ', ` --import "data:text/javascript,${crash}" `)} audit`)
  expect({ status, stderr }).toEqual({ status: 2, stderr: 'rollup-state-proof: unexpected: late\n' })
})

itOnLinux('only Linux has /dev/full')('does not exit with success if the report is lost', () => {
  expect(shell(`$PROGRAM verify ${fileOf(sample)} > /dev/full`).status).toBe(2)
})

it('is the command that the package installs', () => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(bin).toEqual({ 'rollup-state-proof': './dist/cli/main.js' })
  expect(readFileSync(PROGRAM, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  // Bundled, beside the script of its workers. What it alone uses is in no other file.
  const files = readdirSync(dirname(PROGRAM))
  expect(files.filter(name => !/^\w+-[A-Z0-9]{8}\.js$/.test(name)).sort()).toEqual(['main.js', 'worker.js'])
  const modules = readdirSync(dirname(dirname(PROGRAM)), { recursive: true, encoding: 'utf8' })
  expect(modules.filter(name => /bulk[/\\]snapshot[/\\]|[/\\]unverified\.|[/\\]pool\./.test(name))).toEqual([])
  expect(modules).toContain(join('bulk', 'audit', 'record.js'))
})
