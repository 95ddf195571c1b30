import { createPublicClient, custom, encodeFunctionData, getContractAddress, keccak256, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError } from '../../src/entry/provider.ts'
import { ALICE, BOB, demoState, TOKEN, tokenAbi } from './contracts.ts'
import { at, createEndpoints, word } from './endpoints.ts'
import type { FullAccount } from './full-state.ts'

/** What a client assumes about the state, over what is proven. `anvil/` compares some hundred such calls with another EVM. */

const RETURN = '5f5260205ff3'
/** Returns slot 0, slot 7, its balance, and its nonce as the address that it would create. */
const SEEN: Hex = '0x5f545f526007546020524760405260605ff3'
const [TARGET, EMPTY] = [at('c0'), at('ee')]
const state = new Map([
  [TARGET, { nonce: 1n, balance: 9n, code: SEEN, storage: { [word(0)]: word(5), [word(1)]: word(6) } }],
])
const join = (...words: (number | bigint)[]): Hex => `0x${words.map(each => word(each).slice(2)).join('')}`

function setUp() {
  const endpoints = createEndpoints(state, false)
  const provider = endpoints.provider()
  const call = (overrides?: unknown, more: object = {}, values?: unknown) =>
    provider.request({ method: 'eth_call', params: [{ to: TARGET, ...more }, 'latest', overrides, values] })
  return { ...endpoints, provider, call }
}

it('reads what is assumed, and proves the rest', async () => {
  const { call } = setUp()
  const found = async (own: object) => [await call({ [TARGET]: own })]
  expect(await found({})).toEqual([join(5, 0, 9)])
  expect(await found({ balance: '0x1', nonce: '0x2' })).toEqual([join(5, 0, 1)])
  expect(await found({ stateDiff: { [word(7)]: word(8) } })).toEqual([join(5, 8, 9)])
  expect(await found({ stateDiff: { [word(0)]: word(0) } })).toEqual([join(0, 0, 9)])
  expect(await found({ state: { [word(7)]: word(8) } })).toEqual([join(0, 8, 9)])
  expect(await found({ state: {}, stateDiff: null })).toEqual([join(0, 0, 9)])
  expect(await found({ code: `0x47${RETURN}` })).toEqual([word(9)])
  expect(await found({ code: '0x' })).toEqual(['0x'])
  // Of an account that does not exist, and by addresses in any case.
  const other = {
    [EMPTY.toUpperCase().replace('X', 'x')]: { code: SEEN, balance: '0x3', stateDiff: { [word(7)]: word(1) } },
  }
  expect(await call(other, { to: EMPTY })).toBe(join(0, 1, 3))
  // EXTCODESIZE and EXTCODEHASH are those of the code that is assumed.
  const ofOther = async (instruction: string) =>
    call({ ...other, [TARGET]: { code: `0x73${EMPTY.slice(2)}${instruction}${RETURN}` } })
  expect([await ofOther('3b'), await ofOther('3f')]).toEqual([word(SEEN.length / 2 - 1), keccak256(SEEN)])
})

it('asks for no slot of an account whose storage is replaced, and for its other fields', async () => {
  const { call, lie } = setUp()
  const proven: [Hex, Hex[]][] = []
  lie.l2 = (method, answer, [address, keys]) => {
    if (method === 'rollup_getProof') proven.push([address as Hex, keys as Hex[]])
    return answer
  }
  expect(await call({ [TARGET]: { state: {} } })).toBe(join(0, 0, 9))
  const ofTarget = proven.filter(([address]) => address === TARGET)
  expect(ofTarget.length).toBeGreaterThan(0)
  expect(ofTarget.flatMap(([, keys]) => keys)).toEqual([])
  // A lie about a field that is not replaced does not get through.
  lie.l2 = (method, answer, [address]) => {
    const text = JSON.stringify(answer)
    return method === 'rollup_getProof' && address === TARGET
      ? JSON.parse(text.replace(/"value":"0x0[0-9]/, '"value":"0x7f'))
      : answer
  }
  const fresh = setUp()
  fresh.lie.l2 = lie.l2
  await expect(fresh.call({ [TARGET]: { state: {} } })).rejects.toMatchObject({ reason: 'PROOF_REFUSED' })
})

it('asks endpoints for a hint about the call as it is assumed', async () => {
  const { provider, lie } = createEndpoints(state, true)
  const hints: unknown[] = []
  lie.l2 = (method, answer, params) => {
    if (method === 'eth_createAccessList') hints.push(params[2])
    return answer
  }
  const own = { [TARGET]: { balance: '0x0a', stateDiff: { [word(7)]: word(1) } } }
  const ask = (...overrides: unknown[]) =>
    provider().request({ method: 'eth_call', params: [{ to: TARGET }, 'latest', ...overrides] })
  expect(await ask(own)).toBe(join(5, 1, 10))
  expect(await ask()).toBe(join(5, 0, 9))
  expect(hints).toEqual([{ [TARGET]: { balance: '0xa', stateDiff: { [word(7)]: word(1) } } }, undefined])
})

it('keeps nothing that is assumed: what is proven stays proven', async () => {
  const { call, provider, lie } = setUp()
  const assumed = {
    [TARGET]: { balance: '0x1', nonce: '0x9', code: `0x600954${RETURN}`, stateDiff: { [word(0)]: word(1) } },
  }
  const plain = join(5, 0, 9)
  const ask = (method: string, ...params: unknown[]) => provider.request({ method, params })
  const all = async () => [
    ...[await call(), await ask('eth_getBalance', TARGET), await ask('eth_getTransactionCount', TARGET)],
    ...[await ask('eth_getCode', TARGET), await ask('eth_getStorageAt', TARGET, '0x0')],
  ]
  const found = [plain, '0x9', '0x1', SEEN, word(5)]
  expect(await call(assumed)).toBe(word(0))
  expect(await all()).toEqual(found)
  expect(await call(assumed)).toBe(word(0))
  expect(await all()).toEqual(found)

  // Nor is it a hint for the same call: at another block, only what that reads is fetched.
  const other = createEndpoints(state, false)
  const later = other.provider()
  const asking = (...overrides: unknown[]) =>
    later.request({ method: 'eth_call', params: [{ to: TARGET }, 'latest', ...overrides] })
  await asking(assumed)
  other.chain.addBlock()
  other.chain.finalize()
  await later.refresh()
  const keys: unknown[] = []
  other.lie.l2 = (method, answer, [address, more]) => {
    if (method === 'rollup_getProof' && address === TARGET) keys.push(...(more as Hex[]))
    return answer
  }
  expect(await asking()).toBe(plain)
  expect(keys.sort()).toEqual([word(0), word(7)])
  lie.l2 = null
})

it('follows nodes in gas, in creation, and in what the sender has', async () => {
  const { provider } = setUp()
  const ask = (method: string, ...params: unknown[]) => provider.request<Hex>({ method, params })
  const estimate = (overrides: object, call: object = { to: TARGET }) =>
    ask('eth_estimateGas', call, 'latest', overrides)
  // Writes 1 to slot 0: cheap if 1 is there, dearer if another number is there, dearest if nothing is there.
  const write = (more: object) => estimate({ [TARGET]: { code: '0x60015f5500', ...more } }).then(BigInt)
  const costs = [await write({ stateDiff: { [word(0)]: word(1) } }), await write({}), await write({ state: {} })]
  expect(costs.map((cost, index) => cost > (costs[index - 1] ?? 0n) + 2000n)).toEqual([true, true, true])
  // The sender has what it is assumed to have.
  const paying = { from: EMPTY, to: BOB, value: '0x5', gasPrice: '0x1' }
  await expect(ask('eth_call', paying, 'latest')).rejects.toMatchObject({ reason: 'EXECUTION_FAILED' })
  expect(await ask('eth_call', paying, 'latest', { [EMPTY]: { balance: '0xffffffffffff' } })).toBe('0x')
  expect(BigInt(await estimate({ [EMPTY]: { balance: '0x5209' } }, { ...paying, value: '0x1' }))).toBe(21_000n)
  // Storage that is proven stands in the way of a new contract (EIP-7610), storage that is assumed does not, and nonces do.
  const creator = { [EMPTY]: { nonce: '0x0', balance: '0x1' } }
  const target = '0x5f5f5ff0'
  const created = async (own: object) =>
    BigInt(
      await ask('eth_call', { to: TARGET }, 'latest', { ...creator, [TARGET]: { code: `${target}${RETURN}`, ...own } }),
    )
  expect(await created({ nonce: '0x1' })).toBeGreaterThan(0n)
  expect(await created({ nonce: '0x1' })).not.toBe(await created({ nonce: '0x2' }))
  // Nor does storage that is proven, if all of it is replaced.
  const made = getContractAddress({ from: TARGET, nonce: 1n }).toLowerCase() as Hex
  const blocked = createEndpoints(
    new Map<Hex, FullAccount>([...state, [made, { storage: { [word(1)]: word(1) } }]]),
    false,
  ).provider()
  const code = `0x5f5f5ff0${RETURN}`
  const results: unknown[] = []
  for (const own of [{}, { stateDiff: { [word(1)]: word(0) } }, { state: { [word(1)]: word(2) } }]) {
    const params = [{ to: TARGET }, 'latest', { [TARGET]: { code }, [made]: own }]
    results.push(await blocked.request({ method: 'eth_call', params }))
  }
  expect(results).toEqual([word(0), word(0), word(BigInt(made))])
  const { accessList } = await provider.request<{ accessList: unknown[] }>({
    ...{ method: 'eth_createAccessList', params: [{ to: BOB }, 'latest', { [BOB]: { code: `0x6003${'54'}00` } }] },
  })
  expect(accessList).toEqual([{ address: BOB, storageKeys: [word(3)] }])
})

it('takes the values of its block that a client assumes', async () => {
  const { provider, call } = setUp()
  const values = {
    ...{ time: '0x10', gasLimit: '0x20', feeRecipient: TARGET, prevRandao: word(4), baseFeePerGas: '0x5' },
    blobBaseFee: '0x6',
  }
  const read = (instruction: string, given?: object) =>
    call({ [TARGET]: { code: `0x${instruction}${RETURN}` } }, {}, given)
  const found: unknown[] = []
  for (const instruction of ['42', '45', '41', '44', '48', '4a']) found.push(await read(instruction, values))
  expect(found).toEqual([16, 32, BigInt(TARGET), 4, 0, 6].map(word))
  await expect(read('45')).rejects.toMatchObject({ reason: 'VALUE_UNPROVEN', data: { instruction: 'GASLIMIT' } })
  // They go before what the provider is told, and hold for one call.
  const told = createEndpoints(state, false).provider({ environment: { gasLimit: 1n } })
  const limit = (...more: unknown[]) =>
    told.request({ method: 'eth_call', params: [{ data: `0x45${RETURN}` }, 'latest', null, ...more] })
  expect([await limit(), await limit({ gasLimit: '0x9' }), await limit()]).toEqual([word(1), word(9), word(1)])
  expect(provider).toBeDefined()
})

it('refuses what it does not know, before it asks anybody', async () => {
  const { call, asked, provider } = setUp()
  await provider.view()
  asked.length = 0
  const slots = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [word(index), word(1)]))
  const [own, twice] = [{ balance: '0x1' }, JSON.parse(`{"${at('ab')}":{},"${at('AB')}":{}}`)]
  const thrower = new Proxy({}, { ownKeys: () => { throw new Error('no') } }) // biome-ignore format: one line
  const wrong: [unknown, RegExp, unknown?][] = [
    ...(['x', 1, [], true, [own]] as const).map(each => [each, /expected an object/] as [unknown, RegExp]),
    [thrower, /expected an object/],
    [{ [TARGET]: null }, /expected an object/],
    [{ [TARGET]: 'x' }, /expected an object/],
    [{ '0x12': own }, /address of a state override/],
    [JSON.parse('{"__proto__":{"balance":"0x1"}}'), /address of a state override/],
    [twice, /twice/],
    [{ [TARGET]: { balance: '1' } }, /balance: expected a quantity/],
    [{ [TARGET]: { balance: `0x1${'0'.repeat(64)}` } }, /balance/],
    [{ [TARGET]: { nonce: `0x1${'0'.repeat(16)}` } }, /nonce/],
    [{ [TARGET]: { code: '0x1' } }, /code/],
    [{ [TARGET]: { code: `0x${'00'.repeat(24_577)}` } }, /24576 bytes/],
    [{ [TARGET]: { state: { '0x1': word(1) } } }, /slot: expected/],
    [{ [TARGET]: { state: { [word(1)]: '0x1' } } }, /value of a slot: expected/],
    [{ [TARGET]: { state: {}, stateDiff: {} } }, /state and stateDiff/],
    [{ [TARGET]: { state: slots(4096) } }, /more than 4096/],
    [{ [TARGET]: { state: slots(2048) }, [EMPTY]: { state: slots(2047) } }, /more than 4096/],
    [{ [TARGET]: { movePrecompileToAddress: EMPTY } }, /movePrecompileToAddress/],
    [{ [TARGET]: { ...own, 'b\u202e': 1 } }, /not supported here/],
    [{ [`0x${'0'.repeat(39)}5`]: own }, /precompile/],
    [{ [`0x${'0'.repeat(37)}100`]: own }, /precompile/],
    [null, /block override: expected an object/, 'x'],
    [null, /not supported here: number/, { number: '0x1' }],
    [null, /not supported here: blockHash/, { blockHash: {} }],
    [null, /time: expected/, { time: 1 }],
    [null, /feeRecipient: expected/, { feeRecipient: '0x1' }],
  ]
  for (const [overrides, message, values] of wrong) {
    const error: Error = await call(overrides, {}, values).then(
      () => new Error('it was answered'),
      thrown => thrown,
    )
    expect(isProviderError(error) && error.reason, String(message)).toBe('PARAMS_INVALID')
    expect(error.message).toMatch(message)
    expect(error.message.length).toBeLessThan(240)
  }
  expect(wrong).toHaveLength(30)
  expect(asked).toEqual([])
  // What is just within the limits, and the zero address, which is no precompile.
  const most = { [TARGET]: { code: `0x${'00'.repeat(24_576)}`, state: slots(4094) }, [at('00')]: own }
  expect(await call(most)).toBe('0x')
  const list = provider.request({
    method: 'eth_createAccessList',
    params: [{ to: TARGET }, 'latest', {}, { time: '0x1' }],
  })
  await expect(list).rejects.toMatchObject({ reason: 'PARAMS_INVALID' })
})

it('serves viem: calls without a deployed contract, and assumed state', async () => {
  const client = createPublicClient({ transport: custom(createEndpoints(demoState).provider()) })
  const balanceOf = { abi: tokenAbi, address: TOKEN, functionName: 'balanceOf', args: [ALICE] } as const
  // With creation code: a creation that calls what it deploys.
  const data = encodeFunctionData({ abi: parseAbi(['function any()']) })
  expect((await client.call({ code: `0x676009${RETURN}5f5260086018f3`, data })).data).toBe(word(9))
  const results = await client.multicall({ contracts: [balanceOf, { ...balanceOf, args: [BOB] }], deployless: true })
  expect(results.map(({ result }) => result)).toEqual([100n, 7n])
  const code = `0x600a${RETURN}` as const
  expect(await client.readContract({ ...balanceOf, stateOverride: [{ address: TOKEN, code }] })).toBe(10n)
  const stateOverride = [{ address: EMPTY, balance: 10n ** 18n }]
  expect(await client.estimateGas({ account: EMPTY, to: BOB, value: 5n, stateOverride })).toBe(21_000n)
  const { data: time } = await client.call({ data: `0x42${RETURN}`, blockOverrides: { time: 77n } })
  expect(time).toBe(word(77))
})
