import { hash } from 'node:crypto'
import { bytesToHex, concatBytes, equalBytes, type Hex, hexToBytes } from '../../src/base/bytes.ts'
import {
  createKind,
  createTree,
  deleteKey,
  proveKey,
  rootOf,
  setValue,
  skipLeaves,
} from '../../src/devnet/world/tree.ts'
import { hasherOf } from '../../src/verify/hash/hasher.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme } from '../../src/verify/scheme/scheme.ts'
import { accountTree, storageTree, type TreeKind } from '../../src/verify/tree/kind.ts'
import { flipBit, type LooseLeafProof, type LooseProof, layoutOf, lift, plantTree, zeros } from '../../vectors/forge.ts'
import { randomOf } from '../random.ts'

export type Kind = 'account' | 'storage'
export const kinds: Record<Kind, TreeKind> = { account: accountTree, storage: storageTree }

/** A leaf proof, and the claim that it has to prove. */
export interface Question {
  scheme: HashScheme
  kind: Kind
  /** 32 bytes. */
  root: Hex
  key: Hex
  proof: LooseLeafProof
}

const md5 = (message: Uint8Array) => Uint8Array.from(hash('md5', message, 'buffer'))
export const toys: HashScheme[] = [
  { ...mimc, hasher: hasherOf(message => concatBytes(new Uint8Array(16), md5(message))) },
  { ...poseidon2, hasher: hasherOf(message => poseidon2.encodeWord(md5(message))) },
].map(scheme => {
  const tree = createTree(createKind(createScheme(scheme), storageTree, (value: Uint8Array) => value))
  return createScheme({ ...scheme, emptyTreeRoot: bytesToHex(rootOf(tree)) })
})

const random = randomOf(38)
export const below = (limit: number) => Math.floor(random() * limit)
export const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
export const randomBytes = (length: number) => Uint8Array.from({ length }, () => below(256))

export function makeValue(kind: Kind): Uint8Array {
  if (kind === 'storage') return concatBytes(new Uint8Array(31), Uint8Array.of(1 + below(255)))
  const word = (length: number) => concatBytes(new Uint8Array(32 - length), randomBytes(length))
  // Elements below both moduli.
  const hash = () => randomBytes(32).map((byte, index) => byte % (index === 0 ? 0x12 : index % 4 === 0 ? 0x7f : 256))
  return concatBytes(word(8), word(9), hash(), hash(), randomBytes(32), word(3))
}

/** An honest tree, with proofs of keys that it has and of keys that it lacks. */
function makeTree(scheme: HashScheme, kind: Kind) {
  let tree = createTree(createKind(scheme, kinds[kind], (value: Uint8Array) => value))
  const keys = Array.from({ length: 1 + below(12) }, () => randomBytes(kinds[kind].keyLength))
  const hashOf = (key: Uint8Array) => kinds[kind].hashKey(scheme, key)
  for (const key of keys) {
    tree = setValue(tree, hashOf(key), makeValue(kind), key)
    if (below(4) === 0) tree = deleteKey(tree, hashOf(pick(keys)))
    if (below(6) === 0) tree = skipLeaves(tree, tree.nextFreeNode + below(pick([4, 2 ** 16, 2 ** 33, 2 ** 36])))
  }
  const root = bytesToHex(rootOf(tree))
  const prove = (key: Uint8Array) => proveKey(tree, key) as unknown as LooseLeafProof
  return { keys, root, prove, hashOf, nextFreeNode: tree.nextFreeNode }
}

const isExistence = (proof: object): boolean => 'proof' in proof
export const partsOf = (proof: LooseLeafProof): LooseProof[] =>
  isExistence(proof) ? [proof.proof] : [proof.leftProof, proof.rightProof]
const lengthOf = (hex: string) => hex.length / 2 - 1

/** Small lies, each about one part of the proof. */
type Change = (proof: LooseLeafProof, part: LooseProof, scheme: HashScheme) => unknown
const someNode = () => pick([0, 1, 1 + below(39), 39, 40, 40, 41, 41])
const changeNode = (part: LooseProof, change: (node: string) => string, at = someNode()) => {
  const node = part.proofRelatedNodes[at]
  if (node !== undefined) part.proofRelatedNodes[at] = change(node)
}
const changeIndex = (proof: LooseLeafProof, change: (index: number) => number) => {
  const names = (['leafIndex', 'leftLeafIndex', 'rightLeafIndex'] as const).filter(name => name in proof)
  const name = pick(names)
  proof[name] = change(proof[name])
}
const flipSome = (hex: string) => (lengthOf(hex) > 0 ? flipBit(hex, below(lengthOf(hex))) : hex)
const liftSome = (scheme: HashScheme) => (hex: string) => {
  const { element } = layoutOf(scheme)
  return lengthOf(hex) < element ? hex : lift(scheme, hex, element * below(Math.floor(lengthOf(hex) / element)))
}
export const changes: Change[] = [
  (_, part) => changeNode(part, flipSome),
  (_, part, scheme) => changeNode(part, liftSome(scheme)),
  (_, part) => changeNode(part, node => `${node}${'00'.repeat(1 + below(32))}`),
  (_, part) => changeNode(part, node => node.slice(0, 2 + 2 * below(lengthOf(node) + 1))),
  (_, part) => changeNode(part, node => zeros(pick([0, 32, lengthOf(node)]))),
  (_, part, scheme) => changeNode(part, () => zeros(pick([32, layoutOf(scheme).opening])), 40),
  (_, part) => changeNode(part, () => pick(part.proofRelatedNodes) ?? '0x'),
  (_, part) => part.proofRelatedNodes.splice(below(42), 1),
  (_, part) => part.proofRelatedNodes.splice(below(42), 0, pick(part.proofRelatedNodes) ?? '0x'),
  (_, part, scheme) => {
    const other = scheme.wordLength === 32 ? [96, 192] : [64, 128]
    changeNode(part, () => zeros(other[0] ?? 0), 0)
    changeNode(part, () => zeros(other[1] ?? 0), 41)
  },
  (_, part) => Object.assign(part, { value: flipSome(part.value) }),
  (_, part) => Object.assign(part, { value: zeros(lengthOf(part.value)) }),
  (_, part) => Object.assign(part, { value: zeros(pick([0, 31, 32, 33, 192])) }),
  (_, part) => Object.assign(part, { value: `0x${'ff'.repeat(lengthOf(part.value))}` }),
  proof => changeIndex(proof, index => index + pick([-1, 1, 2 ** 32, 2 ** 40, 2 ** 53, -(2 ** 40)])),
  proof => changeIndex(proof, index => pick([0, 1, 2, 2 ** 40 - 1, 2 ** 40, -1, 1e300, -index])),
  proof => Object.assign(proof, { key: flipSome(proof.key) }),
  proof => Object.assign(proof, { key: proof.key.slice(0, -2) }),
  proof => {
    if (isExistence(proof)) return
    const { leftProof, rightProof, leftLeafIndex, rightLeafIndex } = proof
    Object.assign(proof, { leftProof: rightProof, rightProof: leftProof })
    Object.assign(proof, { leftLeafIndex: rightLeafIndex, rightLeafIndex: leftLeafIndex })
  },
]

/** The root that the first path leads to, after node 0 is made to fit: only a rule about the content can refuse it then. */
function reRoot(scheme: HashScheme, proof: LooseLeafProof): Hex | null {
  const [part] = partsOf(proof)
  const index = isExistence(proof) ? proof.leafIndex : proof.leftLeafIndex
  const nodes = part?.proofRelatedNodes.map(node => hexToBytes(node, lengthOf(node))) ?? []
  const [node0, leaf, lowest] = [nodes[0], nodes[41], nodes[40]]
  if (!part || !node0 || !leaf || !lowest || nodes.length !== 42 || !(index >= 0 && index < 2 ** 53)) return null
  const { hash, foldPath } = scheme.hasher
  const digest = lowest.length === 32 && equalBytes(lowest, new Uint8Array(32)) ? lowest : hash(lowest)
  const subRoot = foldPath(hash(leaf), [digest, ...nodes.slice(1, 40).reverse().map(hash)], index)
  const fitting = concatBytes(node0.subarray(0, scheme.wordLength), subRoot)
  part.proofRelatedNodes[0] = bytesToHex(fitting)
  return bytesToHex(hash(fitting))
}

function* changedProofs(scheme: HashScheme, kind: Kind): Generator<Question> {
  const { keys, root, prove, hashOf } = makeTree(scheme, kind)
  for (let round = 0; round < 16; round++) {
    const key = pick([...keys, randomBytes(kinds[kind].keyLength)])
    const proof = structuredClone(prove(key))
    for (let times = below(3); times > 0; times--) pick(changes)(proof, pick(partsOf(proof)), scheme)
    const fitting = below(2) === 0 ? reRoot(scheme, proof) : null
    const asked = below(20) === 0 ? pick(keys) : key
    const trusted = below(16) === 0 ? flipBit(root, below(32)) : root
    yield { scheme, kind, root: fitting ?? trusted, key: bytesToHex(asked), proof }
  }
  yield* plantedProofs(scheme, kind, keys, hashOf)
}

/** Trees that nobody honest has, with their true roots: leaves that point anywhere, keys in any order. */
function* plantedProofs(
  scheme: HashScheme,
  kind: Kind,
  keys: readonly Uint8Array[],
  hashOf: (key: Uint8Array) => Uint8Array,
): Generator<Question> {
  const { hash } = scheme.hasher
  const special = () => pick([new Uint8Array(32), scheme.tailKey(), hash(randomBytes(32))])
  const sorted = keys.map(key => ({ key, hKey: hashOf(key) })).sort((a, b) => Buffer.compare(a.hKey, b.hKey))
  const values = [0, 1, 2].map(() => pick([new Uint8Array(32), makeValue(kind), makeValue(kind), largeValue(kind)]))
  const leaves = [{ key: null, hKey: new Uint8Array(32) }, ...sorted, { key: null, hKey: scheme.tailKey() }]
  // At times the tree is full, or says that it is more than full.
  const limit = 2 ** 40
  const free =
    leaves.length + pick([0, 0, 0, -1, 5, limit - leaves.length, limit - leaves.length, limit + 1 - leaves.length])
  const highest = free >= limit ? limit - 1 : leaves.length - 1
  const placeOf = (place: number) => (place === leaves.length - 2 ? highest : place + 1)
  const places = leaves.map((_, place) => (place === 0 ? 0 : place === leaves.length - 1 ? 1 : placeOf(place)))
  const planted = leaves.map(({ key, hKey }, place) => {
    const value = key === null ? new Uint8Array(32) : pick(values)
    const full = value.length === kinds[kind].valueLength ? kinds[kind].valuePreimage(scheme, value) : value
    const [prev = 0, index = 0, next = 1] = [places[place - 1], places[place], places[place + 1]]
    const odd = (often: number) => below(often) === 0
    const link = () => pick([below(4), below(4), limit - 1, limit])
    return {
      index,
      prev: odd(12) ? link() : prev,
      next: odd(12) ? link() : next,
      hKey: bytesToHex(odd(15) ? special() : hKey),
      hVal: bytesToHex(odd(15) ? special() : key === null ? new Uint8Array(32) : hash(full)),
      value: bytesToHex(odd(15) ? new Uint8Array(pick([32, 192])) : value),
    }
  })
  const { root, prove } = plantTree(scheme, planted, free)
  for (let round = 0; round < 24; round++) {
    const place = below(leaves.length)
    const other = pick([Math.min(place + 1, leaves.length - 1), below(leaves.length)])
    const [index = 0, second = 0] = [places[place], places[other]]
    const key = bytesToHex(pick([leaves[place]?.key ?? pick(keys), randomBytes(kinds[kind].keyLength), pick(keys)]))
    const existing = { key, leafIndex: index, proof: prove(index) }
    const absent = {
      key,
      leftLeafIndex: index,
      leftProof: prove(index),
      rightLeafIndex: second,
      rightProof: prove(second),
    }
    yield { scheme, kind, root, key, proof: pick([existing, absent, absent]) as unknown as LooseLeafProof }
  }
}

/** An account whose nonce or code size is too large. */
function largeValue(kind: Kind): Uint8Array {
  const value = makeValue(kind)
  if (kind === 'account') value[pick([23, 183])] = 1
  return value
}

/** Proofs under schemes with the encodings of the real ones and MD5 for a hash: true ones, and true ones changed. */
export function* madeProofs(): Generator<Question> {
  for (let round = 0; ; round++) {
    yield* changedProofs(toys[round % 2] as HashScheme, pick(['account', 'storage'] as const))
  }
}
