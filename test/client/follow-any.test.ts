import { beforeEach, expect, it } from 'vitest'
import { randomOf } from '../random.ts'
import { sized } from '../size.ts'
import { skipTime } from './clock.ts'
import { chainOf, collect, fail, finalize, type Tamper } from './following.ts'
import { word } from './servers.ts'

/** The follower beside endpoints that are as random as their seed. */

// A queue waits for busy endpoints.
beforeEach(skipTime)

/** A rollup whose finalizations are every so many blocks. Of two L1 endpoints, the first may leave finalizations out, invent some, or fail. */
async function randomRun(seed: number, skipUnavailable: boolean) {
  const random = randomOf(seed)
  const below = (count: number) => Math.floor(random() * count)
  const chain = chainOf(1)
  const move = () => {
    for (let count = below(3); count > 0; count--) {
      for (let more = below(3); more > 0; more--) chain.addBlock()
      finalize(chain)
    }
  }
  const flaky: Tamper = answer => (below(8) === 0 ? fail(-32005, 'too many requests') : answer)
  const lie: Tamper = (answer, method) => {
    if (method !== 'eth_getLogs' || !Array.isArray(answer)) return answer
    const [log] = answer
    const invented = { ...log, topics: [log?.topics[0], word(below(Number(chain.latest()) + 1))] }
    return [
      ...answer.filter((_, index) => index === answer.length - 1 || below(2) === 0),
      ...(below(2) ? [invented] : []),
    ]
  }
  const liar: Tamper = (...args) => flaky(lie(...args), args[1], args[2])
  // Of some blocks, the proofs are gone. Others are late.
  const isGone = (number: bigint) => skipUnavailable && number % 7n === 3n
  const lacking: Tamper = (answer, method, params) => {
    const isLacking = method === 'rollup_getProof' && (isGone(BigInt(String(params[2]))) || below(6) === 0)
    return isLacking ? fail(-32600, 'BLOCK_MISSING_IN_CHAIN') : flaky(answer, method, params)
  }
  const l1 = [liar, flaky]
  const { numbers, events, code } = await collect({
    chain,
    l1: below(2) === 0 ? l1 : l1.reverse(),
    l2: [lacking],
    options: { fromL2BlockNumber: 1n, skipUnavailable },
    onWait: (_, count) => {
      if (count < 50) move()
      return count < 60 || false
    },
  })
  const skipped = events.flatMap(one => (one.name === 'follow.skipped' ? [one.attributes['l2.block.number']] : []))
  const refused = events.filter(one => 'error' in one && one.error.code === 'L1_CONTRADICTION').length
  const truth = chain.l1.finalizations().map(({ l2BlockNumber }) => Number(l2BlockNumber))
  return { truth: truth.filter(number => number > 0), numbers, skipped, refused, code }
}

const RUNS = sized(4)
it.each([{ skipUnavailable: false }, { skipUnavailable: true }])(
  'yields what was finalized, once and in order, whatever it sees: %o',
  async ({ skipUnavailable }) => {
    const sum = { yielded: 0, skipped: 0, refused: 0 }
    for (let seed = 1; seed <= RUNS; seed++) {
      const { truth, numbers, skipped, refused, code } = await randomRun(seed, skipUnavailable)
      expect(code).toBe('ABORTED')
      // One endpoint leaves nothing out, and its failures are waited for: nothing is lost but what is skipped.
      const seen = [...numbers, ...skipped].sort((a, b) => a - b)
      expect(seen, `seed ${seed}`).toEqual(truth.slice(0, seen.length))
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
      sum.yielded += numbers.length
      sum.skipped += skipped.length
      sum.refused += refused
    }
    expect(sum.yielded).toBeGreaterThan(10 * RUNS)
    expect(sum.skipped > 0).toBe(skipUnavailable)
    expect(sum.refused).toBeGreaterThan(0)
  },
)
