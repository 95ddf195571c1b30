import { isHexOf } from '../cli/words/layout.ts'
import { brief } from '../cli/words/value.ts'
import { beaconRows, formatTime, type Row, sourceWords, timeRow } from '../cli/words/wording.ts'
import type { AccountDiff, BlockDiff } from '../entry/transition.ts'
import type { AnyEvidence } from '../verify/evidence/kinds/state.ts'
import { type Check, type Checked, checksOf, type GroupKey, type Status, statusOfAll } from './checks.ts'
import { isTrieOf, type OpenedFile } from './file.ts'
import { rollupOf } from './inputs.ts'
import { MAX_CHANGES_SHOWN } from './limits.ts'
import { isOwn, type Statement } from './statement.ts'
import { claimWords, type Form, type ProvenState } from './wording.ts'

export interface ChainBox {
  readonly title: string
  readonly layer: 'Beacon chain' | 'Ethereum' | 'Rollup'
  readonly state: Status | 'trusted' | 'assumed'
  /** A hash, address or key, in full; or a few words. */
  readonly value: string
  readonly note: string
  readonly rows: readonly Row[]
  /** The checks that lead to it from the link before. Those of a proof stand with that. */
  readonly checks: readonly Check[]
  /** The proof of the file that leads to it, if there is one. */
  readonly proof: number | null
}

export interface Scene<Proven> {
  readonly statement: Statement
  readonly checked: Checked
  readonly file: OpenedFile
  /** Null if nothing is proven. */
  readonly proven: Proven | null
  readonly address: string
  readonly storageKeys: readonly string[]
  /** How many leaf proofs there are. */
  readonly proofs: number
}

type ProvenWay = Partial<Omit<AnyEvidence, 'account' | 'storage'> & Way>
type Way = Parameters<typeof timeRow>[0] & Parameters<typeof beaconRows>[0]

type MaybeRow = Row | false | undefined

/** Makes links whose state is that of their checks. Where it failed is said of the first link alone, and checks are listed there. */
export function linker({ checked }: { readonly checked: Checked }) {
  const seen = new Set<GroupKey>()
  return (
    layer: ChainBox['layer'],
    title: string,
    groups: readonly GroupKey[],
    value?: string | null,
    note = '',
    rows: readonly MaybeRow[] = [],
  ): ChainBox => {
    const own = groups.filter(group => !seen.has(group))
    for (const group of own) seen.add(group)
    const status = statusOfAll(checked, groups)
    const [proof = null] = own.filter(group => typeof group === 'number')
    return {
      title,
      layer,
      value: value ?? '',
      note,
      proof,
      state: status === 'failed' && own.length === 0 ? 'not reached' : status,
      rows: rows.filter(row => row !== undefined && row !== false),
      checks: checksOf(checked, ...own.filter(group => typeof group !== 'number')),
    }
  }
}

/** The link with the value that the user, or else the file, states. */
export function trustedBox(
  scene: Scene<unknown>,
  layer: ChainBox['layer'],
  title: string,
  rows?: readonly Row[],
): ChainBox {
  const { value, source } = scene.statement.trusted
  const isGiven = isHexOf(32, value)
  const note = isGiven ? sourceWords[source] : 'enter it'
  return {
    ...linker(scene)(layer, title, ['question', 'bundle'], isGiven ? value : '', note, rows),
    state: !isGiven ? 'not reached' : isOwn(source) ? 'trusted' : 'assumed',
  }
}

/** From the trusted value to the L1 state. */
export function trunk(scene: Scene<ProvenWay>): ChainBox[] {
  const { l1Block, beaconBlock } = scene.proven ?? {}
  const link = linker(scene)
  const kind = scene.statement.trustedKind.value
  if (kind === 'l1StateRoot') return [trustedBox(scene, 'Ethereum', 'L1 state')]
  const block: MaybeRow[] = [
    l1Block && ['Number', `${l1Block.number}`],
    l1Block && ['Time', formatTime(l1Block.timestamp)],
  ]
  const stateWith = (rows: typeof block) =>
    link('Ethereum', 'L1 state', ['l1Header'], l1Block?.stateRoot, 'root, in the header', rows)
  if (kind !== 'beaconBlockRoot') return [trustedBox(scene, 'Ethereum', 'L1 block'), stateWith(block)]
  const [, age, committee, signers, , slot] = beaconRows({ beaconBlock })
  const signed = beaconBlock && `${beaconBlock.signers} of 512 signed`
  return [
    trustedBox(scene, 'Beacon chain', 'Checkpoint', age && [age]),
    link('Beacon chain', 'Committees', ['consensus'], signed, 'each signs for the next', [committee, signers]),
    link('Beacon chain', 'Finalized', ['consensus'], beaconBlock?.blockRoot, 'signed', [slot]),
    link('Ethereum', 'L1 block', ['consensus'], l1Block?.hash, 'in the finalized one', block),
    stateWith([]),
  ]
}

/** From the trusted value to the L2 state. */
export function l2Trunk(scene: Scene<ProvenWay>): ChainBox[] {
  const { statement, proven } = scene
  const { stateRoot, l2Block, l2BlockNumber, currentL2BlockNumber: newest, implementation } = proven ?? {}
  if (scene.file.subject === 'answer' || statement.trustedKind.value === 'l2StateRoot') {
    return [trustedBox(scene, 'Rollup', 'L2 state')]
  }
  const link = linker(scene)
  const rows: MaybeRow[] = [
    l2BlockNumber !== undefined && ['L2 block', `${l2BlockNumber}`],
    proven !== null && timeRow({ l1Block: undefined, ...proven }),
    newest !== undefined && ['Last finalized', `${newest}`],
    proven !== null && ['Contract', rollupOf(statement).address],
    implementation !== undefined && ['Code behind its proxy', implementation],
  ]
  const [first, last] = ['kept by the contract on L1', 'root, in the header']
  return isTrieOf(statement.scheme.value)
    ? [
        ...trunk(scene),
        link('Rollup', 'L2 block', ['rollupContract'], l2Block?.hash, first, rows),
        link('Rollup', 'L2 state', ['l2Header'], stateRoot, last),
      ]
    : [...trunk(scene), link('Rollup', 'L2 state', ['rollupContract'], stateRoot, first, rows)]
}

/** From the trusted value to an account and its slots. */
export function drawState(scene: Scene<ProvenState & ProvenWay>): ChainBox[] {
  const { address, storageKeys, proven } = scene
  const link = linker(scene)
  const count = storageKeys.length
  const existing = proven?.storage.filter(({ exists }) => exists).length
  const account = proven === null ? '' : proven.account === null ? 'does not exist' : 'exists'
  const slots = storageKeys.map((_, index) => index + 1)
  const [slot] = proven?.storage ?? []
  const one = slot?.exists ? 'exists' : 'does not exist'
  const note = proven === null ? '' : count === 1 ? one : `${existing} of ${count} exist`
  return [
    ...l2Trunk(scene),
    link('Rollup', 'Account', ['answer', 0], brief(address), account),
    ...(count === 0 ? [] : [link('Rollup', count === 1 ? 'Slot' : 'Slots', slots, `${count} requested`, note)]),
  ]
}

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

export type Changes = ReturnType<typeof changesOf>
/** One of them, in a block of the file, from 1: `what` is a field of the account, or a slot by its key. */
export type Change = Changes['rows'][number]

/** What was only read is left out. */
export function changesOf(blocks: readonly BlockDiff[]) {
  const all = blocks.flatMap(({ accounts }, index) => accounts.flatMap(account => rowsOf(account, index + 1)))
  const accounts = new Set(all.map(({ address }) => address))
  const shown = all.slice(0, MAX_CHANGES_SHOWN)
  return {
    blocks: blocks.length,
    accounts: accounts.size,
    slotChanges: all.filter(({ what }) => what.startsWith('0x')).length,
    count: all.length,
    rows: shown.map(row => ({ ...row, before: brief(row.before), after: brief(row.after) })),
  }
}

/** `before` is empty if there was nothing, and `after` if there is nothing any more. */
function rowsOf({ address, before, after, storage }: AccountDiff, block: number) {
  const event = before === null ? 'created' : after === null ? 'deleted' : 'updated'
  const spell = (fields: object | null, name: string) => (fields === null ? '' : String(Reflect.get(fields, name)))
  const names = Object.keys(before ?? after ?? {})
  const fields = names.map(what => ({ what, before: spell(before, what), after: spell(after, what) }))
  const slots = storage.map(slot => ({ what: slot.key, before: slot.before, after: slot.after }))
  return [...fields, ...slots].filter(row => row.before !== row.after).map(row => ({ block, address, event, ...row }))
}
