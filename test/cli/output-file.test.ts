import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../../src/cli/errors.ts'
import { readJson } from '../../src/cli/files/input.ts'
import { openOutputFile } from '../../src/cli/files/output-file.ts'
import { type AskedFor, progressFile } from '../../src/cli/files/progress-file.ts'
import { MAX_INPUT_BYTES } from '../../src/cli/limits.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { CONTRACT, ROLLUP, USER, word } from '../client/servers.ts'
import { PROGRAM } from '../package/build.ts'
import { folderOf, itOnLinux, networkOf, runHere } from './io.ts'

const KEYS = [0, 1, 2].flatMap(key => ['--storage-key', word(key)])
const CLAIM = [...networkOf(ROLLUP.address), '--address', CONTRACT, ...KEYS]
const silent = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
const open = async (path: string, force = false) => openOutputFile(path, force, silent)

/** Starts a service whose slot 0 holds `value` from block 1 on. Different values give different L1 and L2 chains. */
async function startHistory(value = 43) {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  service.chain.pending.setStorage(CONTRACT, { key: word(0), value: word(value) })
  service.chain.addBlock()
  service.chain.finalize()
  addDemoBlocks(service.chain)
  const { url, l1Url } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const file = join(folderOf(), 'out.json')
  const record = (...more: string[]) =>
    runHere(['record', 'state', '--l1', l1Url, '--l2', url, ...CLAIM, '-o', file, ...more])
  return { service, url, l1Url, file, record, root: () => service.chain.at(9n)?.stateRoot() ?? '' }
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

it('records what the L1 endpoint serves, or what the user trusts', async () => {
  const [truth, forger] = [await startHistory(), await startHistory(666)]
  const recorded = JSON.parse((await forger.record('--json')).stdout)
  expect(recorded).toMatchObject({ fetched: true, verdict: 'consistent', sources: { l1BlockHash: 'endpoint' } })
  const hash = Reflect.get(Object(truth.service.chain.l1.getBlock(64n)), 'hash')
  const own = await truth.record('--json', '--l1-block-hash', hash.toUpperCase().replace('0X', '0x'))
  expect(JSON.parse(own.stdout)).toMatchObject({ verdict: 'verified', sources: { l1BlockHash: 'user' } })
  const other = await truth.record('--force', '--l1-block-hash', recorded.l1Block.hash)
  expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('HEADER_HASH_MISMATCH')])
})

it('says what to state for an L1 block that is not the newest', async () => {
  const { service, record } = await startHistory()
  const trusted = ['--force', '--l1-block-hash', Reflect.get(Object(service.chain.l1.getBlock(64n)), 'hash')]
  service.chain.l1.addBlock()
  const newest = await record(...trusted)
  expect([newest.code, newest.stdout]).toEqual([
    1,
    expect.stringContaining('state the number of yours with --l1-block.'),
  ])
  expect(await record(...trusted, '--l1-block', '64')).toMatchObject({ code: 0 })
  const other = await record(...trusted, '--l1-block', '63')
  expect([other.code, other.stdout.includes('--l1-block')]).toEqual([1, false])
  const missing = await record(...trusted, '--l1-block', '999')
  expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('. No block 999. ')])
})

it('reports what a bundle does not prove', async () => {
  const { record, file } = await startHistory()
  const { l1Block } = JSON.parse((await record('--json')).stdout)
  const verify = () => runHere(['verify', file, ...CLAIM, '--l1-block-hash', l1Block.hash])
  const bundle = read(file)
  const { finalizedState: _, ...l1 } = bundle.l1
  const withSlots = (part: object, count: number) => {
    const proof = { ...bundle.l1.proof, storageProof: bundle.l1.proof.storageProof.slice(0, count) }
    return { ...bundle, l1: { ...part, proof } }
  }
  expect(bundle.l1.proof.storageProof.length).toBe(7)
  // The numbers that the contract hashed must come with the slots that prove them, or not at all.
  for (const [part, count] of [
    [bundle.l1, 1],
    [bundle.l1, 2],
    [bundle.l1, 4],
    [l1, 5],
    [l1, 0],
  ] as const) {
    writeFileSync(file, JSON.stringify(withSlots(part, count)))
    const refused = await verify()
    expect([refused.code, refused.stdout], `${count}`).toEqual([1, expect.stringContaining('L1_STORAGE_PROOF_COUNT')])
  }
  writeFileSync(file, JSON.stringify(withSlots(l1, 2)))
  const timeless = await verify()
  expect([timeless.code, timeless.stdout]).toEqual([0, expect.stringMatching(/L2 block +9 .*\n +last finalized +9 /)])
  expect(timeless.stdout).not.toMatch(/null|undefined/)
  writeFileSync(file, JSON.stringify(withSlots(l1, 1)))
  const { code, stdout } = await verify()
  expect([code, stdout]).toEqual([0, expect.stringMatching(/L2 block +9 .*\n +L2 block time/)])
  expect(stdout).not.toMatch(/null|undefined/)
})

it('reads no progress of another request, and nothing that is no progress', () => {
  const path = join(folderOf({ 'victim.json': 'precious' }), 'state.json')
  const progressFor = (askedFor: AskedFor) => progressFile(path, askedFor, () => {})
  const own = progressFor({ command: 'test', address: CONTRACT })
  expect(own.read()).toBe(undefined)
  own.save({ a: 1 })
  const saved = readFileSync(path, 'utf8')
  expect(own.read()).toEqual({ a: 1 })
  expect(() => progressFor({ command: 'test', address: USER }).read()).toThrow(
    'is of another request (it differs in address)',
  )
  expect(readFileSync(path, 'utf8')).toBe(saved)
  for (const junk of ['', '{', 'null', '[]', '{"askedFor":{"__proto__":{}},"progress":1}', '['.repeat(1_000_000)]) {
    writeFileSync(path, junk)
    expect(() => own.read()).toThrow(`${path} exists, and is `)
  }
  rmSync(path)
  symlinkSync(join(dirname(path), 'victim.json'), path)
  expect(() => own.read()).toThrow('symbolic link')
  expect(readFileSync(path, 'utf8')).toBe('precious')
})

it('replaces regular files only, and follows no links', async () => {
  const folder = folderOf({ 'victim.json': 'precious' })
  const at = (name: string) => join(folder, name)
  symlinkSync(at('victim.json'), at('link'))
  symlinkSync(at('nowhere'), at('dangling'))
  symlinkSync(folder, at('folder-link'))
  mkdirSync(at('folder'))
  spawnSync('mkfifo', [at('fifo')])
  symlinkSync('/dev/null', at('device'))
  const paths = ['link', 'dangling', 'folder-link', 'folder', 'fifo', 'device', 'new/', 'none/new', 'a\0b'].map(at)
  paths.push('/dev/null', '/dev/stdout', '/dev/fd/1', '', 'x'.repeat(5000), `${folder}/${'x'.repeat(256)}`)
  const before = readdirSync(folder)
  for (const path of paths) {
    for (const force of [false, true]) await expect(open(path, force), path.slice(0, 99)).rejects.toThrow(UsageError)
  }
  expect(paths.length).toBe(15)
  expect(readdirSync(folder)).toEqual(before)
  expect(readFileSync(at('victim.json'), 'utf8')).toBe('precious')
  expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
})

it('creates the file exclusively, even if another appears after the check', async () => {
  const folder = folderOf({ 'victim.json': 'precious' })
  const path = join(folder, 'out.json')
  for (const appear of [
    () => writeFileSync(path, 'theirs'),
    () => symlinkSync(join(folder, 'victim.json'), path),
    () => symlinkSync(join(folder, 'nowhere'), path),
    () => mkdirSync(path),
  ]) {
    const output = await open(path)
    appear()
    const kind = lstatSync(path).mode
    expect(() => output.write({})).toThrow(UsageError)
    expect(lstatSync(path).mode).toBe(kind)
    expect(readdirSync(folder)).toEqual(['out.json', 'victim.json'])
    const forced = lstatSync(path).isFile() ? undefined : open(path, true)
    if (forced) await expect(forced).rejects.toThrow(UsageError)
    spawnSync('rm', ['-r', path])
  }
  expect(readFileSync(join(folder, 'victim.json'), 'utf8')).toBe('precious')
  // With --force, the same holds for anything but a regular file.
  const output = await open(path, true)
  symlinkSync(join(folder, 'victim.json'), path)
  expect(() => output.write({})).toThrow(UsageError)
  expect(readFileSync(join(folder, 'victim.json'), 'utf8')).toBe('precious')
})

it('writes to an unpredictable temporary name, keeps permissions, and cleans up', async () => {
  const folder = folderOf({ 'victim.json': 'precious', 'out.json': 'old' })
  const path = join(folder, 'out.json')
  symlinkSync(join(folder, 'victim.json'), `${path}.${process.pid}.tmp`)
  chmodSync(path, 0o600)
  const output = await open(path, true)
  output.write({ b: 2 })
  expect(read(path)).toEqual({ b: 2 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o666)
  const again = await open(path, true)
  again.write({ b: 2 })
  expect(statSync(path).mode & 0o777).toBe(0o666)
  expect(readFileSync(join(folder, 'victim.json'), 'utf8')).toBe('precious')
  expect(readdirSync(folder)).toEqual(['out.json', `out.json.${process.pid}.tmp`, 'victim.json'])
  const fresh = await open(join(folder, 'fresh.json'))
  fresh.write({})
  expect(statSync(join(folder, 'fresh.json')).mode & 0o777).toBe(0o666 & ~process.umask())
})

it('counts bytes, so that verify can read any file it writes', async () => {
  const path = join(folderOf(), 'out.json')
  // Two quotes and a line feed. Each sign takes three bytes but is one UTF-16 unit.
  const signs = Math.floor((MAX_INPUT_BYTES - 3) / 3)
  const rest = 'x'.repeat(MAX_INPUT_BYTES - 3 - 3 * signs)
  const tooLarge = await open(path)
  expect(() => tooLarge.write(`${'€'.repeat(signs)}${rest}x`)).toThrow('MiB that verify reads')
  expect(existsSync(path)).toBe(false)
  tooLarge.write(`${'€'.repeat(signs)}${rest}`)
  expect(statSync(path).size).toBe(MAX_INPUT_BYTES)
  expect(String(await readJson(path, silent)).length).toBe(signs + rest.length)
})

it('writes to standard output for -, and the report to standard error', async () => {
  const { url, l1Url } = await startHistory()
  const recorded = await runHere(['record', 'state', '--l1', l1Url, '--l2', url, ...CLAIM, '-o', '-'])
  expect([recorded.code, recorded.stderr]).toEqual([0, expect.stringContaining('Consistent: nobody has confirmed ')])
  const hash = /L1 block hash +(0x\w+)/.exec(recorded.stderr)?.[1] ?? ''
  const verified = await runHere(['verify', '-', ...CLAIM, '--l1-block-hash', hash], { stdin: recorded.stdout })
  expect(verified.code).toBe(0)
  const both = ['record', 'state', '--l1', l1Url, '--l2', url, ...CLAIM, '-o', '-', '--json']
  expect((await runHere(both)).code).toBe(2)
})

itOnLinux('only Linux reports EFBIG in the middle of a write')(
  'reports a full disk, and leaves no file behind',
  async () => {
    const { url, l1Url, file } = await startHistory()
    const args = ['record', 'state', '--l1', l1Url, '--l2', url, ...CLAIM, '-o', file]
    // Limits files to 4 kB. Like a full disk, this fails in the middle of a write.
    const limited = `ulimit -f 4; exec "${process.execPath}" ${PROGRAM} ${args.join(' ')}`
    const program = spawn('bash', ['-c', limited])
    let printed = ''
    for (const stream of [program.stdout, program.stderr]) stream.on('data', chunk => (printed += chunk))
    expect(await new Promise(resolve => program.on('close', resolve))).toBe(2)
    expect(printed).toContain(`cannot write ${file}: file too large`)
    expect(readdirSync(join(file, '..'))).toEqual([])
  },
)
