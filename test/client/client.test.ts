import { expect, it } from 'vitest'
import { demoWorld } from '../../src/devnet/index.ts'
import { type GetProofResult, ProofError, verifyProof } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createRollupClient,
  diagnose,
  EndpointError,
  type RequestProvider,
  type RollupClientOptions,
} from '../../src/entry/rpc.ts'
import { fetcherOf } from './fetching.ts'
import { CONTRACT, USER, word } from './servers.ts'

const world = demoWorld(poseidon2)
const stateRoot = world.stateRoot()
const storageKeys = [0, 1, 2, 7, 9].map(word)
const claim = { scheme: poseidon2, stateRoot, address: CONTRACT, storageKeys }
const request = { ...claim, l2BlockNumber: 1n }
const honest = (keys = storageKeys, address = CONTRACT): GetProofResult => world.getProof(address, keys)

/** A client, and the requests its provider received. `answer` may lie about `keys`. */
function clientOf(answer: (keys: typeof storageKeys, turn: number) => unknown, options: RollupClientOptions = {}) {
  const asked: { method: string; params?: unknown }[] = []
  const provider: RequestProvider = {
    async request(args) {
      asked.push(args)
      const keys = Array.isArray(args.params) ? args.params[1] : []
      return JSON.parse(JSON.stringify(answer(keys, asked.length - 1)))
    },
  }
  return { client: createRollupClient(provider, options), asked }
}

it('sends one request in lower case, and returns the verified state', async () => {
  const { client, asked } = clientOf(keys => honest(keys))
  const address = `0x${CONTRACT.slice(2).toUpperCase()}` as const
  expect(await client.getVerifiedState({ ...request, address })).toEqual(verifyProof(honest(), claim))
  expect(asked).toEqual([{ method: 'rollup_getProof', params: [CONTRACT, storageKeys, '0x1'] }])
  const named = clientOf(() => honest([], USER), { method: 'linea_getProof' })
  await named.client.getVerifiedState({ scheme: poseidon2, stateRoot, address: USER, l2BlockNumber: 16n })
  expect(named.asked).toEqual([{ method: 'linea_getProof', params: [USER, [], '0x10'] }])
})

it('splits long lists of keys, and joins consistent answers', async () => {
  let verified = 0
  for (const maxKeysPerRequest of [1, 2, 3, 4, 5, 6]) {
    const { client, asked } = clientOf(keys => honest(keys), { maxKeysPerRequest })
    expect(await client.getVerifiedState(request)).toEqual(verifyProof(honest(), claim))
    expect(asked).toHaveLength(Math.ceil(5 / maxKeysPerRequest))
    verified++
  }
  expect(verified).toBe(6)
  // No part of the answer for an account without storage has storage proofs.
  const { client } = clientOf(keys => honest(keys, USER), { maxKeysPerRequest: 2 })
  const { storage } = await client.getVerifiedState({ ...request, address: USER })
  expect(storage.map(({ exists }) => exists)).toEqual([false, false, false, false, false])
})

it('does not join answers of different states', async () => {
  const later = world.fork()
  later.setStorage(CONTRACT, { key: word(0), value: word(1) })
  const lies: [string, (keys: typeof storageKeys, turn: number) => unknown][] = [
    ['STATE_ROOT_MISMATCH', (keys, turn) => (turn === 1 ? later.getProof(CONTRACT, keys) : honest(keys))],
    ['STORAGE_PROOF_MISSING', (keys, turn) => ({ ...honest(keys), ...(turn === 1 && { storageProofs: [] }) })],
    ['MALFORMED_RESPONSE', (keys, turn) => ({ ...honest(keys), accountProof: [turn] })],
    ['STORAGE_PROOF_MISSING', keys => ({ ...honest(keys), storageProofs: honest(keys).storageProofs.slice(1) })],
    ['BLOCK_MISSING', () => null],
    ['ETH_PROOF_ANSWER', () => ({ accountProof: ['0x'], storageHash: '0x', storageProof: [] })],
  ]
  for (const [code, lie] of lies) {
    const { client, asked } = clientOf(lie, { maxKeysPerRequest: 2 })
    await expect(client.getVerifiedState(request)).rejects.toMatchObject({ code })
    expect(asked.length).toBeLessThan(3)
  }
})

it('never returns a lie', async () => {
  const other = world.fork()
  other.setAccount(USER, { balance: 6n })
  const answer = honest()
  const lies: [string, string, unknown][] = [
    ['another address', 'OTHER_KEYS', honest(storageKeys, `0x${'b2'.repeat(20)}`)],
    ['other keys', 'OTHER_KEYS', honest(storageKeys.map((_, index) => word(50 + index)))],
    ['another order', 'OTHER_KEYS', honest(storageKeys.toReversed())],
    ['another block', 'STATE_ROOT_MISMATCH', other.getProof(CONTRACT, storageKeys)],
    ['fewer keys', 'STORAGE_PROOF_MISSING', honest(storageKeys.slice(1))],
    ['more keys', 'STORAGE_PROOF_UNEXPECTED', honest([...storageKeys, word(99)])],
    ['no keys', 'STORAGE_PROOF_MISSING', { ...answer, storageProofs: [] }],
    ['eth_getProof', 'ETH_PROOF_ANSWER', { accountProof: ['0x'], storageHash: '0x', storageProof: [] }],
    ['nothing', 'BLOCK_MISSING', null],
  ]
  for (const [what, code, lie] of lies) {
    const { client } = clientOf(() => lie)
    await expect(client.getVerifiedState(request), what).rejects.toMatchObject({ code })
  }
  expect(lies.length).toBe(9)
})

it('refuses a wrong request before anything is sent', async () => {
  const { client, asked } = clientOf(() => honest())
  const wrong = [
    { address: '0x12' },
    { storageKeys: ['0x1'] },
    { l2BlockNumber: -1n },
    { l2BlockNumber: 1n << 64n },
  ] as const
  for (const change of wrong) {
    const spoilt = { ...request, ...change } as typeof request
    await expect(client.getVerifiedState(spoilt)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' })
  }
  expect(asked).toEqual([])
  for (const maxKeysPerRequest of [0, 1.5, Number.NaN]) {
    expect(() => clientOf(() => null, { maxKeysPerRequest })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    )
  }
})

it('accepts only a quantity as a block number', async () => {
  const numberIn = (answer: unknown) => fetcherOf({ request: async () => answer }).blockNumber()
  expect(await numberIn('0x1b4')).toBe(436n)
  for (const answer of ['1', '0x', '0x01', 7, null, `0x1${'0'.repeat(16)}`]) {
    await expect(numberIn(answer)).rejects.toMatchObject({ code: 'ANSWER_MALFORMED' })
  }
})

it('diagnoses errors of other libraries without showing their URLs', () => {
  const at = 'at https://rpc.example/v3/secret-key'
  const loop = { cause: {} }
  loop.cause = loop
  const cases: [string, unknown][] = [
    ['BLOCK_MISSING', { cause: { code: -32600, details: `BLOCK_MISSING_IN_CHAIN ${at}`, message: at } }],
    ['METHOD_UNKNOWN', { code: 'UNKNOWN_ERROR', error: { code: -32601, message: at }, message: at }],
    ['UNAUTHORIZED', { name: 'HttpRequestError', status: 401, message: at }],
    ['RATE_LIMITED', { status: 429 }],
    ['TIMEOUT', { name: 'TimeoutError', message: at }],
    ['ABORTED', new DOMException(at, 'AbortError')],
    ['ENDPOINT_ERROR', { code: 4900, message: at, data: { url: at } }],
    ['BLOCK_NOT_FINALIZED', { code: -32000, message: 'block 7 is not finalized on L1' }],
    ['UNREACHABLE', new TypeError(at)],
    ['UNREACHABLE', loop],
    ['UNREACHABLE', undefined],
    ['UNREACHABLE', 'no'],
    ['STATE_ROOT_MISMATCH', new ProofError('STATE_ROOT_MISMATCH')],
    ['TIMEOUT', new EndpointError('TIMEOUT')],
  ]
  for (const [code, thrown] of cases) {
    const found = diagnose(thrown)
    expect(found, code).toMatchObject({ code })
    expect(`${found.message} ${JSON.stringify(found)}`).not.toContain('secret')
  }
})
