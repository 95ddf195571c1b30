import { expect, it } from 'vitest'
import { beginAt, type Course, newRange, type Observation, step } from '../../src/client/follow/course.ts'
import type { Hint } from '../../src/client/l1/finalizations.ts'
import { EndpointError } from '../../src/client/transport/error.ts'
import { MAX_LAGGING_ROUNDS, MAX_LIST_ROUNDS } from '../../src/client/transport/limits.ts'
import { randomOf } from '../random.ts'
import { sized } from '../size.ts'
import { word } from './servers.ts'

/** The follower as a function: whatever it sees, in any order. No endpoint, no clock. */

const IMPLEMENTATION = `0x${'c0'.repeat(20)}` as const
const rootOf = (number: bigint) => word(Number(number))
type Outcome = 'next' | 'yield' | 'failure'
const deepFreeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  for (const one of Object.values(value)) deepFreeze(one)
  return Object.freeze(value)
}

/** A rollup whose finalizations are every so many blocks, and endpoints that are as random as their seed. */
function randomRun(seed: number, skipUnavailable: boolean) {
  const random = randomOf(seed)
  const below = (count: number) => Math.floor(random() * count)
  const truth: bigint[] = []
  const yielded: bigint[] = []
  const [skipped, invented] = [new Set<bigint>(), new Set<bigint>()]
  const outcomes = { next: 0, yield: 0, failure: 0 }
  let course = beginAt(null)
  let [at, newest] = [0n, 0n]

  function take(seen: Observation): Outcome {
    const made = step(deepFreeze(course), deepFreeze(seen), skipUnavailable)
    // The same again: nothing but what it is given decides.
    expect(step(course, seen, skipUnavailable)).toEqual(made)
    for (const event of made.events ?? []) {
      if (event.name === 'follow.skipped') skipped.add(BigInt(event.attributes['l2.block.number']))
    }
    expectSound(course, made.course, seen)
    course = made.course
    const outcome = made.failure !== undefined ? 'failure' : seen.kind === 'proven' ? 'yield' : 'next'
    outcomes[outcome]++
    return outcome
  }

  /** Of two endpoints, the second may leave finalizations out, invent some, or fail. The first fails sometimes. */
  function listing(
    l1Block: Parameters<typeof newRange>[1],
    range: NonNullable<ReturnType<typeof newRange>>,
  ): Observation {
    // After eight rounds, nobody waits any more.
    const isDown = [5, 3].map(
      (often, index) => below(often) === 0 && (course.failedLists.get(index) ?? 0) < MAX_LIST_ROUNDS - 1,
    )
    const all = truth.filter(number => number > range.after && number <= range.newest)
    const lies = below(2) === 0 ? [] : [range.newest - BigInt(below(3)) - 1n].filter(one => one > range.after)
    for (const one of lies) if (!truth.includes(one)) invented.add(one)
    const lists = [all, [...all.filter(one => one === range.newest || below(2) === 0), ...lies]]
    const listedBy = [0, 1].filter(index => !isDown[index])
    const numbers = [...new Set(listedBy.flatMap(index => lists[index] ?? []))].sort((a, b) => (a < b ? -1 : 1))
    const hints = numbers.map(
      (l2BlockNumber): Hint => ({
        ...{ l2BlockNumber, states: [], listedBy },
        namedBy: listedBy.filter(index => lists[index]?.includes(l2BlockNumber)),
      }),
    )
    // What does not pass is not waited for.
    const failures = (['TIMEOUT', below(2) === 0 ? 'TIMEOUT' : 'UNAUTHORIZED'] as const).map(
      code => new EndpointError(code),
    )
    const ends = [0, 1].map(index => [
      index,
      isDown[index] ? failures[index] : new Map((lists[index] ?? []).map(one => [one, null])),
    ])
    const listing = { hints, outcomes: new Map(ends as never) as never }
    return { kind: 'listing', l1Block, implementation: undefined, found: { range, listing } }
  }

  for (let round = 0; round < 60; round++) {
    for (let count = below(3); count > 0; count--) {
      newest += 1n + BigInt(below(4))
      truth.push(newest)
    }
    at++
    const l1Block = { number: at, hash: word(Number(at)), stateRoot: word(0), timestamp: at }
    const range = newRange(course, l1Block as never, newest, 1n)
    const nothing = { kind: 'listing' as const, l1Block, implementation: undefined, found: null }
    const seen = range ? listing(l1Block as never, range) : nothing
    if (take(seen as Observation) !== 'next') continue
    for (let [hint] = course.pending; hint; [hint] = course.pending) {
      const isTrue = truth.includes(hint.l2BlockNumber)
      const error = new EndpointError(below(4) === 0 ? 'ENDPOINT_ERROR' : 'BLOCK_MISSING', { layer: 'L2' })
      const { l2BlockNumber } = hint
      const held = { stateRoot: rootOf(l2BlockNumber), blockHash: undefined }
      const last = { l2BlockNumber, ...held, implementation: IMPLEMENTATION }
      const newer = below(2) === 0 && course.pending.length > 1 ? newest : null
      const bad = below(4)
      const outcome = take(
        !isTrue
          ? { kind: 'refuted', hint }
          : bad === 0
            ? { kind: 'missing', hint, error, newer }
            : bad === 1
              ? { kind: 'unread', error }
              : { kind: 'proven', last },
      )
      if (outcome === 'yield') yielded.push(l2BlockNumber)
      if (outcome === 'failure') break
    }
  }
  return { truth, yielded, skipped, invented, course, outcomes }
}

const lastOf = ({ last }: Course) => last?.l2BlockNumber ?? -1n

/** What holds for every step. */
function expectSound(before: Course, after: Course, seen: Observation): void {
  const numbers = after.pending.map(({ l2BlockNumber }) => l2BlockNumber)
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => (a < b ? -1 : 1)))
  for (const number of numbers) expect(number > lastOf(after)).toBe(true)
  expect(lastOf(after) === lastOf(before) || (seen.kind === 'proven' && after.last === seen.last)).toBe(true)
  expect(lastOf(after) >= lastOf(before)).toBe(true)
  // It is marked as done only when it is.
  if (after.mark !== before.mark) expect([after.mark, numbers]).toEqual([after.trusted, []])
  for (const index of before.inventors) expect(after.inventors.has(index)).toBe(true)
  if (seen.kind !== 'listing') expect(after.trusted).toBe(before.trusted)
  expect(after.missingRounds < MAX_LAGGING_ROUNDS || after.missingRounds >= before.missingRounds).toBe(true)
}

const RUNS = sized(15)
it.each([{ skipUnavailable: false }, { skipUnavailable: true }])(
  'yields what was finalized, once and in order, whatever it sees: %o',
  ({ skipUnavailable }) => {
    const sum = { yielded: 0, skipped: 0, invented: 0, failures: 0 }
    for (let seed = 1; seed <= RUNS; seed++) {
      const { truth, yielded, skipped, invented, course, outcomes } = randomRun(seed, skipUnavailable)
      expect(yielded).toEqual([...new Set(yielded)].sort((a, b) => (a < b ? -1 : 1)))
      expect(yielded.filter(number => !truth.includes(number))).toEqual([])
      // Endpoint 0 leaves nothing out, and its failures are waited for: nothing is lost but what is skipped.
      const isLost = (number: bigint) => !yielded.includes(number) && !skipped.has(number)
      expect(truth.filter(one => one <= lastOf(course)).filter(isLost)).toEqual([])
      expect(course.inventors.has(0)).toBe(false)
      sum.yielded += yielded.length
      sum.skipped += skipped.size
      sum.invented += invented.size
      sum.failures += outcomes.failure
    }
    expect(sum.yielded).toBeGreaterThan(10 * RUNS)
    expect(sum.skipped > 0).toBe(skipUnavailable)
    expect(Math.min(sum.invented, sum.failures)).toBeGreaterThan(RUNS)
  },
)
