import { expect, it } from 'vitest'
import {
  attempt,
  decodeHex,
  describeDetails,
  isHexOf,
  isLeafIndex,
  nameLeafIndex,
  readBytes,
  readLevels,
} from '../../../src/cli/words/layout.ts'
import { ArgumentError, ProofError } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { answer, contract, read } from './files.ts'

const { leafIndex, proof } = answer.accountProof
const nodes: string[] = proof.proofRelatedNodes

it('reads hexadecimal of an exact length, and nothing else', () => {
  expect(readBytes(2, '0xaBcD')).toEqual(Uint8Array.of(0xab, 0xcd))
  for (const value of ['0xabc', '0xab', '0xabcdef', 'abcd', '0Xabcd', '0xabcg', 7, null, ['0xabcd']]) {
    expect(readBytes(2, value)).toBeNull()
    expect(isHexOf(2, value)).toBe(false)
  }
  expect(decodeHex('0x0102')).toEqual(Uint8Array.of(1, 2))
  expect(decodeHex('0x')).toEqual(new Uint8Array())
  expect(() => decodeHex('0x01020')).toThrow(ProofError)
  expect(() => decodeHex(7)).toThrow(ProofError)
})

it('attempts what can be refused, and hides no other error', () => {
  expect(attempt(() => 7)).toBe(7)
  for (const error of [new ProofError('BAD_HEX'), new ArgumentError({ path: 'network' })]) {
    const refused = attempt(() => {
      throw error
    })
    expect(refused).toBeNull()
  }
  const work = () => {
    throw new TypeError('a bug')
  }
  expect(() => attempt(work)).toThrow('a bug')
})

it('names indices', () => {
  expect([0, 1, 2, 2 ** 33].map(nameLeafIndex)).toEqual(['0 (HEAD)', '1 (TAIL)', '2', '8589934592'])
  expect([0, 2 ** 40 - 1].every(isLeafIndex)).toBe(true)
  for (const index of [-1, 2 ** 40, 0.5, '1', null, Number.NaN]) expect(isLeafIndex(index)).toBe(false)
})

it('reads the levels of a path, and the roots to which they lead', () => {
  const { levels, subRoot, root } = readLevels(poseidon2, leafIndex, nodes)
  expect(levels.map(({ level }) => level)).toEqual(Array.from({ length: 40 }, (_, index) => 39 - index))
  expect(levels.every(({ running, problem, level, entry }) => running && !problem && entry === 40 - level)).toBe(true)
  expect(levels.map(({ siblingSide }) => (siblingSide === 'left' ? 1 : 0)).join('')).toBe(
    leafIndex.toString(2).padStart(40, '0'),
  )
  const [top] = levels
  const { hasher } = poseidon2
  const pair = Buffer.from(`${top?.running}${top?.sibling}`.replaceAll('0x', ''), 'hex')
  expect(top?.siblingSide).toBe('right')
  expect([subRoot, root]).toEqual([`0x${nodes[0]?.slice(-64)}`, contract.stateRoot])
  const elsewhere = readLevels(poseidon2, leafIndex - 1, nodes.with(0, `${nodes[0]?.slice(0, -64)}${'00'.repeat(32)}`))
  expect(elsewhere.root).toMatch(/^0x[0-9a-f]{64}$/)
  expect(elsewhere.root).not.toBe(root)
  expect(`0x${Buffer.from(hasher.hash(pair)).toString('hex')}`).toBe(subRoot)
  // The highest subtrees beside a path of a small tree are empty.
  expect(top?.isEmpty).toBe(true)
  expect(levels.some(({ isEmpty }) => !isEmpty)).toBe(true)
})

it('takes an index above 2^32 for what it is', () => {
  const vector = read('poseidon2/valid/leaf-index-above-2-32')
  const { leafIndex: index, proof: path } = vector.answer.accountProof
  expect(index).toBeGreaterThan(2 ** 32)
  const { levels } = readLevels(poseidon2, index, path.proofRelatedNodes)
  const sides = levels.map(({ siblingSide }) => siblingSide)
  expect(sides.map(side => (side === 'left' ? 1 : 0)).join('')).toBe(index.toString(2).padStart(40, '0'))
})

it('reads the levels as far as they are readable', () => {
  const broken = nodes.with(35, '0x00')
  const { levels, ...roots } = readLevels(poseidon2, leafIndex, broken)
  expect(roots).toEqual({ subRoot: null, root: null })
  expect(readLevels(poseidon2, leafIndex, nodes.with(0, '0x'))).toMatchObject({
    subRoot: expect.anything(),
    root: null,
  })
  const [top, ...rest] = levels
  expect(top?.running).toBeNull()
  const unreadable = rest.filter(({ problem }) => problem !== null)
  expect(unreadable.map(({ entry, sibling }) => [entry, sibling])).toEqual([[35, null]])
  expect(unreadable[0]?.problem).toMatch(/^expected 64 bytes, found 1/)
  expect(rest.filter(({ level }) => level <= 5).every(({ running }) => running !== null)).toBe(true)
  const uncanonical = readLevels(poseidon2, leafIndex, nodes.with(30, `0x${'ff'.repeat(64)}`))
  expect(uncanonical.levels.find(({ entry }) => entry === 30)?.problem).not.toBeNull()
  const missing = readLevels(poseidon2, leafIndex, nodes.with(40, `0x${'00'.repeat(32)}`)).levels.at(-1)
  expect(missing).toMatchObject({ level: 0, sibling: `0x${'00'.repeat(32)}`, isEmpty: true, problem: null })
  const short = readLevels(poseidon2, leafIndex, nodes.with(40, `0x${'01'.repeat(32)}`)).levels.at(-1)
  expect(short).toMatchObject({ sibling: null, isEmpty: false, problem: expect.stringContaining('expected 192') })
  expect(readLevels(poseidon2, leafIndex, nodes.slice(1)).levels).toEqual([])
  const [unknown, ...others] = readLevels(poseidon2, null, nodes).levels.reverse()
  expect(unknown?.running).not.toBeNull()
  expect(others.every(({ running }) => running === null)).toBe(true)
})

it('says in one line what an error expected and found', () => {
  expect(describeDetails(new ProofError('WRONG_LENGTH', { expected: '2', found: '3' }))).toBe('expected 2, found 3')
  expect(describeDetails(new ProofError('WRONG_LENGTH', { found: '3' }))).toBe('found 3')
  expect(describeDetails(new ProofError('WRONG_LENGTH'))).toBe('WRONG_LENGTH')
})
