/** Lets each client have so many requests a second, and as many at once. */
export interface RateLimit {
  /** @returns 0 when the request may pass, else the seconds to wait */
  take(client: string): number
}

/** More clients than this are not told apart: it starts anew. */
const MAX_CLIENTS = 10_000

export function createRateLimit(perSecond: number, now: () => number = Date.now): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return {
    take(client) {
      if (buckets.size >= MAX_CLIENTS && !buckets.has(client)) buckets.clear()
      const at = now()
      const bucket = buckets.get(client) ?? { tokens: perSecond, at }
      const tokens = Math.min(perSecond, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
      const passes = tokens >= 1
      buckets.set(client, { tokens: passes ? tokens - 1 : tokens, at })
      return passes ? 0 : Math.ceil((1 - tokens) / perSecond)
    },
  }
}
