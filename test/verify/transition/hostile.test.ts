import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { verifyTransition } from '../../../src/entry/transition.ts'
import type { ValidTransition } from '../../../vectors/transitions/generate.ts'
import { randomOf } from '../../random.ts'
import { verdict } from '../../refusal.ts'
import { sized } from '../../size.ts'
import { changeEverywhere } from './helpers.ts'

const { input }: ValidTransition = JSON.parse(readFileSync('vectors/transitions/valid/poseidon2-history.json', 'utf8'))
const { parentStateRoot, stateRoot = '0x' } = input
const claim = { scheme: poseidon2, parentStateRoot, stateRoot }
const verify = (answer: unknown) => verdict(() => verifyTransition(answer, { scheme: poseidon2, parentStateRoot }))
const listed = (zkStateMerkleProof: unknown) => verify({ zkStateMerkleProof })

it('refuses every change of a true history, or says the same', () => {
  const count = sized(120)
  const { refused, same, codes, lies } = changeEverywhere(input.answer, claim, { random: randomOf(7), count })
  expect(lies).toEqual([])
  expect(refused + same).toBe(count)
  expect(refused).toBeGreaterThan(count / 2)
  expect(codes.size).toBeGreaterThan(6)
})

it('refuses what is no answer', () => {
  for (const other of [undefined, null, 7, 'text', () => 1, Symbol('a')]) {
    expect(verify(other)).toBe('TRANSITION_MALFORMED')
    expect(listed(other)).toBe('TRANSITION_MALFORMED at zkStateMerkleProof')
    expect(listed([other])).toBe('TRANSITION_MALFORMED at zkStateMerkleProof[0]')
    expect(listed([[other]])).toBe('TRANSITION_MALFORMED at zkStateMerkleProof[0][0]')
  }
  expect(verify({ error: { code: 1 } })).toBe('ANSWER_IS_ERROR at error')
  expect(verify({ error: 'text' })).toBe('TRANSITION_MALFORMED at error')
})

it('reads no more of a list than it may be long', () => {
  const read: PropertyKey[] = []
  const endless = new Proxy([], {
    get: (_, name) => {
      read.push(name)
      return 1e9
    },
    getOwnPropertyDescriptor: () => ({ value: 1e9, writable: true, configurable: false }),
  })
  expect(listed(endless)).toBe('TRANSITION_TOO_LARGE at zkStateMerkleProof')
  expect(read).toEqual(['length'])
  const many = new Proxy([], { get: () => 2 ** 20 + 1, getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor })
  expect(listed([many])).toBe('TRANSITION_TOO_LARGE at zkStateMerkleProof[0]')
  expect(listed(Array.from({ length: 8193 }, () => []))).toBe('TRANSITION_TOO_LARGE at zkStateMerkleProof')
  expect(listed(Array.from({ length: 8192 }, () => []))).toBe('accepted')
})

it('throws nothing else for getters and proxies', () => {
  const trap = () => {
    throw new Error('a trap')
  }
  const getter = Object.defineProperty({}, 'zkStateMerkleProof', { get: trap, enumerable: true })
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const throwing = new Proxy({}, { getOwnPropertyDescriptor: trap, get: trap })
  for (const hostile of [getter, proxy, throwing]) {
    expect(verify(hostile)).toMatch(/^TRANSITION_MALFORMED/)
    expect(listed([[hostile]])).toMatch(/^TRANSITION_MALFORMED/)
  }
})
