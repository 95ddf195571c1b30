import { createCache } from './cache.ts'
import { refusedFor } from './error.ts'
import { FAILURE_MEMORY, MAX_OTHER_VIEWS } from './limits.ts'
import type { ProviderView } from './options.ts'
import type { Pace } from './pace.ts'
import { readBlock } from './params.ts'
import { describe, type Held, newestIn, type Views } from './view.ts'

export type CurrentView = ReturnType<typeof createCurrentView>

/**
 * The view from which a provider answers. It moves forward only.
 *
 * @param isForWallet whether the number that `eth_blockNumber` names stands for the state of the view, too
 */
export function createCurrentView(
  views: Views,
  onView: ((view: ProviderView) => void) | undefined,
  isForWallet: boolean,
) {
  const others = createCache<bigint, Promise<Held>>(MAX_OTHER_VIEWS)
  let current: Held | null = null
  let finding: Promise<Held> | null = null
  let failed: { readonly search: Promise<Held>; readonly at: number } | null = null

  async function find(): Promise<Held> {
    const before = current
    const found = await views.find(before)
    current = found
    if (before?.l2BlockNumber === found.l2BlockNumber) return found
    // A wallet goes on with the number for some seconds.
    if (isForWallet && before !== null) others.set(newestIn(before), Promise.resolve(before), 1)
    // Deferred, because what it throws is not an error of the provider.
    if (onView) queueMicrotask(() => onView(describe(found)))
    return found
  }

  /** Looks for a newer view. One search at a time, so that an older one never ends after a newer one. */
  function refresh(): Promise<Held> {
    finding ??= find().finally(() => {
      finding = null
    })
    return finding
  }

  /** The view. Without one, a search for it; after a failed search, its failure for a while. */
  async function viewNow(): Promise<Held> {
    if (current !== null) return current
    const age = Date.now() - (failed?.at ?? Number.NEGATIVE_INFINITY)
    if (finding === null && failed !== null && age >= 0 && age < FAILURE_MEMORY) return failed.search
    const search = refresh()
    search.catch(() => {
      failed = { search, at: Date.now() }
    })
    return search
  }

  return {
    refresh,
    /** The view. Looks for one if there is none yet. */
    current: viewNow,
    /**
     * The block that a request names. The request is answered from it until it ends, even if the view moves.
     *
     * @throws ProviderError `BLOCK_UNPROVEN`, `PARAMS_INVALID`
     */
    async heldAt(block: unknown, pace: Pick<Pace, 'beSlow'>): Promise<Held> {
      const wanted = readBlock(block, isForWallet)
      const view = await viewNow()
      if (wanted === 'latest' || wanted === view.l2BlockNumber) return view
      if (isForWallet && wanted === newestIn(view)) return view
      if (wanted > view.l2BlockNumber) throw refusedFor('BLOCK_UNPROVEN')
      const known = others.get(wanted)
      if (known !== undefined) return known
      await pace.beSlow()
      const found = views.findAt(view, wanted)
      others.set(wanted, found, 1)
      return found.catch(error => {
        others.delete(wanted)
        throw error
      })
    },
  }
}
