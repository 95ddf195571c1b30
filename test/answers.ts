import { isDeepStrictEqual } from 'node:util'
import { createWorld, type World } from '../src/devnet/index.ts'
import {
  type Hex,
  isProofError,
  type ProvenSlot,
  type Scheme,
  type VerifiedState,
  verifyProof,
} from '../src/entry/index.ts'
import { hashAccountKey, hashStorageKey } from '../src/verify/verifier/leaf-api.ts'
import { addressFor, keyFor, wordFor } from '../vectors/vector.ts'
import {
  ACCOUNTS,
  CONTRACT,
  findAbsent,
  makeLaterWorld,
  makeWorld,
  OTHER_CONTRACT,
  PLAIN,
  SLOTS,
} from '../vectors/world.ts'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
/** A place in an answer: names and indices from the outside in. */
export type Place = readonly (string | number)[]

/** A true answer, its question, and the expected state, which comes from the world rather than from a proof. */
export interface TrueAnswer {
  name: string
  scheme: Scheme
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: Json
  truth: VerifiedState
}

/** True answers of every kind, from two consecutive blocks. */
export function trueAnswers(scheme: Scheme): TrueAnswer[] {
  const world = makeWorld(scheme)
  const later = makeLaterWorld(world)
  const present = [...ACCOUNTS, CONTRACT, OTHER_CONTRACT, addressFor('newcomer')]
  const accounts = findAbsent(address => hashAccountKey(scheme, address), addressFor, present)
  const slots = findAbsent(key => hashStorageKey(scheme, key), keyFor, [...SLOTS, keyFor('new')])
  const ask = (name: string, state: World, address: Hex, storageKeys: Hex[] = []): TrueAnswer => {
    const answer = JSON.parse(JSON.stringify(state.getProof(address, storageKeys)))
    const truth = truthOf(state, address, storageKeys)
    return { name, scheme, stateRoot: state.stateRoot(), address, storageKeys, answer, truth }
  }
  return [
    ask('account', world, PLAIN),
    ask('account without storage', world, PLAIN, [keyFor(1)]),
    ask('absent account', world, accounts.between),
    ask('absent account after HEAD', world, accounts.afterHead),
    ask('absent account before TAIL', world, accounts.beforeTail),
    ask('empty state', createWorld(scheme), PLAIN),
    ask('slots', world, CONTRACT, [keyFor(1), keyFor(2)]),
    ask('absent slots', world, CONTRACT, [slots.between, slots.afterHead, slots.beforeTail]),
    ask('slots of another account', world, OTHER_CONTRACT, [keyFor(1), keyFor(2)]),
    ask('another account', world, addressFor('account 4')),
    ask('account of another block', later, PLAIN),
    ask('absent account of another block', later, accounts.between),
    ask('slots of another block', later, CONTRACT, [keyFor(1), keyFor(2)]),
  ]
}

function truthOf(state: World, address: Hex, storageKeys: Hex[]): VerifiedState {
  const account = state.getAccount(address)
  const { accountProof } = state.getProof(address)
  const storage = storageKeys.map((key): ProvenSlot => {
    const value = state.getStorage(address, key)
    if (value === wordFor(0)) return { key, value, exists: false, leafIndex: null }
    const [proof] = state.getProof(address, [key]).storageProofs
    if (!proof || !('leafIndex' in proof)) throw new Error('the slot exists')
    return { key, value, exists: true, leafIndex: proof.leafIndex }
  })
  if (account === null || !('leafIndex' in accountProof)) return { account: null, storage }
  return { account: { ...account, leafIndex: accountProof.leafIndex }, storage }
}

/**
 * Checks the library's promise: any answer is either refused with a ProofError or verified as what the state holds.
 *
 * @returns whether the answer was refused
 */
export function isRefused(
  { truth, scheme, stateRoot, address, storageKeys }: Omit<TrueAnswer, 'name' | 'answer'>,
  answer: unknown,
): boolean {
  try {
    const verified = verifyProof(answer, { scheme, stateRoot, address, storageKeys })
    if (!isDeepStrictEqual(verified, truth)) throw new Error('verified, and not the truth')
    return false
  } catch (error) {
    if (isProofError(error)) return true
    throw error
  }
}

/** Every place in an answer, the answer itself included. */
export function* placesOf(json: Json): Generator<Place> {
  yield []
  if (typeof json !== 'object' || json === null) return
  for (const [name, part] of Object.entries(json)) {
    for (const place of placesOf(part)) yield [Array.isArray(json) ? Number(name) : name, ...place]
  }
}

/** The part at a place, or undefined if the answer has no such place. */
export function partAt(json: Json, place: Place): Json | undefined {
  return place.reduce<Json | undefined>((part, name) => Object(part)[name], json)
}

/** A copy of the answer with the part at a place replaced, or removed if `change` returns undefined. */
export function replaceAt(json: Json, [name, ...rest]: Place, change: (part: Json) => Json | undefined): Json {
  if (name === undefined) return change(json) ?? null
  const inner = partAt(json, [name]) ?? null
  const changed = rest.length === 0 ? change(inner) : replaceAt(inner, rest, change)
  if (Array.isArray(json))
    return changed === undefined ? json.toSpliced(Number(name), 1) : json.with(Number(name), changed)
  const { [name]: _, ...others } = Object(json)
  return changed === undefined ? others : { ...Object(json), [name]: changed }
}

/** Hex with one bit flipped. Bits are counted from the lowest bit of the first byte. */
export function flipBitAt(hex: string, bit: number): string {
  const at = 2 + 2 * Math.floor(bit / 8)
  const byte = Number.parseInt(hex.slice(at, at + 2), 16) ^ (1 << (bit % 8))
  return hex.slice(0, at) + byte.toString(16).padStart(2, '0') + hex.slice(at + 2)
}
