import { expect, it } from 'vitest'
import {
  createVerifier,
  type Outcome,
  ProofError,
  safely,
  type VerifiedState,
  verifyProof,
} from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { trueAnswers } from '../../answers.ts'

const describe = (outcome: Outcome<VerifiedState>) =>
  outcome.ok ? outcome : { code: outcome.error.code, path: outcome.error.path, message: outcome.error.message }

it('throws what `safely` returns', () => {
  const verifier = createVerifier(poseidon2)
  const claim = { stateRoot: `0x${'00'.repeat(32)}`, address: `0x${'00'.repeat(20)}` } as const
  expect(() => verifier.verifyProof({}, claim)).toThrow(ProofError)
  expect(safely(() => verifier.verifyProof({}, claim))).toMatchObject({
    ok: false,
    error: { code: 'MALFORMED_RESPONSE' },
  })
})

it('accepts every claim that verifyProof accepts, without the scheme', () => {
  const [asked] = trueAnswers(poseidon2)
  if (asked === undefined) throw new Error('an answer')
  const { stateRoot, address, storageKeys } = asked
  const claim = { stateRoot, address, storageKeys }
  const verifier = createVerifier(poseidon2)
  const getter = {
    ...claim,
    get stateRoot() {
      return stateRoot
    },
  }
  const withoutPrototype = Object.assign(Object.create(null), claim)
  for (const accepted of [claim, getter, withoutPrototype, Object.freeze({ ...claim })]) {
    expect(verifyProof(asked.answer, { ...accepted, scheme: poseidon2 })).toEqual(asked.truth)
    expect(verifier.verifyProof(asked.answer, accepted)).toEqual(asked.truth)
  }
  const refusals: [claim: unknown, path: string][] = [
    [null, ''],
    [undefined, ''],
    [5, ''],
    [[claim], ''],
    [Object.create(claim), ''],
    [{ stateRoot, storageKeys }, 'address'],
    [{ ...claim, scheme: poseidon2 }, 'scheme'],
  ]
  for (const [refused, path] of refusals) {
    const outcome = safely(() => verifier.verifyProof(asked.answer, refused as never))
    expect(describe(outcome)).toMatchObject({ code: 'ARGUMENT_INVALID', path })
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
