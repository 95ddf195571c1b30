// The verifier's side of the tree format: what an answer must satisfy. One `demand` per rule of the specification.
import { integer, type SchemeName, schemes, slice, ZERO } from './hash.ts'
import { emptyRoot, hashAccount, hashAddress, hashFull } from './world.ts'

export type Question = { scheme: SchemeName; stateRoot: string; address: string; storageKeys: string[] }
export type Account = {
  nonce: bigint
  balance: bigint
  storageRoot: string
  snarkCodeHash: string
  codeHash: string
  codeSize: bigint
  leafIndex: number
}
export type Slot = { key: string; value: string; exists: boolean; leafIndex: number | null }
export type Verdict = { account: Account | null; storage: Slot[] }

/** What the answer proves about the question, or 'invalid'. */
export function verify(answer: unknown, question: Question): Verdict | 'invalid' {
  try {
    return read(answer, question)
  } catch {
    return 'invalid'
  }
}

// An answer: the account and its slots.
function read(answer: unknown, question: Question): Verdict {
  const { accountProof, storageProofs } = record(answer)
  const address = bytes(question.address, 20)
  const keys = question.storageKeys.map(key => bytes(key, 32))

  const leaf = proveKey(question.scheme, 'account', address, accountProof, bytes(question.stateRoot, 32))
  const storageRoot = leaf ? slice(leaf.value, 64, 32) : null
  const slotless = storageRoot === null || storageRoot === emptyRoot(schemes[question.scheme])

  const proofs = list(storageProofs)
  demand(proofs.length === keys.length || (slotless && proofs.length === 0))
  const storage = keys.map((key, i) => {
    const proof = proofs[i] ?? null
    demand(proof === null ? slotless : storageRoot !== null)
    const slot = proof === null ? null : proveKey(question.scheme, 'slot', key, proof, storageRoot)
    const value = `0x${slot ? slot.value : ZERO}`
    return { key: `0x${key}`, value, exists: slot !== null, leafIndex: slot ? slot.leafIndex : null }
  })
  return { account: leaf && readAccount(leaf), storage }
}

type Kind = 'account' | 'slot'
type Leaf = { leafIndex: number; prev: bigint; next: bigint; hKey: string; value: string }

// The leaf of a key that exists, or null.
function proveKey(name: SchemeName, kind: Kind, key: string, leafProof: unknown, root: string | null): Leaf | null {
  const served = record(leafProof)
  const { leafIndex, proof, leftLeafIndex, leftProof, rightLeafIndex, rightProof } = served
  const existence = [leafIndex, proof]
  const absence = [leftLeafIndex, leftProof, rightLeafIndex, rightProof]
  const [given, others] = leafIndex === undefined ? [absence, existence] : [existence, absence]
  demand(given.every(part => part !== undefined) && others.every(part => part === undefined))

  const { key: servedKey } = served
  demand(bytes(servedKey, kind === 'account' ? 20 : 32) === key)
  const hKey = (kind === 'account' ? hashAddress : hashFull)(schemes[name], key)

  if (leafIndex !== undefined) {
    const leaf = provePath(name, kind, leafIndex, proof, root)
    demand(leaf.hKey === hKey)
    return leaf
  }
  const left = provePath(name, kind, leftLeafIndex, leftProof, root)
  const right = provePath(name, kind, rightLeafIndex, rightProof, root)
  demand(left.next === BigInt(right.leafIndex) && right.prev === BigInt(left.leafIndex))
  demand(left.hKey < hKey && hKey < right.hKey)
  return null
}

// The leaf at this index under this root, with its value.
function provePath(name: SchemeName, kind: Kind, leafIndex: unknown, proof: unknown, root: string | null): Leaf {
  const { H, isCanonical, readWord, wordLength, TAIL } = schemes[name]
  const { value: servedValue, proofRelatedNodes } = record(proof)

  const nodes = list(proofRelatedNodes).map(node => bytes(node))
  demand(nodes.length === 42)
  const [firstNode = '', siblingLeaf = '', opening = ''] = [nodes[0], nodes[40], nodes[41]]
  const inner = nodes.slice(1, 40)
  demand(firstNode.length === 2 * (wordLength + 32))
  demand(inner.every(node => node.length === 2 * 64))
  demand(opening.length === 2 * (2 * wordLength + 64))
  demand(siblingLeaf.length === opening.length || siblingLeaf === ZERO)

  demand(nodes.every(isCanonical))
  const openingWords = (node: string): bigint[] => [0, wordLength].map(from => readWord(slice(node, from, wordLength)))
  if (siblingLeaf !== ZERO) openingWords(siblingLeaf)
  const [prev = 0n, next = 0n] = openingWords(opening)
  const hKey = slice(opening, 2 * wordLength, 32)
  const hVal = slice(opening, 2 * wordLength + 32, 32)

  demand(typeof leafIndex === 'number' && Number.isInteger(leafIndex) && leafIndex >= 0 && leafIndex < 2 ** 40)
  demand(BigInt(leafIndex) < readWord(slice(firstNode, 0, wordLength)))

  const digests = [...inner.map(H), siblingLeaf === ZERO ? ZERO : H(siblingLeaf)]
  const subRoot = digests.reverse().reduce((running, sibling, level) => {
    const isRight = Math.floor(leafIndex / 2 ** level) % 2 === 1
    return H(isRight ? sibling + running : running + sibling)
  }, H(opening))
  demand(subRoot === slice(firstNode, wordLength, 32))
  demand(H(firstNode) === root)

  // HEAD and TAIL have fixed indices and a zero value.
  demand((hKey === ZERO) === (leafIndex === 0) && (hKey === TAIL) === (leafIndex === 1))
  if (leafIndex < 2) {
    demand(bytes(servedValue, 32) === ZERO && hVal === ZERO)
    return { leafIndex, prev, next, hKey, value: ZERO }
  }
  const value = bytes(servedValue, kind === 'account' ? 192 : 32)
  demand(hVal === (kind === 'account' ? hashAccount : hashFull)(schemes[name], value))
  const leaf = { leafIndex, prev, next, hKey, value }
  if (kind === 'account') readAccount(leaf)
  return leaf
}

// The fields of an account value.
function readAccount({ value, leafIndex }: Leaf): Account {
  const field = (i: number): string => slice(value, 32 * i, 32)
  const [nonce, balance, codeSize] = [integer(field(0)), integer(field(1)), integer(field(5))]
  demand(nonce < 2n ** 64n && codeSize < 2n ** 64n)
  const [storageRoot, snarkCodeHash, codeHash] = [`0x${field(2)}`, `0x${field(3)}`, `0x${field(4)}`]
  return { nonce, balance, storageRoot, snarkCodeHash, codeHash, codeSize, leafIndex }
}

function demand(condition: boolean): asserts condition {
  if (!condition) throw new Error('invalid')
}

function bytes(x: unknown, length?: number): string {
  demand(typeof x === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(x))
  demand(length === undefined || x.length === 2 + 2 * length)
  return x.slice(2).toLowerCase()
}

function record(x: unknown): Record<string, unknown> {
  demand(typeof x === 'object' && x !== null && !Array.isArray(x))
  return { ...x }
}

function list(x: unknown): unknown[] {
  demand(Array.isArray(x))
  return x
}
