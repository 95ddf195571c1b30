import { createCache } from './cache.ts'
import { isProviderError, refusedFor } from './error.ts'
import { FAILURE_MEMORY, MAX_OTHER_VIEWS } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { readBlock } from './params.ts'
import { type createViews, describe, type Held, newestIn } from './view.ts'

export type CurrentView = ReturnType<typeof createCurrentView>

interface Pair {
  readonly state: Held
  readonly blocks: Held
}

/**
 * The view from which a provider answers. It moves forward only.
 *
 * With `oneHead`, state is that of the finalization before the newest one. L1 holds its root, and the newest state proves its
 * block: so the number of this block is good for both. Where L1 holds hashes, that of the newest one is, too.
 */
export function createCurrentView(
  views: ReturnType<typeof createViews>,
  { onView, isForWallet, oneHead }: Pick<VerifiedOptions, 'onView' | 'isForWallet' | 'oneHead'>,
) {
  const others = createCache<bigint, Promise<Held>>(MAX_OTHER_VIEWS)
  let current: Pair | null = null
  let finding: Promise<Pair> | null = null
  let failed: { readonly search: Promise<Pair>; readonly at: number } | null = null

  async function find(): Promise<Pair> {
    const before = current
    const blocks = await views.find(before?.blocks ?? null)
    // At the first block of all, there is nothing before.
    const isBefore = oneHead && blocks.header === undefined && blocks.l2BlockNumber > 0n
    const isSame = before?.blocks.l2BlockNumber === blocks.l2BlockNumber
    const state = !isBefore ? blocks : isSame ? before.state : await views.findBefore(blocks)
    current = { state, blocks: isBefore ? { ...blocks, head: state.l2BlockNumber } : blocks }
    if (before?.state.l2BlockNumber === state.l2BlockNumber) return current
    // A wallet goes on with the number for some seconds.
    if (isForWallet && before !== null) others.set(newestIn(before.blocks), Promise.resolve(before.state))
    // Deferred, because what it throws is not an error of the provider.
    if (onView) queueMicrotask(() => onView(describe(state)))
    return current
  }

  function refresh(): Promise<Pair> {
    finding ??= find().finally(() => {
      finding = null
    })
    return finding
  }

  /** The view. Without one, a search for it; after a failed search, its failure for a while. */
  async function pairNow(): Promise<Pair> {
    if (current !== null) return current
    const age = Date.now() - (failed?.at ?? Number.NEGATIVE_INFINITY)
    if (finding === null && failed !== null && age >= 0 && age < FAILURE_MEMORY) return failed.search
    const search = refresh()
    search.catch(() => {
      failed = { search, at: Date.now() }
    })
    return search
  }

  async function findAt(block: unknown, pace: Pick<Pace, 'beSlow'>): Promise<Held> {
    const wanted = readBlock(block, isForWallet)
    const { state: view, blocks } = await pairNow()
    const isNewest = wanted === view.l2BlockNumber || (isForWallet && wanted === newestIn(blocks))
    if (wanted === 'latest' || isNewest) return view
    const found = noState(view, oneHead)
    if (wanted > view.l2BlockNumber) throw refusedFor('BLOCK_UNPROVEN', { found })
    const known = others.get(wanted)
    if (known !== undefined) return known
    await pace.beSlow()
    const finding = views.findAt(view, wanted).catch(error => {
      others.delete(wanted)
      throw isProviderError(error) ? refusedFor('BLOCK_UNPROVEN', { found, cause: error }) : error
    })
    others.set(wanted, finding)
    return finding
  }

  return {
    refresh: async () => (await refresh()).state,
    state: async () => (await pairNow()).state,
    current: async () => (await pairNow()).blocks,
    /** The block that a request names. The request is answered from it until it ends, even if the view moves. */
    async heldAt(block: unknown, pace: Pick<Pace, 'beSlow' | 'signal'>): Promise<Held> {
      const held = await findAt(block, pace)
      return { ...held, state: held.state.by(pace) }
    },
  }
}

/** Often the number was that of `eth_blockNumber`, perhaps of a view before this one, or of another provider. */
function noState({ l2BlockNumber: number, header }: Held, oneHead: boolean): string {
  const proven = `State is proven after block ${number}, and after the last blocks of earlier finalizations.`
  if (oneHead || header !== undefined) return proven
  return `${proven} A program that asks for state at the number of eth_blockNumber needs the option \`oneHead\` (of the proxy, --one-head).`
}
