import { expect, it } from 'vitest'
import {
  anchorStorageKeys,
  lineaLayout,
  lineaRollup,
  lineaSepoliaRollup,
  type Rollup,
  verifyAnchor,
} from '../../../src/entry/anchor.ts'
import { mappingSlot } from '../../../src/entry/index.ts'
import type { HeldValue } from '../../../src/verify/anchor/rollup.ts'
import { createL1, named } from '../../../vectors/evidence/l1.ts'
import { refusal, verdict } from '../../refusal.ts'

const rollup: Rollup = { address: named('contract', 20) }
const storageOf = (...slots: (readonly [slot: bigint, value: bigint])[]) => new Map(slots)
const rootSlot = (l2BlockNumber: bigint) => BigInt(mappingSlot({ slot: 282n, keys: [l2BlockNumber] }))

it('knows the contracts of Linea and their layout', () => {
  // The proxies and chain ids that Linea's documentation lists, and the slots of its contract's storage layout.
  expect(lineaRollup).toEqual({
    name: 'linea',
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
    blockHashes: 456n,
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
    // The contract is no proxy.
    implementation: `0x${'00'.repeat(20)}`,
  })
  const first = (count: number) => ({ ...proof, storageProof: proof.storageProof.slice(0, count) })
  // What is missing is not proven. The claim says what the first slot is.
  const ofRoot = { ...claim, holds: 'stateRoot' } as const
  expect(verifyAnchor(first(1), ofRoot)).toEqual({ stateRoot: root })
  expect(verifyAnchor(first(2), ofRoot)).toEqual({ stateRoot: root, currentL2BlockNumber: 0n })
  expect(verifyAnchor(first(3), claim)).toEqual({ stateRoot: root, currentL2BlockNumber: 0n })
  const counts: [work: () => unknown, expected: string][] = [
    [() => verifyAnchor(first(0), ofRoot), '1 to 4'],
    // Without the other slot, nothing shows that there is no hash.
    [() => verifyAnchor(first(2), claim), '3 to 4'],
    [() => verifyAnchor(first(2), { ...claim, holds: 'blockHash' }), '3 to 4'],
    [() => verifyAnchor(first(3), { ...claim, rollup: { ...rollup, implementation: rollup.address } }), '4'],
  ]
  for (const [work, expected] of counts) {
    expect(refusal(work)).toMatchObject({ code: 'L1_STORAGE_PROOF_COUNT', path: 'storageProof', expected })
  }
})

const hashSlot = (l2BlockNumber: bigint) => BigInt(mappingSlot({ slot: 456n, keys: [l2BlockNumber] }))
const IMPLEMENTATION = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn

/** What the contract of `storage` holds for block 7, by claim; or the refusal. */
async function holding(...storage: (readonly [slot: bigint, value: bigint])[]) {
  const l1 = await createL1(rollup.address, storageOf([281n, 8n], ...storage))
  const asked = { rollup, l2BlockNumber: 7n }
  const proof = await l1.getProof(rollup.address, anchorStorageKeys(asked).map(BigInt))
  return (holds?: HeldValue, changed: Partial<Rollup> = {}) =>
    verifyAnchor(proof, { l1StateRoot: l1.stateRoot, ...asked, rollup: { ...rollup, ...changed }, holds })
}

it('finds a root or a hash by the slots, and lets the claim decide if there are both', async () => {
  const [root, hash] = [named('root'), named('hash')]
  const rootAlone = await holding([rootSlot(7n), BigInt(root)])
  const hashAlone = await holding([hashSlot(7n), BigInt(hash)])
  const both = await holding([rootSlot(7n), BigInt(root)], [hashSlot(7n), BigInt(hash)])
  for (const find of [rootAlone, both]) {
    expect(find('stateRoot')).toMatchObject({ stateRoot: root, blockHash: undefined })
  }
  for (const find of [hashAlone, both]) {
    expect(find('blockHash')).toMatchObject({ stateRoot: undefined, blockHash: hash })
  }
  expect(rootAlone()).toMatchObject({ stateRoot: root, blockHash: undefined })
  expect(hashAlone()).toMatchObject({ stateRoot: undefined, blockHash: hash })
  expect(refusal(() => both())).toMatchObject({
    ...{ code: 'ANCHOR_AMBIGUOUS', path: '', found: 'both' },
    expected: "'stateRoot' or 'blockHash', as what the contract holds",
  })
  const found: [work: () => unknown, found: string][] = [
    [() => rootAlone('blockHash'), 'no hash for L2 block 7, but its root'],
    [() => hashAlone('stateRoot'), 'no root for L2 block 7, but its hash'],
  ]
  for (const [work, words] of found) {
    expect(refusal(work)).toMatchObject({ code: 'ANCHOR_NO_ROOT', path: 'storageProof[0]', found: words })
  }
  // A layout of the caller's own may have no hashes: then there is nothing to decide.
  const { blockHashes: _, ...layout } = lineaLayout
  const old = anchorStorageKeys({ rollup: { ...rollup, layout }, l2BlockNumber: 7n })
  expect(old.map(BigInt)).toEqual([rootSlot(7n), 281n, IMPLEMENTATION])
  expect(refusal(() => both('blockHash', { layout }))).toMatchObject({
    ...{ code: 'ARGUMENT_INVALID', path: 'rollup.layout.blockHashes' },
    expected: 'the slot of the block hashes',
  })
  expect(refusal(() => both('root' as never))).toMatchObject({
    ...{ code: 'ARGUMENT_INVALID', path: 'holds', expected: "'stateRoot' or 'blockHash'" },
  })
  const l1 = await createL1(rollup.address, storageOf([281n, 8n], [rootSlot(7n), 5n], [hashSlot(7n), 6n]))
  const proof = await l1.getProof(rollup.address, old.map(BigInt))
  const claim = { l1StateRoot: l1.stateRoot, rollup: { ...rollup, layout }, l2BlockNumber: 7n }
  expect(BigInt(verifyAnchor(proof, claim).stateRoot ?? 0)).toBe(5n)
})

it('reports the code behind the proxy, and refuses any other than the one that is stated', async () => {
  const code = named('code', 20)
  const upper = `0x${code.slice(2).toUpperCase()}` as const
  const find = await holding([rootSlot(7n), 5n], [IMPLEMENTATION, BigInt(code)])
  expect(find().implementation).toBe(code)
  expect(find('stateRoot', { implementation: upper }).implementation).toBe(code)
  const other = named('other code', 20)
  const error = { code: 'ANCHOR_IMPLEMENTATION_MISMATCH', path: 'storageProof', expected: other, found: code }
  expect(refusal(() => find('stateRoot', { implementation: other }))).toMatchObject(error)
  // The slots of other code mean something else, so nothing else is judged.
  const nothing = await holding([IMPLEMENTATION, BigInt(code)])
  expect(refusal(() => nothing('stateRoot', { implementation: other }))).toMatchObject(error)
  // A proxy reads the lower 20 bytes.
  const padded = await holding([rootSlot(7n), 5n], [IMPLEMENTATION, (7n << 160n) + BigInt(code)])
  expect(padded('stateRoot', { implementation: code }).implementation).toBe(code)
  expect(padded().implementation).toBe(code)
  const bare = await holding([rootSlot(7n), 5n])
  const zero = `0x${'00'.repeat(20)}` as const
  expect(bare('stateRoot', { implementation: zero }).implementation).toBe(zero)
})

it('verifies blocks up to the last one with a number of 64 bits', async () => {
  const last = 2n ** 64n - 1n
  const l1 = await createL1(rollup.address, storageOf([rootSlot(last), 5n], [281n, last]))
  const proof = await l1.getProof(rollup.address, anchorStorageKeys({ rollup, l2BlockNumber: last }).map(BigInt))
  const claim = { l1StateRoot: l1.stateRoot, rollup, l2BlockNumber: last }
  expect(BigInt(verifyAnchor(proof, { ...claim, holds: 'stateRoot' }).stateRoot)).toBe(5n)
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
    ...{ code: 'ANCHOR_NO_ROOT', path: 'storageProof[0]', found: 'no root and no hash for L2 block 6' },
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
  expect(refusal(() => verifyAnchor(short, { ...claim, holds: 'stateRoot' }))).toMatchObject({
    ...{ expected: 'the last block of a finalization', found: 'no root for L2 block 8' },
  })
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
    expected: '5 to 6',
    found: '4',
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
    layoutOf({ blockHashes: undefined }),

    { implementation: `0x${'AB'.repeat(20)}` },
    layoutOf({ stateRootHashes: 0n, currentL2BlockNumber: 2n ** 256n - 1n }),
  ]
  for (const change of right) expect(verdict(keysOf(change))).toBe('accepted')
  const wrong: [change: object, path: string][] = [
    [{ adress: rollup.address }, 'rollup.adress'],
    [{ implementation: undefined }, 'rollup.implementation'],
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
    [{ implementation: '0x12' }, 'rollup.implementation'],
    [{ implementation: null }, 'rollup.implementation'],
    [{ layout: null }, 'rollup.layout'],
    [layoutOf({ blockHashes: 456 }), 'rollup.layout.blockHashes'],
    [layoutOf({ blockHashes: 2n ** 256n }), 'rollup.layout.blockHashes'],
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
  expect(wrong.length).toBe(40)
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
