import { expect, it } from 'vitest'
import { verifyEthProof } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { createRollupClient, type RequestProvider } from '../../src/entry/rpc.ts'
import { createL1, type LooseEthProof, named } from '../../vectors/evidence/l1.ts'
import { fetchAnswer } from './fetching.ts'
import { CONTRACT, USER, word } from './servers.ts'

/** Slots 0 to 2 hold something, the other two nothing. */
const stored = new Map([0n, 1n, 2n].map(slot => [slot, slot + 42n]))
const [state, later] = await Promise.all([createL1(CONTRACT, stored), createL1(CONTRACT, new Map([[0n, 1n]]))])
const storageKeys = [0, 1, 2, 7, 9].map(word)
const request = { scheme: 'ethereum', stateRoot: state.stateRoot, address: CONTRACT, storageKeys } as const
const wanted = { ...request, l2BlockNumber: 1n }
const honest = (keys: readonly Hex[] = storageKeys, address: Hex = CONTRACT) =>
  state.getProof(address, keys.map(BigInt))
const { scheme: _, stateRoot: l1StateRoot, ...asked } = request
const truth = verifyEthProof(await honest(), { ...asked, l1StateRoot })

type Answer = (keys: readonly Hex[], turn: number) => Promise<unknown> | unknown

/** An endpoint that may lie, and the requests it received. */
function providerOf(answer: Answer = keys => honest(keys)) {
  const asked: { method: string; params?: unknown }[] = []
  const provider: RequestProvider = {
    async request(args) {
      asked.push(args)
      const [, keys] = args.params as [Hex, Hex[]]
      return JSON.parse(JSON.stringify(await answer(keys, asked.length - 1)))
    },
  }
  return { provider, asked }
}

it('asks for an Ethereum state with eth_getProof, in as many requests as its keys need', async () => {
  let verified = 0
  for (const maxKeysPerRequest of [1, 2, 5]) {
    const { provider, asked } = providerOf()
    const client = createRollupClient(provider, { maxKeysPerRequest, method: 'linea_getProof' })
    expect(await client.getVerifiedState({ ...request, l2BlockNumber: 1n })).toEqual(truth)
    expect(asked.map(({ method }) => method)).toEqual(Array(Math.ceil(5 / maxKeysPerRequest)).fill('eth_getProof'))
    verified++
  }
  expect(verified).toBe(3)
  const { provider, asked } = providerOf()
  // The answer keeps all fields of the method, and no other.
  expect(await fetchAnswer(provider, wanted, { maxKeysPerRequest: 3 })).toEqual(await honest())
  expect(asked).toHaveLength(2)
  const padded = providerOf(async keys => ({ ...(await honest(keys)), url: 'https://example.org/key' }))
  expect(await fetchAnswer(padded.provider, wanted)).toEqual(await honest())
  // An account that does not exist, and one without storage, have proofs of the same form.
  for (const address of [USER, named('L1 account 7', 20)]) {
    const { provider } = providerOf(keys => honest(keys, address))
    const client = createRollupClient(provider, { maxKeysPerRequest: 2 })
    const { account, storage } = await client.getVerifiedState({ ...request, address, l2BlockNumber: 1n })
    expect(account === null).toBe(address === USER)
    expect(storage.map(({ exists }) => exists)).toEqual([false, false, false, false, false])
  }
})

it('never returns a lie about an Ethereum state', async () => {
  const answer = await honest()
  const { storageProof } = answer
  const change = (index: number, part: object) =>
    storageProof.map((slot, other) => (other === index ? { ...slot, ...part } : slot))
  const lies: [what: string, code: string, lie: object | null][] = [
    [
      'another account',
      'MPT_HASH_MISMATCH',
      { ...answer, accountProof: (await later.getProof(USER, [])).accountProof },
    ],
    ['another address', 'L1_KEY_MISMATCH', { ...answer, address: USER }],
    ['another order', 'L1_KEY_MISMATCH', await honest(storageKeys.toReversed())],
    ['another state', 'MPT_HASH_MISMATCH', await later.getProof(CONTRACT, storageKeys.map(BigInt))],
    ['fewer keys', 'L1_STORAGE_PROOF_COUNT', await honest(storageKeys.slice(1))],
    ['more keys', 'L1_STORAGE_PROOF_COUNT', await honest([...storageKeys, word(99)])],
    ['fewer nodes', 'MPT_NODES_MISSING', { ...answer, accountProof: answer.accountProof.slice(0, -1) }],
    ['another value', 'L1_PROOF_DISAGREES', { ...answer, storageProof: change(1, { value: '0x7' }) }],
    ['a slot that is there as absent', 'MPT_NODES_MISSING', { ...answer, storageProof: change(0, { proof: [] }) }],
    ['the form of the other method', 'L1_PROOF_MALFORMED', { accountProof: {}, storageProofs: [] }],
    ['nothing', 'BLOCK_MISSING', null],
  ]
  for (const [what, code, lie] of lies) {
    const client = createRollupClient(providerOf(() => lie).provider)
    const asked = { ...request, l2BlockNumber: 1n }
    await expect(client.getVerifiedState(asked), what).rejects.toMatchObject({ code })
    // The next endpoint is asked.
    const both = createRollupClient([providerOf(() => lie).provider, providerOf().provider])
    expect(await both.getVerifiedState(asked), what).toEqual(truth)
  }
  expect(lies.length).toBe(11)
})

it('joins the answers about an Ethereum state, which have to be of one state', async () => {
  const fetchFrom = (from: Answer) =>
    fetchAnswer(providerOf(from).provider, wanted, { maxKeysPerRequest: 2 }).catch((error: unknown) => error)
  expect(await fetchFrom(keys => honest(keys))).toEqual(await honest())
  const alternating: Answer = (keys, turn): Promise<LooseEthProof> =>
    (turn === 1 ? later : state).getProof(CONTRACT, keys.map(BigInt))
  expect(await fetchFrom(alternating)).toMatchObject({ code: 'MPT_HASH_MISMATCH' })
  expect(await fetchFrom(keys => honest(keys.slice(1)))).toMatchObject({ code: 'L1_STORAGE_PROOF_COUNT' })
})

it('refuses a wrong claim before anything is sent', async () => {
  const { provider, asked: sent } = providerOf()
  const client = createRollupClient(provider)
  for (const wrong of [{ stateRoot: '0x12' }, { scheme: 'keccak' }, { address: '0x' }]) {
    const spoilt = { ...request, ...wrong, l2BlockNumber: 1n } as typeof request & { l2BlockNumber: bigint }
    const path = Object.keys(wrong)[0]
    await expect(client.getVerifiedState(spoilt)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path })
  }
  expect(sent).toEqual([])
})
