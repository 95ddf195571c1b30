/**
 * `npm run bench`: everything that the README says about speed, in one run. Prints Markdown.
 */
import { createVerifier } from '../../src/index.ts'
import { addressFor, keyFor } from '../../vectors/vector.ts'
import { measureInTurns } from './measure.ts'
import { ask, CONTRACT, createState, ENGINES, type EngineName, type Question, SLOTS, schemes } from './subjects.ts'

const TURNS = { turns: 15, turnMs: 30 }

const decimals = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)
const times = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)}x`

function row(...cells: string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

row('from JSON text to verdict, µs', 'reference', 'fallback', '', 'kernel', '')
row('---', '--:', '--:', '--:', '--:', '--:')
for (const { scheme, engines } of schemes) {
  const world = createState(scheme)
  const tenKeys = Array.from({ length: 10 }, (_, index) => keyFor(index * 100))
  const proofs = {
    existence: ask(world, addressFor('account 500'), []),
    'non-existence': ask(world, addressFor('nobody'), []),
    'account and ten slots': ask(world, CONTRACT, tenKeys),
  }
  const compare = (what: string, workOf: (engine: EngineName) => () => unknown) => {
    const [reference, fallback, kernel] = ENGINES
    const works = { reference: workOf(reference), fallback: workOf(fallback), kernel: workOf(kernel) }
    const result = measureInTurns(works, TURNS)
    const ratio = (name: EngineName) => times(result.reference / result[name])
    row(
      `${scheme.name}: ${what}`,
      decimals(result.reference),
      ...[decimals(result.fallback), ratio('fallback'), decimals(result.kernel), ratio('kernel')],
    )
  }
  const block = new Uint8Array(32).fill(1)
  compare('one compression', engine => {
    const { hasher } = engines[engine].scheme
    return () => hasher.hash(block)
  })
  for (const [what, { claim, text }] of Object.entries(proofs)) {
    compare(what, engine => () => engines[engine].verify(JSON.parse(text), claim))
  }
}

console.log()
row('a thousand slots of one contract, µs a slot', 'verifyProof', 'createVerifier', '')
row('---', '--:', '--:', '--:')
for (const { scheme } of schemes) {
  const engine = schemes.find(one => one.scheme === scheme)?.engines.kernel
  const world = createState(scheme)
  const keys = Array.from({ length: SLOTS }, (_, index) => keyFor(index))
  const compare = (what: string, questions: readonly Question[]) => {
    const unshared = () => {
      for (const { claim, text } of questions) engine?.verify(JSON.parse(text), claim)
    }
    const shared = () => {
      const verifier = createVerifier(scheme)
      for (const { claim, text } of questions) verifier.verifyProof(JSON.parse(text), claim)
    }
    const parse = () => {
      for (const { text } of questions) JSON.parse(text)
    }
    const result = measureInTurns({ unshared, shared, parse }, { turns: 7, turnMs: 1 })
    const perSlot = (µs: number) => decimals(µs / SLOTS)
    row(
      `${scheme.name}: ${what}`,
      perSlot(result.unshared),
      perSlot(result.shared),
      times(result.unshared / result.shared),
      `parse ${perSlot(result.parse)}`,
    )
  }
  compare(
    'one answer a slot',
    keys.map(key => ask(world, CONTRACT, [key])),
  )
  compare('one answer for all', [ask(world, CONTRACT, keys)])
}
