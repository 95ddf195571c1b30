import { encodeQuantity } from '../../base/hex.ts'
import { headerOf, type ProvenBlock } from '../../verify/evidence/chain.ts'
import { type Environment, environmentIn, onlyGiven } from '../environment.ts'
import { unused } from './state.ts'
import type { CallBundle } from './types.ts'

/** The values that the anchor of a call proves: those of the header, if L1 holds its hash, and otherwise the timestamp at most. */
export function provenIn(anchor: Anchored): Environment {
  const header = headerOf(anchor)
  return header ? environmentIn(header) : onlyGiven<Environment>({ timestamp: anchor.finalizedTimestamp })
}

type Anchored = Pick<ProvenBlock, 'stateRoot' | 'finalizedTimestamp' | 'l2Block'>

/**
 * Wraps the stated values, and collects the names of those that are read, such as `baseFee` or `blockHashes.7`. `all` are the same
 * values, and reading them is not noted.
 *
 * @param proven takes the place of what is stated
 */
export function watchEnvironment(stated: Environment, proven: Environment) {
  const read = new Set<string>()
  const watch = <T extends object>(values: T, prefix: string): T =>
    new Proxy(values, {
      get(target, name) {
        read.add(`${prefix}${String(name)}`)
        return Reflect.get(target, name)
      },
    })
  const all: Environment = Object.assign(Object.create(null), stated, proven)
  const blockHashes = { ...stated.blockHashes, ...proven.blockHashes }
  all.blockHashes = blockHashes
  const watched = Object.assign(Object.create(null), all, { blockHashes: watch(blockHashes, 'blockHashes.') })
  return { environment: watch<Environment>(watched, ''), all, read }
}

/** As {@link watchEnvironment} collects them. */
const namesIn = ({ blockHashes = {}, ...values }: Environment): string[] => [
  ...Object.keys(values),
  ...Object.keys(blockHashes).map(number => `blockHashes.${number}`),
]

/** Refuses a value that the execution did not read. */
export function verifyEnvironmentUsed(stated: Environment, read: ReadonlySet<string>): void {
  const name = namesIn(stated).find(name => !read.has(name))
  if (name !== undefined) throw unused(`environment.${name}`, 'a value that is not read')
}

/** Refuses a value beside one that is proven. */
export function verifyUnproven(stated: Environment, proven: Environment): void {
  const name = namesIn(stated).find(name => namesIn(proven).includes(name))
  if (name !== undefined) throw unused(`environment.${name}`, 'a value beside the one that is proven')
}

/** The values that the execution read and nothing proves, as a bundle states them. */
export function encodeEnvironment(
  { blockHashes = {}, ...values }: Environment,
  read: ReadonlySet<string>,
  proven: Environment,
): CallBundle['environment'] {
  const known = namesIn(proven)
  const isStated = (name: string) => read.has(name) && !known.includes(name)
  const stated = Object.entries(values).filter(([name]) => isStated(name))
  const hashes = Object.entries(blockHashes).filter(([number]) => isStated(`blockHashes.${number}`))
  return {
    ...Object.fromEntries(
      stated.map(([name, value]) => [name, typeof value === 'bigint' ? encodeQuantity(value) : value]),
    ),
    ...(hashes.length > 0 && { blockHashes: Object.fromEntries(hashes) }),
  }
}
