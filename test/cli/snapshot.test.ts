import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addAddress } from '../../src/cli/commands/snapshot.ts'
import { createService, createWorld, type Fault, type FaultRequest } from '../../src/devnet/index.ts'
import { type Hex, mappingSlot } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { ROLLUP, word } from '../client/servers.ts'
import { randomOf } from '../random.ts'
import { runProgram } from './bulk/program.ts'
import { asSender, folderOf, NOT_OWN, networkOf, runHere, saveProgress } from './io.ts'

/** For a thorough run, use 50,000 addresses and 20 kills. */
const { SNAPSHOT_ADDRESSES = '90', SNAPSHOT_KILLS = '2' } = process.env
const [COUNT, KILLS] = [Number(SNAPSHOT_ADDRESSES), Number(SNAPSHOT_KILLS)]

const CONTRACT: Hex = `0x${'c0'.repeat(20)}`
const addressOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`
const addresses = Array.from({ length: COUNT }, (_, index) => addressOf(index))

/** Every third address has no account. Every second one has no entry in the contract's mapping 5. */
async function start(faults: (request: FaultRequest) => Fault | undefined = () => undefined) {
  const world = createWorld(poseidon2)
  world.setAccount(CONTRACT, { nonce: 1n })
  for (const [index, address] of addresses.entries()) {
    if (index % 3 !== 2) world.setAccount(address, { balance: BigInt(index) + 10n ** 20n })
    if (index % 2 === 0)
      world.setStorage(CONTRACT, { key: mappingSlot({ slot: 5n, keys: [address] }), value: word(index + 1) })
  }
  const service = createService({ genesis: world, rollup: ROLLUP, faults })
  service.chain.addBlock()
  service.chain.finalize()
  const { url, l1Url } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const folder = folderOf({ 'list.txt': `# holders\n\n${addresses.map(each => `${each} # one\r\n`).join('')}` })
  const args = (name: string, ...more: string[]) => [
    ...['snapshot', join(folder, 'list.txt'), '--l1', l1Url, '--l2', url],
    ...[...networkOf(ROLLUP.address), '-o', join(folder, name), ...more],
  ]
  return { args, folder, read: (name: string) => readFileSync(join(folder, name)) }
}

const rowsIn = (bytes: Buffer) =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

/** Frequent failures of every kind. Every answer about `liar` is a lie. */
function faultsAbout(liar: Hex | undefined, period = 53) {
  let turn = 0
  return ({ endpoint, method, params }: FaultRequest): Fault | undefined => {
    if (endpoint !== 'l2' || method !== 'rollup_getProof') return undefined
    const change = (result: unknown) => JSON.parse(JSON.stringify(result).replace(/"value":"0x(..)/, '"value":"0x7f'))
    if (params[0] === liar) return { kind: 'lie', change }
    const faults: Record<number, Fault> = {
      5: { kind: 'status', status: 429, retryAfterSeconds: 0 },
      11: { kind: 'reset' },
      17: { kind: 'cut' },
      23: { kind: 'delay', milliseconds: 30 },
      31: { kind: 'lie', change },
      41: { kind: 'status', status: 503 },
      47: { kind: 'error', code: -32000, message: 'busy' },
    }
    return faults[turn++ % period]
  }
}

it('proves every address but the one the endpoint always lies about', async () => {
  const liar = addressOf(6)
  const { args, read, folder } = await start(faultsAbout(liar))
  // The first L1 endpoint is down.
  const [, list = '', ...rest] = args('rows.ndjson', '--keep', join(folder, 'kept.ndjson.gz'))
  const { code, stdout, stderr } = await runHere(['snapshot', list, '--l1', 'http://127.0.0.1:1', ...rest])
  expect({ code, stderr }).toMatchObject({ code: 1 })
  expect(stderr).toContain(`${liar}: `)
  expect(stderr).toContain('no answer of the endpoint verifies')
  expect(stdout).toContain(`1 of ${COUNT} addresses have no answer that verifies.`)
  const rows = rowsIn(read('rows.ndjson'))
  expect(rows.map(({ address }) => address)).toEqual(addresses)
  for (const [index, row] of rows.entries()) {
    if (index === 6) expect(row).toMatchObject({ verdict: 'refused', code: expect.any(String) })
    else if (index % 3 === 2) expect(row).toEqual({ address: addresses[index], verdict: 'absent' })
    else expect(row).toMatchObject({ verdict: 'present', balance: `${BigInt(index) + 10n ** 20n}` })
  }
  const manifest = JSON.parse(read('rows.ndjson.manifest.json').toString())
  expect(manifest.rows).toMatchObject({
    count: COUNT,
    sha256: createHash('sha256').update(read('rows.ndjson')).digest('hex'),
  })
  expect(manifest.counts.refused).toBe(1)
  expect(readdirSync(folder).sort()).toEqual(['kept.ndjson.gz', 'list.txt', 'rows.ndjson', 'rows.ndjson.manifest.json'])

  // The kept answers verify again, against a root that the manifest's bundle proves.
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest.bundle))
  const verified = await runHere([
    ...['verify', join(folder, 'bundle.json'), ...networkOf(ROLLUP.address)],
    ...['--l1-block-hash', manifest.l1BlockHash, '--json'],
  ])
  expect(verified.stdout).toContain(manifest.stateRoot)
  expect(verified.code).toBe(0)
  const audited = await runHere([
    ...['audit', join(folder, 'kept.ndjson.gz'), '--jobs', '1'],
    ...['--state-root', manifest.stateRoot],
  ])
  expect(audited.code).toBe(0)
  expect(audited.stdout.trimEnd().split('\n')).toHaveLength(COUNT - 1)
})

it('resumes after kills with the same files as an undisturbed run', async () => {
  const { args, read, folder } = await start(faultsAbout(undefined, 307))
  const names = (name: string) =>
    [`${name}.csv`, '--keep', join(folder, `${name}.ndjson.gz`), '--concurrency', '3'] as const
  expect((await runHere(args(...names('whole')))).code).toBe(0)
  const { size } = statSync(join(folder, 'whole.csv'))
  const random = randomOf(KILLS)
  let killed = 0
  for (let turn = 0; turn < KILLS; turn++) {
    const killedAt = (size * (turn + random())) / (KILLS + 1)
    const { code } = await runProgram(args(...names('cut')), {
      started: (child: ChildProcess) => {
        const timer = setInterval(() => {
          if ((statSync(join(folder, 'cut.csv'), { throwIfNoEntry: false })?.size ?? 0) >= killedAt)
            child.kill('SIGKILL')
        }, 1)
        child.once('exit', () => clearInterval(timer))
      },
    })
    if (code === null) killed++
  }
  expect(killed).toBeGreaterThan(0)
  expect((await runHere(args(...names('cut')))).code).toBe(0)
  expect(read('cut.csv').equals(read('whole.csv'))).toBe(true)
  const [kept, undisturbed] = ['cut', 'whole'].map(name => gunzipSync(read(`${name}.ndjson.gz`)).toString())
  expect(kept).toBe(undisturbed)
  const [head, first] = read('whole.csv').toString().split('\n')
  expect(head).toBe('address,verdict,nonce,balance,storageRoot,codeHash,codeSize,code')
  expect(first).toMatch(/^0x0{39}1,present,0,100000000000000000000,0x[0-9a-f]{64},0x[0-9a-f]{64},0,$/)
})

it('proves the entries of many holders in one mapping, many per request', async () => {
  const asked: number[] = []
  const { args, read } = await start(({ method, params }) => {
    if (method === 'rollup_getProof') asked.push((params[1] as unknown[]).length)
    return undefined
  })
  const flags = ['--address', CONTRACT, '--mapping', '5', 'each', '--keys-per-request', '60']
  expect((await runHere(args('rows.csv', ...flags))).code).toBe(0)
  expect(asked.slice(1)).toEqual([
    ...Array.from({ length: Math.floor(COUNT / 60) }, () => 60),
    ...(COUNT % 60 ? [COUNT % 60] : []),
  ])
  const [head, ...rows] = read('rows.csv').toString().trimEnd().split('\n')
  expect(head).toBe('holder,verdict,key,value,number,code')
  expect(rows).toEqual(
    addresses.map((address, index) => {
      const value = index % 2 === 0 ? index + 1 : 0
      const verdict = value > 0 ? 'present' : 'absent'
      return [address, verdict, mappingSlot({ slot: 5n, keys: [address] }), word(value), value, ''].join()
    }),
  )

  // A second run requests and writes nothing.
  const before = asked.length
  const again = await runHere(args('rows.csv', ...flags))
  const stderr = expect.stringContaining('its rows are complete, which --check verifies: move it away, or use --force')
  expect(again).toMatchObject({ code: 2, stdout: '', stderr })
  expect(asked).toHaveLength(before)
})

it('does not write to a file that another run is writing', async () => {
  let second: Promise<{ code: number; stderr: string }> | undefined
  const { args, read } = await start(({ method, turn }) => {
    // Start the second run in the middle of the first.
    if (method === 'rollup_getProof' && turn > 50) second ??= runHere(args('rows.csv'))
    return undefined
  })
  expect((await runHere(args('rows.csv'))).code).toBe(0)
  expect(await second).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('rows.csv: another run is writing it'),
  })
  expect(read('rows.csv').toString().trimEnd().split('\n')).toHaveLength(COUNT + 1)
})

it('isolates the one holder that a lie is about', async () => {
  const liar = mappingSlot({ slot: 5n, keys: [addressOf(10)] })
  const { args, read } = await start(({ method, params }) => {
    if (method !== 'rollup_getProof') return undefined
    const at = (params[1] as string[]).indexOf(liar)
    const change = (result: unknown) => {
      const lie = result as { storageProofs: { proof: { value: string } }[] }
      const proof = lie.storageProofs[at]?.proof
      if (proof) proof.value = word(10 ** 9)
      return lie
    }
    return at < 0 ? undefined : { kind: 'lie', change }
  })
  const { code } = await runHere(
    args('rows.ndjson', '--address', CONTRACT, '--mapping', '5', 'each', '--keys-per-request', '20'),
  )
  expect(code).toBe(1)
  const rows = rowsIn(read('rows.ndjson'))
  expect(rows.map(({ holder }) => holder)).toEqual(addresses)
  expect(rows.filter(({ verdict }) => verdict === 'refused')).toEqual([
    { holder: addressOf(10), verdict: 'refused', code: expect.any(String) },
  ])
})

describe('--check', () => {
  const MAPPING = ['--address', CONTRACT, '--mapping', '5', 'each', '--keys-per-request', '60'] as const

  /** A snapshot, and what checking its files prints as JSON. */
  async function take(name: string, more: readonly string[] = [], faults?: Parameters<typeof start>[0]) {
    const { args, folder, read } = await start(faults)
    const at = (file: string) => join(folder, file)
    const run = (...flags: string[]) => runHere(args(name, '--keep', at('kept.gz'), ...more, ...flags))
    await run()
    const manifest = JSON.parse(read(`${name}.manifest.json`).toString())
    const check = async (l1BlockHash = manifest.l1BlockHash) => {
      const { code, stdout, stderr } = await run('--check', '--json', '--l1-block-hash', l1BlockHash)
      return { code, stderr, ...(stdout && JSON.parse(stdout)) }
    }
    return { at, read, run, check, manifest }
  }

  it('proves every row again, without an endpoint, and finds one that was refused', async () => {
    const accounts = await take('rows.ndjson', ['--storage-key', word(1)])
    expect(await accounts.check()).toMatchObject({ code: 0, verdict: 'verified', rows: COUNT })
    const mapping = await take('rows.csv', MAPPING)
    expect(await mapping.check()).toMatchObject({ code: 0, verdict: 'verified', rows: COUNT })
    const shown = await mapping.run('--check', '--l1-block-hash', mapping.manifest.l1BlockHash)
    expect(shown.stdout).toContain(`Verified, for the L2 block that the file names: all ${COUNT} rows are proven.`)
    expect(shown.stdout).toMatch(/L2 state root +0x[0-9a-f]{64} +proven/)

    const holder = addressOf(6)
    const refused = await take('rows.ndjson', [], faultsAbout(holder, 1000))
    const problem = 'no answer of the endpoint verified'
    expect(await refused.check()).toMatchObject({ code: 1, verdict: 'refused', line: 7, problem })
    // An answer about one key is a lie, so each of its 60 holders has an answer of its own.
    const split = await take('rows.csv', MAPPING, ({ method, params }) => {
      const isLie =
        method === 'rollup_getProof' && (params[1] as string[]).includes(mappingSlot({ slot: 5n, keys: [holder] }))
      return isLie ? { kind: 'lie', change: () => ({ accountProof: {}, storageProofs: [] }) } : undefined
    })
    expect(await split.check()).toMatchObject({ code: 1, line: 8, problem })
  })

  it('finds whatever was changed afterwards', async () => {
    const { at, read, run, check, manifest } = await take('rows.csv', MAPPING)
    const honest = { rows: read('rows.csv').toString(), kept: gunzipSync(read('kept.gz')).toString() }
    const lines = honest.rows.split('\n')
    const answers = honest.kept.trimEnd().split('\n')
    const problem = 'differs from what is proven'
    const notKept = 'what proves it is not kept'
    const cases: readonly (readonly [Partial<typeof honest>, object])[] = [
      [{ rows: honest.rows.replace(`${word(3)},3,`, `${word(4)},4,`) }, { line: 4, problem }],
      [{ rows: honest.rows.replace(`${word(3)},3,`, `${word(3)},4,`) }, { line: 4, problem }],
      [{ rows: honest.rows.replace(addressOf(0), addressOf(1)) }, { line: 2, problem }],
      [{ rows: lines.toSpliced(-2, 1).join('\n') }, { line: COUNT + 1, problem: 'is missing' }],
      [{ rows: `${honest.rows}${lines[1]}\n` }, { line: COUNT + 2, problem: 'more lines follow the last row' }],
      [{ rows: honest.rows.replace('key', 'KEY') }, { line: 1, problem }],
      [{ rows: '' }, { line: 1, problem: 'is missing' }],
      [{ kept: answers.slice(0, -1).join('\n') }, { problem: notKept }],
      [{ kept: `${honest.kept}${answers[0]}\n` }, { problem: 'more is kept than proves the rows' }],
      [{ kept: answers.toReversed().join('\n') }, { line: 2, error: { code: expect.any(String) } }],
      [
        { kept: honest.kept.replace(/"storageKeys":\[[^\]]*\]/, '"storageKeys":[]') },
        { line: 2, error: { code: 'STORAGE_PROOF_UNEXPECTED' } },
      ],
      [{ kept: honest.kept.replace('{', '[') }, { line: 2, problem: expect.stringContaining('not JSON') }],
      [
        { kept: honest.kept.replace('"version":1', '"version":2') },
        { line: 2, problem: 'an answer is of another version' },
      ],
      [{ kept: honest.kept.replace('"result"', '"other"') }, { line: 2, error: { code: 'MALFORMED_RESPONSE' } }],
      [{ kept: '' }, { line: 2, problem: notKept }],
    ]
    for (const [change, expected] of cases) {
      const { rows, kept } = { ...honest, ...change }
      writeFileSync(at('rows.csv'), rows)
      writeFileSync(at('kept.gz'), gzipSync(kept))
      expect(await check()).toMatchObject({ code: 1, verdict: 'refused', ...expected })
    }
    expect(cases).toHaveLength(15)

    const wrongHash = await check(word(1))
    expect(wrongHash).toMatchObject({ code: 1, verdict: 'refused', error: { code: 'HEADER_HASH_MISMATCH' } })
    writeFileSync(at('rows.csv'), honest.rows)
    writeFileSync(at('kept.gz'), gzipSync(honest.kept).subarray(0, -10))
    expect(await check()).toMatchObject({ code: 2, stderr: expect.stringContaining('kept.gz') })
    writeFileSync(at('kept.gz'), gzipSync(honest.kept))
    expect(await check()).toMatchObject({ code: 0 })

    // Rows in a gzip file, whose header has room for others: most programs would read those.
    // Half of them are present in truth.
    const others = lines.slice(1).join('\n').replaceAll(',absent,', ',present,')
    const header = Buffer.from([0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 3])
    const forgedHeader = Buffer.concat([header, Buffer.from(`\n${others}\0`), gzipSync(honest.rows).subarray(10)])
    expect(gunzipSync(forgedHeader).toString()).toBe(honest.rows)
    writeFileSync(at('rows.csv'), forgedHeader)
    expect(await check()).toMatchObject({ code: 1, verdict: 'refused', line: 1, problem })
    for (const file of ['rows.csv', 'kept.gz']) {
      rmSync(at(file))
      symlinkSync('/dev/zero', at(file))
      expect(await check()).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a regular file') })
      rmSync(at(file))
      writeFileSync(at(file), honest.rows)
    }

    // A forger keeps the genuine bundle, and replaces everything else.
    const forged = createWorld(poseidon2)
    forged.setAccount(CONTRACT, { nonce: 1n })
    for (const address of addresses)
      forged.setStorage(CONTRACT, { key: mappingSlot({ slot: 5n, keys: [address] }), value: word(7) })
    const forgedAnswers: string[] = []
    for (let begin = 0; begin < COUNT; begin += 60) {
      const storageKeys = addresses.slice(begin, begin + 60).map(address => mappingSlot({ slot: 5n, keys: [address] }))
      const result = forged.getProof(CONTRACT, storageKeys)
      forgedAnswers.push(
        `${JSON.stringify({ version: 1, scheme: 'poseidon2', stateRoot: forged.stateRoot(), address: CONTRACT, storageKeys, result })}\n`,
      )
    }
    const forgedRows = addresses.map(
      each => `${[each, 'present', mappingSlot({ slot: 5n, keys: [each] }), word(7), 7, ''].join()}\n`,
    )
    const content = `${lines[0]}\n${forgedRows.join('')}`
    writeFileSync(at('rows.csv'), content)
    writeFileSync(at('kept.gz'), gzipSync(forgedAnswers.join('')))
    const claimed = { ...manifest, stateRoot: forged.stateRoot(), l2BlockNumber: '9\u001b[31m' }
    claimed.rows.sha256 = createHash('sha256').update(content).digest('hex')
    writeFileSync(at('rows.csv.manifest.json'), JSON.stringify(claimed))
    const forgery = await check()
    const error = { code: 'STATE_ROOT_MISMATCH', path: 'accountProof.proof' }
    expect(forgery).toMatchObject({ code: 1, verdict: 'refused', line: 2, error })
    for (const [other, reason] of [
      [{ version: 2 }, 'is of version 2 of its format, of which this program reads 1'],
      [{ kind: 'bundle' }, 'is not the manifest of a snapshot'],
    ]) {
      writeFileSync(at('rows.csv.manifest.json'), JSON.stringify({ ...manifest, ...Object(other) }))
      const { stderr } = await run('--check', '--l1-block-hash', manifest.l1BlockHash)
      expect(stderr).toContain(`rows.csv.manifest.json ${reason}\n`)
    }
  })

  it('says that the files are of an older block, unless the user states the block', async () => {
    const world = createWorld(poseidon2)
    world.setAccount(addressOf(0), { balance: 1n })
    const service = createService({ genesis: world, rollup: ROLLUP })
    for (let block = 0; block < 2; block++) {
      service.chain.addBlock()
      service.chain.finalize()
    }
    const { url, l1Url } = await service.listen()
    onTestFinished(() => service.close({ graceMs: 0 }))
    const folder = folderOf({ 'list.txt': addressOf(0) })
    const [rows, kept] = [join(folder, 'rows.csv'), join(folder, 'kept.gz')]
    const run = (...more: string[]) =>
      runHere([
        ...['snapshot', join(folder, 'list.txt'), '--l1', l1Url, '--l2', url, '-o', rows],
        ...[...networkOf(ROLLUP.address), '--keep', kept, ...more],
      ])
    expect((await run('--l2-block', '1')).code).toBe(0)
    const { l1BlockHash } = JSON.parse(readFileSync(`${rows}.manifest.json`, 'utf8'))
    const check = ['--check', '--l1-block-hash', l1BlockHash]
    const older = await run(...check)
    expect(older.stdout).toMatch(/L2 block +1 +proven, and stated by the manifest\n +last finalized +2 +proven/)
    expect(older).toMatchObject({ code: 0, stdout: expect.stringContaining('Note: this is an older state') })
    const stated = await run(...check, '--l2-block', '1')
    expect(stated.stdout).toMatch(/L2 block +1 +proven, and stated by you/)
    expect(stated.stdout).not.toContain('Note')
    expect(await run(...check, '--l2-block', '2')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('EVIDENCE_BLOCK_MISMATCH'),
    })
    expect(await run(...check, '--network', 'x')).toMatchObject({ code: 2 })
  })
})

it('reads two million addresses, and none of more', () => {
  const list: Hex[] = new Array(1_999_999)
  const add = () => addAddress(list, CONTRACT, 'line 7')
  add()
  expect(add).toThrow('line 7: more than 2000000 addresses')
})

it('leaves no files if it fails before the first row', async () => {
  const { args, folder } = await start(() => ({ kind: 'error', code: -32601, message: 'no such method' }))
  const { code } = await runHere(args('rows.csv', '--keep', join(folder, 'kept.gz')))
  expect(code).toBe(3)
  expect(readdirSync(folder)).toEqual(['list.txt'])
})

it('believes no row that it did not write', async () => {
  let isGone = true
  const { args, folder, read } = await start(({ endpoint, turn }) => {
    if (endpoint !== 'l2' || turn < COUNT || !isGone) return undefined
    return { kind: 'error', code: -32601, message: 'no such method' }
  })
  const file = (name: string) => join(folder, name)
  const again = () => runHere(args('rows.csv', '--keep', file('kept.gz')))
  /** Someone is given more than they have. */
  const forge = () => {
    const [rows, { progress }] = [read('rows.csv').toString(), JSON.parse(read('rows.csv.partial').toString())]
    const forged = rows.replace('10000000000000000000', '99999999999999999999')
    expect(forged).not.toBe(rows)
    writeFileSync(file('rows.csv'), forged)
    return { progress, sha256: createHash('sha256').update(forged).digest('hex') }
  }
  expect((await again()).code).toBe(3)
  const { progress, sha256 } = forge()
  const forged = read('rows.csv')
  const [, kept] = progress.files
  const refused = await again()
  const reason = `${file('rows.csv')} exists, and holds something other than what was written: `
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(reason) })
  // With progress that says so, of a sender who has a key as well.
  await asSender(() =>
    saveProgress(file('rows.csv.partial'), { ...progress, files: [{ ...progress.files[0], sha256 }, kept] }),
  )
  const sent = await again()
  expect(sent).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(NOT_OWN) })
  expect(read('rows.csv').equals(forged)).toBe(true)
  isGone = false
  const anew = await runHere(args('rows.csv', '--keep', file('kept.gz'), '--force'))
  expect([anew.code, read('rows.csv').includes('99999999999999999999')]).toEqual([0, false])
})

it('leaves its progress if the endpoint fails permanently, and refuses foreign files', async () => {
  let isGone = false
  const { args, folder } = await start(({ endpoint, turn }) => {
    if (endpoint !== 'l2' || turn < COUNT || !isGone) return undefined
    return { kind: 'error', code: -32601, message: 'no such method' }
  })
  isGone = true
  const failed = await runHere(args('rows.ndjson'))
  expect(failed).toMatchObject({ code: 3, stderr: expect.stringContaining('run the same command again') })
  const other = await runHere(args('rows.ndjson', '--storage-key', word(1)))
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('it differs in target') })
  const at = (name: string) => join(folder, name)
  // Without the rows, the progress is of no use. It stays, because they may come back.
  renameSync(at('rows.ndjson'), at('moved'))
  const without = await runHere(args('rows.ndjson'))
  expect(without).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('holds something other than what was written'),
  })
  renameSync(at('moved'), at('rows.ndjson'))
  isGone = false
  const continued = await runHere(args('rows.ndjson'))
  expect(continued).toMatchObject({ code: 0, stderr: expect.stringContaining('continuing after ') })

  writeFileSync(at('mine.txt'), 'mine')
  writeFileSync(at('bad.txt'), `${addressOf(1)}\n0x12\n`)
  writeFileSync(at('empty.txt'), '# nobody\n')
  const cases: readonly (readonly [string[], string])[] = [
    [args('mine.txt'), 'is not of a snapshot'],
    [args('new', '--keep', at('mine.txt')), 'must end with .gz'],
    [args('new', '--mapping', '1', 'each'), 'belong together'],
    [args('new', '--address', CONTRACT), 'belong together'],
    [args('new', '--concurrency', '0'), '--concurrency: expected 1 to 256'],
    [args('new', '--keys-per-request', '1001'), '--keys-per-request: expected 1 to 1000'],
    [args('new', ...Array.from({ length: 1001 }, (_, slot) => `--storage-key=${slot}`)), 'at most 1000'],
    [['snapshot', at('bad.txt'), ...args('new').slice(2)], 'bad.txt, line 2: expected an address'],
    [['snapshot', at('empty.txt'), ...args('new').slice(2)], 'has no address'],
    [['snapshot', at('none.txt'), ...args('new').slice(2)], 'cannot read'],
    [args('new', '--check', '--l1-block-hash', word(1)), '--check needs --keep'],
    [args('new', '--check', '--keep', at('kept.gz')), '--check needs --l1-block-hash'],
    [args('new', '--check', '--keep', at('kept.gz'), '--l1-block-hash', word(1), '--force'), 'leave out --force'],
    [args('new', '--check', '--keep', at('kept.gz'), '--l1-block-hash', word(1)), 'new.manifest.json'],
    [['snapshot'], 'name one file of addresses'],
  ]
  for (const [line, message] of cases) {
    const { code, stderr } = await runHere(line)
    expect({ line, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  }
  expect(cases).toHaveLength(15)
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine')
  expect(readdirSync(folder).filter(name => name.startsWith('new'))).toEqual([])
})
