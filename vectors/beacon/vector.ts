import type { BeaconNetwork, CheckpointAnswers, Committee } from '../../src/beacon.ts'
import type { ErrorCode, Hex } from '../../src/index.ts'
import type { Flag } from '../vector.ts'

/** Keys as the beacon API sends them. */
export interface ApiCommittee {
  pubkeys: Hex[]
  aggregate_pubkey: Hex
}

/** What the functions of the layer are called with. */
export interface Input {
  network: BeaconNetwork
  blockRoot: Hex
  answers: CheckpointAnswers
  /** The committee that signs the finality update, as it would be stored. */
  committee: Committee
}

export interface Accepted {
  valid: true
  l1BlockHash: Hex
  l1BlockNumber: string | null
  l1Timestamp: string | null
  blockRoot: Hex
  slot: string
  slotTimestamp: string
  signers: number
  period: number
  committeeRoot: Hex
}

export interface Refused {
  valid: false
  code: ErrorCode
}

/** A committee is written as its name in `committees.json`. */
export interface ValidVector {
  description: string
  input: unknown
  expected: Accepted
}

/** Sets what is at the path (names and indices, joined by dots), or cuts the array there to a length. */
export type Patch = { path: string; value: unknown } | { path: string; length: number }

export interface InvalidVector {
  description: string
  flag: Flag
  /** What is called: `verifyCheckpoint` with the answers, or `verifyFinality` with the finality update and the committee. */
  operation: 'verifyCheckpoint' | 'verifyFinality'
  /** The valid vector whose input is changed. */
  base: string
  patches: Patch[]
  expected: Refused
}

/** Puts the committees in where their names are. A name that is not known is an error. */
export function expand(value: unknown, committees: Readonly<Record<string, ApiCommittee>>): unknown {
  if (Array.isArray(value)) return value.map(item => expand(item, committees))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      if (name === 'keys') {
        const { pubkeys, aggregate_pubkey } = structuredClone(named(item, committees))
        return Object.entries({ pubkeys, aggregatePubkey: aggregate_pubkey })
      }
      const isName = name.endsWith('_sync_committee') && typeof item === 'string'
      return [[name, isName ? structuredClone(named(item, committees)) : expand(item, committees)]]
    }),
  )
}

function named(name: unknown, committees: Readonly<Record<string, ApiCommittee>>): ApiCommittee {
  const committee = committees[String(name)]
  if (committee === undefined) throw new Error(`no committee is named ${name}`)
  return committee
}

/** Changes `input`, whose paths lead through objects and arrays: the generator has made them so. */
export function applyPatches(input: unknown, patches: readonly Patch[]): void {
  for (const patch of patches) {
    const names = patch.path.split('.')
    if ('length' in patch) Reflect.set(valueAt(input, names), 'length', patch.length)
    else Reflect.set(valueAt(input, names.slice(0, -1)), names.at(-1) ?? '', patch.value)
  }
}

const valueAt = (input: unknown, names: readonly string[]): object =>
  names.reduce((holder, name) => Reflect.get(holder, name), input as object)
