import { beforeAll, describe, expect, it } from 'vitest'
import { openNewest, recordLogs, recordNewest } from '../../src/client/record/record-logs.ts'
import { addDemoBlocks, createService, createWorld, demoWorld } from '../../src/devnet/index.ts'
import { createChain, type FullChain } from '../../src/devnet/service/chain.ts'
import { implementationOf } from '../../src/devnet/service/contract.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { encodeHeader, type StateScheme, type Trusted, verifyEvidence } from '../../src/entry/anchor.ts'
import { trustBeaconBlock } from '../../src/entry/beacon.ts'
import { historyContract, type LogsClaim, logsEvidence } from '../../src/entry/blocks.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type RecordOptions, type RecordProgress, recordEvidence } from '../../src/entry/rpc.ts'
import { decodeFilter } from '../../src/verify/blocks/filter.ts'
import { type InParts, withNetwork } from '../network.ts'
import { verdict } from '../refusal.ts'
import { ANY_TRUSTED, apiOf } from './beacon-apis.ts'
import { CONTRACT, ROLLUP, USER, word } from './servers.ts'
import { fail, providerOf, type Tamper, to } from './tampered.ts'

const verifyLogs = (bundle: unknown, claim: Omit<LogsClaim<Trusted, StateScheme>, 'kind'>) =>
  verifyEvidence(bundle, { kind: logsEvidence, ...claim })

const storageKeys = [0, 1, 2, 7, 9].map(word)
const request = { scheme: poseidon2, rollup: ROLLUP, address: CONTRACT, storageKeys }

/** L1 finalizes L2 blocks 3 and 4 with their roots; after the upgrade, blocks 7 and 9 with their hashes. */
function upgraded(): FullChain {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, { chainId: 2n })
  addDemoBlocks(chain, { counts: [3, 1] })
  chain.upgrade()
  addDemoBlocks(chain, { counts: [3, 2] })
  return chain
}

let chain: FullChain
beforeAll(() => {
  chain = upgraded()
})

const l1Of = (of: FullChain, tamper?: Tamper) => providerOf(l1Methods(of, 1n), tamper)
const l2Of = (of: FullChain, tamper?: Tamper) => providerOf(l2Methods(of, 2n), tamper)

/** Records from one endpoint of each layer, which may lie, or from a second, honest one of L2. */
async function record(
  { l2 = undefined as Tamper | undefined, of = chain },
  options: Partial<InParts<RecordOptions>> = {},
) {
  const [one, two] = [l1Of(of), l2Of(of, l2)]
  const steps: RecordProgress[] = []
  const onProgress = (progress: RecordProgress) => void steps.push(progress)
  const asked = { l1: one.provider, l2: two.provider, ...request, onProgress }
  const outcome = await recordEvidence(withNetwork({ ...asked, ...options })).catch((error: unknown) => error)
  return { outcome, steps, askedL1: one.asked, askedL2: two.asked }
}

/** Expects a recording that matches the chain and verifies offline, and returns it. */
function expectTrue(outcome: unknown, of = chain) {
  if (!(typeof outcome === 'object' && outcome !== null && 'verified' in outcome)) throw outcome
  const recorded = outcome as Awaited<ReturnType<typeof recordEvidence>>
  const { verified, bundle } = recorded
  const world = of.at(verified.l2BlockNumber)
  expect(verified.storage.map(({ value }) => value)).toEqual(storageKeys.map(key => world?.getStorage(CONTRACT, key)))
  expect(verified.account?.nonce).toBe(world?.getAccount(CONTRACT)?.nonce)
  const scheme = recorded.scheme === 'ethereum' ? recorded.scheme : poseidon2
  const trusted = { l1BlockHash: verified.l1Block.hash }
  const claim = { ...request, scheme, trusted, l2BlockNumber: verified.l2BlockNumber }
  expect(verifyEvidence(JSON.parse(JSON.stringify(bundle)), claim)).toEqual(verified)
  return recorded
}

it('records what L1 holds for the block, whatever the hash scheme of roots is', async () => {
  const { outcome, steps, askedL1, askedL2 } = await record({})
  const recorded = expectTrue(outcome)
  const { hash, stateRoot } = Object(chain.getBlock(9n))
  expect(recorded).toMatchObject({
    scheme: 'ethereum',
    bundle: { version: 1, scheme: 'ethereum' },
  })
  expect(recorded.verified).toMatchObject({
    ...{ l2BlockNumber: 9n, stateRoot, l2Block: { hash, number: 9n }, implementation: implementationOf(9) },
    ...{ currentL2BlockNumber: 9n, finalizedTimestamp: chain.timestamp(9n) },
  })
  expect(recorded.bundle.answer).not.toHaveProperty('storageProofs')
  // The header has the time, so no log is asked for.
  expect(askedL1.map(({ method }) => method)).toEqual(['eth_getBlockByNumber', 'eth_getProof', 'eth_getProof'])
  expect(askedL2).toEqual([
    { method: 'eth_getBlockByNumber', params: ['0x9', false] },
    { method: 'eth_getProof', params: [CONTRACT, storageKeys, '0x9'] },
  ])
  expect(steps.map(({ step }) => step)).toEqual(['l1Block', 'l2Block'])
  // Who states that kind gets the same.
  expect(expectTrue((await record({}, { scheme: 'ethereum' })).outcome)).toEqual(recorded)
  const missing = { address: USER, storageKeys: [word(0)], l2BlockNumber: 7n }
  const absent = (await record({}, { ...missing, address: `0x${'5a'.repeat(20)}` })).outcome
  expect(absent).toMatchObject({ verified: { account: null, storage: [{ exists: false, value: word(0) }] } })
})

it('records blocks before the upgrade as before, and refuses them to who knows hashes only', async () => {
  for (const l2BlockNumber of [3n, 4n]) {
    const recorded = expectTrue((await record({}, { l2BlockNumber })).outcome)
    expect(recorded).toMatchObject({ scheme: 'poseidon2', bundle: { version: 1 }, verified: { l2BlockNumber } })
    expect(recorded.verified).not.toHaveProperty('l2Block')
    const { outcome } = await record({}, { l2BlockNumber, scheme: 'ethereum' })
    expect(outcome).toMatchObject({ code: 'ANCHOR_NO_ROOT', found: 'its state root' })
  }
  // The newest block with proofs may be one of before.
  const gone = to('eth_getProof', fail(-32000, 'missing trie node 00'))
  const back = await record({ l2: gone })
  expect(expectTrue(back.outcome)).toMatchObject({ scheme: 'poseidon2', verified: { l2BlockNumber: 4n } })
  expect(back.steps.flatMap(step => (step.step === 'proofUnavailable' ? [step.l2BlockNumber] : []))).toEqual([9n, 7n])
  const headless = to('eth_getBlockByNumber', (answer, [block]) => (block === '0x9' ? null : answer))
  expect(expectTrue((await record({ l2: headless })).outcome)).toMatchObject({ verified: { l2BlockNumber: 7n } })
})

const withStorage = (change: (slots: object[]) => object[]) =>
  to('eth_getProof', answer => ({ ...answer, storageProof: change(Reflect.get(answer, 'storageProof')) }))

const LIES: [what: string, code: string, lie: Tamper][] = [
  [
    'the header of another block',
    'HEADER_HASH_MISMATCH',
    to('eth_getBlockByNumber', () => JSON.parse(JSON.stringify(chain.getBlock(8n)))),
  ],
  [
    'a header with another root',
    'HEADER_HASH_MISMATCH',
    to('eth_getBlockByNumber', block => ({ ...block, stateRoot: word(7) })),
  ],
  ['no header', 'HEADER_MALFORMED', to('eth_getBlockByNumber', () => ({}))],
  [
    'the proof of another account',
    'MPT_HASH_MISMATCH',
    to('eth_getProof', (_, [, keys]) => l2Methods(chain, 2n).get('eth_getProof')?.([USER, keys, '0x9'])),
  ],
  [
    'the proof of another block',
    'MPT_HASH_MISMATCH',
    to('eth_getProof', (_, [, keys]) => l2Methods(chain, 2n).get('eth_getProof')?.([CONTRACT, keys, '0x7'])),
  ],
  [
    'fewer nodes',
    'MPT_NODES_MISSING',
    to('eth_getProof', answer => ({ ...answer, accountProof: Reflect.get(answer, 'accountProof').slice(0, -1) })),
  ],
  ['another order of the keys', 'L1_KEY_MISMATCH', withStorage(slots => slots.toReversed())],
  ['fewer slots', 'L1_STORAGE_PROOF_COUNT', withStorage(slots => slots.slice(1))],
  ['another value', 'L1_PROOF_DISAGREES', withStorage(([first, ...rest]) => [{ ...first, value: '0x7' }, ...rest])],
  ['an answer of the other method', 'L1_PROOF_MALFORMED', to('eth_getProof', () => ({ accountProof: {} }))],
]

it('records the truth or nothing, whichever link of the state is a lie', async () => {
  for (const [what, code, l2] of LIES) {
    const { outcome, steps } = await record({ l2 })
    expect(outcome, what).toMatchObject({ code })
    expect(steps.at(-1), what).toMatchObject({ step: 'endpointFailed', layer: 'L2', index: 0, code })
    // Another endpoint is asked, and the truth is recorded.
    const both = await record({}, { l2: [l2Of(chain, l2).provider, l2Of(chain).provider] })
    expect(expectTrue(both.outcome)).toMatchObject({ scheme: 'ethereum', verified: { l2BlockNumber: 9n } })
  }
  expect(LIES.length).toBe(10)
  // What is not part of the answer is left out.
  const padded = await record({ l2: to('eth_getProof', answer => ({ ...answer, url: 'https://example.org/key' })) })
  expect(expectTrue(padded.outcome).bundle.answer).not.toHaveProperty('url')
})

it('lets no bundle pass a root for a hash, or a hash for a root', async () => {
  const [before, after] = [await record({}, { l2BlockNumber: 4n }), await record({}, { l2BlockNumber: 7n })]
  const [old, young] = [expectTrue(before.outcome), expectTrue(after.outcome)]
  const judge = (scheme: 'ethereum' | typeof poseidon2, bundle: object) => {
    const trusted = { l1BlockHash: old.verified.l1Block.hash }
    const rest = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const
    return verdict(() => verifyEvidence(bundle, { scheme, rollup: ROLLUP, trusted, ...rest }))
  }
  const l2Header = encodeHeader(chain.getBlock(4n))
  const { answer } = young.bundle
  expect([
    judge('ethereum', { ...old.bundle, scheme: 'ethereum' }),
    judge('ethereum', { ...old.bundle, scheme: 'ethereum', l2Header, answer }),
    judge(poseidon2, { ...young.bundle, version: 1, scheme: 'poseidon2' }),
    judge(poseidon2, { ...young.bundle, version: 1, scheme: 'poseidon2', answer: old.bundle.answer }),
    judge('ethereum', old.bundle),
    judge(poseidon2, young.bundle),
  ]).toEqual([
    ...Array(4).fill('ANCHOR_NO_ROOT at l1.proof.storageProof[0]'),
    ...Array(2).fill('EVIDENCE_SCHEME_MISMATCH at scheme'),
  ])
})

it('stops at an upgrade if the implementation is stated', async () => {
  const pinned = (version: 8 | 9) => ({ rollup: { ...ROLLUP, implementation: implementationOf(version) } })
  expect((await record({}, pinned(8))).outcome).toMatchObject({
    ...{ code: 'ANCHOR_IMPLEMENTATION_MISMATCH', expected: implementationOf(8), found: implementationOf(9) },
  })
  expectTrue((await record({}, pinned(9))).outcome)
  // A layout without hashes leaves nothing to who wants one.
  const layout = { stateRootHashes: 282n, currentL2BlockNumber: 281n }
  const { outcome } = await record({}, { scheme: 'ethereum', rollup: { ...ROLLUP, layout } })
  expect(outcome).toMatchObject({ code: 'ARGUMENT_INVALID', path: 'network.rollup.layout.blockHashes' })
})

it('records logs from an Ethereum state', async () => {
  const [l1, l2] = [l1Of(chain).provider, l2Of(chain).provider]
  const search = { filter: decodeFilter({}), fromBlock: 2n, toBlock: 8n }
  const { bundle, verified } = await recordLogs(withNetwork({ l1, l2, scheme: poseidon2, rollup: ROLLUP }), search)
  expect(bundle).toMatchObject({ version: 1, kind: 'logs', scheme: 'ethereum', l2Header: expect.any(String) })
  expect(verified.logs.length).toBe(7)
  const trusted = { l1BlockHash: `${verified.l1Block?.hash}` } as { l1BlockHash: `0x${string}` }
  const claim = { scheme: 'ethereum', rollup: ROLLUP, trusted, l2BlockNumber: 9n, ...search } as const
  expect(verifyLogs(JSON.parse(JSON.stringify(bundle)), claim)).toEqual(verified)
  const spoilt: [change: object, expected: string][] = [
    [{ l2Header: undefined }, 'EVIDENCE_L2_MISSING at l2Header'],
    [{ l2Header: encodeHeader(chain.getBlock(8n)) }, 'HEADER_HASH_MISMATCH at l2Header'],
    [{ version: 2 }, 'EVIDENCE_VERSION at version'],
    [{ version: 3 }, 'EVIDENCE_VERSION at version'],
    [{ scheme: 'poseidon2' }, 'EVIDENCE_SCHEME_MISMATCH at scheme'],
  ]
  for (const [change, expected] of spoilt) {
    expect(verdict(() => verifyLogs({ ...bundle, ...change }, claim))).toBe(expected)
  }
  expect(verdict(() => verifyLogs(bundle, { ...claim, scheme: poseidon2 }))).toBe('EVIDENCE_SCHEME_MISMATCH at scheme')
})

describe('logs up to the block whose hash L1 holds', () => {
  const search = { filter: decodeFilter({}), fromBlock: 2n }
  const claimOn = ({ l1Block }: { l1Block?: { hash: Hex } | undefined }) => {
    const trusted = { l1BlockHash: l1Block?.hash ?? '0x' }
    return { scheme: 'ethereum', rollup: ROLLUP, trusted, l2BlockNumber: 9n, ...search, toBlock: 9n } as const
  }
  const recordFrom = async (of: FullChain, range: { toBlock?: bigint } = {}, tamper?: Tamper) => {
    const [l1, l2] = [l1Of(of), l2Of(of, tamper)]
    const options = { l1: l1.provider, l2: l2.provider, scheme: poseidon2, rollup: ROLLUP }
    const outcome = await recordLogs(withNetwork(options), { ...search, ...range }).catch((error: unknown) => error)
    return { outcome, asked: l2.asked }
  }

  it('are the default, and need no slot', async () => {
    const { outcome, asked } = await recordFrom(chain)
    const { bundle, verified } = outcome as Awaited<ReturnType<typeof recordLogs>>
    expect(bundle).not.toHaveProperty('answer')
    expect(bundle.blocks[0]?.header).toBe(bundle.l2Header)
    // One transfer in each block.
    expect(verified.logs.map(({ blockNumber }) => blockNumber)).toEqual([2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n])
    expect(asked.flatMap(({ method, params }) => (method === 'eth_getProof' ? [params[1]] : []))).toEqual([[]])
    const claim = claimOn(verified)
    const copy = JSON.parse(JSON.stringify(bundle))
    expect(verifyLogs(copy, claim)).toEqual(verified)
    expect(verified).toMatchObject({ l2Block: { hash: Object(chain.getBlock(9n)).hash, number: 9n }, toBlock: 9n })
    expect((await recordFrom(chain, { toBlock: 9n })).outcome).toEqual(outcome)
    expect((await recordFrom(chain, { toBlock: 10n })).outcome).toMatchObject({
      ...{ code: 'ARGUMENT_INVALID', path: 'toBlock', found: 'the newest block that can be proven is 9' },
    })
  })

  it('are the truth or nothing, whatever an endpoint says about that block', async () => {
    const lies: [string, Tamper][] = [
      ['HEADER_HASH_MISMATCH', to('eth_getBlockByNumber', block => ({ ...block, gasUsed: '0x1' }))],
      ['BLOCK_MISSING', to('eth_getBlockReceipts', (answer, [at]) => (at === '0x9' ? null : answer))],
      ['RECEIPTS_ROOT_MISMATCH', to('eth_getBlockReceipts', (answer, [at]) => (at === '0x9' ? [] : answer))],
    ]
    for (const [code, lie] of lies) expect((await recordFrom(chain, {}, lie)).outcome).toMatchObject({ code })
  })

  it('lead to any range of a state that holds no hashes', async () => {
    const genesis = createWorld(poseidon2)
    genesis.setAccount(USER, { nonce: 1n })
    // L1 holds no hash of a block of another kind.
    const sparse = createChain(genesis, ROLLUP, { chainId: 2n })
    for (let number = 1; number < 4; number++) sparse.addBlock()
    sparse.finalize()
    expect((await recordFrom(sparse)).outcome).toMatchObject({ code: 'HISTORY_NO_CONTRACT' })
    // Anyone can send wei to an address where there is no contract.
    for (const balance of [0n, 1n]) {
      if (balance > 0n) genesis.setAccount(historyContract, { balance })
      const bare = createChain(genesis, ROLLUP, { chainId: 2n, upgradeAt: 3n })
      for (let number = 1; number < 10; number++) bare.addBlock()
      bare.finalize()
      const { outcome } = await recordFrom(bare, { toBlock: 7n })
      const { bundle, verified } = outcome as Awaited<ReturnType<typeof recordLogs>>
      expect([bundle.blocks.length, verified.blockCount]).toEqual([8, 6])
      expect(verifyLogs(bundle, { ...claimOn(verified), toBlock: 7n })).toEqual(verified)
    }
  })

  it('are proven from a beacon block that you trust', async () => {
    const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, upgradeAt: 1n })
    addDemoBlocks(service.chain)
    const { url: l2, l1Url: l1 } = await service.listen()
    const blockRoot = (await service.beacon.blockRoot(60n)) ?? '0x'
    const trusted = trustBeaconBlock({ network: service.beacon.network, blockRoot })
    const beacon = { apis: [apiOf(service)], trusted, ...ANY_TRUSTED }
    const { bundle, verified } = await recordLogs(
      withNetwork({ l1, l2, scheme: poseidon2, rollup: ROLLUP, beacon }),
      search,
    )
    expect([verified.trustedInput, 'answer' in bundle]).toEqual(['beaconBlockRoot', false])
    const claim = { ...claimOn(verified), trusted, l2BlockNumber: verified.l2BlockNumber, toBlock: verified.toBlock }
    expect(verifyLogs(JSON.parse(JSON.stringify(bundle)), claim)).toEqual(verified)
    await service.close({ graceMs: 0 })
  })

  it('are told from those of a slot by the keys of the bundle', async () => {
    const [l1, l2] = [l1Of(chain).provider, l2Of(chain).provider]
    const options = { l1, l2, scheme: poseidon2, rollup: ROLLUP }
    const [anchored, older, old] = await Promise.all([
      recordNewest(withNetwork(options)),
      recordNewest(withNetwork(options), 8n),
      recordNewest(withNetwork({ ...options, l2BlockNumber: 4n })),
    ])
    // The parent hashes lead from the block whose hash L1 holds to the end of any range.
    expect([anchored, older, old].map(({ newest, toBlock }) => [newest.number, toBlock])).toEqual([
      ...[
        [9n, 9n],
        [9n, 8n],
        [3n, 3n],
      ],
    ])
    const trusted = { l1BlockHash: anchored.verified.l1Block?.hash ?? '0x' } as const
    const open = ({ bundle, scheme }: typeof anchored, toBlock?: bigint, change: object = {}) =>
      verdict(() =>
        openNewest({ ...bundle, ...change }, { scheme, rollup: ROLLUP, trusted, l2BlockNumber: 'fromBundle' }, toBlock),
      )
    expect([open(anchored), open(anchored, 5n), open(older), open(old)]).toEqual(Array(4).fill('accepted'))
    expect([open(anchored, 10n), open(old, 4n)]).toEqual(['LOGS_RANGE at toBlock', 'EVIDENCE_KEYS_MISMATCH'])
    const { storageProofs: _, ...account } = Object(old.bundle.answer)
    const keyless = { request: { ...old.bundle.request, storageKeys: [] }, answer: { ...account, storageProofs: [] } }
    expect(open(old, undefined, keyless)).toBe('EVIDENCE_KEYS_MISMATCH')
    // A state root leads to no block.
    const claim = { scheme: 'ethereum', rollup: ROLLUP, l2BlockNumber: 9n } as const
    const fromRoot = { ...claim, trusted: { l2StateRoot: anchored.verified.stateRoot } }
    expect(verdict(() => openNewest(anchored.bundle, fromRoot))).toBe('EVIDENCE_KEYS_MISMATCH')
  })
})
