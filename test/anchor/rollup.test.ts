import { expect, it } from 'vitest'
import {
  anchorStorageKeys,
  lineaLayout,
  lineaRollup,
  lineaSepoliaRollup,
  type Rollup,
  verifyAnchor,
} from '../../src/anchor.ts'
import { mappingSlot } from '../../src/index.ts'
import { createL1, named } from '../../vectors/evidence/l1.ts'
import { refusal, verdict } from '../refusal.ts'

const rollup: Rollup = { address: named('contract', 20) }
const storageOf = (...slots: (readonly [slot: bigint, value: bigint])[]) => new Map(slots)
const rootSlot = (l2BlockNumber: bigint) => BigInt(mappingSlot({ slot: 282n, keys: [l2BlockNumber] }))

it('knows the contracts of Linea and their layout', () => {
  // The proxies and chain ids that Linea's documentation lists, and the slots of its contract's storage layout.
  expect(lineaRollup).toEqual({
    name: 'linea-mainnet',
    address: '0xd19d4B5d358258f05D7B411E21A1460D11B0876F',
    layout: lineaLayout,
    method: 'linea_getProof',
    chainId: 59144,
    l1ChainId: 1,
  })
  expect(lineaSepoliaRollup).toEqual({
    name: 'linea-sepolia',
    address: '0xB218f8A4Bc926cF1cA7b3423c154a0D627Bdb7E5',
    layout: lineaLayout,
    method: 'linea_getProof',
    chainId: 59141,
    l1ChainId: 11155111,
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
  const proof = await l1.getProof(rollup.address, anchorStorageKeys({ rollup, l2BlockNumber: 0n }).map(BigInt))
  expect(verifyAnchor(proof, claim)).toEqual({
    stateRoot: root,
    currentL2BlockNumber: 0n,
    finalizedTimestamp: undefined,
  })
  // The number of the last finalized block may be missing: then it is not proven.
  const alone = { ...proof, storageProof: proof.storageProof.slice(0, 1) }
  expect(verifyAnchor(alone, claim).currentL2BlockNumber).toBe(undefined)
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
  const proof = await l1.getProof(rollup.address, anchorStorageKeys({ rollup, l2BlockNumber: last }).map(BigInt))
  const claim = { l1StateRoot: l1.stateRoot, rollup, l2BlockNumber: last }
  expect(BigInt(verifyAnchor(proof, claim).stateRoot)).toBe(5n)
  expect(verdict(() => verifyAnchor(proof, { ...claim, rollup: undefined as never }))).toBe(
    'ARGUMENT_INVALID at rollup',
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
    const proof = await l1.getProof(address, anchorStorageKeys({ rollup, l2BlockNumber }).map(BigInt))
    return refusal(() => verifyAnchor(proof, { l1StateRoot: l1.stateRoot, rollup: { address }, l2BlockNumber }))
  }
  expect(await refusalOf(6n)).toMatchObject({
    ...{ code: 'ANCHOR_NO_ROOT', path: 'storageProof[0]', found: 'no root for L2 block 6' },
    expected: 'the last block of a finalization, such as 8, the newest in this proof',
  })
  expect(await refusalOf(9n)).toMatchObject({ code: 'ANCHOR_BLOCK_AHEAD', expected: 'at most 8', found: '9' })
  expect(await refusalOf(7n, named('nobody', 20))).toMatchObject({
    code: 'ANCHOR_NO_CONTRACT',
    found: 'no account at its address',
  })
  const nothing = await l1.getProof(rollup.address, anchorStorageKeys({ rollup, l2BlockNumber: 8n }).map(BigInt))
  const claim = { l1StateRoot: l1.stateRoot, rollup, l2BlockNumber: 8n }
  expect(verdict(() => verifyAnchor(nothing, claim))).toBe('ANCHOR_NO_ROOT at storageProof[0]')
  const short = { ...nothing, storageProof: nothing.storageProof.slice(0, 1) }
  expect(refusal(() => verifyAnchor(short, claim)).expected).toBe('the last block of a finalization')
})

it('proves no timestamp for a layout without slots for it', async () => {
  const { finalizedState: _, ...layout } = lineaLayout
  const l1 = await createL1(rollup.address, storageOf([rootSlot(7n), 5n], [281n, 7n]))
  const proof = await l1.getProof(rollup.address, anchorStorageKeys({ rollup, l2BlockNumber: 7n }).map(BigInt))
  const finalizedState = { messageNumber: 1n, timestamp: 2n }
  const claim = { l1StateRoot: l1.stateRoot, rollup: { ...rollup, layout }, l2BlockNumber: 7n, finalizedState }
  expect(verifyAnchor(proof, claim).finalizedTimestamp).toBe(undefined)
  // With slots for it, their proofs must all be there.
  expect(refusal(() => verifyAnchor(proof, { ...claim, rollup }))).toMatchObject({
    code: 'L1_STORAGE_PROOF_COUNT',
    expected: '4',
    found: '2',
  })
})

it('reads a rollup, refuses what is wrong in it, and names the place', () => {
  const { finalizedState: slots } = lineaLayout
  const keysOf = (change: object) => () => anchorStorageKeys({ rollup: { ...rollup, ...change }, l2BlockNumber: 7n })
  const layoutOf = (change: object) => ({ layout: { ...lineaLayout, ...change } })
  const stateOf = (change: object) => layoutOf({ finalizedState: { ...slots, ...change } })
  const right: object[] = [
    { name: 'devnet', layout: undefined, method: 'rollup_getProof', chainId: 1, l1ChainId: 2n ** 256n - 1n },
    { name: undefined, method: undefined, chainId: 2 ** 53 - 1, l1ChainId: undefined },
    layoutOf({ finalizedState: undefined }),
    layoutOf({ stateRootHashes: 0n, currentL2BlockNumber: 2n ** 256n - 1n }),
  ]
  for (const change of right) expect(verdict(keysOf(change))).toBe('accepted')
  const wrong: [change: object, path: string][] = [
    [{ adress: rollup.address }, 'rollup.adress'],
    [{ address: undefined }, 'rollup.address'],
    [{ address: '0x12' }, 'rollup.address'],
    [{ name: '' }, 'rollup.name'],
    [{ name: 7 }, 'rollup.name'],
    [{ method: '' }, 'rollup.method'],
    [{ method: null }, 'rollup.method'],
    ...[0, -1, 1.5, 2 ** 53, 0n, -1n, 2n ** 256n, '1', null].flatMap((chainId): [object, string][] => [
      [{ chainId }, 'rollup.chainId'],
      [{ l1ChainId: chainId }, 'rollup.l1ChainId'],
    ]),
    [{ layout: null }, 'rollup.layout'],
    [{ layout: {} }, 'rollup.layout.stateRootHashes'],
    [layoutOf({ stateRootHash: 1n }), 'rollup.layout.stateRootHash'],
    [layoutOf({ currentL2BlockNumber: 281 }), 'rollup.layout.currentL2BlockNumber'],
    [layoutOf({ stateRootHashes: 2n ** 256n }), 'rollup.layout.stateRootHashes'],
    [layoutOf({ finalizedState: null }), 'rollup.layout.finalizedState'],
    [stateOf({ currentFinalizedState: undefined }), 'rollup.layout.finalizedState.currentFinalizedState'],
    [stateOf({ rollingHashes: -1n }), 'rollup.layout.finalizedState.rollingHashes'],
    [stateOf({ forcedRollingHashes: 452n }), 'rollup.layout.finalizedState.forcedRollingHashes'],
    [stateOf({ forcedTransactionRollingHashes: 452 }), 'rollup.layout.finalizedState.forcedTransactionRollingHashes'],
  ]
  for (const [change, path] of wrong) expect(verdict(keysOf(change)), path).toBe(`ARGUMENT_INVALID at ${path}`)
  expect(wrong.length).toBe(35)
})

it('refuses fields that it does not know, and says which one is missing', () => {
  const known = { rollup, l2BlockNumber: 7n }
  const claim = { ...known, l1StateRoot: named('root') }
  const wrong: [arguments_: object, path: string][] = [
    [{ l2blockNumber: 7n }, 'l2blockNumber'],
    [{ l2BlockNumber: undefined }, 'l2BlockNumber'],
    [{ rollup: undefined }, 'rollup'],
    [{ finalizedState: null }, 'finalizedState'],
    [{ finalizedState: { messageNumber: 1n } }, 'finalizedState.timestamp'],
    [{ finalizedState: { messageNumber: 1n, timestamp: 1n, time: 1n } }, 'finalizedState.time'],
  ]
  for (const [change, path] of wrong) {
    expect(verdict(() => anchorStorageKeys({ ...known, ...change }))).toBe(`ARGUMENT_INVALID at ${path}`)
    expect(verdict(() => verifyAnchor({}, { ...claim, ...change }))).toBe(`ARGUMENT_INVALID at ${path}`)
  }
  expect(verdict(() => verifyAnchor({}, known as never))).toBe('ARGUMENT_INVALID at l1StateRoot')
  expect(verdict(() => anchorStorageKeys(claim))).toBe('ARGUMENT_INVALID at l1StateRoot')
  expect(refusal(() => anchorStorageKeys({ ...known, l2blockNumber: 7n } as never)).expected).toBe('l2BlockNumber')
})
