import { MAX_CLIENTS } from './limits.ts'

/**
 * A token bucket per client: it limits requests per second, and allows bursts of one second's worth. The function returns 0 if
 * the request may pass, otherwise the seconds to wait.
 */
export function createRateLimit(perSecond: number): (client: string) => number {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return client => {
    if (buckets.size >= MAX_CLIENTS && !buckets.has(client)) buckets.clear()
    const at = Date.now()
    const bucket = buckets.get(client) ?? { tokens: perSecond, at }
    const tokens = Math.min(perSecond, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
    const passes = tokens >= 1
    buckets.set(client, { tokens: passes ? tokens - 1 : tokens, at })
    return passes ? 0 : Math.ceil((1 - tokens) / perSecond)
  }
}
