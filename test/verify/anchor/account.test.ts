import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex, hexToBytes } from '../../../src/base/bytes.ts'
import { verifyEthProof } from '../../../src/entry/anchor.ts'
import { slotKey } from '../../../src/verify/anchor/contract.ts'
import { MAX_NODE_COUNT } from '../../../src/verify/anchor/limits.ts'
import { encodeRlp, type RlpItem } from '../../../src/verify/anchor/trie.ts'
import { loneLeaf, loneProof, loneStorage, named } from '../../../vectors/evidence/l1.ts'
import { refusal, verdict } from '../../refusal.ts'

const address = named('contract', 20)
const none = new Uint8Array(0)
const [storageRoot, codeHash] = [new Uint8Array(32).fill(3), new Uint8Array(32).fill(4)]

/** The outcome of a proof for the only account of a state, whose value is `value`. */
const verdictOn = (value: Uint8Array) => {
  const { stateRoot, proof } = loneProof(loneLeaf(hexToBytes(address, 20), value), [])
  return verdict(() => verifyEthProof(proof, { l1StateRoot: stateRoot, address }))
}

it('reads an account of exactly four fields, in their order', () => {
  const value = encodeRlp([Uint8Array.of(1, 0), Uint8Array.of(2), storageRoot, codeHash])
  const { stateRoot, proof } = loneProof(loneLeaf(hexToBytes(address, 20), value), [])
  expect(verifyEthProof(proof, { l1StateRoot: stateRoot, address }).account).toEqual({
    nonce: 256n,
    balance: 2n,
    storageRoot: `0x${'03'.repeat(32)}`,
    codeHash: `0x${'04'.repeat(32)}`,
  })
})

it('refuses any other account', () => {
  const max = (length: number) => new Uint8Array(length).fill(255)
  expect(verdictOn(encodeRlp([max(8), max(32), storageRoot, codeHash]))).toBe('accepted')
  const malformed: RlpItem[] = [
    none,
    Uint8Array.of(1),
    [],
    [none, none, storageRoot],
    [none, none, storageRoot, codeHash, none],
    [none, none, storageRoot, codeHash, codeHash],
    // Numbers that are too wide, padded, or lists.
    [max(9), none, storageRoot, codeHash],
    [none, max(33), storageRoot, codeHash],
    [Uint8Array.of(0), none, storageRoot, codeHash],
    [none, Uint8Array.of(0, 1), storageRoot, codeHash],
    [[], none, storageRoot, codeHash],
    [none, [], storageRoot, codeHash],
    // Digests of another length, or lists.
    [none, none, max(31), codeHash],
    [none, none, max(33), codeHash],
    [none, none, storageRoot, max(31)],
    [none, none, storageRoot, none],
    [none, none, [], codeHash],
    [none, none, storageRoot, []],
    // Lists of as many items as a digest has bytes.
    [none, none, new Array(32).fill(none), codeHash],
    [none, none, storageRoot, new Array(32).fill(none)],
  ]
  for (const [index, item] of malformed.entries()) {
    expect(verdictOn(encodeRlp(item)), `${index}`).toBe('L1_ACCOUNT_MALFORMED at accountProof')
  }
  expect(malformed.length).toBe(20)
  const { stateRoot, proof } = loneProof(loneLeaf(hexToBytes(address, 20), Uint8Array.of(1)), [])
  expect(refusal(() => verifyEthProof(proof, { l1StateRoot: stateRoot, address })).expected).toBe(
    'nonce, balance, storage root and code hash',
  )
  expect(verdictOn(Uint8Array.of(0xc1))).toBe('RLP_NON_CANONICAL at accountProof')
})

it('reads a slot as a canonical integer from 1 to 2^256 - 1', () => {
  const claim = { address, storageKeys: [slotKey(7n)] }
  const slotOf = (item: RlpItem) => {
    const node = loneLeaf(hexToBytes(slotKey(7n), 32), encodeRlp(item))
    const { stateRoot, proof } = loneStorage(address, 7n, node)
    return () => verifyEthProof(proof, { ...claim, l1StateRoot: stateRoot })
  }
  const ones = `0x${'ff'.repeat(32)}` as const
  expect(slotOf(hexToBytes(ones, 32))().storage).toEqual([{ key: slotKey(7n), value: ones, exists: true }])
  for (const item of [none, Uint8Array.of(0), Uint8Array.of(0, 1), new Uint8Array(33).fill(1), [], [none]]) {
    expect(verdict(slotOf(item))).toBe('L1_VALUE_MALFORMED at storageProof[0].proof')
    expect(refusal(slotOf(item)).expected).toBe('an integer from 1 to 2^256 - 1')
  }
})

/** The nodes of a trie in which the path to `key` has 64 branches, and then a leaf. */
function longestProof(key: Uint8Array, value: Uint8Array): Uint8Array[] {
  const nodes = [encodeRlp([Uint8Array.of(0x20), value])]
  const nibbles = [...key].flatMap(byte => [byte >> 4, byte & 15])
  for (const nibble of nibbles.reverse()) {
    const child = keccak_256(nodes[0] ?? none)
    nodes.unshift(encodeRlp(Array.from({ length: 17 }, (_, index) => (index === nibble ? child : none))))
  }
  return nodes
}

it('accepts a proof of 65 nodes, the most that a path can have, and reads no more', () => {
  expect(MAX_NODE_COUNT).toBe(65)
  const account = encodeRlp([none, none, storageRoot, codeHash])
  const nodes = longestProof(keccak_256(hexToBytes(address, 20)), account)
  expect(nodes.length).toBe(65)
  const claim = { l1StateRoot: bytesToHex(keccak_256(nodes[0] ?? none)), address }
  const proofOf = (accountProof: readonly unknown[]) => () => verifyEthProof({ accountProof, storageProof: [] }, claim)
  const hex = nodes.map(bytesToHex)
  expect(verdict(proofOf(hex))).toBe('accepted')
  expect(verdict(proofOf(hex.slice(0, -1)))).toBe('MPT_NODES_MISSING at accountProof')
  // The 66th is not even read.
  expect(refusal(proofOf([...hex, null]))).toMatchObject({
    code: 'MPT_NODES_UNUSED',
    path: 'accountProof',
    expected: '65 nodes',
    found: '66',
  })
})

it('accepts a node of 532 bytes, a full branch, and reads none that is longer', () => {
  const children = Array.from({ length: 16 }, () => new Uint8Array(32).fill(9))
  const node = encodeRlp([...children, none])
  expect(node.length).toBe(532)
  const stateRoot = bytesToHex(keccak_256(node))
  const verdictOf = (...accountProof: string[]) =>
    verdict(() => verifyEthProof({ accountProof, storageProof: [] }, { l1StateRoot: stateRoot, address }))
  expect(verdictOf(bytesToHex(node))).toBe('MPT_NODES_MISSING at accountProof')
  expect(verdictOf(bytesToHex(new Uint8Array(533)))).toBe('WRONG_LENGTH at accountProof[0]')
})
