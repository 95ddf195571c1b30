import { styleText } from 'node:util'
import { errorMeanings, type ProofError, type VerifiedState } from '../index.ts'
import { type Case, type Question, type Source, type Stated, statedClaim, storageProofsIn } from './case.ts'
import type { Output } from './command.ts'
import { show } from './value.ts'

/** Colours for a terminal that wants them: not for a pipe, and not under NO_COLOR. */
export const paint = (stream: Output, format: 'bold' | 'green' | 'red' | 'dim', text: string): string =>
  styleText(format, text, { stream })

/** What a stranger wrote must not move the cursor, recolour the verdict or reverse the text. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

/** One line of JSON; bigints become decimal strings. */
export const toJson = (value: unknown): string =>
  `${JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? field.toString() : field))}\n`

/** Rows of cells, in columns as wide as their widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widthOf = (column: number) => Math.max(...rows.map(row => row[column]?.length ?? 0))
  return rows.map(row => `  ${row.map((cell, column) => cell.padEnd(widthOf(column))).join('  ')}`.trimEnd()).join('\n')
}

const sourceWords: Readonly<Record<Source, string>> = {
  flag: 'stated by you',
  file: 'from the file',
  answer: 'taken from the answer, not stated by you',
}

/** How many paths of 40 levels the verification recomputed: one for a key that exists, two for one that does not. */
export function countPaths({ account, storage }: VerifiedState, answer: unknown): { account: number; storage: number } {
  const served = storageProofsIn(answer)
  const ofSlot = (exists: boolean, index: number) => (exists ? 1 : served[index] ? 2 : 0)
  return {
    account: account === null ? 2 : 1,
    storage: storage.reduce((sum, { exists }, index) => sum + ofSlot(exists, index), 0),
  }
}

/** What was asked, and who said so. */
function questionRows({ scheme, stateRoot, address, storageKeys }: Stated, { sources }: Question): string[][] {
  const row = (name: string, value: unknown, source: Source) =>
    value === undefined ? [] : [[name, printable(show(value)), sourceWords[source]]]
  return [
    ...row('scheme', scheme, sources.scheme),
    ...row('state root', stateRoot, sources.stateRoot),
    ...row('address', address, sources.address),
    ...row('storage keys', Array.isArray(storageKeys) ? storageKeys.length : storageKeys, sources.storageKeys),
  ]
}

export function formatVerified(state: VerifiedState, { answer }: Case, question: Question, stdout: Output): string {
  const rows = questionRows({ ...question.claim, scheme: question.claim.scheme.name }, question)
  const lines = [
    formatVerdict(state, stdout),
    formatTable(rows),
    ...formatState(state, answer, stdout),
    ...formatWarnings(question, stdout),
  ]
  return `${lines.join('\n')}\n`
}

export const formatVerdict = ({ account }: VerifiedState, stdout: Output): string =>
  paint(stdout, 'green', `Verified: this account ${account === null ? 'does not exist' : 'exists'}.`)

/** The account, its slots, and what was checked to be sure of them. */
export function formatState(state: VerifiedState, answer: unknown, stdout: Output): string[] {
  const { account, storage } = state
  const parts: string[] = []
  if (account !== null) {
    parts.push(
      paint(stdout, 'bold', 'Account'),
      formatTable([
        ['nonce', `${account.nonce}`],
        ['balance', `${account.balance} wei`],
        ['storage root', account.storageRoot],
        ['code hash', account.codeHash],
        ['snark code hash', account.snarkCodeHash],
        ['code size', `${account.codeSize} bytes`],
        ['leaf index', `${account.leafIndex}`],
      ]),
    )
  }
  if (storage.length > 0) {
    const rows = storage.map(({ key, value, exists }) => [key, exists ? `present  ${value}` : 'absent'])
    parts.push(paint(stdout, 'bold', 'Storage'), formatTable(rows))
  }
  return [...parts, paint(stdout, 'bold', 'Checked'), ...formatChecks(state, answer)]
}

/** The specification's sentences that were checked, in plain words; only those that this answer called for. */
function formatChecks(state: VerifiedState, answer: unknown): string[] {
  const { account, storage } = state
  const paths = countPaths(state, answer)
  const isPresent = account !== null || storage.some(({ exists }) => exists)
  const isAbsent = paths.account + paths.storage > (account ? 1 : 0) + storage.filter(({ exists }) => exists).length
  const implied = storage.filter(({ exists }, index) => !exists && !storageProofsIn(answer)[index]).length
  return [
    'Every field has its exact length and every field element its one canonical spelling.',
    'The answer is for this address and these storage keys, in this order.',
    `${count(paths.account, 'path')} of 40 levels recomputed up to the state root.`,
    paths.storage > 0 && `${count(paths.storage, 'path')} of 40 levels recomputed up to the account's storage root.`,
    isPresent && 'Of what exists, key and value hash to what the leaf commits to.',
    isAbsent && 'Of what does not exist, the two neighbour leaves point at each other and the key sorts between them.',
    implied > 0 &&
      `${count(implied, 'slot')} absent because the account ${account ? 'has no storage' : 'does not exist'}.`,
  ].flatMap(sentence => (sentence === false ? [] : [`  ${sentence}`]))
}

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`

/** What the verdict is worth depends on who stated the question. */
function formatWarnings({ sources, claim }: Question, stdout: Output): string[] {
  const warnings: string[] = []
  if (sources.stateRoot === 'file') warnings.push('Note: the state root is what the file says; compare it with L1.')
  const taken = [
    sources.address === 'answer' && 'address',
    sources.storageKeys === 'answer' && (claim.storageKeys?.length ?? 0) > 0 && 'storage keys',
  ].filter(Boolean)
  if (taken.length > 0) {
    warnings.push(`Note: the ${taken.join(' and ')} came from the answer: check that this is what you asked for.`)
  }
  return warnings.map(warning => paint(stdout, 'dim', warning))
}

export const formatRefused = (error: ProofError, question: Question, stderr: Output): string =>
  formatError(error, questionRows(statedClaim(question), question), stderr)

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

/** What `--json` says of a failure. */
export const describeError = ({ code, path, expected, found }: ProofError): object => ({
  code,
  path,
  expected,
  found,
  meaning: errorMeanings[code],
})

/** A header can hold any 64-bit number, and a Date cannot. */
export function formatTime(seconds: bigint): string {
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString().replace('.000', '')
}
