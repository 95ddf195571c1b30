import { beforeEach, expect, expectTypeOf, it } from 'vitest'
import { addDemoBlocks, createService, createWorld, demoWorld } from '../../src/devnet/index.ts'
import { lineaRollup, verifyAnchor, verifyEvidence } from '../../src/entry/anchor.ts'
import { mainnetBeacon, trustBeaconBlock } from '../../src/entry/beacon.ts'
import { createVerifier, type Hex, mappingSlot, type Scheme, verifyProof } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider, recordCall, verifyCallEvidence } from '../../src/entry/provider.ts'
import {
  beaconBlockHash,
  createBeaconApi,
  createHttpProvider,
  createRollupClient,
  fetchVerifiedRoot,
  finalizedBlockHash,
  followFinalizations,
  recordEvidence,
} from '../../src/entry/rpc.ts'

/**
 * Mistakes that must not compile: a misspelt option, a required one left out, two arguments swapped. `tsc` judges this file:
 * nothing in it runs, except `it`. Above each mistake, the same without it compiles.
 */
const hex: Hex = '0x'
const [scheme, rollup, l1, l2] = [poseidon2, lineaRollup, 'http://1', 'http://2']
const uncalled = (..._mistakes: (() => unknown)[]) => expectTypeOf<unknown>()

// The compiler is what fails.
beforeEach(() => expect.soft(true).toBe(true))

it('answers', () => {
  const claim = { scheme, stateRoot: hex, address: hex }
  uncalled(
    () => verifyProof({}, { ...claim, storageKeys: undefined }),
    // @ts-expect-error misspelt
    () => verifyProof({}, { scheme, stateRoot: hex, address: hex, storagekeys: [] }),
    // @ts-expect-error no root
    () => verifyProof({}, { scheme, address: hex }),
    // @ts-expect-error no address
    () => verifyProof({}, { scheme, stateRoot: hex }),
    // @ts-expect-error swapped
    () => verifyProof(claim, {}),
    () => createVerifier(scheme).verifyProof({}, { stateRoot: hex, address: hex }),
    // @ts-expect-error the verifier has its scheme
    () => createVerifier(scheme).verifyProof({}, { scheme, stateRoot: hex, address: hex }),
    () => mappingSlot({ slot: 1n, keys: [hex, 5n] }),
    // @ts-expect-error a slot is a bigint
    () => mappingSlot({ slot: 1, keys: [hex] }),
    // @ts-expect-error swapped
    () => mappingSlot({ slot: [hex], keys: 1n }),
    // @ts-expect-error misspelt
    () => mappingSlot({ slot: 1n, key: hex }),
  )
})

it('schemes of one’s own', () => {
  const { name } = poseidon2
  uncalled(
    (): Scheme => poseidon2,
    // @ts-expect-error homemade
    (): Scheme => ({ name }),
    // @ts-expect-error homemade
    (): Scheme => ({ name, hasher: { hash: (bytes: Uint8Array) => bytes } }),
    // @ts-expect-error a name is not a scheme
    () => verifyProof({}, { scheme: 'poseidon2', stateRoot: hex, address: hex }),
  )
})

it('evidence', () => {
  const [trusted, l1StateRoot] = [{ l1BlockHash: hex }, hex]
  uncalled(
    () => verifyEvidence({}, { scheme, rollup, trusted, l2BlockNumber: 8n, address: hex, storageKeys: [] }),
    // @ts-expect-error misspelt
    () => verifyEvidence({}, { scheme, rollup, trusted, l2BlockNumber: 8n, adress: hex, storageKeys: [] }),
    // @ts-expect-error no address
    () => verifyEvidence({}, { scheme, rollup, trusted, l2BlockNumber: 8n, storageKeys: [] }),
    // @ts-expect-error no keys
    () => verifyEvidence({}, { scheme, rollup, trusted, l2BlockNumber: 8n, address: hex }),
    // @ts-expect-error no block
    () => verifyEvidence({}, { scheme, rollup, trusted, address: hex, storageKeys: [] }),
    // @ts-expect-error misspelt
    () => verifyEvidence({}, { scheme, rollup, trusted, l2BlockNumber: 'frombundle', address: hex, storageKeys: [] }),
    // @ts-expect-error misspelt
    () => verifyAnchor({}, { l1StateRoot, rollup: { adress: hex }, l2BlockNumber: 8n }),
    () => verifyAnchor({}, { l1StateRoot, rollup, l2BlockNumber: 8n }),
    // @ts-expect-error a block number is a bigint
    () => verifyAnchor({}, { l1StateRoot, rollup, l2BlockNumber: 8 }),
    () => trustBeaconBlock({ network: mainnetBeacon, blockRoot: hex }),
    // @ts-expect-error swapped
    () => trustBeaconBlock({ network: hex, blockRoot: mainnetBeacon }),
    // @ts-expect-error no longer two arguments
    () => trustBeaconBlock(hex, mainnetBeacon),
  )
})

const network = { rollup, scheme }

it('endpoints', () => {
  const trusted = trustBeaconBlock
  uncalled(
    () => createHttpProvider(l2, { timeoutMs: 5, signal: undefined }),
    // @ts-expect-error a duration has its unit in its name
    () => createHttpProvider(l2, { timeout: 5 }),
    () => createRollupClient([l2, new URL(l2)], { rollup }),
    // @ts-expect-error misspelt
    () => createRollupClient(l2, { Method: 'linea_getProof' }),
    () => recordEvidence({ l1, l2, network, address: hex }),
    // @ts-expect-error no L2 endpoint
    () => recordEvidence({ l1, network, address: hex }),
    // @ts-expect-error the endpoints have names
    () => recordEvidence(l1, l2, { network, address: hex }),
    // @ts-expect-error misspelt
    () => recordEvidence({ l1, l2, network, address: hex, storageKey: [hex] }),
    () => fetchVerifiedRoot({ l1, rollup, l1BlockHash: hex }),
    // @ts-expect-error no hash
    () => fetchVerifiedRoot({ l1, rollup }),
    // @ts-expect-error L1 may hold a block hash
    async () => (await fetchVerifiedRoot({ l1, rollup, l1BlockHash: hex })).stateRoot.length,
    async () => (await fetchVerifiedRoot({ l1, rollup, l1BlockHash: hex, holds: 'stateRoot' })).stateRoot.length,
    async () => {
      for await (const item of followFinalizations({
        l1,
        l2,
        network,
        l1BlockHash: () => hex,
        requests: [{ address: hex }],
      })) {
        // @ts-expect-error an Ethereum state has no such hash
        item.verified[0]?.account?.snarkCodeHash
        const [state] = item.verified
        if (state && 'l2Block' in state) return state.l2Block.baseFeePerGas
        return state?.account?.snarkCodeHash
      }
      return null
    },
    () => followFinalizations({ l1, l2, network, l1BlockHash: () => hex, resumeFrom: null }),
    // @ts-expect-error the former name
    () => followFinalizations({ l1, l2, network, l1BlockHash: () => hex, state: null }),
    // @ts-expect-error no source of hashes
    () => followFinalizations({ l1, l2, network }),
    () => finalizedBlockHash([l1, l2], { quorum: 2 }),
    // @ts-expect-error misspelt
    () => finalizedBlockHash([l1, l2], { qourum: 2 }),
    () =>
      beaconBlockHash({ apis: [createBeaconApi(l1)], trusted: trusted({ network: mainnetBeacon, blockRoot: hex }) }),
    // @ts-expect-error a root alone is not a trusted block
    () => beaconBlockHash({ apis: [createBeaconApi(l1)], trusted: { beaconBlockRoot: hex } }),
  )
})

it('calls', () => {
  const call = { from: hex, to: hex, data: hex, value: 0n, gas: 50_000n }
  const claim = { scheme, rollup, trusted: { l1BlockHash: hex }, chainId: 59_144, l2BlockNumber: 8n } as const
  uncalled(
    () => createVerifiedProvider({ l1, l2, network, l1BlockHash: () => hex, oneHead: true }),
    // @ts-expect-error misspelt
    () => createVerifiedProvider({ l1, l2, network, l1BlockHash: () => hex, onehead: true }),
    // @ts-expect-error swapped
    () => createVerifiedProvider({ l1: () => hex, l2, network, l1BlockHash: l1 }),
    () => recordCall({ l1, l2, network, call: { to: hex } }),
    // @ts-expect-error the endpoints have names
    () => recordCall(l1, l2, { network, call: { to: hex } }),
    () => verifyCallEvidence({}, { ...claim, hardfork: 'prague', call }),
    () => verifyCallEvidence({}, { ...claim, hardfork: 'fromBundle', call: 'fromBundle' }),
    // @ts-expect-error no hard fork
    () => verifyCallEvidence({}, { ...claim, call }),
    // @ts-expect-error no call
    () => verifyCallEvidence({}, { ...claim, hardfork: 'prague' }),
    // @ts-expect-error no gas
    () => verifyCallEvidence({}, { ...claim, hardfork: 'prague', call: { from: hex, to: hex, data: hex, value: 0n } }),
  )
})

it('worlds and services', () => {
  const world = createWorld(scheme)
  uncalled(
    () => world.setStorage(hex, { key: hex, value: hex }),
    // @ts-expect-error key and value have names
    () => world.setStorage(hex, hex, hex),
    // @ts-expect-error misspelt
    () => world.setAccount(hex, { balence: 5n }),
    () => createService({ genesis: demoWorld(scheme), rollup, chainId: 1337 }),
    // @ts-expect-error misspelt
    () => createService({ genesis: demoWorld(scheme), rollup, chainID: 1337 }),
    // @ts-expect-error no genesis
    () => createService({ rollup }),
    // @ts-expect-error counts have a name
    () => addDemoBlocks(createService({ genesis: demoWorld(scheme), rollup }).chain, [1]),
  )
})
