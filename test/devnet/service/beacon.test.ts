import { bls12_381 } from '@noble/curves/bls12-381.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { expect, it } from 'vitest'
import {
  addDemoBlocks,
  createService,
  demoWorld,
  type Service,
  type ServiceOptions,
} from '../../../src/devnet/index.ts'
import { mainnetBeacon, verifyConsensus } from '../../../src/entry/beacon.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { ROLLUP, startService, word } from '../../client/servers.ts'

/** Typed as a string to hide the import from the compiler, because lodestar's declarations do not compile here. */
const LODESTAR: string = '@lodestar/types'
const { ssz } = await import(LODESTAR)

/** The generalized indices of each fork, written down independently of the service. */
const early = { finalized: 105, current: 54, next: 55, execution: 25 }
const later = { finalized: 169, current: 86, next: 87, execution: 25 }
const forks = {
  capella: early,
  deneb: early,
  electra: later,
  fulu: later,
  gloas: { finalized: 735, current: 2945, next: 2946, execution: 2856 },
}
type ForkName = keyof typeof forks
const forkOf = (name: string): ForkName => {
  const found = Object.keys(forks).find(fork => fork === name)
  if (found === undefined) throw new Error(`no fork ${name}`)
  return found as ForkName
}

const TAG = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
const bytes = (text: string) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
const climb = (leaf: Uint8Array, branch: Uint8Array[], index: number) =>
  branch.reduce((node, other, level) => {
    const isRight = Math.floor(index / 2 ** level) % 2 === 1
    return sha256(Buffer.concat(isRight ? [other, node] : [node, other]))
  }, leaf)

function serviceOf(options: Partial<ServiceOptions> = {}): Service {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, ...options })
  addDemoBlocks(service.chain)
  return service
}

async function ask({ beacon }: Service, path: string, query = '') {
  const { status, body } = await beacon.answer(`/eth/v1/beacon/${path}`, new URLSearchParams(query))
  expect(status, path).toBe(200)
  return JSON.parse(JSON.stringify(body))
}

/** The fork whose layout applies at a slot. It may differ from that of the answer. */
const forkAt = ({ beacon }: Service, slot: number): ForkName =>
  forkOf(
    beacon.network.forks.findLast(({ epoch }) => Math.floor(slot / 32) >= (epoch ?? Number.POSITIVE_INFINITY))?.name ??
      '',
  )

/** Checks the branch of the execution header with lodestar's roots. */
function expectExecution(service: Service, header: { beacon: { slot: string } }): void {
  const name = forkAt(service, Number(header.beacon.slot))
  const decoded = ssz[name].LightClientHeader.fromJson(header)
  const { bodyRoot } = decoded.beacon
  const root =
    'execution' in decoded && name !== 'gloas'
      ? (name === 'capella' ? ssz.capella : ssz.deneb).ExecutionPayloadHeader.hashTreeRoot(decoded.execution)
      : Reflect.get(decoded, 'executionBlockHash')
  expect(climb(root, decoded.executionBranch, forks[name].execution)).toEqual(bodyRoot)
}

it('serves light-client data of every fork with the roots of lodestar, signed by its committees', async () => {
  const service = serviceOf()
  const { network } = service.beacon
  const root = await service.beacon.blockRoot(0n)
  const bootstrap = await ask(service, `light_client/bootstrap/${root}`)
  const first = ssz.capella.LightClientBootstrap.fromJson(bootstrap.data)
  expect(hex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(first.header.beacon))).toBe(root)
  const SyncCommittee = ssz.altair.SyncCommittee
  const committeeRoot = SyncCommittee.hashTreeRoot(first.currentSyncCommittee)
  expect(climb(committeeRoot, first.currentSyncCommitteeBranch, 54)).toEqual(first.header.beacon.stateRoot)
  expectExecution(service, bootstrap.data.header)

  const { longSignatures, G1 } = { ...bls12_381, G1: bls12_381.G1.Point }
  const updates = await ask(service, 'light_client/updates', 'start_period=0&count=128')
  const finality = await ask(service, 'light_client/finality_update')
  let committee = first.currentSyncCommittee
  /** Decoded keys. Many committees share members. */
  const points = new Map<string, InstanceType<typeof G1>>()
  const pointOf = (key: Uint8Array) => {
    const point = points.get(hex(key)) ?? G1.fromBytes(key)
    points.set(hex(key), point)
    return point
  }
  const versions = new Set<string>()
  for (const { version, data } of [...updates, finality]) {
    const name = forkOf(version)
    versions.add(name)
    const isFinality = data.next_sync_committee === undefined
    const update = isFinality
      ? ssz[name].LightClientFinalityUpdate.fromJson(data)
      : ssz[name].LightClientUpdate.fromJson(data)
    const { beacon } = update.attestedHeader
    expect(forkAt(service, beacon.slot)).toBe(name)
    const finalizedRoot = ssz.phase0.BeaconBlockHeader.hashTreeRoot(update.finalizedHeader.beacon)
    expect(climb(finalizedRoot, update.finalityBranch, forks[name].finalized)).toEqual(beacon.stateRoot)
    expectExecution(service, data.attested_header)
    expectExecution(service, data.finalized_header)
    expect(update.signatureSlot).toBeGreaterThan(beacon.slot)
    expect(beacon.slot).toBeGreaterThan(update.finalizedHeader.beacon.slot)

    const forkVersion = bytes(network.forks.find(fork => fork.name === name)?.version ?? '0x')
    const genesisValidatorsRoot = bytes(network.genesisValidatorsRoot)
    const forkData = ssz.phase0.ForkData.hashTreeRoot({ currentVersion: forkVersion, genesisValidatorsRoot })
    const domain = Buffer.concat([Uint8Array.of(7, 0, 0, 0), forkData.subarray(0, 28)])
    const objectRoot = ssz.phase0.BeaconBlockHeader.hashTreeRoot(beacon)
    const message = longSignatures.hash(ssz.phase0.SigningData.hashTreeRoot({ objectRoot, domain }), TAG)
    const { syncCommitteeBits, syncCommitteeSignature } = update.syncAggregate
    const absent: Uint8Array[] = committee.pubkeys.filter(
      (_: Uint8Array, index: number) => !syncCommitteeBits.get(index),
    )
    expect(absent.length).toBeLessThanOrEqual(170)
    const aggregate = G1.fromBytes(committee.aggregatePubkey)
    const key = absent.reduce((sum, member) => sum.subtract(pointOf(member)), aggregate)
    expect(longSignatures.verify(syncCommitteeSignature, message, key)).toBe(true)

    if (!('nextSyncCommittee' in update)) continue
    const nextRoot = SyncCommittee.hashTreeRoot(update.nextSyncCommittee)
    expect(climb(nextRoot, update.nextSyncCommitteeBranch, forks[name].next)).toEqual(beacon.stateRoot)
    expect(nextRoot).not.toEqual(SyncCommittee.hashTreeRoot(committee))
    const last = isLastOf(updates, data)
    if (!last) committee = update.nextSyncCommittee
  }
  expect(updates.length).toBe(9)
  expect([...versions]).toEqual(Object.keys(forks))
  const finalHash = Reflect.get(service.chain.l1.getBlock(63n) ?? {}, 'hash')
  expect(finality.data.finalized_header.execution_block_hash).toBe(finalHash)
})

/** The committee of the current period signs the last update and the finality update. */
const isLastOf = (updates: { data: unknown }[], data: unknown) => updates.at(-1)?.data === data

it('follows L1 when it grows and is reorganized', async () => {
  const service = serviceOf({ l1Unfinalized: 3 })
  const { l1 } = service.chain
  const hashAt = (number: bigint) => Reflect.get(l1.getBlock(number) ?? {}, 'hash')
  const finalizedHash = async () => {
    const { data } = await ask(service, 'light_client/finality_update')
    return data.finalized_header.execution?.block_hash ?? data.finalized_header.execution_block_hash
  }
  expect(await finalizedHash()).toBe(hashAt(60n))
  const [final, unfinal] = [await service.beacon.blockRoot(60n), await service.beacon.blockRoot(62n)]
  expect(l1.reorganize(2)).toBe(2)
  expect(await service.beacon.blockRoot(60n)).toBe(final)
  expect(await service.beacon.blockRoot(62n)).not.toBe(unfinal)
  expect(await finalizedHash()).toBe(hashAt(61n))
  const { data, finalized } = await ask(service, 'headers/finalized')
  expect([data.root, finalized]).toEqual([await service.beacon.blockRoot(61n), true])
  expect(await ask(service, `headers/${data.header.message.slot}`)).toMatchObject({ data: { root: data.root } })
  expect(await ask(service, `blocks/${data.root}/root`)).toMatchObject({ data: { root: data.root } })
  expect(await ask(service, 'headers/head')).toMatchObject({ finalized: false })
  // Only a finalized block can be a checkpoint.
  const head = await service.beacon.blockRoot(l1.blockNumber())
  expect((await service.beacon.answer(`/eth/v1/beacon/light_client/bootstrap/${head}`)).status).toBe(404)
  expect(await service.beacon.blockRoot(99n)).toBeUndefined()
})

it('answers over HTTP with the right status codes', async () => {
  const { beaconUrl } = await startService()
  const statusOf = async (path: string, method = 'GET') => {
    const response = await fetch(`${beaconUrl}${path}`, { method })
    const body = (await response.json()) as { code?: number }
    expect(body.code).toBe(response.ok ? undefined : response.status)
    return response.status
  }
  const cases: [number, string][] = [
    [200, '/eth/v1/beacon/genesis'],
    [200, '/eth/v1/beacon/headers/finalized'],
    [200, '/eth/v1/beacon/light_client/finality_update'],
    [200, '/eth/v1/beacon/light_client/updates?start_period=5&count=1'],
    [400, '/eth/v1/beacon/light_client/updates'],
    [400, '/eth/v1/beacon/light_client/updates?start_period=-1&count=1'],
    [400, '/eth/v1/beacon/light_client/updates?start_period=0&count=9999999999'],
    [400, '/eth/v1/beacon/light_client/bootstrap/0x12'],
    [404, `/eth/v1/beacon/light_client/bootstrap/${word(1)}`],
    [400, '/eth/v1/beacon/headers/newest'],
    [404, '/eth/v1/beacon/headers/7'],
    [404, '/eth/v1/beacon/blocks/finalized'],
    [404, '/eth/v1/node/version'],
    [404, ''],
  ]
  for (const [status, path] of cases) expect(await statusOf(path), path).toBe(status)
  expect(cases.length).toBe(14)
  expect(await statusOf('/eth/v1/beacon/genesis', 'POST')).toBe(405)
})

it('lets a verifier begin with the newest finalized block, and with none after it', async () => {
  const service = serviceOf()
  const { network } = service.beacon
  const finality = await ask(service, 'light_client/finality_update')
  const slotOf = (answer: { data: { header: { beacon: { slot: string } } } }) => Number(answer.data.header.beacon.slot)
  const finalized = Number(finality.data.finalized_header.beacon.slot)
  let number = 0n
  const bootstrapAt = async (l1BlockNumber: bigint) => {
    const root = (await service.beacon.blockRoot(l1BlockNumber)) ?? '0x'
    return { root, bootstrap: await ask(service, `light_client/bootstrap/${root}`) }
  }
  while (slotOf((await bootstrapAt(number)).bootstrap) < finalized) number++
  const { root, bootstrap } = await bootstrapAt(number)
  const [period, last] = [finalized, Number(finality.data.signature_slot)].map(slot => Math.floor(slot / 8192))
  const updates = period === last ? [] : await ask(service, 'light_client/updates', `start_period=${period}&count=1`)
  const proven = verifyConsensus({ bootstrap, updates, finality }, { network, blockRoot: root })
  expect(proven).toMatchObject({ blockRoot: root, slot: BigInt(finalized) })
})

const FINAL = { execution_optimistic: false, finalized: true }

it('has the slots and forks of a network that is stated', async () => {
  let now = mainnetBeacon.genesisTime + 12 * 15_741_000
  const service = serviceOf({ beacon: mainnetBeacon, clock: () => now })
  const { l1 } = service.chain
  const rootOf = (l1BlockNumber: bigint) => service.beacon.blockRoot(l1BlockNumber)
  now += 1200
  l1.addBlock()
  const trusted = l1.blockNumber()
  const blockRoot = (await rootOf(trusted)) ?? '0x'
  now += 24
  l1.addBlock()
  // In the same slot: it takes the place of the one before.
  l1.addBlock()
  const last = l1.blockNumber()
  expect(await rootOf(last - 1n)).toBe(undefined)
  expect(await ask(service, 'headers/head')).toMatchObject({
    data: { root: await rootOf(last), header: { message: { slot: '15741101' } } },
  })
  const bootstrap = await ask(service, `light_client/bootstrap/${blockRoot}`)
  expect(bootstrap.version).toBe('fulu')
  // What may still be replaced is not final.
  expect(await ask(service, 'blocks/finalized/root')).toEqual({ ...FINAL, data: { root: blockRoot } })
  now += 12
  expect(await ask(service, 'blocks/finalized/root')).toEqual({ ...FINAL, data: { root: await rootOf(last) } })
  const finality = await ask(service, 'light_client/finality_update')
  // No verifier accepts a signature of a time that is still to come.
  expect(mainnetBeacon.genesisTime + 12 * Number(finality.data.signature_slot)).toBeLessThanOrEqual(now)
  const proven = verifyConsensus({ bootstrap, updates: [], finality }, { network: mainnetBeacon, blockRoot })
  const { hash } = Object(l1.getBlock(last))
  expect(proven).toMatchObject({ slot: 15_741_101n, l1BlockHash: hash, blockRoot: await rootOf(last) })
})

it('refuses a network that has no fork at the time of its blocks', () => {
  const later = { ...mainnetBeacon, genesisTime: 2 ** 33 }
  for (const beacon of [later, { ...mainnetBeacon, forks: [] }, { ...mainnetBeacon, genesisTime: '1' as never }])
    expect(() => serviceOf({ beacon })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path: expect.stringMatching(/^beacon/) }),
    )
})
