import { bytesToHex, compareBytes, concatBytes, equalBytes, type Hex, hexToBytes } from '../../../src/base/bytes.ts'
import type { HashScheme } from '../../../src/verify/scheme/scheme.ts'
import type { Proof } from '../../../src/verify/tree/answer.ts'

/** A key in a tree: the index of its leaf and the hashes in it. */
export interface NaiveEntry {
  index: number
  hKey: Uint8Array
  hVal: Uint8Array
}

/** The opening of each leaf by its index, built from the sorted keys as the tree format defines. */
function naiveOpenings(scheme: HashScheme, entries: readonly NaiveEntry[]): Map<number, Uint8Array> {
  const zero = new Uint8Array(32)
  const sorted = [
    { index: 0, hKey: zero, hVal: zero },
    ...[...entries].sort((a, b) => compareBytes(a.hKey, b.hKey)),
    { index: 1, hKey: scheme.tailKey(), hVal: zero },
  ]
  return new Map(
    sorted.map(({ index, hKey, hVal }, place) => {
      const prev = naiveWord(scheme, sorted[place - 1]?.index ?? 0)
      const next = naiveWord(scheme, sorted[place + 1]?.index ?? 1)
      return [index, concatBytes(prev, next, hKey, hVal)]
    }),
  )
}

/** The root of the tree, with all 40 levels built from the leaves up. */
export function naiveRoot(scheme: HashScheme, entries: readonly NaiveEntry[], nextFreeNode: number): Uint8Array {
  const { hash } = scheme.hasher
  let missing = new Uint8Array(32)
  let level = new Map([...naiveOpenings(scheme, entries)].map(([index, opening]) => [index, hash(opening)]))
  for (let depth = 40; depth > 0; depth--) {
    const parents = new Map<number, Uint8Array>()
    for (const index of level.keys()) {
      const parent = Math.floor(index / 2)
      const child = (which: number) => level.get(parent * 2 + which) ?? missing
      if (!parents.has(parent)) parents.set(parent, hash(concatBytes(child(0), child(1))))
    }
    missing = new Uint8Array(hash(concatBytes(missing, missing)))
    level = parents
  }
  return hash(concatBytes(naiveWord(scheme, nextFreeNode), level.get(0) ?? missing))
}

/** The root that a served path leads to, and its leaf. Throws if entry 0 does not match the path. */
export function naiveOpen(scheme: HashScheme, leafIndex: number, proof: Proof): { root: Hex; leaf: NaiveLeaf } {
  const { hash } = scheme.hasher
  if (proof.proofRelatedNodes.length !== 42) throw new Error(`${proof.proofRelatedNodes.length} nodes`)
  const node = (index: number) => {
    const hex = proof.proofRelatedNodes[index] ?? ''
    return hexToBytes(hex, (hex.length - 2) / 2)
  }
  const opening = node(41)
  let running = hash(opening)
  let position = BigInt(leafIndex)
  for (let entry = 40; entry >= 1; entry--) {
    const preimage = node(entry)
    const sibling = preimage.length === 32 ? preimage : hash(preimage)
    running = hash(position % 2n === 1n ? concatBytes(sibling, running) : concatBytes(running, sibling))
    position /= 2n
  }
  const top = node(0)
  if (!equalBytes(top.subarray(-32), running)) throw new Error('the path does not lead to entry 0')
  return { root: bytesToHex(hash(top)), leaf: naiveLeaf(scheme, opening) }
}

export interface NaiveLeaf {
  prev: number
  next: number
  hKey: Hex
  hVal: Hex
}

function naiveLeaf({ wordLength, decodeWord }: HashScheme, opening: Uint8Array): NaiveLeaf {
  const index = (start: number) => {
    const word = decodeWord(opening.subarray(start, start + wordLength))
    return word === null ? Number.NaN : Number(bytesToHex(word))
  }
  const digests = opening.subarray(2 * wordLength)
  return {
    prev: index(0),
    next: index(wordLength),
    hKey: bytesToHex(digests.subarray(0, 32)),
    hVal: bytesToHex(digests.subarray(32)),
  }
}

function naiveWord(scheme: HashScheme, x: number): Uint8Array {
  return scheme.encodeWord(hexToBytes(`0x${x.toString(16).padStart(64, '0')}`, 32))
}
