import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createService, createWorld } from '../../src/devnet/index.ts'
import { createBundle } from '../../src/entry/anchor.ts'
import { type Hex, mappingSlot, slotKey } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { addressFor, keyFor, wordFor } from '../../vectors/vector.ts'
import { fileOf, folderOf, networkOf, runHere } from './io.ts'

const [A, B] = ['a', 'b'].map(addressFor) as [Hex, Hex]
const [KEY, ONE, TWO] = [keyFor(0), wordFor(1), wordFor(2)]

/** Three blocks, and the roots before, between and after them. */
function history() {
  const world = createWorld(poseidon2)
  world.setAccount(A, { balance: 5n, nonce: 1n })
  const roots = [world.stateRoot()]
  const blocks = [
    [{ address: A, storage: [{ key: KEY, value: ONE }] }, { address: B }],
    [
      { address: B, account: { balance: 7n } },
      { address: A, storage: [{ key: KEY }] },
    ],
    [
      { address: A, account: { balance: 3n }, storage: [{ key: KEY, value: TWO }] },
      { address: B, account: null },
    ],
  ].map(accesses => {
    const traces = world.applyBlock(accesses)
    roots.push(world.stateRoot())
    return traces
  })
  const answer = (from: number, to: number) => ({
    zkParentStateRootHash: roots[from],
    zkStateMerkleProof: blocks.slice(from, to),
    zkEndStateRootHash: roots[to],
  })
  return { roots, blocks, answer }
}

const { roots, blocks, answer } = history()
const [first = '0x', , , last = '0x'] = roots
const claim = ['--parent-root', first, '--state-root', last]
const csv = [
  'block,address,what,key,beforeBlock,afterBlock',
  ...[`1,${A},storageRoot,,`, `1,${A},slot,${KEY},${wordFor(0)},${ONE}`],
  ...[`2,${B},nonce,,,0`, `2,${B},balance,,,7`],
]

it('lists what changed, in every format', async () => {
  const file = fileOf(answer(0, 3))
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(['diff', file, ...claim, ...args])
    expect(code, stderr).toBe(0)
    return { stdout, stderr }
  }
  const table = await run()
  expect(table.stdout).toMatch(
    /^Net changes of each block\. Only what they come to is proven: the way from one root to the other\.\n/,
  )
  expect(table.stdout).toContain(`block 1  ${A}  storageRoot   `)
  expect(table.stdout).toContain(`block 3  ${A}  slot ${KEY}\n    ${ONE} -> ${TWO}\n`)
  expect(table.stdout).toContain(`block 3  ${B}  balance       7 -> -\n`)
  expect(table.stdout).toMatch(/ {2}net changes +4 of accounts +2 of slots\n/)
  expect(table.stdout).toMatch(/Verified: .*\n {2}parent root .* stated by you\n/)
  expect(table.stdout).not.toContain('absent')

  const folder = folderOf()
  const at = (name: string) => join(folder, name)
  const { stdout: report } = await run('-o', at('rows.csv'))
  const rows = readFileSync(at('rows.csv'), 'utf8')
  for (const row of csv) expect(rows).toContain(row)
  expect(rows).toContain(`3,${A},balance,,5,3\n`)
  expect(report).toMatch(/^Verified: /)

  await run('-o', at('rows.ndjson'), '--first-block', '100')
  const lines = readFileSync(at('rows.ndjson'), 'utf8').trimEnd().split('\n')
  // The same columns. An account that does not exist has no values.
  const named = lines.map(line => JSON.parse(line))
  expect(named).toContainEqual({
    block: '100',
    address: A,
    what: 'slot',
    key: KEY,
    beforeBlock: wordFor(0),
    afterBlock: ONE,
  })
  expect(named).toContainEqual({ block: '101', address: B, what: 'balance', afterBlock: '7' })
  expect(named).toContainEqual({ block: '102', address: B, what: 'balance', beforeBlock: '7' })
  expect(lines.length).toBe(rows.trimEnd().split('\n').length - 1)
  const { stdout } = await run('--json')
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ verdict: 'verified', root: last, blocks: 3, accountChanges: 4, slotChanges: 2 },
    ...{ begin: { root: first, source: 'stated by you' }, end: { root: last }, output: null },
  })
})

it('chains files of any form, and writes a file whole or not at all', async () => {
  const folder = folderOf({
    'one.json': JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer(0, 1) }),
    'rest.ndjson': `${JSON.stringify(answer(1, 2))}\n${JSON.stringify(answer(2, 3))}\n`,
    'list.gz': gzipSync(`\n${JSON.stringify(answer(0, 1))}\r\n${JSON.stringify(answer(1, 3))}`),
  })
  const at = (name: string) => join(folder, name)
  const whole = (await runHere(['diff', fileOf(answer(0, 3)), ...claim])).stdout
  const chained = await runHere(['diff', at('one.json'), at('rest.ndjson'), ...claim])
  expect(chained.stdout).toBe(whole)
  const piped = await runHere(['diff', '-', ...claim], { stdin: JSON.stringify(answer(0, 3)) })
  expect(piped.stdout).toBe(whole)
  const listed = await runHere(['diff', at('list.gz'), ...claim, '-o', at('rows.csv'), '--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject({ verdict: 'verified', output: at('rows.csv') })
  expect(readFileSync(at('rows.csv'), 'utf8')).toMatch(/^block,address,what,key,beforeBlock,afterBlock\n1,/)

  const again = await runHere(['diff', at('list.gz'), ...claim, '-o', at('rows.csv')])
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('rows.csv exists')])
  const rows = readFileSync(at('rows.csv'), 'utf8')
  writeFileSync(at('rows.csv'), 'others')
  expect((await runHere(['diff', at('list.gz'), ...claim, '-o', at('rows.csv'), '--force'])).code).toBe(0)
  expect(readFileSync(at('rows.csv'), 'utf8')).toBe(rows)
  const refused = await runHere(['diff', at('rest.ndjson'), ...claim, '-o', at('none.csv')])
  expect([refused.code, existsSync(at('none.csv'))]).toEqual([1, false])
  expect(readdirSync(folder).filter(name => name.includes('.tmp'))).toEqual([])
})

it('says which answer and block does not verify, and prints no row of it', async () => {
  const spoilt = structuredClone(blocks)
  Object.assign(Object(spoilt[2]?.[0]), { newNextFreeNode: 99 })
  const file = fileOf({ zkStateMerkleProof: spoilt })
  const before = readdirSync(tmpdir()).filter(name => name.startsWith('.rollup-state-proof-')).length
  const { code, stdout, stderr } = await runHere(['diff', file, ...claim])
  expect([code, stderr]).toEqual([1, ''])
  expect(stdout).toMatch(/^Refused: \w+\n[\s\S]*at +zkStateMerkleProof\[2\]\[0\]/)
  expect(stdout).toMatch(/answer +1\n.*block +3\n/)
  expect(readdirSync(tmpdir()).filter(name => name.startsWith('.rollup-state-proof-')).length).toBe(before)
  const json = await runHere(['diff', file, ...claim, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'refused', block: '3', error: { action: 'change' } })

  const short = await runHere(['diff', fileOf(answer(0, 2)), ...claim])
  expect([short.code, short.stderr]).toEqual([1, ''])
  expect(short.stdout).toContain(`The traces lead to the root ${roots[2]}, not to ${last}.`)
  const shortJson = await runHere(['diff', fileOf(answer(0, 2)), ...claim, '--json'])
  expect(JSON.parse(shortJson.stdout)).toMatchObject({ verdict: 'refused', reason: expect.stringContaining('lead to') })
  const contradicted = await runHere(['diff', fileOf({ ...answer(0, 3), zkEndStateRootHash: first }), ...claim])
  expect([contradicted.code, contradicted.stdout]).toEqual([1, expect.stringContaining('TRANSITION_ROOT_CONTRADICTED')])
  const failed = await runHere([
    'diff',
    fileOf({ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }),
    ...claim,
  ])
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('ANSWER_IS_ERROR')])
  // An error is in no block.
  expect(failed.stdout).toMatch(/^ {2}answer +1$/m)
  expect(failed.stdout).not.toMatch(/^ {2}block /m)
})

/** Evidence before and after a block of a network, its traces, and `diff` with evidence at both ends. */
async function endsOf(rollup = { name: 'devnet', address: addressFor('rollup') }) {
  const genesis = createWorld(poseidon2)
  genesis.setAccount(A, { balance: 5n })
  const { chain } = createService({ genesis, rollup })
  const keys = (block: bigint) => [mappingSlot({ slot: 282n, keys: [block] }), slotKey(281n)]
  const endAt = async (l2BlockNumber: bigint) => {
    const l1Block = chain.l1.blockNumber()
    const block = Object(chain.l1.getBlock(l1Block))
    const proof = chain.l1.getProof(rollup.address, keys(l2BlockNumber), l1Block)
    const world = chain.at(l2BlockNumber) ?? genesis
    const about = { scheme: poseidon2, rollup, l2BlockNumber, address: A, storageKeys: [] }
    const bundle: object = createBundle({ ...about, answer: world.getProof(A), l1: { block, proof } })
    return { hash: String(block.hash), bundle }
  }
  const before = await endAt(0n)
  const traces: unknown[] = [chain.pending.applyBlock([{ address: A, account: { balance: 6n } }])]
  chain.addBlock()
  chain.finalize()
  return { before, after: await endAt(1n), traces, rollup }
}

type Ends = Awaited<ReturnType<typeof endsOf>>

async function runWithEnds({ before, after, traces, rollup }: Ends) {
  const folder = folderOf({ 'before.json': before.bundle, 'after.json': after.bundle })
  const { code, stdout, stderr } = await runHere([
    ...['diff', fileOf({ zkStateMerkleProof: traces }), ...networkOf(rollup.address)],
    ...['--parent-evidence', join(folder, 'before.json'), '--evidence', join(folder, 'after.json')],
    ...['--l1-block-hash', before.hash, '--l1-block-hash', after.hash],
  ])
  return { code, stdout, stderr }
}

it('takes the roots from evidence, whose blocks are as far apart as the files say', async () => {
  const ends = await endsOf()
  const proven = await runWithEnds(ends)
  expect([proven.code, proven.stderr]).toEqual([0, ''])
  expect(proven.stdout).toMatch(/state root +0x\w+ +proven by the evidence\n/)
  expect(proven.stdout).toContain(`block 1  ${A}  balance       5 -> 6\n`)
  const apart = await runWithEnds({ ...ends, traces: [...ends.traces, []] })
  const reason = 'The files hold 2 blocks, but the evidence is 1 apart.'
  expect([apart.code, apart.stdout]).toEqual([1, expect.stringContaining(reason)])
  const wrong = await runWithEnds({ ...ends, after: { ...ends.after, hash: ends.before.hash } })
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('HEADER_HASH_MISMATCH')])
})

/** Every hexadecimal or decimal text of a bundle, changed, by its path. */
function* forgeriesOf(bundle: unknown, path: readonly string[] = []): Generator<readonly [string, object]> {
  const parentIn = (copy: object) => path.reduce<object>((node, step) => Reflect.get(node, step), copy)
  for (const [name, value] of Object.entries(parentIn(Object(bundle)))) {
    const here = [...path, name]
    if (typeof value === 'object') yield* forgeriesOf(bundle, here)
    if (typeof value !== 'string' || !/^(0x[0-9a-f]+|\d+)$/.test(value)) continue
    const forged = structuredClone(Object(bundle))
    Reflect.set(parentIn(forged), name, `${value.slice(0, -1)}${value.endsWith('1') ? 2 : 1}`)
    yield [here.join('.'), forged]
  }
}

it('refuses evidence that is forged in any place, at either end, and names its file', async () => {
  const ends = await endsOf()
  let count = 0
  for (const name of ['before', 'after'] as const) {
    for (const [path, bundle] of forgeriesOf(ends[name].bundle)) {
      const { code, stdout, stderr } = await runWithEnds({ ...ends, [name]: { ...ends[name], bundle } })
      expect([name, path, code, stderr]).toEqual([name, path, 1, ''])
      expect(stdout).toMatch(/^Refused: [A-Z0-9_]+\n/)
      expect(stdout, path).toMatch(new RegExp(`^  in +\\S+/${name}\\.json$`, 'm'))
      count++
    }
  }
  expect(count).toBe(123)
})

it('refuses evidence that is swapped, of another network, or of the same block', async () => {
  const ends = await endsOf()
  const other = await endsOf({ name: 'devnet', address: addressFor('other') })
  const { before, after } = ends
  const cases: readonly (readonly [Partial<Ends>, number, string])[] = [
    [{ before: after, after: before }, 2, '--evidence is of L2 block 0, before 1, that of --parent-evidence'],
    [{ before: other.before }, 1, 'Refused: EVIDENCE_ROLLUP_MISMATCH'],
    [{ after: other.after }, 1, 'Refused: EVIDENCE_ROLLUP_MISMATCH'],
    [{ rollup: other.rollup }, 1, 'Refused: EVIDENCE_ROLLUP_MISMATCH'],
    [{ after: before }, 1, 'Refused: The traces lead to the root '],
    [{ before: after }, 1, 'Refused: TRANSITION_PARENT_NOT_OPENED'],
    [{ after: before, traces: [[]] }, 1, 'The files hold 1 block, but the evidence is 0 apart.'],
    [{ traces: [] }, 1, 'Refused: The traces lead to the root '],
  ]
  for (const [changed, code, words] of cases) {
    const run = await runWithEnds({ ...ends, ...changed })
    expect([run.code, run.stdout + run.stderr]).toEqual([code, expect.stringContaining(words)])
  }
  expect(cases).toHaveLength(8)
  // Nothing has changed, and nothing is claimed to have.
  const none = await runWithEnds({ ...ends, after: before, traces: [] })
  expect([none.code, none.stdout]).toEqual([0, expect.stringMatching(/ {2}blocks +0\n/)])
})

it('refuses evidence of another kind, at either end', async () => {
  const kinds = [
    'logs/valid/one-log',
    'calls/valid/revert',
    'messages/valid/evidence-from-l2',
    'evidence/valid/ethereum-block-hash',
  ]
  const seen: string[] = []
  for (const name of kinds) {
    const { claim, bundle, input = bundle } = JSON.parse(readFileSync(`vectors/${name}.json`, 'utf8'))
    for (const [stated, root] of [
      ['parent-evidence', 'state-root'],
      ['evidence', 'parent-root'],
    ]) {
      const { code, stdout, stderr } = await runHere([
        ...['diff', fileOf(answer(0, 3)), `--${stated}`, fileOf(input), `--${root}`, first],
        ...[...networkOf(claim.rollup.address), '--l1-block-hash', claim.trusted.l1BlockHash],
      ])
      seen.push(`${code} ${(stdout + stderr).split('\n').slice(0, 3)}`)
    }
  }
  const malformed = '1 Refused: EVIDENCE_MALFORMED,This does not have the shape of an evidence bundle.,  at        kind'
  expect(seen.slice(0, 6)).toEqual(Array(6).fill(malformed))
  expect(seen.slice(6)).toEqual(Array(2).fill(expect.stringMatching(/^1 Refused: EVIDENCE_SCHEME_MISMATCH,/)))
})

it('is refused where something is missing, or is something else', async () => {
  const file = fileOf(answer(0, 3))
  const refusal = async (...args: string[]) => {
    const { code, stderr } = await runHere(['diff', ...args])
    expect(code).toBe(2)
    return stderr.split('\n')[0]
  }
  expect(await refusal()).toContain('expected files of traces, or -')
  expect(await refusal(file)).toContain('--parent-root or --parent-evidence is needed')
  expect(await refusal(file, ...claim, '--evidence', file)).toContain('--state-root and --evidence: state one of them')
  expect(await refusal(file, ...claim.slice(2), '--parent-root', '0x12')).toContain('--parent-root')
  const noTraces = 'it has a line that is no answer with traces'
  for (const other of [{ accountProof: {} }, [], [answer(0, 3)], null, 7]) {
    expect(await refusal(fileOf(JSON.stringify(other)), ...claim)).toContain(noTraces)
  }
  for (const text of ['{"zkStateMerkleProof": [[tru]]}', JSON.stringify(answer(0, 3), null, 2), '{"zkSta']) {
    expect(await refusal(fileOf(text), ...claim)).toContain(
      'it has a line that is not JSON: write each answer in one line',
    )
  }
  expect(await refusal(fileOf(''), ...claim)).toContain('it holds no answer')
  expect(await refusal(join(folderOf(), 'none'), ...claim)).toContain('cannot read')
  const open = await runHere(['diff', file, ...claim.slice(0, 2)])
  expect(open.stdout).toContain('chosen by the sender')
  expect(open.code).toBe(4)
  expect(open.stdout).toContain(
    'Consistent: nobody has confirmed the state root after the last block. If it is right, ',
  )
  expect(open.stdout).toMatch(/state root +0x\w+ +chosen by the sender\n/)
})

it('is named by commands for other files', async () => {
  const file = fileOf({ jsonrpc: '2.0', id: 1, result: answer(0, 3) })
  const verified = await runHere(['verify', file])
  expect([verified.code, verified.stderr]).toEqual([2, expect.stringContaining('verify them with the command diff')])
  const inspected = await runHere(['inspect', file])
  expect([inspected.code, inspected.stdout]).toEqual([0, expect.stringContaining('traces of the state manager')])
  expect(inspected.stdout).toMatch(/zkStateMerkleProof +an array of \d+\n/)
})
