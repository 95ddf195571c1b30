import { JsonRpcApiProvider, type JsonRpcError, type JsonRpcPayload, type JsonRpcResult } from 'ethers'
import { encodeFunctionData } from 'viem'
import { describe, expect, it } from 'vitest'
import { isArgumentError } from '../../src/entry/index.ts'
import { ProviderError, type VerifiedProviderOptions } from '../../src/entry/provider.ts'
import { finalizedBlockHash, type RequestProvider } from '../../src/entry/rpc.ts'
import { skipTime } from '../client/clock.ts'
import { ALICE, BOB, demoState, SURROUNDINGS, surroundingsAbi } from './contracts.ts'
import { createEndpoints, word } from './endpoints.ts'

const timestampCall = {
  to: SURROUNDINGS,
  data: encodeFunctionData({ abi: surroundingsAbi, functionName: 'timestamp' }),
}
const askTimestamp = (provider: RequestProvider, block = 'latest') =>
  provider.request({ method: 'eth_call', params: [timestampCall, block] })

describe('the timestamp', () => {
  function setUp() {
    const endpoints = createEndpoints(demoState, true)
    endpoints.chain.addBlock()
    endpoints.chain.finalize()
    const made = Reflect.get(endpoints.chain.l1.getBlock(endpoints.chain.l1.blockNumber()) ?? {}, 'timestamp')
    return { ...endpoints, newestL1: BigInt(made as string) }
  }

  it('is proven for the newest finalization only, and used in execution', async () => {
    const { provider, newestL1 } = setUp()
    const verified = provider()
    const { timestamp, ageSeconds: age } = await verified.view()
    expect(timestamp).toBeGreaterThan(0n)
    expect(timestamp).toBeLessThan(newestL1)
    const now = Math.floor(Date.now() / 1000)
    expect(Math.abs(age - (now - Number(timestamp)))).toBeLessThan(60)
    expect(await askTimestamp(verified)).toBe(word(timestamp ?? 0n))
    await expect(askTimestamp(verified, '0x0')).rejects.toMatchObject({ data: { instruction: 'TIMESTAMP' } })
    // A timestamp that the caller states takes precedence.
    expect(await askTimestamp(provider({ environment: { timestamp: 5n } }))).toBe(word(5))
    expect((await verified.refresh()).timestamp).toBe(timestamp)
  })

  it('is not proven by a false log, while the rest still is', async () => {
    const lies: ((logs: { data: string; topics: string[] }[]) => unknown)[] = [
      logs => logs.map(log => ({ ...log, data: `${log.data.slice(0, 60)}ffff${log.data.slice(64)}` })),
      logs => logs.map(log => ({ ...log, topics: [log.topics[0], word(9)] })),
      () => [],
      () => null,
      () => 'x'.repeat(100_000),
      () => [{ data: {}, topics: 7 }],
      () => {
        throw Object.assign(new Error('no'), { code: -32601 })
      },
    ]
    for (const lie of lies) {
      const endpoints = setUp()
      endpoints.lie.l1 = (method, answer) => (method === 'eth_getLogs' ? lie(answer as never) : answer)
      const provider = endpoints.provider()
      const view = await provider.view()
      expect(view).toMatchObject({ l2BlockNumber: 1n, timestamp: undefined })
      await expect(askTimestamp(provider)).rejects.toMatchObject({ reason: 'VALUE_UNPROVEN' })
      expect(await provider.request({ method: 'eth_getBalance', params: [BOB] })).toBe('0x3')
    }
    expect(lies.length).toBe(7)
  })
})

/** Whatever `work` throws. */
function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}

const boom = (): never => {
  throw new TypeError('https://key.example/secret')
}

describe('the options of a provider', () => {
  it('are refused if they are unknown, unreadable or of the wrong type', () => {
    const { provider } = createEndpoints(demoState)
    const wrong: object[] = [
      ...[{ l1: 'ftp://key.example/secret' }, { maxRequests: 1e300 }, { forward: new Proxy([], { get: boom }) }],
      Object.defineProperty({}, 'rollup', { get: boom, enumerable: true }),
      { l2: new Proxy({}, { get: boom }) },
      { environment: new Proxy({}, { ownKeys: boom }) },
      { rollup: { address: '0x'.padEnd(1_000_000, '1') } },
      { scheme: { name: 'x'.repeat(1_000_000) } },
    ]
    for (const [index, options] of wrong.entries()) {
      const { l1, l2, l1BlockHash } = createEndpoints(demoState)
      const error = thrownBy(() => provider({ l1, l2, l1BlockHash, ...options } as Partial<VerifiedProviderOptions>))
      const isRefused = isArgumentError(error)
      // Spreading the options triggers some getters before the library is called.
      if (!(error instanceof TypeError)) expect(isRefused, `${index}: ${error}`).toBe(true)
      expect(String(error).length).toBeLessThan(2_000)
      if (isRefused) expect(String(error)).not.toContain('secret')
    }
    expect(wrong.length).toBe(8)
  })

  it('are not read from a polluted Object.prototype', async () => {
    const { provider } = createEndpoints(demoState)
    const polluted: Record<string, unknown> = {
      ...{ baseFee: 7n, timestamp: 7n, forward: ['debug_traceCall'] },
    }
    for (const [name, value] of Object.entries(polluted)) {
      Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    }
    try {
      const verified = provider()
      await expect(verified.request({ method: 'debug_traceCall' })).rejects.toMatchObject({ reason: 'METHOD_REFUSED' })
      await expect(askTimestamp(verified)).rejects.toMatchObject({ reason: 'VALUE_UNPROVEN' })
    } finally {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
    }
  })

  it('may include a provider of ethers, which has send', async () => {
    class Ethers extends JsonRpcApiProvider {
      readonly inner: RequestProvider

      constructor(inner: RequestProvider) {
        super(1337, { staticNetwork: true })
        this.inner = inner
        this._start()
      }
      async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
        const all = Array.isArray(payload) ? payload : [payload]
        return Promise.all(
          all.map(async ({ id, method, params }) => {
            const asked = this.inner.request({ method, params: params as unknown[] })
            return asked.then(
              result => ({ id, result }),
              ({ code, message }) => ({ id, error: { code, message } }),
            )
          }),
        )
      }
    }
    const endpoints = createEndpoints(demoState)
    const [l1, l2] = [new Ethers(endpoints.l1), new Ethers(endpoints.l2)]
    const l1BlockHash = finalizedBlockHash([l1, endpoints.l1])
    const verified = endpoints.provider({ l1, l2, l1BlockHash })
    expect(await verified.request({ method: 'eth_getBalance', params: [ALICE] })).toBe('0xde0b6b3a7640000')
    expect(await finalizedBlockHash(l1)()).toBe(await endpoints.l1BlockHash())
    for (const each of [l1, l2]) each.destroy()
  })
})

describe('sources of the L1 block hash', () => {
  it('cannot undo a finalized view: it stays, and the error names both values', async () => {
    // Two histories of the same length. Bob's balance differs between them.
    const [one, other] = [demoState, new Map(demoState).set(BOB, { balance: 4n })].map(state => createEndpoints(state))
    if (!one || !other) throw new Error('two')
    let current = one
    const either = (side: 'l1' | 'l2'): RequestProvider => ({ request: args => current[side].request(args) })
    const verified = one.provider({ l1: either('l1'), l2: either('l2'), l1BlockHash: () => current.l1BlockHash() })
    const { l1Block, stateRoot } = await verified.view()
    current = other
    const undone = await verified.refresh().catch(error => error)
    expect(undone).toBeInstanceOf(ProviderError)
    expect(undone.data).toMatchObject({ error: 'L1_DISAGREEMENT' })
    // Each has answered.
    expect(undone.message).toMatch(/^The endpoints gave no answer that can be used\. L1_DISAGREEMENT: /)
    for (const hash of [l1Block.hash, await other.l1BlockHash()]) expect(undone.message).toContain(hash)
    // In the other history, the same L2 block has another root.
    other.chain.l1.addBlock()
    const later = await verified.refresh().catch(error => error)
    expect(later.data).toMatchObject({ error: 'L1_DISAGREEMENT' })
    expect(later.message).toContain(stateRoot)
    expect(await verified.view()).toMatchObject({ stateRoot, l1Block })
    expect(await verified.request({ method: 'eth_blockNumber' })).toBe('0x0')
  })

  it('are refused if they return anything but 32 bytes', async () => {
    const endpoints = createEndpoints(demoState)
    const given: unknown[] = [
      ...[undefined, null, 7, {}, '', '0x', word(1).toUpperCase(), `${word(1)}00`, 'x'.repeat(5_000_000)],
      { toString: () => word(1) },
      // biome-ignore lint/suspicious/noThenProperty: the test is about how await treats it
      { then: boom },
      Object.defineProperty({}, 'then', { get: boom }),
    ]
    const refused = { reason: 'ARGUMENT_INVALID', action: 'fix', data: { path: 'l1BlockHash' } }
    for (const value of given) {
      const l1BlockHash = (() => value) as unknown as VerifiedProviderOptions['l1BlockHash']
      const error = await endpoints
        .provider({ l1BlockHash })
        .view()
        .catch(error => error)
      expect(error).toBeInstanceOf(ProviderError)
      const isThenable = Object(value) === value && 'then' in Object(value)
      expect(error).toMatchObject(isThenable ? { reason: 'ENDPOINT_FAILED' } : refused)
      expect(`${error.message}${JSON.stringify(error.data)}`.length).toBeLessThan(2_000)
      expect(`${error}`).not.toContain('secret')
    }
    expect(given.length).toBe(12)
  })

  it('outvote endpoints that throw, echo, hang or send huge answers', async () => {
    skipTime()
    const { l1, l1BlockHash } = createEndpoints(demoState)
    const hostile: RequestProvider[] = [
      { request: boom },
      { request: async () => new Proxy({}, { get: boom, ownKeys: boom, getOwnPropertyDescriptor: boom }) },
      { request: async args => args },
      { request: () => new Promise(() => {}) },
      { request: async () => ({ number: `0x${'f'.repeat(3_000_000)}`, hash: 'x'.repeat(3_000_000) }) },
      { request: async () => Promise.reject({ code: 'https://key.example/secret', message: 'x'.repeat(3_000_000) }) },
    ]
    const honest = Array.from({ length: 7 }, (): RequestProvider => ({ request: args => l1.request(args) }))
    const told: unknown[] = []
    const ask = finalizedBlockHash([...hostile, ...honest], { onDissent: odd => told.push(...odd) })
    expect(await ask()).toBe(await l1BlockHash())
    expect(told.length).toBe(6)
    expect(JSON.stringify(told).length).toBeLessThan(2_000)
    expect(JSON.stringify(told)).not.toContain('secret')
    const error = await finalizedBlockHash(hostile, { quorum: 1 })().catch(error => error)
    expect(error).toMatchObject({ code: 'L1_UNCONFIRMED' })
    expect(error.message.length).toBeLessThan(3_000)
  })
})
