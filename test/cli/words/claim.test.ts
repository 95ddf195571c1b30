import { expect, it } from 'vitest'
import { type ClaimWithSources, completeClaim, isProblem } from '../../../src/cli/words/answer.ts'
import type { AnswerFile, StatedClaim } from '../../../src/cli/words/input-file.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { answer, answerFile, claim, contract } from './files.ts'

function complete(stated: StatedClaim, file: AnswerFile): ClaimWithSources {
  const completed = completeClaim(stated, file)
  if (isProblem(completed)) throw new Error(JSON.stringify(completed))
  return completed
}

const bare = answerFile(answer)
const recording = answerFile({ ...claim, result: answer })
const stated = { scheme: 'poseidon2', stateRoot: claim.stateRoot }

it('takes the claim of a vector or recording from the file', () => {
  for (const file of [recording, answerFile(contract)]) {
    expect(complete({}, file)).toEqual({
      claim: { ...claim, scheme: poseidon2 },
      sources: { scheme: 'file', stateRoot: 'file', address: 'file', storageKeys: 'file' },
    })
  }
})

it('prefers what the user states, part by part', () => {
  const other = `0x${'11'.repeat(32)}`
  const { claim: mixed, sources } = complete({ stateRoot: other, storageKeys: [other] }, recording)
  expect(mixed).toEqual({ ...claim, scheme: poseidon2, stateRoot: other, storageKeys: [other] })
  expect(sources).toEqual({ scheme: 'file', stateRoot: 'user', address: 'file', storageKeys: 'user' })
  // An empty text is stated too, for the verifier to refuse.
  expect(complete({ address: '' }, recording)).toMatchObject({ claim: { address: '' }, sources: { address: 'user' } })
  // Stating no keys differs from not stating any.
  expect(complete({ storageKeys: [] }, recording)).toMatchObject({
    ...{ claim: { storageKeys: [] }, sources: { storageKeys: 'user' } },
  })
})

it('takes from the answer itself only the address and the keys', () => {
  const mixed = complete(stated, bare)
  expect(mixed.claim).toEqual({ ...claim, scheme: poseidon2 })
  expect(mixed.sources).toEqual({ scheme: 'user', stateRoot: 'user', address: 'answer', storageKeys: 'answer' })
})

it('counts null as not stated by a file', () => {
  const nulls = answerFile({ ...claim, stateRoot: null, address: null, storageKeys: null, result: answer })
  expect(completeClaim({}, nulls)).toEqual({ problem: 'stateRoot' })
  expect(complete({ stateRoot: claim.stateRoot }, nulls).sources).toEqual({
    ...{ scheme: 'file', stateRoot: 'user', address: 'answer', storageKeys: 'answer' },
  })
})

it('says why there is no claim', () => {
  // The form of the answer shows the scheme.
  expect(completeClaim({}, bare)).toEqual({ problem: 'stateRoot' })
  expect(completeClaim({ scheme: 'poseidon2' }, bare)).toEqual({ problem: 'stateRoot' })
  expect(completeClaim({ scheme: 'keccak' }, bare)).toEqual({ problem: 'scheme', found: 'keccak' })
  expect(completeClaim({}, answerFile({ ...claim, scheme: 7, result: answer }))).toEqual({
    problem: 'scheme',
    found: 7,
  })
  const [first] = answer.storageProofs
  const unnamed = { ...bare, answer: { ...answer, storageProofs: [first, null] } }
  expect(completeClaim(stated, unnamed)).toEqual({ problem: 'storageKeys', found: 1 })
  expect(complete({ ...stated, storageKeys: [] }, unnamed).claim.storageKeys).toEqual([])
  expect(isProblem({ problem: 'scheme' })).toBe(true)
})

it('leaves malformed parts to the verifier', () => {
  const odd = { ...claim, stateRoot: 7, address: ['x'], storageKeys: 3 }
  expect(complete({}, answerFile({ ...odd, result: answer })).claim).toEqual({ ...odd, scheme: poseidon2 })
  const nameless = { ...bare, answer: { ...answer, accountProof: { ...answer.accountProof, key: 'x' } } }
  expect(complete(stated, nameless).claim.address).toBe(`0x${'00'.repeat(20)}`)
})
