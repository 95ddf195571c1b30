import { spawn, spawnSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { commandLine } from '../../src/cli/options/endpoint.ts'
import { formatTable } from '../../src/cli/output/table.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { PROGRAM } from '../package/build.ts'
import { fileOf, flagsOf, folderOf, runHere, sampleOf } from './io.ts'

const sample = sampleOf(poseidon2)
const ROOT = ['--state-root', sample.stateRoot]
const RAW = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u
/** C0, C1, DEL, bidi, zero-width, line separators, and a tag character above 2^16. */
const CONTROLS = '\x1b[2J\x07\x7f\u0085\u009b31m\u200b\u202e\u2066\u2028\u2029\ufeff\u{e0041}'

const lines = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

it('reads a pipe that the user names', async () => {
  const file = fileOf(sample)
  const program = spawn('bash', ['-c', `"${process.execPath}" ${PROGRAM} verify <(sleep 0.2; cat ${file})`])
  expect(await new Promise(resolve => program.on('close', resolve))).toBe(4)
})

it('prints no control characters from files or file names, in text or JSON', async () => {
  const { result, ...question } = sample
  const contents: unknown[] = [
    { ...question, description: CONTROLS, answer: result, expected: { valid: false, code: CONTROLS, path: CONTROLS } },
    { ...sample, stateRoot: CONTROLS, address: CONTROLS, storageKeys: [CONTROLS] },
    { ...sample, scheme: CONTROLS },
    { jsonrpc: '2.0', id: 1, error: { code: 1, message: CONTROLS, data: CONTROLS } },
    { accountProof: { key: CONTROLS, [CONTROLS]: 1 }, storageProofs: [{ key: CONTROLS }] },
    { operation: CONTROLS, expected: { valid: true } },
    {
      operation: 'verifyEvidence',
      scheme: 'mimc',
      claim: { rollup: { name: CONTROLS, address: CONTROLS }, trusted: { [CONTROLS]: CONTROLS } },
      bundle: {},
      expected: { valid: true },
    },
    `{"${CONTROLS.slice(5)}`,
  ]
  let printed = 0
  for (const content of contents) {
    const plain = fileOf(content)
    const file = join(dirname(plain), `${CONTROLS.replaceAll('/', '')}.json`)
    renameSync(plain, file)
    for (const json of [[], ['--json']]) {
      for (const args of [
        ['verify', file],
        ['inspect', file],
        ['verify', dirname(file)],
      ]) {
        const { stdout, stderr } = await runHere([...args, ...json])
        expect(stdout + stderr).not.toMatch(RAW)
        expect(stdout.length + stderr.length).toBeGreaterThan(20)
        if (json.length > 0 && stdout !== '') printed += lines(stdout).length
      }
    }
  }
  expect(printed).toBeGreaterThan(20)
  // JSON output keeps the characters, escaped.
  const { stdout } = await runHere(['inspect', fileOf({ ...question, result, description: CONTROLS }), '--json'])
  const texts = Object.values(JSON.parse(stdout)).map(part => Reflect.get(Object(part), 'description'))
  expect(texts).toContain(CONTROLS)
  for (const name of [`it's ${CONTROLS}`, 'a b', '$(id)', '-x']) {
    const line = commandLine([name])
    expect(line).not.toMatch(RAW)
    const echoed = spawnSync('bash', ['-c', line.replace('npx rollup-state-proof', 'printf -- %s')], {
      encoding: 'utf8',
    })
    expect(echoed.stdout).toBe(name)
  }
})

it('refuses deep, long or odd JSON without crashing', async () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const long = 'x'.repeat(100_000)
  const contents: (string | Uint8Array)[] = [
    deep,
    `{"a":`.repeat(20_000),
    `{"scheme":"mimc","stateRoot":${deep},"address":${deep},"storageKeys":${deep},"result":${deep}}`,
    `{"version":${deep},"rollup":${deep},"request":${deep},"answer":${deep},"scheme":${deep}}`,
    `{"operation":"verifyEvidence","scheme":"mimc","claim":{"rollup":${deep},"trusted":{"l2StateRoot":${deep}}},"bundle":${deep},"expected":{"valid":false,"code":"X","path":${deep}}}`,
    `{"scheme":"mimc","stateRoot":"0x","address":"0x","storageKeys":[],"answer":{},"expected":{"valid":true,"account":${deep}}}`,
    `{"scheme":1e999,"stateRoot":-0,"result":{"accountProof":{"leafIndex":${'9'.repeat(20_000)}}}}`,
    `{"__proto__":{"scheme":"mimc"},"scheme":"mimc","constructor":1,"toString":1,"stateRoot":"0x","result":{"__proto__":[]}}`,
    `{"scheme":"mimc","stateRoot":"${long}","address":"${long}","storageKeys":"${long}","result":{}}`,
    '\ufeff{"scheme":"mimc"}',
    '\ufeff\ufeff{}',
    '{"a":"\\ud800"}',
    'null',
    '1e999',
    Buffer.from([0xef, 0xbb, 0xbf]),
    Buffer.from('{"a":"\0"}'),
    Buffer.from([0xc0, 0x80]),
    Buffer.alloc(100),
  ]
  for (const content of contents) {
    const file = fileOf(content)
    for (const args of [
      ['verify', file],
      ['verify', file, '--json'],
      ['inspect', file],
      ['inspect', file, '--json'],
    ]) {
      const { code, stdout, stderr } = await runHere(args)
      // What inspect prints is no verdict.
      expect(args[0] === 'inspect' ? [0, 1, 2] : [1, 2], `${args} ${String(content).slice(0, 60)}`).toContain(code)
      expect(stderr).not.toMatch(/unexpected:|Maximum call stack/)
      if (!args.includes('--json')) expect(stdout.length + stderr.length).toBeLessThan(10_000)
    }
  }
  expect(contents.length).toBe(18)
})

it('formats a table of 200,000 rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [`${index}`, 'absent'])
  expect(formatTable(rows).split('\n').at(-1)).toBe('  199999  absent')
  const wide = formatTable([['x'.repeat(10_000_000), 'y'], ...rows])
  expect(wide.length).toBeLessThan(30_000_000)
  expect(wide.split('\n')[0]).toContain('... (10000000 characters)')
})

it('refuses an option given twice, and arguments that name no file', async () => {
  const file = fileOf(sample)
  for (const args of [
    ['verify', file, ...ROOT, ...ROOT],
    ['verify', file, '--l2-block=1', '--l2-block', '2'],
    ['verify', file, '--json', '--json'],
    ['inspect', file, '--json', '--json'],
    ['diff', file, '--first-block', '1', '--first-block', '2'],
    ['record', 'state', '-o', 'a', '--output', 'b'],
    ['serve', '--port', '1', '--port=2'],
  ]) {
    expect(await runHere(args)).toMatchObject({
      code: 2,
      stdout: args.includes('--json') ? expect.stringMatching(/^{"error":{"code":"USAGE",.*is given twice/) : '',
      stderr: expect.stringContaining('is given twice'),
    })
  }
  expect((await runHere(['verify', file, ...flagsOf(sample)])).code).toBe(0)
  for (const name of [
    'a\0b',
    '',
    '-',
    '--',
    'x'.repeat(100_000),
    'C:\\no\\such.json',
    '\\\\?\\pipe',
    'file:///etc/passwd',
    '~',
  ]) {
    for (const command of ['verify', 'inspect']) {
      const { code, stdout, stderr } = await runHere([command, name])
      expect([command, name.slice(0, 50), code, stdout]).toEqual([command, name.slice(0, 50), 2, ''])
      expect(stderr).not.toContain('unexpected')
      expect(stderr.length).toBeLessThan(5000)
    }
  }
  for (const name of ['verify', 'record state', 'snapshot', 'inspect']) {
    const command = name.split(' ')
    const { code, stderr } = await runHere([...command, `--${'storagekeys'.repeat(10_000)}`])
    expect([code, stderr.length < 5000]).toEqual([2, true])
    expect(await runHere([...command, '--storagekeys', '0x'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no such option: --storagekeys\./),
    })
  }
  // A file name may begin with a dash after --.
  const folder = folderOf({ '-x.json': sample })
  expect((await runHere(['verify', '--', join(folder, '-x.json')])).code).toBe(4)
})
