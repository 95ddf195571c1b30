import { createWorld, type World } from '../src/devnet/index.ts'
import type { Hex, Scheme } from '../src/entry/index.ts'
import { addressFor, keyFor, wordFor } from './vector.ts'

/** Accounts of {@link makeWorld}: two contracts of nine slots each, and one without code. */
export const [CONTRACT, OTHER_CONTRACT, PLAIN] = [
  addressFor('contract'),
  addressFor('other contract'),
  addressFor('account 3'),
]

/** The accounts and slots of {@link makeWorld} without the newcomers of {@link makeLaterWorld}. */
export const ACCOUNTS: readonly Hex[] = Array.from({ length: 12 }, (_, index) => addressFor(`account ${index}`))
export const SLOTS: readonly Hex[] = Array.from({ length: 9 }, (_, index) => keyFor(index))

/** Fourteen accounts. The two contracts differ in the value of one slot. */
export function makeWorld(scheme: Scheme): World {
  const world = createWorld(scheme)
  for (const [index, address] of ACCOUNTS.entries()) world.setAccount(address, { balance: BigInt(index) })
  for (const contract of [CONTRACT, OTHER_CONTRACT]) {
    world.setAccount(contract, { nonce: 1n, balance: 5n, codeSize: 9n, codeHash: keyFor('code') })
    for (const [index, key] of SLOTS.entries()) world.setStorage(contract, { key, value: wordFor(index + 1) })
  }
  world.setStorage(OTHER_CONTRACT, { key: keyFor(1), value: wordFor(1000) })
  return world
}

/** The next block: one more account, and one more slot of {@link CONTRACT}. */
export function makeLaterWorld(world: World): World {
  const later = world.fork()
  later.setAccount(addressFor('newcomer'), { balance: 1n })
  later.setStorage(CONTRACT, { key: keyFor('new'), value: wordFor(1) })
  return later
}

/** Absent keys: between two present keys, before the first and after the last. */
export function findAbsent(hash: (key: Hex) => Hex, make: (name: string) => Hex, present: readonly Hex[]) {
  const hashes = present.map(hash).sort()
  const [first = '0x', last = '0x'] = [hashes[0], hashes.at(-1)]
  const find = (fits: (hKey: Hex) => boolean): Hex => {
    for (let index = 0; index < 5000; index++) {
      const key = make(`absent ${index}`)
      if (fits(hash(key))) return key
    }
    throw new Error('no key lies there')
  }
  return {
    between: find(hKey => hKey > first && hKey < last),
    afterHead: find(hKey => hKey < first),
    beforeTail: find(hKey => hKey > last),
  }
}
