/**
 * Runs the corpus in a realm whose `Object.prototype` and `Array.prototype` are polluted with the names of fields. A program of its
 * own, because nothing else can run beside it. Prints a {@link PollutedReport} as JSON.
 *
 * All names at once have one value over the corpus, and six others over an eighth of it each; each name alone has one of three values
 * over a few vectors. `--whole`: every value over every vector, which takes hours.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import ts from 'typescript'
import { VECTOR_FOLDERS } from '../../vectors/folders.ts'
import { type CorpusCase, corpusIn, outcomeOf } from './corpus.ts'

/** What was run, and what came out otherwise than in a clean realm. */
export interface PollutedReport {
  /** How many names there are. */
  readonly names: number
  /** How many vectors ran with all names at once, under each of the values. */
  readonly together: number
  /** How many vectors ran with each name alone. */
  readonly alone: number
  readonly values: number
  readonly runs: number
  readonly differences: readonly string[]
}

/** The code that reads what strangers send and callers claim. */
const FOLDERS = [
  'base/json',
  ...['tree', 'proof', 'verifier', 'anchor', 'beacon', 'blocks', 'transition', 'state', 'evidence', 'messages'].map(
    room => `verify/${room}`,
  ),
]

/** With one of these on its prototypes, the language itself breaks. */
const OF_LANGUAGE = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'done', 'return', 'then']

/** The names of fields in the code: those in types and objects, those that are read, and what stands in lists of names. */
function namesIn(folder: string): string[] {
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeElement(node) || ts.isObjectLiteralElement(node)) names.push(node.name?.getText() ?? '')
    else if (ts.isPropertyAccessExpression(node)) names.push(node.name.text)
    else if (ts.isBindingElement(node)) names.push((node.propertyName ?? node.name).getText())
    else if (ts.isStringLiteral(node)) names.push(node.text)
    ts.forEachChild(node, visit)
  }
  for (const name of readdirSync(`src/${folder}`, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const path = `src/${folder}/${name}`
    visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true))
  }
  return names
}

const builtIn = [Object, Array, String, Function].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
const names = [...new Set(['toJSON', ...FOLDERS.flatMap(namesIn)])].filter(
  name => /^[a-z_$][\w$]*$/i.test(name) && !builtIn.includes(name) && !OF_LANGUAGE.includes(name),
)

/** What may be there under a name: each is right for some fields, and wrong for the others. */
const VALUES: readonly unknown[] = ['0x01', 1, 1n, [], {}, () => '0x01', null]
const VALUES_ALONE = VALUES.slice(0, 3)

interface Known extends CorpusCase {
  /** Its outcome in a clean realm. */
  readonly expected: string
}

const spell = (outcome: unknown): string =>
  inspect(outcome, { depth: 20, maxArrayLength: null, maxStringLength: null, breakLength: Number.POSITIVE_INFINITY })

/** What comes out otherwise while these names have this value. */
async function compareUnder(polluted: readonly string[], value: unknown, cases: readonly Known[]): Promise<string[]> {
  const places = [Object.prototype, Array.prototype].flatMap(holder => polluted.map(name => [holder, name] as const))
  const descriptor = { value, writable: true, enumerable: true, configurable: true }
  const outcomes = new Map<Known, unknown>()
  for (const [holder, name] of places) Object.defineProperty(holder, name, descriptor)
  try {
    for (const one of cases) outcomes.set(one, await outcomeOf(one.content))
  } finally {
    for (const [holder, name] of places) Reflect.deleteProperty(holder, name)
  }
  return cases.flatMap(one => {
    const outcome = outcomes.get(one)
    const found = spell(outcome)
    // The package that executes calls does not work in such a realm. Then there is no verdict.
    const isCall = one.path.includes('/calls/') && !Object.hasOwn(Object(outcome), 'proven')
    if (found === one.expected || isCall) return []
    const under = `${polluted.length === 1 ? polluted[0] : 'all names'}: ${spell(value)}`
    return [`${one.path}, ${under}: ${found.slice(0, 200)}, not ${one.expected.slice(0, 200)}`]
  })
}

/** @param isWhole whether each name alone runs over all vectors, and beacon blocks and calls are not a sample */
async function runPolluted(isWhole: boolean): Promise<PollutedReport> {
  const all = corpusIn(['valid', 'invalid'], VECTOR_FOLDERS)
  const isSlow = ({ path }: CorpusCase) => /\/(beacon|calls)\/|beacon-block/.test(path)
  const chosen = isWhole
    ? all
    : [...all.filter(one => !isSlow(one)), ...all.filter(isSlow).filter((_, i) => i % 24 === 0)]
  const known: Known[] = []
  for (const one of chosen) known.push({ ...one, expected: spell(await outcomeOf(one.content)) })
  const small = /\/(transactions-sparse|claimable|ethereum-block-hash)\.json$/
  const few = isWhole ? known : known.filter(({ path }) => small.test(path))
  const differences: string[] = []
  let runs = 0
  const run = async (polluted: readonly string[], value: unknown, cases: readonly Known[]) => {
    differences.push(...(await compareUnder(polluted, value, cases)))
    runs += cases.length
  }
  for (const [index, value] of VALUES.entries()) {
    const isDue = (_: Known, place: number) => isWhole || index === 0 || (place + index) % 8 === 0
    await run(names, value, known.filter(isDue))
  }
  for (const [place, name] of names.entries()) {
    const isDue = (_: unknown, index: number) => isWhole || place % VALUES_ALONE.length === index
    for (const value of VALUES_ALONE.filter(isDue)) await run([name], value, few)
  }
  return { names: names.length, together: known.length, alone: few.length, values: VALUES.length, runs, differences }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(JSON.stringify(await runPolluted(process.argv.includes('--whole'))))
}
