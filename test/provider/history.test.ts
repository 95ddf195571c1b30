import { expect, it } from 'vitest'
import { createService, demoWorld } from '../../src/devnet/index.ts'
import type { FullChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { historyContract, historySlot } from '../../src/entry/blocks.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createVerifiedProvider,
  recordCall,
  type VerifiedProviderOptions,
  verifyCallEvidence,
} from '../../src/entry/provider.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { type InParts, withNetwork } from '../network.ts'
import { at, createEndpoints, LEFT, ROLLUP, word } from './endpoints.ts'

/** What calls learn of earlier blocks, from their hashes in the state (EIP-2935). */

const RETURN = '5f5260205ff3'
const USER = at('a1')

type Lie = (method: string, answer: unknown) => unknown

/** A chain of 13 blocks, of which 5, 8 and 12 are the last of finalizations. */
function setUp() {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  for (const last of [5n, 8n, 12n]) {
    while (chain.latest() < last) chain.addBlock()
    chain.finalize()
  }
  const asked: string[] = []
  const lie: { now: Lie } = { now: (_, answer) => answer }
  // The object has more methods than its public type.
  const full = chain as FullChain
  const serve = (methods: ReturnType<typeof l2Methods>): RequestProvider => ({
    async request({ method, params = [] }) {
      asked.push(method)
      return lie.now(method, JSON.parse(JSON.stringify((await methods.get(method)?.(params as unknown[])) ?? null)))
    },
  })
  const [l1, l2] = [serve(l1Methods(full, 1338n)), serve(l2Methods(full, 1337n))]
  const blockOf = async (endpoint: RequestProvider, block: string) =>
    Object(await endpoint.request({ method: 'eth_getBlockByNumber', params: [block, false] }))
  const about = { scheme: poseidon2, rollup: ROLLUP, chainId: 1337 }
  const provider = (options: Partial<InParts<VerifiedProviderOptions>> = {}) =>
    createVerifiedProvider(
      withNetwork({
        ...{ l1, l2, ...about, timeoutMs: 100_000, l1BlockHash: async () => (await blockOf(l1, 'finalized')).hash },
        ...options,
      }),
    )
  return {
    chain,
    l1,
    l2,
    asked,
    lie,
    about,
    provider,
    block: (number: bigint) => blockOf(l2, `0x${number.toString(16)}`),
  }
}

/** Makes calls that return what these instructions leave on the stack. */
const caller =
  (provider: ReturnType<ReturnType<typeof setUp>['provider']>) =>
  (code: string, block = 'latest') =>
    provider.request<Hex>({ method: 'eth_call', params: [{ from: USER, data: `0x${code}${RETURN}` }, block] })

it('answers BLOCKHASH from the state of the same block', async () => {
  const { provider, block, asked, lie } = setUp()
  const call = caller(provider())
  expect(await call('600b40')).toBe((await block(11n)).hash)
  expect(await call('600040')).toBe((await block(0n)).hash)
  expect(await call('600740', '0x8')).toBe((await block(7n)).hash)
  // None has its own hash, nor a later one's.
  expect([await call('600c40'), await call('60ff40'), await call('600840', '0x8')]).toEqual([0, 0, 0].map(word))
  // Once proven, it takes no request.
  asked.length = 0
  await call('600b40')
  expect(asked).toEqual([])
  const hash = (await block(10n)).hash.slice(2)
  lie.now = (_, answer) => JSON.parse(JSON.stringify(answer).replaceAll(hash, `11${hash.slice(2)}`))
  await expect(caller(provider())('600a40')).rejects.toMatchObject({ reason: 'PROOF_REFUSED' })
})

it('says why the state does not hold the hash of a block', async () => {
  const reasons: unknown[] = []
  for (const isThere of [false, true]) {
    const { chain, provider } = createEndpoints(new Map([[USER, { balance: 1n }]]))
    for (let block = 0; block < 4; block++) {
      // Only since block 4, which keeps the hash of block 3.
      if (isThere && block === 3) chain.pending.setAccount(historyContract, { nonce: 1n })
      chain.addBlock()
    }
    chain.finalize()
    const error = await caller(provider())('600240').catch(thrown => thrown)
    reasons.push([error.reason, error.data.instruction, error.cause.code, error.message.includes(error.cause.message)])
  }
  expect(reasons).toEqual([
    ['VALUE_UNPROVEN', 'BLOCKHASH', 'HISTORY_NO_CONTRACT', true],
    ['VALUE_UNPROVEN', 'BLOCKHASH', 'HISTORY_NO_HASH', true],
  ])
})

/** What reads each value, and the field of the header that it is. */
const VALUES = [
  ...([
    ['42', 'timestamp'],
    ['41', 'miner'],
    ['44', 'mixHash'],
    ['45', 'gasLimit'],
  ] as const),
] as const

it('proves the values of an earlier block from its header, if a call reads one', async () => {
  const { provider, block, asked } = setUp()
  const verified = provider()
  const call = caller(verified)
  await call('43')
  asked.length = 0
  expect(await call('43', '0x8')).toBe(word(8))
  expect(asked).not.toContain('eth_getBlockByNumber')
  const header = await block(8n)
  asked.length = 0
  for (const [code, name] of VALUES) expect(await call(code, '0x8'), name).toBe(word(BigInt(header[name])))
  // Of L2 once, for all of them.
  expect(asked.filter(method => method === 'eth_getBlockByNumber')).toHaveLength(1)
  const five = await block(5n)
  expect(await call('42450142', '0x5')).toBe(word(BigInt(five.timestamp)))
  // An estimate, an access list and fees need them, too.
  const ask = (method: string, call: object) => verified.request({ method, params: [{ from: USER, ...call }, '0x8'] })
  expect(await ask('eth_estimateGas', { to: USER, maxFeePerGas: '0x3b9aca00' })).toBe('0x5208')
  expect(await ask('eth_createAccessList', { data: '0x4854' })).toMatchObject({ accessList: [{}] })
  await expect(ask('eth_call', { to: USER, maxFeePerGas: '0x1' })).rejects.toMatchObject({ reason: 'PARAMS_INVALID' })
  // What no header has, and what is stated beside it.
  await expect(call('4a', '0x8')).rejects.toMatchObject({ data: { instruction: 'BLOBBASEFEE' } })
  const stated = caller(provider({ environment: { gasLimit: 3n } }))
  expect(await stated('454203', '0x8')).toBe(word(BigInt(header.timestamp) - 3n))
  const one = caller(provider())
  await one('43', '0x8')
  asked.length = 0
  await expect(one('4a', '0x8')).rejects.toMatchObject({ data: { instruction: 'BLOBBASEFEE' } })
  expect(asked).toEqual([])
})

it('has no header of the newest block, and takes no other for one', async () => {
  const { provider, asked, lie, block } = setUp()
  const verified = provider()
  const call = caller(verified)
  await expect(call('45')).rejects.toMatchObject({ reason: 'VALUE_UNPROVEN', data: { instruction: 'GASLIMIT' } })
  expect(await call('43', '0x8')).toBe(word(8))
  // What is stated goes before the header, and needs none.
  asked.length = 0
  const stated = caller(provider({ environment: { gasLimit: 3n } }))
  expect(await stated('45', '0x8')).toBe(word(3))
  // Those of L1, for the view of the other provider: the trusted one, and the finalized one, which is asked for at once.
  expect(asked.filter(method => method === 'eth_getBlockByNumber')).toHaveLength(2)

  const five = await block(5n)
  const lies: Lie[] = [
    (_, answer) => ({ ...Object(answer), timestamp: '0x1' }),
    (_, answer) => ({ ...Object(answer), number: '0x5' }),
    () => five,
  ]
  for (const change of lies) {
    lie.now = (method, answer) =>
      Object(answer).number === '0x8' && method === 'eth_getBlockByNumber' ? change(method, answer) : answer
    await expect(call('45', '0x8')).rejects.toMatchObject({ reason: 'PROOF_REFUSED' })
  }
  lie.now = (method, answer) => (Object(answer).number === '0x8' && method === 'eth_getBlockByNumber' ? null : answer)
  await expect(call('45', '0x8')).rejects.toMatchObject({ reason: 'ENDPOINT_FAILED', data: { error: 'BLOCK_MISSING' } })
})

it('has no header of a block whose hash the state does not hold', async () => {
  const { chain, provider } = createEndpoints(new Map([[USER, { balance: 1n }]]))
  for (const _ of [1, 2]) {
    chain.addBlock()
    chain.finalize()
  }
  await expect(caller(provider())('42', '0x1')).rejects.toMatchObject({ data: { instruction: 'TIMESTAMP' } })
})

it('records the hashes that a call reads as state, so that it verifies offline', async () => {
  const { about } = setUp()
  const to = at('c0')
  const call = { from: USER, to, data: '0x' } as const
  const state = new Map([
    [to, { nonce: 1n, code: `0x600340${RETURN}` as Hex }],
    [historyContract, { nonce: 1n }],
  ])
  const endpoints = createEndpoints(state, true)
  for (let index = 0; index < 9; index++) endpoints.chain.addBlock()
  endpoints.chain.finalize()
  const hash = Object(endpoints.chain.at(9n)?.getProof(historyContract, [historySlot(3n)])).storageProofs[0].proof.value
  const { bundle, verified } = await recordCall(withNetwork({ l1: endpoints.l1, l2: endpoints.l2, ...about, call }))
  expect(verified).toMatchObject({ outcome: 'returned', returnData: hash, environment: {} })
  expect(bundle.answers.map(({ address, storageKeys }) => [address, storageKeys])).toEqual([
    [USER, []],
    [to, []],
    [historyContract, [historySlot(3n)]],
  ])
  const trusted = { l1BlockHash: verified.l1Block.hash }
  const claim = { ...about, trusted, l2BlockNumber: 9n, hardfork: 'prague', call: LEFT } as const
  expect(await verifyCallEvidence(JSON.parse(JSON.stringify(bundle)), claim)).toEqual(verified)
  const missing = { ...bundle, answers: bundle.answers.slice(0, 2) }
  await expect(verifyCallEvidence(missing, claim)).rejects.toMatchObject({
    code: 'CALL_STATE_MISSING',
    path: 'answers',
  })
  const changed = JSON.parse(JSON.stringify(bundle).replaceAll(hash.slice(2), word(7).slice(2)))
  await expect(verifyCallEvidence(changed, claim)).rejects.toMatchObject({
    path: expect.stringMatching(/^answers\[2\]/),
  })
})
