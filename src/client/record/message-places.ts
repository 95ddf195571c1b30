import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { finalizedStateTopics } from '../../verify/anchor/finalized-state.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { readRollup } from '../../verify/anchor/rollup.ts'
import { decodeContract, type MessageFromL2, messageFromL2Keys, verifyInL1 } from '../../verify/messages/from-l2.ts'
import type { MessageLayout } from '../../verify/messages/layout.ts'
import { toMessage } from '../../verify/messages/message.ts'
import { type MessageProof, messageTrees } from '../../verify/messages/tree.ts'
import { ETHEREUM } from '../../verify/state/types.ts'
import { fetchAnchor, fetchProof, findStep, type L1Source, readCurrent, unless, walkLogs } from '../l1/l1.ts'
import { allowedBlocks } from '../l1/log-ranges.ts'
import { type Endpoints, only } from '../sources/endpoints.ts'
import type { ClientSettings } from '../sources/fetch.ts'
import type { Attempt } from '../sources/pool.ts'
import { EndpointError, isEndpointError, isFailure, isPassing, orFailure } from '../transport/error.ts'
import { BLOCKS_PER_REQUEST, MAX_FINALIZED_BLOCKS, MAX_SEARCH_REQUESTS } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import { begin, scoped } from '../transport/waiting.ts'
import type { Sender, SentMessage } from './messages.ts'

export interface MessageSource extends L1Source {
  readonly l2: Endpoints
  readonly sender: Sender
  readonly layout: MessageLayout
  readonly how: Pick<ClientSettings, 'maxKeysPerRequest'>
}

export interface FinalizedBlocks {
  readonly first: bigint
  readonly last: bigint
}

/** What is told of the blocks of a finalization that an endpoint has named, before anything of it is proven. */
type OnHint = (blocks: FinalizedBlocks) => void

/** Both ends are proven, but not that no other finalization ends between them. The logs are asked for before the block is known. */
async function findBlocks(
  provider: AnyProvider,
  source: L1Source,
  l1Block: L1Block,
  finding: Promise<bigint>,
  onHint: OnHint,
) {
  // A finalization is one, whatever L1 holds for its end.
  const alone: L1Source = { ...source, l1: only(provider), schemeAt: () => ETHEREUM }
  const oldest = l1Block.number - BigInt(MAX_SEARCH_REQUESTS) * BLOCKS_PER_REQUEST + 1n
  let last: bigint | null = null
  let before: bigint | null = oldest > 0n ? null : -1n
  const least = oldest > 0n ? oldest : 0n
  for await (const { logs } of walkLogs(provider, source, [finalizedStateTopics], l1Block.number, least)) {
    const block = await finding
    const isRefused = isEndpointError(logs) && !isPassing(logs)
    // Whoever allows few blocks would be asked very often: the contract's slots take fewer requests.
    if (isRefused || allowedBlocks(provider) < BLOCKS_PER_REQUEST) {
      const found = await findBySlots(provider, source, l1Block, block).catch(orFailure)
      if (!isFailure(found)) return found
    }
    if (!Array.isArray(logs)) throw logs ?? new EndpointError('ANSWER_MALFORMED', { found: 'no logs', layer: 'L1' })
    const ends = logs.map(({ l2BlockNumber }) => l2BlockNumber)
    const earlier = ends.filter(end => end < block)
    last = leastOf([...ends.filter(end => end >= block), ...(last === null ? [] : [last])])
    if (earlier.length === 0) continue
    before = earlier.reduce((most, end) => (end > most ? end : most))
    break
  }
  if (last === null || before === null) {
    // What is before the search is not the fault of L1. An L2 endpoint may have invented it.
    throw new EndpointError(last === null ? 'L1_CONTRADICTION' : 'MESSAGE_MISSING', {
      found: `no log of the finalization of L2 block ${await finding} from L1 block ${oldest > 0n ? oldest : 0n} on`,
      layer: 'L1',
    })
  }
  onHint({ first: before + 1n, last })
  return verifyEnds(alone, l1Block, before, last)
}

/** The blocks between two finalizations, whose ends L1 is proven to hold. */
async function verifyEnds(alone: L1Source, l1Block: L1Block, before: bigint, last: bigint): Promise<FinalizedBlocks> {
  const verifyEnd = async (end: bigint) => {
    const anchor = await unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', fetchAnchor(alone, l1Block, end)))
    if (anchor === null) throw new EndpointError('L1_CONTRADICTION', { found: `no L2 block ${end}`, layer: 'L1' })
  }
  await Promise.all((before > 0n ? [last, before] : [last]).map(verifyEnd))
  return { first: before + 1n, last }
}

/**
 * From what the contract held at older L1 blocks, in some dozens of requests, and from the logs of the one block in which the
 * finalization arrived. Without those, others that came in the same block are not told apart.
 */
async function findBySlots(provider: AnyProvider, source: L1Source, l1Block: L1Block, block: bigint) {
  const alone: L1Source = { ...source, l1: only(provider), schemeAt: () => ETHEREUM }
  const newest = { at: l1Block.number, value: await readCurrent(provider, source, l1Block.number) }
  const step = await findStep(provider, source, newest, block)
  if (step === null)
    throw new EndpointError('L1_CONTRADICTION', { found: `L2 block ${block} is older than L1`, layer: 'L1' })
  const { before, after } = step
  const ends: bigint[] = [before.value, after.value]
  for await (const { logs } of walkLogs(provider, source, [finalizedStateTopics], after.at, after.at)) {
    for (const { l2BlockNumber } of Array.isArray(logs) ? logs : []) ends.push(l2BlockNumber)
  }
  const earlier = ends.filter(end => end < block).reduce((most, end) => (end > most ? end : most))
  // The value after the step is one of them.
  return verifyEnds(alone, l1Block, earlier, leastOf(ends.filter(end => end >= block)) ?? after.value)
}

const isTooOld = (error: unknown) => isEndpointError(error) && error.code === 'MESSAGE_MISSING'

const leastOf = (numbers: readonly bigint[]): bigint | null =>
  numbers.reduce<bigint | null>((least, one) => (least === null || one < least ? one : least), null)

/**
 * Yields the blocks of the finalization that holds an L2 block: fewer each time, as one L1 endpoint after the other answers. One
 * that hides finalizations hides nothing that another one tells.
 *
 * @param onHint called with what is about to be proven, in any order
 */
export async function* narrowBlocks(
  source: L1Source,
  at: L1Block | Promise<L1Block>,
  block: bigint | Promise<bigint>,
  onHint: OnHint = () => {},
): AsyncGenerator<FinalizedBlocks, void> {
  const [l1Block, finding] = [await at, begin(Promise.resolve(block))]
  const find = (provider: AnyProvider, { signal }: Attempt) =>
    findBlocks(provider, { ...source, signal }, l1Block, finding, onHint)
  let known: FinalizedBlocks = { first: 0n, last: 1n << 64n }
  let failure: Error | null = null
  for await (const found of source.l1.each(find, { signal: source.signal, isBlamed: () => false })) {
    if ('error' in found) {
      // Another endpoint may have known it.
      if (failure === null || !isTooOld(found.error)) failure = found.error
      continue
    }
    const { first, last } = found.value
    const next = {
      first: first > known.first ? first : known.first,
      last: last < known.last ? last : known.last,
    }
    const isNarrower = next.first !== known.first || next.last !== known.last
    known = next
    const count = next.last - next.first
    const size = `a finalization of ${count} blocks`
    if (count > MAX_FINALIZED_BLOCKS) failure = new EndpointError('L1_CONTRADICTION', { found: size, layer: 'L1' })
    else if (isNarrower) yield known
  }
  if (known.last - known.first > MAX_FINALIZED_BLOCKS) throw failure
}

export interface PlacedMessage {
  readonly sent: SentMessage
  readonly place: MessageProof
}

export const placesOf = (sent: readonly SentMessage[]): PlacedMessage[] => {
  const places = messageTrees(sent.map(({ message }) => bytesToHex(message.hash))).flatMap(({ proofs }) => proofs)
  // There is one place for each.
  return sent.map((one, index) => ({ sent: one, place: places[index] as MessageProof }))
}

export interface HeldMessage extends PlacedMessage {
  readonly status: MessageFromL2['status']
  /** The known fields of the `eth_getProof` answer. */
  readonly proof: unknown
}

/**
 * In as few requests as their keys need: many share the root of a tree, or a slot. If a number is claimed without its root, the
 * message is not the one that was sent.
 */
export async function fetchHeld(
  source: MessageSource,
  l1Block: L1Block,
  all: readonly PlacedMessage[],
): Promise<HeldMessage[]> {
  const { rollup, layout, how } = source
  const contract = decodeContract(l1Block.stateRoot, readRollup(rollup))
  const groups: { readonly keys: Set<Hex>; readonly placed: (PlacedMessage & { readonly own: readonly Hex[] })[] }[] =
    []
  for (const placed of all) {
    const own = messageFromL2Keys({ message: toMessage(placed.sent.message), root: placed.place.root, layout })
    const last = groups.at(-1)
    const isRoom = last && new Set([...last.keys, ...own]).size <= Math.max(how.maxKeysPerRequest, own.length)
    const group = isRoom ? last : { keys: new Set<Hex>(), placed: [] }
    if (group !== last) groups.push(group)
    for (const key of own) group.keys.add(key)
    group.placed.push({ ...placed, own })
  }
  const read = ({ own, ...placed }: PlacedMessage & { readonly own: readonly Hex[] }, proof: unknown): HeldMessage => {
    const claim = { contract, message: placed.sent.message, layout }
    try {
      return { ...placed, proof, status: verifyInL1(proof, placed.place, claim).status }
    } catch (error) {
      if (!isProofError(error) || error.code !== 'MESSAGE_NUMBER_CLAIMED') throw error
      return { ...placed, proof, status: 'notAnchored' }
    }
  }
  const held: HeldMessage[] = []
  for (const { keys, placed } of groups) {
    const asked = [...keys]
    const found = await fetchProof(source, asked, l1Block.number, proof =>
      placed.map(one => read(one, onlySlots(proof, asked, one.own))),
    )
    for (const one of found) held.push(one)
  }
  return held
}

/** The part of an `eth_getProof` answer that is about some of its keys. */
function onlySlots(proof: unknown, asked: readonly Hex[], keys: readonly Hex[]): unknown {
  const slots = readOwn(Object(proof), 'storageProof')
  if (!Array.isArray(slots)) return proof
  const own = keys.map(key => slots[asked.indexOf(key)]).filter(slot => slot !== undefined)
  return { ...Object(proof), storageProof: own }
}

/** Marks the part of a work that asks others, and is not the L2 endpoint's fault unless its block is too old to be found. */
type Elsewhere = <T>(asking: Promise<T>) => Promise<T>

/** Runs `work`, which asks several layers, with one L2 endpoint after the other. */
export const withEachL2 = <T>(
  { l2, signal }: MessageSource,
  work: (provider: AnyProvider, attempt: Attempt, elsewhere: Elsewhere) => Promise<T>,
): Promise<T> =>
  scoped(signal, over => {
    const elsewhere = <U>(asking: Promise<U>) =>
      asking.catch((error: unknown) => {
        // Perhaps the block of the L2 endpoint is wrong: another one may know better.
        throw isTooOld(error) ? error : over.stop(error)
      })
    return l2.run((provider, attempt) => work(provider, attempt, elsewhere), over.signal)
  })

/** The messages that L2 sent in these blocks do not lead to roots that L1 knows. */
export const refuted = (found: string): EndpointError => new EndpointError('MESSAGES_REFUTED', { found, layer: 'L2' })
