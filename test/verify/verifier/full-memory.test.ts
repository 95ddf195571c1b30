import { expect, it } from 'vitest'
import {
  createVerifier,
  type Outcome,
  type Scheme,
  safely,
  type VerifiedState,
  verifyProof,
} from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { flipBitAt, type Json, partAt, placesOf, replaceAt, type TrueAnswer, trueAnswers } from '../../answers.ts'

const describe = (outcome: Outcome<VerifiedState>) =>
  outcome.ok ? outcome : { code: outcome.error.code, path: outcome.error.path, message: outcome.error.message }

it.each([mimc, poseidon2])('gives the same verdicts with a full memory as with none ($name)', (scheme: Scheme) => {
  const verifier = createVerifier(scheme)
  const answers = trueAnswers(scheme)
  let compared = 0
  const compare = (answer: Json, { stateRoot, address, storageKeys }: TrueAnswer) => {
    const claim = { stateRoot, address, storageKeys }
    const fresh = safely(() => verifyProof(answer, { ...claim, scheme }))
    expect(describe(safely(() => verifier.verifyProof(answer, claim)))).toEqual(describe(fresh))
    compared++
  }
  // In the second round, the verifier has seen all true answers before.
  for (let round = 0; round < 2; round++) {
    for (const asked of answers) {
      compare(asked.answer, asked)
      for (const [index, place] of [...placesOf(asked.answer)].entries()) {
        const part = partAt(asked.answer, place)
        if (typeof part !== 'string' || index % 5 !== round) continue
        compare(
          replaceAt(asked.answer, place, () => flipBitAt(part, index % 80)),
          asked,
        )
      }
      for (const other of answers) compare(asked.answer, other)
    }
  }
  expect(compared).toBeGreaterThan(500)
})
