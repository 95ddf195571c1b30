import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld, type FaultRequest } from '../../src/devnet/index.ts'
import { implementationOf } from '../../src/devnet/service/contract.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createHttpProvider } from '../../src/entry/rpc.ts'
import { CONTRACT, ROLLUP, USER, word } from '../client/servers.ts'
import { folderOf, networkOf, runHere } from './io.ts'

/** Answers about this account are lies. */
let liar = ''
const forge = (result: unknown) => JSON.parse(JSON.stringify(result).replace(/"balance":"0x\w*"/, '"balance":"0x77"'))

/** L1 holds the root of L2 block 3 and, after the upgrade, the hash of block 6. */
const demo = createService({
  ...{ genesis: demoWorld(poseidon2), rollup: ROLLUP },
  faults: ({ endpoint, method, params }: FaultRequest) =>
    endpoint === 'l2' && method === 'eth_getProof' && params[0] === liar ? { kind: 'lie', change: forge } : undefined,
})
let [ends, hash, blockBefore]: [string[], string, bigint] = [[], '', 0n]
beforeAll(async () => {
  addDemoBlocks(demo.chain, { counts: [3] })
  blockBefore = demo.chain.l1.blockNumber()
  demo.chain.upgrade()
  addDemoBlocks(demo.chain, { counts: [3] })
  const { url, l1Url } = await demo.listen()
  ends = ['--l1', l1Url, '--l2', url]
  hash = Reflect.get(Object(demo.chain.l1.getBlock(demo.chain.l1.blockNumber())), 'hash')
  return () => demo.close({ graceMs: 0 })
})
beforeEach(() => {
  liar = ''
})

const roots = [...networkOf(ROLLUP.address)]
const asked = ['--address', CONTRACT, '--storage-key', word(0), '--storage-key', word(2)]
const pinned = (version: 8 | 9) => ['--implementation', implementationOf(version)]
const record = (file: string, ...more: string[]) =>
  runHere(['record', 'state', ...ends, ...roots, ...asked, '-o', file, ...more])
const verify = (file: string, ...more: string[]) =>
  runHere(['verify', file, ...networkOf(ROLLUP.address), '--l1-block-hash', hash, ...more])
const blockOf = (number: bigint) => Object(demo.chain.getBlock(number))

/** Records block 3, whose root L1 holds, and block 6, whose hash it holds. */
async function recordBoth() {
  const folder = folderOf()
  const [old, young] = [join(folder, 'old.json'), join(folder, 'young.json')]
  const reports = [await record(old, '--l2-block', '3'), await record(young)]
  expect(reports.map(({ code }) => code)).toEqual([0, 0])
  return { folder, old, young, reports: reports.map(({ stdout }) => stdout) }
}

/** The arguments of the command that a report ends with. */
const commandIn = (report = '') => (report.trimEnd().split('\n').at(-1) ?? '').trim().split(' ').slice(2)

it('records with the same options before and after the upgrade, and verifies both with the same ones', async () => {
  const { old, young, reports } = await recordBoth()
  const [before = '', after = ''] = reports
  expect([before.includes('leaf index'), after.includes('leaf index')]).toEqual([true, false])
  expect(after).toMatch(
    new RegExp(`L2 block time +\\S+ +.* follows from the block's header\n +L2 block hash +${blockOf(6n).hash}`),
  )
  for (const report of reports) {
    expect(report).toMatch(
      new RegExp(`contract code +${implementationOf(9)} +the implementation: follows, not stated by you`),
    )
  }
  for (const report of reports) expect(await runHere(commandIn(report))).toMatchObject({ code: 0, stderr: '' })

  for (const [file, scheme] of [
    [old, 'poseidon2'],
    [young, 'ethereum'],
  ] as const) {
    const { code, stdout } = await verify(file, '--address', CONTRACT, ...pinned(9))
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`scheme +${scheme} +found by the form of the answer`))
    expect(stdout).toMatch(/contract code +0xc0de\S+ +the implementation: proven, stated by you/)
    const json = JSON.parse((await verify(file, '--json', ...pinned(9))).stdout)
    expect(json).toMatchObject({ scheme, implementation: implementationOf(9) })
    expect('l2Block' in json).toBe(scheme === 'ethereum')
    // An upgrade stops everything until a person has looked.
    const other = await verify(file, ...pinned(8))
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('ANCHOR_IMPLEMENTATION_MISMATCH')])
  }
  // Nobody is told that code was looked at which nothing proves.
  const root = [...networkOf(ROLLUP.address), '--state-root', word(1), ...pinned(9)]
  for (const args of [
    ['verify', young, ...root],
    ['audit', young, ...root],
    ['audit', young, ...pinned(9)],
  ]) {
    expect(await runHere(args)).toMatchObject({ code: 2, stdout: '' })
  }
  const inspected = await runHere(['inspect', young])
  expect(inspected.code).toBe(0)
  expect(inspected.stdout).toMatch(new RegExp(`l2Header\n +hash +${blockOf(6n).hash}`))
})

it('says where an Ethereum chain breaks', async () => {
  const { folder, young } = await recordBoth()
  const bundle = JSON.parse(readFileSync(young, 'utf8'))
  const file = join(folder, 'spoilt.json')
  const place = async (change: object) => {
    writeFileSync(file, JSON.stringify({ ...bundle, ...change }))
    const { code, stdout } = await verify(file)
    expect(code).toBe(1)
    return /^ {2}at +(\S+)/m.exec(stdout)?.[1]
  }
  expect(await place({ l2Header: '0xc0' })).toBe('l2Header')
  expect(await place({ answer: { ...bundle.answer, nonce: '0x77' } })).toBe('answer.nonce')
  // Without an answer of its form, the bundle still says of which kind it is.
  writeFileSync(file, JSON.stringify({ ...bundle, answer: {} }))
  expect((await verify(file)).stdout).toContain('L1_PROOF_MALFORMED')
})

it('says which code the contract had', async () => {
  // One of before the upgrade, from an L1 block of then.
  const then = join(folderOf(), 'then.json')
  expect((await record(then, '--l1-block', `${blockBefore}`)).stdout).toContain(implementationOf(8))
  expect((await record(then, '--force')).stdout).toContain(implementationOf(9))
})

it('verifies an eth_getProof answer alone', async () => {
  const file = join(folderOf(), 'answer.json')
  const [url = '', root] = [ends.at(-1), blockOf(6n).stateRoot]
  const params = [CONTRACT, [word(0), word(2)], '0x6']
  const answer = await createHttpProvider(url).request({ method: 'eth_getProof', params })
  writeFileSync(file, JSON.stringify(answer))
  const proven = ['--state-root', root, '--address', CONTRACT, '--storage-key', word(0), '--storage-key', word(2)]
  const verified = await runHere(['verify', file, ...proven])
  expect(verified.code).toBe(0)
  expect(verified.stdout).toMatch(/scheme +ethereum +found by the form of the answer/)
  // The answer names what it is for, in quantities.
  const { stdout } = await runHere(['verify', file, '--state-root', root, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ verdict: 'verified', scheme: 'ethereum', address: CONTRACT, storageKeys: [word(0), word(2)] },
    ...{ sources: { address: 'answer', storageKeys: 'answer' }, account: { nonce: '1' } },
  })
  const response = { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }
  writeFileSync(file, JSON.stringify(response))
  expect((await runHere(['verify', file, ...proven])).stdout).toContain('ANSWER_IS_ERROR')
})

it('audits bundles of both kinds, and recordings of Ethereum states', async () => {
  const { old, young, folder } = await recordBoth()
  const [one, two] = [old, young].map(file => JSON.parse(readFileSync(file, 'utf8')))
  const { stateRoot } = blockOf(6n)
  const recording = { version: 1, scheme: 'ethereum', stateRoot, address: CONTRACT, storageKeys: [word(0), word(2)] }
  const records = [
    ...[one, two, { ...two, l2Header: '0xc0' }, { ...two, scheme: 'poseidon2' }],
    ...[
      { ...recording, result: two.answer },
      { ...recording, result: { ...two.answer, nonce: '0x7' } },
      { jsonrpc: '2.0', id: 1, result: two.answer },
    ],
  ]
  const file = join(folder, 'records.ndjson')
  writeFileSync(file, records.map(content => `${JSON.stringify(content)}\n`).join(''))
  const audit = async (...more: string[]) => {
    const claim = [...networkOf(ROLLUP.address), '--l1-block-hash', hash, '--jobs', '1']
    const { stdout } = await runHere(['audit', file, ...claim, ...more])
    return stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  }
  const verdicts = await audit()
  expect(
    verdicts.map(({ verdict, code, path, reason }) => [verdict, code ?? reason, path].filter(Boolean).join(' ')),
  ).toEqual([
    ...[
      'present',
      'present',
      'refused HEADER_HASH_MISMATCH l2Header',
      'refused ANCHOR_NO_ROOT l1.proof.storageProof[0]',
    ],
    ...[
      'present',
      'refused L1_PROOF_DISAGREES nonce',
      'unreadable no state root: neither you nor the record names one',
    ],
  ])
  expect(verdicts[0]).toMatchObject({ scheme: 'poseidon2', account: { leafIndex: expect.any(Number) } })
  expect(verdicts[1]).toMatchObject({ scheme: 'ethereum', stateRoot, l2BlockNumber: '6', sources: { stateRoot: 'L1' } })
  expect(Object.keys(verdicts[1].account)).toEqual(['nonce', 'balance', 'storageRoot', 'codeHash'])
  expect(verdicts[1].storage).toEqual([
    { key: word(0), exists: true, value: word(48) },
    { key: word(2), exists: false, value: word(0) },
  ])
  expect(verdicts[4]).toMatchObject({ scheme: 'ethereum', stateRoot, sources: { stateRoot: 'file' } })
  const codes = (found: { code?: string; verdict: string }[]) => found.map(({ code, verdict }) => code ?? verdict)
  expect(codes(await audit(...pinned(8))).slice(0, 2)).toEqual(Array(2).fill('ANCHOR_IMPLEMENTATION_MISMATCH'))
})

it('takes a snapshot of an Ethereum state, and checks it offline', async () => {
  const [nobody, liarOf] = [`0x${'5a'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
  const folder = folderOf({ 'list.txt': [USER, nobody, CONTRACT, liarOf].join('\n') })
  const [list, rows] = [join(folder, 'list.txt'), join(folder, 'rows.csv')]
  const kept = `${rows}.evidence.ndjson`
  const take = (...more: string[]) =>
    runHere(['snapshot', list, ...roots, '--storage-key', word(0), '-o', rows, ...more])
  liar = liarOf
  const lied = await take(...ends)
  expect(lied.code).toBe(1)
  expect(lied.stderr).toContain(`${liarOf}: L1_PROOF_DISAGREES`)
  liar = ''
  const taken = await take(...ends, '--force')
  expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining('3 present, 1 absent, 0 refused') })
  expect(taken.stdout).toMatch(/contract code +0xc0de\S+ +the implementation: follows, not stated by you/)
  const [heading, ...lines] = readFileSync(rows, 'utf8').trimEnd().split('\n')
  // The same columns as before. What such a state does not have is empty.
  expect(heading).toBe(`address,verdict,nonce,balance,storageRoot,codeHash,codeSize,${word(0)}`)
  expect(lines.map(line => line.split(',').slice(0, 2))).toEqual([
    ...[
      [USER, 'present'],
      [nobody, 'absent'],
      [CONTRACT, 'present'],
      [liarOf, 'present'],
    ],
  ])
  expect(lines[2]?.split(',').slice(6)).toEqual(['', word(48)])
  const check = (...more: string[]) => take('--check', '--l1-block-hash', hash, '--l2-block', '6', ...more)
  const checked = await check(...pinned(9))
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Verified: these are the states of all 4 addresses.'),
  })
  expect((await check(...pinned(8))).stdout).toContain('ANCHOR_IMPLEMENTATION_MISMATCH')
  const [head = '', ...recordings] = readFileSync(kept, 'utf8').split('\n')
  const stdin = recordings.join('\n')
  const audited = await runHere(['audit', '--jobs', '1', '--state-root', blockOf(6n).stateRoot], { stdin })
  expect([audited.code, audited.stdout.trimEnd().split('\n').length]).toEqual([0, 4])
  // A false value in a row or in a kept answer is found.
  writeFileSync(rows, [heading, ...lines.with(1, lines[1]?.replace('absent', 'present') ?? '')].join('\n'))
  expect((await check()).stdout).toMatch(/Refused: line 3 of .*: differs from what is proven/)
  writeFileSync(rows, `${[heading, ...lines].join('\n')}\n`)
  const spoilt = stdin.replace('"proof":["0x', '"proof":["0x00')
  writeFileSync(kept, gzipSync(`${head}\n${spoilt}`))
  expect((await check()).stdout).toMatch(/Refused: [A-Z_]+\n[\s\S]*in +line 4 of /)
})

it('finds the logs of a range, and keeps them as evidence', async () => {
  const folder = folderOf()
  const [bundle, rows] = [join(folder, 'logs.json'), join(folder, 'rows.csv')]
  const search = (...more: string[]) => runHere(['record', 'logs', ...roots, '--from-block', '2', ...more])
  const one = await search(...ends, '-o', bundle)
  expect(one.code).toBe(0)
  const verified = await runHere(commandIn(one.stdout))
  expect(verified.stdout).toContain('these blocks have exactly 5 logs that the filter selects.')
  expect(verified.stdout).toMatch(/contract code +0xc0de\S+ +the implementation: proven, not stated by you/)
  expect((await verify(bundle)).stdout).toMatch(
    /^Verified, for the L2 block, first block, last block and filter that the bundle names: /,
  )
  expect((await verify(bundle, ...pinned(8))).stdout).toContain('ANCHOR_IMPLEMENTATION_MISMATCH')
  expect(verified.stdout).toMatch(/L2 block hash +0x\w+ +proven by the rollup contract\n[\s\S]*to block +6 /)
  const inspected = (await runHere(['inspect', bundle])).stdout
  expect(inspected).toContain('l2Header')
  expect(inspected).not.toMatch(/answer|malformed/)
  expect((await search(...ends, '-o', rows)).stdout).toContain(implementationOf(9))
  const check = (...more: string[]) => search('-o', rows, '--check', '--l1-block-hash', hash, ...more)
  const checked = await check('--to-block', '6')
  expect(checked.code).toBe(0)
  // The rows begin with the block whose hash L1 holds. It is no part of a shorter range, and nothing proves a longer one.
  expect((await check('--to-block', '5')).stdout).toMatch(/Refused: LOGS_CONTENT_UNUSED/)
  expect((await check('--to-block', '7')).stdout).toMatch(/LOGS_RANGE[\s\S]*toBlock[\s\S]*at most 6/)
  expect(checked.stdout).toMatch(/contract code +0xc0de\S+ +the implementation: proven, not stated by you/)
})

it('goes on with an interrupted search from the block whose hash L1 holds', async () => {
  const upgraded = createService({
    ...{ genesis: demoWorld(poseidon2), rollup: ROLLUP, upgradeAt: 1n },
    faults: ({ method, params }) =>
      isCut && method === 'eth_getBlockByNumber' && params[0] === '0x1'
        ? { kind: 'error', code: -32000, message: 'gone' }
        : undefined,
  })
  let isCut = true
  for (let number = 1; number < 131; number++) upgraded.chain.addBlock()
  upgraded.chain.finalize()
  const { url, l1Url } = await upgraded.listen()
  const search = async (rows: string, ...more: string[]) =>
    runHere(['record', 'logs', '--l1', l1Url, '--l2', url, ...roots, '--from-block', '0', '-o', rows, ...more])
  const rows = join(folderOf(), 'rows.csv')
  expect(await search(rows)).toMatchObject({ code: 3 })
  isCut = false
  // Meanwhile, L1 holds the hash of a later block.
  upgraded.chain.addBlock()
  upgraded.chain.finalize()
  const rest = await search(rows, '--json')
  expect(rest).toMatchObject({ code: 0, stderr: expect.stringContaining(': 2 blocks left, after an earlier run') })
  const { l1BlockHash } = JSON.parse(rest.stdout)
  const checked = await search(rows, '--to-block', '130', '--check', '--l1-block-hash', l1BlockHash)
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('blocks          131 ') })
  await upgraded.close({ graceMs: 0 })
})
