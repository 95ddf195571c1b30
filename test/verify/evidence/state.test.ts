import { expect, it } from 'vitest'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createWorld } from '../../../src/entry/world.ts'
import { kindName, stateVerifier, verifyResponse, verifyState } from '../../../src/verify/evidence/state.ts'
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
    const response = { jsonrpc: '2.0', id: 1, result: answer }
    for (const served of [answer, response]) {
      expect(verifyResponse(served, claim)).toEqual(state)
      expect(stateVerifier(scheme)(served, rest)).toEqual(state)
    }
    const refused = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'missing trie node' } }
    for (const verify of [verifyResponse, (served: unknown) => stateVerifier(scheme)(served, rest)]) {
      expect(verdict(() => verify(refused, claim))).toBe('ANSWER_IS_ERROR at error')
    }
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
  expect([mimc, poseidon2, 'ethereum' as const].map(kindName)).toEqual(['mimc', 'poseidon2', 'ethereum'])
})
