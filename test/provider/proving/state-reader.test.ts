import { expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import { historyContract, historySlot } from '../../../src/entry/blocks.ts'
import { ArgumentError, verifyProof } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import {
  createStateReader,
  type HeldAccount,
  isProven,
  readHistory,
  type StateReader,
  toProvenAccount,
} from '../../../src/provider/proven-state.ts'
import { EMPTY_CODE_HASH } from '../../../src/verify/anchor/contract.ts'
import { at, word } from '../endpoints.ts'

const [ABSENT, PERSON, CONTRACT] = [at('00'), at('a1'), at('c0')]
const CODE_HASH = word(7)
const CODE = Uint8Array.of(1, 2)
const person = { nonce: 1n, balance: 2n, codeHash: EMPTY_CODE_HASH, hasStorage: false }
const contract = { nonce: 3n, balance: 4n, codeHash: CODE_HASH, hasStorage: true }
const accounts = new Map<string, HeldAccount>([
  [ABSENT, { account: null, slots: new Map() }],
  [PERSON, { account: person, slots: new Map() }],
  [CONTRACT, { account: contract, slots: new Map([[word(1), word(9)]]) }],
])

function readerOf(log: unknown[] = []): StateReader {
  return createStateReader({
    async read(...asked) {
      log.push(asked)
      const known = accounts.get(asked[0])
      if (known === undefined) throw new Error('unknown')
      return known
    },
    async readCode(...asked) {
      log.push(asked)
      return CODE
    },
  })
}

it('reads accounts, slots and codes as they are proven', async () => {
  const log: unknown[] = []
  const reader = readerOf(log)
  expect(await reader.getAccount(ABSENT)).toBeNull()
  expect(await reader.getAccount(CONTRACT)).toEqual(contract)
  expect(await reader.getStorage(CONTRACT, word(1))).toBe(word(9))
  expect(await reader.getCode(CONTRACT)).toBe(CODE)
  expect(log).toEqual([[ABSENT], [CONTRACT], [CONTRACT, word(1)], [CONTRACT], [CODE_HASH, CONTRACT]])
  await expect(reader.getAccount(at('77'))).rejects.toThrow('unknown')
})

it('reads zero and no code only if the account proves it', async () => {
  const reader = readerOf()
  for (const address of [ABSENT, PERSON]) {
    expect(await reader.getStorage(address, word(1))).toBe(word(0))
    expect(await reader.getCode(address)).toEqual(new Uint8Array(0))
  }
  await expect(reader.getStorage(CONTRACT, word(2))).rejects.toThrow('not proven')
})

it('tells what needs no further proof', () => {
  expect(isProven(undefined)).toBe(false)
  expect([ABSENT, PERSON, CONTRACT].map(address => isProven(accounts.get(address)))).toEqual([true, true, true])
  expect([ABSENT, PERSON, CONTRACT].map(address => isProven(accounts.get(address), word(2)))).toEqual([
    ...[true, true, false],
  ])
  expect(isProven(accounts.get(CONTRACT), word(1))).toBe(true)
})

it('takes from a verdict what an execution reads', () => {
  for (const scheme of [mimc, poseidon2]) {
    const world = createWorld(scheme)
    world.setAccount(PERSON, { nonce: 1n, balance: 2n })
    world.setAccount(CONTRACT, { nonce: 3n, balance: 4n, codeHash: CODE_HASH })
    world.setStorage(CONTRACT, { key: word(1), value: word(9) })
    const prove = (address: `0x${string}`, storageKeys: `0x${string}`[]) => {
      const answer = world.getProof(address, storageKeys)
      return toProvenAccount(
        verifyProof(answer, { scheme, stateRoot: world.stateRoot(), address, storageKeys }),
        scheme,
      )
    }
    expect(prove(PERSON, [])).toEqual({ account: person, slots: new Map() })
    expect(prove(ABSENT, []).account).toBeNull()
    const slots = new Map([
      [word(1), word(9)],
      [word(2), word(0)],
    ])
    expect(prove(CONTRACT, [word(1), word(2)])).toEqual({ account: contract, slots })
  }
})

it('takes the hash of a block from what is proven, and calls a wrong question no lie', async () => {
  const state = readerOf()
  accounts.set(historyContract, { account: null, slots: new Map([[historySlot(9n), word(0)]]) })
  await expect(readHistory(state, { number: 9n, stateBlock: 10n })).rejects.toMatchObject({
    reason: 'VALUE_UNPROVEN',
    cause: { code: 'HISTORY_NO_CONTRACT' },
  })
  await expect(readHistory(state, { number: 9n, stateBlock: -1n })).rejects.toBeInstanceOf(ArgumentError)
})
