import { stringify } from '../../base/json/stringify.ts'
import type { AccountDiff } from '../../verify/transition/segment.ts'
import type { BlockDiff } from '../../verify/transition/verify.ts'

/** A field of an account that is different after, or a slot. */
interface Change {
  readonly what: string
  /** Of a slot. */
  readonly key: string
  readonly before: string
  readonly after: string
}

export type RowFormat = 'table' | 'ndjson' | 'csv'

const HEADING = 'block,address,what,key,before,after\n'
export const headingOf = (format: RowFormat): string => (format === 'csv' ? HEADING : '')

/** The slots that changed. What was only read is left out. */
export const changedSlots = ({ storage }: AccountDiff) => storage.filter(({ before, after }) => before !== after)

/** The rows of a block: what it changed. */
export const rowsOf = ({ accounts }: BlockDiff, block: bigint, format: RowFormat): string =>
  accounts
    .filter(({ changed }) => changed)
    .map(account => rowsOfAccount(account, block, format))
    .join('')

function rowsOfAccount(account: AccountDiff, block: bigint, format: RowFormat): string {
  const { address, before, after } = account
  const slots = changedSlots(account)
  if (format === 'ndjson') return `${stringify({ block: `${block}`, ...account, storage: slots })}\n`
  const changes = [...changesOf(account), ...slots.map(slot => ({ what: 'slot', ...slot }))]
  if (format === 'csv') {
    return changes
      .map(({ what, key, before, after }) => `${[block, address, what, key, before, after].join()}\n`)
      .join('')
  }
  const word = before === null ? 'created' : after === null ? 'deleted' : 'updated'
  const lines = changes.map(({ what, key, before, after }) =>
    key === ''
      ? `  ${what.padEnd(13)}  ${before || '-'} -> ${after || '-'}\n`
      : `  ${what} ${key}\n    ${before} -> ${after}\n`,
  )
  return `block ${block}  ${address}  ${word}\n${lines.join('')}`
}

/** The fields that are different. */
function changesOf({ before, after }: AccountDiff): Change[] {
  const names = Object.keys(before ?? after ?? {})
  const spell = (fields: object | null, name: string) => (fields === null ? '' : `${Reflect.get(fields, name)}`)
  return names.flatMap(what => {
    const [was, is] = [spell(before, what), spell(after, what)]
    return was === is ? [] : [{ what, key: '', before: was, after: is }]
  })
}
