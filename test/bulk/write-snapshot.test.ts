import { expect, it } from 'vitest'
import { type SnapshotPlan, type SnapshotProgress, writeSnapshot } from '../../src/bulk/snapshot/snapshot.ts'
import type { Hex } from '../../src/index.ts'
import { mappingSlot } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { createWorld } from '../../src/world.ts'
import { CONTRACT, word } from '../rpc/servers.ts'

const holders = Array.from({ length: 150 }, (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`)
const world = createWorld(poseidon2)
world.setAccount(CONTRACT, { nonce: 1n })
for (const [index, holder] of holders.entries()) {
  if (index % 3 > 0) world.setAccount(holder, { balance: BigInt(index) })
  if (index % 2 > 0) world.setStorage(CONTRACT, { key: mappingSlot({ slot: 5n, keys: [holder] }), value: word(index) })
}
const provider = {
  async request({ params = [] }: { params?: readonly unknown[] | object | undefined }) {
    const [address, keys] = params as [Hex, Hex[]]
    return JSON.parse(JSON.stringify(world.getProof(address, keys)))
  },
}

interface Piece {
  readonly rows: string
  readonly kept: string
  readonly progress: SnapshotProgress
}

/** The pieces after those of an earlier run. Saving piece `failsAt` fails. */
async function write(target: SnapshotPlan['target'], earlier: readonly Piece[], failsAt: number) {
  const pieces: Piece[] = []
  const plan: SnapshotPlan = {
    ...{ target, holders, format: 'csv', scheme: poseidon2, stateRoot: world.stateRoot(), block: 1n },
    ...{ method: 'rollup_getProof', keysPerRequest: 40, concurrency: 4, signal: new AbortController().signal },
    ...{ onRetry: () => {}, onRefused: () => {} },
  }
  const counts = await writeSnapshot(provider, plan, {
    begun: earlier.at(-1)?.progress,
    keepsAnswers: true,
    async save(rows, kept, progress) {
      if (earlier.length + pieces.length === failsAt) throw new Error('the disk is full')
      pieces.push({ rows, kept, progress: JSON.parse(JSON.stringify(progress)) })
    },
  }).catch(error => String(error))
  return { pieces, counts }
}

const TARGETS = [
  ['accounts', { storageKeys: [] }, 3, 100],
  ['a mapping', { contract: CONTRACT, slot: 5n, storageKeys: [] }, 4, 75],
] as const
it.each(TARGETS)('writes the same pieces wherever it is interrupted: %s', async (_, target, count, present) => {
  const { pieces, counts } = await write(target, [], -1)
  expect(pieces).toHaveLength(count)
  expect(counts).toEqual({ present, absent: 150 - present, refused: 0 })
  const lines = pieces.flatMap(({ rows }) => rows.trimEnd().split('\n'))
  expect(lines.slice(1).map(line => line.slice(0, 42))).toEqual(holders)
  for (let failsAt = 0; failsAt < count; failsAt++) {
    const cut = await write(target, [], failsAt)
    expect(cut.counts).toBe('Error: the disk is full')
    const rest = await write(target, cut.pieces, -1)
    expect([...cut.pieces, ...rest.pieces]).toEqual(pieces)
    expect(rest.counts).toEqual(counts)
  }
})
