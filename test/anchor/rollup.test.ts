import { expect, it } from 'vitest'
import {
  anchorStorageKeys,
  lineaLayout,
  lineaRollup,
  lineaSepoliaRollup,
  mappingSlot,
  type Rollup,
  verifyAnchor,
} from '../../src/anchor.ts'
import { createL1, named } from '../../vectors/evidence/l1.ts'
import { refusal, verdict } from '../refusal.ts'

const rollup: Rollup = { address: named('contract', 20) }
const storageOf = (...slots: (readonly [slot: bigint, value: bigint])[]) => new Map(slots)
const rootSlot = (l2BlockNumber: bigint) => BigInt(mappingSlot(282n, l2BlockNumber))

it('knows the contracts of Linea and their layout', () => {
  // The proxies that Linea's documentation lists, and the slots of its contract's storage layout.
  expect(lineaRollup).toEqual({
    name: 'linea-mainnet',
    address: '0xd19d4B5d358258f05D7B411E21A1460D11B0876F',
    layout: lineaLayout,
  })
  expect(lineaSepoliaRollup).toEqual({
    name: 'linea-sepolia',
    address: '0xB218f8A4Bc926cF1cA7b3423c154a0D627Bdb7E5',
    layout: lineaLayout,
  })
  expect(lineaLayout).toEqual({
    stateRootHashes: 282n,
    currentL2BlockNumber: 281n,
    finalizedState: { currentFinalizedState: 447n, rollingHashes: 334n, forcedTransactionRollingHashes: 452n },
  })
})

it('verifies the root of block 0, while it is the newest finalized one', async () => {
  const root = named('genesis')
  const l1 = await createL1(rollup.address, storageOf([rootSlot(0n), BigInt(root)]))
  const claim = { l1StateRoot: l1.stateRoot, rollup, l2BlockNumber: 0n }
  const proof = await l1.getProof(rollup.address, anchorStorageKeys(rollup, 0n).map(BigInt))
  expect(verifyAnchor(proof, claim)).toEqual({
    stateRoot: root,
    currentL2BlockNumber: 0n,
    finalizedTimestamp: null,
  })
  // The number of the last finalized block may be missing: then it is not proven.
  const alone = { ...proof, storageProof: proof.storageProof.slice(0, 1) }
  expect(verifyAnchor(alone, claim).currentL2BlockNumber).toBe(null)
  expect(refusal(() => verifyAnchor({ ...proof, storageProof: [] }, claim))).toMatchObject({
    code: 'L1_STORAGE_PROOF_COUNT',
    path: 'storageProof',
    expected: '1 to 2',
    found: '0',
  })
})

it('verifies blocks up to the last one with a number of 64 bits', async () => {
  const last = 2n ** 64n - 1n
  const l1 = await createL1(rollup.address, storageOf([rootSlot(last), 5n], [281n, last]))
  const proof = await l1.getProof(rollup.address, anchorStorageKeys(rollup, last).map(BigInt))
  const claim = { l1StateRoot: l1.stateRoot, rollup, l2BlockNumber: last }
  expect(BigInt(verifyAnchor(proof, claim).stateRoot)).toBe(5n)
  expect(verdict(() => verifyAnchor(proof, { ...claim, rollup: undefined as never }))).toBe(
    'ARGUMENT_INVALID at address',
  )
  for (const l2BlockNumber of [2n ** 64n, -1n, 1 as never]) {
    expect(refusal(() => verifyAnchor(proof, { ...claim, l2BlockNumber }))).toMatchObject({
      code: 'ARGUMENT_INVALID',
      path: 'l2BlockNumber',
      expected: 'a bigint from 0 to 2^64 - 1',
    })
  }
})

it('refuses a block without a root, one ahead of the contract, and a missing contract', async () => {
  const l1 = await createL1(rollup.address, storageOf([rootSlot(7n), 5n], [281n, 8n]))
  const refusalOf = async (l2BlockNumber: bigint, address = rollup.address) => {
    const proof = await l1.getProof(address, anchorStorageKeys(rollup, l2BlockNumber).map(BigInt))
    return refusal(() => verifyAnchor(proof, { l1StateRoot: l1.stateRoot, rollup: { address }, l2BlockNumber }))
  }
  expect(await refusalOf(6n)).toMatchObject({ code: 'ANCHOR_NO_ROOT', path: 'storageProof[0]', found: 'no root' })
  expect(await refusalOf(9n)).toMatchObject({ code: 'ANCHOR_BLOCK_AHEAD', expected: 'at most 8', found: '9' })
  expect(await refusalOf(7n, named('nobody', 20))).toMatchObject({
    code: 'ANCHOR_NO_CONTRACT',
    found: 'no account at its address',
  })
  const nothing = await l1.getProof(rollup.address, anchorStorageKeys(rollup, 8n).map(BigInt))
  const claim = { l1StateRoot: l1.stateRoot, rollup, l2BlockNumber: 8n }
  expect(verdict(() => verifyAnchor(nothing, claim))).toBe('ANCHOR_NO_ROOT at storageProof[0]')
})

it('proves no timestamp for a layout without slots for it', async () => {
  const { finalizedState: _, ...layout } = lineaLayout
  const l1 = await createL1(rollup.address, storageOf([rootSlot(7n), 5n], [281n, 7n]))
  const proof = await l1.getProof(rollup.address, anchorStorageKeys(rollup, 7n).map(BigInt))
  const finalizedState = { messageNumber: 1n, timestamp: 2n }
  const claim = { l1StateRoot: l1.stateRoot, rollup: { ...rollup, layout }, l2BlockNumber: 7n, finalizedState }
  expect(verifyAnchor(proof, claim).finalizedTimestamp).toBe(null)
  // With slots for it, their proofs must all be there.
  expect(refusal(() => verifyAnchor(proof, { ...claim, rollup }))).toMatchObject({
    code: 'L1_STORAGE_PROOF_COUNT',
    expected: '4',
    found: '2',
  })
})
