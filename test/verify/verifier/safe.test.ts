import { expect, it } from 'vitest'
import { ArgumentError, isArgumentError, ProofError, safely } from '../../../src/entry/index.ts'
import { refusal } from '../../refusal.ts'

const raise = (error: unknown) => () => {
  throw error
}
const refusals = [new ProofError('BAD_HEX', { path: 'a' }), new ArgumentError({ path: 'b' })]
const others = [new TypeError('x'), 'text', null, undefined, { code: 'BAD_HEX' }]

it('returns what a function returns, or its refusal', () => {
  const value = { account: null }
  const outcome = safely(() => value)
  expect(outcome).toEqual({ ok: true, value })
  if (outcome.ok) expect(outcome.value).toBe(value)
  for (const error of refusals) {
    const refused = safely<number>(raise(error) as () => number)
    expect(refused.ok ? refused : refused.error).toBe(error)
    expect(Object.keys(refused)).toEqual(['ok', 'error'])
  }
  expect(safely(() => undefined)).toEqual({ ok: true, value: undefined })
})

it('does the same for a promise', async () => {
  const pending = safely(async () => 7)
  expect(pending).toBeInstanceOf(Promise)
  expect(await pending).toEqual({ ok: true, value: 7 })
  for (const error of refusals) {
    expect(await safely(() => Promise.reject(error))).toEqual({ ok: false, error })
    // Thrown before there is a promise.
    expect(safely(raise(error) as () => Promise<number>)).toEqual({ ok: false, error })
  }
})

it('passes other errors on, thrown or rejected', async () => {
  for (const other of others) {
    let thrown: unknown = 'nothing'
    try {
      safely(raise(other))
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBe(other)
    await expect(safely(() => Promise.reject(other))).rejects.toBe(other)
  }
  expect(others.length).toBe(5)
})

it('takes a function only', () => {
  for (const wrong of [undefined, null, Promise.resolve(7), { ok: true }]) {
    const error = refusal(() => safely(wrong as never))
    expect(isArgumentError(error)).toBe(true)
    expect(error).toMatchObject({ path: 'verify', expected: 'a function' })
  }
})

it('throws if it is not given a function', () => {
  for (const verify of [undefined, Promise.resolve()]) {
    expect(() => safely(verify as never)).toThrow('ARGUMENT_INVALID at verify: expected a function')
  }
})
