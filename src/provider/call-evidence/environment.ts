import { encodeQuantity } from '../../hex.ts'
import type { Environment } from '../environment.ts'
import { unused } from './state.ts'
import type { CallBundle } from './types.ts'

/**
 * Wraps the stated values, and collects the names of those that are read, such as `baseFee` or `blockHashes.7`.
 *
 * @param proven the timestamp that L1 proves, which takes the place of a stated one
 */
export function watchEnvironment(stated: Environment, proven: bigint | undefined) {
  const read = new Set<string>()
  const watch = <T extends object>(values: T, prefix: string): T =>
    new Proxy(values, {
      get(target, name) {
        read.add(`${prefix}${String(name)}`)
        return Reflect.get(target, name)
      },
    })
  const values: Environment = Object.assign(Object.create(null), stated, proven !== undefined && { timestamp: proven })
  values.blockHashes = watch(stated.blockHashes ?? {}, 'blockHashes.')
  return { environment: watch(values, ''), read }
}

/** Refuses a value that the execution did not read. */
export function verifyEnvironmentUsed({ blockHashes = {}, ...values }: Environment, read: ReadonlySet<string>): void {
  const names = [...Object.keys(values), ...Object.keys(blockHashes).map(number => `blockHashes.${number}`)]
  const name = names.find(name => !read.has(name))
  if (name !== undefined) throw unused(`environment.${name}`, 'a value that is not read')
}

/** The values that the execution read and L1 does not prove, as a bundle states them. */
export function encodeEnvironment(
  { blockHashes = {}, ...values }: Environment,
  read: ReadonlySet<string>,
  isTimestampProven: boolean,
): CallBundle['environment'] {
  const stated = Object.entries(values).filter(
    ([name]) => read.has(name) && !(name === 'timestamp' && isTimestampProven),
  )
  const hashes = Object.entries(blockHashes).filter(([number]) => read.has(`blockHashes.${number}`))
  return {
    ...Object.fromEntries(
      stated.map(([name, value]) => [name, typeof value === 'bigint' ? encodeQuantity(value) : value]),
    ),
    ...(hashes.length > 0 && { blockHashes: Object.fromEntries(hashes) }),
  }
}
