import { createCache } from './cache.ts'
import { FILTER_IDLE, MAX_CLIENTS } from './limits.ts'

/** When a client was there: since when without a pause that is too long for its filters, and until when. */
export interface Presence {
  readonly began: number
  readonly at: number
}

/** Which clients ask for anything, so that the filters of those who are still there live. */
export function createPresence() {
  const clients = createCache<string, Presence>(MAX_CLIENTS)
  return {
    get: clients.get,
    note(client: string): void {
      const at = Date.now()
      const before = clients.get(client)
      const isBack = before === undefined || at - before.at > FILTER_IDLE
      // Again at the end: those that were not there for the longest time are forgotten first.
      clients.delete(client)
      clients.set(client, { began: isBack ? at : before.began, at }, 1)
    },
  }
}
