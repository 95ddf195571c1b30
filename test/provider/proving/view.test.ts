import { expect, it, onTestFinished, vi } from 'vitest'
import { openEndpoints } from '../../../src/client/sources/endpoints.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { MAX_FINALIZATIONS } from '../../../src/provider/limits.ts'
import { endpointsOf } from '../../../src/provider/options.ts'
import { createKnownState } from '../../../src/provider/proven-state.ts'
import { createCurrentView, createViews, describe, type Held, type ViewSource } from '../../../src/provider/view.ts'
import { readRollup } from '../../../src/verify/anchor/rollup.ts'
import { at, createEndpoints, ROLLUP, word } from '../endpoints.ts'

const [ALICE, BOB] = [at('a1'), at('b2')]

function setUp(more: Partial<ViewSource> = {}, bob = 2n) {
  const endpoints = createEndpoints(new Map([[BOB, { balance: bob }]]), true)
  const { l1, l2, l1BlockHash } = endpoints
  const source = {
    l1: openEndpoints('l1', l1, 'L1'),
    l2: openEndpoints('l2', l2, 'L2'),
    l1BlockHash,
    scheme: poseidon2,
    method: 'rollup_getProof',
  }
  const views = createViews({
    ...source,
    rollup: readRollup(ROLLUP),
    signal: undefined,
    maxKeysPerRequest: 100,
    known: createKnownState(),
    ...more,
  })
  /** Finalizes a block in which Bob has this balance. */
  const finalize = (balance: bigint) => {
    endpoints.chain.pending.setAccount(BOB, { balance })
    endpoints.chain.addBlock()
    endpoints.chain.finalize()
  }
  /** The L2 endpoint does not have the proofs of these blocks. */
  const withhold = (...blocks: number[]) => {
    endpoints.lie.l2 = (_, answer, params) => {
      if (!blocks.map(block => `0x${block.toString(16)}`).includes(`${params[2]}`)) return answer
      throw Object.assign(new Error('BLOCK_MISSING_IN_CHAIN'), { code: -32600 })
    }
  }
  const hashOf = (block: bigint) => Reflect.get(endpoints.chain.l1.getBlock(block) ?? {}, 'hash') as Hex
  return { ...endpoints, views, finalize, withhold, hashOf }
}

it('finds the newest finalized block whose proofs the endpoint has', async () => {
  const { views, finalize, withhold, chain } = setUp()
  for (const balance of [3n, 4n]) finalize(balance)
  const newest = await views.find(null)
  expect(newest).toMatchObject({ l2BlockNumber: 2n, stateRoot: chain.at(2n)?.stateRoot() })
  expect(newest.l1Block.number).toBe(chain.l1.blockNumber())
  expect(newest.timestamp).toBe(chain.timestamp(2n))
  expect(await newest.state.getAccount(BOB)).toMatchObject({ balance: 4n })
  withhold(2)
  const held = await views.find(null)
  expect(held).toMatchObject({ l2BlockNumber: 1n, stateRoot: chain.at(1n)?.stateRoot(), timestamp: undefined })
  withhold(0, 1, 2)
  const error = await views.find(null).catch(error => error)
  expect(error).toMatchObject({ code: 'PROOF_UNAVAILABLE', layer: 'L2' })
  expect(error.message).toContain('Tried 2, 1, 0')
})

it('refuses an L2 endpoint of another chain', async () => {
  const { l2 } = setUp()
  const { views, finalize } = setUp({ l2: endpointsOf(99n, openEndpoints('l2', l2, 'L2'), undefined) })
  finalize(3n)
  await expect(views.find(null)).rejects.toMatchObject({ code: 'CHAIN_MISMATCH' })
})

it('needs no L1 endpoint that names its finalized block', async () => {
  const { views, finalize, lie, chain } = setUp()
  finalize(3n)
  let refused = 0
  lie.l1 = (method, answer, params) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return answer
    refused++
    throw Object.assign(new Error('unknown block tag'), { code: -32602 })
  }
  expect(await views.find(null)).toMatchObject({ l2BlockNumber: 1n, stateRoot: chain.at(1n)?.stateRoot() })
  expect(refused).toBeGreaterThan(0)
})

it('moves forward, and stays where nothing newer is proven', async () => {
  const { views, finalize, withhold, chain, hashOf } = setUp()
  finalize(3n)
  const first = await views.find(null)
  // The same finalization, at a later L1 block: the proven parts are kept.
  chain.l1.addBlock()
  const later = await views.find(first)
  expect(later.l1Block.number).toBe(first.l1Block.number + 1n)
  expect([later.state, later.timestamp]).toEqual([first.state, first.timestamp])
  finalize(4n)
  expect((await views.find(later)).l2BlockNumber).toBe(2n)
  withhold(2)
  const same = await views.find(later)
  expect([same.l2BlockNumber, same.l1Block.number]).toEqual([1n, chain.l1.blockNumber()])
  // The hash of an older L1 block.
  let hash = hashOf(first.l1Block.number)
  const backwards = setUp({ l1BlockHash: () => hash })
  backwards.finalize(3n)
  hash = backwards.hashOf(0n)
  expect(await backwards.views.find(later)).toBe(later)
  // The same finalization, at an older L1 block.
  let known: Hex = '0x'
  const still = setUp({ l1BlockHash: () => known })
  still.finalize(3n)
  const blocks = [still.chain.l1.blockNumber(), still.chain.l1.blockNumber() + 1n]
  still.chain.l1.addBlock()
  const [older = '0x', newer = '0x'] = blocks.map(still.hashOf)
  known = newer
  const atNewer = await still.views.find(null)
  known = older
  expect(await still.views.find(atNewer)).toBe(atNewer)
  // If the proofs of all finalizations that are tried are missing, there is nothing newer, but a newer proof.
  const once = setUp()
  once.finalize(3n)
  const before = await once.views.find(null)
  const missing = Array.from({ length: MAX_FINALIZATIONS + 1 }, (_, index) => index + 2)
  for (const block of missing) once.finalize(BigInt(block))
  once.withhold(...missing)
  const stayed = await once.views.find(before)
  expect(stayed).toEqual({ ...before, l1Block: stayed.l1Block, newest: 10n })
  expect(stayed.l1Block.number).toBe(once.chain.l1.blockNumber())
  // The walk begins at the newest finalization, and ends before that of the view.
  await expect(once.views.findBefore(stayed)).rejects.toMatchObject({ code: 'PROOF_UNAVAILABLE' })
  await expect(once.views.find(null)).rejects.toThrow('Tried 10')
})

it('keeps a proven timestamp, and asks for it again if there is none', async () => {
  const { views, finalize, lie, chain } = setUp()
  finalize(3n)
  let logs = 0
  lie.l1 = (method, answer) => {
    if (method !== 'eth_getLogs') return answer
    logs++
    return logs === 1 ? [] : answer
  }
  const first = await views.find(null)
  expect([first.timestamp, logs]).toEqual([undefined, 1])
  const second = await views.find(first)
  expect([second.timestamp, logs]).toEqual([chain.timestamp(1n), 2])
  expect([(await views.find(second)).timestamp, logs]).toEqual([chain.timestamp(1n), 2])
})

it('refuses L1 blocks and roots that differ from what was final', async () => {
  const [one, other] = [setUp(), setUp({}, 5n)]
  const held = await one.views.find(null)
  const changed = await other.views.find(held).catch(error => error)
  expect(changed).toMatchObject({ code: 'L1_DISAGREEMENT', layer: 'L1' })
  expect(changed.message).toContain(
    `L1 block 0 had the hash ${held.l1Block.hash}, and has the hash ${other.hashOf(0n)}`,
  )
  other.chain.l1.addBlock()
  const root = await other.views.find(held).catch(error => error)
  expect(root).toMatchObject({ code: 'L1_DISAGREEMENT', layer: 'L1' })
  const [before, now] = [one, other].map(({ chain }) => chain.at(0n)?.stateRoot())
  expect(root.message).toContain(`L2 block 0 had the root ${before}, and has the root ${now}`)
  // A later L1 block of a history in which less is finalized.
  one.finalize(3n)
  const further = await one.views.find(held)
  for (let block = 0; block < 9; block++) other.chain.l1.addBlock()
  expect(await other.views.find(further)).toBe(further)
})

it('passes on the errors of endpoints and sources', async () => {
  const { views, lie } = setUp()
  lie.l2 = () => {
    throw Object.assign(new Error('no'), { code: -32601 })
  }
  await expect(views.find(null)).rejects.toMatchObject({ code: 'METHOD_UNKNOWN', layer: 'L2' })
  lie.l2 = () => {
    throw Object.assign(new Error('block 0 is not finalized on L1'), { code: -32000 })
  }
  await expect(views.find(null)).rejects.toMatchObject({ code: 'PROOF_UNAVAILABLE' })
  await expect(setUp({ l1BlockHash: () => '0x12' }).views.find(null)).rejects.toMatchObject({
    code: 'ARGUMENT_INVALID',
  })
  await expect(setUp({ l1BlockHash: () => word(1) }).views.find(null)).rejects.toMatchObject({ layer: 'L1' })
  const scheme = setUp({ scheme: { name: 'other' } as never })
  await expect(scheme.views.find(null)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path: 'scheme' })
})

it('passes on the error of the state before that of the timestamp', async () => {
  const { views, lie } = setUp()
  const no = () => Promise.reject(new Error('no'))
  // The anchor with a timestamp takes more slots.
  lie.l1 = (method, answer, [, keys]) => (method === 'eth_getProof' && Object(keys).length > 4 ? no() : answer)
  await expect(views.find(null)).rejects.toMatchObject({ layer: 'L1' })
  lie.l2 = no
  await expect(views.find(null)).rejects.toMatchObject({ layer: 'L2' })
  const elsewhere = setUp({ l2: { ...openEndpoints('l2', 'http://127.0.0.1:1'), run: no } })
  await expect(elsewhere.views.find(null)).rejects.toThrow('no')
})

it('finds the blocks of earlier finalizations, at the L1 block of the view', async () => {
  const { views, finalize, chain, lie } = setUp()
  for (const balance of [3n, 4n]) {
    chain.addBlock()
    finalize(balance)
  }
  const newest = await views.find(null)
  expect(newest.l2BlockNumber).toBe(4n)
  const earlier = await views.findAt(newest, 2n)
  expect(earlier).toMatchObject({
    ...{ l2BlockNumber: 2n, stateRoot: chain.at(2n)?.stateRoot(), l1Block: newest.l1Block, timestamp: undefined },
  })
  expect(await earlier.state.getAccount(BOB)).toMatchObject({ balance: 3n })
  expect(await earlier.state.getAccount(ALICE)).toBeNull()
  // No root on L1, and not finalized.
  for (const block of [1n, 5n]) {
    const refused = views.findAt(newest, block)
    await expect(refused, `${block}`).rejects.toMatchObject({ reason: 'BLOCK_UNPROVEN', cause: { name: 'ProofError' } })
  }
  lie.l1 = () => null
  await expect(views.findAt(newest, 2n)).rejects.not.toHaveProperty('reason')
})

it('keeps the views of four earlier blocks', async () => {
  const asked: bigint[] = []
  const state = { by: () => state } as unknown as Held['state']
  const heldOf = (l2BlockNumber: bigint) => ({ l2BlockNumber, state }) as Held
  const { signal } = new AbortController()
  const current = createCurrentView(
    {
      find: async () => heldOf(9n),
      findAt: async (_, block) => {
        asked.push(block)
        return heldOf(block)
      },
      findBefore: () => Promise.reject(new Error('not in this mode')),
    },
    { onView: undefined, isForWallet: false, oneHead: false },
  )
  for (const block of [1, 2, 3, 4, 1, 5, 2, 1]) {
    const held = await current.heldAt(`0x${block}`, { beSlow: async () => {}, signal })
    expect(held).toEqual({ l2BlockNumber: BigInt(block), state })
  }
  // The fifth takes the place of the first.
  expect(asked).toEqual([1n, 2n, 3n, 4n, 5n, 1n])
})

it('answers a wallet at the number of the view before, and asks again for a block whose search failed', async () => {
  const asked: bigint[] = []
  const state = { by: () => state } as unknown as Held['state']
  const heldOf = (l2BlockNumber: bigint) => ({ l2BlockNumber, state }) as Held
  const pace = { beSlow: async () => {}, signal: new AbortController().signal }
  let newest = 9n
  const current = createCurrentView(
    {
      find: async () => heldOf(newest++),
      findAt: async (_, block) => {
        asked.push(block)
        throw new Error('no')
      },
      findBefore: () => Promise.reject(new Error('not in this mode')),
    },
    { onView: undefined, isForWallet: true, oneHead: false },
  )
  // Each view proves the block before its own.
  expect((await current.heldAt('0x8', pace)).l2BlockNumber).toBe(9n)
  expect((await current.refresh()).l2BlockNumber).toBe(10n)
  expect((await current.heldAt('0x8', pace)).l2BlockNumber).toBe(9n)
  expect(asked).toEqual([])
  for (const _ of [1, 2]) await expect(current.heldAt('0x3', pace)).rejects.toThrow('no')
  expect(asked).toEqual([3n, 3n])
})

it('describes a view with its age, by the clock of this machine', () => {
  vi.useFakeTimers({ now: 5_000_999 })
  onTestFinished(() => void vi.useRealTimers())
  const l1Block = { number: 7n, hash: word(1), stateRoot: word(2), timestamp: 4000n }
  const held = {
    l2BlockNumber: 3n,
    stateRoot: word(3),
    l1Block,
    timestamp: 3000n,
    newest: 3n,
    state: {} as never,
    header: undefined,
  }
  const described = describe(held)
  const expected = { l2BlockNumber: 3n, stateRoot: word(3), l1Block, timestamp: 3000n, ageSeconds: 2000 }
  expect(described).toEqual({ ...expected, blockHash: undefined })
  expect(described.l1Block).not.toBe(l1Block)
  expect(describe({ ...held, timestamp: undefined }).ageSeconds).toBe(1000)
  expect(describe({ ...held, timestamp: 9000n }).ageSeconds).toBe(0)
})
