import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { expect, it } from 'vitest'
import { allCodes } from '../../src/base/error-meanings.ts'
import { atPath, type FailureCode, isRefusal } from '../../src/base/errors.ts'
import { type GroupKey, statusOf } from '../../src/site/checks.ts'
import { openFile } from '../../src/site/explore.ts'
import { judge } from '../../src/site/judge.ts'
import { statementFrom } from '../../src/site/statement.ts'
import { held, listen, told } from '../../src/site/told.ts'
import { readVector } from '../../vectors/run/read.ts'
import { tellChecks } from '../tools/rules/telling.ts'

/** The checks tell the page that they are run. Nothing else decides what the page shows of them. */

const FOLDERS = ['mimc', 'poseidon2', 'evidence', 'messages', 'logs', 'transitions']

/** What the page judges, beside answers. */
const SHOWN = ['verifyEvidence', 'verifyTransition']

/** The judgements of all vectors that the page can judge. */
function judged(outcome: 'valid' | 'invalid') {
  return FOLDERS.flatMap(folder =>
    readdirSync(`vectors/${folder}/${outcome}`).flatMap(name => {
      const { base = null, ...vector } = readVector(`vectors/${folder}/${outcome}/${name}`)
      if (vector['operation'] !== undefined && !SHOWN.includes(String(vector['operation']))) return []
      const file = openFile(vector)
      const judgement = judge(file, statementFrom(file.suggested))
      return judgement.report.verdict === 'unjudged' ? [] : [{ name: `${folder}/${name}`, base, ...judgement }]
    }),
  )
}

/** Codes of what the page does not do, or of what evidence never leaves open. */
const NOT_HERE: readonly string[] = [
  ...['CALL_MISMATCH', 'CALL_STATE_MISSING', 'CALL_STATE_UNUSED', 'CODE_HASH_MISMATCH', 'HEADER_FIELD_ORDER'],
  ...['MESSAGE_NO_SERVICE', 'MESSAGE_STATUS', 'BEACON_COMMITTEE_ROOT', 'ANCHOR_AMBIGUOUS', 'LOGS_MISMATCH'],
]
/** Nothing true comes to it: the check is only run when it refuses. */
const NEVER_PASSED: readonly string[] = ['SEGMENT_INCOMPLETE', 'FOREIGN_PROOF', 'ARGUMENT_INVALID']
/** No true vector that the page shows has such a part, or states such a thing: the tests of the layers have them. */
const NO_VECTOR = [
  ...['BEACON_ATTESTED_PERIOD', 'BEACON_FINALIZED_PERIOD', 'BEACON_NEXT_COMMITTEE_MISMATCH', 'MESSAGE_MISMATCH'],
  ...['AUTHORIZATIONS', 'BLOBS', 'CREATES', 'PARITY', 'SENDER', 'SIGNATURE'].map(name => `TRANSACTION_${name}`),
]

const valid = judged('valid')

it('hears of every check, when something true is verified', () => {
  expect(valid.length).toBeGreaterThan(120)
  const heard = new Set<string>(
    valid.flatMap(({ checked }) => [...checked.passed.values()].flatMap(codes => [...codes.keys()])),
  )
  const expected = allCodes().filter(code => ![...NOT_HERE, ...NEVER_PASSED].includes(code))
  expect(expected.filter(code => !heard.has(code)).sort()).toEqual(NO_VECTOR.sort())
})

it('shows no part as passed before all of its checks were run', () => {
  const keyOf = (group: GroupKey) => (typeof group === 'number' ? group > 0 : group)
  // The points of a committee that is known are not decoded again.
  const isNew = (code: FailureCode) => code !== 'BEACON_KEY_POINT'
  const listOf = (codes: ReadonlyMap<FailureCode, number>) => [...codes.keys()].filter(isNew).sort().join(' ')
  // Of the true vectors, which codes each part comes to.
  const whole = new Map<unknown, Set<string>>()
  for (const { checked } of valid) {
    for (const [group, codes] of checked.passed) {
      const key = keyOf(group)
      whole.set(key, (whole.get(key) ?? new Set()).add(listOf(codes)))
    }
  }
  let parts = 0
  for (const { name, checked } of judged('invalid')) {
    for (const [group, codes] of checked.passed) {
      // No true vector has a slot with so short a path.
      if (statusOf(checked, group) !== 'passed' || name === 'logs/answer-added.json') continue
      expect([...(whole.get(keyOf(group)) ?? [])], `${name} ${group}`).toContain(listOf(codes))
      parts++
    }
  }
  console.log(`${parts} parts passed before something else was refused`)
  expect(parts).toBeGreaterThan(100)
})

it('counts how often a check is run', () => {
  const vector = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))
  const file = openFile(vector)
  const { passed } = judge(file, statementFrom(file.suggested)).checked
  const timesOf = (group: GroupKey, code: FailureCode) => passed.get(group)?.get(code) ?? 0
  // One key, one leaf; its value fits twice: the nonce and the code size.
  expect(
    ['KEY_MISMATCH', 'LEAF_KEY_MISMATCH', 'VALUE_OUT_OF_RANGE'].map(code => timesOf(0, code as FailureCode)),
  ).toEqual([1, 1, 2])
  // An absent slot has two neighbours.
  const absent = vector.expected.storage.findIndex(({ exists }: { exists: boolean }) => !exists) + 1
  const ofAbsence = ['NOT_ADJACENT', 'KEY_NOT_BETWEEN', 'SUB_ROOT_MISMATCH', 'LEAF_KEY_MISMATCH'] as const
  expect(ofAbsence.map(code => timesOf(absent, code))).toEqual([2, 2, 2, 0])
})

it('tells where a check is, as its error would', () => {
  const seen: string[] = []
  const check = (isBroken: boolean) =>
    atPath('a', () =>
      atPath(
        () => '[1]',
        () => atPath('', () => told(isBroken, 'BAD_HEX')),
      ),
    )
  listen(
    (code, path) => seen.push(`${code} ${path()}`),
    () => [check(false), check(true)],
  )
  expect(check(false)).toBe(false)
  expect(seen).toEqual(['BAD_HEX a[1]'])
})

/** Runs a function `check` as the build changes it, and returns the codes that it tells. */
function codesTold(source: string, ...args: unknown[]): string[] {
  const marked = tellChecks(resolve('src/verify/proof/verify.ts'), source)
  const { code } = transformSync((marked ?? '').replace(/^import [^;]*;/, ''), { loader: 'ts' })
  const seen: string[] = []
  const names = ['$told', '$held', 'refusal', 'ProofError']
  const check = new Function(...names, `${code}; return check`)(told, held, (code: string) => new Error(code), Error)
  listen(
    code => seen.push(code),
    () => {
      try {
        check(...args)
      } catch (error) {
        if (isRefusal(error)) throw error
      }
    },
  )
  return seen
}

it('tells only of conditions that are run, and of no comparison with nothing', () => {
  const same = `function check(wanted, found) {
    if (wanted === undefined || wanted === found) return
    throw refusal('KEY_MISMATCH', wanted, found)
  }`
  expect(codesTold(same, 1, 1)).toEqual(['KEY_MISMATCH'])
  expect(codesTold(same, undefined, 1)).toEqual([])
  expect(codesTold(same, 2, 1)).toEqual([])
  const differs = `function check(code, wanted, found) {
    if (wanted !== undefined && wanted !== found) throw refusal(code, wanted, found)
    if (found > 5) throw tooLarge(found)
  }
  const tooLarge = found => new ProofError('INDEX_OUT_OF_RANGE', found)`
  expect(codesTold(differs, 'A', 1, 1)).toEqual(['A', 'INDEX_OUT_OF_RANGE'])
  expect(codesTold(differs, 'A', undefined, 9)).toEqual([])
  expect(codesTold(differs, 'A', 1, 2)).toEqual([])
  const caught = `function check(text) {
    try {
      return JSON.parse(text)
    } catch {
      throw refusal('BAD_HEX', 'x', 'y')
    }
  }`
  expect(codesTold(caught, '[]')).toEqual(['BAD_HEX'])
  expect(codesTold(caught, '[')).toEqual([])
})
