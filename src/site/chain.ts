import { isHexOf } from '../cli/words/layout.ts'
import { beaconRows, formatTime, type Row, sourceWords } from '../cli/words/wording.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import type { ProvenBeaconBlock } from '../verify/evidence/types.ts'
import { type Check, type Checked, checksOf, type GroupKey, type Status, statusOfAll } from './checks.ts'
import { isOwn, type Statement } from './statement.ts'
import { claimWords, type Form, type ProvenState, type VerifiedAccount } from './wording.ts'

/** One link of the chain of trust. */
export interface ChainBox {
  readonly title: string
  /** Where it belongs. */
  readonly layer: 'Beacon chain' | 'Ethereum' | 'Rollup'
  readonly state: Status | 'trusted' | 'assumed' | 'left out'
  /** A hash, address or key, in full; or a few words. */
  readonly value: string
  readonly note: string
  /** What else it shows. */
  readonly rows: readonly Row[]
  /** The checks that lead to it from the link before. */
  readonly checks: readonly Check[]
  /** The proof of the file that leads to it, if there is one. */
  readonly proof: number | null
}

/** What is proven on the way from the trusted value to L1. */
interface ProvenL1 {
  readonly l1Block?: L1Block | undefined
  readonly beaconBlock?: ProvenBeaconBlock | undefined
}

/** How far the checks have come. */
export interface Progress {
  readonly statement: Statement
  readonly checked: Checked
}

/** Makes links whose state is that of their checks. */
function linker({ checked }: Progress) {
  return (
    layer: ChainBox['layer'],
    title: string,
    groups: readonly GroupKey[],
    parts: Partial<Pick<ChainBox, 'state' | 'value' | 'note' | 'rows' | 'proof'>> & {
      readonly lists?: readonly GroupKey[]
    } = {},
  ): ChainBox => {
    const { lists = groups, ...others } = parts
    const state = statusOfAll(checked, groups)
    const checks = checksOf(checked, ...lists)
    return { ...{ title, layer, state, value: '', note: '', rows: [], checks, proof: null }, ...others }
  }
}

/** The link with the value that the user, or else the file, states. */
function trustedBox(progress: Progress, layer: ChainBox['layer'], title: string, rows: readonly Row[] = []): ChainBox {
  const { trusted } = progress.statement
  const isGiven = isHexOf(32, trusted.value)
  const state = !isGiven ? 'not reached' : isOwn(trusted.source) ? 'trusted' : 'assumed'
  const note = isGiven ? sourceWords[trusted.source] : 'enter it'
  const value = isGiven ? trusted.value : ''
  return { ...linker(progress)(layer, title, ['question', 'bundle'], { value, note, rows }), state }
}

const leftOut = (link: ReturnType<typeof linker>, note = 'not part of this file'): ChainBox =>
  link('Ethereum', 'L1', [], { state: 'left out', note })

/** From the trusted value to the L1 state. */
function trunk(progress: Progress, { l1Block, beaconBlock }: ProvenL1): ChainBox[] {
  const link = linker(progress)
  const kind = progress.statement.trustedKind.value
  if (kind === 'l2StateRoot') return [leftOut(link, 'not needed from here')]
  if (kind === 'l1StateRoot') return [trustedBox(progress, 'Ethereum', 'L1 state')]
  const [, age, committee, signers, , slot] =
    beaconBlock === undefined ? [] : beaconRows({ trustedInput: 'beaconBlockRoot', beaconBlock })
  const rowsOf = (...rows: readonly (Row | undefined)[]) => rows.filter(row => row !== undefined)
  const block: readonly Row[] = l1Block
    ? [
        ['Number', `${l1Block.number}`],
        ['Time', formatTime(l1Block.timestamp)],
      ]
    : []
  const state = link('Ethereum', 'L1 state', ['l1Header'], {
    ...{ value: l1Block?.stateRoot ?? '', note: 'root, in the header' },
    ...(kind === 'beaconBlockRoot' ? {} : { rows: block }),
  })
  if (kind !== 'beaconBlockRoot') return [trustedBox(progress, 'Ethereum', 'L1 block'), state]
  return [
    trustedBox(progress, 'Beacon chain', 'Checkpoint', rowsOf(age)),
    link('Beacon chain', 'Committees', ['consensus'], {
      ...{ value: beaconBlock ? `${beaconBlock.signers} of 512 signed` : '', rows: rowsOf(committee, signers) },
      note: 'each signs for the next',
    }),
    link('Beacon chain', 'Finalized', ['consensus'], {
      ...{ value: beaconBlock?.blockRoot ?? '', note: 'signed', rows: rowsOf(slot), lists: [] },
    }),
    link('Ethereum', 'L1 block', ['consensus'], {
      ...{ value: l1Block?.hash ?? '', note: 'in the finalized one', rows: block, lists: [] },
    }),
    state,
  ]
}

/** What a proof leads to, on the way to a state of L2. */
export interface L2Chain extends Progress, ProvenL1 {
  readonly isBundle: boolean
  readonly isEthereum: boolean
  readonly l2: {
    readonly stateRoot: string
    readonly blockHash?: string | undefined
    readonly rows: readonly Row[]
  } | null
}

/** From the trusted value to the L2 state. */
function l2Trunk(input: L2Chain): ChainBox[] {
  const { isBundle, isEthereum, l2, statement } = input
  const link = linker(input)
  const isTrusted = !isBundle || statement.trustedKind.value === 'l2StateRoot'
  const { stateRoot = '', blockHash = '', rows = [] } = l2 ?? {}
  const contract = { note: 'kept by the contract on L1', rows }
  return [
    ...(isBundle ? trunk(input, input) : [leftOut(link)]),
    ...(isTrusted
      ? [trustedBox(input, 'Rollup', 'L2 state')]
      : isEthereum
        ? [
            link('Rollup', 'L2 block', ['rollupContract'], { value: blockHash, ...contract }),
            link('Rollup', 'L2 state', ['l2Header'], { value: stateRoot, note: 'root, in the header' }),
          ]
        : [link('Rollup', 'L2 state', ['rollupContract'], { value: stateRoot, ...contract })]),
  ]
}

export interface LogsChain extends L2Chain {
  /** The index of the proof that the blocks are: after those of the slot of the newest one's hash, unless L1 holds that. */
  readonly proof: number
  readonly words: Readonly<Record<'newest' | 'blocks' | 'ruledOut' | 'logs' | 'range', string>>
}

export function drawLogs(input: LogsChain): ChainBox[] {
  const { proof, words } = input
  const link = linker(input)
  const blocks = link('Rollup', 'Blocks', ['history', 'blocks'], {
    proof,
    value: words.blocks,
    note: words.ruledOut,
    lists: [],
  })
  return [
    ...l2Trunk(input),
    ...(proof > 0
      ? [
          link('Rollup', 'Block hash', ['answer', 0, 1], {
            ...{ proof: 1, value: words.newest, note: 'kept in the state', lists: ['answer'] as const },
          }),
        ]
      : []),
    blocks,
    link('Rollup', 'Logs', ['history', 'blocks'], {
      ...{ value: words.logs, note: words.range, lists: [] },
      // They follow from the blocks. What they follow from is refused, not they.
      ...(blocks.state === 'failed' && { state: 'not reached' as const }),
    }),
  ]
}

/** What a proof of a state leads to. */
export interface StateChain extends L2Chain {
  readonly address: string
  /** The account; null if it does not exist, undefined if nothing is proven. */
  readonly account: VerifiedAccount | null | undefined
  /** How many slots there are, and how many are proven to exist. */
  readonly slots: { readonly count: number; readonly existing: number }
}

export function drawState(input: StateChain): ChainBox[] {
  const { address, account, slots } = input
  const link = linker(input)
  const keys = Array.from({ length: slots.count }, (_, index) => index + 1)
  return [
    ...l2Trunk(input),
    link('Rollup', 'Account', ['answer', 0], {
      ...{ value: address, proof: 0, lists: ['answer'] as const },
      note: account === undefined ? '' : account === null ? 'does not exist' : 'exists',
    }),
    ...(slots.count === 0
      ? []
      : [
          link('Rollup', slots.count === 1 ? 'Slot' : 'Slots', keys, {
            ...{ proof: 1, lists: [] },
            value: `${slots.count} requested`,
            note: account === undefined ? '' : `${slots.existing} of ${slots.count} exist`,
          }),
        ]),
  ]
}

export interface MessageChain extends Progress, ProvenL1 {
  readonly isFromL2: boolean
  /** The root of the tree. */
  readonly root: string
  readonly messageHash: string
  readonly status: string
  readonly rows: readonly Row[]
}

export function drawMessage(input: MessageChain): ChainBox[] {
  const { isFromL2, root, messageHash, status, rows } = input
  const link = linker(input)
  const contract = link('Ethereum', isFromL2 ? 'Tree' : 'Rolling hash', ['rollupContract'], {
    ...{ value: root, rows, note: isFromL2 ? 'its root, kept by the contract' : 'kept by the contract' },
  })
  const message = link('Rollup', 'Message', isFromL2 ? ['place'] : ['rollupContract'], {
    ...{ value: messageHash, note: status, proof: isFromL2 ? 0 : null, lists: [] },
  })
  return [...trunk(input, input), contract, message]
}

export interface TracesChain extends Progress {
  readonly holds: string
  readonly endRoot: string
  readonly note: string
}

export function drawTraces(input: TracesChain): ChainBox[] {
  const { holds, endRoot, note } = input
  const link = linker(input)
  return [
    leftOut(link),
    trustedBox(input, 'Rollup', 'State before'),
    link('Rollup', 'Traces', ['answer'], { value: holds, note: 'every account and slot' }),
    link('Rollup', 'State after', ['answer'], { value: endRoot, note, lists: [] }),
  ]
}

/** What the page cannot verify. */
export function drawUnverified(progress: Progress, titles: readonly string[]): ChainBox[] {
  const link = linker(progress)
  return titles.map(title => link(title.startsWith('L1') ? 'Ethereum' : 'Rollup', title, ['answer'], { lists: [] }))
}

/** One row of the table of proofs: the account first, then the slots. */
export type ProofSummary = ReturnType<typeof summarize>

export function summarize(
  index: number,
  key: string,
  form: Form,
  state: { readonly account: object | null; readonly storage: ProvenState['storage'] } | null,
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
