import { createWorld, type World } from '../src/devnet/index.ts'
import type { Hex, Scheme } from '../src/entry/index.ts'
import { hashAccountKey, hashStorageKey } from '../src/verify/verifier/leaf-api.ts'
import { addressFor, type ExpectedState, keyFor, wordFor } from './vector.ts'
import { findAbsent } from './world.ts'

/** A valid case, before it becomes a file. */
export interface ValidCase {
  name: string
  description: string
  world: World
  address: Hex
  storageKeys?: Hex[]
  /** Changes the answer in ways that a verifier must accept. */
  serve?: (result: ReturnType<World['getProof']>) => unknown
}

const MAX_WORD = 2n ** 256n - 1n
const BLS12377_ORDER = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n
const ZERO_WORD = wordFor(0)

/** The expected state, taken from the world rather than from a verifier. */
export function expectedOf(scheme: Scheme, { world, address, storageKeys = [] }: ValidCase): ExpectedState {
  const account = world.getAccount(address)
  const { accountProof } = world.getProof(address)
  if (account === null || !('leafIndex' in accountProof)) {
    const storage = storageKeys.map(key => ({ key, value: ZERO_WORD, exists: false, leafIndex: null }))
    return { valid: true, account: null, storage }
  }
  const { nonce, balance, storageRoot, codeHash, snarkCodeHash, codeSize } = account
  return {
    valid: true,
    account: {
      nonce: `${nonce}`,
      balance: `${balance}`,
      storageRoot,
      codeHash,
      snarkCodeHash: snarkCodeHash ?? scheme.name,
      codeSize: `${codeSize}`,
      leafIndex: accountProof.leafIndex,
    },
    storage: storageKeys.map(key => {
      const value = world.getStorage(address, key)
      const { storageProofs } = world.getProof(address, [key])
      const [proof] = storageProofs
      const leafIndex = proof && 'leafIndex' in proof ? proof.leafIndex : null
      return { key: lower(key), value, exists: value !== ZERO_WORD, leafIndex }
    }),
  }
}

const lower = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`

export function validCases(scheme: Scheme): ValidCase[] {
  return [
    ...emptyStates(scheme),
    ...manyAccounts(scheme),
    ...contract(scheme),
    ...deletions(scheme),
    ...extremes(scheme),
  ]
}

function emptyStates(scheme: Scheme): ValidCase[] {
  const world = createWorld(scheme)
  const address = addressFor('nobody')
  const storageKeys = [keyFor(0), keyFor(1)]
  return [
    {
      name: 'empty-state',
      description: 'An empty state: the neighbours of every address are HEAD and TAIL.',
      world,
      address,
    },
    {
      name: 'empty-state-keys',
      description: 'An absent account with keys asked for comes with an empty list: every slot is absent.',
      world,
      address,
      storageKeys,
    },
    {
      name: 'empty-state-keys-null',
      description: 'An absent account with keys asked for; the endpoint sends null for every key.',
      world,
      address,
      storageKeys,
      serve: result => ({ ...result, storageProofs: [null, null] }),
    },
  ]
}

function manyAccounts(scheme: Scheme): ValidCase[] {
  const world = createWorld(scheme)
  const addresses = Array.from({ length: 300 }, (_, index) => addressFor(`account ${index}`))
  for (const [index, address] of addresses.entries()) world.setAccount(address, { nonce: BigInt(index), balance: 7n })
  const at = (index: number): Hex => addresses[index] ?? '0x'
  const hash = (address: Hex) => hashAccountKey(scheme, address)
  const byHash = [...addresses].sort((a, b) => (hash(a) < hash(b) ? -1 : 1))
  const [first = '0x', last = '0x'] = [byHash[0], byHash.at(-1)]
  const absent = findAbsent(hash, addressFor, addresses)
  const keys = [keyFor(0), keyFor(1), keyFor(2)]
  const address = at(17)
  return [
    { name: 'account', description: 'An account without code, one of 300.', world, address },
    {
      name: 'account-first-leaf',
      description: 'The account with the first leaf that is not HEAD or TAIL.',
      world,
      address: at(0),
    },
    { name: 'account-last-leaf', description: 'The account with the largest leaf index.', world, address: at(299) },
    { name: 'account-smallest-key', description: 'The account next to HEAD in the list.', world, address: first },
    { name: 'account-largest-key', description: 'The account next to TAIL in the list.', world, address: last },
    {
      name: 'account-keys-no-storage',
      description: 'An account with the empty storage root comes with an empty list, whatever keys were asked for.',
      world,
      address,
      storageKeys: keys,
    },
    {
      name: 'account-keys-no-storage-null',
      description: 'An account with the empty storage root; the endpoint sends null for every key.',
      world,
      address,
      storageKeys: keys,
      serve: result => ({ ...result, storageProofs: keys.map(() => null) }),
    },
    {
      name: 'absent-account-between',
      description: 'An absent account between two others.',
      world,
      address: absent.between,
    },
    {
      name: 'absent-account-after-head',
      description: 'The left neighbour is HEAD.',
      world,
      address: absent.afterHead,
    },
    {
      name: 'absent-account-before-tail',
      description: 'The right neighbour is TAIL.',
      world,
      address: absent.beforeTail,
    },
    {
      name: 'absent-account-keys',
      description: 'An absent account between two others, with keys asked for.',
      world,
      address: absent.between,
      storageKeys: keys,
    },
    {
      name: 'json-rpc-response',
      description: 'The whole JSON-RPC response around the result.',
      world,
      address,
      serve: result => ({ jsonrpc: '2.0', id: 1, result }),
    },
    {
      name: 'json-rpc-response-null-error',
      description: 'A JSON-RPC response that says with null that it carries no error.',
      world,
      address,
      serve: result => ({ id: 'a', result, error: null, jsonrpc: '2.0' }),
    },
    {
      name: 'upper-case',
      description: 'Upper-case digits, in the request and in the answer.',
      world,
      address: upper(address),
      serve: result => JSON.parse(JSON.stringify(result).replace(/"0x[0-9a-f]*"/g, hex => upper(hex))),
    },
    {
      name: 'field-order-and-extra-fields',
      description: 'Fields in another order, null for those that do not apply, and some that nobody asked for.',
      world,
      address,
      serve: ({ accountProof, storageProofs }) => ({
        blockNumber: '0x1',
        storageProofs,
        accountProof: { extra: {}, ...reverse(accountProof), leftProof: null, rightLeafIndex: null },
      }),
    },
  ]
}

function upper<T extends string>(hex: T): T {
  return hex.toUpperCase().replace('0X', '0x') as T
}

const reverse = (source: object): object => Object.fromEntries(Object.entries(source).reverse())

function contract(scheme: Scheme): ValidCase[] {
  const world = createWorld(scheme)
  const address = addressFor('contract')
  const single = addressFor('contract with one slot')
  const code = { codeHash: keyFor('code'), snarkCodeHash: wordFor(0x1234n), codeSize: 2227n }
  for (let index = 0; index < 20; index++) world.setAccount(addressFor(`account ${index}`), { balance: BigInt(index) })
  world.setAccount(address, { nonce: 1n, balance: 10n ** 18n, ...code })
  world.setAccount(single, { nonce: 1n, ...code })
  world.setStorage(single, { key: ZERO_WORD, value: wordFor(2) })
  const keys = Array.from({ length: 200 }, (_, index) => keyFor(index))
  for (const [index, key] of keys.entries()) world.setStorage(address, { key, value: wordFor(index + 1) })
  const { between, afterHead, beforeTail } = findAbsent(key => hashStorageKey(scheme, key), keyFor, keys)
  const [present = '0x', other = '0x'] = [keys[3], keys[150]]
  return [
    { name: 'contract', description: 'A contract, no keys asked for.', world, address },
    { name: 'contract-slots', description: 'Two slots present.', world, address, storageKeys: [present, other] },
    {
      name: 'contract-slot-absent-between',
      description: 'A slot absent between two others.',
      world,
      address,
      storageKeys: [between],
    },
    {
      name: 'contract-slot-absent-after-head',
      description: 'A slot absent; its left neighbour is HEAD.',
      world,
      address,
      storageKeys: [afterHead],
    },
    {
      name: 'contract-slot-absent-before-tail',
      description: 'A slot absent; its right neighbour is TAIL.',
      world,
      address,
      storageKeys: [beforeTail],
    },
    {
      name: 'contract-slots-mixed',
      description: 'Present and absent slots, in the order of the request, one of them asked for twice.',
      world,
      address,
      storageKeys: [other, between, present, afterHead, other],
    },
    {
      name: 'contract-one-slot',
      description: 'Slot 0 alone in its tree.',
      world,
      address: single,
      storageKeys: [ZERO_WORD],
    },
    {
      name: 'contract-one-slot-others-absent',
      description: 'Keys before and after the only slot.',
      world,
      address: single,
      storageKeys: [wordFor(1), wordFor(2), wordFor(3), wordFor(MAX_WORD)],
    },
  ]
}

function deletions(scheme: Scheme): ValidCase[] {
  const world = createWorld(scheme)
  const address = addressFor('contract')
  const emptied = addressFor('emptied contract')
  const [gone, back] = [addressFor('account 7'), addressFor('account 9')]
  for (let index = 0; index < 40; index++) world.setAccount(addressFor(`account ${index}`), { balance: BigInt(index) })
  world.setAccount(address)
  world.setAccount(emptied)
  for (let index = 0; index < 30; index++) world.setStorage(address, { key: keyFor(index), value: wordFor(index + 1) })
  for (let index = 0; index < 3; index++) world.setStorage(emptied, { key: keyFor(index), value: wordFor(1) })
  for (let index = 0; index < 3; index++) world.setStorage(emptied, { key: keyFor(index), value: ZERO_WORD })
  for (const key of [keyFor(4), keyFor(5), keyFor(29)]) world.setStorage(address, { key, value: ZERO_WORD })
  world.setStorage(address, { key: keyFor(5), value: wordFor(55) })
  world.setStorage(address, { key: keyFor(6), value: wordFor(66) })
  world.deleteAccount(gone)
  world.deleteAccount(back)
  world.setAccount(back, { nonce: 1n })
  return [
    {
      name: 'account-deleted',
      description: 'An account that was deleted: its neighbours point at each other.',
      world,
      address: gone,
    },
    { name: 'account-reinserted', description: 'Deleted and created again: it has a new leaf.', world, address: back },
    {
      name: 'account-sibling-missing',
      description: 'The sibling leaf was deleted: 32 zero bytes.',
      world,
      address: addressFor('account 6'),
    },
    {
      name: 'slots-deleted-reinserted-updated',
      description: 'A slot deleted, one deleted and written again, one updated, the last one deleted.',
      world,
      address,
      storageKeys: [keyFor(4), keyFor(5), keyFor(6), keyFor(29)],
    },
    {
      name: 'all-slots-deleted',
      description:
        'A tree whose slots were all deleted: HEAD and TAIL are neighbours, but its root is not the empty one.',
      world,
      address: emptied,
      storageKeys: [keyFor(0), keyFor(100)],
    },
  ]
}

function extremes(scheme: Scheme): ValidCase[] {
  const world = createWorld(scheme)
  const rich = addressFor('rich')
  const words = [wordFor(MAX_WORD), wordFor(1), wordFor(BLS12377_ORDER), `0x${'7f000001'.repeat(8)}`] as const
  const balance = scheme.name === 'mimc' ? BLS12377_ORDER - 1n : MAX_WORD
  const max64 = 2n ** 64n - 1n
  world.setAccount(addressFor('low'))
  world.setAccount(rich, {
    nonce: max64,
    balance,
    codeHash: wordFor(MAX_WORD),
    snarkCodeHash: ZERO_WORD,
    codeSize: max64,
  })
  for (const word of words) world.setStorage(rich, { key: word, value: word })

  world.skipLeaves(2 ** 32 + 5)
  world.setAccount(addressFor('above 2^32'))
  world.skipLeaves(2 ** 39 - 1)
  world.setAccount(addressFor('last of the left half'))
  world.setAccount(addressFor('first of the right half'))
  world.skipLeaves(2 ** 40 - 2)
  world.setAccount(addressFor('second to last'), { balance: 3n })
  world.setAccount(addressFor('last'))
  world.skipLeaves(2 ** 40 - 1, rich)
  world.setStorage(rich, { key: keyFor('last'), value: wordFor(9) })
  const absent = [addressFor('nobody'), addressFor('nobody else'), addressFor('nobody at all')]
  return [
    {
      name: 'largest-values',
      description: 'The largest nonce, balance and code size that an account can have.',
      world,
      address: rich,
    },
    {
      name: 'largest-slots',
      description: 'Keys and values that are no field elements: 2^256 - 1, and multiples of the moduli.',
      world,
      address: rich,
      storageKeys: [...words, keyFor('last')],
    },
    {
      name: 'leaf-index-above-2-32',
      description: 'A leaf index that 32 bits cannot hold.',
      world,
      address: addressFor('above 2^32'),
    },
    {
      name: 'leaf-index-2-39',
      description: 'The first leaf right of the middle.',
      world,
      address: addressFor('first of the right half'),
    },
    {
      name: 'leaf-index-2-39-minus-1',
      description: 'The last leaf left of the middle.',
      world,
      address: addressFor('last of the left half'),
    },
    {
      name: 'leaf-index-last',
      description: 'Leaf 2^40 - 1: the tree is full, nextFreeNode is 2^40.',
      world,
      address: addressFor('last'),
    },
    ...absent.map((address, index) => ({
      name: `absent-in-full-tree-${index + 1}`,
      description: 'Neighbours that lie far apart in a full tree.',
      world,
      address,
      storageKeys: [keyFor(0)],
    })),
  ]
}
