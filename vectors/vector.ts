import { createHash } from 'node:crypto'
import type { FailureCode } from '../src/base/errors.ts'
import type { Hex } from '../src/entry/index.ts'

/** One file of the corpus: a question, an answer, and the outcome that a verifier must reach. */
export interface Vector {
  $schema: string
  description: string
  /** Invalid vectors: the class of mistakes that the case detects, one of {@link FLAGS}. */
  flag?: Flag
  scheme: 'mimc' | 'poseidon2'
  /** The trusted root, 32 bytes. */
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  /** The endpoint's answer: a result or a JSON-RPC response. */
  answer: unknown
  expected: ExpectedState | ExpectedFailure
}

/** Every verified field. Numbers that can exceed 2^53 are decimal strings. */
export interface ExpectedState {
  valid: true
  account: {
    nonce: string
    balance: string
    storageRoot: Hex
    codeHash: Hex
    snarkCodeHash: Hex
    codeSize: string
    leafIndex: number
  } | null
  storage: { key: Hex; value: Hex; exists: boolean; leafIndex: number | null }[]
}

export interface ExpectedFailure {
  valid: false
  code: FailureCode
}

/** What accepting a vector with the flag would cost. */
export const FLAGS = {
  Canonicity: 'One value has two encodings: an existing key is "proven" absent, or one proof counts as two.',
  Adjacency: 'Leaves between the two neighbours stay hidden: an existing key is "proven" absent.',
  Ordering: 'The key is not in the gap that is shown: an existing key is "proven" absent.',
  Sentinel: 'Another leaf passes for HEAD or TAIL, which moves an end of the list.',
  Path: 'The leaf is not in the tree, or not in this place: anything can be "proven".',
  Index: 'An index wraps around, is rounded, or points past the existing leaves.',
  Root: 'The proof is of another state, another tree or another account.',
  Binding: 'A proof of something else passes for the answer.',
  Value: 'The value is not the one that the tree commits to, or not one that the tree can hold.',
  Encoding: 'Lenient decoding: the bytes that are checked are not the bytes that were sent.',
  Shape: 'The answer is malformed, and the verifier crashes, hangs or skips a check.',
} as const

export type Flag = keyof typeof FLAGS

/** `length` bytes that look random and are the same in every run. */
export function bytesFor(name: string, length: number): Hex {
  return `0x${createHash('sha512')
    .update(name)
    .digest('hex')
    .slice(0, length * 2)}`
}

export const addressFor = (name: string): Hex => bytesFor(`address ${name}`, 20)
export const keyFor = (name: string | number): Hex => bytesFor(`storage key ${name}`, 32)
export const wordFor = (value: bigint | number): Hex => `0x${value.toString(16).padStart(64, '0')}`
