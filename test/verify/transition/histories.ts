import { type BlockAccess, createWorld, type Trace, type World } from '../../../src/devnet/index.ts'
import type { Hex, Scheme } from '../../../src/entry/index.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'

const addresses = Array.from({ length: 6 }, (_, index) => addressFor(`account ${index}`))
const keys = Array.from({ length: 5 }, (_, index) => keyFor(index))

/** Accounts and slots as a history has written them, in plain maps. */
export type Written = Map<Hex, { balance: bigint; slots: Map<Hex, Hex> }>

interface Lived {
  /** Before the first block. */
  readonly parentStateRoot: Hex
  readonly blocks: readonly LivedBlock[]
  /** What the accesses were, by kind. */
  readonly counts: Record<string, number>
}
interface LivedBlock {
  readonly accesses: readonly BlockAccess[]
  readonly traces: readonly Trace[]
  readonly stateRoot: Hex
  readonly before: Written
  readonly after: Written
}

const copy = (written: Written): Written =>
  new Map([...written].map(([address, { balance, slots }]) => [address, { balance, slots: new Map(slots) }]))

/**
 * A history of random blocks: accounts and slots are created, written, deleted, created again and read.
 *
 * @param share how many of the accounts a block has
 */
export function live(scheme: Scheme, random: () => number, count: number, share = 0.5): Lived {
  const world = createWorld(scheme)
  for (const index of [0, 1, 2, 3]) world.setAccount(addressFor(`crowd ${index}`), { balance: BigInt(index) })
  const written: Written = new Map()
  const counts: Record<string, number> = {}
  const note = (kind: string) => (counts[kind] = (counts[kind] ?? 0) + 1)
  const parentStateRoot = world.stateRoot()
  const blocks = Array.from({ length: count }, (): LivedBlock => {
    const before = copy(written)
    const accesses = addresses.filter(() => random() < share).map(address => access(address, { written, random, note }))
    return { accesses, traces: world.applyBlock(accesses), stateRoot: world.stateRoot(), before, after: copy(written) }
  })
  return { parentStateRoot, blocks, counts }
}

interface Living {
  readonly written: Written
  readonly random: () => number
  note(kind: string): void
}

function access(address: Hex, { written, random, note }: Living): BlockAccess {
  const slotsOf = (share: number) => keys.filter(() => random() < share)
  const read = slotsOf(0.3).map(key => ({ key }))
  const held = written.get(address)
  const dice = random()
  if (dice < 0.2) {
    note(held ? 'read' : 'absent')
    return { address, storage: read }
  }
  if (held && dice < 0.35) {
    note('deleted')
    written.delete(address)
    return { address, account: null, storage: read }
  }
  const recreate = held !== undefined && dice < 0.45
  note(recreate ? 'recreated' : held ? 'updated' : 'created')
  const slots = recreate || !held ? new Map<Hex, Hex>() : held.slots
  const writes = slotsOf(0.5).map(key => ({ key, value: wordFor(random() < 0.4 ? 0 : 1 + Math.floor(random() * 3)) }))
  for (const { key, value } of writes) {
    if (value === wordFor(0)) slots.delete(key)
    else slots.set(key, value)
  }
  const isBare = held !== undefined && !recreate && writes.length > 0 && random() < 0.3
  const balance = isBare ? held.balance : BigInt(Math.floor(random() * 1000))
  written.set(address, { balance, slots })
  return { address, recreate, storage: [...read, ...writes], ...(!isBare && { account: { balance } }) }
}

/** The same blocks, written one by one in the order of their traces, with the other functions of a world. */
export function relive(world: World, { accesses, traces }: LivedBlock): Hex {
  const order = [...new Set(traces.map(({ location, key }) => (location === '0x' ? key : location)))]
  for (const address of order) {
    const { account, recreate, storage = [] } = accesses.find(one => one.address === address) ?? { address }
    const isWritten = account !== undefined || recreate || storage.some(({ value }) => value !== undefined)
    if (account === null || recreate) world.deleteAccount(address)
    if (account === null || !isWritten) continue
    const slots = traces.filter(({ location, type }) => location === address && type > 1).map(({ key }) => key)
    world.setAccount(address, account)
    for (const key of slots) {
      const value = storage.find(slot => slot.key === key && slot.value !== undefined)?.value ?? wordFor(0)
      world.setStorage(address, { key, value })
    }
  }
  return world.stateRoot()
}
