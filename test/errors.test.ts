import { expect, it } from 'vitest'
import { answerErrorMeanings, beaconErrorMeanings, evidenceErrorMeanings } from '../src/error-meanings.ts'
import { atPath, ProofError } from '../src/errors.ts'

/** The error that `work` throws. */
function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

it('includes the code, the path, and the known details in the message', () => {
  const path = 'accountProof.key'
  const [expected, found] = ['20 bytes', '3 bytes']
  const messages = [{}, { path }, { expected }, { found }, { path, expected, found }].map(
    details => new ProofError('WRONG_LENGTH', details).message,
  )
  expect(messages).toEqual([
    'WRONG_LENGTH',
    'WRONG_LENGTH at accountProof.key',
    'WRONG_LENGTH: expected 20 bytes',
    'WRONG_LENGTH: found 3 bytes',
    'WRONG_LENGTH at accountProof.key: expected 20 bytes, found 3 bytes',
  ])
  expect(new ProofError('BAD_HEX').message).toBe('BAD_HEX')
})

it('has its details as fields', () => {
  const error = new ProofError('WRONG_LENGTH', { path: 'a', expected: 'b', found: 'c' })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'ProofError', code: 'WRONG_LENGTH', path: 'a', expected: 'b', found: 'c' })
  expect(new ProofError('BAD_HEX')).toMatchObject({ path: '', expected: undefined, found: undefined })
})

it('has a different meaning for each code', () => {
  const families = [answerErrorMeanings, evidenceErrorMeanings, beaconErrorMeanings]
  const meanings = families.flatMap(family => Object.values(family))
  expect(meanings.length).toBeGreaterThan(80)
  expect(new Set(meanings).size).toBe(meanings.length)
  for (const meaning of meanings) expect(meaning).toMatch(/^[A-Zp].+\.$/)
})

it('prefixes the path, and changes nothing else', () => {
  const facts = { expected: 'b', found: 'c' }
  const error = thrown(() =>
    atPath('storageProofs', () =>
      atPath(
        () => '[2]',
        () =>
          atPath('key', () => {
            throw new ProofError('BAD_HEX', facts)
          }),
      ),
    ),
  )
  expect(error).toBeInstanceOf(ProofError)
  expect(error).toMatchObject({ code: 'BAD_HEX', path: 'storageProofs[2].key', ...facts })
  for (const only of [{ expected: 'b' }, { found: 'c' }, {}]) {
    const passedOn = thrown(() =>
      atPath('key', () => {
        throw new ProofError('BAD_HEX', only)
      }),
    )
    expect(passedOn).toMatchObject({ expected: undefined, found: undefined, ...only, path: 'key' })
  }
})

it('passes on results and other errors without computing a path', () => {
  const unasked = () => {
    throw new Error('asked')
  }
  expect(atPath(unasked, () => 7)).toBe(7)
  const other = new RangeError('other')
  expect(
    thrown(() =>
      atPath(unasked, () => {
        throw other
      }),
    ),
  ).toBe(other)
})
