import { Address, createAccount } from '@ethereumjs/util'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { loadEvm } from '../../../src/provider/evm-packages.ts'
import { createEvmState } from '../../../src/provider/evm-state.ts'
import { randomOf } from '../../random.ts'
import { at, word } from '../endpoints.ts'
import { bytesOf, type FullState } from '../full-state.ts'
import { readerOver } from './full-reader.ts'

const [ALICE, CONTRACT, NEW] = [at('a1'), at('c0'), at('ee')]
const [alice, contract, fresh] = [ALICE, CONTRACT, NEW].map(hex => new Address(bytesOf(hex))) as [
  ...[Address, Address, Address],
]
const key = (number: number) => bytesOf(word(number))
const state: FullState = new Map([
  [ALICE, { nonce: 5n, balance: 9n }],
  [CONTRACT, { nonce: 1n, code: '0x6001', storage: { [word(1)]: word(0x1234) } }],
])
const setUp = async () => createEvmState(readerOver(state), await loadEvm())

it('reads what is proven, in the form that the EVM expects', async () => {
  const evmState = await setUp()
  const account = await evmState.getAccount(alice)
  expect([account?.nonce, account?.balance]).toEqual([5n, 9n])
  expect(bytesToHex(account?.codeHash ?? new Uint8Array())).toBe(bytesToHex(keccak_256(new Uint8Array(0))))
  // The root of an empty trie in Ethereum: the EVM creates contracts only where it finds this.
  expect(bytesToHex(account?.storageRoot ?? new Uint8Array())).toBe(
    '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  )
  expect((await evmState.getAccount(contract))?.storageRoot).toEqual(new Uint8Array(32))
  expect(await evmState.getAccount(fresh)).toBeUndefined()
  expect(await evmState.getCode(contract)).toEqual(Uint8Array.of(0x60, 1))
  expect((await evmState.getCode(alice)).length).toBe(0)
  expect((await evmState.getCode(fresh)).length).toBe(0)
  expect(await evmState.getStorage(contract, key(1))).toEqual(Uint8Array.of(0x12, 0x34))
  expect(await evmState.getStorage(contract, key(2))).toEqual(new Uint8Array(0))
})

it('reads no code where there is no account, and that of the reader after a write to its other fields', async () => {
  const refuse = () => Promise.reject(new Error('there is none'))
  const evmState = createEvmState({ ...readerOver(state), getCode: refuse }, await loadEvm())
  expect((await evmState.getCode(fresh)).length).toBe(0)
  await expect(evmState.getCode(contract)).rejects.toThrow('there is none')
  const other = await setUp()
  await other.modifyAccountFields(contract, { balance: 7n })
  expect(bytesToHex(await other.getCode(contract))).toBe('0x6001')
  expect((await other.getCode(alice)).length).toBe(0)
  await other.putAccount(contract)
  expect((await other.getCode(contract)).length).toBe(0)
})

it('notes what is read: accounts, slots of accounts with storage, codes', async () => {
  const evmState = await setUp()
  for (const address of [fresh, alice]) {
    expect((await evmState.getStorage(address, key(1))).length).toBe(0)
    expect((await evmState.getCode(address)).length).toBe(0)
  }
  const { slots, codes } = evmState.reads
  expect([...slots]).toEqual([
    [NEW, new Set()],
    [ALICE, new Set()],
  ])
  expect(codes.size).toBe(0)
  // What was written before is not read.
  await evmState.putStorage(contract, key(2), key(7))
  await evmState.getStorage(contract, key(2))
  expect(slots.has(CONTRACT)).toBe(false)
  await evmState.getStorage(contract, key(1))
  await evmState.found.getStorage(CONTRACT, word(3))
  await evmState.getCode(contract)
  expect(slots.get(CONTRACT)).toEqual(new Set([word(1), word(3)]))
  expect([...codes]).toEqual([[bytesToHex(keccak_256(bytesOf('0x6001'))), bytesOf('0x6001')]])
})

it('gives copies of accounts, so that only writes change the state', async () => {
  const evmState = await setUp()
  const account = await evmState.getAccount(alice)
  if (account) account.balance = 1n
  expect((await evmState.getAccount(alice))?.balance).toBe(9n)
  await evmState.putAccount(alice, account)
  if (account) account.balance = 2n
  expect((await evmState.getAccount(alice))?.balance).toBe(1n)
  await evmState.putAccount(alice)
  expect(await evmState.getAccount(alice)).toBeUndefined()
})

it('writes codes, slots and fields of accounts', async () => {
  const evmState = await setUp()
  const code = Uint8Array.of(1, 2, 3)
  await evmState.putCode(fresh, code)
  expect(await evmState.getCode(fresh)).toBe(code)
  expect((await evmState.getAccount(fresh))?.codeHash).toEqual(keccak_256(code))
  await evmState.modifyAccountFields(alice, { balance: 0n })
  const account = await evmState.getAccount(alice)
  expect([account?.nonce, account?.balance]).toEqual([5n, 0n])
  await evmState.putStorage(contract, key(1), key(7))
  expect(await evmState.getStorage(contract, key(1))).toEqual(Uint8Array.of(7))
  await evmState.putStorage(contract, key(1), key(0))
  expect(await evmState.getStorage(contract, key(1))).toEqual(new Uint8Array(0))
  // The gas of a write depends on the value before the call.
  expect(await evmState.originalStorageCache.get(contract, key(1))).toEqual(Uint8Array.of(0x12, 0x34))
})

it('empties what was written to the storage of a contract, and only there', async () => {
  const evmState = await setUp()
  await evmState.putStorage(fresh, key(1), key(7))
  await evmState.putStorage(contract, key(1), key(8))
  await evmState.clearStorage(fresh)
  expect(await evmState.getStorage(fresh, key(1))).toEqual(new Uint8Array(0))
  expect(await evmState.getStorage(contract, key(1))).toEqual(Uint8Array.of(8))
})

it('undoes writes back to a checkpoint, unless it was committed', async () => {
  const evmState = await setUp()
  const balance = async () => (await evmState.getAccount(alice))?.balance
  const slot = async () => (await evmState.getStorage(contract, key(1)))[0]
  const write = async (value: number) => {
    await evmState.putAccount(alice, createAccount({ balance: BigInt(value) }))
    await evmState.putStorage(contract, key(1), key(value))
    await evmState.putCode(fresh, Uint8Array.of(value))
  }
  const seen = async () => [await balance(), await slot(), (await evmState.getCode(fresh))[0]]
  await evmState.checkpoint()
  await write(1)
  await evmState.checkpoint()
  await write(2)
  await evmState.checkpoint()
  await write(3)
  await evmState.commit()
  expect(await seen()).toEqual([3n, 3, 3])
  await evmState.revert()
  expect(await seen()).toEqual([1n, 1, 1])
  await evmState.revert()
  expect(await seen()).toEqual([9n, 0x12, undefined])
  expect(await evmState.getAccount(fresh)).toBeUndefined()
  // Without a checkpoint, everything is undone.
  await write(4)
  await evmState.revert()
  expect(await seen()).toEqual([9n, 0x12, undefined])
  // From then on, nothing is.
  await write(5)
  await evmState.commit()
  await evmState.revert()
  expect(await seen()).toEqual([5n, 5, 5])
})

it('undoes what is written in whatever order frames end', async () => {
  const random = randomOf(11)
  const below = (count: number) => Math.floor(random() * count)
  const evmState = await setUp()
  const addresses = [alice, contract, fresh]
  /** What is written now, and what each open frame found. */
  let now = new Map<string, number>()
  const open: (typeof now)[] = []
  for (let step = 1; step < 5000; step++) {
    const index = below(3)
    const address = addresses[index] as Address
    const kind = below(open.length > 5 ? 7 : 9)
    if (kind < 2) {
      await evmState.putAccount(address, createAccount({ balance: BigInt(step) }))
      now.set(`balance ${index}`, step)
    } else if (kind === 2) {
      await evmState.putStorage(address, key(1), key(step))
      now.set(`slot ${index}`, step)
    } else if (kind === 3) {
      await evmState.putCode(address, key(step))
      now.set(`code ${index}`, step)
    } else if (kind < 7) {
      const found = open.pop()
      if (found === undefined) continue
      if (kind === 4) now = found
      await (kind === 4 ? evmState.revert() : evmState.commit())
    } else {
      open.push(new Map(now))
      await evmState.checkpoint()
    }
    const { accounts, slots, codes } = evmState.written
    for (const [at, one] of addresses.entries()) {
      const hex = bytesToHex(one.bytes)
      const balance = now.get(`balance ${at}`)
      if (balance !== undefined) expect(accounts.get(hex)?.balance).toBe(BigInt(balance))
      const code = codes.get(hex)
      expect(code && Number(bytesToHex(code))).toBe(now.get(`code ${at}`))
      const slot = slots.get(hex + word(1))
      expect(slot && Number(bytesToHex(slot))).toBe(now.get(`slot ${at}`))
    }
  }
})

it('ends with the first error, whatever the EVM makes of it', async () => {
  const [first, second] = [new Error('first'), new Error('second')]
  let error = first
  const failing = createEvmState({ ...readerOver(state), getStorage: () => Promise.reject(error) }, await loadEvm())
  failing.verifyIntact()
  await expect(failing.getStorage(contract, key(1))).rejects.toBe(first)
  expect(() => failing.verifyIntact()).toThrow(first)
  error = second
  await expect(failing.getStorage(contract, key(2))).rejects.toBe(first)
  await expect(failing.getAccount(alice)).rejects.toBe(first)
  expect(() => failing.fail(second)).toThrow(first)
})

it('ends if the EVM does what is not part of a call', async () => {
  const evmState = await setUp()
  expect(evmState.originalStorageCache.clear).toThrow('not part of a call')
  expect(evmState.verifyIntact).toThrow('not part of a call')
})
