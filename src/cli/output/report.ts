import { meaningOf } from '../../base/error-meanings.ts'
import type { Refusal } from '../../base/errors.ts'
import type { AnyState } from '../../verify/state/kind.ts'
import type { Output } from '../command.ts'
import { MAX_JSON_DEPTH } from '../limits.ts'
import { escapeUnprintable, show } from '../words/value.ts'
import { type Verdict, verdictOf } from '../words/verdict.ts'
import { accountRows, type Row } from '../words/wording.ts'
import { clip, formatTable } from './table.ts'
import { paint, paintVerdict } from './verdict.ts'

/** One line of JSON without control characters that a terminal would obey. Bigints become decimal strings. */
export const toJson = (value: unknown): string =>
  // JSON.stringify escapes controls only up to 0x1f.
  `${escapeUnprintable(JSON.stringify(toPlain(value, MAX_JSON_DEPTH)))}\n`

function toPlain(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return clip(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return show(value)
  if (Array.isArray(value)) return value.map(item => toPlain(item, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [clip(name), toPlain(field, depth - 1)]))
}

export interface VerdictReport {
  readonly verdict: Verdict
  readonly json: object
  format(stream: Output): string
}

export const REFUSED = verdictOf(false, {})

export const reportOnError = (error: Refusal, json: object, rows: readonly Row[]): VerdictReport => ({
  verdict: REFUSED,
  json: { ...json, error: describeError(error) },
  format: stream => formatError(error, rows, stream),
})

export function formatState({ account, storage }: AnyState, stdout: Output): string[] {
  const parts: string[] = []
  if (account !== null) {
    parts.push(paint(stdout, 'bold', 'Account'), formatTable(accountRows(account), stdout))
  }
  if (storage.length > 0) {
    const rows = storage.map(({ key, value, exists }) => (exists ? [key, 'present', value] : [key, 'absent']))
    parts.push(paint(stdout, 'bold', 'Storage'), formatTable(rows, stdout))
  }
  return parts
}

export function formatError({ code, path, expected, found }: Refusal, rows: readonly Row[], stream: Output): string {
  const details = Object.entries({ at: path || undefined, expected, found }).flatMap(([name, value]): Row[] =>
    value === undefined ? [] : [[name, value]],
  )
  const verdict = paintVerdict(stream, REFUSED, `Refused: ${code}`)
  return `${verdict}\n${meaningOf(code)}\n${formatTable([...details, ...rows], stream)}\n`
}

export function describeError({ code, action, path, expected, found }: Refusal): object {
  return { code, action, meaning: meaningOf(code), path, expected, found }
}
