import type { VerifiedEvidence } from '../anchor.ts'
import type { Link } from '../document/evidence.ts'
import { isHexOf } from '../document/layout.ts'
import { formatTime, sourceWords } from '../document/wording.ts'
import type { VerifiedState } from '../index.ts'
import type { Status, statusesOf } from './checks.ts'
import type { Statement } from './statement.ts'
import { claimWords, type Form } from './wording.ts'

/** One box of the chain of trust. */
export interface ChainBox {
  readonly title: string
  readonly state: Status | 'trusted' | 'left out'
  /** Hashes and addresses in full. */
  readonly values: readonly string[]
  readonly note: string
  /** The tree that proves this box; null for the L2 state root and above. */
  readonly tree: string | null
}

/** One row of the table of proofs: the account first, then the slots. */
export type ProofSummary = ReturnType<typeof summarize>

export function summarize(
  index: number,
  key: string,
  form: Form,
  state: VerifiedState | null,
  status: Status = 'not reached',
) {
  const slot = state?.storage[index - 1]
  const exists = index === 0 ? state?.account !== null : slot?.exists
  const claimed = status === 'failed' ? 'refused' : `claims ${claimWords[form]}`
  return {
    name: index === 0 ? 'Account' : `Slot ${index}`,
    key,
    status,
    outcome: state === null ? claimed : exists ? 'exists' : 'does not exist',
    // 32 bytes; empty unless the slot is proven to exist.
    value: slot?.exists ? slot.value : '',
  }
}

export interface ChainInput {
  readonly isBundle: boolean
  readonly statement: Statement
  readonly statuses: ReturnType<typeof statusesOf>
  /** What was proven; null if something was refused, or nothing was verified. */
  readonly state: VerifiedState | VerifiedEvidence | null
  readonly proofs: readonly ProofSummary[]
}

/** The chain of trust from L1 down to the slots. Boxes that the file or the trusted input leaves out are marked. */
export function drawChain(input: ChainInput): ChainBox[] {
  const { state, statement, isBundle, statuses } = input
  const { trustedKind, trusted } = statement
  const isFromBeacon = trustedKind.value === 'beaconBlockRoot'
  const roots = ['l1BlockHash', 'l1StateRoot', 'l2StateRoot']
  /** The place of the box with the trusted input: -1 is the trusted beacon block. An answer starts at the L2 state root. */
  const start = isFromBeacon ? -1 : isBundle ? roots.indexOf(trustedKind.value) : 2
  const isGiven = isHexOf(32, trusted.value)
  const box = (place: number, title: string, status: Status, value: string | undefined, note: string): ChainBox => {
    const common = { title, tree: null }
    if (place < start) return { ...common, state: 'left out', values: [], note }
    if (place > start) return { ...common, state: status, values: value === undefined ? [] : [value], note }
    return isGiven
      ? { ...common, state: 'trusted', values: [trusted.value], note: sourceWords[trusted.source] }
      : { ...common, state: 'not reached', values: [], note: 'enter it under “What you know”' }
  }
  const evidence = state !== null && 'trustedInput' in state ? state : null
  const l1Block = evidence?.l1Block ?? undefined
  const block = evidence?.trustedInput === 'beaconBlockRoot' ? evidence.beaconBlock : undefined
  const statusOf = (link: Link) => statuses.get(link) ?? 'not reached'
  const consensus = statusOf('consensus')
  const signed = block && `${block.signers} of the 512 members of period ${block.period} signed`
  const slot = block && `slot ${block.slot}, of ${formatTime(block.slotTimestamp)}`
  const header = l1Block && `from the header of L1 block ${l1Block.number}, of ${formatTime(l1Block.timestamp)}`
  const l2Block = evidence?.l2BlockNumber == null ? '' : `, for L2 block ${evidence.l2BlockNumber}`
  const contract = `from the rollup contract on L1${l2Block}`
  const beaconBoxes = [
    box(-1, 'Trusted beacon block', 'not reached', undefined, ''),
    box(0, 'Sync committees', consensus, undefined, signed ?? 'each committee signs for the next'),
    box(0, 'Finalized beacon block', consensus, block?.blockRoot, slot ?? 'signed by the last committee'),
  ]
  return [
    ...(isFromBeacon ? beaconBoxes : []),
    box(0, 'L1 block hash', consensus, block && l1Block?.hash, isFromBeacon ? 'from the finalized beacon block' : ''),
    box(1, 'L1 state root', statusOf('l1Header'), l1Block?.stateRoot, header ?? 'from the L1 block header'),
    box(2, 'L2 state root', statusOf('rollupContract'), evidence?.stateRoot, contract),
    accountBox(input),
    slotsBox(input),
  ]
}

function accountBox({ state, proofs: [proof] }: ChainInput): ChainBox {
  const { key = '', status = 'not reached', outcome = '' } = proof ?? {}
  return {
    title: 'Account',
    state: status,
    values: key === '' ? [] : [key],
    note: state?.account ? `exists, at leaf ${state.account.leafIndex}` : outcome,
    tree: 'tree of accounts',
  }
}

function slotsBox({ state, proofs }: ChainInput): ChainBox {
  const slots = proofs.slice(1)
  const worst = (['failed', 'not reached', 'passed'] as const).find(one => slots.some(({ status }) => status === one))
  const existing = `${slots.filter(({ value }) => value !== '').length} of ${slots.length} exist`
  return {
    title: 'Slots',
    state: worst ?? 'left out',
    values: state?.account && slots.length > 0 ? [`storage root ${state.account.storageRoot}`] : [],
    note: slots.length === 0 ? 'none requested' : state === null ? `${slots.length} requested` : existing,
    tree: "tree of the account's slots",
  }
}
