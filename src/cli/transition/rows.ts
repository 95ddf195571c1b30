import type { Hex } from '../../base/bytes.ts'
import { stringify } from '../../base/json/stringify.ts'
import type { AccountDiff } from '../../verify/transition/segment.ts'
import type { BlockDiff } from '../../verify/transition/verify.ts'
import { MAX_TOTALS } from '../audit/limits.ts'

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

/** The rows of a block. What was only read is left out, unless it is wanted. */
export function rowsOf({ accounts }: BlockDiff, block: number | bigint, format: RowFormat, reads: boolean): string {
  const shown = reads ? accounts : accounts.filter(({ changed }) => changed)
  return shown.map(account => rowsOfAccount(account, block, format, reads)).join('')
}

function rowsOfAccount(account: AccountDiff, block: number | bigint, format: RowFormat, reads: boolean): string {
  const { address, before, after, storage } = account
  const slots = reads ? storage : storage.filter(({ before, after }) => before !== after)
  if (format === 'ndjson') return `${stringify({ block: `${block}`, ...account, storage: slots })}\n`
  const changes = [...changesOf(account), ...slots.map(slot => ({ what: 'slot', ...slot }))]
  if (format === 'csv') {
    return changes
      .map(({ what, key, before, after }) => `${[block, address, what, key, before, after].join()}\n`)
      .join('')
  }
  const word =
    before === null
      ? after === null
        ? 'absent'
        : 'created'
      : after === null
        ? 'deleted'
        : account.changed
          ? 'updated'
          : 'read'
  const lines = changes.map(({ what, key, before, after }) =>
    key === ''
      ? `  ${what.padEnd(13)}  ${before || '-'} -> ${after || '-'}\n`
      : `  ${what} ${key}\n    ${before} -> ${after}\n`,
  )
  return `block ${block}  ${address}  ${word}\n${lines.join('')}`
}

/** The fields that are different; of an account that was only read, none. */
function changesOf({ before, after }: AccountDiff): Change[] {
  const names = Object.keys(before ?? after ?? {})
  const spell = (fields: object | null, name: string) => (fields === null ? '' : `${Reflect.get(fields, name)}`)
  return names.flatMap(what => {
    const [was, is] = [spell(before, what), spell(after, what)]
    return was === is ? [] : [{ what, key: '', before: was, after: is }]
  })
}

/** What happened to an account in the whole range. */
export interface AccountTotals {
  readonly address: Hex
  /** In how many blocks it changed. */
  blocks: number
  /** In wei; zero where it does not exist. */
  readonly balanceBefore: bigint
  balanceAfter: bigint
  readonly nonceBefore: bigint
  nonceAfter: bigint
  /** How often a slot changed. */
  slotChanges: number
}

/** Adds up blocks, for the first accounts that change. */
export function createTotals() {
  const totals = new Map<Hex, AccountTotals>()
  const counts = { blocks: 0, traces: 0, accountChanges: 0, slotChanges: 0 }
  let left = 0
  return {
    counts,
    /** How many changes are of accounts that have no totals, because there are too many. */
    left: () => left,
    list: (): AccountTotals[] => [...totals.values()],
    add({ accounts }: BlockDiff, traces: number): void {
      counts.blocks++
      counts.traces += traces
      for (const { address, before, after, changed, storage } of accounts) {
        if (!changed) continue
        const slotChanges = storage.filter(({ before, after }) => before !== after).length
        counts.accountChanges++
        counts.slotChanges += slotChanges
        let own = totals.get(address)
        if (own === undefined) {
          if (totals.size >= MAX_TOTALS) {
            left++
            continue
          }
          const [balanceBefore, nonceBefore] = [before?.balance ?? 0n, before?.nonce ?? 0n]
          own = { address, blocks: 0, balanceBefore, balanceAfter: 0n, nonceBefore, nonceAfter: 0n, slotChanges: 0 }
          totals.set(address, own)
        }
        own.blocks++
        own.balanceAfter = after?.balance ?? 0n
        own.nonceAfter = after?.nonce ?? 0n
        own.slotChanges += slotChanges
      }
    },
  }
}

const TOTALS = [
  'address',
  'blocks',
  'balanceBefore',
  'balanceAfter',
  'nonceBefore',
  'nonceAfter',
  'slotChanges',
] as const

/** The totals as CSV. */
export const totalsRows = (totals: readonly AccountTotals[]): string =>
  [TOTALS, ...totals.map(own => TOTALS.map(name => own[name]))].map(row => `${row.join()}\n`).join('')
