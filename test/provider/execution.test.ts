import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { getContractAddress } from 'viem'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { recordCall, verifyCallEvidence } from '../../src/entry/provider.ts'
import { execute, FREE } from '../../src/provider/execute.ts'
import { inPace, type Pace } from '../../src/provider/pace.ts'
import { withNetwork } from '../network.ts'
import { at, createEndpoints, LEFT, ROLLUP, UNHURRIED, word } from './endpoints.ts'
import { bytesOf, CHAIN_ID, type FullAccount, type FullState } from './full-state.ts'
import { readerOver } from './proving/full-reader.ts'

const CONTRACT = at('c0')
const callOf = (state: FullState) =>
  createEndpoints(state)
    .provider()
    .request({ method: 'eth_call', params: [{ to: CONTRACT }, 'latest'] })

it.each(['', 'ethjs'])('ends a REVERT that the gas does not pay for wherever a pause is due: DEBUG=%s', async debug => {
  vi.stubEnv('DEBUG', debug)
  onTestFinished(() => void vi.unstubAllEnvs())
  // It calls itself with 4096 units of gas, and reverts with 2^64 bytes there; then it returns whether that went well.
  const code = '0x366015575f5f60015f5f30611000f15f5260205ff35b680100000000000000005ffd'
  const hurry = { isDue: () => true, giveWay: async () => {} }
  const endings = [run(code, undefined, 100_000n), run(code, hurry, 100_000n)]
  for (const { failure, returnData } of await Promise.all(endings)) {
    expect({ failure, returnData }).toEqual({ failure: null, returnData: word(0) })
  }
})

it('undoes the writes of a reverted frame', async () => {
  // Calls itself, which writes slot 0 and reverts; then reads slot 0.
  const code = '0x366016575f5f60015f5f305af1505f545f5260205ff35b60095f555f5ffd'
  const state: FullState = new Map([[CONTRACT, { nonce: 1n, code, storage: { [word(0)]: word(5) } }]])
  expect(await callOf(state)).toBe(word(5))
})

/** Executes the code in the pace given. */
const run = (code: Hex, change: Partial<Pace> = {}, gas = 10_000_000n) => {
  const bytes = bytesOf(code)
  // Like a cache, it always returns the same bytes.
  const getCode = async (address: Hex) => (address === CONTRACT ? bytes : new Uint8Array(0))
  const reader = { ...readerOver(new Map([[CONTRACT, { nonce: 1n, code }]])), getCode }
  const call = { ...FREE, from: at('ca'), to: CONTRACT, data: '0x', value: 0n, gas: null } as const
  const context = { chainId: 1n, hardfork: 'osaka', blockNumber: 1n, environment: {} } as const
  return inPace(UNHURRIED, pace => execute(reader, call, gas, context, { ...pace, ...change }))
}

/** By how many bytes the heap grows per step of a loop without an end. */
async function growthOf(loop: Hex): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const heap: number[] = []
  let steps = 0
  const isDue = () => {
    if (++steps % 100_000 === 50_000) {
      collect()
      heap.push(process.memoryUsage().heapUsed)
    }
    return false
  }
  expect((await run(loop, { isDue })).failure).toBe('out of gas')
  const [first = 0, , , last = Number.POSITIVE_INFINITY] = heap
  return (last - first) / 300_000
}

it('keeps nothing of calls that change nothing', async () => {
  // Calls the identity with nothing, every ten steps.
  expect(await growthOf('0x5b5f5f5f5f60045afa505f56')).toBeLessThan(20)
})

it('keeps what a slot held before a loop, and what it holds, but not what it held between', async () => {
  // Writes the gas that is left, every six steps.
  expect(await growthOf('0x5b5a5f555f56')).toBeLessThan(20)
})

it('takes little more memory for a deep recursion of a large contract than for its code', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const heap: number[] = []
  let steps = 0
  const isDue = () => {
    if (++steps === 100 || steps === 3300) {
      collect()
      heap.push(process.memoryUsage().heapUsed)
    }
    return false
  }
  // 24 kB of PUSH1. It jumps, and then calls itself with all its gas.
  const code: Hex = `0x6003565b5f5f5f5f5f305af100${'60ff'.repeat(12_000)}`
  expect((await run(code, { isDue }, 50_000_000n)).failure).toBe(null)
  const [first = 0, last = Number.POSITIVE_INFINITY] = heap
  // 290 frames.
  expect((last - first) / 290).toBeLessThan(100_000)
})

/** Until the end of the test, there is no memory for the result of the identity, if that has 12,345 bytes. */
function beScarce(): void {
  const from = Uint8Array.from.bind(Uint8Array)
  const scarce = (given: ArrayLike<number>) => {
    if (given.length === 12_345) throw new RangeError('Array buffer allocation failed')
    return from(given)
  }
  const spy = vi.spyOn(Uint8Array, 'from').mockImplementation(scarce as typeof Uint8Array.from)
  onTestFinished(() => spy.mockRestore())
}

describe('what this machine cannot execute', () => {
  const refused = { reason: 'LIMIT_REACHED', message: expect.stringContaining('Array buffer allocation failed') }
  // Calls the identity with 12,345 bytes, and returns whether that went well.
  const code = '5f5f6130395f60045afa5f5260205ff3'

  it('ends a call, and does not let the contract go on, nor fail', async () => {
    expect((await run(`0x${code}`)).returnData).toBe(word(1))
    beScarce()
    await expect(run(`0x${code}`)).rejects.toMatchObject(refused)
  })

  it('ends an estimate, which does not look for more gas', async () => {
    // Does so if it has less than 2^20 units of gas, and fails unless that goes well.
    const careful = `621000005a10600a57005b${code.slice(0, 20)}601957fe5b00`
    const state: FullState = new Map([[CONTRACT, { nonce: 1n, code: `0x${careful}` }]])
    const provider = createEndpoints(state).provider()
    const estimate = () => provider.request({ method: 'eth_estimateGas', params: [{ to: CONTRACT }] })
    expect(BigInt(`${await estimate()}`)).toBeLessThan(30_000n)
    beScarce()
    await expect(estimate()).rejects.toMatchObject(refused)
  })

  it('ends a call as evidence, and is no fault of the bundle', async () => {
    const { l1, l2 } = createEndpoints(new Map([[CONTRACT, { nonce: 1n, code: `0x${code}` }]]))
    const about = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID }
    const { bundle, verified } = await recordCall(withNetwork({ l1, l2, ...about, call: { to: CONTRACT } }))
    const trusted = { l1BlockHash: verified.l1Block.hash }
    const claim = { ...about, trusted, l2BlockNumber: 'fromBundle', hardfork: 'prague', call: LEFT } as const
    expect(await verifyCallEvidence(bundle, claim)).toMatchObject({ outcome: 'returned', returnData: word(1) })
    beScarce()
    await expect(verifyCallEvidence(bundle, claim)).rejects.toMatchObject(refused)
  })
})

it('lets a creation fail like any other whose init code begins with 0xef00', async () => {
  // Creates with 0xef00, and then with no code: the address of the second contract shows the nonce that the first has taken.
  const code = '0x61ef0060f01b5f5260025f5ff0505f5f5ff05f5260205ff3'
  const created = getContractAddress({ from: CONTRACT, nonce: 2n }).toLowerCase() as Hex
  expect(await callOf(new Map([[CONTRACT, { nonce: 1n, code }]]))).toBe(word(BigInt(created)))
})

it('returns what a creation reverts with, also if it begins with 0xef', async () => {
  // Its init code reverts with one byte. Returns the size and the first byte of what the creation returned.
  const creation: Hex = '0x6860ef5f5360015ffd005f52600860175ff0503d5f5260015f60203e60405ff3'
  expect((await run(creation)).returnData).toBe(`${word(1)}ef${'00'.repeat(31)}`)
  // The same as a transaction.
  const call = { ...FREE, from: at('ca'), to: null, data: '0x60ef5f5360015ffd', value: 0n, gas: null } as const
  const context = { chainId: 1n, hardfork: 'osaka', blockNumber: 1n, environment: {} } as const
  const result = inPace(UNHURRIED, pace => execute(readerOver(new Map()), call, 100_000n, context, pace))
  expect(await result).toMatchObject({ failure: 'revert', returnData: '0xef' })
})

it('creates no contract where an account has storage, code or a nonce', async () => {
  const created = getContractAddress({ from: CONTRACT, nonce: 1n }).toLowerCase() as Hex
  const creator = { nonce: 1n, code: '0x5f5f5ff05f5260205ff3' } as const
  expect(await callOf(new Map([[CONTRACT, creator]]))).toBe(word(BigInt(created)))
  const obstacles: FullAccount[] = [{ storage: { [word(1)]: word(1) } }, { code: '0x00' }, { nonce: 1n }]
  for (const obstacle of obstacles) {
    const state: FullState = new Map<Hex, FullAccount>([
      [CONTRACT, creator],
      [created, obstacle],
    ])
    expect(await callOf(state)).toBe(word(0))
  }
})
