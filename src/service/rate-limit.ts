import { MAX_CLIENTS } from './limits.ts'

/** A token bucket per client: it limits requests per second, and allows bursts of one second's worth. */
export interface RateLimit {
  /** @returns 0 if the request may pass, otherwise the seconds to wait */
  take(client: string): number
}

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
