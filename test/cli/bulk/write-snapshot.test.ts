import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { type SnapshotPlan, type SnapshotProgress, writeSnapshot } from '../../../src/cli/snapshot/snapshot.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { trieRoot } from '../../../src/devnet/service/growing-trie.ts'
import { ethereumTrie, proveEthereum } from '../../../src/devnet/service/state-trie.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { mappingSlot } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { CONTRACT, word } from '../../client/servers.ts'

const holders = Array.from({ length: 150 }, (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`)
const world = createWorld(poseidon2)
world.setAccount(CONTRACT, { nonce: 1n })
for (const [index, holder] of holders.entries()) {
  if (index % 3 > 0) world.setAccount(holder, { balance: BigInt(index) })
  if (index % 2 > 0) world.setStorage(CONTRACT, { key: mappingSlot({ slot: 5n, keys: [holder] }), value: word(index) })
}
const accounts = ethereumTrie(world)
const provider = {
  async request({ method, params = [] }: { method: string; params?: readonly unknown[] | object | undefined }) {
    const [address, keys] = params as [Hex, Hex[]]
    const isEthereum = method === 'eth_getProof'
    const answer = isEthereum ? proveEthereum({ state: world, accounts }, address, keys) : world.getProof(address, keys)
    return JSON.parse(JSON.stringify(answer))
  },
}
const STATES = {
  poseidon2: { scheme: poseidon2, stateRoot: world.stateRoot() },
  ethereum: { scheme: 'ethereum', stateRoot: bytesToHex(trieRoot(accounts)) },
} as const
type Name = keyof typeof STATES

interface Piece {
  readonly rows: string
  readonly kept: string
  readonly progress: SnapshotProgress
}

/** The pieces after those of an earlier run. Saving piece `failsAt` fails. */
async function write(name: Name, target: SnapshotPlan['target'], earlier: readonly Piece[], failsAt: number) {
  const pieces: Piece[] = []
  const plan: SnapshotPlan = {
    ...{ target, holders, format: 'csv', ...STATES[name], block: 1n },
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

const [ACCOUNTS, MAPPING] = [{ storageKeys: [] }, { contract: CONTRACT, slot: 5n, storageKeys: [] }]
const TARGETS = [
  ['poseidon2', 'accounts', ACCOUNTS, 3, 100],
  ['poseidon2', 'a mapping', MAPPING, 4, 75],
  ['ethereum', 'a mapping', MAPPING, 4, 75],
] as const
it.each(TARGETS)(
  'writes the same pieces wherever it is interrupted: %s, %s',
  async (name, _, target, count, present) => {
    const { pieces, counts } = await write(name, target, [], -1)
    expect(pieces).toHaveLength(count)
    expect(counts).toEqual({ present, absent: 150 - present, refused: 0 })
    const lines = pieces.flatMap(({ rows }) => rows.trimEnd().split('\n'))
    expect(lines.slice(1).map(line => line.slice(0, 42))).toEqual(holders)
    for (let failsAt = 0; failsAt < count; failsAt++) {
      const cut = await write(name, target, [], failsAt)
      expect(cut.counts).toBe('Error: the disk is full')
      const rest = await write(name, target, cut.pieces, -1)
      expect([...cut.pieces, ...rest.pieces]).toEqual(pieces)
      expect(rest.counts).toEqual(counts)
    }
  },
)

it('writes the same columns for either kind of state, and recordings that say which it is', async () => {
  const [sparse, ethereum] = await Promise.all([
    write('poseidon2', ACCOUNTS, [], -1),
    write('ethereum', ACCOUNTS, [], -1),
  ])
  const rowsOf = ({ pieces }: typeof sparse) => pieces.flatMap(({ rows }) => rows.trimEnd().split('\n'))
  const [one, other] = [rowsOf(sparse), rowsOf(ethereum)]
  expect(other[0]).toBe(one[0])
  // Holder, verdict, nonce and balance are the same.
  const same = (rows: string[]) => rows.slice(1).map(row => row.split(',').slice(0, 4))
  expect(same(other)).toEqual(same(one))
  const recordings = ethereum.pieces.flatMap(({ kept }) =>
    kept
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
  )
  expect(recordings.length).toBe(150)
  for (const recording of recordings) expect(recording).toMatchObject({ version: 1, ...STATES.ethereum })
})
