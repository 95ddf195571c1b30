import { brief } from '../cli/words/value.ts'
import type { AccountDiff, BlockDiff } from '../entry/transition.ts'
import { CHANGES_PER_STEP } from './limits.ts'

/** What changed between two state roots, as rows of a table that can be searched. */

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

export interface Totals {
  readonly blocks: number
  readonly accounts: number
  readonly accountChanges: number
  readonly slotChanges: number
}

/** Some rows, of all that match a search. */
export interface ChangePage {
  readonly rows: readonly Change[]
  readonly matching: number
}

/** What was only read is left out. */
export const changesOf = (blocks: readonly BlockDiff[]): Change[] =>
  blocks.flatMap(({ accounts }, index) => accounts.flatMap(account => rowsOf(account, index + 1)))

function rowsOf({ address, before, after, storage }: AccountDiff, block: number): Change[] {
  const event = before === null ? 'created' : after === null ? 'deleted' : 'updated'
  const spell = (fields: object | null, name: string) => (fields === null ? '' : String(Reflect.get(fields, name)))
  const fields = Object.keys(before ?? after ?? {}).map(what => ({
    ...{ what, before: spell(before, what), after: spell(after, what) },
  }))
  const slots = storage.map(slot => ({ what: slot.key, before: slot.before, after: slot.after }))
  return [...fields, ...slots].filter(row => row.before !== row.after).map(row => ({ block, address, event, ...row }))
}

export function totalsOf(changes: readonly Change[], blocks: number): Totals {
  const accounts = new Set(changes.map(({ address }) => address))
  const perBlock = new Set(changes.map(({ address, block, event }) => `${block} ${address} ${event}`))
  const slotChanges = changes.filter(({ what }) => what.startsWith('0x')).length
  return { blocks, accounts: accounts.size, accountChanges: perBlock.size, slotChanges }
}

/** The rows in which every word of the search occurs, from the `start`th on. */
export function findChanges(changes: readonly Change[], search: string, start: number): ChangePage {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = (change: Change) => {
    const text = Object.values(change).join(' ').toLowerCase()
    return words.every(word => text.includes(word))
  }
  const all = words.length === 0 ? changes : changes.filter(matches)
  const rows = all.slice(start, start + CHANGES_PER_STEP)
  return {
    rows: rows.map(row => ({ ...row, before: brief(row.before), after: brief(row.after) })),
    matching: all.length,
  }
}
