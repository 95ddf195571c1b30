import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
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
import { folderOf, networkOf, runHere } from './io.ts'

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

/** The L1 block hash in a report. */
const hashIn = (stdout: string): string => /L1 block hash +(0x[0-9a-f]{64})/.exec(stdout)?.[1] ?? ''

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
  const [, list = '', ...rest] = args('rows.ndjson')
  const { code, stdout, stderr } = await runHere(['snapshot', list, '--l1', 'http://127.0.0.1:1', ...rest])
  expect({ code, stderr }).toMatchObject({ code: 1 })
  expect(stderr).toContain(`${liar}: `)
  expect(stderr).toContain('no answer of the endpoint verifies')
  expect(stdout).toContain(`1 of ${COUNT} addresses has no answer that verifies.`)
  const rows = rowsIn(read('rows.ndjson'))
  expect(rows.map(({ address }) => address)).toEqual(addresses)
  for (const [index, row] of rows.entries()) {
    if (index === 6) expect(row).toEqual({ address: liar, verdict: 'refused' })
    else if (index % 3 === 2) expect(row).toEqual({ address: addresses[index], verdict: 'absent' })
    else expect(row).toMatchObject({ verdict: 'present', balance: `${BigInt(index) + 10n ** 20n}` })
  }
  expect(readdirSync(folder).sort()).toEqual(['list.txt', 'rows.ndjson', 'rows.ndjson.evidence.ndjson'])

  // The answers verify again, against a root that the bundle in the first line proves.
  const [bundle = '', ...recordings] = read('rows.ndjson.evidence.ndjson').toString().trimEnd().split('\n')
  writeFileSync(join(folder, 'bundle.json'), bundle)
  const verified = await runHere([
    ...['verify', join(folder, 'bundle.json'), ...networkOf(ROLLUP.address)],
    ...['--l1-block-hash', hashIn(stdout), '--json'],
  ])
  expect(verified.code).toBe(0)
  const { stateRoot } = JSON.parse(verified.stdout)
  expect(stdout).toContain(stateRoot)
  const audited = await runHere(['audit', '--jobs', '1', '--state-root', stateRoot], { stdin: recordings.join('\n') })
  const verdicts = rowsIn(Buffer.from(audited.stdout)).map(({ verdict }) => verdict)
  expect([audited.code, verdicts.length, verdicts[6]]).toEqual([1, COUNT, 'refused'])
  expect(verdicts.filter(verdict => verdict === 'refused')).toHaveLength(1)
})

it('resumes after kills with the same files as an undisturbed run', async () => {
  const { args, read, folder } = await start(faultsAbout(undefined, 307))
  const flags = ['--concurrency', '3']
  expect((await runHere(args('whole.csv', ...flags))).code).toBe(0)
  const evidence = join(folder, 'cut.csv.evidence.ndjson')
  const { size } = statSync(join(folder, 'whole.csv.evidence.ndjson'))
  const random = randomOf(KILLS)
  let killed = 0
  for (let turn = 0; turn < KILLS; turn++) {
    const killedAt = (size * (turn + random())) / (KILLS + 1)
    const { code } = await runProgram(args('cut.csv', ...flags), {
      started: (child: ChildProcess) => {
        const timer = setInterval(() => {
          if ((statSync(evidence, { throwIfNoEntry: false })?.size ?? 0) >= killedAt) child.kill('SIGKILL')
        }, 1)
        child.once('exit', () => clearInterval(timer))
      },
    })
    if (code === null) killed++
  }
  expect(killed).toBeGreaterThan(0)
  expect(readdirSync(folder)).not.toContain('cut.csv')
  expect((await runHere(args('cut.csv', ...flags))).code).toBe(0)
  for (const end of ['', '.evidence.ndjson']) expect(read(`cut.csv${end}`).equals(read(`whole.csv${end}`))).toBe(true)
  const [head, first] = read('whole.csv').toString().split('\n')
  expect(head).toBe('address,verdict,nonce,balance,storageRoot,codeHash,codeSize')
  expect(first).toMatch(/^0x0{39}1,present,0,100000000000000000000,0x[0-9a-f]{64},0x[0-9a-f]{64},0$/)
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
  expect(head).toBe('holder,verdict,key,value,number')
  expect(rows).toEqual(
    addresses.map((address, index) => {
      const value = index % 2 === 0 ? index + 1 : 0
      const verdict = value > 0 ? 'present' : 'absent'
      return [address, verdict, mappingSlot({ slot: 5n, keys: [address] }), word(value), value].join()
    }),
  )

  // A second run requests and writes nothing.
  const before = asked.length
  const again = await runHere(args('rows.csv', ...flags))
  const stderr = expect.stringContaining('rows.csv exists, and would be replaced: move it away, or use --force')
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
    stderr: expect.stringContaining('rows.csv.evidence.ndjson: another run is writing it'),
  })
  expect(read('rows.csv').toString().trimEnd().split('\n')).toHaveLength(COUNT + 1)
})

it('leaves no rows beside evidence that does not prove them, if a run by force ends early', async () => {
  let left = Infinity
  const { args, read, folder } = await start(({ method }) =>
    method === 'rollup_getProof' && left-- <= 0 ? { kind: 'status', status: 401 } : undefined,
  )
  expect((await runHere(args('rows.csv'))).code).toBe(0)
  const rows = read('rows.csv')
  const { length } = read('rows.csv.evidence.ndjson')
  left = 40
  expect((await runHere(args('rows.csv', '--force'))).code).toBe(3)
  expect(readdirSync(folder)).not.toContain('rows.csv')
  expect(read('rows.csv.evidence.ndjson').length).toBeLessThan(length)
  left = Infinity
  expect(await runHere(args('rows.csv'))).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('left, after an earlier run'),
  })
  expect(read('rows.csv')).toEqual(rows)
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
  expect(rows.filter(({ verdict }) => verdict === 'refused')).toEqual([{ holder: addressOf(10), verdict: 'refused' }])
})

describe('--check', () => {
  const MAPPING = ['--address', CONTRACT, '--mapping', '5', 'each', '--keys-per-request', '60'] as const

  /** A snapshot, and what checking its files prints as JSON. */
  async function take(name: string, more: readonly string[] = [], faults?: Parameters<typeof start>[0]) {
    const { args, folder, read } = await start(faults)
    const at = (file: string) => join(folder, file)
    const run = (...flags: string[]) => runHere(args(name, ...more, ...flags))
    const hash = hashIn((await run()).stdout)
    const check = async (l1BlockHash = hash) => {
      const { code, stdout, stderr } = await run('--check', '--json', '--l1-block-hash', l1BlockHash)
      return { code, stderr, ...(stdout && JSON.parse(stdout)) }
    }
    const evidence = `${name}.evidence.ndjson`
    return { at, read, run, check, hash, evidence }
  }

  it('proves every row again, without an endpoint, and finds one that was refused', async () => {
    const accounts = await take('rows.ndjson', ['--storage-key', word(1)])
    expect(await accounts.check()).toMatchObject({ code: 0, verdict: 'verified', counts: { refused: 0 } })
    const mapping = await take('rows.csv', MAPPING)
    expect(await mapping.check()).toMatchObject({ code: 0, verdict: 'verified', counts: { present: COUNT / 2 } })
    const shown = await mapping.run('--check', '--l1-block-hash', mapping.hash)
    expect(shown.stdout).toContain(
      `Verified, for the L2 block that the file names: these are the states of all ${COUNT} addresses.`,
    )
    expect(shown.stdout).toMatch(/L2 state root +0x[0-9a-f]{64} +proven by the rollup contract/)

    const holder = addressOf(6)
    const refused = await take('rows.ndjson', [], faultsAbout(holder, 1000))
    const counts = { refused: 1 }
    expect(await refused.check()).toMatchObject({ code: 1, verdict: 'refused', counts })
    expect((await refused.run('--check', '--l1-block-hash', refused.hash)).stdout).toContain(
      `1 of ${COUNT} addresses has no answer that verifies`,
    )
    // An answer about one key is a lie, so each of its 60 holders has an answer of its own.
    const split = await take('rows.csv', MAPPING, ({ method, params }) => {
      const isLie =
        method === 'rollup_getProof' && (params[1] as string[]).includes(mappingSlot({ slot: 5n, keys: [holder] }))
      return isLie ? { kind: 'lie', change: () => ({ accountProof: {}, storageProofs: [] }) } : undefined
    })
    expect(await split.check()).toMatchObject({ code: 1, counts })
  })

  it('finds whatever was changed afterwards', async () => {
    const { at, read, check, evidence } = await take('rows.csv', MAPPING)
    const [bundle = '', ...answers] = read(evidence).toString().trimEnd().split('\n')
    const honest = { rows: read('rows.csv').toString(), kept: `${answers.join('\n')}\n` }
    const lines = honest.rows.split('\n')
    const packed = (kept: string) => gzipSync(`${bundle}\n${kept}`)
    const problem = 'differs from what is proven'
    const notKept = expect.stringMatching(/^the file ends without proof of \d+ of the addresses asked for$/)
    const cases: readonly (readonly [Partial<typeof honest>, object])[] = [
      [{ rows: honest.rows.replace(`${word(3)},3\n`, `${word(4)},4\n`) }, { line: 4, problem }],
      [{ rows: honest.rows.replace(`${word(3)},3\n`, `${word(3)},4\n`) }, { line: 4, problem }],
      [{ rows: honest.rows.replace(addressOf(0), addressOf(1)) }, { line: 2, problem }],
      [{ rows: lines.toSpliced(-2, 1).join('\n') }, { line: COUNT + 1, problem: 'is missing' }],
      [{ rows: `${honest.rows}${lines[1]}\n` }, { line: COUNT + 2, problem: 'follows the last row' }],
      [{ rows: honest.rows.replace('key', 'KEY') }, { line: 1, problem }],
      [{ rows: '' }, { line: 1, problem: 'is missing' }],
      [{ kept: answers.slice(0, -1).join('\n') }, { problem: notKept }],
      [{ kept: `${honest.kept}${answers[0]}\n` }, { problem: 'it proves none of the addresses asked for' }],
      [{ kept: answers.map(() => '{"version":1,"result":null}\n').join('') }, { line: 2, problem }],
      [{ kept: answers.toReversed().join('\n') }, { line: 2, error: { code: expect.any(String) } }],
      [
        { kept: honest.kept.replace(/"storageKeys":\[[^\]]*\]/, '"storageKeys":[]') },
        { line: 2, error: { code: 'STORAGE_PROOF_UNEXPECTED' } },
      ],
      [{ kept: honest.kept.replace('{', '[') }, { line: 2, problem: expect.stringContaining('not JSON') }],
      [
        { kept: honest.kept.replace('"version":1', '"version":2') },
        { line: 2, problem: 'a recording of another version' },
      ],
      [{ kept: honest.kept.replace('"result"', '"other"') }, { line: 2, error: { code: 'MALFORMED_RESPONSE' } }],
      [{ kept: '' }, { line: 2, problem: notKept }],
    ]
    for (const [change, expected] of cases) {
      const { rows, kept } = { ...honest, ...change }
      writeFileSync(at('rows.csv'), rows)
      writeFileSync(at(evidence), packed(kept))
      expect(await check()).toMatchObject({ code: 1, verdict: 'refused', ...expected })
    }
    expect(cases).toHaveLength(16)

    const wrongHash = await check(word(1))
    expect(wrongHash).toMatchObject({ code: 1, verdict: 'refused', error: { code: 'HEADER_HASH_MISMATCH' } })
    writeFileSync(at('rows.csv'), honest.rows)
    writeFileSync(at(evidence), packed(honest.kept).subarray(0, -10))
    expect(await check()).toMatchObject({ code: 2, stderr: expect.stringContaining(evidence) })
    writeFileSync(at(evidence), packed(honest.kept))
    expect(await check()).toMatchObject({ code: 0 })

    // Rows in a gzip file, whose header has room for others: most programs would read those.
    // Half of them are present in truth.
    const others = lines.slice(1).join('\n').replaceAll(',absent,', ',present,')
    const header = Buffer.from([0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 3])
    const forgedHeader = Buffer.concat([header, Buffer.from(`\n${others}\0`), gzipSync(honest.rows).subarray(10)])
    expect(gunzipSync(forgedHeader).toString()).toBe(honest.rows)
    writeFileSync(at('rows.csv'), forgedHeader)
    expect(await check()).toMatchObject({ code: 1, verdict: 'refused', line: 1, problem })
    for (const file of ['rows.csv', evidence]) {
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
      each => `${[each, 'present', mappingSlot({ slot: 5n, keys: [each] }), word(7), 7].join()}\n`,
    )
    writeFileSync(at('rows.csv'), `${lines[0]}\n${forgedRows.join('')}`)
    writeFileSync(at(evidence), packed(forgedAnswers.join('')))
    const error = { code: 'STATE_ROOT_MISMATCH', path: 'accountProof.proof' }
    expect(await check()).toMatchObject({ code: 1, verdict: 'refused', file: at(evidence), line: 2, error })
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
    const rows = join(folder, 'rows.csv')
    const run = (...more: string[]) =>
      runHere([
        ...['snapshot', join(folder, 'list.txt'), '--l1', l1Url, '--l2', url, '-o', rows],
        ...[...networkOf(ROLLUP.address), ...more],
      ])
    const taken = await run('--l2-block', '1')
    expect(taken.code).toBe(0)
    const l1BlockHash = hashIn(taken.stdout)
    const check = ['--check', '--l1-block-hash', l1BlockHash]
    const older = await run(...check)
    expect(older.stdout).toMatch(/L2 block +1 +from the file\n +last finalized +2 +proven/)
    expect(older).toMatchObject({ code: 0, stdout: expect.stringContaining('for the L2 block that the file names') })
    const stated = await run(...check, '--l2-block', '1')
    expect(stated.stdout).toMatch(/L2 block +1 +stated by you/)
    expect(stated.stdout).not.toContain('that the file names')
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
  const { code } = await runHere(args('rows.csv'))
  expect(code).toBe(3)
  expect(readdirSync(folder)).toEqual(['list.txt'])
})

it('goes on with evidence that it verifies, whoever wrote it, and believes none of it', async () => {
  let isGone = true
  const { args, folder, read } = await start(({ endpoint, turn }) => {
    if (endpoint !== 'l2' || turn < COUNT || !isGone) return undefined
    return { kind: 'error', code: -32601, message: 'no such method' }
  })
  const at = (name: string) => join(folder, name)
  const evidence = 'rows.csv.evidence.ndjson'
  const again = (...more: string[]) => runHere(args('rows.csv', ...more))
  const failed = await again()
  expect(failed).toMatchObject({ code: 3, stderr: expect.stringContaining('run the same command again') })
  expect(readdirSync(folder).sort()).toEqual(['list.txt', evidence])
  isGone = false
  // Someone is given more than they have.
  const kept = read(evidence).toString()
  const lines = kept.split('\n')
  const forged = lines.with(2, lines[2]?.replace(/"value":"0x(..)/, '"value":"0x7f') ?? '').join('\n')
  expect(forged).not.toBe(kept)
  for (const [content, words] of [
    [forged, /its line 3 is not of this request \([A-Z_]+ at /],
    [kept.slice(0, 500), 'has no whole line'],
    [lines.toSpliced(1, 1).join('\n'), 'its line 2 is not of this request (KEY_MISMATCH'],
    [lines.with(3, '{}').join('\n'), 'its line 4 is not of this request (a recording of another version)'],
  ] as const) {
    writeFileSync(at(evidence), content)
    const refused = await again()
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toMatch(words)
    expect(read(evidence).toString()).toBe(content)
  }
  writeFileSync(at(evidence), kept)
  const mapping = ['--address', CONTRACT, '--mapping', '5', 'each']
  expect((await again(...mapping)).stderr).toContain('its line 2 is not of this request')
  const continued = await again()
  expect(continued).toMatchObject({ code: 0, stderr: expect.stringMatching(/\d addresses left, after an earlier run/) })
  expect(continued.stdout).toContain(
    `Note: ${at(evidence)} was there, and chose the blocks. For newer ones, use --force.`,
  )
  expect(read(evidence).toString().startsWith(kept)).toBe(true)
  expect(read('rows.csv').toString().trimEnd().split('\n')).toHaveLength(COUNT + 1)
})

it('refuses wrong usage, and leaves foreign files as they are', async () => {
  const { args, folder } = await start()
  const at = (name: string) => join(folder, name)
  writeFileSync(at('mine.txt'), 'mine')
  writeFileSync(at('mine.evidence.ndjson'), 'mine')
  writeFileSync(at('bad.txt'), `${addressOf(1)}\n0x12\n`)
  writeFileSync(at('empty.txt'), '# nobody\n')
  const cases: readonly (readonly [string[], string])[] = [
    [args('mine.txt'), 'would be replaced'],
    [args('mine'), 'has no whole line'],
    [args('new', '--mapping', '1', 'each'), 'belong together'],
    [args('new', '--address', CONTRACT), 'belong together'],
    [args('new', '--concurrency', '0'), '--concurrency: expected 1 to 256'],
    [args('new', '--keys-per-request', '1001'), '--keys-per-request: expected 1 to 1000'],
    [args('new', ...Array.from({ length: 1001 }, (_, slot) => `--storage-key=${slot}`)), 'at most 1000'],
    [['snapshot', at('bad.txt'), ...args('new').slice(2)], 'bad.txt, line 2: expected an address'],
    [['snapshot', at('empty.txt'), ...args('new').slice(2)], 'has no address'],
    [['snapshot', at('none.txt'), ...args('new').slice(2)], 'cannot read'],
    [args('new', '--check'), '--check needs --l1-block-hash'],
    [args('new', '--check', '--l1-block-hash', word(1), '--force'), 'leave out --force'],
    [args('new', '--check', '--l1-block-hash', word(1)), 'new.evidence.ndjson: no such file'],
    [['snapshot'], 'name one file of addresses'],
  ]
  for (const [line, message] of cases) {
    const { code, stderr } = await runHere(line)
    expect({ line, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  }
  expect(cases).toHaveLength(14)
  for (const name of ['mine.txt', 'mine.evidence.ndjson']) expect(readFileSync(at(name), 'utf8')).toBe('mine')
  expect(readdirSync(folder).filter(name => name.startsWith('new'))).toEqual([])
})
