import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { leafPaths, leafProofAt, resultIn } from '../../src/cli/words/answer.ts'
import { nameLeafIndex, toHex } from '../../src/cli/words/layout.ts'
import { type Entry, readFields } from '../../src/site/bytes.ts'
import { openFile } from '../../src/site/explore.ts'
import { judge } from '../../src/site/judge.ts'
import { MAX_PART_CHARACTERS, PARTS_PER_STEP } from '../../src/site/limits.ts'
import { type Place, placeOfPart, viewPart, withDigits } from '../../src/site/part.ts'
import { statementFrom } from '../../src/site/statement.ts'
import { decodeNodes } from '../../src/verify/proof/decode.ts'
import { plainTree } from '../../src/verify/proof/tree.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { accountTree } from '../../src/verify/tree/kind.ts'
import type { Leaf } from '../../src/verify/tree/leaf.ts'
import { decodeAccount } from '../../src/verify/verifier/leaf-api.ts'

/** The file itself, and digits of it that are changed. */

const read = (name: string) => JSON.parse(readFileSync(`vectors/${name}.json`, 'utf8'))

function rowsOf(content: unknown, place: Place) {
  const { rows, total } = viewPart(content, place, 0, 'poseidon2')
  const rest = Array.from({ length: Math.ceil(total / PARTS_PER_STEP) - 1 }, (_, step) =>
    viewPart(content, place, (step + 1) * PARTS_PER_STEP, 'poseidon2'),
  )
  return [...rows, ...rest.flatMap(({ rows }) => rows)]
}

/** The places of all texts of hexadecimal. */
function hexIn(content: unknown, place: Place = []): { place: Place; text: string }[] {
  return rowsOf(content, place).flatMap(({ name, kind, text }) =>
    kind === 'hex'
      ? [{ place: [...place, name], text }]
      : kind === 'list' || kind === 'object'
        ? hexIn(content, [...place, name])
        : [],
  )
}

it('lists all of a file, in steps', () => {
  const vector = read('poseidon2/valid/contract-slots-mixed')
  const again = (place: Place, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const entries = rowsOf(vector, place).map(({ name, kind, text }) => {
      const own = Reflect.get(value, name)
      return [
        name,
        kind === 'list' || kind === 'object' ? again([...place, name], own) : typeof own === 'string' ? text : own,
      ]
    })
    return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
  }
  expect(again([], vector)).toEqual(vector)
  expect(rowsOf({ list: Array(120).fill(0) }, ['list']).length).toBe(120)
})

it('gives the verdict on what is changed, wherever a digit is another one, and puts it back', () => {
  const vector = read('poseidon2/valid/contract-slots-mixed')
  const before = JSON.stringify(vector)
  const statement = statementFrom(openFile(vector).suggested)
  const places = hexIn(vector).filter(({ place }) => place[0] === 'answer')
  expect(places.length).toBeGreaterThan(300)
  const codes = new Set<string>()
  for (const [index, { place, text }] of places.entries()) {
    // Each digit of a text in turn, from text to text.
    const at = 2 + (index % (text.length - 2))
    const digit = text[at] === '0' ? '1' : '0'
    const { report } = judge(openFile(withDigits(vector, [{ place, at, digit }])), statement)
    expect(report.verdict, `${place.join('.')} ${at}`).toBe('refused')
    codes.add(report.failure?.code ?? '')
  }
  expect(codes.size).toBeGreaterThan(5)
  expect(judge(openFile(withDigits(vector, [])), statement).report.verdict).toBe('consistent')
  expect(JSON.stringify(vector)).toBe(before)
})

it('finds each proof in the file, and the meaning of its bytes', () => {
  let [proofs, texts] = [0, 0]
  for (const name of readdirSync('vectors/poseidon2/valid').slice(0, 20)) {
    const vector = read(`poseidon2/valid/${name.replace('.json', '')}`)
    const file = openFile(vector)
    for (let index = 0; leafProofAt(file.answer, index); index++) {
      const place = placeOfPart(vector, leafProofAt(file.answer, index))
      expect(place).toEqual(['answer', ...(index === 0 ? ['accountProof'] : ['storageProofs', index - 1])])
      proofs++
    }
    for (const { fields, text } of hexIn(vector).flatMap(
      ({ place }) => viewPart(vector, place.slice(0, -1), 0, '').rows,
    )) {
      if (fields.length === 0) continue
      expect(fields.at(-1)?.end).toBe(text.length / 2 - 1)
      texts++
    }
  }
  expect(proofs).toBeGreaterThan(25)
  expect(texts).toBeGreaterThan(100)
  expect(placeOfPart({ a: [1] }, { a: [1] })).toBeNull()
})

it('reads the same fields from bytes as the verifier does', () => {
  let [paths, accounts] = [0, 0]
  for (const scheme of [mimc, poseidon2]) {
    for (const name of readdirSync(`vectors/${scheme.name}/valid`)) {
      const { answer } = read(`${scheme.name}/valid/${name.replace('.json', '')}`)
      const proofs = [0, 1, 2].flatMap(index => leafProofAt(resultIn(answer), index) ?? [])
      for (const [tree, leafProof] of proofs.entries()) {
        for (const part of leafPaths.flatMap(({ proof }) => Reflect.get(Object(leafProof), proof) ?? [])) {
          const { value, proofRelatedNodes: nodes } = part
          const fieldsOf = (entry: Entry) => {
            const { fields } = readFields(scheme, tree, entry, entry === 'value' ? value : nodes[entry])
            return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
          }
          const { rootNode, leafNode, siblingLeaf } = decodeNodes(plainTree(scheme, accountTree), 0, nodes)
          const leafOf = ({ prev, next, hKey, hVal }: Leaf) => ({
            ...{ prev: nameLeafIndex(prev), next: nameLeafIndex(next), hKey: toHex(hKey), hVal: toHex(hVal) },
          })
          const { nextFreeNode, subRoot } = rootNode
          expect(fieldsOf(0)).toEqual({ nextFreeNode: `${nextFreeNode}`, 'sub-root': toHex(subRoot) })
          expect(fieldsOf(41)).toEqual(leafOf(leafNode))
          const missing = { 'missing leaf': `0x${'00'.repeat(32)}` }
          expect(fieldsOf(40)).toEqual(siblingLeaf ? leafOf(siblingLeaf) : missing)
          paths++
          if (tree > 0 || value.length < 100) continue
          const account = decodeAccount(scheme, value)
          const { codeHash: keccakCodeHash, ...others } = account
          const expected = Object.entries({ ...others, keccakCodeHash }).map(([name, value]) => [name, `${value}`])
          expect(fieldsOf('value')).toEqual(Object.fromEntries(expected))
          accounts++
        }
      }
    }
  }
  expect(paths).toBeGreaterThan(100)
  expect(accounts).toBeGreaterThan(50)
})

it('reads own fields of hostile files alone, and no more of a text than it shows', () => {
  const hostile = JSON.parse(
    `{"__proto__":{"a":"0x12"},"long":"0x${'ab'.repeat(MAX_PART_CHARACTERS)}","${'n'.repeat(500)}":{}}`,
  )
  const { rows, total } = viewPart(hostile, [], 0, '')
  expect(total).toBe(3)
  expect(rows[1]).toMatchObject({ kind: 'hex', size: 2 + 2 * MAX_PART_CHARACTERS })
  expect(rows[1]?.text.length).toBe(MAX_PART_CHARACTERS)
  expect(rows[2]).toMatchObject({ kind: 'text', text: 'an object' })
  const changed = withDigits(hostile, [{ place: ['__proto__', 'a'], at: 2, digit: 'f' }])
  expect(Object.entries(changed as object)[0]).toEqual(['__proto__', { a: '0xf2' }])
  for (const place of [['toString'], ['long', 'length'], ['constructor', 'prototype'], ['__proto__', 'b', 'c']]) {
    expect(viewPart(hostile, place, 0, '').rows).toEqual([])
    expect(withDigits(hostile, [{ place, at: 0, digit: 'f' }])).toEqual(hostile)
  }
  expect(({} as { a?: string }).a).toBeUndefined()
})
