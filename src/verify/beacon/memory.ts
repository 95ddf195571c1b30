import { MAX_REMEMBERED } from './limits.ts'

/** Remembers what belongs to the {@link MAX_REMEMBERED} keys that were used last. */
export function createMemory<Key, Value>() {
  const kept = new Map<Key, Value>()
  return {
    get: (key: Key): Value | undefined => kept.get(key),
    keep(key: Key, value: Value): Value {
      // The last entry is the one used last.
      kept.delete(key)
      kept.set(key, value)
      for (const old of kept.keys()) if (kept.size > MAX_REMEMBERED) kept.delete(old)
      return value
    },
  }
}
