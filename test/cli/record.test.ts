import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { endpointErrorMeanings } from '../../src/entry/rpc.ts'
import { CONTRACT, ROLLUP, startServer, startService, word } from '../client/servers.ts'
import { PROGRAM } from '../package/build.ts'
import { folderOf, networkOf, runHere } from './io.ts'

const KEYS = [0, 1, 2, 7, 9].map(word)
const flags = (name: string, values: readonly string[]) => values.flatMap(value => [`--${name}`, value])
const SECRET = 'secret-key-0123456789'

/** The arguments, with options replaced by those in `more`. */
function overriding(args: readonly string[], more: readonly string[]): string[] {
  const rest = [...args]
  for (const name of more) {
    const at = rest.findIndex(arg => arg === name || (name === '--output' && arg === '-o'))
    if (name.startsWith('--') && name !== '--storage-key' && at >= 0) rest.splice(at, 2)
  }
  return [...rest, ...more]
}

/** Starts a service with a history, and provides a file to write. */
async function startDemo(proofLag = 0) {
  const started = await startService({ proofLag, apiKeys: [SECRET] })
  addDemoBlocks(started.service.chain)
  const folder = folderOf()
  const file = join(folder, 'out.json')
  const { url, l1Url } = started
  const asked = ['--address', CONTRACT, ...flags('storage-key', KEYS)]
  const claim = [...networkOf(ROLLUP.address), ...asked]
  const record = (...more: string[]) =>
    runHere(overriding(['record', 'state', '--l1', l1Url, '--l2', url, ...claim, '-o', file], more))
  const root = () => started.service.chain.at(9n)?.stateRoot() ?? ''
  return { ...started, folder, file, claim, asked, record, root, read: () => readFileSync(file, 'utf8') }
}

/** Forwards requests, and adds an unknown field of 9 MB to each result. */
const startPadding = (url: string, length: number) =>
  startServer(async (response, _, __, body) => {
    const passed = await globalThis.fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const { result, ...envelope } = (await passed.json()) as { result: object }
    response.end(JSON.stringify({ ...envelope, result: { ...result, more: 'x'.repeat(length) } }))
  })

/** The arguments of the command at the end of the report. */
const lastCommand = (stdout: string): string[] =>
  (stdout.trimEnd().split('\n').at(-1) ?? '')
    .trim()
    .replace(/^npx rollup-state-proof /, '')
    .split(' ')

it('records a bundle that verifies with the command it prints', async () => {
  const { record, folder, service, read } = await startDemo(1)
  const { code, stdout, stderr } = await record()
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^L1 block 64 of 20..-/),
    'L2 block 9: finalized; asking for the proof',
    'L2 block 9: no proofs of it (BLOCK_MISSING); trying the finalization before',
    'L2 block 5: finalized; asking for the proof',
  ])
  expect(code).toBe(0)
  expect(stdout).toMatch(/L2 block +5 .*\n +last finalized +9 /)
  const hash = Reflect.get(Object(service.chain.l1.getBlock(64n)), 'hash')
  expect(stdout).toContain(`L1 block hash   ${hash}`)
  expect(readdirSync(folder)).toEqual(['out.json'])
  expect(read().endsWith('}\n')).toBe(true)

  const command = lastCommand(stdout)
  expect(command).toContain(hash)
  const verified = await runHere(command)
  expect(verified).toMatchObject({ code: 0, stderr: '' })
  // The command states every input, so none is taken from the bundle.
  expect(verified.stdout).not.toContain('whoever made the bundle')

  const before = read()
  await service.close({ graceMs: 0 })
  const again = await record()
  expect(again).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('exists, and would be replaced') })
  expect(read()).toBe(before)
})

it('reports the same in JSON', async () => {
  const { record, service } = await startDemo()
  const report = JSON.parse((await record('--json')).stdout)
  expect(report).toMatchObject({
    fetched: true,
    account: { nonce: '1' },
    l2BlockNumber: '9',
    currentL2BlockNumber: '9',
    trustedInput: 'l1BlockHash',
    l1Block: { number: '64', hash: expect.stringMatching(/^0x/) },
  })
  const proven = { finalizedTimestamp: `${service.chain.timestamp(9n)}` }
  expect(report).toMatchObject(proven)
  const verified = await runHere([...report.verify, '--json'])
  expect(verified.code).toBe(0)
  expect(JSON.parse(verified.stdout)).toMatchObject(proven)
  expect((await runHere(report.verify)).stdout).toMatch(
    /L2 block time +20..-\S+Z +\d+ days old, proven by the rollup contract/,
  )
  expect((await runHere(['inspect', report.file])).stdout).toMatch(/timestamp +\d+ \(20..-\S+Z\)/)
  const plain = await record('--force', '--l2-block', '4')
  expect(plain.stdout).toMatch(/L2 block time +not proven +the L1 block is \d+ days old, and this block is older/)
  const older = JSON.parse((await record('--json', '--force', '--l1-block', '43')).stdout)
  expect(older).toMatchObject({ l1Block: { number: '43' }, l2BlockNumber: '5' })
  const timeless = JSON.parse((await record('--json', '--force', '--l2-block', '4')).stdout)
  expect(timeless).toMatchObject({ l2BlockNumber: '4' })
  expect(timeless).not.toHaveProperty('finalizedTimestamp')
  const refused = await record('--json', '--force', '--l2-block', '3')
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.stdout)).toMatchObject({ fetched: false, error: { code: 'ANCHOR_NO_ROOT' } })
})

it('replaces a file only if it is told to', async () => {
  const { record, file, folder, read } = await startDemo()
  const others = ['', '{', '{"version":1}', 'null', '[]']
  for (const content of others) {
    writeFileSync(file, content)
    expect((await record()).code).toBe(2)
    expect(read()).toBe(content)
  }
  expect((await record('--force')).code).toBe(0)
  expect(readdirSync(folder)).toEqual(['out.json'])
})

it('exits with the code for the kind of failure', async () => {
  const { record, service, folder, l1Url, url, claim, file } = await startDemo()
  const lying = await startServer((response, id) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} })))
  expect((await record('--l2', lying.url)).code).toBe(1)
  expect((await record('--l1', lying.url)).code).toBe(1)
  expect((await record('--l1', `${l1Url}/nothing`)).code).toBe(3)
  // Unknown fields are not written to the file.
  const recordPadded = async (length: number) =>
    (await record('--l1', (await startPadding(l1Url, length)).url, '--l2', (await startPadding(url, length)).url)).code
  expect(await recordPadded(20_000)).toBe(0)
  expect(readFileSync(file, 'utf8')).not.toContain('xxx')
  rmSync(file)
  // More than any honest answer of its kind.
  expect(await recordPadded(9_000_000)).toBe(3)
  const silent = await startServer(() => {})
  const late = await record('--l2', silent.url, '--timeout', '1')
  expect([late.code, late.stderr]).toEqual([3, expect.stringContaining('TIMEOUT: the L2 endpoint')])
  const usage = [
    ['--network', 'x'],
    ['--address', '0x12'],
    ['--storage-key', `0x${'12'.repeat(31)}`],
    ['--l1-block', 'soon'],
    ['--l2-block', 'finalized'],
    ['--keys-per-request', '0'],
    ['--timeout', '0'],
    ['--l1', 'ftp://localhost'],
    ['--output', folder],
    ['--output', '-', '--json'],
    ['--output', ''],
    ['--l1-block-hash', '0x12'],
    ['--timeout', 'NaN'],
    ['--timeout', '1e3'],
    ['--keys-per-request', '9'.repeat(100_000)],
    ['--output', join(folder, 'none', 'out.json')],
    ['--unknown'],
    ['extra'],
    flags(
      'storage-key',
      Array.from({ length: 1000 }, (_, index) => word(index)),
    ),
  ]
  for (const args of usage) expect([args[0], (await record(...args)).code]).toEqual([args[0], 2])
  for (const left of ['--l1', '--l2', '--address', '-o']) {
    const args = ['record', 'state', '--l1', l1Url, '--l2', url, ...claim, '-o', file]
    args.splice(args.indexOf(left), 2)
    const { code, stderr } = await runHere(args)
    expect([left, code, stderr.includes(left.replace('-o', '--output'))]).toEqual([left, 2, true])
  }
  await service.close({ graceMs: 0 })
  const down = await record('--json')
  expect([down.code, JSON.parse(down.stdout)]).toEqual([
    3,
    {
      fetched: false,
      error: {
        ...{ code: 'UNREACHABLE', action: 'wait', meaning: endpointErrorMeanings.UNREACHABLE },
        ...{ layer: 'L1', message: expect.stringContaining('UNREACHABLE: the L1 endpoint') },
      },
    },
  ])
  expect(readdirSync(folder)).toEqual([])
  const { code, stdout } = await runHere(['record', 'state', '--help'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Examples?:\n/)])
})

it('asks the next endpoint where one fails', async () => {
  const { url, l1Url, claim, file, read } = await startDemo()
  const down = 'http://127.0.0.1:1'
  const endpoints = ['--l1', down, '--l1', l1Url, '--l2', down, '--l2', url]
  expect(await runHere(['record', 'state', ...endpoints, ...claim, '-o', file])).toMatchObject({ code: 0 })
  const bundle = read()
  vi.stubEnv('L1_URL', ` ${down} ${l1Url} `)
  vi.stubEnv('L2_URL', `${down}\t${url}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await runHere(['record', 'state', ...claim, '-o', file, '--force'])).toMatchObject({ code: 0 })
  expect(read()).toBe(bundle)
})

it('keeps its own words, whatever the URL consists of', async () => {
  const words = ['false', 'fetched', 'error', 'UNREACHABLE', 'message', 'endpoint', 'null', 'answer', '":"']
  for (const word of words) {
    const url = `http://127.0.0.1:1/${word}`
    const claim = [...networkOf(ROLLUP.address), '--address', CONTRACT]
    const output = join(folderOf(), 'v3')
    const args = ['record', 'state', '--l1', url, '--l2', url, ...claim, '-o', output]
    const { stdout } = await runHere([...args, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ fetched: false, error: { code: 'UNREACHABLE', layer: 'L1' } })
    expect(stdout + (await runHere(args)).stderr).not.toMatch(/\[(?:key|URL)\]/)
  }
  expect(words).toHaveLength(9)
  const { stderr } = await runHere(['verify', '/data/v3/no-such-file'])
  expect(stderr).toContain('cannot read /data/v3/no-such-file')
})

it('reads URLs from the environment too, and prints no key', async () => {
  const { file, folder, url, l1Url, claim, service } = await startDemo()
  vi.stubEnv('L1_URL', `${l1Url}/v3/${SECRET}`)
  vi.stubEnv('L2_URL', `${url}/v3/${SECRET}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const run = (...more: string[]) => runHere(['record', 'state', ...claim, '-o', file, ...more])
  const outputs = [await run(), await run('--json')]
  expect(outputs.map(({ code }) => code)).toEqual([0, 2])

  const echo = (result: unknown) =>
    startServer((response, id) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result })))
  const liars = [
    await echo({ ...service.chain.l1.getBlock(64n), number: SECRET }),
    await echo(SECRET),
    await startServer((response, id) =>
      response.writeHead(403).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: SECRET } })),
    ),
    await startServer((response, id) =>
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: `${SECRET} ${l1Url}`, data: [SECRET] } }),
      ),
    ),
    { url: 'http://127.0.0.1:1' },
    { url: 'ftp://127.0.0.1:1' },
    { url: `http://${SECRET}@127.0.0.1:1` },
  ]
  for (const liar of liars) {
    for (const layer of ['--l1', '--l2']) {
      for (const more of [[], ['--json']])
        outputs.push(await run('--force', layer, `${liar.url}/v3/${SECRET}`, ...more))
    }
  }
  outputs.push(await run(`${url}/v3/${SECRET}`))
  outputs.push(await runHere(['record', 'state', '--l3', `${url}/v3/${SECRET}`]))
  expect(outputs.length).toBe(32)
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toMatch(/secret-key|127\.0/)
  for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/secret-key/)
})

it('overwrites its progress on a terminal', async () => {
  const { url, l1Url, claim, file } = await startDemo()
  const args = ['record', 'state', '--l1', l1Url, '--l2', url, ...claim, '-o', file, '--keys-per-request', '2']
  const { stderr } = await runHere(args, { isTTY: true })
  const [first, second, ...others] = stderr.split('\r\x1b[K').filter(line => line !== '')
  expect([first, second, others]).toEqual([
    expect.stringContaining('L1 block '),
    'L2 block 9: finalized; asking for the proof',
    [],
  ])
  expect(stderr.endsWith('\r\x1b[K')).toBe(true)
  expect(stderr).not.toContain('\n')
})

/** Runs the program as a separate process. `until` waits for output that matches. */
function start(args: readonly string[]) {
  const program = spawn(process.execPath, [PROGRAM, ...args])
  onTestFinished(() => void program.kill('SIGKILL'))
  let printed = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', chunk => (printed += chunk))
  const ended = new Promise<number | null>(resolve => program.on('close', resolve))
  const until = (pattern: RegExp) => vi.waitUntil(() => pattern.exec(printed), { timeout: 600_000 })
  return { program, ended, until, printed: () => printed }
}

it('serves, records and verifies as three processes', async () => {
  const [, path = ''] = networkOf(ROLLUP.address, { scheme: 'mimc' })
  const server = start(['serve', '--port', '0', '--network', path])
  const [, l2 = ''] = await server.until(/L2 +(\S+)\n/)
  const [, l1 = ''] = await server.until(/L1 +(\S+)\n.*its state root/s)
  const file = join(folderOf(), 'bundle.json')
  const asked = ['--network', path, '--address', CONTRACT, '--storage-key', word(0)]
  const recording = start(['record', 'state', '--l1', l1, '--l2', l2, ...asked, '-o', file])
  expect(await recording.ended).toBe(0)
  server.program.kill('SIGINT')
  expect(await server.ended).toBe(0)
  const verifying = start(lastCommand(recording.printed()))
  expect(await verifying.ended).toBe(0)
  expect(verifying.printed()).toMatch(/L2 block +8 .*\n.*last finalized +8 /)
  expect(verifying.printed()).toContain(`present  ${word(42 + 8)}`)
})

it('keeps received answers on Ctrl-C', async () => {
  const { url, l1Url, claim, file, folder } = await startDemo()
  // It stops responding after two answers.
  const slow = await startServer((response, _, turn, body) => {
    if (turn >= 2) return
    httpRequest(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } }, answer =>
      answer.pipe(response),
    ).end(body)
  })
  const args = ['record', 'state', '--l1', l1Url, ...claim, '-o', file, '--keys-per-request', '2']
  const recording = start([...args, '--l2', slow.url])
  await recording.until(/L2 block 9: finalized/)
  recording.program.kill('SIGINT')
  // As the signal ends any program: a loop in a shell ends, too.
  await recording.ended
  expect(recording.program.signalCode).toBe('SIGINT')
  expect(recording.printed()).toContain('Stopped.')
  expect(recording.printed()).not.toMatch(/endpoint|Not fetched/)
  expect(readdirSync(folder)).toEqual([])
})
