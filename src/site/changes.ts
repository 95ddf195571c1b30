import { brief } from '../cli/words/value.ts'
import type { AccountDiff, BlockDiff } from '../entry/transition.ts'
import { MAX_CHANGES_SHOWN } from './limits.ts'

/** What changed between two state roots, as rows of a table. */

export interface Change {
  /** From 1, in the file. */
  readonly block: number
  readonly address: string
  /** What happened to the account in the block. */
  readonly event: 'created' | 'deleted' | 'updated'
  /** A field of the account, or a slot by its key. */
  readonly what: string
  /** Empty if there was nothing, or there is nothing any more. */
  readonly before: string
  readonly after: string
}

/** All changes, counted, and the first of them. */
export interface Changes {
  readonly blocks: number
  readonly accounts: number
  readonly slotChanges: number
  readonly count: number
  readonly rows: readonly Change[]
}

/** What was only read is left out. */
export function changesOf(blocks: readonly BlockDiff[]): Changes {
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

function rowsOf({ address, before, after, storage }: AccountDiff, block: number): Change[] {
  const event = before === null ? 'created' : after === null ? 'deleted' : 'updated'
  const spell = (fields: object | null, name: string) => (fields === null ? '' : String(Reflect.get(fields, name)))
  const fields = Object.keys(before ?? after ?? {}).map(what => ({
    ...{ what, before: spell(before, what), after: spell(after, what) },
  }))
  const slots = storage.map(slot => ({ what: slot.key, before: slot.before, after: slot.after }))
  return [...fields, ...slots].filter(row => row.before !== row.after).map(row => ({ block, address, event, ...row }))
}
