import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import * as anchor from '../../src/entry/anchor.ts'
import * as core from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import * as provider from '../../src/entry/provider.ts'
import * as rpc from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { PACKAGE } from '../package/build.ts'

/**
 * A second copy of the package, as bundlers and package managers install it: its classes are others. `test/package/second-copy`
 * has the same of schemes and verdicts.
 */
const load = (door: string) => import(pathToFileURL(resolve(PACKAGE, `dist/entry/${door}.js`)).href)
const other: {
  core: typeof core
  anchor: typeof anchor
  rpc: typeof rpc
  provider: typeof provider
  beacon: typeof import('../../src/entry/beacon.ts')
  poseidon2: typeof poseidon2
} = {
  ...{ core: await load('index'), anchor: await load('anchor'), rpc: await load('rpc') },
  ...{ provider: await load('provider'), beacon: await load('beacon'), poseidon2: (await load('poseidon2')).poseidon2 },
}

const rollup = { address: `0x${'11'.repeat(20)}`, chainId: 1337 } as const
const address = `0x${'b2'.repeat(20)}` as const
const service = createService({ genesis: demoWorld(poseidon2), rollup })
addDemoBlocks(service.chain)
const { url: l2, l1Url: l1, beaconUrl } = await service.listen()
afterAll(() => service.close())

const stateRoot = service.chain.pending.stateRoot()
const claim = { scheme: poseidon2, stateRoot, address }
const CLOSED = 'http://127.0.0.1:1'
const failure = async (work: () => unknown): Promise<unknown> => {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

it('is another copy', () => {
  expect(other.core.ProofError).not.toBe(core.ProofError)
  expect(other.poseidon2).not.toBe(poseidon2)
})

it('recognizes the errors of the other', async () => {
  const proof = await failure(() => other.core.verifyProof({}, claim))
  const argument = await failure(() => other.core.verifyProof({}, { ...claim, address: '0x' }))
  const endpoint = await failure(() => other.rpc.createHttpProvider(CLOSED).request({ method: 'eth_chainId' }))
  const l1BlockHash = () => stateRoot
  const options = { l1: CLOSED, l2: CLOSED, rollup, scheme: poseidon2, l1BlockHash }
  const refused = await failure(() =>
    other.provider.createVerifiedProvider(withNetwork(options)).request({ method: 'eth_sign' }),
  )
  const errors = [proof, argument, endpoint, refused]
  const recognize = [core.isProofError, core.isArgumentError, rpc.isEndpointError, provider.isProviderError]
  for (const [index, is] of recognize.entries())
    expect(errors.map(error => is(error))).toEqual(errors.map((_, i) => i === index))
  expect(proof instanceof core.ProofError).toBe(false)
})

it('diagnoses the errors of the other as its own', () => {
  expect(rpc.diagnose(new other.rpc.EndpointError('BLOCK_MISSING'))).toMatchObject({
    code: 'BLOCK_MISSING',
    action: 'wait',
  })
  expect(rpc.diagnose(new other.core.ProofError('KEY_MISMATCH'))).toMatchObject({ code: 'OTHER_KEYS' })
  expect(rpc.diagnose(new other.core.ProofError('NOT_ADJACENT'))).toMatchObject({
    code: 'NOT_ADJACENT',
    action: 'change',
  })
})

it('treats endpoints of the other as its own: the next is asked, and a failure keeps its code', async () => {
  const [closed, open] = [CLOSED, l1].map(url => other.rpc.createHttpProvider(url)) as [
    rpc.RequestProvider,
    rpc.RequestProvider,
  ]
  expect((await rpc.finalizedBlockHash([closed, open], { quorum: 1 })()).length).toBe(66)
  const error = await failure(() => rpc.finalizedBlockHash(closed)())
  expect(error).toMatchObject({ name: 'EndpointError', code: 'UNREACHABLE', action: 'wait' })
})

it('answers from a verified provider whose parts are of the other', async () => {
  const parts = { scheme: other.poseidon2, l1BlockHash: other.rpc.finalizedBlockHash(l1) }
  const mixed = provider.createVerifiedProvider(
    withNetwork({ l1, l2: other.rpc.createHttpProvider(l2), rollup, ...parts }),
  )
  expect(await mixed.request({ method: 'eth_getBalance', params: [address, 'latest'] })).toBe('0xd')
  const failing = { l1, l2: other.rpc.createHttpProvider(CLOSED), rollup, ...parts }
  const error = await failure(() =>
    provider.createVerifiedProvider(withNetwork(failing)).request({ method: 'eth_blockNumber' }),
  )
  expect(error).toMatchObject({ name: 'ProviderError', reason: 'ENDPOINT_FAILED', action: 'wait' })
})

it('stops at a contradiction that the other has found', async () => {
  const contradiction = () => Promise.reject(new other.rpc.EndpointError('L1_DISAGREEMENT'))
  const events: string[] = []
  const onEvent = ({ name }: { name: string }) => events.push(name)
  const endless = { l1, l2, rollup, scheme: poseidon2, l1BlockHash: contradiction, onEvent, pollIntervalMs: 10 }
  expect(await failure(() => rpc.followFinalizations(withNetwork(endless)).next())).toMatchObject({
    code: 'L1_DISAGREEMENT',
    action: 'stop',
  })
  expect(events).not.toContain('follow.retry')
})

it('agrees with sources of the other', async () => {
  const sources = [l1, l1, CLOSED].map(url => other.rpc.createHttpProvider(url))
  const { chain } = service
  const hash = await rpc.finalizedBlockHash(sources, { quorum: 2 })()
  expect(hash).toBe(Reflect.get(Object(chain.l1.getBlock(chain.l1.blockNumber('finalized'))), 'hash'))
  const alone = failure(rpc.finalizedBlockHash([CLOSED, CLOSED].map(url => other.rpc.createHttpProvider(url))))
  expect(await alone).toMatchObject({ code: 'L1_UNCONFIRMED' })
})

it('verifies from a beacon block that the other trusts', async () => {
  const blockRoot = (await service.beacon.blockRoot(55n)) ?? '0x'
  const trusted = other.beacon.trustBeaconBlock({ network: service.beacon.network, blockRoot })
  const apis = [other.rpc.createBeaconApi(CLOSED), other.rpc.createBeaconApi(beaconUrl)]
  const beacon = { apis, trusted, maxTrustedAgeSeconds: Number.POSITIVE_INFINITY }
  const request = { l1, l2, rollup, scheme: other.poseidon2, address, beacon }
  const { bundle } = await rpc.recordEvidence(withNetwork(request))
  const stated = { scheme: poseidon2, rollup, trusted, address, l2BlockNumber: 8n, storageKeys: [] } as const
  expect(anchor.verifyEvidence(bundle, stated).beaconBlock.signers).toBeGreaterThan(341)
  const lie = await failure(() => anchor.verifyEvidence({ ...bundle, consensus: {} }, stated))
  expect(core.isProofError(lie)).toBe(true)
  expect(other.core.isProofError(lie)).toBe(true)
})
