import { type Hex, stringify } from '../../../src/entry/index.ts'
import { type TransitionClaim, verifyTransition } from '../../../src/entry/transition.ts'
import { verdict } from '../../refusal.ts'

/** A place in an answer, by names and indices. */
type Path = readonly (string | number)[]

/** Paths of all texts and numbers. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, part]) =>
    leavesOf(part, [...path, Array.isArray(value) ? Number(name) : name]),
  )
}

/** A copy of `value`, which shares with it what is beside the path. */
function changeAt(value: unknown, path: Path, change: (leaf: unknown) => unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return change(value)
  const part = changeAt(Reflect.get(Object(value), name), rest, change)
  return Array.isArray(value) ? value.with(Number(name), part) : { ...Object(value), [name]: part }
}

/** What a leaf may be changed into: each is another value, or another spelling of the same. */
const CHANGES: readonly ((leaf: unknown) => unknown)[] = [
  leaf => (typeof leaf === 'number' ? leaf + 1 : flip(String(leaf), 1)),
  leaf => (typeof leaf === 'number' ? Math.max(0, leaf - 1) : flip(String(leaf), 2 + (String(leaf).length >> 2))),
  leaf => (typeof leaf === 'number' ? leaf + 2 ** 40 : String(leaf).slice(0, -2)),
  leaf => (typeof leaf === 'number' ? `${leaf}` : `0x${'00'.repeat(String(leaf).length / 2 - 1)}`),
  leaf => (typeof leaf === 'number' ? -1 : String(leaf).toUpperCase().replace('0X', '0x')),
  () => null,
]

/** `hex` with another digit, counted from its end. */
function flip(hex: string, fromEnd: number): string {
  const at = hex.length - fromEnd
  return `${hex.slice(0, at)}${(Number.parseInt(hex.charAt(at), 16) ^ 1).toString(16)}${hex.slice(at + 1)}`
}

/**
 * Changes an answer at places of a random choice, and verifies it each time.
 *
 * @returns how many of the changed answers were refused, and how many said the same; the others said something else
 */
export function changeEverywhere(
  answer: unknown,
  claim: TransitionClaim & { stateRoot: Hex },
  { random, count }: { random: () => number; count: number },
) {
  const truth = stringify(verifyTransition(answer, claim))
  const paths = leavesOf(answer)
  const outcomes = { refused: 0, same: 0, codes: new Set<string>(), lies: [] as string[] }
  for (let index = 0; index < count; index++) {
    const path = paths[Math.floor(random() * paths.length)] ?? []
    const change = CHANGES[index % CHANGES.length] ?? String
    const changed = changeAt(answer, path, change)
    let told = ''
    const outcome = verdict(() => (told = stringify(verifyTransition(changed, claim))))
    if (outcome !== 'accepted') outcomes.refused++
    else if (told === truth) outcomes.same++
    else outcomes.lies.push(path.join('.'))
    outcomes.codes.add(outcome.split(' ')[0] ?? '')
  }
  return outcomes
}
