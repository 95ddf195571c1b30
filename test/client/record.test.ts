import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addDemoBlocks, demoWorld } from '../../src/devnet/index.ts'
import { type FullChain as Chain, createChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { createL1 } from '../../src/devnet/service/simulated-l1.ts'
import { encodeHeader, lineaLayout, verifyEvidence } from '../../src/entry/anchor.ts'
import { mainnetBeacon, trustBeaconBlock } from '../../src/entry/beacon.ts'
import { type Hex, ProofError, type Scheme } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  EndpointError,
  fetchVerifiedRoot,
  type RecordOptions,
  type RecordProgress,
  type RequestProvider,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { createL1 as createEvidenceL1 } from '../../vectors/evidence/l1.ts'
import { asOfNetwork, type InParts, withNetwork } from '../network.ts'
import { sized } from '../size.ts'
import { CONTRACT, ROLLUP, startServer, startService, word } from './servers.ts'
import { fail, providerOf, type Tamper, to } from './tampered.ts'

const storageKeys = [0, 1, 2, 7, 9].map(word)
const request = { scheme: poseidon2, rollup: ROLLUP, address: CONTRACT, storageKeys }

/** The demo chain: L1 blocks 0, 21, 42 and 63 finalize L2 blocks up to 0, 3, 4 and 8. */
function chainOf(proofLag = 0, scheme: Scheme = poseidon2): Chain {
  const chain = createChain(demoWorld(scheme), ROLLUP, { proofLag })
  addDemoBlocks(chain)
  return chain
}

const l1Of = (chain: Chain, tamper?: Tamper) => providerOf(l1Methods(chain, 1n), tamper)
const l2Of = (chain: Chain, tamper?: Tamper) => providerOf(l2Methods(chain, 2n), tamper)

async function record(
  { chain = chainOf(), l1 = undefined as Tamper | undefined, l2 = undefined as Tamper | undefined },
  options: Partial<RecordOptions> = {},
) {
  const [one, two] = [l1Of(chain, l1), l2Of(chain, l2)]
  const steps: RecordProgress[] = []
  const onProgress = (progress: RecordProgress) => void steps.push(progress)
  const endpoints = { l1: one.provider, l2: two.provider }
  const outcome = await recordEvidence(withNetwork({ ...endpoints, ...request, onProgress, ...options })).catch(
    (error: unknown) => error,
  )
  return { outcome, steps, askedL1: one.asked, askedL2: two.asked, chain }
}

const hashOf = (block: object) =>
  `0x${Buffer.from(keccak_256(Buffer.from(encodeHeader(block).slice(2), 'hex'))).toString('hex')}`

const isRecorded = (outcome: unknown): outcome is Awaited<ReturnType<typeof recordEvidence>> =>
  typeof outcome === 'object' && outcome !== null && 'verified' in outcome

const codeOf = (outcome: unknown) => (isRecorded(outcome) ? 'recorded' : Reflect.get(Object(outcome), 'code'))

/** Expects a recording that matches the chain, and returns its evidence. */
function expectTrue(outcome: unknown, chain: Chain) {
  if (!isRecorded(outcome)) throw outcome
  const { verified: evidence, bundle } = outcome
  const world = chain.at(evidence.l2BlockNumber ?? -1n)
  expect(evidence.stateRoot).toBe(world?.stateRoot())
  expect(evidence.storage.map(({ value }) => value)).toEqual(storageKeys.map(key => world?.getStorage(CONTRACT, key)))
  expect(chain.l1.getBlock(evidence.l1Block.number)).toMatchObject({ hash: evidence.l1Block.hash })
  const { scheme, rollup, address } = request
  const trusted = { l1BlockHash: evidence.l1Block.hash }
  const claim = { scheme, rollup, address, storageKeys, trusted, l2BlockNumber: evidence.l2BlockNumber }
  expect(verifyEvidence(JSON.parse(JSON.stringify(bundle)), claim)).toEqual(evidence)
  return evidence
}

it.each([poseidon2, mimc])('records over HTTP: %o', async scheme => {
  const { url, l1Url, service } = await startService({ genesis: demoWorld(scheme) })
  addDemoBlocks(service.chain)
  const asked = { ...request, scheme }
  const { verified: evidence } = await recordEvidence(withNetwork({ l1: l1Url, l2: new URL(url), ...asked }))
  expect(evidence).toMatchObject({ l2BlockNumber: 9n, currentL2BlockNumber: 9n, trustedInput: 'l1BlockHash' })
  expect(evidence.storage[0]?.value).toBe(word(42 + 9))
})

it('records the newest finalized block with five requests to L1 and one to L2', async () => {
  const { outcome, steps, askedL1, askedL2, chain } = await record({})
  expect(expectTrue(outcome, chain).l2BlockNumber).toBe(8n)
  expect(askedL1.map(({ method }) => method)).toEqual([
    ...['eth_getBlockByNumber', 'eth_getProof', 'eth_getProof', 'eth_getLogs', 'eth_getProof'],
  ])
  expect(askedL1[0]?.params).toEqual(['finalized', false])
  expect(askedL2).toEqual([{ method: 'rollup_getProof', params: [CONTRACT, storageKeys, '0x8'] }])
  expect(steps.map(({ step }) => step)).toEqual(['l1Block', 'l2Block'])
})

it('walks back to the newest finalization whose proof is available', async () => {
  const expected = [8n, 4n, 3n, 0n]
  for (const [proofLag, l2BlockNumber] of expected.entries()) {
    const { outcome, steps, askedL1, chain } = await record({ chain: chainOf(proofLag) })
    expect(expectTrue(outcome, chain)).toMatchObject({ l2BlockNumber, currentL2BlockNumber: 8n })
    const notHeld = steps.flatMap(step => (step.step === 'proofUnavailable' ? [step.l2BlockNumber] : []))
    expect(notHeld).toEqual(expected.slice(0, proofLag))
    expect(askedL1.length).toBe(proofLag === 0 ? 5 : 4 + proofLag)
    // The same logs tell of all of them. The contract keeps no timestamp of an older finalization.
    expect(askedL1.filter(({ method }) => method === 'eth_getLogs').length).toBe(1)
  }
  const none = await record({ chain: chainOf(4) })
  expect(none.outcome).toMatchObject({ code: 'PROOF_UNAVAILABLE', layer: 'L2', found: 'tried 8, 4, 3, 0' })
})

it('finds every finalization of any history', async () => {
  let walks = 0
  const history = fc.array(fc.record({ l2: fc.integer({ min: 1, max: 5 }), l1: fc.oneof(fc.nat(2), fc.nat(150)) }), {
    maxLength: 7,
  })
  await fc.assert(
    fc.asyncProperty(history, fc.nat(150), async (finalizations, tail) => {
      const chain = createChain(demoWorld(poseidon2), ROLLUP, { proofLag: 99 })
      const expected = [0n]
      for (const { l2, l1 } of finalizations) {
        for (let added = 0; added < l2; added++) chain.addBlock()
        for (let added = 0; added < l1; added++) chain.l1.addBlock()
        chain.finalize()
        expected.unshift(chain.latest())
      }
      for (let added = 0; added < tail; added++) chain.l1.addBlock()
      const { outcome, askedL1 } = await record({ chain })
      expect(outcome).toMatchObject({ code: 'PROOF_UNAVAILABLE', found: `tried ${expected.join(', ')}` })
      expect(askedL1.length).toBe(3 + expected.length)
      walks++
    }),
    { numRuns: sized(10), seed: 1 },
  )
  expect(walks).toBe(sized(10))
})

it('proves the timestamp of the newest finalization, or continues without it', async () => {
  const at = async (l1: Tamper | undefined, contractVersion: 7 | 8 = 8) => {
    const chain = createChain(demoWorld(poseidon2), ROLLUP, { contractVersion })
    addDemoBlocks(chain)
    const { outcome } = await record({ chain, l1 })
    const { finalizedTimestamp } = expectTrue(outcome, chain)
    if (!isRecorded(outcome)) throw outcome
    expect('finalizedState' in (outcome.bundle.l1 ?? {})).toBe(finalizedTimestamp !== undefined)
    expect([undefined, chain.timestamp(8n)]).toContain(finalizedTimestamp)
    return finalizedTimestamp
  }
  const withLogs = (change: (log: { topics: unknown[]; data: string }) => object) =>
    to('eth_getLogs', logs => (logs as { topics: unknown[]; data: string }[]).map(change))

  for (const version of [7, 8] as const) expect(await at(undefined, version)).not.toBe(undefined)
  const useless: Tamper[] = [
    withLogs(log => ({ ...log, data: log.data.replace(/.{130}/, start => `${start.slice(0, -1)}f`) })),
    withLogs(log => ({ ...log, data: `0x${'00'.repeat(31)}01${log.data.slice(66)}` })),
    withLogs(({ data }) => ({ topics: [], data })),
    to('eth_getLogs', () => []),
    to('eth_getLogs', () => 'logs'),
    to('eth_getLogs', fail(-32601, 'no such method')),
    to('eth_getLogs', fail(-32005, 'limit exceeded')),
  ]
  for (const [index, l1] of useless.entries()) expect(await at(l1), `${index}`).toBe(undefined)
  expect(useless.length).toBe(7)

  // No logs are requested if the layout has no slots to prove the timestamp from.
  const { finalizedState: _, ...layout } = lineaLayout
  const [l1, l2] = [l1Of(chainOf()), l2Of(chainOf())]
  const rollup = { ...ROLLUP, layout }
  const plain = await recordEvidence(withNetwork({ l1: l1.provider, l2: l2.provider, ...request, rollup }))
  expect(plain.verified.finalizedTimestamp).toBe(undefined)
  expect(l1.asked.some(({ method }) => method === 'eth_getLogs')).toBe(false)

  // The block is missing at the L1 endpoint, not the L2 endpoint, so no older one is tried.
  let proofs = 0
  const lost = to('eth_getProof', answer => (++proofs === 3 ? fail(-32600, 'BLOCK_MISSING_IN_CHAIN')() : answer))
  const { outcome } = await record({ l1: lost })
  expect(outcome).toMatchObject({ code: 'BLOCK_MISSING', layer: 'L1' })
})

it('stops walking back at the first finalization of the contract', async () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, { proofLag: 99 })
  addDemoBlocks(chain)
  const l1 = createL1(ROLLUP)
  for (let added = 0; added < 50; added++) l1.addBlock()
  l1.finalize({ l2BlockNumber: 8n, stateRoot: chain.at(8n)?.stateRoot() ?? '0x' })
  const { provider } = providerOf(l1Methods({ ...chain, l1 }, 1n))
  await expect(
    recordEvidence(withNetwork({ l1: provider, l2: l2Of(chain).provider, ...request })),
  ).rejects.toMatchObject({
    code: 'PROOF_UNAVAILABLE',
    found: 'tried 8',
  })
})

it('proves from the requested L1 block and at the requested L2 block', async () => {
  const older = await record({}, { l1BlockNumber: 42n })
  expect(expectTrue(older.outcome, older.chain)).toMatchObject({ l2BlockNumber: 4n, l1Block: { number: 42n } })
  const latest = await record({}, { l1BlockNumber: 'latest' })
  expect(expectTrue(latest.outcome, latest.chain).l1Block.number).toBe(63n)

  const chain = chainOf(2)
  const at = (l2BlockNumber: bigint) =>
    recordEvidence(withNetwork({ l1: l1Of(chain).provider, l2: l2Of(chain).provider, ...request, l2BlockNumber }))
  expect((await at(3n)).verified.l2BlockNumber).toBe(3n)
  // No other block is taken instead.
  await expect(at(8n)).rejects.toMatchObject({ code: 'BLOCK_MISSING', layer: 'L2' })
  await expect(at(2n)).rejects.toMatchObject({ code: 'ANCHOR_NO_ROOT', path: 'l1.proof.storageProof[0]' })
  await expect(at(9n)).rejects.toMatchObject({ code: 'ANCHOR_BLOCK_AHEAD' })
})

it('sends nothing if an option is missing, misspelt or wrong', async () => {
  const [l1, l2] = [l1Of(chainOf()), l2Of(chainOf())]
  const good = { l1: l1.provider, l2: l2.provider, ...request }
  const beacon = {
    apis: [{ get: async () => null }],
    trusted: trustBeaconBlock({ network: mainnetBeacon, blockRoot: word(1) }),
  }
  const wrong: [string, object][] = [
    ...['l1', 'l2', 'scheme', 'rollup', 'address'].map((name): [string, object] => [name, { [name]: undefined }]),
    ['l1', { l1: 'not a URL' }],
    ['l1', { l1: [] }],
    ['l2[1]', { l2: [l2.provider, null] }],
    ['address', { address: '0x12' }],
    ['adress', { adress: CONTRACT }],
    ['storageKeys', { storageKeys: 7 }],
    ['storageKeys[1]', { storageKeys: [word(0), '0x1'] }],
    ['storagekeys', { storagekeys: [] }],
    ['rollup.address', { rollup: { address: '0x' } }],
    ['rollup.adress', { rollup: { ...ROLLUP, adress: '0x' } }],
    ['scheme', { scheme: { name: 'x' } }],
    ['l2BlockNumber', { l2BlockNumber: 3 }],
    ['l2BlockNumber', { l2BlockNumber: -1n }],
    ['l1BlockNumber', { l1BlockNumber: 'newest' }],
    ['l1BlockNumber', { l1BlockNumber: 1n << 64n }],
    ['l1BlockNumber', { l1BlockNumber: 3n, beacon }],
    ['beacon', { beacon: 7 }],
    ['beacon.apis', { beacon: { ...beacon, apis: [] } }],
    ['beacon.trusted', { beacon: { apis: beacon.apis } }],
    ['beacon.api', { beacon: { ...beacon, api: 1 } }],
    ['beacon.maxTrustedAgeSeconds', { beacon: { ...beacon, maxTrustedAgeSeconds: -1 } }],
    ['method', { method: 7 }],
    ['maxKeysPerRequest', { maxKeysPerRequest: 0 }],
    ['onProgress', { onProgress: 1 }],
    ['signal', { signal: {} }],
    ['onKept', { onKept: 1 }],
  ]
  for (const [path, change] of wrong) {
    const recording = recordEvidence(withNetwork({ ...good, ...change }) as never)
    await expect(recording, path).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
      action: 'fix',
      path: asOfNetwork(path),
    })
  }
  expect(wrong.length).toBe(31)
  await expect(recordEvidence(undefined as never)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' })
  expect([...l1.asked, ...l2.asked]).toEqual([])
})

it('asks with the method of the network', async () => {
  const methods = async (options: Partial<InParts<RecordOptions>>) => {
    const { askedL2 } = await record({ l2: answer => answer }, options)
    return askedL2.map(({ method }) => method)
  }
  expect(await methods({})).toEqual(['rollup_getProof'])
  expect((await methods({ rollup: { ...ROLLUP, method: 'linea_getProof' } }))[0]).toBe('linea_getProof')
})

it('says what each key was called, in the order of the request', async () => {
  const upper = `0x${'0'.repeat(62)}0A` as const
  const { verified } = await recordEvidence(
    withNetwork({
      ...{ l1: l1Of(chainOf()).provider, l2: l2Of(chainOf()).provider, ...request },
      storageKeys: [upper, word(0)],
    }),
  )
  const [first, second] = verified.storage
  expect([first.key, first.exists, second.key, second.exists]).toEqual([upper, false, word(0), true])
})

/** Lies in the answers to one method. */
it('believes no L1 endpoint', async () => {
  const chain = chainOf(1)
  const honest = l1Of(chain)
  const ask = (method: string, params: readonly unknown[]) => honest.provider.request({ method, params })
  const forged = { ...(chain.l1.getBlock(63n) ?? {}), stateRoot: word(7) }
  const block = (change: object) => to('eth_getBlockByNumber', answer => ({ ...answer, ...change }))
  const proof = (change: object) => to('eth_getProof', answer => ({ ...answer, ...change }))
  const ofPast =
    (refuse: () => unknown): Tamper =>
    (answer, method) =>
      ['eth_getLogs', 'eth_getStorageAt'].includes(method) ? refuse() : answer
  const naming = (...blocks: number[]) =>
    to('eth_getLogs', logs => {
      const [log] = logs as { topics: string[] }[]
      return blocks.map(block => ({ ...log, topics: [log?.topics[0], word(block)] }))
    })
  expect(encodeHeader(forged)).toMatch(/^0x/)

  const lies: [string, Tamper, Partial<RecordOptions>?][] = [
    ['HEADER_HASH_MISMATCH', block({ hash: word(1) })],
    ['HEADER_HASH_MISMATCH', block({ hash: null })],
    ['HEADER_HASH_MISMATCH', block({ stateRoot: word(1) })],
    ['HEADER_MALFORMED', to('eth_getBlockByNumber', () => 'no')],
    ['BLOCK_MISSING', to('eth_getBlockByNumber', () => null)],
    ['L1_CONTRADICTION', to('eth_getBlockByNumber', () => chain.l1.getBlock(62n)), { l1BlockNumber: 63n }],
    ['MPT_HASH_MISMATCH', to('eth_getProof', (_, [address, keys]) => ask('eth_getProof', [address, keys, '0x2a']))],
    ['L1_KEY_MISMATCH', to('eth_getProof', (_, [address]) => ask('eth_getProof', [address, [word(1)], '0x3f']))],
    ['L1_STORAGE_PROOF_COUNT', proof({ storageProof: [] })],
    ['L1_PROOF_DISAGREES', proof({ balance: '0x1' })],
    ['MPT_NODES_MISSING', proof({ accountProof: [] })],
    ['BLOCK_MISSING', to('eth_getProof', () => null)],
    ['L1_CONTRADICTION', naming(5)],
    ['L1_CONTRADICTION', naming(9, 8, 5, 4)],
    ['PROOF_UNAVAILABLE', naming(9, 8)],
    ['PROOF_UNAVAILABLE', to('eth_getLogs', () => [])],
    ['ANSWER_MALFORMED', to('eth_getLogs', () => null)],
    ['ANSWER_MALFORMED', to('eth_getLogs', () => '7')],
    ['L1_HISTORY_MISSING', ofPast(fail(4444, 'pruned history unavailable'))],
    ['L1_HISTORY_MISSING', ofPast(fail(-32602, 'Archive requests require a personal token.'))],
    ['RATE_LIMITED', to('eth_getLogs', fail(-32005, 'slow down'))],
    ['METHOD_UNKNOWN', ofPast(fail(-32601, 'no'))],
    ['UNREACHABLE', to('eth_getLogs', () => Promise.reject(new TypeError('fetch failed')))],
    ['TAG_UNSUPPORTED', to('eth_getBlockByNumber', fail(-32602, 'invalid block tag'))],
  ]
  for (const [code, l1, options] of lies) {
    const { outcome, askedL1 } = await record({ chain, l1 }, options)
    expect(codeOf(outcome)).toBe(code)
    if (outcome instanceof EndpointError) expect(outcome.layer).toBe(code === 'PROOF_UNAVAILABLE' ? 'L2' : 'L1')
    else expect((outcome as ProofError).path).toMatch(/^l1\.(header|proof)/)
    expect(askedL1.length).toBeLessThan(30)
  }
  expect(lies.length).toBe(24)

  // An older block served as "finalized" is still a true block. The report states its number and time.
  const stale = await record({ chain, l1: to('eth_getBlockByNumber', () => chain.l1.getBlock(42n)) })
  expect(expectTrue(stale.outcome, chain)).toMatchObject({ l1Block: { number: 42n }, currentL2BlockNumber: 4n })
  // The forged block is self-consistent, but no proof holds under its state root.
  const consistent = to('eth_getBlockByNumber', () => ({ ...forged, hash: hashOf(forged) }))
  expect((await record({ chain, l1: consistent })).outcome).toMatchObject({ code: 'MPT_HASH_MISMATCH' })
  // No contract at the rollup's address.
  const elsewhere = { ...request, rollup: { address: `0x${'ee'.repeat(20)}` } } as const
  const { code } = await recordEvidence(
    withNetwork({ l1: l1Of(chain).provider, l2: l2Of(chain).provider, ...elsewhere }),
  ).catch(error => error)
  expect(code).toBe('ANCHOR_NO_CONTRACT')
})

it('asks the next L1 endpoint after one that invents a block without a number of an L2 block', async () => {
  const chain = chainOf()
  const { block, getProof } = await createEvidenceL1(
    ROLLUP.address,
    new Map([[lineaLayout.currentL2BlockNumber, 1n << 64n]]),
  )
  const hash = hashOf(block) as Hex
  const liar: RequestProvider = {
    async request({ method, params }) {
      const [address, keys] = params as [Hex, Hex[]]
      return method === 'eth_getProof' ? getProof(address, keys.map(BigInt)) : { ...block, hash }
    },
  }
  const { outcome, steps } = await record({ chain }, { l1: [liar, l1Of(chain).provider] })
  expectTrue(outcome, chain)
  expect(steps[0]).toMatchObject({ step: 'endpointFailed', layer: 'L1', index: 0, code: 'L1_CONTRADICTION' })
  // Of a block that is trusted, the contract is not the one that it should be.
  const verified = fetchVerifiedRoot({ l1: liar, rollup: ROLLUP, l1BlockHash: hash })
  await expect(verified).rejects.toMatchObject({ name: 'ArgumentError', path: 'rollup' })
})

it('believes no L2 endpoint', async () => {
  const chain = chainOf()
  const older = (_: object, [address, keys]: readonly unknown[]) =>
    l2Of(chain).provider.request({ method: 'rollup_getProof', params: [address, keys, '0x4'] })
  const otherwise = (address: string, keys: readonly string[]) => () =>
    l2Of(chain).provider.request({ method: 'rollup_getProof', params: [address, keys, '0x8'] })
  const change = (fields: object) => (answer: object) => ({ ...answer, ...fields })
  const lies: [string, (answer: object, params: readonly unknown[]) => unknown][] = [
    ['STATE_ROOT_MISMATCH', older],
    ['OTHER_KEYS', otherwise(`0x${'b2'.repeat(20)}`, storageKeys)],
    ['OTHER_KEYS', otherwise(CONTRACT, storageKeys.toReversed())],
    ['STORAGE_PROOF_MISSING', otherwise(CONTRACT, storageKeys.slice(1))],
    ['STORAGE_PROOF_UNEXPECTED', otherwise(CONTRACT, [...storageKeys, word(3)])],
    ['STORAGE_PROOF_MISSING', change({ storageProofs: [] })],
    ['PROOF_UNAVAILABLE', () => null],
    ['MALFORMED_RESPONSE', change({ accountProof: 7 })],
    ['ETH_PROOF_ANSWER', () => ({ accountProof: ['0x'], storageHash: '0x', storageProof: [] })],
    ['METHOD_UNKNOWN', fail(-32601, 'no such method')],
    ['RATE_LIMITED', fail(-32005, 'slow down')],
    ['UNREACHABLE', () => Promise.reject(new TypeError('fetch failed'))],
    ['PROOF_UNAVAILABLE', fail(-32600, 'BLOCK_MISSING_IN_CHAIN - block is missing')],
    ['PROOF_UNAVAILABLE', fail(-32000, 'block 8 is not finalized on L1')],
  ]
  for (const [code, lie] of lies) {
    const { outcome } = await record({ chain, l2: to('rollup_getProof', lie) })
    expect(codeOf(outcome)).toBe(code)
    if (outcome instanceof EndpointError) expect(outcome.layer).toBe('L2')
    else expect((outcome as ProofError).path).toMatch(/^answer/)
  }
  expect(lies.length).toBe(14)
})

/** Fractions below 1, evenly distributed. fast-check prefers values at the ends. */
const fractions = fc.integer().map(seed => {
  let state = seed
  return () => {
    state = (Math.imul(state, 0x5851f42d) + 0x14057b7f) | 0
    return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32
  }
})

/** Changes a random part of a value, usually deep inside. */
function corrupt(value: unknown, random: () => number): unknown {
  const isDeep = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isDeep || random() < 0.05) {
    const others: unknown[] = [null, 0, '0x', '', [], {}, -1, '0x0', word(1), true]
    if (typeof value === 'string' && random() < 0.7) {
      const at = Math.floor(random() * value.length)
      return `${value.slice(0, at)}${'0123456789abcdef'[Math.floor(random() * 16)]}${value.slice(at + 1)}`
    }
    return others[Math.floor(random() * others.length)]
  }
  const names = Object.keys(value)
  const name = names[Math.floor(random() * names.length)] ?? ''
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value }
  Reflect.set(Object(copy), name, corrupt(Reflect.get(value, name), random))
  return copy
}

it('records the truth or nothing, whatever is changed in transit', async () => {
  const chain = chainOf(1)
  const verdicts = { recorded: 0, refused: 0 }
  const codes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fractions, fc.constantFrom('l1', 'l2'), fc.nat(5), async (random, layer, turn) => {
      const tamper: Tamper = (answer, _, __, at) =>
        at === (layer === 'l1' ? turn : turn % 2) ? corrupt(answer, random) : answer
      const { outcome } = await record({ chain, [layer]: tamper })
      if (isRecorded(outcome)) {
        expectTrue(outcome, chain)
        verdicts.recorded++
      } else {
        if (!(outcome instanceof ProofError) && !(outcome instanceof EndpointError)) throw outcome
        codes.add(outcome.code)
        verdicts.refused++
      }
    }),
    { numRuns: sized(80), seed: 1 },
  )
  expect(verdicts.recorded).toBeGreaterThan(4)
  expect(verdicts.refused).toBeGreaterThan(40)
  expect(codes.size).toBeGreaterThan(8)
})

it('walks back also if the block is gone after the first of several answers', async () => {
  const l2: Tamper = (answer, _, __, turn) => (turn === 1 ? fail(-32600, 'BLOCK_MISSING_IN_CHAIN')() : answer)
  const { outcome, steps } = await record({ l2 }, { maxKeysPerRequest: 2 })
  expect(isRecorded(outcome)).toBe(true)
  expect(steps.map(({ step }) => step)).toEqual(['l1Block', 'l2Block', 'endpointFailed', 'proofUnavailable', 'l2Block'])
})

it('ends when aborted, at any step', async () => {
  const counts: number[] = []
  const reason = { why: 'enough' }
  for (const turn of [0, 1, 2, 3]) {
    const controller = new AbortController()
    const never: Tamper = (answer, _, __, at) => {
      if (at !== turn) return answer
      controller.abort(reason)
      return new Promise(() => {})
    }
    const { outcome, askedL1 } = await record(
      { l1: never, l2: turn === 3 ? (_, m, p) => never(_, m, p, 3) : undefined },
      { signal: controller.signal },
    )
    expect(outcome).toMatchObject({ code: 'ABORTED', action: 'none', layer: undefined })
    expect(Reflect.get(Object(outcome), 'cause')).toBe(reason)
    counts.push(askedL1.length)
  }
  expect(counts).toEqual([1, 2, 3, 3])
  const { outcome, askedL1 } = await record({}, { signal: AbortSignal.abort() })
  expect(outcome).toMatchObject({ code: 'ABORTED' })
  expect(askedL1).toEqual([])
})

it('reports which endpoint failed, without any part of its URL', async () => {
  const honest = await startService()
  const cases: [string, Parameters<typeof startServer>[0]][] = [
    ['NOT_JSON', response => response.end('{"jsonrpc":"2.0","id":1,"resu')],
    ['TIMEOUT', () => {}],
    ['TIMEOUT', response => void response.write('{')],
    ['HTTP_ERROR', response => response.writeHead(502).end('bad gateway')],
    ['UNREACHABLE', response => response.destroy()],
    ['ID_MISMATCH', response => response.end('{"jsonrpc":"2.0","id":77,"result":null}')],
  ]
  for (const [code, answer] of cases) {
    const { url } = await startServer(answer)
    // Only an endpoint that never answers is waited for.
    const timeout = code === 'TIMEOUT' ? 200 : 10_000
    const liar = createHttpProvider(`${url}/v3/secret-key-0123`, { timeoutMs: timeout })
    for (const [layer, l1, l2] of [
      ['L1', liar, createHttpProvider(honest.url)],
      ['L2', createHttpProvider(honest.l1Url), liar],
    ] as const) {
      const error: unknown = await recordEvidence(withNetwork({ l1, l2, ...request })).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ name: 'EndpointError', code, layer })
      expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/secret|127\.0/)
    }
  }
})
