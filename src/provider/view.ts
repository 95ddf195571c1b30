import type { Hex } from '../base/bytes.ts'
import { isProofError, type ProofError } from '../base/errors.ts'
import { readHex } from '../base/options.ts'
import { stepBack, walkAnchors } from '../client/l1/finalizations.ts'
import {
  type Anchor,
  fetchAnchor,
  fetchL1Block,
  fetchNewest,
  fetchTimed,
  type L1Source,
  openAnchor,
  readCurrent,
} from '../client/l1/l1.ts'
import { allOf } from '../client/sources/endpoints.ts'
import { EndpointError, isFailure, isPassing } from '../client/transport/error.ts'
import { begin, orAbort } from '../client/transport/waiting.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'
import { createStateVerifier, type StateScheme, type StateVerifier } from '../verify/state/kind.ts'
import { createCache } from './cache.ts'
import { refusedFor } from './error.ts'
import { FAILURE_MEMORY, MAX_FINALIZATIONS, MAX_OTHER_VIEWS } from './limits.ts'
import type { ProviderView, VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { createProvenState, type KnownState, NOBODY, type ProvenState } from './proven-state.ts'
import { readBlock } from './requests.ts'

export interface Held extends Omit<ProviderView, 'ageSeconds' | 'blockHash' | 'newestL2BlockNumber'> {
  /** Proven if L1 holds the hash of the block in place of its state root. */
  readonly header: BlockHeader | undefined
  readonly state: ProvenState
  /** The last finalized L2 block at the L1 block. */
  readonly newest: bigint
  /** The newest block that is answered, if an earlier one than this view proves. */
  readonly head?: bigint
}

/**
 * The newest block that is proven as a block, with its header, transactions and logs: that of the view if L1 holds its hash.
 * Otherwise the one before, because the state after a block holds the hashes of those before it, not its own.
 */
export const newestIn = ({ l2BlockNumber, header, head }: Pick<Held, 'l2BlockNumber' | 'header' | 'head'>): bigint =>
  head ?? (header !== undefined || l2BlockNumber === 0n ? l2BlockNumber : l2BlockNumber - 1n)

export function describe({ l2BlockNumber, newest, stateRoot, header, l1Block, timestamp }: Held): ProviderView {
  return {
    l2BlockNumber,
    newestL2BlockNumber: newest > l2BlockNumber ? newest : undefined,
    stateRoot,
    blockHash: header?.hash,
    l1Block: { ...l1Block },
    timestamp,
    ageSeconds: Math.max(0, Math.floor(Date.now() / 1000) - Number(timestamp ?? l1Block.timestamp)),
  }
}

export type ViewSource = Pick<
  VerifiedOptions,
  'l1' | 'l2' | 'rollup' | 'scheme' | 'l1BlockHash' | 'method' | 'maxKeysPerRequest' | 'signal'
> & {
  readonly known: KnownState
}

const toNull = () => null

/** What L1 endpoints call final: the block, and the last L2 block in the contract's storage. A hint of what to prove; null if it fails. */
const nameNewest = (source: L1Source) =>
  Promise.all([
    fetchL1Block(source, 'finalized').catch(toNull),
    source.l1.run((l1, { signal }) => readCurrent(l1, { ...source, signal }, 'finalized'), source.signal).catch(toNull),
  ])

/** Proves that the L2 block which an endpoint named is the newest finalized one. Null if it is not. */
async function proveNamed(source: L1Source, l1Block: L1Block, named: bigint | null) {
  if (named === null) return null
  const timed = begin(fetchTimed(source, l1Block, named))
  const anchor = await fetchAnchor(source, l1Block, named).catch(toNull)
  return anchor?.currentL2BlockNumber === named ? { anchor, timed } : null
}

/** A view as a later L1 block proves it. */
async function renew(source: L1Source, current: Held, l1Block: L1Block): Promise<Held> {
  if (l1Block === current.l1Block) return current
  const { l2BlockNumber, stateRoot, header } = current
  const anchor = await fetchAnchor(source, l1Block, l2BlockNumber).catch(orUnproven)
  if (isProofError(anchor)) return { ...current, newest: await fetchNewest(source, l1Block) }
  const [before, now] = [header?.hash ?? stateRoot, anchor.stateRoot ?? anchor.blockHash]
  verifySame(`L2 block ${l2BlockNumber}`, header === undefined ? 'root' : 'hash', before, now)
  return { ...current, l1Block, newest: anchor.currentL2BlockNumber }
}

export function createViews(source: ViewSource) {
  const { l1, l2, rollup, signal } = source
  const l1Source: L1Source = { l1, rollup, signal, scheme: source.scheme }
  /** Of the stated kind, and of Ethereum's. */
  const verifiers = new Map<StateScheme, StateVerifier>()

  /** A view of a block. What L1 holds decides of which kind its state is. */
  async function open(anchor: Anchor, l1Block: L1Block, newest: bigint): Promise<Held> {
    const { l2BlockNumber } = anchor
    const { scheme, stateRoot, header } = await openAnchor({ l2, signal }, anchor, source.scheme)
    const verify = verifiers.get(scheme) ?? createStateVerifier(scheme)
    verifiers.set(scheme, verify)
    const state = createProvenState({ ...source, block: l2BlockNumber, stateRoot, scheme, verify })
    return { l2BlockNumber, stateRoot, header, l1Block, newest, timestamp: header?.timestamp, state }
  }

  /** The newest finalization whose proofs the L2 endpoint has; otherwise what is kept, if nothing is above it. */
  async function walk(kept: Held | null, l1Block: L1Block, newest: bigint, first?: Anchor): Promise<Held> {
    const use = async (anchor: Anchor) => {
      if (kept !== null && anchor.l2BlockNumber <= kept.l2BlockNumber) return kept
      return open(anchor, l1Block, newest).then(askedFor).catch(orPassing)
    }
    return stepBack(walkAnchors(l1Source, l1Block, MAX_FINALIZATIONS, first ?? newest), use, kept)
  }

  return {
    /**
     * The newest view, or `current` if nothing newer is proven.
     *
     * @throws the error with which an endpoint's answer is refused; EndpointError `L1_DISAGREEMENT` if a final block has changed
     */
    async find(current: Held | null): Promise<Held> {
      // Meanwhile, L2 says which chain it serves. If that fails, it is asked again by what needs it.
      if (current === null) begin(allOf(l2.each(async () => null)))
      const naming = current === null ? nameNewest(l1Source) : null
      const hash = readHex('l1BlockHash', await orAbort(source.l1BlockHash, signal), 32)
      const [block, named] = (await naming) ?? [current, null]
      const l1Block = block?.l1Block.hash === hash ? block.l1Block : (await fetchL1Block(l1Source, hash)).l1Block
      const { number } = l1Block
      if (current !== null && number < current.l1Block.number) return current
      if (number === current?.l1Block.number) verifySame(`L1 block ${number}`, 'hash', current.l1Block.hash, hash)

      const first = await proveNamed(l1Source, l1Block, named)
      const kept = current && (await renew(l1Source, current, l1Block))
      const newest = kept?.newest ?? first?.anchor.l2BlockNumber ?? (await fetchNewest(l1Source, l1Block))
      if (current !== null && newest < current.l2BlockNumber) return current
      if (kept?.l2BlockNumber === newest && kept.timestamp !== undefined) return kept
      // L1 proves the timestamp of the newest finalization only. Waited for last, so that an earlier error counts. A header has
      // its own, and after one, no state root follows.
      const mayBeTimed = kept?.header === undefined
      const timed = first?.timed ?? (mayBeTimed ? begin(fetchTimed(l1Source, l1Block, newest)) : null)
      const found = kept?.l2BlockNumber === newest ? kept : await walk(kept, l1Block, newest, first?.anchor)
      if (found.l2BlockNumber !== newest || found.header !== undefined) return found
      return { ...found, timestamp: (await timed)?.finalizedTimestamp }
    },
    /** The view of the finalization before. @throws EndpointError `PROOF_UNAVAILABLE` if there is none */
    async findBefore({ l1Block, newest, l2BlockNumber }: Held): Promise<Held> {
      for await (const anchor of walkAnchors(l1Source, l1Block, MAX_FINALIZATIONS + 1, newest)) {
        if (anchor.l2BlockNumber < l2BlockNumber) return askedFor(await open(anchor, l1Block, newest))
      }
      throw new EndpointError('PROOF_UNAVAILABLE', { found: `no finalization before that of block ${l2BlockNumber}` })
    },
    /** The view of another block, if L1 holds its state root or hash. @throws ProviderError `BLOCK_UNPROVEN`, which says `found` */
    async findAt({ l1Block, newest }: Held, l2BlockNumber: bigint, found?: string): Promise<Held> {
      const proving = fetchAnchor(l1Source, l1Block, l2BlockNumber).then(anchor => open(anchor, l1Block, newest))
      const held = await proving.catch(orUnproven)
      if (isProofError(held)) throw refusedFor('BLOCK_UNPROVEN', { found, cause: held })
      return held
    },
  }
}

/** For `catch`: that L1 holds nothing for the block, as a value. Anything else is thrown again. */
function orUnproven(error: unknown): ProofError {
  if (isProofError(error) && ['ANCHOR_NO_ROOT', 'ANCHOR_BLOCK_AHEAD'].includes(error.code)) return error
  throw error
}

/** What is final never changes. */
function verifySame(block: string, what: string, before: Hex, now: Hex): void {
  if (before === now) return
  const found = `${block} had the ${what} ${before}, and has the ${what} ${now} now`
  throw new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })
}

/** Asks for the default sender of calls, which most of them read. @throws if the endpoints do not have the state */
async function askedFor(held: Held): Promise<Held> {
  await held.state.getAccount(NOBODY)
  return held
}

/** For `catch`: the failure as a value if it may pass, so that the endpoints may have an earlier block. */
function orPassing(error: unknown): EndpointError | ProofError {
  if (isFailure(error) && isPassing(error)) return error
  throw error
}

export type CurrentView = ReturnType<typeof createCurrentView>

type Pair = Readonly<Record<'state' | 'blocks', Held>>

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
    const finding = views.findAt(view, wanted, found).catch(error => {
      others.delete(wanted)
      throw error
    })
    others.set(wanted, finding)
    return finding
  }

  return {
    refresh: async () => (await refresh()).state,
    state: async () => (await pairNow()).state,
    current: async () => (await pairNow()).blocks,
    /** The block that a request names. The request is answered from it until it ends, even if the view moves. */
    heldAt: (block: unknown, pace: Pick<Pace, 'beSlow' | 'signal'>): Promise<Held> =>
      findAt(block, pace).then(held => ({ ...held, state: held.state.by(pace) })),
  }
}

/** Often the number was that of `eth_blockNumber`, perhaps of a view before this one, or of another provider. */
function noState({ l2BlockNumber: number, header }: Held, oneHead: boolean): string {
  const proven = `State is proven after block ${number}, and after the last blocks of earlier finalizations.`
  if (oneHead || header !== undefined) return proven
  return `${proven} A program that asks for state at the number of eth_blockNumber needs the option \`oneHead\` (of the proxy, --one-head).`
}
