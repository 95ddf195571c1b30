import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type ExplorerDocument, readDocument, statementFrom } from '../../docs/explorer/source/document.ts'
import { type Judgement, judge } from '../../docs/explorer/source/judge.ts'
import type { Check } from '../../docs/explorer/source/messages.ts'
import { viewProof } from '../../docs/explorer/source/proof-view.ts'
import { computeRoot } from '../../src/index.ts'
import { mimc } from '../../src/mimc.ts'
import { poseidon2 } from '../../src/poseidon2.ts'

const schemes = { mimc, poseidon2 }

/** What the page does with a vector that is dropped on it. */
function explore(content: unknown): { document: ExplorerDocument; judgement: Judgement } {
  const document = readDocument(content)
  return { document, judgement: judge(document, statementFrom(document.suggested)) }
}

function vectorsIn(folder: string) {
  return readdirSync(folder).map(file => ({
    name: `${folder}/${file}`,
    vector: JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')),
  }))
}

/** All checks that the page can show: the groups and each leaf proof's own. */
function allChecks(document: ExplorerDocument, judgement: Judgement): Check[] {
  const { groups, proofs } = judgement.report
  return [
    ...groups.flatMap(({ checks }) => checks),
    ...proofs.flatMap((_, index) => viewProof(document, judgement, index).checks),
  ]
}

/** What the page's form has no field for. */
const NOT_EXPLORED: Readonly<Record<string, string>> = {
  'rollup-name-of-another': 'the page takes the address of a contract, not a label for it',
  'trusted-two': 'the page has one field for the trusted input',
}

for (const scheme of ['mimc', 'poseidon2', 'evidence'] as const) {
  const isProof = ({ vector: { operation } }: { vector: { operation?: string } }) =>
    operation === undefined || operation === 'verifyEvidence'

  it(`shows every valid ${scheme} vector as verified, with every check passed`, () => {
    const vectors = vectorsIn(`vectors/${scheme}/valid`).filter(isProof)
    expect(vectors.length).toBeGreaterThanOrEqual(18)
    for (const { name, vector } of vectors) {
      const { document, judgement } = explore(vector)
      const { report } = judgement
      expect(report.verdict, name).toBe('verified')
      expect(report.headline.includes('does not exist'), name).toBe(vector.expected.account === null)
      const slots = vector.expected.storage.map((slot: { exists: boolean; value: string }) =>
        slot.exists ? slot.value : 'absent',
      )
      expect(
        report.proofs.slice(1).map(({ outcome }) => outcome),
        name,
      ).toEqual(slots)
      const checks = allChecks(document, judgement)
      expect(checks.length).toBeGreaterThan(20)
      expect(new Set(checks.map(({ status }) => status)), name).toEqual(new Set(['passed']))
    }
  })

  it(`finds the one failed check of every invalid ${scheme} vector`, () => {
    const vectors = vectorsIn(`vectors/${scheme}/invalid`).filter(isProof)
    expect(vectors.length).toBeGreaterThanOrEqual(70)
    let [refused, skipped] = [0, 0]
    for (const { name, vector } of vectors) {
      const short = name.replace(/^.*\//, '').replace('.json', '')
      if (NOT_EXPLORED[short] !== undefined) {
        skipped++
        continue
      }
      const { document, judgement } = explore(vector)
      const { report } = judgement
      if (vector.expected.code === 'CLAIM_INVALID' && report.verdict === 'unjudged') continue
      refused++
      expect(report.failure?.code, name).toBe(vector.expected.code)
      const failed = allChecks(document, judgement).filter(({ status }) => status === 'failed')
      expect(failed.length, `${name} at ${report.failure?.path}`).toBe(1)
      expect(failed[0]?.codes, name).toContain(vector.expected.code)
      expect(judgement.steps.slice(0, judgement.failed).length, name).toBe(judgement.failed)
    }
    console.log(`${scheme}: ${refused} refusals, ${skipped} vectors not explored`)
    expect(refused + skipped).toBeGreaterThanOrEqual(70)
  })
}

it('judges nothing without a root, an address, a scheme or a rollup', () => {
  const answer = vectorsIn('vectors/poseidon2/valid').find(({ name }) => name.includes('/contract.json'))?.vector
  const bundle = vectorsIn('vectors/evidence/valid').find(({ name }) => name.includes('poseidon2-block-hash'))?.vector
  for (const [content, names] of [
    [answer, ['trusted', 'address', 'scheme']],
    [bundle, ['trusted', 'scheme', 'rollup']],
  ] as const) {
    for (const name of names) {
      const document = readDocument(content)
      const statement = { ...statementFrom(document.suggested), [name]: { value: '', source: 'you' as const } }
      const judgement = judge(document, statement)
      expect(judgement.report.verdict, name).toBe('unjudged')
      const statuses = allChecks(document, judgement).map(({ status }) => status)
      expect(statuses.length).toBeGreaterThan(10)
      expect(new Set(statuses), name).toEqual(new Set(['not reached']))
    }
  }
})

it('says where each part of the question came from', () => {
  const [vector] = vectorsIn('vectors/poseidon2/valid')
    .filter(({ name }) => name.endsWith('/contract-slots-mixed.json'))
    .map(({ vector }) => vector)
  const bare = readDocument(vector.answer)
  const stateRoot = { value: vector.stateRoot, source: 'you' as const }
  const { report } = judge(bare, { ...statementFrom(bare.suggested), trusted: stateRoot })
  expect(report.verdict).toBe('verified')
  expect(report.notes.join()).toContain('The address, storage keys and scheme came from the answer')
  expect(explore(vector).judgement.report.notes.join()).toContain('compare it with L1')
})

it('draws the path that the published function computes', () => {
  let paths = 0
  for (const scheme of ['mimc', 'poseidon2'] as const) {
    for (const { name, vector } of vectorsIn(`vectors/${scheme}/valid`).slice(0, 20)) {
      const { document, judgement } = explore(vector)
      for (const [index] of judgement.report.proofs.entries()) {
        for (const path of viewProof(document, judgement, index).paths) {
          expect(path.computedRoot, name).toBe(path.wantedRoot)
          expect(path.computedSubRoot, name).toBe(path.statedSubRoot)
          const [top] = path.levels
          const children = [top?.running ?? '', (top?.sibling ?? '').slice(2)]
          const pair = top?.siblingSide === 'right' ? children.join('') : `0x${children[1]}${children[0]?.slice(2)}`
          const bytes = Buffer.from(pair.slice(2), 'hex')
          const digest = `0x${Buffer.from(schemes[scheme].hasher.hash(bytes)).toString('hex')}`
          expect(digest, name).toBe(path.computedSubRoot)
          paths++
        }
      }
    }
  }
  expect(paths).toBeGreaterThan(60)
  expect(typeof computeRoot).toBe('function')
})
