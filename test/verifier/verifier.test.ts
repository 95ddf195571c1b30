import { expect, it } from 'vitest'
import { createVerifier, ProofError, safely, verifyProof } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { trueAnswers } from '../answers.ts'

const describe = (outcome: Outcome<VerifiedState>) =>
  outcome.ok ? outcome : { code: outcome.error.code, path: outcome.error.path, message: outcome.error.message }

it('throws from verifyProof what it returns from safeVerifyProof', () => {
  const verifier = createVerifier(poseidon2)
  const claim = { stateRoot: `0x${'00'.repeat(32)}`, address: `0x${'00'.repeat(20)}` } as const
  expect(() => verifier.verifyProof({}, claim)).toThrow(ProofError)
  expect(safely(() => verifier.verifyProof({}, claim))).toMatchObject({
    ok: false,
    error: { code: 'MALFORMED_RESPONSE' },
  })
})

it('accepts every claim and every scheme that verifyProof accepts', () => {
  const [asked] = trueAnswers(poseidon2)
  if (asked === undefined) throw new Error('an answer')
  const { stateRoot, address, storageKeys } = asked
  class Asked {
    get stateRoot() {
      return stateRoot
    }
  }
  const claims = [Object.assign(new Asked(), { address, storageKeys }), Object.create({ stateRoot, address })]
  const verifier = createVerifier(Object.create(poseidon2))
  for (const claim of claims) {
    const withScheme = Object.assign(Object.create(claim), { scheme: poseidon2 })
    expect(safely(() => verifyProof(asked.answer, withScheme))).toMatchObject({ ok: true })
    expect(safely(() => verifier.verifyProof(asked.answer, claim))).toMatchObject({ ok: true })
  }
  for (const claim of [null, undefined, 5]) {
    const outcome = safely(() => verifier.verifyProof(asked.answer, claim as never))
    expect(describe(outcome)).toMatchObject({ code: 'ARGUMENT_INVALID', path: 'stateRoot' })
  }
})

it('returns no object from its memory', () => {
  const [asked] = trueAnswers(poseidon2)
  if (asked === undefined) throw new Error('an answer')
  const { answer, truth, stateRoot, address, storageKeys } = asked
  const claim = { stateRoot, address, storageKeys }
  const verifier = createVerifier(poseidon2)
  for (let round = 0; round < 2; round++) {
    const state = verifier.verifyProof(answer, claim)
    expect(state).toEqual(truth)
    // Changing a returned object must not affect later calls.
    Object.assign(state.account ?? {}, { balance: 0n, storageRoot: '0x' })
  }
})
