/** Keeps values by key, up to a total size. What is evicted is fetched and proven again when it is needed again. */
export function createCache<K, V>(capacity: number) {
  const entries = new Map<K, { readonly value: V; readonly size: number }>()
  let total = 0
  function remove(key: K): void {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }
  return {
    get: (key: K): V | undefined => entries.get(key)?.value,
    set(key: K, value: V, size = 1): void {
      total += size - (entries.get(key)?.size ?? 0)
      entries.set(key, { value, size })
      for (const oldest of entries.keys()) {
        if (total <= capacity) return
        remove(oldest)
      }
    },
    delete: remove,
  }
}
