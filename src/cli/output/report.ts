import { styleText } from 'node:util'
import { storageProofsIn } from '../../document/answer.ts'
import { type ClaimWithSources, type Source, statedClaim } from '../../document/claim.ts'
import type { AnswerFile, StatedClaim } from '../../document/input-file.ts'
import { printable, show } from '../../document/value.ts'
import { accountRows, answerNotes, countPaths, type Row, sourceWords } from '../../document/wording.ts'
import { errorMeanings, type ProofError, type SafeVerifiedState, type VerifiedState } from '../../index.ts'
import type { Output } from '../command.ts'
import { MAX_CELL_LENGTH, MAX_COLUMN_WIDTH, MAX_JSON_DEPTH } from '../limits.ts'

export { printable }

/** Adds colour for a terminal, but not for a pipe or under NO_COLOR. */
export const paint = (stream: Output, format: 'bold' | 'green' | 'red' | 'dim', text: string): string =>
  styleText(format, text, { stream })

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** One line of JSON without control characters that a terminal would obey. Bigints become decimal strings. */
export const toJson = (value: unknown): string =>
  // JSON.stringify escapes controls only up to 0x1f. The others occur only inside strings, where an escape means the same.
  `${JSON.stringify(toPlain(value, MAX_JSON_DEPTH)).replace(UNPRINTABLE, text => text.replace(/[\s\S]/g, escapeUnit))}\n`

function toPlain(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return clip(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return show(value)
  if (Array.isArray(value)) return value.map(item => toPlain(item, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [clip(name), toPlain(field, depth - 1)]))
}

/** Rows of cells, in columns as wide as their widest cell. */
export function formatTable(table: readonly (readonly string[])[]): string {
  const rows = table.map(row => row.map(clip))
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.min(MAX_COLUMN_WIDTH, Math.max(widths[column] ?? 0, cell.length))
    }
  }
  return rows
    .map(row => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
}

const clip = (cell: string): string =>
  cell.length <= MAX_CELL_LENGTH ? cell : `${cell.slice(0, MAX_COLUMN_WIDTH)}... (${cell.length} characters)`

/** {@link formatTable} for rows whose values may come from a file. */
export const formatRows = (rows: readonly Row[]): string =>
  formatTable(rows.map(row => row.map((cell = '') => printable(cell))))

/** Who stated each part, as `--json` spells it. */
export const describeSources = (sources: Readonly<Record<string, Source>>): Record<string, string> =>
  Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, source === 'user' ? 'flag' : source]))

/** What was asked, and who stated it. */
function claimRows(
  { scheme, stateRoot, address, storageKeys }: StatedClaim,
  { sources }: ClaimWithSources,
): string[][] {
  const row = (name: string, value: unknown, source: Source) =>
    value === undefined ? [] : [[name, printable(show(value)), sourceWords[source]]]
  return [
    ...row('scheme', scheme, sources.scheme),
    ...row('state root', stateRoot, sources.stateRoot),
    ...row('address', address, sources.address),
    ...row('storage keys', Array.isArray(storageKeys) ? storageKeys.length : storageKeys, sources.storageKeys),
  ]
}

export function formatVerified(
  state: VerifiedState,
  { answer }: AnswerFile,
  claim: ClaimWithSources,
  stdout: Output,
): string {
  const rows = claimRows({ ...claim.claim, scheme: claim.claim.scheme.name }, claim)
  const lines = [
    formatVerdict(state, stdout),
    formatTable(rows),
    ...formatState(state, answer, stdout),
    ...formatNotes(claim, stdout),
  ]
  return `${lines.join('\n')}\n`
}

export const formatVerdict = ({ account }: VerifiedState, stdout: Output): string =>
  paint(stdout, 'green', `Verified: this account ${account === null ? 'does not exist' : 'exists'}.`)

/** The account, its slots, and what was checked to prove them. */
export function formatState(state: VerifiedState, answer: unknown, stdout: Output): string[] {
  const { account, storage } = state
  const parts: string[] = []
  if (account !== null) {
    parts.push(paint(stdout, 'bold', 'Account'), formatRows(accountRows(account)))
  }
  if (storage.length > 0) {
    const rows = storage.map(({ key, value, exists }) => [key, exists ? `present  ${value}` : 'absent'])
    parts.push(paint(stdout, 'bold', 'Storage'), formatTable(rows))
  }
  return [...parts, paint(stdout, 'bold', 'Checked'), ...formatChecks(state, answer)]
}

/** The rules of the specification that were checked for this answer, in plain words. */
function formatChecks(state: VerifiedState, answer: unknown): string[] {
  const { account, storage } = state
  const paths = countPaths(state, answer)
  const isPresent = account !== null || storage.some(({ exists }) => exists)
  const isAbsent = paths.account + paths.storage > (account ? 1 : 0) + storage.filter(({ exists }) => exists).length
  const implied = storage.filter(({ exists }, index) => !exists && !storageProofsIn(answer)[index]).length
  return [
    'Every field has its exact length, and every field element is canonical.',
    'The answer is for this address and these storage keys, in this order.',
    `${count(paths.account, 'path')} of 40 levels recomputed up to the state root.`,
    paths.storage > 0 && `${count(paths.storage, 'path')} of 40 levels recomputed up to the account's storage root.`,
    isPresent && 'Where a key exists, it and its value hash to what the leaf holds.',
    isAbsent && 'Where a key does not exist, two neighbours point at each other and its hash lies between theirs.',
    implied > 0 &&
      `${count(implied, 'slot')} absent because the account ${account ? 'has no storage' : 'does not exist'}.`,
  ].flatMap(sentence => (sentence === false ? [] : [`  ${sentence}`]))
}

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`

const formatNotes = ({ sources, claim }: ClaimWithSources, stdout: Output): string[] =>
  answerNotes(sources, claim.storageKeys?.length ?? 0).map(note => paint(stdout, 'dim', `Note: ${note}`))

export const formatRefused = (error: ProofError, claim: ClaimWithSources, stderr: Output): string =>
  formatError(error, claimRows(statedClaim(claim), claim), stderr)

/** What failed, where and what it means; `rows` say what was asked. */
export function formatError(
  { code, path, expected, found }: ProofError,
  rows: readonly (readonly string[])[],
  stderr: Output,
): string {
  const details = [
    ...(path === '' ? [] : [['at', printable(path)]]),
    ...(expected === undefined ? [] : [['expected', printable(expected)]]),
    ...(found === undefined ? [] : [['found', printable(found)]]),
  ]
  const table = formatTable([...details, ...rows])
  return `${paint(stderr, 'red', `Not verified: ${code}`)}\n${errorMeanings[code]}\n${table}\n`
}

/** What `--json` prints about a failure. */
export const describeError = ({ code, path, expected, found }: ProofError): object => ({
  code,
  path,
  expected,
  found,
  meaning: errorMeanings[code],
})

/** What `--json` prints about an answer: what was asked, who stated it, and what is proven. */
export function describeAnswer(file: AnswerFile, given: ClaimWithSources, outcome: SafeVerifiedState): object {
  const { claim } = given
  const sources = describeSources(given.sources)
  if (outcome.ok) {
    const { account, storage } = outcome
    const recomputedPaths = countPaths(outcome, file.answer)
    return { verified: true, ...claim, scheme: claim.scheme.name, sources, account, storage, recomputedPaths }
  }
  return { verified: false, ...statedClaim(given), sources, error: describeError(outcome.error) }
}
