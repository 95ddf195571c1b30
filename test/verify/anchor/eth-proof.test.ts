import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex, type Hex } from '../../../src/base/bytes.ts'
import { verifyEthProof } from '../../../src/entry/anchor.ts'
import { slotKey } from '../../../src/verify/anchor/contract.ts'
import { createL1, named } from '../../../vectors/evidence/l1.ts'
import { refusal, verdict } from '../../refusal.ts'
import { codeOf } from './helpers.ts'

const ZERO: Hex = `0x${'00'.repeat(32)}`
const NO_CODE = bytesToHex(keccak_256(new Uint8Array(0)))
const EMPTY_TRIE: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const contract = named('contract', 20)
const stored = new Map(
  Array.from({ length: 50 }, (_, slot) => [BigInt(slot), BigInt(named(`${slot}`, 1 + (slot % 32)))]),
)
const l1 = await createL1(contract, stored)
const { stateRoot } = l1

it('proves accounts, slots and their absence', async () => {
  const slots = Array.from({ length: 60 }, (_, slot) => BigInt(slot))
  const proof = await l1.getProof(contract, slots)
  const { account, storage } = verifyEthProof(proof, {
    l1StateRoot: stateRoot,
    address: contract,
    storageKeys: slots.map(slotKey),
  })
  expect(account?.nonce).toBe(1n)
  expect(account?.storageRoot).toBe(proof.storageHash)
  expect(storage.map(({ value }) => BigInt(value))).toEqual(slots.map(slot => stored.get(slot) ?? 0n))
  expect(storage.filter(({ exists }) => exists).length).toBe(50)

  let present = 0
  for (let index = 0; index < 40; index++) {
    const address = named(`L1 account ${index}`, 20)
    const found = verifyEthProof(await l1.getProof(address, []), { l1StateRoot: stateRoot, address }).account
    expect(found).toEqual({ nonce: BigInt(index), balance: 10n ** 18n, storageRoot: EMPTY_TRIE, codeHash: NO_CODE })
    present++
  }
  expect(present).toBe(40)
})

it('accepts both ways of serving an absent account, and believes neither', async () => {
  let absent = 0
  for (let index = 0; index < 20; index++) {
    const address = named(`nobody ${index}`, 20)
    const proof = await l1.getProof(address, [1n])
    const claim = { l1StateRoot: stateRoot, address, storageKeys: [slotKey(1n)] }
    const nothing = { balance: '0x0', nonce: '0x0' }
    for (const redundant of [
      {},
      { storageHash: ZERO, codeHash: ZERO },
      { storageHash: EMPTY_TRIE, codeHash: NO_CODE },
    ]) {
      const { account, storage } = verifyEthProof({ ...proof, ...nothing, ...redundant }, claim)
      expect(account).toBe(null)
      expect(storage).toEqual([{ key: slotKey(1n), value: ZERO, exists: false }])
      absent++
    }
    for (const lie of [{ balance: '0x1' }, { nonce: '0x1' }, { storageHash: named('x') }, { codeHash: named('y') }]) {
      expect(codeOf(() => verifyEthProof({ ...proof, ...lie }, claim))).toBe('L1_PROOF_DISAGREES')
    }
    const slots = [{ key: slotKey(1n), proof: (await l1.getProof(contract, [1n])).storageProof[0]?.proof }]
    expect(codeOf(() => verifyEthProof({ ...proof, storageProof: slots }, claim))).toBe('MPT_HASH_MISMATCH')
  }
  expect(absent).toBe(60)
})

it('refuses zero digests for an account that exists', async () => {
  const proof = await l1.getProof(contract, [])
  for (const lie of [{ storageHash: ZERO }, { codeHash: ZERO }, { storageHash: EMPTY_TRIE }]) {
    const claim = { l1StateRoot: stateRoot, address: contract }
    expect(codeOf(() => verifyEthProof({ ...proof, ...lie }, claim))).toBe('L1_PROOF_DISAGREES')
  }
})

it('accepts a storage key in any hexadecimal form of its number', async () => {
  const proof = await l1.getProof(contract, [1n])
  const [slot] = proof.storageProof
  const claim = { l1StateRoot: stateRoot, address: contract, storageKeys: [slotKey(1n)] }
  const withKey = (key: unknown) => codeOf(() => verifyEthProof({ ...proof, storageProof: [{ ...slot, key }] }, claim))
  for (const key of ['0x1', '0x01', slotKey(1n)]) expect(withKey(key)).toBe(null)
  for (const key of ['1', '0x', '0X1', `0x0${slotKey(1n).slice(2)}`, '0xg', '0x1g', '00x1', ' 0x1', '0x1 '])
    expect(withKey(key)).toBe('BAD_HEX')
  for (const key of ['0x2', '0x10', slotKey(2n)]) expect(withKey(key)).toBe('L1_KEY_MISMATCH')
  for (const key of [1, null, [], {}]) expect(withKey(key)).toBe('L1_PROOF_MALFORMED')
  expect(codeOf(() => verifyEthProof(proof, { ...claim, storageKeys: 'no' as never }))).toBe('ARGUMENT_INVALID')
})

it('says what it expects and what it found', async () => {
  const proof = await l1.getProof(contract, [1n, 2n])
  const storageKeys = [slotKey(1n), slotKey(2n)]
  const claim = { l1StateRoot: stateRoot, address: contract, storageKeys }
  const refusalOf = (change: object) => refusal(() => verifyEthProof({ ...proof, ...change }, claim))
  const storageHash = String(proof.storageHash)
  const [first, second] = proof.storageProof
  const other = named('x', 20)
  const cases: [object, object][] = [
    [{ address: other }, { code: 'L1_KEY_MISMATCH', path: 'address', expected: contract, found: other }],
    [{ nonce: '0x5' }, { code: 'L1_PROOF_DISAGREES', path: 'nonce', expected: '1', found: '5' }],
    [{ balance: '0x0a' }, { code: 'L1_PROOF_DISAGREES', path: 'balance', expected: '0', found: '10' }],
    [{ storageHash: ZERO }, { code: 'L1_PROOF_DISAGREES', path: 'storageHash', expected: storageHash, found: ZERO }],
    [
      { codeHash: ZERO },
      { code: 'L1_PROOF_DISAGREES', path: 'codeHash', expected: Reflect.get(proof, 'codeHash'), found: ZERO },
    ],
    [
      { storageProof: [first, { ...second, key: '0x3' }] },
      { code: 'L1_KEY_MISMATCH', path: 'storageProof[1].key', expected: slotKey(2n), found: slotKey(3n) },
    ],
    [
      { storageProof: [first, { ...second, value: '0x0' }] },
      { code: 'L1_PROOF_DISAGREES', path: 'storageProof[1].value', expected: `${stored.get(2n)}`, found: '0' },
    ],
    [{ storageProof: [first] }, { code: 'L1_STORAGE_PROOF_COUNT', path: 'storageProof', expected: '2', found: '1' }],
    [
      { storageProof: [first, second, second] },
      { code: 'L1_STORAGE_PROOF_COUNT', path: 'storageProof', expected: '2', found: '3' },
    ],
    [
      { balance: 'ten' },
      { code: 'BAD_HEX', path: 'balance', expected: '0x and 1 to 64 hexadecimal digits', found: '"ten"' },
    ],
  ]
  for (const [change, error] of cases) expect(refusalOf(change)).toMatchObject(error)
  expect(cases.length).toBe(10)
  const absent = named('nobody', 20)
  const nothing = { ...(await l1.getProof(absent, [])), storageHash: named('x') }
  expect(refusal(() => verifyEthProof(nothing, { l1StateRoot: stateRoot, address: absent }))).toMatchObject({
    expected: EMPTY_TRIE,
  })
})

it('returns the keys as they were written, one slot for each', async () => {
  const proof = await l1.getProof(contract, [10n, 58n])
  const [lower, upper] = [slotKey(10n), `0x${slotKey(58n).slice(2).toUpperCase()}`] as [Hex, Hex]
  const claim = { l1StateRoot: stateRoot, address: contract }
  const [present, absent] = verifyEthProof(proof, { ...claim, storageKeys: [lower, upper] }).storage
  expect([present.key, present.exists, absent.key, absent.exists]).toEqual([lower, true, upper, false])
  expect(verifyEthProof(await l1.getProof(contract, []), { ...claim, storageKeys: undefined }).storage).toEqual([])
})

it('refuses fields that it does not know, and says which one is missing', async () => {
  const proof = await l1.getProof(contract, [1n])
  const claim = { l1StateRoot: stateRoot, address: contract, storageKeys: [slotKey(1n)] }
  const changed = (change: object) => verdict(() => verifyEthProof(proof, { ...claim, ...change }))
  expect(changed({})).toBe('accepted')
  for (const [change, path] of [
    [{ storagekeys: [] }, 'storagekeys'],
    [{ adress: contract }, 'adress'],
    [{ stateRoot }, 'stateRoot'],
    [{ l1StateRoot: undefined }, 'l1StateRoot'],
    [{ address: undefined }, 'address'],
    [{ storageKeys: [slotKey(1n), '0x12'] }, 'storageKeys[1]'],
    [{ storageKeys: null }, 'storageKeys'],
  ] as const) {
    expect(changed(change)).toBe(`ARGUMENT_INVALID at ${path}`)
  }
})

it('judges each slot of an answer as if it were alone, whatever the slots before have opened', async () => {
  const slots = Array.from({ length: 20 }, (_, slot) => BigInt(3 * slot))
  const whole = await l1.getProof(contract, slots)
  const nodes = [...new Set(whole.storageProof.flatMap(({ proof }) => proof))]
  const verdictOf = (storageProof: typeof whole.storageProof, keys: readonly bigint[]) =>
    verdict(() =>
      verifyEthProof(
        { ...whole, storageProof },
        { l1StateRoot: stateRoot, address: contract, storageKeys: keys.map(slotKey) },
      ),
    )
  let refused = 0
  for (const [index, entry] of whole.storageProof.entries()) {
    const key = slots[index] ?? 0n
    for (const level of entry.proof.keys()) {
      // In place of each node, each other node of the answer: most of them have been opened before.
      for (const node of nodes.filter(node => node !== entry.proof[level])) {
        const changed = { ...entry, proof: entry.proof.with(level, node) }
        const alone = verdictOf([changed], [key])
        const among = verdictOf(whole.storageProof.with(index, changed), slots)
        expect(alone).toMatch(/^MPT_HASH_MISMATCH at storageProof\[0\]/)
        expect(among).toBe(alone.replace('[0]', `[${index}]`))
        refused++
      }
    }
  }
  expect(refused).toBeGreaterThan(500)
})
