/**
 * `npm run bench`: all tables in docs/benchmarks.md except those with a date of their own. Prints Markdown. With `--write`, also
 * writes it to that page.
 */
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createWorld } from '../../src/devnet/index.ts'
import { createVerifier } from '../../src/entry/index.ts'
import { addressFor, keyFor, wordFor } from '../../vectors/vector.ts'
import { measureBundles, publishSizes } from './bundles.ts'
import { measureColdStart, measureCommand } from './cold.ts'
import { measureInTurns, median } from './measure.ts'
import { header, publish, row } from './page.ts'
import { ask, CONTRACT, createState, type EngineName, type Question, SLOTS, type Subject, schemes } from './subjects.ts'

const PROOF_TURNS = { turns: 15, turnMs: 30 }
/** A turn verifies a thousand slots. */
const SLOT_TURNS = { turns: 15, turnMs: 1 }
const COLD_TURNS = 21
const WORLD_TURNS = 3
const WORLD_SLOTS = 100_000

const digits = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
const ratio = (slow: number, fast: number): string => `${(slow / fast).toFixed(slow / fast < 20 ? 1 : 0)}x`

/** The rows per scheme. Each scheme is measured in a separate process, so that one does not slow the code of the other. */
const parts: Readonly<Record<string, (subject: Subject) => string[]>> = { measureProofs, measureSlots, measureWorld }

const [partName = '', schemeName] = process.argv.slice(2)
const part = parts[partName]
const subject = schemes.find(({ scheme }) => scheme.name === schemeName)
if (part !== undefined && subject !== undefined) console.log(part(subject).join('\n'))
else await measureAll()

async function measureAll(): Promise<void> {
  console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}\n`)

  publish('proofs', [
    ...header('µs', 'reference', 'fallback', '', 'kernel, every node hashed', '', 'kernel', ''),
    ...measureEach('measureProofs'),
  ])
  publish('slots', [
    ...header(
      'a thousand slots of one contract, µs per slot',
      ...['JSON.parse alone', 'every node hashed', 'verifyProof', '', 'createVerifier', ''],
    ),
    ...measureEach('measureSlots'),
  ])
  publish('world', [
    ...header(`a world of ${WORLD_SLOTS} slots, s`, 'filling it', 'its first root'),
    ...measureEach('measureWorld'),
  ])

  const { bare, first } = measureColdStart(COLD_TURNS)
  publish('start', [
    ...header('fresh process, ms', 'bare Node', 'import and first poseidon2 proof', 'difference'),
    row('cold start', digits(bare), digits(first), digits(first - bare)),
    '',
    ...header('from process start to verdict, ms', 'the command `verify`'),
    row('one answer', digits(measureCommand(COLD_TURNS))),
  ])
  publishSizes(await measureBundles())
  for (const script of ['bench:l1', 'bench:load', 'bench:peers']) {
    const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    if (status !== 0) throw new Error(`${script} ended with ${status}`)
  }
}

function measureEach(name: string): string[] {
  return schemes.flatMap(({ scheme }) => {
    const script = [fileURLToPath(import.meta.url), name, scheme.name]
    const { status, stdout } = spawnSync(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] })
    if (status !== 0) throw new Error(`${name} of ${scheme.name} ended with ${status}`)
    return stdout.toString().trim().split('\n')
  })
}

function measureProofs({ scheme, engines }: Subject): string[] {
  const rows: string[] = []
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
    rows.push(row(`${scheme.name}: ${what}`, digits(reference), ...compared))
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
  return rows
}

function measureSlots({ scheme, engines }: Subject): string[] {
  const rows: string[] = []
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
    rows.push(row(`${scheme.name}: ${what}`, perSlot(parse), perSlot(kernelAlone), ...compared))
  }
  compare(
    'one answer per slot',
    keys.map(key => ask(world, CONTRACT, [key])),
  )
  compare('one answer for all', [ask(world, CONTRACT, keys)])
  return rows
}

function measureWorld({ scheme }: Subject): string[] {
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
      for (const [index, key] of keys.entries()) world.setStorage(CONTRACT, { key, value: wordFor(index + 1) })
    })
    return { fill, root: seconds(() => world.stateRoot()) }
  })
  return [
    row(scheme.name, ...[median(turns.map(({ fill }) => fill)), median(turns.map(({ root }) => root))].map(digits)),
  ]
}
