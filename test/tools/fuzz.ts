/**
 * `npm run fuzz -- --scheme poseidon2 --runs 1000000 --seed 1`: verifies random changes of true answers.
 *
 * Checks the library's promise: any answer is either refused with a ProofError or verified as what the state holds. If an
 * answer breaks it, prints the run and the answer, and exits with code 1. The same seed reproduces it.
 */
import { parseArgs } from 'node:util'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type PlantedLeaf, plantSentinels, plantTree } from '../../vectors/forge.ts'
import {
  flipBitAt,
  isRefused,
  type Json,
  type Place,
  partAt,
  placesOf,
  replaceAt,
  type TrueAnswer,
  trueAnswers,
} from '../answers.ts'
import { randomOf } from '../random.ts'

const { values } = parseArgs({
  options: {
    scheme: { type: 'string', default: 'poseidon2' },
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
})
const scheme = values.scheme === 'mimc' ? mimc : poseidon2
const [runs, seed] = [Number(values.runs), Number(values.seed)]

/** Every run has its own numbers, so that a single run can be repeated. */
let draw = randomOf(0)
const random = (below: number): number => Math.floor(draw() * below)

function pick<T>(items: readonly T[]): T {
  const item = items[random(items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

const pool = trueAnswers(scheme).map(one => ({ ...one, places: [...placesOf(one.answer)] }))
const ODD: Json[] = [null, true, 0, -1, 0.5, 1e300, 2 ** 40, '', '0x', '0x0', 'x', [], {}, [null], { length: 42 }]

/** The kinds of changes to an answer. */
const changes: Record<string, (answer: Json, places: readonly Place[]) => Json> = {
  bit: (answer, places) => changeHex(answer, places, hex => flipBitAt(hex, random(4 * (hex.length - 2)))),
  bytes: (answer, places) =>
    changeHex(answer, places, hex => {
      const [at, length] = [2 + 2 * random(hex.length / 2 - 1), 2 * (1 + random(32))]
      const bytes = pick(['00', 'ff', '7f000001', '12ab655e', '7f000000']).repeat(16).slice(0, length)
      return (hex.slice(0, at) + bytes + hex.slice(at + length)).slice(0, hex.length)
    }),
  length: (answer, places) =>
    changeHex(answer, places, hex => pick([`${hex}00`, hex.slice(0, -2), `0x00${hex.slice(2)}`, hex.slice(0, -1)])),
  odd: (answer, places) => replaceAt(answer, pick(places), () => pick(ODD)),
  drop: (answer, places) => replaceAt(answer, pick(places), () => undefined),
  index: (answer, places) => {
    const indices = places.filter(place => typeof partAt(answer, place) === 'number')
    const change = (part: Json) =>
      pick([Number(part) + 1, Number(part) - 1, random(30), Number(part) + 2 ** random(54)])
    return indices.length === 0 ? answer : replaceAt(answer, pick(indices), change)
  },
  order: (answer, places) => {
    const lists = places.filter(place => Array.isArray(partAt(answer, place)))
    const move = (list: Json) => {
      if (!Array.isArray(list) || list.length === 0) return list
      const moved = pick(list)
      return pick([list.toSpliced(random(list.length), 1, moved), list.toSpliced(random(list.length), 0, moved)])
    }
    return lists.length === 0 ? answer : replaceAt(answer, pick(lists), move)
  },
  /** Inserts a part of another true answer, from the same place or any other. */
  exchange: (answer, places) => {
    const [other, place] = [pick(pool), pick(places)]
    const part = partAt(other.answer, random(3) === 0 ? pick(other.places) : place)
    return replaceAt(answer, place, () => part)
  },
  /** Changes the JSON text. If the result is not JSON, the answer stays unchanged. */
  text: answer => {
    const text = JSON.stringify(answer)
    const [at, end] = [random(text.length), random(text.length)]
    const inserted = pick(['', '"', ',', '0', '[', ']', '{}', 'e9', '-', '\\u0000', text.slice(at, at + random(80))])
    const changed = text.slice(0, at) + inserted + text.slice(random(2) === 0 ? at + random(3) : Math.max(at, end))
    try {
      return JSON.parse(changed)
    } catch {
      return answer
    }
  },
}

function changeHex(answer: Json, places: readonly Place[], change: (hex: string) => string): Json {
  const strings = places.filter(place => String(partAt(answer, place)).length > 2)
  const toHex = (part: Json) => (typeof part === 'string' ? change(part) : part)
  return strings.length === 0 ? answer : replaceAt(answer, pick(strings), toHex)
}

/** A self-consistent tree made by a forger, in which the account has the forger's leaf or is absent. */
function reseal({ address }: TrueAnswer): Json {
  const [donor] = pool
  const opening = String(partAt(donor?.answer ?? null, ['accountProof', 'proof', 'proofRelatedNodes', 41]))
  const [hKey, hVal] = [opening.slice(-128, -64), opening.slice(-64)].map(digest => `0x${digest}`)
  const value = String(partAt(donor?.answer ?? null, ['accountProof', 'proof', 'value']))
  const leaf: PlantedLeaf = { index: 2, prev: 0, next: 1, hKey: hKey ?? '', hVal: hVal ?? '', value }
  const isThere = random(2) === 0
  const ends = isThere ? plantSentinels(scheme, 2, 2) : plantSentinels(scheme, 1, 0)
  const tree = plantTree(scheme, isThere ? [...ends, leaf] : ends, 3 + random(5))
  const absence = { leftLeafIndex: 0, leftProof: tree.prove(0), rightLeafIndex: 1, rightProof: tree.prove(1) }
  const form = isThere ? { leafIndex: 2, proof: tree.prove(2) } : absence
  return JSON.parse(JSON.stringify({ accountProof: { key: address, ...form }, storageProofs: [] }))
}

const counts = { refused: 0, true: 0 }
const slowest = { milliseconds: 0, run: 0 }
const started = performance.now()

for (let run = 1; run <= runs; run++) {
  draw = randomOf(Math.imul(seed, 0x9e3779b1) ^ Math.imul(run, 0x85ebca6b))
  const one = pick(pool)
  let answer = random(500) === 0 ? reseal(one) : one.answer
  for (let left = 1 + random(3); left > 0; left--) {
    answer = pick(Object.values(changes))(answer, answer === one.answer ? one.places : [...placesOf(answer)])
  }

  const before = performance.now()
  try {
    counts[isRefused(one, answer) ? 'refused' : 'true']++
  } catch (error) {
    const { name, stateRoot, address, storageKeys } = one
    console.error(`\nESCAPE in run ${run} with --seed ${seed}, from "${name}":`, error)
    console.error(JSON.stringify({ scheme: scheme.name, stateRoot, address, storageKeys, answer }))
    process.exit(1)
  }
  const milliseconds = performance.now() - before
  if (milliseconds > slowest.milliseconds) Object.assign(slowest, { milliseconds, run })

  if (run % 1000 === 0 || run === runs) {
    const seconds = ((performance.now() - started) / 1000).toFixed(0)
    const slow = `slowest call ${slowest.milliseconds.toFixed(1)} ms (run ${slowest.run})`
    process.stdout.write(`\r${run} runs, ${counts.refused} refused, ${counts.true} true, ${slow}, ${seconds} s`)
  }
}
console.log()
