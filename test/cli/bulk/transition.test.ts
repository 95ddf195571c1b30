import { expect, it } from 'vitest'
import { MAX_BLOCK_LENGTH, MAX_TOTALS } from '../../../src/cli/audit/limits.ts'
import { verifyChain } from '../../../src/cli/transition/chain.ts'
import { createTotals } from '../../../src/cli/transition/rows.ts'
import { type Part, splitAnswers } from '../../../src/cli/transition/split.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { randomOf } from '../../random.ts'

async function* inPieces(text: string, size: () => number) {
  // One memory for all pieces, as a file is read.
  const memory = new Uint8Array(text.length)
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; ) {
    const piece = bytes.subarray(start, start + size())
    memory.fill(0)
    memory.set(piece)
    yield memory.subarray(0, piece.length)
    start += piece.length
  }
}

const partsOf = async (text: string, size = () => text.length + 1): Promise<Part[]> => {
  const parts: Part[] = []
  for await (const part of splitAnswers(inPieces(text, size))) parts.push(part)
  return parts
}
const failureOf = (text: string) =>
  partsOf(text).then(
    () => 'accepted',
    (error: Error) => `${error.name}: ${error.message}`,
  )

it('ends soon with blocks that are empty, of which a file of some bytes holds many', async () => {
  const count = 300_000
  const parentStateRoot = `0x${'11'.repeat(31)}00` as const
  const open = () => inPieces(`{"zkStateMerkleProof":[${Array(count).fill('[]').join()}]}`, () => 65_536)
  const place = { input: '', answer: 0, block: 0 }
  let blocks = 0
  for await (const { diff, traces } of verifyChain([{ name: 'a', open }], { scheme: mimc, parentStateRoot }, place)) {
    if (diff.stateRoot === parentStateRoot && diff.accounts.length === 0 && traces === 0) blocks++
  }
  expect([blocks, place.block]).toEqual([count, count])
})

const block = [{ type: 0, key: 'a "quoted" ] } \\ key', proof: { siblings: ['0x', '{['] } }]
const answer = {
  zkStateManagerVersion: { odd: ['}', ']'] },
  zkEndStateRootHash: '0xee',
  zkStateMerkleProof: [block, [], block],
  zkParentStateRootHash: '0xff',
}
const response = { jsonrpc: '2.0', error: null, id: 7, result: answer }
const text = (part: unknown) => JSON.stringify(part)
const expected: Part[] = [
  { kind: 'begin' },
  { kind: 'field', name: 'zkEndStateRootHash', text: '"0xee"' },
  { kind: 'block', text: text(block) },
  { kind: 'block', text: '[]' },
  { kind: 'block', text: text(block) },
  { kind: 'field', name: 'zkParentStateRootHash', text: '"0xff"' },
  { kind: 'end' },
]
const inResponse = expected.toSpliced(1, 0, { kind: 'field', name: 'error', text: 'null' })

it('splits an answer, a response, a list and NDJSON, in pieces of any length', async () => {
  const random = randomOf(3)
  let compared = 0
  for (const [source, parts] of [
    [text(answer), expected],
    [text(response), inResponse],
    [text([answer, response, answer]), [...expected, ...inResponse, ...expected]],
    [`${text(answer)}\n${text(response)}\n`, [...expected, ...inResponse]],
  ] as const) {
    for (const size of [() => 1, () => 2, () => 1 + Math.floor(random() * 20), () => 1e6]) {
      expect(await partsOf(source, size)).toEqual(parts)
      compared++
    }
  }
  expect(compared).toBe(16)
  const spaced = (await partsOf(JSON.stringify(response, null, 1))).map(part =>
    'text' in part ? { ...part, text: text(JSON.parse(part.text)) } : part,
  )
  expect(spaced).toEqual(inResponse)
})

it('holds no block that is too long', async () => {
  let sent = 0
  async function* endless() {
    yield Buffer.from('{"zkStateMerkleProof": [["')
    for (const piece = new Uint8Array(2 ** 20).fill(0x61); ; sent += piece.length) yield piece
  }
  const read = async () => {
    for await (const part of splitAnswers(endless())) expect(part.kind).toBe('begin')
  }
  await expect(read()).rejects.toThrow('a block is too long')
  expect(sent).toBeLessThanOrEqual(MAX_BLOCK_LENGTH)
})

it('adds up the changes of no more accounts than it says', () => {
  const totals = createTotals()
  const account = {
    nonce: 1n,
    balance: 1n,
    storageRoot: '0x',
    codeHash: '0x',
    snarkCodeHash: '0x',
    codeSize: 0n,
  } as const
  for (let index = 0; index < MAX_TOTALS + 3; index++) {
    const diff = {
      address: `0x${index.toString(16)}` as const,
      before: null,
      after: account,
      changed: true,
      storage: [],
    }
    totals.add({ stateRoot: '0x', accounts: [diff] }, 1)
  }
  expect([totals.list().length, totals.left(), totals.counts.accountChanges]).toEqual([MAX_TOTALS, 3, MAX_TOTALS + 3])
})

it('refuses what is no answer, and what is cut off', async () => {
  const refused = 'DocumentError: it is not a list of traces, as the state manager sends it: '
  for (const [source, reason] of [
    ['{}', 'zkStateMerkleProof is missing'],
    ['7', 'an object is missing'],
    ['"text"', 'an object is missing'],
    ['[[{}]]', 'an object is missing'],
    ['{"zkStateMerkleProof": {}}', 'zkStateMerkleProof is no list'],
    ['{"zkStateMerkleProof": [], "zkStateMerkleProof": []}', 'zkStateMerkleProof is there twice'],
    ['{"zkStateMerkleProof": []]', 'a bracket is wrong'],
    ['}', 'a bracket is wrong'],
    ['{zkStateMerkleProof: []}', 'a name is missing'],
    [`{"${'a'.repeat(100)}": 1}`, 'a name is too long'],
    [text(answer).slice(0, -1), 'it ends too early'],
    [text(answer).slice(0, 100), 'it ends too early'],
    ['{"zkSta', 'it ends too early'],
  ] as const) {
    expect(await failureOf(source), source).toBe(`${refused}${reason}`)
  }
  expect(await partsOf('')).toEqual([])
})
