import type { FailureCode } from '../../src/base/errors.ts'
import type { World } from '../../src/devnet/index.ts'
import type { Hex, Scheme } from '../../src/entry/index.ts'
import { type LooseAnswer, type LooseLeafProof, type LooseProof, layoutOf } from '../forge.ts'
import { addressFor, keyFor } from '../vector.ts'
import { CONTRACT, makeLaterWorld, makeWorld, OTHER_CONTRACT, PLAIN } from '../world.ts'

/** A true answer and its question. */
export interface TrueAnswer {
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: LooseAnswer
}

/** A row in the table of a class: a wrong answer, and the verdict that a verifier must give. */
export interface Forgery {
  /** The name of the file. */
  name: string
  code: FailureCode
  description: string
  /** The true answer that the forgery starts from. Default: an account without storage. */
  from?: TrueAnswer
  /** Changes a copy of that answer in place, or returns something else. Default: the answer stays true. */
  forge?: (answer: LooseAnswer) => unknown
  /** Changes to the question that the true answer is for. */
  claim?: { stateRoot?: Hex; address?: Hex; storageKeys?: Hex[] }
}

/** All forgeries of one class. The class is the `flag` in the file. */
export type ForgeryClass = (truth: Truth) => Forgery[]

/** The true answers that forgeries start from. */
export type Truth = ReturnType<typeof makeTruth>

export function makeTruth(scheme: Scheme) {
  const world = makeWorld(scheme)
  const later = makeLaterWorld(world)
  const ask = (state: World, address: Hex, storageKeys: Hex[] = []): TrueAnswer => ({
    stateRoot: state.stateRoot(),
    address,
    storageKeys,
    // The loose type covers both forms of a leaf proof. Each forgery knows which one it has.
    answer: state.getProof(address, storageKeys) as unknown as LooseAnswer,
  })
  const accountProofOf = (address: Hex) => ask(world, address).answer.accountProof
  const slotProofOf = (key: Hex) => slotProof(ask(world, CONTRACT, [key]).answer)
  const absentAddresses = candidates(addressFor).filter(address => isInner(accountProofOf(address)))
  const absentKeys = candidates(keyFor).filter(key => isInner(slotProofOf(key)))
  const [absent, otherAbsent] = findDistinctGaps(absentAddresses, accountProofOf)
  const [absentKey, otherAbsentKey] = findDistinctGaps(absentKeys, slotProofOf)
  return {
    scheme,
    layout: layoutOf(scheme),
    world,
    later,
    ask,
    /** Accounts absent between two others. */
    absentAddresses,
    /** An account without storage, present. */
    plain: ask(world, PLAIN),
    /** A contract with two slots, present. */
    contract: ask(world, CONTRACT, [keyFor(1), keyFor(2)]),
    otherContract: ask(world, OTHER_CONTRACT, [keyFor(1), keyFor(2)]),
    /** Accounts absent between two others, in two different gaps. */
    absent: ask(world, absent),
    otherAbsent: ask(world, otherAbsent),
    /** Slots absent between two others, in two different gaps. */
    absentSlot: ask(world, CONTRACT, [absentKey]),
    otherAbsentSlot: ask(world, CONTRACT, [otherAbsentKey]),
    /** The answers of `contract` and `absent`, one block later. */
    contractLater: ask(later, CONTRACT, [keyFor(1), keyFor(2)]),
    absentLater: ask(later, absent),
  }
}

const candidates = (make: (name: string) => Hex): Hex[] => range(300).map(index => make(`absent ${index}`))

const isInner = ({ leftLeafIndex, rightLeafIndex }: LooseLeafProof) => leftLeafIndex > 1 && rightLeafIndex > 1

/** The first key, and the first other key whose gap shares no neighbour with it. */
function findDistinctGaps(keys: Hex[], prove: (key: Hex) => LooseLeafProof): [Hex, Hex] {
  const gap = (key: Hex) => [prove(key).leftLeafIndex, prove(key).rightLeafIndex]
  const [first] = keys
  const taken = first === undefined ? [] : gap(first)
  const other = keys.find(key => gap(key).every(index => !taken.includes(index)))
  if (first === undefined || other === undefined) throw new Error('no absent keys lie in two gaps')
  return [first, other]
}

/** Storage proof `index` of an answer. Default: 0. */
export function slotProof({ storageProofs }: LooseAnswer, index = 0): LooseLeafProof {
  const proof = storageProofs[index]
  if (proof === undefined) throw new Error(`there is no storage proof ${index}`)
  return proof
}

/** Entry `index` of `proofRelatedNodes`. */
export const nodeOf = ({ proofRelatedNodes }: LooseProof, index: number): string => proofRelatedNodes[index] ?? ''

/** Changes entry `index` of `proofRelatedNodes`. */
export function changeNode(proof: LooseProof, index: number, change: (node: string) => string): void {
  proof.proofRelatedNodes[index] = change(nodeOf(proof, index))
}

export const range = (length: number): number[] => Array.from({ length }, (_, index) => index)
