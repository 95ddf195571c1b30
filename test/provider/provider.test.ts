import { encodeFunctionData } from 'viem'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createService } from '../../src/devnet/index.ts'
import { isArgumentError } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider, ProviderError, type ProviderView } from '../../src/entry/provider.ts'
import { finalizedBlockHash, type RequestProvider } from '../../src/entry/rpc.ts'
import { readVerifiedOptions } from '../../src/provider/options.ts'
import { asOfNetwork, withNetwork } from '../network.ts'
import { ALICE, BOB, demoState, MANY, manyAbi, SURROUNDINGS, surroundingsAbi, TOKEN, tokenAbi } from './contracts.ts'
import { createEndpoints, type Endpoints, ROLLUP, word } from './endpoints.ts'
import { worldOf } from './full-state.ts'

const request = (provider: { request: unknown }, method: string, ...params: unknown[]): Promise<unknown> =>
  (provider.request as (args: unknown) => Promise<unknown>)({ method, params })

const surroundings = (functionName: string, args: unknown[] = []) => ({
  to: SURROUNDINGS,
  data: encodeFunctionData({ abi: surroundingsAbi, functionName, args }),
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

describe('methods', () => {
  it('refuses unprovable methods, and forwards those that it is told to', async () => {
    const { provider } = createEndpoints(demoState)
    for (const method of ['eth_subscribe', 'eth_sendRawTransaction', 'linea_estimateGas', 'constructor']) {
      const refused = { code: 4200, reason: 'METHOD_REFUSED', data: { method } }
      const asked = request(provider(), method)
      await expect(asked, method).rejects.toMatchObject(refused)
      await expect(asked).rejects.toThrow(`the method ${method} does not exist`)
    }
    const hostile = { reason: 'METHOD_REFUSED', data: { method: `?${'x'.repeat(79)}` } }
    await expect(request(provider(), `\u202e${'x'.repeat(9999)}`)).rejects.toMatchObject(hostile)
    const forwarding = provider({ forward: ['eth_syncing', 'eth_sendRawTransaction'] })
    expect(await request(forwarding, 'eth_syncing')).toBe('0x7')
    await expect(request(forwarding, 'eth_sendRawTransaction', '0x')).rejects.toMatchObject({
      ...{ code: -32012, reason: 'ENDPOINT_FAILED', data: { error: 'METHOD_UNKNOWN', layer: 'L2' } },
    })
    const wrong = { method: 'eth_syncing', params: { to: 'x' } }
    await expect(forwarding.request(wrong)).rejects.toMatchObject({ reason: 'PARAMS_INVALID' })
    expect(() => provider({ forward: ['eth_call'] })).toThrow('proven here')
  })

  it('forwards the pending nonce if it is told to, and proves every other one', async () => {
    const { l2, provider } = createEndpoints(demoState)
    const asked: unknown[] = []
    const spying: RequestProvider = {
      async request({ method, params }) {
        if (method !== 'eth_getTransactionCount') return l2.request({ method, params })
        asked.push(params)
        return '0x63'
      },
    }
    const nonce = 'eth_getTransactionCount'
    const sending = 'eth_sendRawTransaction'
    const pending = { method: nonce, params: [ALICE, 'pending'] }
    for (const forward of [[nonce, sending], ['wallet'], ['wallet', sending]]) {
      asked.length = 0
      const unproven: string[] = []
      const wallet = provider({ l2: spying, forward })
      const ask = (method: string, ...params: unknown[]) =>
        wallet.request({ method, params }, { onNote: () => unproven.push(`${method} ${params.at(-1)}`) })
      expect(await ask(nonce, ALICE, 'pending')).toBe('0x63')
      for (const block of [['latest'], [], ['0x0']]) expect(await ask(nonce, ALICE, ...block)).toBe('0x5')
      expect(asked).toEqual([[ALICE, 'pending']])
      await expect(ask(sending, '0x')).rejects.toMatchObject({ reason: 'ENDPOINT_FAILED' })
      expect(unproven).toEqual([`${nonce} pending`, `${sending} 0x`])
      await expect(ask('wallet')).rejects.toMatchObject({ reason: 'METHOD_REFUSED' })
    }
    // A failure of the caller's own function is no failure of the endpoint.
    for (const onNote of [
      () => Reflect.apply(Reflect.get({}, 'none'), null, []),
      () => Promise.reject(new Error('mine')),
    ])
      expect(await provider({ l2: spying, forward: [nonce] }).request(pending, { onNote })).toBe('0x63')
    // A client sees it, whether it asks this provider or the proxy.
    const refused = {
      reason: 'PARAMS_INVALID',
      message: expect.stringContaining('`wallet` in `forward` (of the proxy, --forward wallet)'),
    }
    // What waits is nobody's to prove, so those who send get the newest state for it.
    expect(await request(provider({ forward: ['wallet'] }), 'eth_getBalance', ALICE, 'pending')).toBe(
      '0xde0b6b3a7640000',
    )
    await expect(request(provider(), 'eth_getBalance', ALICE, 'pending')).rejects.toMatchObject(refused)
    await expect(request(provider({ l2: spying }), nonce, ALICE, 'pending')).rejects.toMatchObject(refused)
  })

  it('answers for the configured chain', async () => {
    const provider = createEndpoints(demoState).provider()
    expect(await request(provider, 'eth_chainId')).toBe('0x539')
    expect(await request(provider, 'net_version')).toBe('1337')
    expect(await request(provider, 'eth_blockNumber')).toBe('0x0')
  })

  const UNREADABLE: [string, ...unknown[]][] = [
    ['eth_getBlockByNumber'],
    ['eth_getBlockByNumber', 'pending', false],
    ['eth_getBlockByNumber', '0x1', false, 'more'],
    ['eth_getBlockByHash', '0x1', false],
    ['eth_getBlockReceipts', {}],
    ['eth_getBlockReceipts', `0x${'zz'.repeat(32)}`],
    ['eth_getTransactionByHash', 7],
    ['eth_getTransactionReceipt', word(1), 'latest'],
    ['eth_getLogs'],
    ['eth_getLogs', 'all'],
    ['eth_getLogs', { fromBlock: '0x2', toBlock: '0x1' }],
    ['eth_getLogs', { blockHash: word(1), toBlock: '0x1' }],
    ['eth_getLogs', { blockHash: '0x1' }],
    ['eth_getLogs', { address: '0x1' }],
    ['eth_getLogs', { topics: word(1) }],
    ['eth_getLogs', { topics: [[null]] }],
    ['eth_feeHistory', '0x1'],
    ['eth_feeHistory', -1, 'latest'],
    ['eth_feeHistory', '0x1', 'latest', [101]],
    ['eth_feeHistory', '0x1', 'latest', ['50']],
    ['eth_feeHistory', '0x1', 'latest', [50, 49]],
    ['eth_gasPrice', 'latest'],
    ['eth_getBalance'],
    ['eth_getBalance', ALICE, 'latest', 'more'],
    ['eth_getBalance', '0x1', 'latest'],
    ['eth_getBalance', ALICE, 'pending'],
    ['eth_getBalance', ALICE, 'earliest'],
    ['eth_getBalance', ALICE, { blockHash: word(1) }],
    ['eth_getBalance', ALICE, { blockNumber: '0x0', blockHash: word(1) }],
    ['eth_getBalance', ALICE, '0x'],
    ['eth_getBalance', ALICE, 7],
    ['eth_getBalance', ALICE, `0x1${'0'.repeat(16)}`],
    ['eth_getStorageAt', TOKEN, `0x1${'0'.repeat(64)}`, 'latest'],
    ['eth_chainId', 1],
    ['eth_call', 'all'],
    ['eth_call', { to: TOKEN, data: '0x1' }],
    ['eth_call', { to: TOKEN, data: '0x01', input: '0x02' }],
    ['eth_call', { to: TOKEN, value: '-1' }],
    ['eth_call', { to: TOKEN, authorizationList: [{}] }],
    ['eth_call', { to: TOKEN, blobVersionedHashes: [word(1)] }],
    ['eth_call', { to: TOKEN, chainId: '0x1' }],
    ['eth_call', { to: TOKEN, gasPrice: '0x1', maxFeePerGas: '0x1' }],
    ['eth_call', { to: TOKEN, accessList: [{ address: TOKEN, storageKeys: ['all'] }] }],
    ['eth_call', { to: TOKEN }, 'latest', { [TOKEN]: { balance: '1' } }],
    ['eth_call', { to: TOKEN }, 'latest', {}, { number: '0x1' }],
    ['rollup_getProof', TOKEN, word(1), 'latest'],
  ]
  it.each(UNREADABLE)('refuses unsupported parameters: %s %j %j %j', async (method, ...params) => {
    await expect(request(createEndpoints(demoState).provider(), method, ...params)).rejects.toMatchObject({
      ...{ code: -32602, reason: 'PARAMS_INVALID' },
    })
  })

  it('throws its own error for any malformed request', async () => {
    const { request } = createEndpoints(demoState).provider()
    const junk: unknown[] = [undefined, null, 7, {}, { method: 7 }, { method: 'eth_call', params: 'x' }]
    for (const args of junk) {
      await expect((request as (args: unknown) => unknown)(args)).rejects.toMatchObject({ reason: 'PARAMS_INVALID' })
    }
  })

  it('accepts every form of a block parameter', async () => {
    const provider = createEndpoints(demoState).provider()
    for (const block of [undefined, null, 'latest', 'safe', 'finalized', '0x0', { blockNumber: '0x0' }]) {
      expect(await request(provider, 'eth_getTransactionCount', ALICE, block)).toBe('0x5')
    }
  })

  it('passes on the verified answer and nothing else', async () => {
    const endpoints = createEndpoints(demoState)
    const world = endpoints.chain.at(0n)
    endpoints.lie.l2 = (_, answer) => {
      const { accountProof, ...rest } = answer as { accountProof: object }
      return { ...rest, accountProof: { ...accountProof, balance: '0xffff' }, balance: '0xffff', codeHash: word(1) }
    }
    const given = await request(endpoints.provider(), 'rollup_getProof', TOKEN, [word(1), word(9)], 'latest')
    expect(given).toEqual(JSON.parse(JSON.stringify(world?.getProof(TOKEN, [word(1), word(9)]))))
    endpoints.lie.l2 = () => ({ jsonrpc: '2.0', id: 1, result: 7 })
    const asked = request(endpoints.provider(), 'linea_getProof', TOKEN, [], 'latest')
    await expect(asked).rejects.toThrow(ProviderError)
  })
})

describe('options', () => {
  it('allow a call 50 million gas, 1,000 requests and 10 seconds by default', () => {
    const { l1, l2, l1BlockHash } = createEndpoints(demoState)
    const options = readVerifiedOptions(
      withNetwork({ l1, l2, l1BlockHash, rollup: ROLLUP, chainId: 1n, scheme: poseidon2 }),
    )
    expect(options).toMatchObject({ maxGas: 50_000_000n, maxRequests: 1000, timeoutMs: 10_000 })
  })

  it('are checked before any request is sent', () => {
    const { provider, asked } = createEndpoints(demoState)
    const wrong: [object, string][] = [
      [{ l1: null }, 'l1'],
      [{ l2: {} }, 'l2'],
      [{ rollup: undefined }, 'rollup'],
      [{ rollup: {} }, 'rollup.address'],
      [{ rollup: { ...ROLLUP, layuot: {} } }, 'rollup.layuot'],
      [{ rollup: { ...ROLLUP, layout: { slots: 1n } } }, 'rollup.layout.slots'],
      [{ scheme: {} }, 'scheme'],
      [{ scheme: undefined }, 'scheme'],
      [{ chainId: undefined }, 'chainId'],
      [{ chainId: 0n }, 'chainId'],
      [{ chainId: 0 }, 'chainId'],
      [{ chainId: 1.5 }, 'chainId'],
      [{ chainId: '0x539' }, 'chainId'],
      [{ chainId: 1n << 256n }, 'chainId'],
      [{ l1BlockHash: word(1) }, 'l1BlockHash'],
      [{ l1BlockHash: undefined }, 'l1BlockHash'],
      [{ maxGas: 1n }, 'maxGas'],
      [{ maxGas: 50_000_000 }, 'maxGas'],
      [{ maxgas: 50_000_000n }, 'maxgas'],
      [{ maxRequests: 0 }, 'maxRequests'],
      [{ maxRequests: 10n }, 'maxRequests'],
      [{ maxKeysPerRequest: 0 }, 'maxKeysPerRequest'],
      [{ method: '' }, 'method'],
      [{ hardfork: 'frontier' }, 'hardfork'],
      [{ onView: 'log' }, 'onView'],
      [{ signal: {} }, 'signal'],
      [{ forward: 'eth_syncing' }, 'forward'],
      [{ forward: [7] }, 'forward[0]'],
      [{ forward: ['eth_call'] }, 'forward'],
      [{ environment: 7 }, 'environment'],
      [{ environment: { basefee: 7n } }, 'environment.basefee'],
      [{ environment: { baseFee: -1n } }, 'environment.baseFee'],
      [{ environment: { coinbase: '0x1' } }, 'environment.coinbase'],
      [{ environment: { timestamp: 5 } }, 'environment.timestamp'],
    ]
    for (const [options, path] of wrong) {
      const error = thrownBy(() => provider(options))
      expect(isArgumentError(error) && error.path, `${error}`).toEqual(asOfNetwork(path))
    }
    expect(wrong.length).toBe(34)
    for (const options of [undefined, null, 7, []]) {
      expect(isArgumentError(thrownBy(() => createVerifiedProvider(options as never)))).toBe(true)
    }
    expect(asked).toEqual([])
  })

  it('may state the chain as a number, or with the rollup', async () => {
    const { provider } = createEndpoints(demoState)
    const rollup = { ...ROLLUP, chainId: 1337 }
    const all = [{ chainId: 1337 }, { chainId: undefined, rollup }]
    for (const options of all) expect(await request(provider(options), 'eth_chainId')).toBe('0x539')
  })
})

describe('values that no proof covers', () => {
  const HASH = `0x${'ab'.repeat(32)}` as const
  const CASES = [
    ['timestamp', 'TIMESTAMP', { timestamp: 9n }, word(9)],
    ['blobBaseFee', 'BLOBBASEFEE', { blobBaseFee: 8n }, word(8)],
    ['coinbase', 'COINBASE', { coinbase: BOB }, `0x${'0'.repeat(24)}${BOB.slice(2)}`],
    ['randao', 'PREVRANDAO', { prevRandao: HASH }, HASH],
    ['gasLimit', 'GASLIMIT', { gasLimit: 30n }, word(30)],
    ['guarded', 'TIMESTAMP', { timestamp: 9n }, word(9)],
  ] as const
  it.each(CASES)('stops at %s unless the value is stated', async (name, instruction, environment, value) => {
    const { provider } = createEndpoints(demoState)
    await expect(request(provider(), 'eth_call', surroundings(name))).rejects.toMatchObject({
      ...{ code: -32011, reason: 'VALUE_UNPROVEN', data: { instruction } },
    })
    expect(await request(provider({ environment }), 'eth_call', surroundings(name))).toBe(value)
  })

  it('answers the block number, the chain ID, and the hash of a block that cannot exist', async () => {
    const endpoints = createEndpoints(demoState)
    endpoints.chain.addBlock()
    endpoints.chain.addBlock()
    endpoints.chain.finalize()
    const provider = endpoints.provider()
    expect(await request(provider, 'eth_call', surroundings('number'))).toBe(word(2))
    expect(await request(provider, 'eth_call', surroundings('chain'))).toBe(word(1337))
    expect(await request(provider, 'eth_call', surroundings('hashOf', [2n]))).toBe(word(0))
    const one = surroundings('hashOf', [1n])
    await expect(request(provider, 'eth_call', one)).rejects.toMatchObject({ data: { instruction: 'BLOCKHASH' } })
  })

  it('refuses a fee that depends on the base fee unless that is stated', async () => {
    const { provider } = createEndpoints(demoState)
    const call = { from: ALICE, to: BOB, value: '0x1', gas: '0x5208', maxFeePerGas: '0x9', maxPriorityFeePerGas: '0x1' }
    await expect(request(provider(), 'eth_call', call)).rejects.toMatchObject({ data: { instruction: 'BASEFEE' } })
    const stating = provider({ environment: { baseFee: 7n } })
    expect(await request(stating, 'eth_call', call)).toBe('0x')
    await expect(request(stating, 'eth_call', { ...call, from: BOB })).rejects.toMatchObject({
      ...{ code: -32000, reason: 'EXECUTION_FAILED' },
    })
  })
})

describe('limits', () => {
  it('ends an endless loop, and a chase through more slots than requests', async () => {
    const { provider } = createEndpoints(demoState)
    const spin = { to: MANY, data: encodeFunctionData({ abi: manyAbi, functionName: 'spin' }) }
    await expect(request(provider({ maxGas: 200_000n }), 'eth_call', spin)).rejects.toMatchObject({
      ...{ code: -32000, data: { error: 'out of gas' } },
    })
    const chase = { to: MANY, data: encodeFunctionData({ abi: manyAbi, functionName: 'chase', args: [40n] }) }
    expect(await request(provider(), 'eth_call', chase)).toBe(word(40))
    await expect(request(provider({ maxRequests: 20 }), 'eth_call', chase)).rejects.toMatchObject({
      ...{ code: -32013, reason: 'LIMIT_REACHED' },
    })
  })
})

describe('the view', () => {
  it('moves forward on refresh, never back, and reports it', async () => {
    const endpoints = createEndpoints(demoState)
    const { chain } = endpoints
    const seen: ProviderView[] = []
    const provider = endpoints.provider({ onView: view => seen.push(view) })
    const first = await provider.view()
    expect(first).toMatchObject({ l2BlockNumber: 0n, stateRoot: chain.at(0n)?.stateRoot(), timestamp: undefined })
    expect(first.l1Block.number).toBe(0n)
    const then = first.l1Block.timestamp
    expect(first.ageSeconds).toBe(Math.max(first.ageSeconds, Math.floor(Date.now() / 1000) - Number(then) - 5))

    chain.pending.setAccount(BOB, { balance: 4n })
    chain.addBlock()
    chain.finalize()
    expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x3')
    const second = await provider.refresh()
    expect(second.l2BlockNumber).toBe(1n)
    expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x4')
    expect(await request(provider, 'eth_getBalance', BOB, '0x0')).toBe('0x3')
    // The newest block that is proven as a block.
    expect(await request(provider, 'eth_blockNumber')).toBe('0x0')
    expect(seen.map(({ l2BlockNumber: blockNumber }) => blockNumber)).toEqual([0n, 1n])

    // The hash of an older L1 block does not move the view.
    const backwards = endpoints.provider({ l1BlockHash: async () => hashes.shift() ?? first.l1Block.hash })
    const hashes = [second.l1Block.hash, first.l1Block.hash]
    expect((await backwards.refresh()).l2BlockNumber).toBe(1n)
    expect((await backwards.refresh()).l2BlockNumber).toBe(1n)
  })

  it('stays the same throughout a request', async () => {
    const endpoints = createEndpoints(demoState)
    const provider = endpoints.provider()
    await provider.view()
    const chase = { to: MANY, data: encodeFunctionData({ abi: manyAbi, functionName: 'chase', args: [10n] }) }
    // During the call, every value that it has yet to read changes, and the change is finalized.
    let reads = 0
    endpoints.lie.l2 = (_, answer) => {
      if (++reads === 5) {
        const { pending, addBlock, finalize } = endpoints.chain
        for (const [key] of Object.entries(demoState.get(MANY)?.storage ?? {}))
          pending.setStorage(MANY, { key: key as never, value: word(0) })
        addBlock()
        finalize()
        void provider.refresh()
      }
      return answer
    }
    expect(await request(provider, 'eth_call', chase)).toBe(word(10))
    expect((await provider.refresh()).l2BlockNumber).toBe(1n)
    expect(await request(provider, 'eth_call', chase)).toBe(word(0))
  })

  it('refuses blocks whose root is not on L1', async () => {
    const endpoints = createEndpoints(demoState)
    endpoints.chain.addBlock()
    endpoints.chain.addBlock()
    endpoints.chain.finalize()
    const provider = endpoints.provider()
    for (const block of ['0x1', '0x3', '0xffffffff']) {
      const asked = request(provider, 'eth_getBalance', BOB, block)
      await expect(asked, block).rejects.toMatchObject({ code: -32001, reason: 'BLOCK_UNPROVEN' })
    }
  })

  it('falls back to an earlier finalization if the endpoint lags, and catches up later', async () => {
    const endpoints = createEndpoints(demoState, true)
    const { chain } = endpoints
    for (const balance of [4n, 5n]) {
      for (let block = 0; block < 40; block++) chain.l1.addBlock()
      chain.pending.setAccount(BOB, { balance })
      chain.addBlock()
      chain.finalize()
    }
    endpoints.lie.l2 = (_, answer, params) => {
      if (params[2] === '0x2') throw Object.assign(new Error('BLOCK_MISSING_IN_CHAIN'), { code: -32600 })
      return answer
    }
    const provider = endpoints.provider()
    expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x4')
    expect((await provider.refresh()).l2BlockNumber).toBe(1n)
    endpoints.lie.l2 = null
    expect((await provider.refresh()).l2BlockNumber).toBe(2n)
    await expect(endpoints.provider({ l1BlockHash: () => word(1) }).view()).rejects.toMatchObject({
      reason: 'ENDPOINT_FAILED',
    })
  })

  it('is fetched again after a failure', async () => {
    const endpoints = createEndpoints(demoState)
    let isDown = true
    const l1BlockHash = async () => {
      if (isDown) throw new Error('https://secret.example/key')
      return endpoints.l1BlockHash()
    }
    const provider = endpoints.provider({ l1BlockHash })
    const failed = await provider.view().catch(error => error)
    expect(failed).toMatchObject({ reason: 'ENDPOINT_FAILED' })
    expect(`${failed}`).not.toContain('secret')
    isDown = false
    expect((await provider.refresh()).l2BlockNumber).toBe(0n)
  })

  it('is looked for once in some seconds while there is none', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const endpoints = createEndpoints(demoState)
    let [asked, isDown] = [0, true]
    const l1 = {
      request: async (args: { method: string }) => {
        asked++
        if (isDown) throw new Error('down')
        return endpoints.l1.request(args)
      },
    }
    const provider = endpoints.provider({ l1 })
    const balance = () => provider.request({ method: 'eth_getBalance', params: [ALICE] })
    const first = await Promise.allSettled([balance(), balance(), provider.view()])
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set(['rejected']))
    const once = asked
    expect(once).toBeGreaterThan(0)
    for (let count = 0; count < 20; count++) {
      await expect(balance()).rejects.toMatchObject({ reason: 'ENDPOINT_FAILED', data: { error: 'UNREACHABLE' } })
      vi.setSystemTime(Date.now() + 200)
    }
    expect(asked).toBe(once)
    isDown = false
    vi.setSystemTime(Date.now() + 1001)
    expect(await balance()).toBe('0xde0b6b3a7640000')
  })
})

describe('the chain of the endpoint', () => {
  const serving = (endpoints: Endpoints, id: unknown) => {
    const asked: string[] = []
    const l2: RequestProvider = {
      async request(args) {
        asked.push(args.method)
        if (args.method !== 'eth_chainId') return endpoints.l2.request(args)
        if (id instanceof Error) throw id
        return id
      },
    }
    return { asked, l2 }
  }

  it('is asked for once, before the first answer', async () => {
    const endpoints = createEndpoints(demoState)
    for (const method of ['eth_chainId', 'net_version', 'eth_blockNumber']) {
      const { asked, l2 } = serving(endpoints, '0x539')
      const provider = endpoints.provider({ l2 })
      await Promise.all([request(provider, method), request(provider, method)])
      await provider.refresh()
      await request(provider, 'eth_getBalance', ALICE)
      await request(provider, 'eth_chainId')
      expect(asked.filter(method => method === 'eth_chainId')).toEqual(['eth_chainId'])
      expect(asked[0]).toBe('eth_chainId')
    }
  })

  it('refuses every answer if it is another one, and recovers', async () => {
    const endpoints = createEndpoints(demoState)
    const cases: [unknown, string, string][] = [
      ['0x1', 'CHAIN_MISMATCH', 'change'],
      [1337, 'ANSWER_MALFORMED', 'change'],
      [null, 'ANSWER_MALFORMED', 'change'],
      [new Error('down'), 'UNREACHABLE', 'wait'],
    ]
    for (const [id, error, action] of cases) {
      const { asked, l2 } = serving(endpoints, id)
      const provider = endpoints.provider({ l2, forward: ['eth_syncing'] })
      const refused = { reason: 'ENDPOINT_FAILED', action, data: { error, layer: 'L2' } }
      for (const method of ['eth_chainId', 'net_version', 'eth_blockNumber', 'eth_syncing']) {
        await expect(request(provider, method), `${id}`).rejects.toMatchObject(refused)
      }
      await expect(provider.view()).rejects.toMatchObject(refused)
      expect(new Set(asked)).toEqual(new Set(['eth_chainId']))
    }
    expect(cases.length).toBe(4)
    let id = '0x1'
    const changing: RequestProvider = {
      request: async args => (args.method === 'eth_chainId' ? id : endpoints.l2.request(args)),
    }
    const provider = endpoints.provider({ l2: changing })
    await expect(request(provider, 'eth_chainId')).rejects.toThrow('Chain 1 instead of 1337')
    id = '0x539'
    expect(await request(provider, 'eth_chainId')).toBe('0x539')
  })
})

describe('several endpoints', () => {
  const down: RequestProvider = { request: () => Promise.reject(new Error('down')) }

  it('are asked in turn, where one fails, lies or serves another chain', async () => {
    const [endpoints, lying] = [
      createEndpoints(demoState),
      createEndpoints(new Map(demoState).set(BOB, { balance: 4n })),
    ]
    const elsewhere: RequestProvider = {
      request: async args => (args.method === 'eth_chainId' ? '0x1' : endpoints.l2.request(args)),
    }
    const [l1, l2] = [
      [down, endpoints.l1],
      [down, elsewhere, lying.l2, endpoints.l2],
    ]
    const provider = endpoints.provider({ l1, l2 })
    expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x3')
    const balanceOf = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [BOB] })
    expect(await request(provider, 'eth_call', { to: TOKEN, data: balanceOf })).toBe(word(7))
    const failing = endpoints.provider({ l2: [down, elsewhere] })
    // What is most likely to pass decides what to do.
    await expect(request(failing, 'eth_chainId')).rejects.toMatchObject({
      data: { error: 'UNREACHABLE' },
      action: 'wait',
    })
  })

  it('may be URLs', async () => {
    const service = createService({ genesis: worldOf(demoState), rollup: ROLLUP })
    const { url, l1Url } = await service.listen()
    onTestFinished(() => service.close({ graceMs: 0 }))
    const endpoints = createEndpoints(demoState)
    const l1BlockHash = finalizedBlockHash(l1Url)
    const provider = endpoints.provider({ l1: new URL(l1Url), l2: url, l1BlockHash })
    expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x3')
  })
})

describe('the signal', () => {
  const aborted = { reason: 'ENDPOINT_FAILED', action: 'none', data: { error: 'ABORTED' } }

  it('ends requests in flight, whatever they wait for, and all later ones', async () => {
    const silent: RequestProvider = { request: () => new Promise(() => {}) }
    const waits: object[] = [{ l1: silent }, { l2: silent }, { l1BlockHash: () => new Promise(() => {}) }]
    for (const options of waits) {
      const controller = new AbortController()
      const provider = createEndpoints(demoState).provider({ ...options, signal: controller.signal })
      const asked: Promise<unknown>[] = [provider.view(), provider.refresh(), request(provider, 'eth_getBalance', BOB)]
      setImmediate(() => controller.abort(new Error('enough')))
      for (const one of asked) {
        await expect(one).rejects.toMatchObject({ ...aborted, cause: { cause: { message: 'enough' } } })
      }
    }
    expect(waits.length).toBe(3)
  })

  it('also ends answers from memory, and sends nothing any more', async () => {
    const endpoints = createEndpoints(demoState)
    const controller = new AbortController()
    const provider = endpoints.provider({ signal: controller.signal, forward: ['eth_syncing'] })
    expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x3')
    controller.abort()
    endpoints.asked.length = 0
    for (const method of ['eth_chainId', 'eth_syncing', 'eth_getBalance', 'eth_blockNumber']) {
      await expect(request(provider, method, BOB), method).rejects.toMatchObject(aborted)
    }
    await expect(provider.view()).rejects.toMatchObject(aborted)
    expect(endpoints.asked).toEqual([])
  })
})

it('names the packages that calls need, and works without them otherwise', async () => {
  vi.resetModules()
  vi.doMock('@ethereumjs/evm', () => {
    throw new Error('not installed')
  })
  const endpoints = createEndpoints(demoState)
  const { createVerifiedProvider: create } = await import('../../src/entry/provider.ts')
  const { poseidon2 } = await import('../../src/entry/poseidon2.ts')
  const { l1, l2, l1BlockHash } = endpoints
  const provider = create(withNetwork({ l1, l2, l1BlockHash, rollup: ROLLUP, scheme: poseidon2, chainId: 1337n }))
  expect(create).not.toBe(createVerifiedProvider)
  expect(await request(provider, 'eth_getBalance', BOB)).toBe('0x3')
  const error = await request(provider, 'eth_call', { to: TOKEN }).catch(error => error)
  expect(error).toMatchObject({ code: -32014, reason: 'EVM_MISSING' })
  expect(`${error}`).toContain('@ethereumjs/common')
  vi.doUnmock('@ethereumjs/evm')
})
