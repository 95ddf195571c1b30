import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
  'block,address,what,key,before,after',
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
  expect(table.stdout).toContain(`block 1  ${A}  updated\n  storageRoot    `)
  expect(table.stdout).toContain(`  slot ${KEY}\n    ${ONE} -> ${TWO}\n`)
  expect(table.stdout).toContain(`block 3  ${B}  deleted\n`)
  expect(table.stdout).toMatch(/Verified: .*\n {2}parent root .* stated by you\n/)
  expect(table.stdout).not.toContain('absent')

  const rows = await run('--format', 'csv')
  for (const row of csv) expect(rows.stdout).toContain(row)
  expect(rows.stdout).toContain(`3,${A},balance,,5,3\n`)
  expect(rows.stdout).not.toContain('Verified')
  expect(rows.stderr).toContain('Verified')

  const lines = (await run('--format', 'ndjson', '--first-block', '100')).stdout.trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line)).map(({ block, address, changed }) => [block, address, changed])).toEqual(
    expect.arrayContaining([
      ['100', A, true],
      ['101', B, true],
      ['102', A, true],
      ['102', B, true],
    ]),
  )
  expect(lines.length).toBe(4)
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
  const whole = (await runHere(['diff', fileOf(answer(0, 3)), ...claim, '--format', 'csv'])).stdout
  const chained = await runHere(['diff', at('one.json'), at('rest.ndjson'), ...claim, '--format', 'csv'])
  expect(chained.stdout).toBe(whole)
  const listed = await runHere(['diff', at('list.gz'), ...claim, '--format', 'csv', '-o', at('rows.csv'), '--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject({ verdict: 'verified', output: at('rows.csv') })
  expect(readFileSync(at('rows.csv'), 'utf8')).toBe(whole)
  const piped = await runHere(['diff', '-', ...claim, '--format', 'csv'], { stdin: JSON.stringify(answer(0, 3)) })
  expect(piped.stdout).toBe(whole)

  const again = await runHere(['diff', at('list.gz'), ...claim, '-o', at('rows.csv')])
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('rows.csv exists')])
  const forced = await runHere(['diff', at('list.gz'), ...claim, '--format', 'ndjson', '-o', at('rows.csv'), '--force'])
  expect(forced.code).toBe(0)
  expect(readFileSync(at('rows.csv'), 'utf8')).toMatch(/^{"block":"1",/)
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
})

it('takes the roots from evidence, whose blocks are as far apart as the files say', async () => {
  const genesis = createWorld(poseidon2)
  genesis.setAccount(A, { balance: 5n })
  const rollup = { name: 'devnet', address: addressFor('rollup') }
  const { chain } = createService({ genesis, rollup })
  const keys = (block: bigint) => [mappingSlot({ slot: 282n, keys: [block] }), slotKey(281n)]
  const bundleOf = async (l2BlockNumber: bigint) => {
    const l1Block = chain.l1.blockNumber()
    const block = Object(chain.l1.getBlock(l1Block))
    const proof = chain.l1.getProof(rollup.address, keys(l2BlockNumber), l1Block)
    const world = chain.at(l2BlockNumber) ?? genesis
    const about = { scheme: poseidon2, rollup, l2BlockNumber, address: A, storageKeys: [] }
    return { hash: block.hash, bundle: createBundle({ ...about, answer: world.getProof(A), l1: { block, proof } }) }
  }
  const before = await bundleOf(0n)
  const traces = [chain.pending.applyBlock([{ address: A, account: { balance: 6n } }])]
  chain.addBlock()
  chain.finalize()
  const after = await bundleOf(1n)
  const folder = folderOf({ 'before.json': before.bundle, 'after.json': after.bundle })
  const run = (zkStateMerkleProof: unknown, hash: string) =>
    runHere([
      ...['diff', fileOf({ zkStateMerkleProof }), ...networkOf(rollup.address)],
      ...['--parent-evidence', join(folder, 'before.json'), '--evidence', join(folder, 'after.json')],
      ...['--l1-block-hash', before.hash, '--l1-block-hash', hash],
    ])
  const proven = await run(traces, after.hash)
  expect([proven.code, proven.stderr]).toEqual([0, ''])
  expect(proven.stdout).toMatch(/state root +0x\w+ +proven by the evidence\n/)
  expect(proven.stdout).toContain(`block 1  ${A}  updated\n  balance        5 -> 6\n`)
  const apart = await run([...traces, []], after.hash)
  const reason = 'The files hold 2 blocks, but the evidence is 1 apart.'
  expect([apart.code, apart.stdout]).toEqual([1, expect.stringContaining(reason)])
  const wrong = await run(traces, before.hash)
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('HEADER_HASH_MISMATCH')])
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
  expect(await refusal(file, ...claim.slice(0, 2))).toContain('state the end: one of')
  expect(await refusal(file, ...claim, '--open-end')).toContain('state the end: one of')
  expect(await refusal(file, ...claim, '--format', 'xml')).toContain('--format: expected table, ndjson, csv')
  expect(await refusal(file, ...claim, '--evidence', file)).toContain('--state-root and --evidence: state one of them')
  expect(await refusal(file, ...claim.slice(0, 2), '--parent-root', '0x12', '--open-end')).toContain('--parent-root')
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
  const open = await runHere(['diff', file, ...claim.slice(0, 2), '--open-end'])
  expect(open.stdout).toContain('chosen by the sender')
  expect(open.code).toBe(4)
  expect(open.stdout).toContain(
    'Consistent: nobody has confirmed the state root after the last block. If it is right, ',
  )
  expect(open.stdout).toContain('the sender chose the state root, and can have made up every change')
})

it('is named by commands for other files', async () => {
  const file = fileOf({ jsonrpc: '2.0', id: 1, result: answer(0, 3) })
  const verified = await runHere(['verify', file])
  expect([verified.code, verified.stderr]).toEqual([2, expect.stringContaining('verify them with the command diff')])
  const inspected = await runHere(['inspect', file])
  expect([inspected.code, inspected.stdout]).toEqual([0, expect.stringContaining('traces of the state manager')])
  expect(inspected.stdout).toContain('[1]  3 traces')
})
