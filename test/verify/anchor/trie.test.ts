import { createMerkleProof, createMPT, type MerklePatriciaTrie, verifyMerkleProof } from '@ethereumjs/mpt'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesToHex, equalBytes } from '../../../src/base/bytes.ts'
import {
  EMPTY_TRIE_ROOT,
  emptyTrieRoot,
  encodeRlp,
  type RlpItem,
  verifyTrieProof,
} from '../../../src/verify/anchor/trie.ts'
import { refusal } from '../../refusal.ts'
import { sized } from '../../size.ts'
import { codeOf } from './helpers.ts'

const DIGEST = 32

/**
 * The proof as `eth_getProof` serves it. The oracle also lists nodes that are embedded in their parent. In an L1 proof, a
 * node other than the root is listed only if it has at least 32 bytes.
 */
const served = async (trie: MerklePatriciaTrie, key: Uint8Array): Promise<Uint8Array[]> =>
  (await createMerkleProof(trie, key)).filter((node, index) => index === 0 || node.length >= DIGEST)

/** Keys of 32 bytes: random ones, and ones with many equal bytes, which share long paths. */
const keyArbitrary = fc.oneof(
  fc.uint8Array({ minLength: DIGEST, maxLength: DIGEST }),
  fc
    .tuple(fc.integer({ min: 28, max: 31 }), fc.uint8Array({ minLength: DIGEST, maxLength: DIGEST }))
    .map(([shared, bytes]) => bytes.map((byte, index) => (index < shared ? 0 : byte & 0x33))),
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.uint8Array({ minLength: DIGEST, maxLength: DIGEST }))
    .map(([at, bytes]) => bytes.map((byte, index) => (index === at ? byte & 0x11 : index > at ? 0x55 : 0))),
)
const valueArbitrary = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 2 }),
  fc.uint8Array({ minLength: 1, maxLength: 110 }),
)
const entriesArbitrary = fc.uniqueArray(fc.tuple(keyArbitrary, valueArbitrary), {
  maxLength: 24,
  selector: ([key]) => key.join(),
})

async function growTrie(entries: readonly (readonly [Uint8Array, Uint8Array])[]): Promise<MerklePatriciaTrie> {
  const trie = await createMPT()
  for (const [key, value] of entries) await trie.put(key, value)
  return trie
}

it('accepts every inclusion and exclusion proof of random tries', async () => {
  const counts = { tries: 0, present: 0, absent: 0, embedded: 0 }
  await fc.assert(
    fc.asyncProperty(
      entriesArbitrary,
      fc.array(keyArbitrary, { minLength: 4, maxLength: 4 }),
      async (entries, others) => {
        const trie = await growTrie(entries)
        const root = trie.root()
        counts.tries++
        for (const [key, value] of entries) {
          const proof = await served(trie, key)
          expect(verifyTrieProof(root, key, proof)).toEqual(value)
          if ((await createMerkleProof(trie, key)).length > proof.length) counts.embedded++
          counts.present++
        }
        for (const key of others.filter(key => !entries.some(([taken]) => equalBytes(taken, key)))) {
          expect(verifyTrieProof(root, key, await served(trie, key))).toBe(null)
          counts.absent++
        }
      },
    ),
    { seed: 7, numRuns: sized(200) },
  )
  expect(counts.tries).toBe(sized(200))
  expect(counts.present).toBeGreaterThan(800)
  expect(counts.absent).toBeGreaterThan(500)
  expect(counts.embedded).toBeGreaterThan(300)
})

it('refuses every changed proof, at least as strictly as the oracle', async () => {
  const counts = { refused: 0, oracleRefused: 0, oracleLaxer: 0 }
  const bytesChanged = fc.record({ node: fc.nat(), byte: fc.nat(), bit: fc.integer({ min: 0, max: 7 }) })
  await fc.assert(
    fc.asyncProperty(
      entriesArbitrary.filter(entries => entries.length > 1),
      fc.constantFrom('flip', 'drop', 'double', 'swap', 'cut', 'append'),
      bytesChanged,
      async (entries, change, at) => {
        const trie = await growTrie(entries)
        const [key] = entries[0] ?? [new Uint8Array(DIGEST)]
        const proof = await served(trie, key)
        const index = at.node % proof.length
        const node = proof[index] ?? new Uint8Array(0)
        const changes: Record<typeof change, Uint8Array[]> = {
          flip: proof.with(
            index,
            node.map((byte, i) => (i === at.byte % node.length ? byte ^ (1 << at.bit) : byte)),
          ),
          drop: proof.toSpliced(index, 1),
          double: proof.toSpliced(index, 0, node),
          swap: [...proof].reverse(),
          cut: proof.with(index, node.subarray(0, -1)),
          append: [...proof, encodeRlp([Uint8Array.of(0x20), Uint8Array.of(at.bit)])],
        }
        const changed = changes[change]
        if (changed.length === proof.length && changed.every((other, i) => equalBytes(other, proof[i] ?? other))) return
        const code = codeOf(() => verifyTrieProof(trie.root(), key, changed))
        expect(code).toMatch(/^MPT_(HASH_MISMATCH|NODES_MISSING|NODES_UNUSED)$/)
        counts.refused++
        // The oracle ignores the order of nodes and unused nodes: it stores the nodes by their hashes and looks the key up.
        // It takes the root from the first node, so the root is compared here.
        const found = await oracleVerify(trie.root(), key, changed)
        if (found === undefined) counts.oracleRefused++
        else {
          expect(code).not.toBe('MPT_NODES_MISSING')
          expect(found).toEqual(entries[0]?.[1])
          counts.oracleLaxer++
        }
      },
    ),
    { seed: 11, numRuns: sized(300) },
  )
  expect(counts.refused).toBeGreaterThan(225)
  expect(counts.oracleRefused).toBeGreaterThan(75)
  expect(counts.oracleLaxer).toBeGreaterThan(15)
})

/** The value that the oracle reads for the key: null if absent, undefined if the oracle refuses the proof. */
async function oracleVerify(
  root: Uint8Array,
  key: Uint8Array,
  proof: Uint8Array[],
): Promise<Uint8Array | null | undefined> {
  const [first] = proof
  if (first === undefined || !equalBytes(keccak_256(first), root)) return undefined
  try {
    return await verifyMerkleProof(key, proof)
  } catch {
    return undefined
  }
}

it('proves any key absent from the empty trie, with no node or the empty node', () => {
  const key = new Uint8Array(DIGEST)
  const root = emptyTrieRoot()
  expect(bytesToHex(root)).toBe(EMPTY_TRIE_ROOT)
  expect(verifyTrieProof(root, key, [])).toBe(null)
  expect(verifyTrieProof(root, key, [Uint8Array.of(0x80)])).toBe(null)
  expect(codeOf(() => verifyTrieProof(root, key, [Uint8Array.of(0x80), Uint8Array.of(0x80)]))).toBe('MPT_NODES_UNUSED')
  expect(codeOf(() => verifyTrieProof(key, key, []))).toBe('MPT_NODES_MISSING')
})

/** The code that refuses `item` as the root node of a proof for key 0x00...00, or null. */
const verdictOn = (item: RlpItem) => {
  const node = encodeRlp(item)
  return codeOf(() => verifyTrieProof(keccak_256(node), new Uint8Array(DIGEST), [node]))
}
const none = new Uint8Array(0)
const value = Uint8Array.of(1)
const evenPath = (flags: number, nibbles: number): Uint8Array =>
  Uint8Array.of(flags << 4, ...new Uint8Array(nibbles / 2))
const oddPath = (flags: number, nibbles: number): Uint8Array =>
  Uint8Array.of(flags << 4, ...new Uint8Array((nibbles - 1) / 2))
const branch = (...children: RlpItem[]): RlpItem[] => [
  ...children,
  ...new Array<RlpItem>(16 - children.length).fill(none),
  none,
]

it('refuses malformed nodes, even if their hash matches', () => {
  const digest = new Uint8Array(DIGEST)
  expect(verdictOn([evenPath(2, 64), value])).toBe(null)
  expect(verdictOn(branch(none, digest))).toBe(null)
  const malformed: RlpItem[] = [
    value,
    [],
    [evenPath(2, 64)],
    [evenPath(2, 64), value, value],
    new Array<RlpItem>(16).fill(none),
    new Array<RlpItem>(18).fill(none),
    // A leaf whose path is shorter or longer than the key, or whose value is empty or a list.
    [evenPath(2, 62), value],
    [evenPath(2, 66), value],
    [oddPath(3, 63), value],
    [evenPath(2, 64), none],
    [evenPath(2, 64), [value]],
    // An extension without a child, that consumes the whole key, or whose child is not a branch.
    [evenPath(0, 2), none],
    [evenPath(0, 64), digest],
    [evenPath(0, 2), value],
    [evenPath(0, 62), [evenPath(2, 2), value]],
    // A branch with a value, with a child of the wrong length, or with an embedded node of 32 bytes or more.
    [...branch().slice(0, -1), value],
    [...branch().slice(0, -1), []],
    branch(none, value),
    branch(none, new Uint8Array(31)),
    branch(none, new Uint8Array(33)),
    branch(none, [new Uint8Array(30), value]),
    branch(none, [new Uint8Array(29), value]),
    [evenPath(0, 2), [new Uint8Array(29), value]],
    // A child that is an empty list.
    branch([]),
  ]
  for (const [index, item] of malformed.entries()) expect(verdictOn(item), `${index}`).toBe('MPT_NODE_MALFORMED')
})

it('takes a child of less than 32 bytes to be embedded in its parent, and any other to be referenced', () => {
  const sizeOf = (item: RlpItem) => encodeRlp(item).length
  const [longest, tooLong]: RlpItem[] = [
    [new Uint8Array(28), value],
    [new Uint8Array(29), value],
  ]
  expect([longest, tooLong].map(item => sizeOf(item ?? none))).toEqual([31, 32])
  expect(verdictOn(branch(none, longest ?? none))).toBe(null)
  expect(verdictOn(branch(none, tooLong ?? none))).toBe('MPT_NODE_MALFORMED')
})

it('reports the node, what it expects and what it found', () => {
  const errorOf = (...items: RlpItem[]) => {
    const nodes = items.map(item => encodeRlp(item))
    const { code, path, expected, found } = refusal(() =>
      verifyTrieProof(keccak_256(nodes[0] ?? none), new Uint8Array(DIGEST), nodes),
    )
    return [code, path, expected, found]
  }
  const MALFORMED = 'MPT_NODE_MALFORMED'
  const above = (item: RlpItem) => [branch(keccak_256(encodeRlp(item))), item]
  expect(errorOf([none])).toEqual([MALFORMED, '[0]', 'a list of 2 or 17 items', 'a list of 1'])
  expect(errorOf(...above([none, none, none]))).toEqual([MALFORMED, '[1]', 'a list of 2 or 17 items', 'a list of 3'])
  expect(errorOf(...above([evenPath(2, 62), value]))).toEqual([MALFORMED, '[1]', 'a leaf path of 63 nibbles', '62'])
  expect(errorOf([evenPath(0, 64), value])).toEqual([MALFORMED, '[0]', 'an extension of less than 64 nibbles', '64'])
  expect(errorOf([evenPath(2, 64), none])).toEqual([MALFORMED, '[0]', 'a leaf with a value', undefined])
  expect(errorOf(value)).toEqual([MALFORMED, '[0]', 'a list', undefined])
  expect(errorOf(...above(none))).toEqual([MALFORMED, '[1]', 'a node', undefined])
  expect(errorOf(branch(value))).toEqual([MALFORMED, '[0]', 'a child of 0 or 32 bytes', undefined])
  expect(errorOf(branch([]))).toEqual([MALFORMED, '[0]', 'an embedded node of less than 32 bytes', undefined])
  expect(errorOf([evenPath(0, 2), none])).toEqual([MALFORMED, '[0]', 'an extension with a child', undefined])
  expect(errorOf([...branch().slice(0, -1), value])).toEqual([MALFORMED, '[0]', 'a branch without a value', undefined])
  const leaf: RlpItem = [evenPath(2, 62), value]
  // Embedded in the node at [0], which is where it is reported.
  const belowExtension = [MALFORMED, '[0]', 'a branch below an extension', undefined]
  expect(errorOf([evenPath(0, 2), [evenPath(2, 62).subarray(0, 20), value]])).toEqual([
    ...[MALFORMED, '[0]', 'a leaf path of 62 nibbles', '38'],
  ])
  expect(errorOf([evenPath(0, 62), [evenPath(2, 2), value]])).toEqual(belowExtension)
  expect(errorOf([evenPath(0, 2), keccak_256(encodeRlp(leaf))], leaf)).toEqual([
    MALFORMED,
    '[1]',
    ...belowExtension.slice(2),
  ])
  const PATH = 'MPT_PATH_NON_CANONICAL'
  expect(errorOf([none, value])).toEqual([PATH, '[0]', 'a flag from 0 to 3', undefined])
  expect(errorOf([Uint8Array.of(0x21), value])).toEqual([PATH, '[0]', 'a zero nibble before an even path', undefined])
  expect(errorOf([Uint8Array.of(0), value])).toEqual([PATH, '[0]', 'an extension of at least one nibble', undefined])
  const other = encodeRlp([evenPath(2, 64), value])
  expect(refusal(() => verifyTrieProof(new Uint8Array(DIGEST), none, [other]))).toMatchObject({
    code: 'MPT_HASH_MISMATCH',
    path: '[0]',
    expected: `0x${'00'.repeat(32)}`,
    found: bytesToHex(keccak_256(other)),
  })
  expect(refusal(() => verifyTrieProof(keccak_256(other), new Uint8Array(DIGEST), [other, other]))).toMatchObject({
    code: 'MPT_NODES_UNUSED',
    path: '',
    expected: '1 node',
    found: '2',
  })
  expect(refusal(() => verifyTrieProof(new Uint8Array(DIGEST), none, []))).toMatchObject({
    code: 'MPT_NODES_MISSING',
    path: '',
    expected: `a node 0x${'00'.repeat(32)}`,
  })
  expect(
    refusal(() => verifyTrieProof(keccak_256(Uint8Array.of(0x81, 0)), none, [Uint8Array.of(0x81, 0)])),
  ).toMatchObject({
    code: 'RLP_NON_CANONICAL',
    path: '[0]',
    expected: 'one canonical RLP item',
  })
})

it('refuses the empty node below the root', () => {
  const nothing = encodeRlp(none)
  const node = encodeRlp(branch(keccak_256(nothing)))
  expect(codeOf(() => verifyTrieProof(keccak_256(node), new Uint8Array(DIGEST), [node, nothing]))).toBe(
    'MPT_NODE_MALFORMED',
  )
})

it('refuses a branch below the last nibble', () => {
  const nodes = [branch()]
  for (let depth = 0; depth < 64; depth++) nodes.unshift(branch(keccak_256(encodeRlp(nodes[0] ?? []))))
  const proof = nodes.map(node => encodeRlp(node))
  const verdict = codeOf(() => verifyTrieProof(keccak_256(proof[0] ?? none), new Uint8Array(DIGEST), proof))
  expect(verdict).toBe('MPT_NODE_MALFORMED')
})

it('refuses a non-canonical encoding of a path', () => {
  const digest = new Uint8Array(DIGEST)
  const padded = evenPath(2, 64)
  padded[0] = 0x21
  const spelled: RlpItem[] = [
    [padded, value],
    [none, value],
    [[], value],
    [evenPath(0, 0), digest],
  ]
  for (let flags = 4; flags < 16; flags++) spelled.push([evenPath(flags, 64), value])
  for (const [index, item] of spelled.entries()) expect(verdictOn(item), `${index}`).toBe('MPT_PATH_NON_CANONICAL')
  expect(spelled.length).toBe(16)
})

it('refuses a non-canonical encoding of a node', () => {
  const node = Uint8Array.of(...encodeRlp([evenPath(2, 64), value]), 0)
  expect(codeOf(() => verifyTrieProof(keccak_256(node), new Uint8Array(DIGEST), [node]))).toBe('RLP_NON_CANONICAL')
})
