import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createStateVerifier, kindName, stateKind, verifyState } from '../../../src/verify/state/kind.ts'
import { createL1 } from '../../../vectors/evidence/l1.ts'
import { absent, address, present, value } from '../../../vectors/evidence/truth.ts'
import { verdict } from '../../refusal.ts'

const world = createWorld(poseidon2)
world.setAccount(address, { nonce: 1n })
world.setStorage(address, { key: present, value })
const ethereum = await createL1(address, new Map([[BigInt(present), BigInt(value)]]))
const asked = { address, storageKeys: [present, absent] }
const STATES = [
  {
    claim: { scheme: poseidon2, stateRoot: world.stateRoot(), ...asked },
    answer: world.getProof(address, asked.storageKeys),
  },
  {
    claim: { scheme: 'ethereum', stateRoot: ethereum.stateRoot, ...asked },
    answer: await ethereum.getProof(address, asked.storageKeys.map(BigInt)),
  },
] as const

it('verifies a result, or the response around it, of either kind of state', () => {
  for (const { claim, answer } of STATES) {
    const { scheme, ...rest } = claim
    const state = verifyState(answer, claim)
    expect(state.account?.nonce).toBe(1n)
    expect(state.storage.map(({ exists, value }) => exists && value)).toEqual([value, false])
    const verify = createStateVerifier(scheme)
    const response = { jsonrpc: '2.0', id: 1, result: answer }
    for (const served of [answer, response]) expect(verify(served, rest)).toEqual(state)
    const refused = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'missing trie node' } }
    expect(verdict(() => verify(refused, rest))).toBe('ANSWER_IS_ERROR at error')
    // The root has one name for the caller, whatever it is the root of.
    for (const stateRoot of ['0x12', undefined]) {
      expect(verdict(() => verifyState(answer, { ...claim, stateRoot: stateRoot as '0x' }))).toBe(
        'ARGUMENT_INVALID at stateRoot',
      )
    }
  }
  const [sparse, trie] = STATES
  expect(verdict(() => verifyState(trie.answer, sparse.claim))).toBe('FOREIGN_PROOF')
  expect(verdict(() => verifyState(sparse.answer, trie.claim))).toBe('L1_PROOF_MALFORMED at accountProof')
})

it('knows three kinds', () => {
  const kinds = [mimc, poseidon2, 'ethereum' as const].map(stateKind)
  expect(kinds.map(({ name, held, method }) => [name, held, method])).toEqual([
    ['mimc', 'stateRoot', null],
    ['poseidon2', 'stateRoot', null],
    ['ethereum', 'blockHash', 'eth_getProof'],
  ])
  expect(kinds.map(({ scheme }) => stateKind(scheme).name)).toEqual(kinds.map(({ name }) => name))
  expect(kinds.map(({ scheme }) => kindName(scheme))).toEqual(kinds.map(({ name }) => name))
  for (const other of ['mimc', 'Ethereum', Object('ethereum'), null, { ...kinds[0] }]) {
    expect(verdict(() => stateKind(other as never))).toBe('ARGUMENT_INVALID at scheme')
  }
})

it('is asked by everything else, which need not know what a kind is called', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  const count = (pattern: RegExp) =>
    files.flatMap(file => readFileSync(`src/${file}`, 'utf8').match(pattern) ?? []).length
  expect(files.length).toBeGreaterThan(200)
  expect(count(/'ethereum'/g)).toBeLessThanOrEqual(8)
  expect(count(/[!=]== ETHEREUM/g)).toBeLessThanOrEqual(5)
})
