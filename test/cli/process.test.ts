import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { PROGRAM } from '../package/build.ts'
import { fileOf, flagsOf, folderOf, itOnLinux, sampleOf } from './io.ts'

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

/** Makes Node print the address of each module that it loads. */
const TELL_MODULES = (() => {
  const data = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
  const hooks = `import { writeSync } from 'node:fs'
    export const load = (url, context, next) => (writeSync(2, url + '\\n'), next(url, context))`
  return data(`import { register } from 'node:module'; register(${JSON.stringify(data(hooks))})`)
})()

it('loads no curve, no EVM and no client to verify what needs none', () => {
  const vectorOf = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))
  const state = vectorOf('evidence/valid/poseidon2-block-hash')
  const call = vectorOf('calls/valid/revert')
  const verify = (content: unknown, ...args: readonly string[]) => {
    const argv = ['--import', TELL_MODULES, PROGRAM, 'verify', fileOf(content), ...args]
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
    expect(status).toBe(0)
    const modules = stderr.split('\n').filter(url => url.startsWith('file:'))
    const text = modules.map(url => readFileSync(new URL(url), 'utf8')).join('\n')
    return { count: modules.length, urls: modules.join('\n'), asksEndpoints: text.includes('Retry-After') }
  }
  const known = ({ claim: { rollup, trusted } }: typeof state) => [
    ...['--l1-block-hash', trusted.l1BlockHash, '--network', fileOf({ rollup: { ...rollup, chainId: 1337 } })],
  ]
  for (const light of [verify(sample.result, ...flagsOf(sample)), verify(state.bundle, ...known(state))]) {
    expect(light.count).toBeGreaterThan(20)
    expect(light.urls).not.toMatch(/@noble.curves|@ethereumjs.evm|[/]ws[/]/)
    expect(light.asksEndpoints).toBe(false)
  }
  // Whoever needs them has them.
  const heavy = verify(call.bundle, ...known(call))
  expect(heavy.urls).toMatch(/@noble.curves/)
  expect(heavy.urls).toMatch(/@ethereumjs.evm/)
  expect(heavy.asksEndpoints).toBe(true)
})

it('tolerates a closed pipe and a closed standard input', () => {
  const file = fileOf(sample)
  // The reader exits before the first line.
  const own = `verify ${file} --state-root ${sample.stateRoot}`
  expect(shell(`$PROGRAM ${own} | true; exit \${PIPESTATUS[0]}`)).toMatchObject({ status: 0, stderr: '' })
  expect(shell('$PROGRAM verify - <&-').status).toBe(2)
  expect(shell('$PROGRAM verify - < .').status).toBe(2)
  expect(shell('$PROGRAM audit < .')).toMatchObject({ status: 2, stderr: expect.stringContaining('is a folder') })
})

/** Traces of a block that changes many accounts, and what `diff` takes for them: rows that fill a pipe several times. */
function manyChanges(count: number) {
  const world = createWorld(poseidon2)
  const before = world.stateRoot()
  const address = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}` as const
  const accesses = Array.from({ length: count }, (_, index) => ({ address: address(index), account: { nonce: 1n } }))
  const traces = world.applyBlock(accesses)
  const file = fileOf({ zkStateMerkleProof: [traces] })
  return `diff ${file} --parent-root ${before} --state-root ${world.stateRoot()}`
}

it('ends with the code of the verdict, and no file, if its reader leaves early', () => {
  const folder = folderOf()
  const line = `TMPDIR=${folder} $PROGRAM ${manyChanges(400)} | head -1; exit \${PIPESTATUS[0]}`
  const { status, stdout, stderr } = shell(line)
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(status).toBe(0)
  expect(stderr).toBe('')
  expect(readdirSync(folder)).toEqual([])
})

it('leaves no file behind after a signal, and passes it on', async () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const folder = folderOf()
    const args = [
      PROGRAM,
      ...manyChanges(3)
        .replace(/diff \S+/, 'diff -')
        .split(' '),
    ]
    // It waits for the rest of its input, with the file for its rows open.
    const program = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: folder }, stdio: 'pipe' })
    await vi.waitUntil(() => readdirSync(folder).length === 1, { timeout: 600_000, interval: 20 })
    program.kill(signal)
    const [code, by] = await once(program, 'close')
    expect([code, by, readdirSync(folder)]).toEqual([null, signal, []])
  }
})

it('says where an audit stopped, and passes the signal on', async () => {
  const folder = folderOf()
  const out = join(folder, 'verdicts')
  const program = spawn(process.execPath, [PROGRAM, 'audit', '-o', out, '--jobs', '1'], { stdio: 'pipe' })
  // As many lines as are judged at once, and the beginning of another.
  program.stdin.write('x\n'.repeat(4096))
  program.stdin.write('x')
  let said = ''
  program.stderr.on('data', chunk => (said += chunk))
  const written = () => readdirSync(folder).some(name => statSync(join(folder, name)).size > 0)
  await vi.waitUntil(written, { timeout: 600_000, interval: 20 })
  program.kill('SIGINT')
  const [code, by] = await once(program, 'close')
  expect([code, by]).toEqual([null, 'SIGINT'])
  expect(said).toContain(`stopped after 4,096 lines, and ${out} is not written\n`)
  expect(readdirSync(folder)).toEqual([])
})

it('ends a loop of a shell that the user interrupts', async () => {
  // The second process of the loop would print again. The signal goes to the group, as that of Ctrl-C does.
  const loop = `for i in 1 2 3; do echo begun; ${COMMAND} record state --l1 "$URL" --l2 "$URL" --address 0x${'11'.repeat(20)} -o "$OUT"; done; echo ended`
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const connected = once(silent, 'connection')
  const { port } = silent.address() as AddressInfo
  const env = { ...process.env, URL: `http://127.0.0.1:${port}`, OUT: join(folderOf(), 'out.json') }
  const bash = spawn('bash', ['-c', loop], { env, detached: true, stdio: 'pipe' })
  onTestFinished(() => {
    silent.close()
    silent.closeAllConnections()
  })
  let printed = ''
  bash.stdout.on('data', chunk => (printed += chunk))
  await connected
  process.kill(-Number(bash.pid), 'SIGINT')
  await once(bash, 'close')
  expect(printed).toBe('begun\n')
})

it('exits with 2, never 1, if it crashes', () => {
  const crash = `process.on('newListener', name => name === 'uncaughtException' && setImmediate(() => { throw Error('late') }))`
  const { status, stderr } = shell(`${COMMAND.replace(' ', ` --import "data:text/javascript,${crash}" `)} audit`)
  expect({ status, stderr }).toEqual({ status: 2, stderr: 'rollup-state-proof: unexpected: late\n' })
})

itOnLinux('only Linux has /dev/full')('says that the report is lost, and does not exit with success', () => {
  const file = fileOf(sample)
  for (const args of [`verify ${file}`, `inspect ${file}`, `audit ${file}`, '--help']) {
    const { status, stderr } = shell(`$PROGRAM ${args} > /dev/full`)
    const words = 'rollup-state-proof: cannot write standard output: ENOSPC: no space left on device, write\n'
    expect([args, status, stderr]).toEqual([args, 2, words])
  }
})

it('ends if it cannot listen', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = 'http://127.0.0.1:1'
  for (const args of [['serve'], ['proxy', '--l1', url, '--l2', url], ['proxy', '--json', '--l1', url, '--l2', url]]) {
    const argv = [PROGRAM, ...args, '--port', `${port}`]
    // Killed, it has no status.
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', timeout: 60_000 })
    expect([args, status, stderr]).toEqual([args, 2, expect.stringContaining('choose another port with --port')])
  }
})

it('is the command that the package installs', () => {
  const { bin, files } = JSON.parse(readFileSync('src/cli/package.json', 'utf8'))
  expect({ bin, files }).toEqual({ bin: { 'rollup-state-proof': './main.js' }, files: ['dist', 'main.js'] })
  expect(readFileSync(PROGRAM, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  // Bundled, beside the script of its workers.
  const modules = readdirSync(join(dirname(PROGRAM), 'dist')).filter(name => !/^[\w-]+-[A-Z0-9]{8}\.js$/.test(name))
  expect(modules.sort()).toEqual(['start.js', 'worker.js'])
})
