import { existsSync, readFileSync } from 'node:fs'
import { bigintToBytes } from '../../../src/base/bytes.ts'

/** A stream of numbers that is the same in every run: the upper bits of a 64-bit linear congruential generator. */
export function randomStream(seed: bigint): () => bigint {
  let state = seed
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
    return state >> 16n
  }
}

/** Makes messages of canonical elements; every third element is one of `edges`. */
export function messageMaker(order: bigint, elementLength: number, edges: readonly bigint[], seed: bigint) {
  const next = randomStream(seed)
  const element = () => {
    if (next() % 3n === 0n) return edges[Number(next() % BigInt(edges.length))] ?? 0n
    const wide = Array.from({ length: 6 }, next).reduce((sum, x) => (sum << 48n) | x, 0n)
    return wide % order
  }
  return (length: number): Uint8Array => {
    const message = new Uint8Array(length)
    for (let offset = 0; offset < length; offset += elementLength) {
      message.set(bigintToBytes(element(), elementLength), offset)
    }
    return message
  }
}

interface KnownAnswers {
  readonly mimc: readonly { readonly blocks: readonly string[]; readonly digest: string }[]
  readonly poseidon2: readonly { readonly message: string; readonly digest: string }[]
  readonly mimcTree: { readonly all_leaves_missing_sub_root: string }
  readonly poseidon2Tree: { readonly empty_sub_root: string }
}

/** Answers of other implementations, kept beside this repository. If they are missing, prints a note and returns null. */
export function knownAnswers(): KnownAnswers | null {
  const file = new URL('../../../../shared/vectors/known-answers.json', import.meta.url)
  // The file has this shape. If it does not, a test fails on undefined.
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as KnownAnswers
  console.log('known answers: 1 file of answers not found, its checks are skipped')
  return null
}
