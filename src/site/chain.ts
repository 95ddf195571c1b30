import { isHexOf } from '../cli/words/layout.ts'
import { brief, hasFields } from '../cli/words/value.ts'
import { beaconRows, formatTime, type Row, sourceWords, timeRow } from '../cli/words/wording.ts'
import type { VerifiedMessage } from '../entry/messages.ts'
import type { ProvenBeaconBlock } from '../verify/evidence/types.ts'
import { type Check, type Checked, checksOf, type GroupKey, type Status, statusOfAll } from './checks.ts'
import { rollupOf } from './inputs.ts'
import { isTrieOf, type OpenedFile } from './opened-file.ts'
import { isOwn, type Statement } from './statement.ts'
import { claimWords, type Form, type ProvenState } from './wording.ts'

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

/** How far the checks have come. */
export interface Progress {
  readonly statement: Statement
  readonly checked: Checked
}

/** What there is to draw. */
export interface Scene<Proven> extends Progress {
  readonly file: OpenedFile
  /** Null if nothing is proven. */
  readonly proven: Proven | null
  readonly address: string
  readonly storageKeys: readonly string[]
  /** How many leaf proofs there are. */
  readonly proofs: number
}

/** What is proven on the way from the trusted value to a block of L2. */
interface ProvenWay extends Partial<Parameters<typeof timeRow>[0]> {
  readonly beaconBlock?: ProvenBeaconBlock | undefined
  readonly stateRoot?: string | undefined
  readonly implementation?: string | undefined
  readonly l2BlockNumber?: bigint | undefined
  readonly currentL2BlockNumber?: bigint | undefined
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
function trunk(scene: Scene<ProvenWay>): ChainBox[] {
  const { file, statement, proven } = scene
  const { l1Block, beaconBlock } = proven ?? {}
  const link = linker(scene)
  const kind = statement.trustedKind.value
  if (file.subject === 'answer') return [leftOut(link)]
  if (kind === 'l2StateRoot') return [leftOut(link, 'not needed from here')]
  if (kind === 'l1StateRoot') return [trustedBox(scene, 'Ethereum', 'L1 state')]
  const block: readonly Row[] = l1Block
    ? [
        ['Number', `${l1Block.number}`],
        ['Time', formatTime(l1Block.timestamp)],
      ]
    : []
  const state = { value: l1Block?.stateRoot ?? '', note: 'root, in the header' }
  if (kind !== 'beaconBlockRoot') {
    return [
      trustedBox(scene, 'Ethereum', 'L1 block'),
      link('Ethereum', 'L1 state', ['l1Header'], { ...state, rows: block }),
    ]
  }
  const [, age, committee, signers, , slot] =
    beaconBlock === undefined ? [] : beaconRows({ trustedInput: 'beaconBlockRoot', beaconBlock })
  const rowsOf = (...rows: readonly (Row | undefined)[]) => rows.filter(row => row !== undefined)
  return [
    trustedBox(scene, 'Beacon chain', 'Checkpoint', rowsOf(age)),
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
    link('Ethereum', 'L1 state', ['l1Header'], state),
  ]
}

/** From the trusted value to the L2 state. */
function l2Trunk(scene: Scene<ProvenWay>): ChainBox[] {
  const { statement, proven } = scene
  const { stateRoot: value = '', l2Block } = proven ?? {}
  const link = linker(scene)
  const way = trunk(scene)
  if (statement.trustedKind.value === 'l2StateRoot') return [...way, trustedBox(scene, 'Rollup', 'L2 state')]
  const rows = proven === null ? [] : contractRows(proven, rollupOf(statement).address)
  const contract = { note: 'kept by the contract on L1', rows }
  if (!isTrieOf(statement.scheme.value)) {
    return [...way, link('Rollup', 'L2 state', ['rollupContract'], { value, ...contract })]
  }
  return [
    ...way,
    link('Rollup', 'L2 block', ['rollupContract'], { value: l2Block?.hash ?? '', ...contract }),
    link('Rollup', 'L2 state', ['l2Header'], { value, note: 'root, in the header' }),
  ]
}

function contractRows(proven: ProvenWay, contract: string): Row[] {
  const { currentL2BlockNumber: newest, l2BlockNumber, implementation } = proven
  const rows: (Row | false)[] = [
    l2BlockNumber !== undefined && ['L2 block', `${l2BlockNumber}`],
    timeRow({ l1Block: undefined, ...proven }),
    newest !== undefined && ['Last finalized', `${newest}`],
    ['Contract', contract],
    implementation !== undefined && ['Code behind its proxy', implementation],
  ]
  return rows.filter(row => row !== false)
}

/** From the trusted value to an account and its slots. */
export function drawState(scene: Scene<ProvenState & ProvenWay>): ChainBox[] {
  const { address, storageKeys, proven } = scene
  const link = linker(scene)
  const count = storageKeys.length
  const existing = proven?.storage.filter(({ exists }) => exists).length
  return [
    ...l2Trunk(scene),
    link('Rollup', 'Account', ['answer', 0], {
      ...{ value: brief(address), proof: 0, lists: ['answer'] as const },
      note: proven === null ? '' : proven.account === null ? 'does not exist' : 'exists',
    }),
    ...(count === 0
      ? []
      : [
          link(
            'Rollup',
            count === 1 ? 'Slot' : 'Slots',
            storageKeys.map((_, index) => index + 1),
            {
              ...{ proof: 1, lists: [], value: `${count} requested` },
              note: proven === null ? '' : `${existing} of ${count} exist`,
            },
          ),
        ]),
  ]
}

/** What the links of logs say. */
export type LogsWords = Readonly<Record<'newest' | 'blocks' | 'ruledOut' | 'logs' | 'range', string>>

/** From the trusted value to the logs of a range. @param words null if nothing is proven */
export function drawLogs(scene: Scene<ProvenWay>, words: LogsWords | null): ChainBox[] {
  const { newest = '', blocks: value = '', ruledOut = '', logs = '', range = '' } = words ?? {}
  const link = linker(scene)
  const blocks = link('Rollup', 'Blocks', ['history', 'blocks'], { value, note: ruledOut })
  // The state holds the hash of the newest block, unless L1 does.
  const hash = { proof: 1, value: newest, note: 'kept in the state', lists: ['answer'] as const }
  return [
    ...l2Trunk(scene),
    ...(scene.proofs > 0 ? [link('Rollup', 'Block hash', ['answer', 0, 1], hash)] : []),
    blocks,
    link('Rollup', 'Logs', ['history', 'blocks'], {
      ...{ value: logs, note: range, lists: [] },
      // They follow from the blocks. What they follow from is refused, not they.
      ...(blocks.state === 'failed' && { state: 'not reached' as const }),
    }),
  ]
}

/** From the trusted value to a message. @param status in words */
export function drawMessage(scene: Scene<VerifiedMessage>, status: string): ChainBox[] {
  const { messageProof, messageHash = '', implementation } = scene.proven ?? {}
  const isFromL2 = hasFields(scene.file.bundle, 'messageProof')
  const link = linker(scene)
  return [
    ...trunk(scene),
    link('Ethereum', isFromL2 ? 'Tree' : 'Rolling hash', ['rollupContract'], {
      value: messageProof?.root ?? '',
      note: isFromL2 ? 'its root, kept by the contract' : 'kept by the contract',
      rows: implementation === undefined ? [] : [['Code behind the proxy', implementation]],
    }),
    link('Rollup', 'Message', [isFromL2 ? 'place' : 'rollupContract'], {
      ...{ value: messageHash, note: status, lists: isFromL2 ? ['place'] : [] },
    }),
  ]
}

/** From one state root to another. @param note who states the second; empty if it is not known */
export function drawTraces(scene: Scene<{ readonly stateRoot: string }>, note: string): ChainBox[] {
  const link = linker(scene)
  return [
    leftOut(link),
    trustedBox(scene, 'Rollup', 'State before'),
    link('Rollup', 'Traces', ['answer'], { value: scene.file.holds, note: 'every account and slot' }),
    link('Rollup', 'State after', ['answer'], { value: scene.proven?.stateRoot ?? '', note, lists: [] }),
  ]
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
