import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import { createWorld } from '../../src/devnet/index.ts'
import { createBundle, encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex, Scheme } from '../../src/entry/index.ts'
import { mappingSlot } from '../../src/verify/anchor/contract.ts'
import { createL1, type LooseEthProof, named } from './l1.ts'
import type { VectorClaim, VectorInput } from './vector.ts'

export const toBytes = (hex: string): Uint8Array => hexToBytes(hex, hex.length / 2 - 1)
export const keccakOf = (hex: Hex): Hex => bytesToHex(keccak_256(toBytes(hex)))
export const rootSlot = (l2BlockNumber: bigint): bigint => BigInt(mappingSlot({ slot: 282n, keys: [l2BlockNumber] }))

export const rollup = { name: 'devnet', address: named('rollup contract', 20) }
/** The L2 block of the bundles, and the last one finalized according to the contract. */
export const BLOCK = 0x1b4n
export const CURRENT = 0x1c0n
export const address = named('holder', 20)
/** Two slots of `address`: the first holds `value`, the second does not exist. */
export const [present, absent] = [named('slot'), named('empty slot')]
export const value: Hex = `0x${'00'.repeat(31)}2a`

const LEFT_TO_BUNDLE = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const

/** A bundle as a forger sees it. */
export interface LooseBundle {
  [field: string]: unknown
  rollup: { name?: unknown; address: unknown }
  l1?: { header?: unknown; proof?: unknown; finalizedState?: unknown } | undefined
  request: { address: unknown; storageKeys: unknown }
  answer?: unknown
}

/** What evidence vectors start from: true bundles and the data behind them. */
export type Truth = Awaited<ReturnType<typeof makeTruth>>

export async function makeTruth(scheme: Scheme) {
  const world = createWorld(scheme)
  for (let index = 0; index < 3; index++) world.setAccount(named(`L2 account ${index}`, 20), { nonce: BigInt(index) })
  world.setAccount(address, { nonce: 3n, balance: 5n })
  world.setStorage(address, { key: present, value })
  const stateRoot = world.stateRoot()
  /** The contract's storage. */
  const storage = new Map([
    [281n, CURRENT],
    [rootSlot(BLOCK), BigInt(stateRoot)],
    ...Array.from({ length: 12 }, (_, index) => [rootSlot(BigInt(index)), BigInt(named(`root ${index}`))] as const),
  ])
  const l1 = await createL1(rollup.address, storage)
  const header = encodeHeader(l1.block)
  const blockHash = keccakOf(header)
  /** The honest `eth_getProof` answer for an L2 block. */
  const proofOf = (l2BlockNumber: bigint) => l1.getProof(rollup.address, [rootSlot(l2BlockNumber), 281n])
  const proof = await proofOf(BLOCK)
  const bundleOf = (storageKeys: Hex[], holder: Hex, proof: LooseEthProof): LooseBundle => ({
    ...createBundle({
      scheme,
      rollup,
      l2BlockNumber: BLOCK,
      address: holder,
      storageKeys,
      answer: world.getProof(holder, storageKeys),
      l1: { block: l1.block, proof },
    }),
  })
  /** The honest bundle, without storage keys. */
  const bundle = bundleOf([], address, proof)
  /** A vector of `verifyEvidence`. It trusts the true block hash and the bundle's request unless the claim says otherwise. */
  const judge = (bundle: unknown, claim: Partial<VectorClaim> = {}): VectorInput => ({
    operation: 'verifyEvidence',
    kind: 'state',
    scheme: scheme.name,
    claim: { rollup, trusted: { l1BlockHash: blockHash }, ...LEFT_TO_BUNDLE, ...claim },
    bundle,
  })
  return { scheme, stateRoot, l1, header, blockHash, storage, proofOf, proof, bundleOf, bundle, judge }
}
