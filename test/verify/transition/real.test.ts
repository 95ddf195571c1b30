import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bytesToHex, hexToBytes } from '../../../src/base/bytes.ts'
import type { Hex, Scheme } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { verifyTransition } from '../../../src/entry/transition.ts'
import { plainTrees } from '../../../src/verify/proof/tree.ts'
import { hashSchemeOf } from '../../../src/verify/scheme/scheme.ts'
import { applyTrace, decodeKind, readHead, readTrace, rootOf, startOf } from '../../../src/verify/transition/trace.ts'
import { randomOf } from '../../random.ts'
import { sized } from '../../size.ts'
import { changeEverywhere } from './helpers.ts'

const FOLDER = '../shared/vectors/transitions'
const isThere = existsSync(FOLDER)
if (!isThere)
  console.log(`skipped: 262 traces of mainnet and 6 of a server of poseidon2, because there is no ${FOLDER}`)
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'))

/** The root of the tree before a write. */
const rootBefore = (
  scheme: Scheme,
  { oldSubRoot, newNextFreeNode }: { oldSubRoot: Hex; newNextFreeNode: number },
): Hex =>
  bytesToHex(rootOf(hashSchemeOf(scheme), { subRoot: hexToBytes(oldSubRoot, 32), nextFreeNode: newNextFreeNode }))

describe.skipIf(!isThere)('real traces', () => {
  it('of a range of mainnet verify', () => {
    const answer = read('mimc-mainnet-861353')
    const { blocks, stateRoot } = verifyTransition(answer, {
      scheme: mimc,
      parentStateRoot: answer.zkParentStateRootHash,
    })
    expect(stateRoot).toBe('0x0b3764f8171e783a3caafb9ec3bf1922845d16ede3b0c7153449ae1ecbce8969')
    const counts = blocks.map(({ accounts }) => {
      const slots = accounts.flatMap(({ storage }) => storage)
      return [
        ...[accounts.length, accounts.filter(({ changed }) => changed).length],
        ...[slots.length, slots.filter(({ before, after }) => before !== after).length],
      ]
    })
    expect(counts).toEqual([
      [32, 22, 58, 22],
      [34, 22, 106, 53],
      [15, 13, 15, 9],
    ])
  })

  it('of a server of poseidon2 verify, which deletes an account and a slot and creates another', () => {
    const traces = read('poseidon2-shomei-testWorldStateWithDeleteAccountAndStorage')
    // One call each, as the server made them.
    const blocks = [traces.slice(0, 1), traces.slice(1, 3), traces.slice(3)]
    const claim = { scheme: poseidon2, parentStateRoot: rootBefore(poseidon2, traces[0]) }
    const verified = verifyTransition({ zkStateMerkleProof: blocks }, claim)
    const written = verified.blocks.flatMap(({ accounts }) => accounts)
    expect(written.map(({ before, after }) => [before?.balance, after?.balance])).toEqual([
      [835n, undefined],
      [15353n, 15353n],
      [15353n, 15353n],
    ])
    const slots = written.flatMap(({ storage }) => storage)
    const of = (digits: string) => `0x${digits.padEnd(64, '0')}`
    expect(slots).toEqual([
      { key: of('0e'), before: of('12'), after: of('') },
      { key: of('0b'), before: of(''), after: of('4e') },
    ])
  })

  it('of an empty tree verify, whose key is that of a slot', () => {
    const source = read('poseidon2-shomei-testTraceReadZero')
    const [head, field] = [readHead(source), readTrace(source)]
    const { storage: tree } = plainTrees(hashSchemeOf(poseidon2))
    const key = hexToBytes(head('key', String), 32)
    const trace = { tree, field, kind: head('type', decodeKind), hKey: tree.kind.hashKey(tree.scheme, key) }
    const start = startOf(trace, null)
    expect(bytesToHex(rootOf(tree.scheme, start))).toBe(tree.scheme.emptyTreeRoot)
    expect(applyTrace(trace, start)).toEqual({ before: null, after: null, state: start })
  })

  it('are refused where anything is changed, or say the same', () => {
    const { zkParentStateRootHash, zkStateMerkleProof } = read('mimc-mainnet-861353')
    const { blocks } = verifyTransition(
      { zkStateMerkleProof },
      { scheme: mimc, parentStateRoot: zkParentStateRootHash },
    )
    const roots: Hex[] = [zkParentStateRootHash, ...blocks.map(({ stateRoot }) => stateRoot)]
    const random = randomOf(11)
    // Block by block, because a change costs a verification: npm test takes the shortest.
    for (const [index, traces] of zkStateMerkleProof.entries()) {
      const count = index === 2 ? sized(14) : sized(1)
      const claim = { scheme: mimc, parentStateRoot: roots[index] ?? '0x', stateRoot: roots[index + 1] ?? '0x' }
      const { refused, same, lies } = changeEverywhere({ zkStateMerkleProof: [traces] }, claim, { random, count })
      expect(lies).toEqual([])
      expect(refused + same).toBe(count)
    }
    const traces = read('poseidon2-shomei-testWorldStateWithDeleteAccountAndStorage')
    const parentStateRoot = rootBefore(poseidon2, traces[0])
    const answer = { zkStateMerkleProof: [traces.slice(0, 1), traces.slice(1, 3), traces.slice(3)] }
    const { stateRoot } = verifyTransition(answer, { scheme: poseidon2, parentStateRoot })
    const count = sized(15)
    const claim = { scheme: poseidon2, parentStateRoot, stateRoot }
    const { refused, same, lies } = changeEverywhere(answer, claim, { random, count })
    expect([lies, refused + same]).toEqual([[], count])
  })
})
