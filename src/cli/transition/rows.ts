import type { AccountDiff } from '../../verify/transition/segment.ts'
import type { BlockDiff } from '../../verify/transition/verify.ts'
import { type RowFormat, rowWriter } from '../audit/rows.ts'

export type DiffFormat = 'table' | RowFormat

/** What a block changed, from its end to that of the block before. What it changed and took back again is no row. */
const COLUMNS = ['block', 'address', 'what', 'key', 'beforeBlock', 'afterBlock'] as const
type Change = Partial<Readonly<Record<(typeof COLUMNS)[number], string>>>

const HEADING = 'Net changes of each block. Only what they come to is proven: the way from one root to the other.\n'

export function diffWriter(format: DiffFormat) {
  const { heading, lineOf } = format === 'table' ? { heading: HEADING, lineOf: toText } : rowWriter(COLUMNS, format)
  return {
    heading,
    /** The lines for a block, and how many accounts and slots it changed. */
    linesOf({ accounts }: BlockDiff, block: bigint) {
      const changed = accounts.filter(account => account.changed)
      const changes = changed.flatMap(changesOf)
      return {
        lines: changes.map(change => lineOf({ block: `${block}`, ...change })).join(''),
        accountChanges: changed.length,
        slotChanges: changes.filter(({ what }) => what === 'slot').length,
      }
    },
  }
}

/** The fields of an account that are different, and its slots. What was only read is left out. */
function changesOf({ address, before, after, storage }: AccountDiff): Change[] {
  const fields = Object.keys(before ?? after ?? {}).map(what => {
    const spell = (account: object | null) => account && `${Reflect.get(account, what)}`
    return { what, before: spell(before), after: spell(after) }
  })
  return [...fields, ...storage.map(slot => ({ what: 'slot', ...slot }))].flatMap(({ before, after, ...of }) =>
    before === after
      ? []
      : [
          {
            address,
            ...of,
            ...(before !== null && { beforeBlock: before }),
            ...(after !== null && { afterBlock: after }),
          },
        ],
  )
}

function toText({ block, address, what = '', key, beforeBlock = '-', afterBlock = '-' }: Change): string {
  const place = key === undefined ? what.padEnd(13) : `${what} ${key}\n   `
  return `block ${block}  ${address}  ${place} ${beforeBlock} -> ${afterBlock}\n`
}
