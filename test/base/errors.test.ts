import { expect, it } from 'vitest'
import { allCodes, meaningOf } from '../../src/base/error-meanings.ts'
import {
  ArgumentError,
  atPath,
  brandError,
  describeLength,
  describeText,
  excerpt,
  failure,
  hasBrand,
  isArgumentError,
  isProofError,
  isRefusal,
  kindOf,
  ProofError,
  printable,
} from '../../src/base/errors.ts'

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

it('has a meaning of its own for each code, and none for others', () => {
  const codes = allCodes()
  expect(codes.length).toBeGreaterThan(130)
  expect(new Set(codes.map(meaningOf)).size).toBe(codes.length)
  for (const code of codes) expect(meaningOf(code), code).toMatch(/^[A-Zp].+\.$/)
  expect(meaningOf('BAD_HEX')).toBe('A field is not 0x-prefixed hexadecimal.')
  for (const other of ['', 'NONE', 'toString', 'constructor', '__proto__']) expect(meaningOf(other)).toBe('')
  for (const other of [undefined, null, 1, {}]) expect(meaningOf(other as unknown as string)).toBe('')
})

it('has the fields of a wrong argument', () => {
  const error = new ArgumentError({ path: 'storageKeys[2]', expected: 'b', found: 'c' })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    ...{ name: 'ArgumentError', code: 'ARGUMENT_INVALID', action: 'fix', path: 'storageKeys[2]' },
    ...{ expected: 'b', found: 'c', message: 'ARGUMENT_INVALID at storageKeys[2]: expected b, found c' },
  })
  expect(new ArgumentError({})).toMatchObject({ path: '', expected: undefined, found: undefined })
  expect(new ProofError('BAD_HEX').action).toBe('change')
  expect(String(error.stack)).toContain(error.message)
})

it('takes no details from a polluted Object.prototype', () => {
  const names = ['path', 'expected', 'found']
  for (const name of names) Object.defineProperty(Object.prototype, name, { value: 'polluted', configurable: true })
  try {
    for (const error of [new ProofError('BAD_HEX'), new ProofError('BAD_HEX', {}), new ArgumentError({})]) {
      expect([error.path, error.expected, error.found, error.message.includes('polluted')]).toEqual([
        ...['', undefined, undefined],
        false,
      ])
    }
  } finally {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name)
  }
})

it('recognizes errors by what they are, and by the family of their code', () => {
  const [answer, evidence, beacon, blocks, messages, transition] = [
    new ProofError('BAD_HEX'),
    new ProofError('ANCHOR_NO_ROOT'),
    new ProofError('BEACON_MALFORMED'),
    new ProofError('BLOCK_MALFORMED'),
    new ProofError('MESSAGE_MALFORMED'),
    new ProofError('TRANSITION_MALFORMED'),
  ]
  const argument = new ArgumentError({ path: 'address' })
  for (const error of [answer, evidence, beacon, blocks, messages, transition]) {
    expect([isProofError(error), isArgumentError(error), isRefusal(error)]).toEqual([true, false, true])
  }
  expect([isProofError(argument), isArgumentError(argument), isRefusal(argument)]).toEqual([false, true, true])
  // A code of a later version, and names that every object has.
  for (const code of ['LATER', 'toString', '__proto__']) {
    expect(isProofError(Object.assign(new ProofError('BAD_HEX'), { code }))).toBe(true)
  }
})

it('recognizes nothing else, and never throws', () => {
  const fail = () => {
    throw new Error('a trap')
  }
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const branded = brandError(new Error('x'), 'EndpointError')
  const strangers = [
    ...[undefined, null, true, 0, 1n, '', 'ProofError', Symbol('x'), fail, {}, [], new Error('x'), branded, proxy],
    { name: 'ProofError', code: 'BAD_HEX' },
    Object.assign(new Error('x'), { name: 'ProofError', code: 'BAD_HEX' }),
    new Proxy({}, { get: fail }),
    new Proxy({}, { get: fail, has: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail }),
  ]
  expect(strangers.length).toBe(18)
  for (const stranger of strangers) {
    expect([isProofError(stranger), isArgumentError(stranger), isRefusal(stranger)]).toEqual([false, false, false])
  }
  const forged = [{ get: fail }, { value: { toString: fail } }, { value: 'constructor' }, { value: undefined }].map(
    code => Object.defineProperty(brandError(new Error('x'), 'ProofError'), 'code', code),
  )
  for (const error of forged) expect(isProofError(error)).toBe(true)
  expect([hasBrand(branded, 'EndpointError'), hasBrand(branded, 'ProofError')]).toEqual([true, false])
})

it('does not show the brand in JSON, in copies or in the list of fields', () => {
  const error = new ArgumentError({ path: 'a' })
  expect(Object.keys(error).sort()).toEqual(['action', 'code', 'expected', 'found', 'name', 'path'])
  expect(isArgumentError({ ...error })).toBe(false)
})

it('makes the error of a code', () => {
  expect(failure('ARGUMENT_INVALID', { path: 'a', expected: 'b' })).toEqual(
    new ArgumentError({ path: 'a', expected: 'b' }),
  )
  expect(isArgumentError(failure('ARGUMENT_INVALID', {}))).toBe(true)
  expect(isProofError(failure('BAD_HEX', {}))).toBe(true)
})

it('shortens text to what fits a line', () => {
  expect(printable(`a\u001b[2J\n\u00e9${'x'.repeat(100)}`)).toBe(`a?[2J??${'x'.repeat(73)}`)
  expect(excerpt('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`)
  expect(excerpt('x'.repeat(81))).toBe(`"${'x'.repeat(80)}…" (81 characters)`)
})

it('prefixes the path of a wrong argument, too', () => {
  const raise = (path: string) => () => {
    throw new ArgumentError({ path, expected: 'b', found: 'c' })
  }
  expect(thrown(() => atPath('trusted', raise('network')))).toEqual(
    new ArgumentError({ path: 'trusted.network', expected: 'b', found: 'c' }),
  )
  expect(isArgumentError(thrown(() => atPath('trusted', raise(''))))).toBe(true)
  expect(thrown(() => atPath('trusted', raise('')))).toMatchObject({ path: 'trusted' })
  expect(thrown(() => atPath('keys', raise('[1]')))).toMatchObject({ path: 'keys[1]' })
  expect(thrown(() => atPath('', raise('network')))).toMatchObject({ path: 'network' })
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

it('names the kind of a value, and what was forgotten, without its content', () => {
  const hostile = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error('a trap')
      },
    },
  )
  const cases: [unknown, string][] = [
    [undefined, 'nothing'],
    [null, 'nothing'],
    [{}, 'an object'],
    [hostile, 'an object'],
    [Promise.resolve(), 'a promise: await it first'],
    [new Uint8Array(2), 'bytes, not hexadecimal text'],
    ['x', 'a string'],
    [' \n[1]', 'JSON text: parse it first'],
    ['{', 'JSON text: parse it first'],
    [`${' '.repeat(10)}{`, 'a string'],
    [1, 'a number'],
  ]
  for (const [value, kind] of cases) expect(kindOf(value)).toBe(kind)
})

it('describes text that is not hexadecimal by what is missing', () => {
  const cases: [string, string][] = [
    ['{"a":1}', 'JSON text: parse it first'],
    ['ab'.repeat(20), '20 bytes (an address?) without 0x'],
    ['ab'.repeat(32), '32 bytes (a hash?) without 0x'],
    ['ab'.repeat(64), '64 bytes without 0x'],
    ['a'.repeat(41), 'an odd number of digits'],
    [`0x${'a'.repeat(63)}`, 'an odd number of digits'],
    ['ab'.repeat(65), 'a string of 130 characters'],
    ['ab'.repeat(19), 'a string of 38 characters'],
    [`0x${'zz'.repeat(20)}`, 'a string of 42 characters'],
  ]
  for (const [text, found] of cases) expect(describeText(text)).toBe(found)
  expect([1, 20, 32].map(describeLength)).toEqual(['1 byte', '20 bytes (an address?)', '32 bytes (a hash?)'])
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
