import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { judge } from '../../src/site/judge.ts'
import { openFile, statementFrom } from '../../src/site/opened-file.ts'
import { strided } from '../size.ts'

/**
 * The page lists the checks in the verifier's order: if an answer has two faults, the verifier reports the one that is listed
 * first.
 */

interface Vector {
  stateRoot: string
  address: string
  answer: Answer
}
interface Answer {
  accountProof: LeafProof
  storageProofs: LeafProof[]
}
type LeafProof = Record<string, unknown> & { key: string }
interface Proof {
  value: string
  proofRelatedNodes: string[]
}

/** A fault in one place. Faults in overlapping places are not combined. */
interface Mistake {
  readonly place: string
  readonly make: (vector: Vector) => void
}

const filled = (hex: string, digits: string): string => `0x${digits.repeat(hex.length).slice(0, hex.length - 2)}`
const setNode = (nodes: string[], entry: number, change: (hex: string) => string) => {
  nodes[entry] = change(nodes[entry] ?? '')
}

/** @param base the unchanged vector, which tells the form of the leaf proof */
function mistakesOf(name: string, base: Vector, select: (answer: Answer) => LeafProof): Mistake[] {
  const mistake = (place: string, change: (leafProof: LeafProof) => void): Mistake => ({
    place: `${name}.${place}`,
    make: ({ answer }) => change(select(answer)),
  })
  const ofPart = (part: string, index: string): Mistake[] => {
    const inPart = (place: string, change: (proof: Proof) => void) =>
      mistake(`${part}.${place}`, leafProof => {
        // The vector is valid, so the part has the shape in the specification.
        const proof = leafProof[part] as Proof | undefined
        if (proof) change(proof)
      })
    const atNode = (entry: number, change: (hex: string) => string) =>
      inPart(`nodes.${entry}`, ({ proofRelatedNodes }) => setNode(proofRelatedNodes, entry, change))
    return [
      mistake(index, leafProof => Object.assign(leafProof, { [index]: 'x' })),
      mistake(index, leafProof => Object.assign(leafProof, { [index]: 2 ** 39 + 7 })),
      inPart('nodes', ({ proofRelatedNodes }) => proofRelatedNodes.splice(20, 1)),
      atNode(5, hex => filled(hex, 'z')),
      atNode(7, hex => filled(hex, 'f')),
      atNode(9, hex => filled(hex, '0')),
      atNode(0, hex => hex.slice(0, -2)),
      atNode(0, hex => filled(hex, 'f')),
      atNode(0, hex => hex.replace(/^(0x.{126})../s, '$10c')),
      atNode(40, hex => hex.replace('0x', '1x')),
      atNode(40, hex => filled(hex, 'f')),
      atNode(41, hex => filled(hex, 'f')),
      inPart('value', proof => Object.assign(proof, { value: '0x0' })),
      inPart('value', proof => Object.assign(proof, { value: filled(proof.value, '00000001') })),
    ]
  }
  return [
    mistake('key', leafProof => Object.assign(leafProof, { key: '0xzz' })),
    mistake('key', leafProof => Object.assign(leafProof, { key: filled(leafProof.key, '1') })),
    ...(Object.hasOwn(select(base.answer), 'proof')
      ? ofPart('proof', 'leafIndex')
      : [...ofPart('leftProof', 'leftLeafIndex'), ...ofPart('rightProof', 'rightLeafIndex')]),
  ]
}

const common: readonly Mistake[] = [
  { place: 'root', make: vector => Object.assign(vector, { stateRoot: filled(vector.stateRoot, '01') }) },
  { place: 'address', make: vector => Object.assign(vector, { address: '0x00' }) },
  { place: 'error', make: ({ answer }) => Object.assign(answer, { error: { code: 1 } }) },
  { place: 'foreign', make: ({ answer }) => Object.assign(answer, { accountProof: [], storageHash: '0x' }) },
  { place: 'slots', make: ({ answer }) => answer.storageProofs.push(answer.accountProof) },
]

/** The position of the failed check in the list of the unchanged vector, or the length of the list if no check failed. */
function rank(vector: unknown, order: readonly string[]): number {
  const file = openFile(vector)
  const { steps, failed, report, error } = judge(file, statementFrom(file.suggested))
  if (report.verdict === 'verified') return order.length
  const step = steps[failed]
  const place = order.indexOf(`${step?.group} ${step?.title}`)
  if (place < 0) throw new Error(`${report.headline} at ${error?.path} is not in the list`)
  return place
}

const bases = [
  ['poseidon2/valid/contract-slots-mixed', 3],
  ['mimc/valid/absent-account-between', 1],
] as const

for (const [name, proofCount] of bases) {
  it(`lists the checks in the verifier's order: ${name}`, () => {
    const text = readFileSync(`vectors/${name}.json`, 'utf8')
    const file = openFile(JSON.parse(text))
    const { steps } = judge(file, statementFrom(file.suggested))
    const order = steps.map(({ group, title }) => `${group} ${title}`)
    expect(new Set(order).size).toBe(order.length)

    const ofProofs = Array.from({ length: proofCount }, (_, index) =>
      mistakesOf(`proof ${index}`, JSON.parse(text), ({ accountProof, storageProofs }) =>
        index === 0 ? accountProof : (storageProofs[index - 1] ?? accountProof),
      ),
    )
    const rankOf = (...mistakes: readonly Mistake[]) => {
      const vector = JSON.parse(text)
      for (const { make } of mistakes) make(vector)
      return rank(vector, order)
    }
    const ranked = [...common, ...ofProofs.flat()].map(mistake => ({ mistake, place: rankOf(mistake) }))
    for (const { mistake, place } of ranked) expect(place, mistake.place).toBeLessThan(order.length)
    expect(ranked.length).toBeGreaterThanOrEqual(25)
    expect(new Set(ranked.map(({ place }) => place)).size).toBeGreaterThanOrEqual(15)

    // A prime stride, so that each mistake is paired with others in every place.
    const stride = strided(7)
    let [seen, pairs] = [0, 0]
    for (const [index, one] of ranked.entries()) {
      for (const other of ranked.slice(index + 1)) {
        const [a, b] = [one.mistake.place, other.mistake.place]
        const isApart = !a.startsWith(b) && !b.startsWith(a)
        const replacesProof = [a, b].includes('foreign') && [a, b].some(place => place.startsWith('proof 0'))
        if (!isApart || replacesProof || seen++ % stride !== 0) continue
        expect(rankOf(one.mistake, other.mistake), `${a} and ${b}`).toBe(Math.min(one.place, other.place))
        pairs++
      }
    }
    console.log(`${name}: ${ranked.length} mistakes, ${pairs} pairs`)
    expect(seen).toBeGreaterThan(250)
    expect(pairs).toBe(Math.ceil(seen / stride))
  })
}
