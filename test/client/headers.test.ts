import { expect, it } from 'vitest'
import { type Anchor, fetchAnchor, openAnchor } from '../../src/client/l1/l1.ts'
import { readNetwork } from '../../src/client/network/network.ts'
import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { lineaLayout } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type Rollup, readRollup } from '../../src/verify/anchor/rollup.ts'
import type { StateScheme } from '../../src/verify/state/kind.ts'
import { hashSlot } from '../../vectors/evidence/ethereum.ts'
import { createL1, named } from '../../vectors/evidence/l1.ts'
import { rootSlot } from '../../vectors/evidence/truth.ts'
import { blockEndpoint, type Change, makeChain, numberIn } from '../verify/blocks/chain.ts'

const ROLLUP = readRollup({ address: named('rollup', 20) })
const [ROOT, HASH] = [named('root'), named('hash')]
/** What the contract holds, by L2 block. */
const HELD = { root: 3n, hash: 4n, both: 5n }

/** Anchors from an L1 whose contract holds a root, a hash, and both. */
async function anchors() {
  const l1 = await createL1(
    ROLLUP.address,
    new Map([
      [281n, 5n],
      [rootSlot(HELD.root), BigInt(ROOT)],
      [hashSlot(HELD.hash), BigInt(HASH)],
      [rootSlot(HELD.both), BigInt(ROOT)],
      [hashSlot(HELD.both), BigInt(HASH)],
    ]),
  )
  const endpoint = {
    request: ({ params }: { params?: unknown }) => {
      const [address, keys] = params as [Hex, Hex[]]
      return l1.getProof(address, keys.map(BigInt))
    },
  }
  const l1Block = { number: 1n, timestamp: 1n, hash: named('L1 block'), stateRoot: l1.stateRoot }
  return (l2BlockNumber: bigint, scheme?: 'ethereum' | typeof mimc) => {
    const source = { l1: openEndpoints('l1', endpoint, 'L1'), rollup: ROLLUP, signal: undefined, scheme }
    return fetchAnchor(source, l1Block, l2BlockNumber)
  }
}

it('lets L1 decide between a state root and a block hash, and the scheme only where L1 holds both', async () => {
  const anchorOf = await anchors()
  const [isRoot, isHash] = [
    { stateRoot: ROOT, blockHash: undefined },
    { stateRoot: undefined, blockHash: HASH },
  ]
  for (const scheme of [undefined, mimc, 'ethereum'] as const) {
    expect(await anchorOf(HELD.root, scheme)).toMatchObject(isRoot)
    expect(await anchorOf(HELD.hash, scheme)).toMatchObject(isHash)
  }
  expect(await anchorOf(HELD.both, mimc)).toMatchObject(isRoot)
  expect(await anchorOf(HELD.both, 'ethereum')).toMatchObject(isHash)
  await expect(anchorOf(HELD.both)).rejects.toMatchObject({ code: 'ANCHOR_AMBIGUOUS', path: 'l1.proof' })
})

const blocks = await makeChain(5)
const blockOf = (number: number): { hash?: Hex; stateRoot?: unknown } | undefined => blocks[number - 1]?.block
const common = {
  currentL2BlockNumber: 5n,
  finalizedTimestamp: undefined,
  implementation: named('code', 20),
  proof: null,
}
const anchorAt = (number: number, stateRoot?: Hex): Anchor => {
  const held = { ...common, l2BlockNumber: BigInt(number), finalizedState: undefined }
  const blockHash = blockOf(number)?.hash ?? '0x'
  return stateRoot === undefined ? { ...held, stateRoot, blockHash } : { ...held, stateRoot, blockHash: undefined }
}

/** Endpoints for the same blocks, each of which may lie. */
function endpoints(...changes: (Change | undefined)[]) {
  const failed: string[] = []
  const endpoints = changes.map(change => blockEndpoint(blocks, change))
  const l2 = openEndpoints('l2', endpoints, 'L2', {
    onFailure: (layer, index, { code }) => failed.push(`${layer} ${index} ${code}`),
  })
  return { source: { l2, signal: undefined }, failed, endpoints }
}

it('opens a block hash with the header, whatever the scheme of state roots is', async () => {
  const { source, endpoints: asked } = endpoints(undefined)
  for (const scheme of [mimc, poseidon2, 'ethereum'] as const) {
    const state = await openAnchor(source, anchorAt(3), scheme)
    expect(state).toMatchObject({ scheme: 'ethereum', stateRoot: blockOf(3)?.stateRoot, block: blockOf(3) })
    expect(state.header).toMatchObject({ hash: blockOf(3)?.hash, number: 3n })
  }
  expect(asked.map(({ total }) => total())).toEqual([3])
})

it('needs no header for a state root, and refuses one if the state is to be that of Ethereum', async () => {
  const { source, endpoints: asked } = endpoints(undefined)
  expect(await openAnchor(source, anchorAt(3, ROOT), mimc)).toEqual({ scheme: mimc, stateRoot: ROOT })
  const refused = { code: 'ANCHOR_NO_ROOT', expected: expect.stringContaining("the scheme is 'ethereum'") }
  await expect(openAnchor(source, anchorAt(4, ROOT), 'ethereum')).rejects.toMatchObject(refused)
  expect(asked.map(({ total }) => total())).toEqual([0])
})

it('leaves an endpoint that sends another header, or none, for the next', async () => {
  const lies: [string, Change][] = [
    ['HEADER_HASH_MISMATCH', () => blockOf(4)],
    ['HEADER_HASH_MISMATCH', block => ({ ...Object(block), stateRoot: ROOT })],
    ['HEADER_MALFORMED', () => 'no'],
    ['BLOCK_MISSING', () => null],
    ['UNREACHABLE', () => Promise.reject(new TypeError('fetch failed'))],
  ]
  for (const [code, lie] of lies) {
    const { source, failed } = endpoints(lie, undefined)
    const state = await openAnchor(source, anchorAt(3), 'ethereum')
    expect(state.stateRoot, code).toBe(blockOf(3)?.stateRoot)
    expect(failed, code).toHaveLength(1)
    const alone = endpoints(lie)
    await expect(openAnchor(alone.source, anchorAt(3), 'ethereum'), code).rejects.toMatchObject({ code })
    expect(alone.failed).toEqual([`L2 0 ${code}`])
  }
  // It is the block with that hash, but another one is asked for.
  const other = { ...anchorAt(3), l2BlockNumber: 2n }
  const { source, failed } = endpoints((_, method, params) => (numberIn(params) === 2 ? blockOf(3) : method))
  await expect(openAnchor(source, other, 'ethereum')).rejects.toMatchObject({ code: 'BLOCK_NUMBER_MISMATCH' })
  expect(failed).toEqual(['L2 0 BLOCK_NUMBER_MISMATCH'])
})

it('reads the option scheme before any request', () => {
  const { blockHashes: _, ...layout } = lineaLayout
  const old = readRollup({ address: ROLLUP.address, layout })
  const read = (scheme: unknown, rollup: Rollup) => readNetwork({ rollup, scheme: scheme as StateScheme }).scheme
  expect(() => read('ethereum', old)).toThrow('rollup.layout.blockHashes')
  for (const wrong of ['poseidon2', () => poseidon2, undefined]) expect(() => read(wrong, ROLLUP)).toThrow('scheme')
  expect(read('ethereum', ROLLUP)).toBe('ethereum')
  expect(read(poseidon2, old)).toBe(poseidon2)
})
