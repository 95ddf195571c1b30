import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { fetchRecordings, snapshotReader, type Target } from '../../../src/cli/snapshot/snapshot.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { ethereumTrie, proveEthereum, trieRoot } from '../../../src/devnet/service/trie.ts'
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

/** The rows of all holders, if a run ends after so many recordings and another one goes on. */
async function write(name: Name, target: Target, endsAt = Infinity) {
  const read = () => snapshotReader(target, holders, 'csv', STATES[name])
  const kept: string[] = []
  for (const isLast of [false, true]) {
    const before = read()
    for (const line of kept) before.rowsOf(JSON.parse(line))
    const recordings = fetchRecordings(provider, {
      target,
      holders: holders.slice(holders.length - before.left()),
      ...STATES[name],
      block: 1n,
      method: 'rollup_getProof',
      keysPerRequest: 40,
      concurrency: 4,
      signal: new AbortController().signal,
      verify: before.verify,
      onWrong: () => {},
    })
    for await (const lines of recordings) {
      if (!isLast && kept.length >= endsAt) break
      kept.push(...lines.trimEnd().split('\n'))
    }
  }
  const reader = read()
  const rows = kept.map(line => reader.rowsOf(JSON.parse(line)))
  expect(reader.left()).toBe(0)
  return { kept, text: reader.heading + rows.join(''), counts: reader.counts }
}

const [ACCOUNTS, MAPPING] = [{ storageKeys: [] }, { contract: CONTRACT, slot: 5n, storageKeys: [] }]
const TARGETS = [
  ['poseidon2', 'accounts', ACCOUNTS, 150, 100],
  ['poseidon2', 'a mapping', MAPPING, 4, 75],
  ['ethereum', 'a mapping', MAPPING, 4, 75],
] as const
it.each(TARGETS)('proves the same wherever it is interrupted: %s, %s', async (name, _, target, count, present) => {
  const { kept, text, counts } = await write(name, target)
  expect(kept).toHaveLength(count)
  expect(counts).toEqual({ present, absent: 150 - present, refused: 0 })
  const [, ...rows] = text.trimEnd().split('\n')
  expect(rows.map(line => line.slice(0, 42))).toEqual(holders)
  for (let endsAt = 0; endsAt < count; endsAt += Math.ceil(count / 4)) {
    const cut = await write(name, target, endsAt)
    expect([cut.kept, cut.text]).toEqual([kept, text])
  }
})

it('writes the same columns for either kind of state, and recordings that say which it is', async () => {
  const [sparse, ethereum] = await Promise.all([write('poseidon2', ACCOUNTS), write('ethereum', ACCOUNTS)])
  const [one, other] = [sparse, ethereum].map(({ text }) => text.trimEnd().split('\n')) as [string[], string[]]
  expect(other[0]).toBe(one[0])
  // Holder, verdict, nonce and balance are the same.
  const same = (rows: string[]) => rows.slice(1).map(row => row.split(',').slice(0, 4))
  expect(same(other)).toEqual(same(one))
  expect(ethereum.kept.length).toBe(150)
  for (const line of ethereum.kept) expect(JSON.parse(line)).toMatchObject({ version: 1, ...STATES.ethereum })
})
