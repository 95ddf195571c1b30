import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { hex, type SchemeName, schemes, slice } from '../model/hash.ts'

/** Recomputes the bytes in `docs/proof-bytes.md` from a vector with the model, which shares no code with `src/`. */
const doc = readFileSync('docs/tree-format.md', 'utf8')
const example = readFileSync('docs/proof-bytes.md', 'utf8')
const VECTOR = 'contract-one-slot'

interface LeafProof {
  leafIndex: number
  proof: { value: string; proofRelatedNodes: string[] }
}

const strip = (text: string) => text.replace(/^0x/, '')

const isZero = (digits: string) => /^0+$/.test(digits)

/** One line per 32 bytes, in groups of field elements. Zeros are counted. */
function write(digits: number, label: string, bytes: string, note = ''): string {
  const rows = isZero(bytes) ? [bytes] : (bytes.match(/.{1,64}/g) ?? [])
  return rows
    .map((row, index) => {
      const elements = row.match(new RegExp(`.{1,${digits}}`, 'g')) ?? []
      const groups = isZero(row) ? `${row.length / 2} zero bytes` : elements.join(' ')
      const isLast = index === rows.length - 1
      return `${(index === 0 ? label : '').padEnd(15)}${groups}${isLast && note !== '' ? `  ${note}` : ''}`
    })
    .join('\n')
}

/** What is shown already, and compared here. */
const again = (label: string, of: string) => `${label.padEnd(15)}= ${of}`

function workedExample(name: SchemeName): Record<string, string[]> {
  const { H, word, full, address, readWord, wordLength } = schemes[name]
  const line = (label: string, bytes: string, note?: string) => write(name === 'mimc' ? 64 : 8, label, bytes, note)
  const vector = JSON.parse(readFileSync(`vectors/${name}/valid/${VECTOR}.json`, 'utf8'))
  const account: LeafProof = vector.answer.accountProof
  const slot: LeafProof = vector.answer.storageProofs[0]
  const [key, value] = [strip(vector.storageKeys[0]), strip(slot.proof.value)]
  const nodes = slot.proof.proofRelatedNodes.map(strip)
  const [top = '', opening = ''] = [nodes[0], nodes[41]]

  const digests = [H(opening)]
  for (let level = 0; level < 40; level++) {
    const entry = nodes[40 - level] ?? ''
    const sibling = entry.length === 64 ? entry : H(entry)
    const running = digests[level] ?? ''
    const isRight = Math.floor(slot.leafIndex / 2 ** level) % 2 === 1
    digests.push(H(isRight ? sibling + running : running + sibling))
  }

  const accountValue = strip(account.proof.value)
  const words = Array.from({ length: 6 }, (_, index) => slice(accountValue, 32 * index, 32))
  const [nonce = '', balance = '', storageRoot = '', snark = '', keccak = '', codeSize = ''] = words
  const preimages = [nonce, balance, codeSize].map(x => word(BigInt(`0x${x}`)))
  const hVal = H(`${preimages[0]}${preimages[1]}${storageRoot}${snark}${full(keccak)}${preimages[2]}`)
  const accountOpening = strip(account.proof.proofRelatedNodes[41] ?? '')

  const field = (from: number, length: number) => slice(opening, from, length)
  const [prev, next] = [field(0, wordLength), field(wordLength, wordLength)]
  const [hKey, leafValue] = [field(2 * wordLength, 32), field(2 * wordLength + 32, 32)]
  expect(H(full(key))).toBe(hKey)
  expect(H(full(value))).toBe(leafValue)
  expect(digests[40]).toBe(slice(top, wordLength, 32))
  expect(H(top)).toBe(storageRoot)
  expect(slice(accountOpening, 2 * wordLength + 32, 32)).toBe(hVal)
  return {
    'node 41': [
      line('word(prev)', prev, `= ${readWord(prev)}, HEAD`),
      line('word(next)', next, `= ${readWord(next)}, TAIL`),
      line('hKey', hKey),
      line('hVal', leafValue),
    ],
    'key and value': [
      line('key', key),
      line('full(key)', full(key)),
      again('H(full(key))', 'hKey'),
      line('value', value),
      line('full(value)', full(value)),
      again('H(full(value))', 'hVal'),
    ],
    climb: [
      line('d0', digests[0] ?? '', '= H(node 41)'),
      line('node 40', nodes[40] ?? '', 'no leaf: its own digest'),
      line('d1', digests[1] ?? '', '= H(d0, node 40)'),
      line('node 39', nodes[39] ?? '', 'HEAD and TAIL, digests'),
      line('d2', digests[2] ?? '', '= H(H(node 39), d1)'),
      line('d40', digests[40] ?? '', '38 levels later'),
    ],
    'node 0': [
      line('nextFreeNode', slice(top, 0, wordLength), `= ${readWord(slice(top, 0, wordLength))}`),
      again('subRoot', 'd40'),
      line('H(node 0)', H(top), '= storageRoot'),
    ],
    account: [
      line('address', strip(vector.address).padEnd(40, '0')),
      line('address(a)', address(strip(vector.address))),
      line('nonce', nonce),
      line('balance', balance),
      again('storageRoot', 'H(node 0)'),
      line('snarkCodeHash', snark),
      line('keccakCodeHash', keccak),
      line('codeSize', codeSize),
      line('full(keccak…)', full(keccak)),
      line('value hash', hVal, '= hVal of the account’s leaf'),
    ],
  }
}

const [inPoseidon2 = '', inMimc = ''] = example.split('\n## The same bytes with mimc')

for (const [name, section] of [
  ['poseidon2', inPoseidon2],
  ['mimc', inMimc],
] as const) {
  it(`shows the bytes of the vector: ${name}`, () => {
    const blocks = [...section.matchAll(/^```text\n(.*?)\n```/gms)].map(match => match[1])
    const expected = Object.values(workedExample(name)).map(lines => lines.join('\n'))
    expect(expected.length).toBe(5)
    expect(blocks).toEqual(expected)
  })
}

it('states the lengths in the vectors', () => {
  const rows = [...doc.matchAll(/^\| (\d+)(?: to (\d+))? \| .+ \| ([\d, or]+) \| ([\d, or]+) \|$/gm)]
  expect(rows.length).toBe(4)
  let seen = 0
  for (const [, from, to = from, mimc = '', poseidon2 = ''] of rows) {
    for (const [name, lengths] of Object.entries({ mimc, poseidon2 })) {
      const vector = JSON.parse(readFileSync(`vectors/${name}/valid/${VECTOR}.json`, 'utf8'))
      for (const { proof } of [vector.answer.accountProof, ...vector.answer.storageProofs]) {
        for (let entry = Number(from); entry <= Number(to); entry++) {
          const length = (proof.proofRelatedNodes[entry].length - 2) / 2
          expect(lengths.split(' or ').map(Number), `${name}, entry ${entry}`).toContain(length)
          seen++
        }
      }
    }
  }
  expect(seen).toBe(2 * 2 * 42)
})

it('states the constants of both schemes', () => {
  for (const name of ['mimc', 'poseidon2'] as const) {
    const { H, TAIL } = schemes[name]
    const zeros = hex(0n, 32)
    const empty = Array.from({ length: 40 }).reduce<string>(below => H(below + below), zeros)
    for (const constant of [TAIL, H(zeros), empty]) expect(doc, `${name} ${constant}`).toContain(`\`0x${constant}\``)
  }
})
