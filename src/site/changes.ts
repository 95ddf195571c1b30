import { brief } from '../cli/words/value.ts'
import type { AccountDiff, BlockDiff } from '../entry/transition.ts'
import { MAX_CHANGES_SHOWN } from './limits.ts'

/** What changed between two state roots, as rows of a table. */

/** All changes, counted, and the first of them. */
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
