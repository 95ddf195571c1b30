import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { FailureCode } from '../../src/base/errors.ts'
import type { Source } from '../../src/cli/words/answer.ts'
import type { BlockDiff } from '../../src/entry/transition.ts'
import { nameOf, readAddress, writeAddress } from '../../src/site/address.ts'
import { changesOf } from '../../src/site/chain.ts'
import type { Check } from '../../src/site/checks.ts'
import { compare } from '../../src/site/compare.ts'
import { exampleSources } from '../../src/site/examples.ts'
import { createExplorer, openFile, replyTo, viewProof } from '../../src/site/explore.ts'
import type { OpenedFile } from '../../src/site/file.ts'
import { judge } from '../../src/site/judge.ts'
import { MAX_CHANGES_SHOWN, MAX_DATA_CHARACTERS, MAX_LOGS_SHOWN } from '../../src/site/limits.ts'
import type { ProofView } from '../../src/site/proof-view.ts'
import type { Judgement } from '../../src/site/report.ts'
import { statementFrom } from '../../src/site/statement.ts'
import { premiseSources } from '../../src/site/wording.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { rollup } from '../../vectors/evidence/truth.ts'
import { anchorOf, makeChain, partsOf } from '../../vectors/logs/truth.ts'
import { readVector } from '../../vectors/run/read.ts'
import { changedAt } from '../verify/evidence/places.ts'

const schemes = { mimc, poseidon2 }

/** Does what the page does with a vector that is dropped on it. */
function explore(content: unknown): { file: OpenedFile; judgement: Judgement } {
  const file = openFile(content)
  return { file, judgement: judge(file, statementFrom(file.suggested)) }
}

function vectorsIn(folder: string) {
  return readdirSync(folder).map(file => ({
    name: `${folder}/${file}`,
    vector: JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')),
  }))
}

/** The proofs that the page can show. */
const viewsOf = (file: OpenedFile, judgement: Judgement): ProofView[] =>
  [0, ...judgement.report.proofs.slice(1).map((_, index) => index + 1)].flatMap(
    index => viewProof(file, judgement, index) ?? [],
  )

/** All checks that the page can show: those of the chain and those of each leaf proof. */
const allChecks = (file: OpenedFile, judgement: Judgement): Check[] => [
  ...judgement.report.boxes.flatMap(({ checks }) => checks),
  ...viewsOf(file, judgement).flatMap(({ checks }) => checks),
]

/** It is refused with the code, and one list of checks ends with it. Returns its place. */
function expectOneFailure({ file, judgement }: ReturnType<typeof explore>, code: FailureCode, name: string) {
  const { report, error, checked } = judgement
  expect(report.failure?.code, name).toBe(code)
  const lists = [
    ...report.boxes.map(({ checks }) => checks),
    ...viewsOf(file, judgement).map(({ checks }) => checks),
  ].filter(checks => checks.some(({ status }) => status === 'failed'))
  const [list = []] = lists
  expect(lists.length, `${name} at ${error?.path}`).toBe(1)
  expect(list.findIndex(({ status }) => status === 'failed')).toBe(list.length - 1)
  expect(list.at(-1)?.code, name).toBe(code)
  expect(list.slice(0, -1).every(({ times }) => times > 0)).toBe(true)
  expect(report.boxes.filter(({ state }) => state === 'failed').length, name).toBeLessThan(2)
  if (checked.failed === null) throw new Error(`${name}: no error`)
  return checked.failed
}

/** Vectors that the page's form has no field for. */
const NOT_EXPLORED: Readonly<Record<string, string>> = {
  'rollup-name-of-another': 'the page takes the address of a contract, not a label for it',
  'trusted-two': 'the page has one field for the trusted input',
  'trusted-beacon-block-and-hash': 'the same',
  'claim-misspelt': 'the fields of the form have their names',
  'claim-rollup-misspelt': 'the same',
  'claim-no-address': 'an empty field leaves the address to the bundle, and the page says so',
  'ethereum-layout-without-hashes': 'the page always reads block hashes',
  'ethereum-scheme-number': 'a vector states its scheme in words',
}

it('says in words that a file cannot be read', async () => {
  const folder = Object.assign(new Blob(['{}']), {
    arrayBuffer: () => Promise.reject(new DOMException('A requested file could not be found', 'NotFoundError')),
  })
  const problem = 'It cannot be read. It is a folder, or it was moved or changed meanwhile.'
  expect(await replyTo(createExplorer(1), ['load', folder])).toEqual({ kind: 'load', problem })
})

it('says of a single slot that it does not exist, and counts no more', () => {
  const { report } = explore(readVector('vectors/poseidon2/valid/contract-slot-absent-between.json')).judgement
  const asked = 'for the address and storage keys that the file names'
  expect(report.text).toBe(`If it is right, ${asked}: this account exists and holds 1 ETH; the slot does not exist.`)
  expect(report.boxes.at(-1)).toMatchObject({ title: 'Slot', value: '1 requested', note: 'does not exist' })
})

for (const scheme of ['mimc', 'poseidon2', 'evidence'] as const) {
  const isProof = ({ vector: { operation } }: { vector: { operation?: string } }) =>
    operation === undefined || operation === 'verifyEvidence'

  it(`shows every valid ${scheme} vector as consistent with its own root, with every check passed`, () => {
    const vectors = vectorsIn(`vectors/${scheme}/valid`).filter(isProof)
    expect(vectors.length).toBeGreaterThanOrEqual(18)
    for (const { name, vector } of vectors) {
      const { file, judgement } = explore(vector)
      const { report } = judgement
      expect(report.verdict, name).toBe('consistent')
      expect(report.text.includes('this account does not exist'), name).toBe(vector.expected.account === null)
      const slots = vector.expected.storage.map((slot: { exists: boolean; value: string }) =>
        slot.exists ? `exists ${slot.value}` : 'does not exist ',
      )
      expect(
        report.proofs.slice(1).map(({ outcome, value }) => `${outcome} ${value}`),
        name,
      ).toEqual(slots)
      const checks = allChecks(file, judgement)
      expect(checks.length).toBeGreaterThanOrEqual(20)
      expect(new Set(checks.map(({ status }) => status)), name).toEqual(new Set(['passed']))
    }
  })

  it(`finds the one failed check of every invalid ${scheme} vector`, () => {
    const vectors = vectorsIn(`vectors/${scheme}/invalid`).filter(isProof)
    expect(vectors.length).toBeGreaterThanOrEqual(70)
    let [refused, skipped, drawn] = [0, 0, 0]
    for (const { name, vector } of vectors) {
      const short = name.replace(/^.*\//, '').replace('.json', '')
      if (NOT_EXPLORED[short] !== undefined) {
        skipped++
        continue
      }
      const { file, judgement } = explore(vector)
      const { report } = judgement
      if (vector.expected.code === 'ARGUMENT_INVALID' && report.verdict === 'unjudged') continue
      refused++
      const place = expectOneFailure({ file, judgement }, vector.expected.code, name)
      // A failed check of a leaf proof shows in the drawing of that proof.
      if (typeof place.group !== 'number') continue
      const [view] = viewsOf(file, judgement).filter(({ index }) => index === report.shown)
      const { fault, paths } = view ?? { fault: null, paths: [] }
      expect(fault?.code, name).toBe(vector.expected.code)
      const isDrawn = paths.some(({ part }) => place.path.startsWith(part))
      if (isDrawn) expect(paths.filter(path => path.fault !== null).length, name).toBe(1)
      drawn += isDrawn ? 1 : 0
    }
    console.log(`${scheme}: ${refused} refusals, ${skipped} vectors not explored`)
    expect(refused + skipped).toBeGreaterThanOrEqual(70)
    if (scheme !== 'evidence') expect(drawn).toBeGreaterThan(80)
  })
}

it('gives no verdict without a root, an address, a scheme or a rollup', () => {
  const answer = vectorsIn('vectors/poseidon2/valid').find(({ name }) => name.includes('/contract.json'))?.vector
  const bundle = vectorsIn('vectors/evidence/valid').find(({ name }) => name.includes('poseidon2-block-hash'))?.vector
  for (const [content, names] of [
    [answer, ['trusted', 'address', 'scheme']],
    [bundle, ['trusted', 'scheme', 'rollup']],
  ] as const) {
    for (const name of names) {
      const file = openFile(content)
      const statement = { ...statementFrom(file.suggested), [name]: { value: '', source: 'user' as const } }
      const judgement = judge(file, statement)
      expect(judgement.report.verdict, name).toBe('unjudged')
      expect(allChecks(file, judgement), name).toEqual([])
      expect(new Set(judgement.report.boxes.map(({ state }) => state)).has('passed')).toBe(false)
    }
  }
})

it('says of what it cannot verify that it does not', () => {
  const content = { format: 'rollup-state-proof/evidence', version: 1, kind: 'call', call: {}, answers: [] }
  const calls = vectorsIn('vectors/calls/valid').map(({ vector }) => vector)
  expect(calls.length).toBeGreaterThan(2)
  for (const call of [content, ...calls])
    expect(() => openFile(call)).toThrow(/^This is a call as evidence: the command line verifies it/)
  const hash = vectorsIn('vectors/messages/valid').find(({ vector }) => vector.operation !== 'verifyEvidence')?.vector
  expect(() => openFile(hash)).toThrow('This is a vector of a function: the tests run it, and this page does not.')
})

it('suggests 4,096 storage keys of a file, and none of more', () => {
  const answers = vectorsIn('vectors/poseidon2/valid').map(({ vector }) => vector.answer)
  const answer = answers.find(each => each?.storageProofs[0]?.key)
  const [slot] = answer.storageProofs
  for (const [count, known] of [
    [4096, 4096],
    [4097, 0],
  ] as const) {
    const { holds, suggested } = openFile({ ...answer, storageProofs: Array(count).fill(slot) })
    expect(holds).toBe(`${count} storage proofs`)
    expect(suggested.storageKeys?.value.split('\n').filter(line => line !== '').length ?? 0).toBe(known)
  }
})

it('leaves the rollup to the user unless the bundle is for a known one', () => {
  const vector = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8'))
  const { bundle, claim } = vector
  const file = openFile(bundle)
  expect(file.suggested.rollup).toBeUndefined()
  const statement = {
    ...statementFrom(file.suggested),
    trusted: { value: claim.trusted.l1BlockHash, source: 'user' as const },
  }
  expect(judge(file, statement).report.headline).toContain('Enter the rollup: anyone can deploy')
  const stated = { ...statement, rollup: { value: claim.rollup.address, source: 'user' as const } }
  const { report } = judge(file, stated)
  expect(report.verdict).toBe('verified')
  expect(report.text).toContain('Verified for the L2 block, address and storage keys that the bundle names.')
  const nothing = { value: '', source: 'user' as const }
  const cleared = judge(file, { ...stated, address: nothing, storageKeys: nothing, l2Block: nothing }).report
  expect(cleared.verdict).toBe('verified')
  expect([cleared.text, cleared.notes]).toEqual([report.text, report.notes])
  const mainnet = { ...bundle, rollup: { address: '0xD19D4B5D358258f05D7B411E21A1460D11B0876F' } }
  expect(openFile(mainnet).suggested.rollup).toEqual({ value: 'linea', source: 'bundle' })
  // The layout decides which storage is believed, so it counts as much as the contract.
  const user = (field: { readonly value: string }) => ({ value: field.value, source: 'user' as const })
  const all = Object.fromEntries(Object.entries(stated).map(([name, field]) => [name, user(field)])) as typeof stated
  expect(judge(file, all).report).toMatchObject({ verdict: 'verified', badge: 'Verified', unconfirmed: null })
  for (const slots of ['282 281', '282, 281, 456', '0x11a 0x119']) {
    const ofFile = judge(file, { ...all, layout: { value: slots, source: 'file' as const } }).report
    expect(ofFile).toMatchObject({ verdict: 'consistent', unconfirmed: { field: 'layout', value: slots } })
    expect(ofFile.headline).toBe('Nobody has confirmed the storage layout of the contract.')
    expect(judge(file, { ...all, layout: { value: slots, source: 'user' as const } }).report.verdict).toBe('verified')
  }
  const other = judge(file, { ...all, layout: { value: '281 282', source: 'user' as const } }).report
  expect(other.verdict).toBe('refused')
  const wrongSlot = { ...stated, layout: { value: 'x', source: 'user' as const } }
  expect(judge(file, wrongSlot).report).toMatchObject({
    verdict: 'unjudged',
    inputErrors: [{ field: 'layout', message: 'not two or three slot numbers' }],
    missing: 'layout',
  })
  const wrongBlock = { ...stated, l2Block: { value: '-1', source: 'user' as const } }
  expect(judge(file, wrongBlock).report).toMatchObject({ verdict: 'unjudged', inputErrors: [{ field: 'l2Block' }] })
})

it('verifies with the published code, through its entry points', () => {
  const folder = 'src/site'
  const files = readdirSync(folder).filter(file => file.endsWith('.ts'))
  // Types are free to come from inside: they run nothing.
  const statement = /^import (?!type )[^']*'(\.\.\/[^']+)'/gm
  const imported = files.flatMap(file =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(statement)].map(([, from = '']) => from),
  )
  const others = new Set(imported.filter(name => !name.startsWith('../cli/words/')))
  const entries = ['anchor', 'beacon', 'blocks', 'index', 'messages', 'transition'].map(name => `../entry/${name}.ts`)
  const words = ['../base/error-meanings.ts', '../base/errors.ts']
  // Keccak and the paths of leaves draw hashes and decide nothing.
  const drawn = ['../verify/hash/keccak/index.ts', '../verify/verifier/leaf-api.ts']
  expect([...others].sort()).toEqual([...entries, ...words, ...drawn].sort())
})

it('shows what a message has come to', () => {
  const statuses = { claimable: 'can be claimed', sent: 'has sent' }
  let seen = 0
  for (const { name, vector } of vectorsIn('vectors/messages/valid')) {
    if (vector.operation !== 'verifyEvidence') continue
    const { file, judgement } = explore(vector)
    const { report } = judgement
    const { status, message } = vector.expected.verified
    expect(report.text, name).toContain(statuses[status as keyof typeof statuses])
    expect(report.facts).toContainEqual(['From', message.from])
    expect(new Set(allChecks(file, judgement).map(check => check.status)), name).toEqual(new Set(['passed']))
    if (status === 'claimable') expect(report.facts.at(-1)?.[1]).toMatch(/^0x6463fb2a/)
    seen++
  }
  expect(seen).toBe(4)
})

it('finds the one failed check of every message that is refused', () => {
  let refused = 0
  for (const { name, vector } of vectorsIn('vectors/messages/invalid')) {
    if (vector.operation !== 'verifyEvidence' || NOT_EXPLORED_MESSAGES.some(part => name.includes(part))) continue
    expectOneFailure(explore(vector), vector.expected.code, name)
    refused++
  }
  expect(refused).toBeGreaterThanOrEqual(20)
})

/** The page has a field for the hash of the message only, none for two trusted inputs. */
const NOT_EXPLORED_MESSAGES = ['claim-', 'trusted-', 'message-of-another', 'message-altered', 'rollup-name']

it('shows all logs of a range, each block, and what the verdict rests on', () => {
  let seen = 0
  for (const { name, vector } of vectorsIn('vectors/logs/valid')) {
    const { file, judgement } = explore(vector)
    const { report } = judgement
    const { logs, blockCount, ruledOutCount, receiptCount } = vector.expected.verified
    expect(report.verdict, name).toBe('consistent')
    expect(report.text).toMatch(new RegExp(`exactly ${logs.length} logs?\\b.*: none is left out`))
    expect(report.headline).toMatch(/^Nobody has confirmed the L[12] /)
    expect(report.logs?.count).toBe(logs.length)
    expect(report.logs?.listed.map(({ rows }) => Object.fromEntries(rows))).toEqual(
      logs.map(({ address, topics, data, transactionHash }: Record<string, string | string[]>) => ({
        ...{ Contract: address, Data: data, Transaction: transactionHash },
        ...Object.fromEntries([...(topics ?? [])].map((topic, index) => [`Topic ${index}`, topic])),
      })),
    )
    const facts = Object.fromEntries(report.facts)
    expect(facts).toMatchObject({
      'Blocks ruled out by headers': `${ruledOutCount}`,
      'Receipts verified': `${receiptCount}`,
    })
    const checks = allChecks(file, judgement)
    expect(new Set(checks.map(({ status }) => status)), name).toEqual(new Set(['passed']))
    expect(report.boxes.at(-2)).toMatchObject({ note: `${ruledOutCount} of ${blockCount} ruled out` })
    expect(report.boxes.slice(-3).map(({ title }) => title)).toEqual([
      vector.input.answer === undefined ? 'L2 state' : 'Block hash',
      ...['Blocks', 'Logs'],
    ])
    seen++
  }
  expect(seen).toBeGreaterThanOrEqual(9)
})

it('finds the one failed check of every bundle of logs that is refused, and the block that it is about', () => {
  let refused = 0
  for (const { name, vector: own } of vectorsIn('vectors/logs/invalid')) {
    const vector = readVector(name)
    const { code } = own.expected
    // The page has no field for the range and the filter.
    if (code === 'LOGS_MISMATCH') continue
    const { file, judgement } = explore(vector)
    expectOneFailure({ file, judgement }, code, name)
    const { error, report } = judgement
    const [at] = /^blocks\[\d+\]/.exec(error?.path ?? '') ?? ['']
    expect(report.text).toContain(at)
    refused++
  }
  expect(refused).toBeGreaterThanOrEqual(40)
})

it('finds the failed check of a part of a block that is malformed', () => {
  const vector = JSON.parse(readFileSync('vectors/logs/valid/ethereum-anchored.json', 'utf8'))
  const places: [place: string, code: FailureCode, value: unknown][] = [
    ['', 'BLOCK_MALFORMED', null],
    ['.header', 'HEADER_MALFORMED', null],
    ['.receipts', 'BLOCK_MALFORMED', {}],
    ['.receipts[0]', 'BLOCK_MALFORMED', null],
    ['.receipts[0].status', 'RECEIPT_STATUS', '0x2'],
    ['.receipts[0].logs[0].data', 'BAD_HEX', 'x'],
    ['.transactions[0]', 'BLOCK_MALFORMED', null],
    ['.transactions[0].type', 'BLOCK_TYPE_UNKNOWN', '0xff'],
  ]
  for (const [place, code, value] of places) {
    const path = ['input', 'blocks', '0', ...(place.match(/\w+/g) ?? [])]
    const { file, judgement } = explore(changedAt(vector, path, () => value))
    expect(judgement.error?.path, place).toBe(`blocks[0]${place}`)
    expect(expectOneFailure({ file, judgement }, code, place).group).toBe('blocks')
  }
})

it('lists only as many logs as a page can show, and copies no longer data', async () => {
  const log = (length: number) => ({ address: rollup.address, topics: [], data: `0x${'ab'.repeat(length)}` as const })
  const most = MAX_DATA_CHARACTERS / 2 - 1
  const data = [log(most), log(most + 1), ...Array(MAX_LOGS_SHOWN - 1).fill(log(0))]
  const [block] = await makeChain([[data]], 50n)
  if (block === undefined) throw new Error('a chain without blocks')
  const { bundleFor, blockHash } = await anchorOf(poseidon2, [[50n, block.block.hash]], [51n])
  const range = { fromBlock: '0x32', toBlock: '0x32', filter: { address: [], topics: [] } }
  const bundle = { ...(await bundleFor(51n, 50n)), kind: 'logs', ...range, blocks: [partsOf(block)] }
  const claim = { rollup, trusted: { l1BlockHash: blockHash } }
  const vector = { operation: 'verifyEvidence', kind: 'logs', scheme: 'poseidon2', claim, input: bundle }
  const { logs, text } = explore(vector).judgement.report
  expect(text).toContain(`exactly ${MAX_LOGS_SHOWN + 1} logs`)
  expect([logs?.count, logs?.listed.length]).toEqual([MAX_LOGS_SHOWN + 1, MAX_LOGS_SHOWN])
  const texts = logs?.listed.slice(0, 2).map(({ rows }) => Object.fromEntries(rows).Data)
  expect(texts?.map(text => text?.length === MAX_DATA_CHARACTERS)).toEqual([true, false])
  expect(texts?.[1]).toContain(`… (${MAX_DATA_CHARACTERS + 2} characters)`)
})

it('leaves range and filter to a bundle of logs and says so, and takes the block of a state root from the user alone', () => {
  const vector = JSON.parse(readFileSync('vectors/logs/valid/from-state-root.json', 'utf8'))
  const file = openFile(vector.input)
  const user = (value: string) => ({ value, source: 'user' as const })
  const root = user(vector.claim.trusted.l2StateRoot)
  const stated = {
    ...statementFrom(file.suggested),
    trustedKind: user('l2StateRoot'),
    trusted: root,
    rollup: user(vector.claim.rollup.address),
  }
  expect(judge(file, stated).report).toMatchObject({ verdict: 'unjudged', missing: 'l2Block' })
  // Nothing of L1 is proven, so neither is its code.
  const pinned = { ...stated, l2Block: user('1000'), implementation: user(root.value.slice(0, 42)) }
  expect(judge(file, pinned).report).toMatchObject({ verdict: 'unjudged', missing: 'implementation' })
  const { report } = judge(file, { ...stated, l2Block: user('1000') })
  expect(report).toMatchObject({
    verdict: 'verified',
    text: expect.stringContaining('Verified for the first block, last block and filter that the bundle names.'),
  })
  // In a state of Ethereum, L1 can hold the hash of the newest block.
  const { answer: _, ...rest } = vector.input
  const ofEthereum = openFile({ ...rest, scheme: 'ethereum' })
  const { boxes, proofs } = judge(ofEthereum, statementFrom(ofEthereum.suggested)).report
  expect(boxes.map(({ title }) => title).slice(-4)).toEqual(['L2 block', 'L2 state', 'Blocks', 'Logs'])
  expect(proofs).toEqual([])
})

it('shows a list of traces as changes, and the rule that one breaks', () => {
  for (const { name, vector } of vectorsIn('vectors/transitions/valid')) {
    const { file, judgement } = explore(vector)
    expect(judgement.report.verdict, name).toBe('consistent')
    expect(file.suggested.scheme?.value).toBe(vector.input.scheme)
    const expected = vector.expected.blocks.flatMap(
      ({ accounts }: { accounts: { changed: boolean; address: string }[] }) =>
        accounts.filter(({ changed }) => changed).map(({ address }) => address),
    )
    const { changes } = judgement.report
    expect(new Set(changes?.rows.map(({ address }) => address)), name).toEqual(new Set(expected))
    expect(changes?.accounts, name).toBe(new Set(expected).size)
  }
  let refused = 0
  for (const { name, vector: own } of vectorsIn('vectors/transitions/invalid')) {
    // The rules are the same for both schemes.
    if (name.includes('/mimc')) continue
    const vector = readVector(name)
    const code = String(own.expected.code)
    const { file, judgement } = explore(vector)
    const { report } = judgement
    if (report.verdict === 'unjudged') continue
    expect(report.failure?.code, name).toBe(code)
    expectOneFailure({ file, judgement }, own.expected.code, name)
    refused++
  }
  expect(refused).toBeGreaterThan(75)
})

it('counts all changes, and lists the first', () => {
  const many = { before: null, after: null, storage: Array(1000).fill({ key: '0x1', before: '0x2', after: '0x3' }) }
  const blocks = [{ accounts: [{ ...many, address: `0x${'ab'.repeat(20)}` }] }] as unknown as readonly BlockDiff[]
  expect(changesOf(blocks)).toMatchObject({ count: 1000, slotChanges: 1000, rows: { length: MAX_CHANGES_SHOWN } })
})

it('names a file in the address by an example or a hash, and reads nothing else from it', () => {
  for (const fragment of [
    '#absent-slot',
    '#absent-slot/proof/1',
    `#sha256-${'ab'.repeat(32)}/proof/12`,
    '#call/file',
  ]) {
    expect(writeAddress(readAddress(fragment))).toBe(fragment)
  }
  const nothing = { source: '', tab: 'overview', proof: null }
  for (const fragment of ['', '#', '#<img src=x>', '#a/b/c', `#${'a'.repeat(100)}`, '#a/proof/-1']) {
    expect(readAddress(fragment)).toEqual(nothing)
  }
  const names = exampleSources.map(({ title }) => nameOf(title))
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(readAddress(`#${name}`).source).toBe(name)
})

it('reports an error of an endpoint as one, whatever the question', () => {
  const { answer } = JSON.parse(readFileSync('vectors/poseidon2/invalid/rpc-error.json', 'utf8'))
  expect(() => openFile(answer)).toThrow(/^The server sent an error, and no proof: /)
})

it('verifies an eth_getProof answer, as the state that Ethereum has', () => {
  const { bundle, claim } = JSON.parse(readFileSync('vectors/evidence/valid/ethereum-state-root.json', 'utf8'))
  const whole = explore(JSON.parse(readFileSync('vectors/evidence/valid/ethereum-state-root.json', 'utf8'))).judgement
  const stateRoot = whole.stateRoot?.value ?? ''
  for (const answer of [bundle.answer, { jsonrpc: '2.0', id: 1, result: bundle.answer }]) {
    const file = openFile(answer)
    expect(file.suggested.scheme?.value).toBe('ethereum')
    const statement = {
      ...statementFrom(file.suggested),
      trusted: { value: stateRoot, source: 'user' as const },
      address: { value: claim.address, source: 'user' as const },
    }
    const judgement = judge(file, statement)
    expect(judgement.report.verdict).toBe('verified')
    expect(judgement.report.facts).toEqual(whole.report.facts)
    expect(new Set(allChecks(file, judgement).map(({ status }) => status))).toEqual(new Set(['passed']))
    const wrong = judge(file, { ...statement, trusted: { value: `0x${'00'.repeat(32)}`, source: 'user' } })
    expect(wrong.report.failure?.code).toBe('MPT_HASH_MISMATCH')
    expect(allChecks(file, wrong).filter(({ status }) => status === 'failed').length).toBe(1)
    const other = judge(file, { ...statement, scheme: { value: 'poseidon2', source: 'user' } })
    expect(other.report.failure?.code).toBe('FOREIGN_PROOF')
  }
})

it('says what to do about a refusal, and tells another block from a forgery where the file can', () => {
  const vector = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8'))
  const other = `0x${'11'.repeat(32)}`
  const { report } = explore({ ...vector, claim: { ...vector.claim, trusted: { l1BlockHash: other } } }).judgement
  expect(report.failure).toMatchObject({
    code: 'HEADER_HASH_MISMATCH',
    next: expect.stringContaining(
      `says L1 block 24000000 and hashes to ${vector.claim.trusted.l1BlockHash}. Look that block up`,
    ),
  })
  const nexts = new Map<string, string>()
  for (const folder of ['poseidon2', 'evidence']) {
    for (const { vector } of vectorsIn(`vectors/${folder}/invalid`)) {
      if (vector.operation !== undefined && vector.operation !== 'verifyEvidence') continue
      const { failure } = explore(vector).judgement.report
      if (failure) nexts.set(failure.code, failure.next ?? '')
    }
  }
  expect(nexts.size).toBeGreaterThan(50)
  expect([...nexts.values()].every(next => /^[A-Z].+\.$/.test(next))).toBe(true)
  expect(nexts.get('SCHEME_MISMATCH')).toMatch(/^Choose the other hash scheme/)
  expect(nexts.get('EVIDENCE_ADDRESS_MISMATCH')).toMatch(/^Compare it with your question/)
})

it('weighs less than 195 kB in all', () => {
  const scripts = ['examples', 'explorer', 'worker'].map(name => readFileSync(`docs/explorer/${name}.js`))
  const sizes = scripts.map(script => gzipSync(script, { level: 9 }).length)
  console.log(`scripts of the page, compressed: ${sizes.join(' + ')} bytes`)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(195_000)
})

it('reports where each part of the question came from', () => {
  const [vector] = vectorsIn('vectors/poseidon2/valid')
    .filter(({ name }) => name.endsWith('/contract-slots-mixed.json'))
    .map(({ vector }) => vector)
  const bare = openFile(vector.answer)
  const stateRoot = { value: vector.stateRoot, source: 'user' as const }
  const { report } = judge(bare, { ...statementFrom(bare.suggested), trusted: stateRoot })
  expect(report.verdict).toBe('verified')
  expect(report.text).toMatch(
    /^Rests on the L2 state root 0x\S+, which you typed\. Verified for the address and storage keys that/,
  )
  const ofFile = explore(vector).judgement.report
  expect(ofFile).toMatchObject({
    ...{ verdict: 'consistent', badge: 'Consistent', headline: 'Nobody has confirmed the state root.' },
    unconfirmed: { field: 'trusted', name: 'state root', value: vector.stateRoot, about: '' },
  })
  expect(ofFile.text).toMatch(/^If it is right, for the address and storage keys that the file names: this account /)
})

it('compares what the visitor has with what the file states, digit by digit', () => {
  const hash = `0x${'0123456789abcdef'.repeat(4)}`
  const cases: [string, string, string][] = [
    ['', 'none', ''],
    [`  ${hash.toUpperCase().replace('0X', '0x')}\n`, 'same', 'The same, all 64 digits.'],
    [hash.slice(0, 12), 'begun', 'The same so far: 10 of 64 digits.'],
    [
      `${hash.slice(0, 19)}f${hash.slice(20)}`,
      'different',
      'Not the same: at digit 18, the file has 1, and your source has f.',
    ],
    [`${hash}0`, 'different', 'Not the same: at digit 65, the file ends, and your source has 0.'],
    [hash.slice(2), 'different', 'It does not begin with 0x.'],
  ]
  for (const [pasted, state, words] of cases) {
    expect(compare(hash, pasted)).toMatchObject({ state, words })
  }
  expect(compare('mainnet', 'mainland').words).toBe(
    'Not the same: at character 5, the file has n, and your source has l.',
  )
})

it('is verified by what is typed or confirmed alone, and says "proven" of nothing else', () => {
  const vector = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8'))
  const file = openFile(vector)
  const suggested = statementFrom(file.suggested)
  const withSources = (trusted: Source, rollup: Source) =>
    judge(file, {
      ...suggested,
      trusted: { ...suggested.trusted, source: trusted },
      rollup: { ...suggested.rollup, source: rollup },
    })
  let count = 0
  for (const trusted of ['user', 'confirmed', 'file'] as const) {
    for (const rollup of ['user', 'confirmed', 'file'] as const) {
      const { report, stateRoot } = withSources(trusted, rollup)
      const isOwn = trusted !== 'file' && rollup !== 'file'
      expect(report.verdict, `${trusted} ${rollup}`).toBe(isOwn ? 'verified' : 'consistent')
      expect(report.badge).toBe(isOwn ? 'Verified' : 'Consistent')
      expect(stateRoot?.source).toBe(isOwn ? 'proven from L1' : 'follows from the L1 block hash')
      const bases = report.boxes.flatMap(({ rows }) => rows.map(([, , basis = '']) => basis))
      expect(bases.length).toBeGreaterThan(2)
      if (!isOwn) expect(bases.join()).not.toContain('proven by')
      const field = trusted === 'file' ? 'trusted' : 'rollup'
      expect(report.unconfirmed?.field ?? null).toBe(isOwn ? null : field)
      // The full hash, and where to look it up.
      if (trusted === 'file') {
        expect(report.unconfirmed).toMatchObject({
          value: vector.claim.trusted.l1BlockHash,
          about: expect.stringMatching(/^of L1 block 24000000, 20\S+Z$/),
        })
      }
      count++
    }
  }
  expect(count).toBe(9)
  // A contract that the page knows by its name is none that a file can invent.
  const mainnet = { ...suggested, trusted: { ...suggested.trusted, source: 'user' as const } }
  expect(premiseSources({ ...mainnet, rollup: { value: 'linea', source: 'bundle' } })).toEqual({
    ...{ l1BlockHash: 'user', rollupName: 'bundle' },
  })
  // Whoever names the slots chooses what is read.
  const layout = { value: '282 281 7', source: 'file' as const }
  expect(premiseSources({ ...mainnet, rollup: { value: 'linea', source: 'user' }, layout })).toEqual({
    ...{ l1BlockHash: 'user', rollupName: 'user', layout: 'file' },
  })
})

it('takes the network of a known name for that, whatever a file says that it is', () => {
  const text = readFileSync('vectors/evidence/valid/poseidon2-beacon-block-root.json', 'utf8')
  const verdicts = ['vectors', 'mainnet', 'sepolia'].map(name => {
    const vector = JSON.parse(text)
    vector.claim.trusted.network.name = name
    vector.bundle.consensus.network = name
    const file = openFile(vector)
    const { trusted, rollup, ...others } = statementFrom(file.suggested)
    const own = { trusted: { ...trusted, source: 'user' }, rollup: { ...rollup, source: 'user' } } as const
    return judge(file, { ...others, ...own }).report.verdict
  })
  expect(verdicts).toEqual(['consistent', 'refused', 'refused'])
})

it('draws the path that the published function computes', () => {
  let paths = 0
  for (const scheme of ['mimc', 'poseidon2'] as const) {
    for (const { name, vector } of vectorsIn(`vectors/${scheme}/valid`).slice(0, 20)) {
      const { file, judgement } = explore(vector)
      for (const view of viewsOf(file, judgement)) {
        for (const path of view.paths) {
          expect(path.computedRoot, name).toBe(path.wantedRoot)
          expect(path.computedSubRoot, name).toBe(path.statedSubRoot)
          const [top] = path.levels
          const children = [top?.running ?? '', (top?.sibling ?? '').slice(2)]
          const pair = top?.siblingSide === 'right' ? children.join('') : `0x${children[1]}${children[0]?.slice(2)}`
          const bytes = Buffer.from(pair.slice(2), 'hex')
          const digest = `0x${Buffer.from(schemes[scheme].hasher.hash(bytes)).toString('hex')}`
          expect(digest, name).toBe(path.computedSubRoot)
          paths++
        }
      }
    }
  }
  expect(paths).toBeGreaterThan(60)
})

it('marks the faulty field', () => {
  const blamed = {
    'element-lifted-leaf-key': 'hKey',
    'element-lifted-leaf-next': 'next',
    'element-lifted-leaf-prev': 'prev',
    'element-lifted-leaf-value': 'hVal',
    'element-lifted-next-free-node': 'nextFreeNode',
    'element-lifted-sibling-key': 'hKey',
    'element-lifted-sub-root': 'sub-root',
    'stray-byte-next': 'next',
    'stray-byte-next-free-node': 'nextFreeNode',
    'nonce-above-64-bits': 'nonce',
    'code-size-above-64-bits': 'codeSize',
    'account-value-lifted-storage-root': 'storageRoot',
    'key-rewritten': 'hKey',
    'sub-root-altered': 'sub-root',
  }
  for (const [name, field] of Object.entries(blamed)) {
    const { file, judgement } = explore(JSON.parse(readFileSync(`vectors/poseidon2/invalid/${name}.json`, 'utf8')))
    const paths = viewProof(file, judgement, judgement.report.shown)?.paths ?? []
    const fields = paths.flatMap(({ bytes }) => bytes.flatMap(part => part.fields.filter(({ isFault }) => isFault)))
    expect(
      fields.map(({ name }) => name),
      name,
    ).toEqual([field])
  }
})
