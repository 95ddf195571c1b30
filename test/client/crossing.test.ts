import { describe, expect, it } from 'vitest'
import { followWith } from '../../src/client/follow/follow.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { describeBlock, NO_CONTENT, sealBlock, ZERO_HASH } from '../../src/devnet/service/block.ts'
import { createChain, type FullChain } from '../../src/devnet/service/chain.ts'
import { implementationOf } from '../../src/devnet/service/contract.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { createL1 } from '../../src/devnet/service/simulated-l1.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type FollowEvent, type FollowOptions, fetchVerifiedRoot, finalizedBlockHash } from '../../src/entry/rpc.ts'
import { IMPLEMENTATION_KEY } from '../../src/verify/anchor/rollup.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { type InParts, withNetwork } from '../network.ts'
import { randomOf } from '../random.ts'
import { sized } from '../size.ts'
import { chainOf, collect, fail, finalize, providerOf, type Tamper, to } from './following.ts'
import { ROLLUP, word } from './servers.ts'

const codeOf = (version: 8 | 9) => implementationOf(version)
/** Of `DataFinalizedV4`. */
const DATA_FINALIZED = '0x86710ea04c20fbcfc0b7200362c5174c71b7183bbc324b36a83f61824be0cdef'
const NUMBERS = [0, 1, 2, 3, 4, 5, 6]

/** Finalizations at L2 blocks 0 to 6: three with state roots, the others with block hashes. */
function crossed(before = 2, after = 4): FullChain {
  const chain = chainOf(before)
  chain.upgrade()
  for (let added = 0; added < after; added++) finalize(chain)
  return chain
}

const from = (block: bigint) => ({ fromL2BlockNumber: block })
const changesIn = (events: readonly FollowEvent[]) =>
  events.flatMap(event => (event.name === 'follow.implementation.changed' ? [event.attributes] : []))

it('follows roots, then hashes, without a restart and with the options of before', async () => {
  const chain = chainOf(2)
  const { numbers, found, events } = await collect({
    chain,
    options: from(0n),
    onWait: (_, count) => {
      if (count === 2) chain.upgrade()
      else finalize(chain)
      if (count === 4) finalize(chain)
      return count < 6 ? undefined : false
    },
  })
  expect(numbers).toEqual([...NUMBERS, 7])
  expect(found.map(({ blockHash }) => blockHash === undefined)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map(n => n <= 3))
  // The header proves the time, even of a block that is no longer the newest.
  expect(found.map(({ finalizedTimestamp }) => finalizedTimestamp !== undefined)).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map(n => n >= 2),
  )
  expect(found.map(({ implementation }) => implementation)).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map(n => codeOf(n <= 3 ? 8 : 9)),
  )
  expect(changesIn(events)).toEqual([
    { 'l1.block.number': 4, 'implementation.old': codeOf(8), 'implementation.new': codeOf(9) },
  ])
  expect(found[5]?.verified[0]).toMatchObject({ l2BlockNumber: 5n, l2Block: { number: 5n } })
  expect(found[5]?.progress).toEqual({
    ...{ version: 1, rollup: ROLLUP.address, l2BlockNumber: '0x5', blockHash: found[5]?.blockHash },
    ...{ implementation: codeOf(9), l1Block: { number: '0x7', hash: found[5]?.l1Block.hash } },
  })
})

describe('an endpoint that lies', () => {
  const headerOf = (chain: FullChain, block: bigint) => JSON.parse(JSON.stringify(chain.getBlock(block)))
  /** The layer that lies, how, and why it is refused; undefined if nothing it says counts. */
  const lies: [string, 'l1' | 'l2', (chain: FullChain) => Tamper, string | undefined][] = [
    ['another header', 'l2', chain => to('eth_getBlockByNumber', () => headerOf(chain, 5n)), 'HEADER_HASH_MISMATCH'],
    [
      'a header with another root',
      'l2',
      () => to('eth_getBlockByNumber', (block: object) => ({ ...block, stateRoot: word(7) })),
      'HEADER_HASH_MISMATCH',
    ],
    [
      'a header of its own',
      'l2',
      () =>
        to('eth_getBlockByNumber', (block: { number: Hex }) =>
          describeBlock(sealBlock({ ...own, number: BigInt(block.number) })),
        ),
      'HEADER_HASH_MISMATCH',
    ],
    ['no header', 'l2', () => to('eth_getBlockByNumber', () => null), 'BLOCK_MISSING'],
    [
      'that there is no upgrade',
      'l2',
      () => to('eth_getProof', () => fail(-32601, 'the method does not exist')),
      'METHOD_UNKNOWN',
    ],
    [
      'another account',
      'l2',
      chain => to('eth_getProof', (_, [, keys, block]) => l2Proof(chain, `0x${'b2'.repeat(20)}`, keys, block)),
      'MPT_HASH_MISMATCH',
    ],
    [
      'another state',
      'l2',
      chain => to('eth_getProof', (_, [address, keys]) => l2Proof(chain, address, keys, '0x4')),
      'MPT_HASH_MISMATCH',
    ],
    [
      'a tree in place of a trie',
      'l2',
      chain => to('eth_getProof', (_, [address, keys]) => chain.at(2n)?.getProof(address as Hex, keys as Hex[])),
      'L1_PROOF_MALFORMED',
    ],
    [
      'the L1 state before the upgrade',
      'l1',
      chain => to('eth_getProof', (_, [address, keys]) => chain.l1.getProof(address as Hex, keys as Hex[], 2n)),
      'MPT_HASH_MISMATCH',
    ],
    ['nothing about hashes and code', 'l1', () => shorter(2), 'L1_STORAGE_PROOF_COUNT'],
    ['nothing about the code', 'l1', () => shorter(-1), 'ANSWER_MALFORMED'],
    [
      'the code of before',
      'l1',
      () =>
        to('eth_getProof', ({ storageProof, ...proof }: { storageProof: { key: string }[] }) => ({
          ...proof,
          storageProof: storageProof.map(slot =>
            slot.key === IMPLEMENTATION_KEY ? { ...slot, value: codeOf(8) } : slot,
          ),
        })),
      'L1_PROOF_DISAGREES',
    ],
    ['garbage in DataFinalizedV4', 'l1', () => to('eth_getLogs', logs => garbled(logs)), undefined],
    ['no FinalizedStateUpdated', 'l1', () => to('eth_getLogs', () => garbled([]).slice(0, 9)), 'L1_CONTRADICTION'],
  ]
  const own = {
    ...{ parentHash: ZERO_HASH, stateRoot: word(7), timestamp: 7n, extraData: '0x' as Hex, content: NO_CONTENT },
  } as const
  const l2Proof = (chain: FullChain, ...params: unknown[]) => l2Methods(chain, 2n).get('eth_getProof')?.(params)
  /** The L1 proof with fewer slots, unless it is about one alone. */
  const shorter = (count: number) =>
    to('eth_getProof', ({ storageProof, ...proof }: { storageProof: object[] }) => ({
      ...proof,
      storageProof: storageProof.length === 1 ? storageProof : storageProof.slice(0, count),
    }))
  /** Logs of the other event, of which none is read, and which have any form. */
  const garbled = (logs: readonly object[]): unknown[] => [
    ...['0x', `0x${'ff'.repeat(1000)}`, 7].map(data => ({ topics: [DATA_FINALIZED, word(0), '0x'], data })),
    ...logs.flatMap(log => [{ topics: [DATA_FINALIZED, ...NUMBERS.map(word)], data: word(9) }, log]),
    ...[null, {}, { topics: 'no' }, { topics: [DATA_FINALIZED] }],
  ]

  it.each(lies)('harms nobody if there is another: it says %s', async (_, layer, lie, code) => {
    const chain = crossed()
    const tamper = lie(chain)
    const beside = await collect({ chain, [layer]: [tamper, undefined], options: from(0n) })
    expect([beside.numbers, beside.code]).toEqual([NUMBERS, 'ABORTED'])
    const alone = await collect({
      ...{ chain, [layer]: [tamper], options: from(0n) },
      onWait: (_, count) => (count < 10 ? undefined : false),
    })
    if (code === undefined) return expect(alone.numbers).toEqual(NUMBERS)
    const refused = alone.events.flatMap(event => (event.name === 'follow.request.failed' ? [event.error.code] : []))
    expect(new Set(refused).size).toBe(1)
    expect(refused[0]).toMatch(code)
    expect(alone.numbers).toEqual(layer === 'l1' ? [] : [0, 1, 2])
  })
})

describe('the code of the contract', () => {
  it('is told once if it has changed, even between two runs', async () => {
    const chain = chainOf(2)
    const { found } = await collect({ chain, options: from(0n) })
    const resumeFrom = found.at(-1)?.progress
    chain.upgrade()
    const again = await collect({ chain, options: { resumeFrom } })
    const change = { 'l1.block.number': 3, 'implementation.old': codeOf(8), 'implementation.new': codeOf(9) }
    // Nothing was finalized since.
    expect([again.numbers, changesIn(again.events)]).toEqual([[], [change]])
    finalize(chain)
    const later = await collect({ chain, options: { resumeFrom }, onWait: (_, count) => count < 3 })
    expect([later.numbers, changesIn(later.events)]).toEqual([[3], [{ ...change, 'l1.block.number': 4 }]])
    const last = await collect({ chain, options: { resumeFrom: later.found[0]?.progress } })
    expect([last.numbers, changesIn(last.events)]).toEqual([[], []])
  })

  it('stops a follower at once if another one is stated', async () => {
    const chain = chainOf(2)
    const rollup = { ...ROLLUP, implementation: codeOf(8) }
    const onWait = () => {
      chain.upgrade()
      finalize(chain)
      return undefined
    }
    const stopped = await collect({ chain, options: { ...from(0n), rollup }, onWait })
    expect([stopped.numbers, stopped.code, stopped.waits.length]).toEqual([
      [0, 1, 2],
      'ANCHOR_IMPLEMENTATION_MISMATCH',
      1,
    ])
    expect(stopped.error).toMatchObject({ expected: codeOf(8), found: codeOf(9) })
    // Before any item, and after a restart, too.
    for (const options of [from(0n), { resumeFrom: stopped.found[2]?.progress }, {}]) {
      const { numbers, code, waits } = await collect({ chain, options: { ...options, rollup } })
      expect([numbers, code, waits]).toEqual([[], 'ANCHOR_IMPLEMENTATION_MISMATCH', []])
    }
    const looked = { resumeFrom: stopped.found[2]?.progress, rollup: { ...rollup, implementation: codeOf(9) } }
    const { numbers } = await collect({ chain, options: looked })
    expect(numbers).toEqual([3])
  })

  it('stops one that states the new code at an older L1 block, unless it knows a newer one', async () => {
    const chain = crossed(2, 2)
    const rollup = { ...ROLLUP, implementation: codeOf(9) }
    const hashes = [2n, chain.l1.blockNumber()].map(number => Object(chain.l1.getBlock(number)).hash as Hex)
    const [stale = '0x', fresh = '0x'] = hashes
    const { code } = await collect({ chain, options: { ...from(0n), rollup, l1BlockHash: () => stale } })
    expect(code).toBe('ANCHOR_IMPLEMENTATION_MISMATCH')
    // Within a run, and in the next one.
    let polls = 0
    const l1BlockHash = () => (polls++ === 0 ? fresh : stale)
    const options = { ...from(3n), rollup, l1BlockHash }
    const first = await collect({ chain, options, onWait: (_, count) => (count < 3 ? undefined : false) })
    expect([first.numbers, first.waits.length > 1, polls > 2]).toEqual([[3, 4], true, true])
    const resumed = { rollup, l1BlockHash: () => stale, resumeFrom: first.found[1]?.progress }
    const next = await collect({ chain, options: resumed })
    expect([next.numbers, next.code]).toEqual([[], first.code])
  })
})

describe('progress', () => {
  it('holds what L1 has to hold later: the same root, or the same hash', async () => {
    const chain = crossed()
    const { found } = await collect({ chain, options: from(0n) })
    const { stateRoot, ...atRoot } = { ...found[2]?.progress }
    const { blockHash, ...atHash } = { ...found[4]?.progress }
    const cases: [object, string][] = [
      [{ ...atHash, blockHash: word(7) }, `its hash is ${blockHash}`],
      [{ ...atHash, stateRoot: found[4]?.stateRoot }, 'the contract has no root of it'],
      [{ ...atRoot, blockHash: word(7) }, 'the contract has no hash of it'],
      [{ ...atRoot, stateRoot: word(7) }, `its root is ${stateRoot}`],
    ]
    for (const [resumeFrom, found] of cases) {
      const { code, error, numbers } = await collect({ chain, options: { resumeFrom } })
      expect([code, numbers]).toEqual(['L1_DISAGREEMENT', []])
      expect(String(error)).toContain(found)
    }
    expect(cases.length).toBe(4)
    for (const resumeFrom of [
      { ...atHash, blockHash, stateRoot },
      atHash,
      { ...atHash, blockHash: '0x12' },
      { ...atHash, blockHash, implementation: '0x12' },
    ]) {
      const { code } = await collect({ chain, options: { resumeFrom } }).catch(error => error)
      expect(code).toBe('ARGUMENT_INVALID')
    }
  })
})

describe('the option scheme', () => {
  it("may be 'ethereum' alone: a state root ends the iteration at once", async () => {
    const chain = createChain(demoWorld(poseidon2), ROLLUP, { contractVersion: 9 })
    finalize(chain)
    const { numbers, code } = await collect({ chain, options: { ...from(0n), scheme: 'ethereum' } })
    expect([numbers, code]).toEqual([[0, 1], 'ABORTED'])
    const older = await collect({ chain: crossed(), options: { ...from(0n), scheme: 'ethereum' } })
    expect([older.numbers, older.code, older.waits]).toEqual([[], 'ANCHOR_NO_ROOT', []])
    const newer = await collect({ chain: crossed(), options: { ...from(3n), scheme: 'ethereum' } })
    expect(newer.numbers).toEqual([3, 4, 5, 6])
  })

  it('decides where L1 holds both', async () => {
    const chain = crossed(1, 0)
    finalize(chain)
    // As if the contract seeded the hash of a block whose root it holds.
    const newest = (chain.latest() + 1n).toString()
    chain.addBlock()
    const [stateRoot, blockHash] = [chain.at(chain.latest())?.stateRoot(), Object(chain.getBlock(chain.latest())).hash]
    chain.l1.finalize({ l2BlockNumber: chain.latest(), stateRoot, blockHash })
    const { l2s } = await collect({ chain })
    expect(new Set(l2s[0]?.asked)).toEqual(new Set(['rollup_getProof']))
    const { found } = await collect({ chain, options: { scheme: 'ethereum' } })
    expect(found.map(item => [`${item.l2BlockNumber}`, item.blockHash])).toEqual([[newest, blockHash]])
    const { numbers } = await collect({ chain, options: { resumeFrom: found[0]?.progress } })
    expect(numbers).toEqual([])
  })
})

it('fetches a root or a hash for a verified root, whichever L1 holds', async () => {
  const chain = crossed()
  const { provider } = providerOf(l1Methods(chain, 1n))
  const l1BlockHash = await finalizedBlockHash(provider)()
  const fetchAt = (l2BlockNumber?: bigint, options = {}) =>
    fetchVerifiedRoot({ l1: provider, rollup: ROLLUP, l1BlockHash, l2BlockNumber, ...options })
  const common = { currentL2BlockNumber: 6n, implementation: codeOf(9) }
  const { hash } = Object(chain.getBlock(6n))
  expect(await fetchAt()).toMatchObject({
    ...{ ...common, stateRoot: undefined, blockHash: hash, finalizedTimestamp: chain.timestamp(6n) },
  })
  expect(await fetchAt(2n)).toMatchObject({ ...common, stateRoot: chain.at(2n)?.stateRoot(), blockHash: undefined })
  for (const [number, holds] of [
    [2n, 'stateRoot'],
    [6n, 'blockHash'],
  ] as const) {
    expect((await fetchAt(number, { holds }))[holds]).toMatch(/^0x/)
    const other = holds === 'stateRoot' ? 'blockHash' : 'stateRoot'
    await expect(fetchAt(number, { holds: other })).rejects.toMatchObject({ code: 'ANCHOR_NO_ROOT' })
  }
  await expect(fetchAt(2n, { holds: 'root' })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path: 'holds' })
  const pinned = { rollup: { ...ROLLUP, implementation: codeOf(8) } }
  await expect(fetchAt(2n, pinned)).rejects.toMatchObject({ code: 'ANCHOR_IMPLEMENTATION_MISMATCH' })
})

/** Finalizations in the long run. `TEST_SIZE=7` makes it 2,100. */
const COUNT = sized(300)

it(`follows ${COUNT} finalizations across the upgrade, killed and restarted at random`, async () => {
  const random = randomOf(34)
  const chance = (probability: number) => random() < probability
  const l1 = createL1(ROLLUP)
  const headers: ReturnType<typeof sealBlock>[] = []
  /** The root or the hash, by L2 block. The L2 blocks between the finalizations are empty. */
  const truth = new Map<bigint, string>()
  const move = () => {
    const more = Math.min(COUNT - truth.size, 1 + Math.floor(random() * 60))
    for (let added = 0; added < more; added++) {
      const number = BigInt(headers.length)
      const parentHash = headers.at(-1)?.hash ?? ZERO_HASH
      const stateRoot = named(`root ${number}`)
      const timestamp = 1_700_000_000n + number
      const block = sealBlock({ number, parentHash, stateRoot, timestamp, extraData: '0x', content: NO_CONTENT })
      headers.push(block)
      if (truth.size === COUNT / 2) l1.upgrade()
      const held = truth.size < COUNT / 2 ? { stateRoot } : { blockHash: block.hash }
      l1.finalize({ l2BlockNumber: number, ...held })
      truth.set(number, Object.values(held)[0] ?? '')
      if (chance(0.1)) l1.addBlock()
    }
  }
  const methods = l1Methods({ l1 } as FullChain, 1n)
  const l2Headers = new Map([
    [
      'eth_getBlockByNumber',
      ([number]: readonly unknown[]) =>
        headers
          .slice(Number(number))
          .slice(0, 1)
          .map(block => describeBlock(block))[0],
    ],
  ])
  let [kills, killed] = [0, new AbortController()]
  /** Kills the follower before, or after, it has an answer. */
  const mortal: Tamper = answer => {
    if (chance(0.01)) killed.abort()
    return answer
  }
  const followed: bigint[] = []
  let [progress, changes] = [null as unknown, 0]
  while (followed.length < COUNT) {
    killed = new AbortController()
    const { provider } = providerOf(methods, mortal)
    const options: InParts<FollowOptions> = {
      ...{ l1: provider, l2: providerOf(l2Headers, mortal).provider, rollup: ROLLUP, scheme: poseidon2 },
      ...{ l1BlockHash: finalizedBlockHash(provider), fromL2BlockNumber: 0n, resumeFrom: progress },
      signal: killed.signal,
      onEvent: event => {
        if (event.name === 'follow.implementation.changed') changes++
      },
    }
    const wait = async (_: number, signal: AbortSignal) => {
      signal.throwIfAborted()
      move()
    }
    try {
      for await (const item of followWith(withNetwork(options), { wait, random })) {
        const { l2BlockNumber, stateRoot, blockHash, l2Block } = item
        expect(stateRoot).toBe(named(`root ${l2BlockNumber}`))
        expect(blockHash ?? stateRoot).toBe(truth.get(l2BlockNumber))
        expect(l2Block?.number ?? l2BlockNumber).toBe(l2BlockNumber)
        followed.push(l2BlockNumber)
        progress = JSON.parse(JSON.stringify(item.progress))
        if (followed.length === COUNT) break
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'ABORTED' })
      kills++
    }
  }
  expect(followed).toEqual([...truth.keys()])
  expect([truth.size, kills > 3]).toEqual([COUNT, true])
  // Once more for each kill between the upgrade and the next item.
  expect(changes).toBeGreaterThan(0)
  expect(changes).toBeLessThan(10)
}, 3_600_000)
