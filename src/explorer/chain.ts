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
export function drawChain(input: ChainInput): ChainBox[] {
  const { state, statement, isBundle } = input
  const { trustedKind, trusted } = statement
  const isFromBeacon = trustedKind.value === 'beaconBlockRoot'
  const roots = ['l1BlockHash', 'l1StateRoot', 'l2StateRoot']
  /** The place of the box with the trusted input: -1 is the beacon checkpoint. An answer starts at the L2 state root. */
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
  const evidence = state !== null && 'reach' in state ? state : null
  const l1Block = evidence?.l1Block ?? undefined
  const block = evidence?.reach === 'beaconBlockRoot' ? evidence.beaconBlock : undefined
  const consensus = statusOf(input, 'consensus')
  const signed = block && `${block.signers} of the 512 members of period ${block.period} signed`
  const slot = block && `slot ${block.slot}, of ${formatTime(block.slotTimestamp)}`
  const header = l1Block && `from the header of L1 block ${l1Block.number}, of ${formatTime(l1Block.timestamp)}`
  const l2Block = evidence?.l2BlockNumber == null ? '' : `, for L2 block ${evidence.l2BlockNumber}`
  const beaconBoxes = [
    box(-1, 'Beacon checkpoint', 'not reached', undefined, ''),
    box(0, 'Sync committees', consensus, undefined, signed ?? 'each committee signs for the next'),
    box(0, 'Finalized beacon block', consensus, block?.blockRoot, slot ?? 'signed by the last committee'),
  ]
  return [
    ...(isFromBeacon ? beaconBoxes : []),
    box(0, 'L1 block hash', consensus, block && l1Block?.hash, isFromBeacon ? 'from the finalized beacon block' : ''),
    box(1, 'L1 state root', statusOf(input, 'l1Header'), l1Block?.stateRoot, header ?? 'from the L1 block header'),
    box(
      2,
      'L2 state root',
      statusOf(input, 'rollupContract'),
      evidence?.stateRoot,
      `from the rollup contract on L1${l2Block}`,
    ),
    accountBox(input),
    slotsBox(input),
  ]
}

/** Whether a check of the group failed, or all of them passed. */
function statusOf({ steps, failed }: ChainInput, group: Step['group']): Status {
  const own = steps.flatMap((step, index) => (step.group === group ? [index] : []))
  if (own.includes(failed)) return 'failed'
  return failed > (own.at(-1) ?? Number.POSITIVE_INFINITY) ? 'passed' : 'not reached'
}

function accountBox(input: ChainInput): ChainBox {
  const [proof] = input.proofs
  const account = input.state?.account
  return {
    title: 'Account',
    state: statusOf(input, 0),
    values: [proof?.key ?? ''].filter(text => text !== ''),
    note: account ? `exists, at leaf ${account.leafIndex}` : (proof?.outcome ?? ''),
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
