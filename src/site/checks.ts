import { meaningOf } from '../base/error-meanings.ts'
import type { FailureCode, Refusal } from '../base/errors.ts'
import { type Outcome, safely } from '../entry/index.ts'
import type { OpenedFile } from './file.ts'
import { listen } from './told.ts'

/** What was checked, as the checks themselves tell it, by the part of the file that they are about. */

/** A link of the chain of evidence. */
type Link = 'bundle' | 'consensus' | 'l1Header' | 'rollupContract' | 'l2Header' | 'answer'

/** A number stands for a leaf proof: 0 is the account's, 1 the first slot's. `place` is that of a message in its tree,
 * `history` the hash of the newest block, and `blocks` what follows from it. */
export type GroupKey = 'question' | Link | 'place' | 'history' | 'blocks' | number

export interface PlacedError {
  readonly group: GroupKey
  readonly code: FailureCode
  readonly path: string
  /** For people. It decides nothing. */
  readonly found: string
}

export type Status = 'passed' | 'failed' | 'not reached'

/** A check as the page shows it: what it rules out, and how often it was run and passed. */
export interface Check {
  readonly code: FailureCode
  readonly title: string
  readonly times: number
  readonly status: Exclude<Status, 'not reached'>
}

/** How often each check of each group has passed, in the order in which each was run first, and the one that failed. */
export interface Checked {
  readonly passed: ReadonlyMap<GroupKey, ReadonlyMap<FailureCode, number>>
  readonly failed: PlacedError | null
  readonly isVerified: boolean
}

interface Tried<T> {
  readonly proven: T | null
  readonly error: Refusal | null
  readonly checked: Checked
}

export const UNTRIED: Tried<never> = {
  proven: null,
  error: null,
  checked: { passed: new Map(), failed: null, isVerified: false },
}

export function watch<T>(file: OpenedFile, verify: () => T): Tried<T> {
  const passed = new Map<GroupKey, Map<FailureCode, number>>()
  const outcome = listen(
    (code, path) => {
      const { group } = placeOf(code, path(), file.subject)
      const codes = passed.get(group) ?? new Map<FailureCode, number>()
      passed.set(group, codes.set(code, (codes.get(code) ?? 0) + 1))
    },
    () => safely(verify) as Outcome<T>,
  )
  if (outcome.ok) return { proven: outcome.value, error: null, checked: { passed, failed: null, isVerified: true } }
  const { error } = outcome
  const { code, path, found = '' } = error
  const failed: PlacedError = { ...placeOf(code, path, file.subject), code, found }
  return { proven: null, error, checked: { passed, failed, isVerified: false } }
}

const ROOTS: readonly (readonly [path: string, group: GroupKey])[] = [
  ['consensus', 'consensus'],
  ['l1.header', 'l1Header'],
  ['l1.proof', 'rollupContract'],
  ['l2Header', 'l2Header'],
  ['messageProof', 'place'],
  ['blocks[', 'blocks'],
  ['answer', 'answer'],
]

function placeOf(code: FailureCode, path: string, subject: OpenedFile['subject']): { group: GroupKey; path: string } {
  if (code === 'ARGUMENT_INVALID') return { group: 'question', path }
  const isBare = subject === 'answer' || subject === 'traces'
  const isOfRange = code === 'LOGS_RANGE' && path !== 'fromBlock'
  const isOfHistory = isOfRange || code.startsWith('HISTORY_') || code === 'BLOCK_TOO_LARGE'
  if (subject === 'logs' && isOfHistory && !path.startsWith('blocks[')) return { group: 'history', path }
  const found = ROOTS.find(([root]) => path.startsWith(root)) ?? ['', 'bundle']
  const [root, group]: readonly [string, GroupKey] = isBare ? ['', 'answer'] : found
  const inside = path.slice(root.length).replace(/^\./, '')
  const [, slot, rest] = /^(?:accountProof|storageProofs?\[(\d{1,9})\])\.?(.*)$/s.exec(inside) ?? []
  if (group !== 'answer' || rest === undefined) return { group, path: inside }
  return { group: slot === undefined ? 0 : Number(slot) + 1, path: rest }
}

/** The checks of some groups, in order: those that passed, and at the end the one that failed. */
export function checksOf({ passed, failed }: Checked, ...groups: readonly GroupKey[]): Check[] {
  const checks = groups.flatMap(group =>
    [...(passed.get(group) ?? [])].map(([code, times]): Check => ({ ...describe(code), times, status: 'passed' })),
  )
  const isHere = failed !== null && groups.includes(failed.group)
  return isHere ? [...checks, { ...describe(failed.code), times: 0, status: 'failed' }] : checks
}

const describe = (code: FailureCode) => ({ code, title: meaningOf(code) })

/** Checks that are run once everything is decoded: after one of them, only the same group can still refuse anything. */
const LAST: Readonly<Record<string, readonly FailureCode[]>> = {
  consensus: ['BEACON_OLDER_THAN_CHECKPOINT'],
  l1Header: ['HEADER_QUANTITY'],
  rollupContract: ['ANCHOR_NO_CONTRACT'],
  l2Header: ['BLOCK_NUMBER_MISMATCH'],
  place: ['MESSAGE_ROOT_MISMATCH'],
  proof: ['KEY_MISMATCH', 'MPT_NODES_UNUSED'],
}

/** One check of a group failed; it was run to its end; or it was not. */
export function statusOf({ passed, failed, isVerified }: Checked, group: GroupKey): Status {
  if (isVerified) return 'passed'
  if (failed?.group === group) return 'failed'
  const codes = LAST[typeof group === 'number' ? 'proof' : group] ?? []
  return codes.some(code => passed.get(group)?.has(code)) ? 'passed' : 'not reached'
}

export function statusOfAll(checked: Checked, groups: readonly GroupKey[]): Status {
  const states = groups.map(group => statusOf(checked, group))
  return (['failed', 'not reached'] as const).find(one => states.includes(one)) ?? 'passed'
}

/** Whether a check of a code, the `index`th of its group, has passed. */
export function statusOfOne({ passed, failed }: Checked, group: GroupKey, code: FailureCode, index: number): Status {
  const times = passed.get(group)?.get(code) ?? 0
  if (times > index) return 'passed'
  return failed?.group === group && failed.code === code && times === index ? 'failed' : 'not reached'
}
