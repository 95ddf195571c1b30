import { createBundle, encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { mappingSlot } from '../../src/verify/anchor/contract.ts'
import { createL1, type LooseEthProof, named } from './l1.ts'
import { address, BLOCK, CURRENT, keccakOf, type LooseBundle, present, rollup, rootSlot, value } from './truth.ts'
import type { VectorClaim, VectorInput } from './vector.ts'

export const hashSlot = (l2BlockNumber: bigint): bigint => BigInt(mappingSlot({ slot: 456n, keys: [l2BlockNumber] }))
/** EIP-1967: keccak256('eip1967.proxy.implementation') - 1. */
const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn
export const implementation = named('version 9', 20)
export const TIMESTAMP = '0x68ffff00'

/** The slots of the rollup contract that prove an L2 block, in the order of `anchorStorageKeys`. */
export const contractSlots = (block: bigint) => [rootSlot(block), 281n, hashSlot(block), IMPLEMENTATION_SLOT]
const CONTRACT_SLOTS = contractSlots(BLOCK)

/** What vectors of an Ethereum state start from: a rollup whose contract has been upgraded to version 9. */
export async function makeEthereum() {
  const l2 = await createL1(address, new Map([[BigInt(present), BigInt(value)]]))
  /** An L2 block with that state, in the form of `eth_getBlockByNumber`. */
  const l2Block = {
    ...l2.block,
    number: `0x${BLOCK.toString(16)}`,
    stateRoot: l2.stateRoot,
    timestamp: TIMESTAMP,
    parentHash: named('L2 parent'),
  }
  const blockHash = keccakOf(encodeHeader(l2Block))
  /** The contract's storage: roots of old blocks, hashes of new ones. */
  const storage = new Map([
    [281n, CURRENT],
    [IMPLEMENTATION_SLOT, BigInt(implementation)],
    [hashSlot(BLOCK), BigInt(blockHash)],
    ...Array.from({ length: 12 }, (_, index) => [rootSlot(BigInt(index)), BigInt(named(`root ${index}`))] as const),
    ...Array.from({ length: 12 }, (_, index) => [hashSlot(400n + BigInt(index)), BigInt(named(`${index}`))] as const),
  ])
  const l1 = await createL1(rollup.address, storage)
  const proof = await l1.getProof(rollup.address, CONTRACT_SLOTS)
  const bundleOf = async (storageKeys: Hex[], holder: Hex, proof: LooseEthProof): Promise<LooseBundle> => {
    const answer = await l2.getProof(holder, storageKeys.map(BigInt))
    const l1Part = { block: l1.block, proof }
    const asked = { l2BlockNumber: BLOCK, address: holder, storageKeys }
    return { ...createBundle({ scheme: 'ethereum', rollup, ...asked, answer, l2Block, l1: l1Part }) }
  }
  const l1BlockHash = keccakOf(encodeHeader(l1.block))
  /** A vector that trusts the true L1 block hash and leaves the request to the bundle, unless the claim says otherwise. */
  const judge = (bundle: unknown, claim: Partial<VectorClaim> = {}): VectorInput => ({
    ...{ operation: 'verifyEvidence', kind: 'state', scheme: 'ethereum' },
    claim: {
      ...{ rollup, trusted: { l1BlockHash } },
      ...{ l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' },
      ...claim,
    },
    bundle,
  })
  /** A bundle whose contract has other storage, and the L1 state root to trust. */
  const anchoredIn = async (bundle: LooseBundle, changes: readonly (readonly [slot: bigint, value: bigint])[]) => {
    const altered = new Map([...new Map([...storage, ...changes])].filter(([, value]) => value !== 0n))
    const { stateRoot, getProof } = await createL1(rollup.address, altered)
    const proof = await getProof(rollup.address, CONTRACT_SLOTS)
    return { bundle: { ...bundle, l1: { proof } }, trusted: { l1StateRoot: stateRoot }, proof }
  }
  return { l1, l2, l2Block, blockHash, l1BlockHash, proof, bundleOf, judge, anchoredIn }
}
