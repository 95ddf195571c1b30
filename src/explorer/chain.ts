import type { VerifiedEvidence } from '../anchor.ts'
import { isHexOf } from '../document/layout.ts'
import { formatTime, sourceWords } from '../document/wording.ts'
import type { VerifiedState } from '../index.ts'
import type { Step } from './checks.ts'
import type { ChainBox, ProofSummary, Statement, Status } from './messages.ts'

/** The input of {@link drawChain}. */
export interface ChainInput {
  readonly isBundle: boolean
  readonly statement: Statement
  readonly steps: readonly Step[]
  readonly failed: number
  /** What was proven; null if something was refused, or nothing was verified. */
  readonly state: VerifiedState | VerifiedEvidence | null
  readonly proofs: readonly ProofSummary[]
}

/** The chain of trust from L1 down to the slots. Boxes that the file or the trusted input leaves out are marked. */
export function drawChain({ isBundle, statement, steps, failed, state, proofs }: ChainInput): ChainBox[] {
  const { trustedKind, trusted } = statement
  const isFromBeacon = trustedKind.value === 'beaconBlockRoot'
  const isGiven = isHexOf(32, trusted.value)
  const start =
    isBundle && !isFromBeacon
      ? ['l1BlockHash', 'l1StateRoot', 'l2StateRoot'].indexOf(trustedKind.value)
      : isFromBeacon
        ? -1
        : 2
  const statusOf = (group: Step['group']): Status => {
    const own = steps.flatMap((step, index) => (step.group === group ? [index] : []))
    if (own.includes(failed)) return 'failed'
    return failed > (own.at(-1) ?? Number.POSITIVE_INFINITY) ? 'passed' : 'not reached'
  }
  const evidence = state !== null && 'reach' in state ? state : null
  const l1Block = evidence?.l1Block ?? null
  const box = (place: number, title: string, status: Status, values: readonly string[], note = ''): ChainBox => ({
    title,
    state: place === start ? (isGiven ? 'trusted' : 'not reached') : place < start ? 'left out' : status,
    values: place === start ? (isGiven ? [trusted.value] : []) : place < start ? [] : values,
    note: place === start ? (isGiven ? sourceWords[trusted.source] : 'enter it under “What you know”') : note,
    tree: null,
  })
  const slots = proofs.slice(1)
  const slotStatus = ['failed', 'not reached', 'passed'].find(one => slots.some(({ status }) => status === one))
  const account = state?.account ?? null
  const beaconBlock = evidence?.reach === 'beaconBlockRoot' ? evidence.beaconBlock : null
  const consensus = statusOf('consensus')
  /** Shown only if the proof starts from a beacon checkpoint. */
  const beaconBoxes = [
    box(-1, 'Beacon checkpoint', 'not reached', []),
    box(
      0,
      'Sync committees',
      consensus,
      [],
      beaconBlock === null
        ? 'each committee signs for the next'
        : `${beaconBlock.signers} of the 512 members of period ${beaconBlock.period} signed`,
    ),
    box(
      0,
      'Finalized beacon block',
      consensus,
      beaconBlock === null ? [] : [beaconBlock.blockRoot],
      beaconBlock === null
        ? 'signed by the last committee'
        : `slot ${beaconBlock.slot}, of ${formatTime(beaconBlock.slotTimestamp)}`,
    ),
  ]
  return [
    ...(isFromBeacon ? beaconBoxes : []),
    box(
      0,
      'L1 block hash',
      consensus,
      beaconBlock === null || l1Block === null ? [] : [l1Block.hash],
      isFromBeacon ? 'from the finalized beacon block' : '',
    ),
    box(
      1,
      'L1 state root',
      statusOf('header'),
      l1Block === null ? [] : [l1Block.stateRoot],
      l1Block === null
        ? 'from the L1 block header'
        : `from the header of L1 block ${l1Block.number}, of ${formatTime(l1Block.timestamp)}`,
    ),
    box(
      2,
      'L2 state root',
      statusOf('contract'),
      evidence === null ? [] : [evidence.stateRoot],
      evidence?.l2BlockNumber == null
        ? 'from the rollup contract on L1'
        : `from the rollup contract on L1, for L2 block ${evidence.l2BlockNumber}`,
    ),
    {
      title: 'Account',
      state: statusOf(0),
      values: [proofs[0]?.key ?? ''].filter(text => text !== ''),
      note: account === null ? (proofs[0]?.outcome ?? '') : `exists, at leaf ${account.leafIndex}`,
      tree: 'tree of accounts',
    },
    {
      title: 'Slots',
      state: slots.length === 0 ? 'left out' : ((slotStatus ?? 'not reached') as Status),
      values: account === null || slots.length === 0 ? [] : [`storage root ${account.storageRoot}`],
      note:
        slots.length === 0
          ? 'none requested'
          : state === null
            ? `${slots.length} requested`
            : `${slots.filter(({ value }) => value !== '').length} of ${slots.length} exist`,
      tree: "tree of the account's slots",
    },
  ]
}
