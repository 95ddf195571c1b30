import { bytesToHex, type Hex } from '../base/bytes.ts'
import { refusedFor } from './error.ts'
import { FILTER_IDLE, FILTER_SIZE, MAX_FILTERS_A_CLIENT, MAX_FILTERS_SIZE } from './limits.ts'

/** A query, and the position of a client in the chain. It holds nothing of what the client will get. */
export interface Filter<Query> {
  readonly owner: string
  readonly query: Query
  readonly size: number
  /** The first block that the client has not seen. */
  next: bigint
  /** When its owner last asked for anything. */
  seenAt: number
  /** Ends with the last request that was made: each one goes on where the one before ended. */
  turn: Promise<unknown>
}

export type Register<Query> = ReturnType<typeof createRegister<Query>>

/** The filters of all clients, within their bounds. */
export function createRegister<Query>() {
  const filters = new Map<Hex, Filter<Query>>()
  const isIdle = ({ seenAt }: Filter<Query>): boolean => Date.now() - seenAt > FILTER_IDLE

  function sweep(owner: string, size: number): void {
    for (const [id, filter] of filters) if (isIdle(filter)) filters.delete(id)
    const all = [...filters.values()]
    let total = all.reduce((sum, filter) => sum + filter.size, size)
    let own = all.filter(filter => filter.owner === owner).length + 1
    for (const [id, filter] of filters) {
      const isTooMany = own > MAX_FILTERS_A_CLIENT && filter.owner === owner
      if (!isTooMany && total <= MAX_FILTERS_SIZE) continue
      filters.delete(id)
      total -= filter.size
      if (filter.owner === owner) own--
    }
  }

  return {
    /** That a client asks for anything: its filters live on, because some clients ask for changes only when there is a new block. */
    note(client: string): void {
      for (const filter of filters.values()) if (filter.owner === client && !isIdle(filter)) filter.seenAt = Date.now()
    },
    add(owner: string, query: Query, choices: number, next: bigint): Hex {
      const size = FILTER_SIZE + choices
      sweep(owner, size)
      // Nobody can guess it, and it is a quantity.
      const id: Hex = `0x1${bytesToHex(crypto.getRandomValues(new Uint8Array(15))).slice(2)}`
      const fresh = { next, seenAt: Date.now(), turn: Promise.resolve() }
      filters.set(id, { owner, query, size, ...fresh })
      return id
    },
    /** @throws ProviderError `FILTER_MISSING` */
    find(id: Hex): Filter<Query> {
      const filter = filters.get(id)
      filters.delete(id)
      if (filter === undefined || isIdle(filter)) throw refusedFor('FILTER_MISSING')
      filter.seenAt = Date.now()
      filters.set(id, filter)
      return filter
    },
    remove: (id: Hex): boolean => filters.delete(id),
  }
}
