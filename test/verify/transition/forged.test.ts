import { beforeEach, expect, it } from 'vitest'
import { bytesToHex, hexToBytes } from '../../../src/base/bytes.ts'
import type { Trace } from '../../../src/devnet/index.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { verifyTransition } from '../../../src/entry/transition.ts'
import { hashSchemeOf } from '../../../src/verify/scheme/scheme.ts'
import { rootOf } from '../../../src/verify/transition/trace.ts'
import { createLedger } from '../../../vectors/transitions/ledger.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'
import { refusal, verdict } from '../../refusal.ts'

/** Blocks that no world writes, and what is said about those that are refused. */

const scheme = hashSchemeOf(poseidon2)
const [A, B] = [addressFor('a'), addressFor('b')]
const [K, L, M, N] = [0, 1, 2, 3].map(keyFor) as [Hex, Hex, Hex, Hex]
const [ZERO, ONE, TWO, THREE] = [0, 1, 2, 3].map(wordFor) as [Hex, Hex, Hex, Hex]
const LIMIT = 2 ** 40

let ledger: ReturnType<typeof createLedger>
let parentStateRoot: Hex
beforeEach(() => {
  ledger = createLedger(scheme)
  ledger.plant(A, { [K]: ONE, [L]: ONE, [M]: ONE })
  ledger.plant(B, {})
  parentStateRoot = ledger.stateRoot()
})

const verify = (...traces: Trace[]) =>
  verifyTransition({ zkStateMerkleProof: [traces] }, { scheme: poseidon2, parentStateRoot })
const at = (index: number) => `zkStateMerkleProof[0][${index}]`

it('lists a slot that is written twice once, from its first value to its last', () => {
  const traces = [ledger.slot(A, K, TWO), ledger.slot(A, L, ZERO), ledger.slot(A, K, THREE), ledger.write(A, 2n)]
  expect(verify(...traces).blocks[0]?.accounts[0]?.storage).toEqual([
    { key: K, before: ONE, after: THREE },
    { key: L, before: ONE, after: ZERO },
  ])
})

it('knows an account that is written as it was from one that is changed', () => {
  const changedBy = (nonce: bigint) => verify(ledger.write(B, nonce)).blocks[0]?.accounts[0]?.changed
  expect(changedBy(1n)).toBe(false)
  expect(changedBy(2n)).toBe(true)
})

it('takes an index below 2^40, and a next free node of at most that', () => {
  const trace = ledger.read(B)
  const { subRoot, proof, leaf } = trace
  const opened = { subRoot: hexToBytes(String(subRoot), 32), nextFreeNode: LIMIT }
  parentStateRoot = bytesToHex(rootOf(scheme, opened))
  const full = { ...trace, nextFreeNode: LIMIT }
  expect(verdict(() => verify(full))).toBe('accepted')
  // Without the bit above the last level, this is another name of leaf 0.
  for (const index of [LIMIT, LIMIT + 1]) {
    const elsewhere = { ...full, proof: { ...Object(proof), leafIndex: index } }
    expect(verdict(() => verify(elsewhere))).toBe(`INDEX_OUT_OF_RANGE at ${at(0)}.proof.leafIndex`)
    const linked = { ...full, leaf: { ...Object(leaf), prevLeaf: index } }
    expect(verdict(() => verify(linked))).toBe(`INDEX_OUT_OF_RANGE at ${at(0)}.leaf.prevLeaf`)
  }
})

it('takes no insertion below the first free node', () => {
  const insertion = { ...ledger.slot(A, N, ONE), newNextFreeNode: 2 }
  expect(refusal(() => verify(insertion, ledger.write(A, 2n)))).toMatchObject({
    ...{ code: 'INDEX_OUT_OF_RANGE', path: `${at(0)}.newNextFreeNode`, expected: `an integer from 3 to ${LIMIT}` },
  })
})

it('demands links in both directions, whatever the trusted root commits to', () => {
  const { left: first, right: last } = ledger.leafOf(A, ledger.middleOf([K, L, M]))
  const middle = [2, 3, 4].find(index => index !== first && index !== last) ?? 0
  // HEAD and the last leaf point at the new one. Their former neighbours still point at them.
  ledger.insertAt(A, N, { left: 0, right: last })
  ledger.write(A, 2n)
  parentStateRoot = ledger.stateRoot()
  const absent = (left: number, right: number) =>
    refusal(() => verify(ledger.absentBetween(A, keyFor(9), { left, right }), ledger.read(A)))
  expect(absent(0, first)).toMatchObject({ code: 'TRACE_NOT_NEIGHBOURS', expected: `leftProof: next ${first}` })
  expect(absent(middle, last)).toMatchObject({ code: 'TRACE_NOT_NEIGHBOURS', expected: `rightProof: prev ${middle}` })
})

it('says where in its block a refused trace is', () => {
  const traces = [ledger.slot(A, K, TWO), ledger.slot(A, L, TWO), ledger.write(A, 2n)]
  const [first, second, last] = traces as [Trace, Trace, Trace]
  expect(verdict(() => verify(first, second, { ...last, newSubRoot: ZERO }))).toBe(`TRACE_RESULT_MISMATCH at ${at(2)}`)
  expect(verdict(() => verify(first, { ...second, newSubRoot: ZERO }, last))).toBe(`TRACE_RESULT_MISMATCH at ${at(1)}`)
})

it('says which account is out of order', () => {
  const segments = [[ledger.slot(A, K), ledger.read(A)], [ledger.read(B)]]
  const [high = [], low = []] = ledger.compare(A, B) < 0 ? segments.toReversed() : segments
  expect(verdict(() => verify(...low, ...high))).toBe('accepted')
  expect(verdict(() => verify(...high, ...low))).toBe(`SEGMENT_ORDER at ${at(high.length)}`)
})

it('says what it expected and found', () => {
  const said = (...traces: Trace[]) => {
    const { code, expected, found } = refusal(() => verify(...traces))
    return [code, expected, found]
  }
  const C = addressFor('c')
  const absent = [ledger.slot(C, K), ledger.read(C)]
  expect(said(...absent)).toEqual(['TRACE_NOT_ALLOWED', 'before type 1 of the account, one of none', 'type 1'])
  const { leaf } = ledger.slot(A, K)
  const gap = ledger.slot(A, N)
  const { leftLeaf, rightLeaf } = gap
  const [hKey, left, right] = [leaf, leftLeaf, rightLeaf].map(one => Reflect.get(Object(one), 'hkey'))
  expect(said({ ...gap, key: K }, ledger.read(A))).toEqual([
    ...['TRACE_KEY_NOT_BETWEEN', `above ${left}, below ${right}`, hKey],
  ])
  const [written, other] = [ledger.slot(A, K, TWO), ledger.slot(A, L, TWO)]
  const { newSubRoot } = written
  const place = (subRoot: unknown) => `sub-root ${subRoot}, next free node 5`
  expect(said(written, { ...other, oldSubRoot: ZERO }, ledger.write(A, 2n))).toEqual([
    ...['TRACE_NOT_CONTINUOUS', place(newSubRoot), place(ZERO)],
  ])
  const deleted = [ledger.slot(A, M, TWO), ledger.remove(A)] as const
  expect(said(...deleted)).toEqual(['TRACE_NOT_ALLOWED', 'before type 4 of the account, one of 0, 1', 'type 3'])
  const failed = { error: { code: -32000, message: 'no such block' } }
  expect(refusal(() => verifyTransition(failed, { scheme: poseidon2, parentStateRoot }))).toMatchObject({
    ...{ code: 'ANSWER_IS_ERROR', path: 'error', found: '"no such block"' },
  })
})
