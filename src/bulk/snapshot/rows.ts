import { fieldIn } from '../../document/value.ts'
import type { StorageSlot } from '../../proof/verify.ts'
import type { SnapshotPart, Target } from './snapshot.ts'

export type RowFormat = 'ndjson' | 'csv'

/** A row of a snapshot. */
export interface SnapshotRow {
  readonly verdict: 'present' | 'absent' | 'refused'
  /** Why it was refused. */
  readonly code?: string
  readonly storage?: readonly StorageSlot[]
  readonly [column: string]: unknown
}

/** How the rows of a snapshot are written, and read again. Rows and the heading are without a line feed. */
export function rowWriter({ contract, storageKeys }: Target, format: RowFormat) {
  const isMapping = contract !== undefined
  const columns = isMapping
    ? ['holder', 'verdict', 'key', 'value', 'number', 'code']
    : ['address', 'verdict', 'nonce', 'balance', 'storageRoot', 'codeHash', 'codeSize', ...storageKeys, 'code']
  const isCsv = format === 'csv'
  return {
    /** undefined if the format has none. */
    heading: isCsv ? columns.join(',') : undefined,
    /** The proven values, one row per holder. */
    rowsOf: (part: SnapshotPart) => (isMapping ? entriesOf(part) : accountsOf(part)),
    textOf: (row: SnapshotRow): string => (isCsv ? toCsv(row, columns) : JSON.stringify(row, toPlain)),
    /** Whether a row says that no answer verified. */
    isRefused: (row: string): boolean => (isCsv ? row.split(',', 2)[1] : verdictIn(row)) === 'refused',
  }
}

function accountsOf(part: SnapshotPart): SnapshotRow[] {
  const { address } = part.request
  if ('refusal' in part) return [{ address, verdict: 'refused', ...part.refusal }]
  const { account, storage } = part.state
  return [{ address, verdict: account === null ? 'absent' : 'present', ...account, storage }]
}

function entriesOf({ request: { holders }, ...part }: SnapshotPart): SnapshotRow[] {
  if ('refusal' in part) return holders.map(holder => ({ holder, verdict: 'refused', ...part.refusal }))
  return part.state.storage.map(({ key, value, exists }, index) => {
    return { holder: holders[index], verdict: exists ? 'present' : 'absent', key, value, number: BigInt(value) }
  })
}

const toPlain = (_: string, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)

/** Nothing in a row needs quotes: it holds only hexadecimal, numbers and fixed names. */
function toCsv(row: SnapshotRow, columns: readonly string[]): string {
  const slots = new Map<string, unknown>((row.storage ?? []).map(({ key, value }) => [key, value]))
  const cells = columns.map(column => (Object.hasOwn(row, column) ? row[column] : slots.get(column)))
  return cells.map(cell => String(cell ?? '')).join(',')
}

function verdictIn(row: string): unknown {
  try {
    return fieldIn(JSON.parse(row), 'verdict')
  } catch {
    return undefined
  }
}
