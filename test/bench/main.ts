/**
 * `npm run bench`: everything that the README says about speed, in one run. Prints Markdown.
 */
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createVerifier } from '../../src/index.ts'
import { createWorld } from '../../src/world.ts'
import { addressFor, keyFor, wordFor } from '../../vectors/vector.ts'
import { measureBundles } from './bundles.ts'
import { measureColdStart } from './cold.ts'
import { measureInTurns, median } from './measure.ts'
import { ask, CONTRACT, createState, type EngineName, type Question, SLOTS, type Subject, schemes } from './subjects.ts'

const PROOF_TURNS = { turns: 15, turnMs: 30 }
/** A turn is a thousand slots. */
const SLOT_TURNS = { turns: 15, turnMs: 1 }
const COLD_TURNS = 21
const WORLD_TURNS = 3
const WORLD_SLOTS = 100_000

const digits = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
const ratio = (slow: number, fast: number): string => `${(slow / fast).toFixed(slow / fast < 20 ? 1 : 0)}x`

const row = (...cells: string[]): void => console.log(`| ${cells.join(' | ')} |`)
function header(first: string, ...others: string[]): void {
  console.log()
  row(first, ...others)
  row('---', ...others.map(() => '--:'))
}

/** The rows of a table that each scheme has, measured in a process of its own: one does not slow the other's code. */
const parts: Readonly<Record<string, (subject: Subject) => void>> = { measureProofs, measureSlots, measureWorld }

const [partName = '', schemeName] = process.argv.slice(2)
const part = parts[partName]
const subject = schemes.find(({ scheme }) => scheme.name === schemeName)
if (part !== undefined && subject !== undefined) part(subject)
else await measureAll()

async function measureAll(): Promise<void> {
  console.log(
    `${cpus()[0]?.model.trim()}, Node ${process.version}; medians, all engines in turns, from JSON text to verdict.`,
  )
  console.log('The reference (BigInt) and "every node hashed" know no empty subtrees ahead, the package does.')

  header('µs', 'reference', 'fallback', '', 'kernel, every node hashed', '', 'kernel', '')
  measureEach('measureProofs')

  header(
    'a thousand slots of one contract, µs a slot',
    ...['JSON.parse alone', 'every node hashed', 'verifyProof', '', 'createVerifier', ''],
  )
  measureEach('measureSlots')

  header(`a world of ${WORLD_SLOTS} slots, s`, 'filling it', 'its first root')
  measureEach('measureWorld')

  const { bare, first } = measureColdStart(COLD_TURNS)
  header('fresh process, ms', 'bare Node', 'import and first poseidon2 proof', 'difference')
  row('cold start', digits(bare), digits(first), digits(first - bare))

  header('bundle, bytes', 'minified', 'gzipped', "has mimc's kernel", "has poseidon2's kernel")
  for (const [name, { minified, gzipped, files }] of Object.entries(await measureBundles())) {
    const has = (file: string) => (files.some(input => input.endsWith(file)) ? 'yes' : 'no')
    row(name, `${minified}`, `${gzipped}`, has('mimc/generated.ts'), has('poseidon2/generated.ts'))
  }
}

function measureEach(name: string): void {
  for (const { scheme } of schemes) {
    const script = [fileURLToPath(import.meta.url), name, scheme.name]
    const { status } = spawnSync(process.execPath, script, { stdio: 'inherit' })
    if (status !== 0) throw new Error(`${name} of ${scheme.name} ended with ${status}`)
  }
}

function measureProofs({ scheme, engines }: Subject): void {
  const compare = (what: string, workOf: (engine: EngineName) => () => unknown): void => {
    const { reference, fallback, kernelAlone, kernel } = measureInTurns(
      {
        reference: workOf('reference'),
        fallback: workOf('fallback'),
        kernelAlone: workOf('kernelAlone'),
        kernel: workOf('kernel'),
      },
      PROOF_TURNS,
    )
    const compared = [fallback, kernelAlone, kernel].flatMap(time => [digits(time), ratio(reference, time)])
    row(`${scheme.name}: ${what}`, digits(reference), ...compared)
  }
  const block = new Uint8Array(32).fill(1)
  compare('one compression', engine => {
    const { hasher } = engines[engine].scheme
    return () => hasher.hash(block)
  })
  const world = createState(scheme)
  const tenKeys = Array.from({ length: 10 }, (_, index) => keyFor(index * 100))
  const questions = {
    existence: ask(world, addressFor('account 500'), []),
    'non-existence': ask(world, addressFor('nobody'), []),
    'account and ten slots': ask(world, CONTRACT, tenKeys),
  }
  for (const [what, { claim, text }] of Object.entries(questions)) {
    compare(what, engine => () => engines[engine].verify(JSON.parse(text), claim))
  }
}

function measureSlots({ scheme, engines }: Subject): void {
  const world = createState(scheme)
  const keys = Array.from({ length: SLOTS }, (_, index) => keyFor(index))
  const compare = (what: string, questions: readonly Question[]): void => {
    const each = (work: (question: Question) => unknown) => () => {
      for (const question of questions) work(question)
    }
    const { parse, kernelAlone, unshared, shared } = measureInTurns(
      {
        parse: each(({ text }) => JSON.parse(text)),
        kernelAlone: each(({ claim, text }) => engines.kernelAlone.verify(JSON.parse(text), claim)),
        unshared: each(({ claim, text }) => engines.kernel.verify(JSON.parse(text), claim)),
        shared: () => {
          const verifier = createVerifier(scheme)
          for (const { claim, text } of questions) verifier.verifyProof(JSON.parse(text), claim)
        },
      },
      SLOT_TURNS,
    )
    const perSlot = (time: number) => digits(time / SLOTS)
    const compared = [unshared, shared].flatMap(time => [perSlot(time), ratio(kernelAlone, time)])
    row(`${scheme.name}: ${what}`, perSlot(parse), perSlot(kernelAlone), ...compared)
  }
  compare(
    'one answer a slot',
    keys.map(key => ask(world, CONTRACT, [key])),
  )
  compare('one answer for all', [ask(world, CONTRACT, keys)])
}

function measureWorld({ scheme }: Subject): void {
  const keys = Array.from({ length: WORLD_SLOTS }, (_, index) => keyFor(index))
  const seconds = (work: () => unknown): number => {
    const start = performance.now()
    work()
    return (performance.now() - start) / 1000
  }
  const turns = Array.from({ length: WORLD_TURNS }, () => {
    const world = createWorld(scheme)
    world.setAccount(CONTRACT, {})
    const fill = seconds(() => {
      for (const [index, key] of keys.entries()) world.setStorage(CONTRACT, key, wordFor(index + 1))
    })
    return { fill, root: seconds(() => world.stateRoot()) }
  })
  row(scheme.name, ...[median(turns.map(({ fill }) => fill)), median(turns.map(({ root }) => root))].map(digits))
}
