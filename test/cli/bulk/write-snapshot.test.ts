import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import type { RowStep } from '../../../src/cli/audit/rows.ts'
import { type SnapshotPlan, type SnapshotProgress, snapshotSteps } from '../../../src/cli/snapshot/snapshot.ts'
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
    const answer = isEthereum ? proveEthereum(world, accounts, address, keys) : world.getProof(address, keys)
    return JSON.parse(JSON.stringify(answer))
  },
}
const STATES = {
  poseidon2: { scheme: poseidon2, stateRoot: world.stateRoot() },
  ethereum: { scheme: 'ethereum', stateRoot: bytesToHex(trieRoot(accounts)) },
} as const
type Name = keyof typeof STATES

type Step = RowStep<SnapshotProgress>

/** The steps after those of an earlier run, up to step `endsAt`, and the heading. */
async function write(name: Name, target: SnapshotPlan['target'], earlier: readonly Step[], endsAt = Infinity) {
  const plan: SnapshotPlan = {
    ...{ target, holders, format: 'csv', ...STATES[name], block: 1n },
    ...{ method: 'rollup_getProof', keysPerRequest: 40, concurrency: 4, signal: new AbortController().signal },
    ...{ onRetry: () => {}, onRefused: () => {} },
  }
  const { heading, steps } = snapshotSteps(provider, plan, earlier.at(-1)?.progress)
  const all: Step[] = []
  for await (const step of steps) {
    if (earlier.length + all.length === endsAt) break
    all.push(JSON.parse(JSON.stringify(step)))
  }
  return { steps: all, heading }
}

const [ACCOUNTS, MAPPING] = [{ storageKeys: [] }, { contract: CONTRACT, slot: 5n, storageKeys: [] }]
const TARGETS = [
  ['poseidon2', 'accounts', ACCOUNTS, 150, 100],
  ['poseidon2', 'a mapping', MAPPING, 4, 75],
  ['ethereum', 'a mapping', MAPPING, 4, 75],
] as const
it.each(TARGETS)('takes the same steps wherever it is interrupted: %s, %s', async (name, _, target, count, present) => {
  const { steps } = await write(name, target, [])
  expect(steps).toHaveLength(count)
  expect(steps.at(-1)?.progress).toEqual({ requests: count, counts: { present, absent: 150 - present, refused: 0 } })
  const lines = steps.flatMap(({ rows }) => rows.trimEnd().split('\n'))
  expect(lines.map(line => line.slice(0, 42))).toEqual(holders)
  for (let endsAt = 0; endsAt < count; endsAt += Math.ceil(count / 4)) {
    const cut = await write(name, target, [], endsAt)
    const rest = await write(name, target, cut.steps)
    expect([...cut.steps, ...rest.steps]).toEqual(steps)
  }
})

it('writes the same columns for either kind of state, and recordings that say which it is', async () => {
  const [sparse, ethereum] = await Promise.all([write('poseidon2', ACCOUNTS, []), write('ethereum', ACCOUNTS, [])])
  const rowsOf = ({ heading, steps }: typeof sparse) => [heading, ...steps.map(({ rows }) => rows.trimEnd())]
  const [one, other] = [rowsOf(sparse), rowsOf(ethereum)]
  expect(other[0]).toBe(one[0])
  // Holder, verdict, nonce and balance are the same.
  const same = (rows: string[]) => rows.slice(1).map(row => row.split(',').slice(0, 4))
  expect(same(other)).toEqual(same(one))
  const recordings = ethereum.steps.flatMap(({ kept }) =>
    kept
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
  )
  expect(recordings.length).toBe(150)
  for (const recording of recordings) expect(recording).toMatchObject({ version: 1, ...STATES.ethereum })
})
