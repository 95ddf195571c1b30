import { afterAll, expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { createBundle, verifyEthProof, verifyEvidence } from '../../src/entry/anchor.ts'
import { createVerifier, type Hex, mappingSlot, verifyProof } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import {
  createHttpProvider,
  createRollupClient,
  finalizedBlockHash,
  followFinalizations,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { refusal, verdict } from '../refusal.ts'

/** Arguments that no program passes on purpose: arrays that change while they are read, and objects that throw. */

const rollup = { address: `0x${'11'.repeat(20)}`, chainId: 1337 } as const
const service = createService({ genesis: demoWorld(poseidon2), rollup })
addDemoBlocks(service.chain)
const { url: l2, l1Url: l1 } = await service.listen()
afterAll(() => service.close())

const address = `0x${'c0'.repeat(20)}` as const
const [first, second] = ['00', '01'].map(end => `0x${'00'.repeat(31)}${end}`) as [Hex, Hex]
const world = service.chain.at(8n) ?? service.chain.pending
const claim = { scheme: poseidon2, stateRoot: world.stateRoot(), address }
const fail = () => {
  throw new Error('a trap')
}

/** Arrays of one key that is another one when it is read again, or in a loop. */
function changing(): Hex[][] {
  let reads = 0
  const flipping = Object.defineProperty([first], 0, { get: () => (reads++ === 0 ? first : second), enumerable: true })
  const looping = Object.defineProperty([first], Symbol.iterator, { value: () => [second].values() })
  return [flipping, looping]
}

it('names each slot by the key that it verified, even if an array changes while it is read', async () => {
  const answer = world.getProof(address, [first])
  const { storage: honest } = verifyProof(answer, { ...claim, storageKeys: [first] })
  expect(honest[0].value).not.toBe(
    verifyProof(world.getProof(address, [second]), { ...claim, storageKeys: [second] }).storage[0].value,
  )
  const { scheme: _, ...asked } = claim
  const trusted = { l2StateRoot: claim.stateRoot }
  const known = { scheme: poseidon2, rollup, l2BlockNumber: 8n, address }
  const bundle = createBundle({ ...known, storageKeys: [first], answer })
  const verify: ((storageKeys: Hex[]) => unknown)[] = [
    storageKeys => verifyProof(answer, { ...claim, storageKeys }).storage,
    storageKeys => createVerifier(poseidon2).verifyProof(answer, { ...asked, storageKeys }).storage,
    storageKeys => verifyEvidence(bundle, { ...known, trusted, storageKeys }).storage,
  ]
  for (const work of verify) for (const keys of changing()) expect(work(keys)).toEqual(honest)
  for (const storageKeys of changing()) {
    expect(createBundle({ ...known, storageKeys, answer }).request.storageKeys).toEqual([first])
  }
  for (const storageKeys of changing()) {
    expect((await recordEvidence(withNetwork({ l1, l2, ...known, storageKeys }))).verified.storage).toEqual(honest)
  }
})

it('verifies the keys of the request, even if the array changes before the answer is here', async () => {
  const storageKeys = [first]
  const asked = createRollupClient(l2).getVerifiedState({ ...claim, storageKeys, l2BlockNumber: 8n })
  storageKeys[0] = second
  storageKeys.push(first)
  const { storage } = await asked
  expect(storage.map(({ key }) => key)).toEqual([first])
})

it('refuses an argument that cannot be read', async () => {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const trap = new Proxy({}, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail })
  const listTrap = new Proxy([], { get: fail })
  const itemTrap = Object.defineProperty([first], 0, { get: fail })
  const lists = [proxy, listTrap, itemTrap] as never[]
  const source = { l1, l2, rollup, scheme: poseidon2, l1BlockHash: () => first }
  const l1StateRoot = first
  const readers: [string, (odd: never) => unknown, odd: never[]][] = [
    ['storageKeys', storageKeys => verifyProof({}, { ...claim, storageKeys }), lists],
    ['storageKeys', storageKeys => verifyEthProof({}, { l1StateRoot, address, storageKeys }), lists],
    ['storageKeys', storageKeys => world.getProof(address, storageKeys), lists],
    ['keys', keys => mappingSlot({ slot: 0n, keys }), lists],
    ['requests', requests => followFinalizations(withNetwork({ ...source, requests })), lists],
    ['forward', forward => createVerifiedProvider(withNetwork({ ...source, forward })), [proxy, listTrap] as never[]],
    ['l1', l1s => finalizedBlockHash(l1s), lists],
    ['l2', endpoint => createRollupClient(endpoint), [...lists, trap] as never[]],
    ['scheme', scheme => verifyProof({}, { ...claim, scheme }), [proxy, trap] as never[]],
    ['kind', kind => verifyEvidence({}, { ...claim, kind } as never), [proxy, trap] as never[]],
  ]
  for (const [path, read, odd] of readers) {
    for (const one of odd) expect(verdict(() => read(one)).replace(/\[0\]$/, '')).toBe(`ARGUMENT_INVALID at ${path}`)
  }
  expect(readers.length).toBe(10)
})

it('counts no L1 endpoint twice, in whatever way it is listed', () => {
  const twice = [
    [[l1], [l1]],
    [`${l1}#1`, `${l1}#2`],
    [l1, new URL(l1)],
    [l1, createHttpProvider(`${l1}#3`, { maxRetries: 1 })],
    [createHttpProvider(l1), createHttpProvider(l1.replace('http', 'HTTP'))],
  ]
  for (const sources of twice)
    expect(verdict(() => finalizedBlockHash(sources as string[]))).toMatch(/^ARGUMENT_INVALID at l1/)
  expect(twice.length).toBe(5)
  expect(refusal(() => finalizedBlockHash([[l1]] as never)).path).toBe('l1[0]')
})
