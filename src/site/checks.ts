import { meaningOf } from '../base/error-meanings.ts'
import type { FailureCode, Refusal } from '../base/errors.ts'
import { leafProofAt } from '../cli/words/answer.ts'
import { type Link, linkOf } from '../cli/words/evidence.ts'
import { fieldIn, fieldsOf } from '../cli/words/value.ts'
import { type Outcome, safely } from '../entry/index.ts'
import type { OpenedFile } from './opened-file.ts'
import { listen } from './told.ts'

/** What was checked, as the checks themselves tell it, by the part of the file that they are about. */

/** A number stands for a leaf proof: 0 is the account's, 1 the first slot's. `place` is that of a message in its tree,
 * `history` the hash of the newest block, and `blocks` what follows from it. */
export type GroupKey = 'question' | Link | 'place' | 'history' | 'blocks' | number

/** An error, with its group and its path in the group. */
export interface PlacedError {
  readonly group: GroupKey
  readonly code: FailureCode
  readonly path: string
  /** For people. It decides nothing. */
  readonly found: string
  /** The part of the file that the group is about: a leaf proof, the L1 header or the L1 proof. */
  readonly served: unknown
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

export const UNCHECKED: Checked = { passed: new Map(), failed: null, isVerified: false }

/** Verifies something, and listens to the checks. */
export function watch<T>(file: OpenedFile, verify: () => T): { outcome: Outcome<T>; checked: Checked } {
  const passed = new Map<GroupKey, Map<FailureCode, number>>()
  const outcome = listen(
    (code, path) => {
      const { group } = placeOf(code, path(), file.subject)
      const codes = passed.get(group) ?? new Map<FailureCode, number>()
      passed.set(group, codes.set(code, (codes.get(code) ?? 0) + 1))
    },
    () => safely(verify) as Outcome<T>,
  )
  const failed = outcome.ok ? null : placeError(outcome.error, file)
  return { outcome, checked: { passed, failed, isVerified: outcome.ok } }
}

/** Where a bundle has what these groups are about. */
const ROOTS: Readonly<Partial<Record<GroupKey, string>>> = {
  ...{ consensus: 'consensus', l1Header: 'l1.header', rollupContract: 'l1.proof', l2Header: 'l2Header' },
  ...{ place: 'messageProof', answer: 'answer' },
}

/** The group of a check, by its code and its place in the file, and its path in the group. */
function placeOf(code: FailureCode, path: string, subject: OpenedFile['subject']): { group: GroupKey; path: string } {
  if (code === 'ARGUMENT_INVALID') return { group: 'question', path }
  const isBundle = subject !== 'answer' && subject !== 'traces'
  const link = isBundle ? (ownGroup(code, path, subject) ?? linkOf({ code, path }) ?? 'question') : 'answer'
  const inside = isBundle ? path.slice(ROOTS[link]?.length ?? 0).replace(/^\./, '') : path
  const [, slot, rest] = /^(?:accountProof|storageProofs?\[(\d{1,9})\])\.?(.*)$/s.exec(inside) ?? []
  if (link !== 'answer' || rest === undefined) return { group: link, path: inside }
  return { group: slot === undefined ? 0 : Number(slot) + 1, path: rest }
}

/** The group of a check about what only bundles of messages or logs have. */
function ownGroup(
  code: FailureCode,
  path: string,
  subject: OpenedFile['subject'],
): 'place' | 'history' | 'blocks' | null {
  if (path.startsWith('messageProof')) return 'place'
  if (subject !== 'logs') return null
  if (path.startsWith('blocks[')) return 'blocks'
  const isOfRange = code === 'LOGS_RANGE' && path !== 'fromBlock'
  return isOfRange || code.startsWith('HISTORY_') || code === 'BLOCK_TOO_LARGE' ? 'history' : null
}

/** Finds the group of an error. */
export function placeError(error: Refusal, { bundle, answer, subject }: OpenedFile): PlacedError {
  const { code, found = '' } = error
  const { group, path } = placeOf(code, error.path, subject)
  const { header, proof } = fieldsOf(fieldIn(bundle, 'l1'))
  const parts = { l1Header: header, rollupContract: proof, place: fieldIn(bundle, 'messageProof') }
  const served = typeof group === 'number' ? leafProofAt(answer, group) : Reflect.get(parts, group)
  return { group, code, path, found, served }
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

/** The same of several groups together. */
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
