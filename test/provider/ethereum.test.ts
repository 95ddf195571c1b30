import { isDeepStrictEqual } from 'node:util'
import { encodeFunctionData } from 'viem'
import { beforeAll, expect, it } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { anchorStorageKeys } from '../../src/entry/anchor.ts'
import { historyContract } from '../../src/entry/blocks.ts'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError, type ProviderView, type VerifiedProvider } from '../../src/entry/provider.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { createBlockEndpoints } from './block-endpoints.ts'
import { ALICE, BOB, demoState, MANY, PROXY, TOKEN, tokenAbi } from './contracts.ts'
import { at, createEndpoints, type Endpoints, ROLLUP, type Tamper, upgrade, word } from './endpoints.ts'

/** A provider on the day that L1 keeps hashes of blocks in place of state roots, and after it. */

const ABSENT = at('ee')
const balanceOf = (owner: Hex) => encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
/** Without the contract of hundreds of slots. */
const STATE = new Map([...demoState].filter(([address]) => address !== MANY))
const RETURN = '5f5260205ff3'

type Question = readonly [method: string, ...params: unknown[]]
/** What both kinds of state answer alike. */
const questionsAt = (block: string): Question[] => [
  ['eth_getBalance', ALICE, block],
  ['eth_getBalance', ABSENT, block],
  ['eth_getTransactionCount', ALICE, block],
  ['eth_getStorageAt', TOKEN, '0x2', block],
  ['eth_getStorageAt', TOKEN, '0x77', block],
  ['eth_getCode', TOKEN, block],
  ['eth_getCode', ALICE, block],
  ['eth_call', { to: TOKEN, data: balanceOf(ALICE) }, block],
  ['eth_call', { to: PROXY, data: balanceOf(BOB) }, block],
  ['eth_estimateGas', { from: ALICE, to: TOKEN, data: balanceOf(ALICE) }, block],
]

/** The answers, or why there is none. */
const askAll = (provider: VerifiedProvider, questions: readonly Question[]): Promise<unknown[]> =>
  Promise.all(
    questions.map(([method, ...params]) =>
      provider.request({ method, params }).catch((error: unknown) => {
        if (isProviderError(error)) return `refused: ${error.reason}`
        throw error
      }),
    ),
  )

it('crosses the upgrade without a new option: the same values, before, in between and after', async () => {
  const endpoints = createEndpoints(STATE)
  const { chain, asked } = endpoints
  const seen: ProviderView[] = []
  const provider = endpoints.provider({ onView: view => void seen.push(view) })
  const truth = await askAll(provider, questionsAt('latest'))
  expect(truth.filter(answer => String(answer).startsWith('refused'))).toEqual([])
  // A request that began before goes on with its state.
  chain.upgrade()
  await provider.refresh()
  expect(await askAll(provider, questionsAt('latest'))).toEqual(truth)
  chain.addBlock()
  chain.finalize()
  expect(await askAll(provider, questionsAt('latest'))).toEqual(truth)
  const view = await provider.refresh()
  expect(view).toMatchObject({ l2BlockNumber: 1n, blockHash: Object(chain.getBlock(1n)).hash })
  expect(view.timestamp).toBe(chain.timestamp(1n))
  asked.length = 0
  expect(await askAll(provider, questionsAt('latest'))).toEqual(truth)
  expect(asked.filter(method => method === 'rollup_getProof')).toEqual([])
  // Whoever has pinned the number of a finalized block goes on with it, of either kind.
  for (const block of ['0x0', '0x1']) expect(await askAll(provider, questionsAt(block)), block).toEqual(truth)
  expect(seen.map(({ l2BlockNumber, blockHash }) => [l2BlockNumber, blockHash])).toEqual([
    [0n, undefined],
    [1n, view.blockHash],
  ])
})

it('refuses the number of a block of which L1 holds neither root nor hash, on either side', async () => {
  const endpoints = createEndpoints(STATE)
  const { chain } = endpoints
  for (const finalizes of [false, true, false]) {
    chain.addBlock()
    if (finalizes) chain.finalize()
  }
  // This finalizes block 3.
  upgrade(endpoints)
  chain.addBlock()
  chain.addBlock()
  chain.finalize()
  const provider = endpoints.provider()
  const numbers = [0, 1, 2, 3, 4, 5, 6, 7].map(number => `0x${number}`)
  const balances = await askAll(
    provider,
    numbers.map(block => ['eth_getBalance', BOB, block] as const),
  )
  const refused = 'refused: BLOCK_UNPROVEN'
  expect(balances).toEqual(['0x3', refused, '0x3', '0x3', '0x3', refused, '0x3', refused])
})

it('hands through the proofs of the state that there is, and says which method has them', async () => {
  const endpoints = createEndpoints(STATE)
  const provider = endpoints.provider()
  const proofOf = (method: string, block = 'latest') =>
    provider.request<object>({ method, params: [TOKEN, [word(2)], block] }).catch((error: unknown) => error)
  expect(await proofOf('rollup_getProof')).toHaveProperty('storageProofs')
  const early = await proofOf('eth_getProof')
  expect(early).toMatchObject({ reason: 'PARAMS_INVALID' })
  expect(String(early)).toContain("The state after block 0 is a tree of the rollup's own: ask rollup_getProof.")
  upgrade(endpoints)
  await provider.refresh()
  expect(await proofOf('eth_getProof')).toMatchObject({ storageProof: [{ value: '0x6b' }] })
  for (const method of ['rollup_getProof', 'linea_getProof']) {
    const late = await proofOf(method)
    expect(late).toMatchObject({ reason: 'PARAMS_INVALID' })
    expect(String(late)).toContain('The state after block 1 is one of Ethereum: ask eth_getProof.')
  }
  expect(await proofOf('rollup_getProof', '0x0')).toHaveProperty('storageProofs')
})

it('proves the values of the block, unless others are stated', async () => {
  const endpoints = createEndpoints(new Map([[historyContract, { nonce: 1n }], ...STATE]))
  for (let block = 0; block < 3; block++) endpoints.chain.addBlock()
  upgrade(endpoints)
  const header = Object(endpoints.chain.getBlock(4n))
  const { asked } = endpoints
  const provider = endpoints.provider()
  const callOf = (provider: VerifiedProvider, code: string) =>
    provider.request<Hex>({ method: 'eth_call', params: [{ data: `0x${code}${RETURN}` }, 'latest'] })
  const call = (code: string) => callOf(provider, code)
  const values = ['42', '43', '41', '44', '45']
  const names = ['timestamp', 'number', 'miner', 'mixHash', 'gasLimit']
  await call('43')
  asked.length = 0
  const found = await Promise.all(values.map(code => call(code)))
  expect(found).toEqual(names.map(name => word(BigInt(header[name]))))
  // All of it is in the header.
  expect(asked).toEqual([])
  // Hashes of earlier blocks are in the state.
  expect([await call('600340'), await call('600240')]).toEqual([
    header.parentHash,
    Object(endpoints.chain.getBlock(2n)).hash,
  ])
  expect(asked).toEqual(['eth_getProof', 'eth_getProof'])
  expect([await call('600440'), await call('600540')]).toEqual([word(0), word(0)])
  await expect(call('4a')).rejects.toMatchObject({ data: { instruction: 'BLOBBASEFEE' } })
  // What is stated goes before it.
  const stated = endpoints.provider({ environment: { gasLimit: 3n } })
  expect([await callOf(stated, '45'), await callOf(stated, '42')]).toEqual([word(3), word(BigInt(header.timestamp))])
  // Fees are compared with the proven base fee.
  const pay = (maxFeePerGas: string) =>
    provider.request({ method: 'eth_call', params: [{ from: ALICE, to: BOB, maxFeePerGas }, 'latest'] })
  await expect(pay('0x6')).rejects.toMatchObject({ reason: 'PARAMS_INVALID' })
  expect(await pay('0x7')).toBe('0x')
})

it('serves blocks from the one whose hash L1 holds, and its parents', async () => {
  const endpoints = createBlockEndpoints()
  const { chain } = endpoints
  addDemoBlocks(chain)
  chain.upgrade()
  addDemoBlocks(chain)
  const newest = chain.latest()
  const l2 = endpoints.l2()
  const provider = endpoints.provider(l2)
  const ask = (method: string, ...params: unknown[]) =>
    provider.request<{ hash?: Hex; timestamp?: Hex }>({ method, params })
  const quantity = (number: bigint): Hex => `0x${number.toString(16)}`
  expect(BigInt(String(await ask('eth_blockNumber')))).toBe(newest)
  l2.counts()
  // Down to the upgrade, and past it, no hash is read from the state.
  for (let number = newest; number > 3n; number--) {
    const { hash, timestamp } = await ask('eth_getBlockByNumber', quantity(number), false)
    expect({ hash, timestamp }).toEqual({
      ...{ hash: Object(chain.getBlock(number)).hash, timestamp: quantity(chain.timestamp(number) ?? 0n) },
    })
  }
  expect(Object.keys(l2.counts())).toEqual(['eth_getBlockByNumber'])
  // An old one comes by its hash in the state.
  expect((await ask('eth_getBlockByNumber', '0x1', false)).hash).toBe(Object(chain.getBlock(1n)).hash)
  const { hash = '0x' } = await ask('eth_getBlockByNumber', 'latest', false)
  expect(await ask('eth_getBlockByHash', hash, false)).toMatchObject({ number: quantity(newest) })
  const receipts = await provider.request<{ transactionHash: Hex; logs: object[] }[]>({
    ...{ method: 'eth_getBlockReceipts', params: ['latest'] },
  })
  expect(receipts.length).toBeGreaterThan(0)
  expect(await ask('eth_getTransactionReceipt', receipts[0]?.transactionHash)).toMatchObject({ blockHash: hash })
  const logs = await ask('eth_getLogs', { fromBlock: 'latest', toBlock: 'latest' })
  expect(logs).toEqual(receipts.flatMap(({ logs }) => logs))
  expect(await ask('eth_getLogs', { blockHash: hash })).toEqual(logs)
  expect(await ask('eth_getBlockByNumber', quantity(newest + 1n), false)).toBeNull()
  expect(await ask('eth_feeHistory', '0x2', 'latest', [])).toMatchObject({ oldestBlock: quantity(newest - 2n) })
  expect(BigInt(String(await ask('eth_gasPrice')))).toBeGreaterThan(6n)
  // The same number means the same state.
  expect(await ask('eth_getBalance', at('b2'), quantity(newest))).toBe(await ask('eth_getBalance', at('b2'), 'latest'))
})

it('reaches earlier blocks by their children where no contract keeps hashes', async () => {
  const endpoints = createEndpoints(STATE)
  const { chain } = endpoints
  const ask = (provider: VerifiedProvider) =>
    provider.request<{ hash: Hex }>({ method: 'eth_getBlockByNumber', params: ['0x1', false] })
  for (let block = 0; block < 3; block++) chain.addBlock()
  chain.finalize()
  // A root leads to hashes in the state, or nowhere.
  await expect(ask(endpoints.provider())).rejects.toMatchObject({ reason: 'BLOCK_UNPROVEN' })
  for (let block = 0; block < 3; block++) chain.addBlock()
  upgrade(endpoints)
  expect((await ask(endpoints.provider())).hash).toBe(Object(chain.getBlock(1n)).hash)
})

it('stays with what it has if other code than the stated one is behind the contract, and says so', async () => {
  const endpoints = createEndpoints(STATE)
  const { chain } = endpoints
  const keys = anchorStorageKeys({ rollup: ROLLUP, l2BlockNumber: 0n })
  const slots = Object(chain.l1.getProof(ROLLUP.address, keys, 0n)).storageProof
  const implementation: Hex = `0x${BigInt(slots.at(-1).value).toString(16).padStart(40, '0')}`
  const provider = endpoints.provider({ rollup: { ...ROLLUP, implementation } })
  const truth = await askAll(provider, questionsAt('latest'))
  upgrade(endpoints)
  const mismatch = { reason: 'PROOF_REFUSED', data: { error: 'ANCHOR_IMPLEMENTATION_MISMATCH' } }
  await expect(provider.refresh()).rejects.toMatchObject(mismatch)
  expect((await provider.view()).l2BlockNumber).toBe(0n)
  expect(await askAll(provider, questionsAt('latest'))).toEqual(truth)
  // Whoever begins after the upgrade has nothing.
  const late = endpoints.provider({ rollup: { ...ROLLUP, implementation } })
  await expect(late.request({ method: 'eth_getBalance', params: [ALICE, 'latest'] })).rejects.toMatchObject(mismatch)
  expect(await askAll(endpoints.provider({ rollup: ROLLUP }), questionsAt('latest'))).toEqual(truth)
})

interface Sent extends Record<string, unknown> {
  readonly accountProof: readonly Hex[]
  readonly storageProof: readonly { readonly key: Hex; readonly value: Hex; readonly proof: readonly Hex[] }[]
}

/** Changes what an endpoint says about one method. */
const about =
  (name: string, change: (answer: Sent, params: readonly unknown[]) => unknown): Tamper =>
  (method, answer, params) =>
    method === name ? change(answer as Sent, params) : answer
const slots = (change: (slot: Sent['storageProof'][number]) => object) =>
  about('eth_getProof', answer => ({ ...answer, storageProof: answer.storageProof.map(change) }))
const digit = (value: unknown) => `${value}`.replace(/.$/, last => (last === '1' ? '2' : '1'))
const header = (name: string) => about('eth_getBlockByNumber', block => ({ ...block, [name]: digit(block[name]) }))

let lied: Endpoints
let truth: unknown[]
/** What the endpoint would say of another account, and of another block. */
let others: Record<'account' | 'block', (params: readonly unknown[]) => Promise<unknown>>
const questions = questionsAt('latest').filter((_, index) => [0, 3, 5, 7].includes(index))

beforeAll(async () => {
  lied = createEndpoints(STATE)
  upgrade(lied)
  truth = await askAll(lied.provider(), questions)
  lied.chain.pending.setAccount(ALICE, { balance: 1n })
  lied.chain.pending.setStorage(TOKEN, { key: word(2), value: word(1) })
  lied.chain.addBlock()
  const { request } = lied.l2
  others = {
    account: ([, keys, block]) => request({ method: 'eth_getProof', params: [MANY, keys, block] }),
    block: ([address, keys]) => request({ method: 'eth_getProof', params: [address, keys, '0x2'] }),
  }
})

/** A lie, and the code of the check that refuses it; undefined if it is about something that no answer rests on. */
const LIES: readonly (readonly [what: string, code: string | undefined, lie: Tamper])[] = [
  [
    'the header is of another block',
    'HEADER_HASH_MISMATCH',
    about('eth_getBlockByNumber', () => lied.chain.getBlock(2n)),
  ],
  ['the header has another root', 'HEADER_HASH_MISMATCH', header('stateRoot')],
  ['the header has another time', 'HEADER_HASH_MISMATCH', header('timestamp')],
  ['the header has another base fee', 'HEADER_HASH_MISMATCH', header('baseFeePerGas')],
  ['the header has another number', 'HEADER_HASH_MISMATCH', header('number')],
  ['the header is of another kind', 'HEADER_MALFORMED', about('eth_getBlockByNumber', () => 'block')],
  ['the block says that it has another hash', undefined, header('hash')],
  [
    'the proof is of another account',
    'MPT_',
    about('eth_getProof', async (_, params) => ({ ...Object(await others.account(params)), address: undefined })),
  ],
  [
    'the proof says that it is of another account',
    'L1_KEY_MISMATCH',
    about('eth_getProof', (_, params) => others.account(params)),
  ],
  ['the proof is of another block', 'MPT_', about('eth_getProof', (_, params) => others.block(params))],
  [
    'the proof is of the tree',
    'L1_PROOF_MALFORMED',
    about('eth_getProof', (_, [address, keys]) => lied.chain.at(1n)?.getProof(address as Hex, keys as Hex[])),
  ],
  [
    'nodes of the account are missing',
    'MPT_',
    about('eth_getProof', answer => ({ ...answer, accountProof: answer.accountProof.slice(0, -1) })),
  ],
  ['there are no nodes', 'MPT_', about('eth_getProof', answer => ({ ...answer, accountProof: [] }))],
  [
    'nodes are doubled',
    'MPT_',
    about('eth_getProof', ({ accountProof, ...answer }) => ({
      ...answer,
      accountProof: [...accountProof, ...accountProof],
    })),
  ],
  [
    'nodes are 100,000',
    'RESPONSE_TOO_LARGE',
    about('eth_getProof', answer => ({ ...answer, accountProof: Array(1e5).fill('0x00') })),
  ],
  [
    'the balance is another one',
    'L1_PROOF_DISAGREES',
    about('eth_getProof', answer => ({ ...answer, balance: '0xffff' })),
  ],
  [
    'the code hash is another one',
    'L1_PROOF_DISAGREES',
    about('eth_getProof', answer => ({ ...answer, codeHash: word(1) })),
  ],
  ['a slot has another value', 'L1_PROOF_DISAGREES', slots(slot => ({ ...slot, value: '0xffff' }))],
  ['a slot has leading zeros', undefined, slots(slot => ({ ...slot, value: word(BigInt(slot.value)) }))],
  ['the nodes of a slot are missing', 'MPT_', slots(slot => ({ ...slot, proof: slot.proof.slice(0, -1) }))],
  ['a slot is another one', 'L1_KEY_MISMATCH', slots(slot => ({ ...slot, key: word(0x1234) }))],
  ['slots are left out', 'L1_STORAGE_PROOF_COUNT', about('eth_getProof', answer => ({ ...answer, storageProof: [] }))],
  ['code is left out', 'CODE_HASH_MISMATCH', about('eth_getCode', () => '0x')],
  ['code is of another contract', 'CODE_HASH_MISMATCH', about('eth_getCode', () => STATE.get(PROXY)?.code)],
  // The state is missing then: that of the finalization before, which is of the other kind, is proven in its place.
  ['everything is null', undefined, about('eth_getProof', () => null)],
]

it.each(LIES)('tells the truth or nothing: %s', async (_, code, lie) => {
  const { l1, l2, lie: told } = lied
  const codes = new Set<string>()
  const liar: RequestProvider = {
    async request(args) {
      const answer = await l2.request(args)
      return lie(args.method, answer, args.params as unknown[])
    },
  }
  expect(told.l2).toBeNull()
  const alone = lied.provider({ l2: liar, l1, timeoutMs: 100_000 })
  const answers = await Promise.all(
    questions.map(([method, ...params]) =>
      alone.request({ method, params }).catch((error: unknown) => {
        if (!isProviderError(error)) throw error
        const { data, cause } = error
        codes.add(`${Reflect.get(Object(data), 'proof') ?? Reflect.get(Object(data), 'error') ?? cause}`)
        return null
      }),
    ),
  )
  const wrong = answers.filter((answer, index) => answer !== null && !isDeepStrictEqual(answer, truth[index]))
  expect(wrong).toEqual([])
  if (code === undefined) expect([...codes]).toEqual([])
  else {
    expect([...codes].join()).toContain(code)
    expect(answers).toContain(null)
  }
  // Beside an honest endpoint, the truth.
  expect(await askAll(lied.provider({ l2: [liar, l2] }), questions)).toEqual(truth)
})
