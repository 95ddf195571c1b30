import type { Hex } from '../../base/bytes.ts'
import { refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { encodeHeader, type L1Block } from '../../verify/anchor/header.ts'
import { slotKey } from '../../verify/anchor/slots.ts'
import { bloomTest, decodeFilter, selectedBy } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { firstInWindow, historyContract, historySlot, readBlockHash } from '../../verify/blocks/history.ts'
import { MESSAGE_SENT } from '../../verify/messages/log.ts'
import { verifyState } from '../../verify/state/kind.ts'
import { fetchPlacedLogs, readBlocks } from '../l1/blocks.ts'
import { askBlock, hashHeader, openBlock } from '../l1/headers.ts'
import { type Anchor, fetchAnchor } from '../l1/l1.ts'
import { openAnchor } from '../l1/l2-header.ts'
import { only } from '../sources/endpoints.ts'
import { fetchAnswer } from '../sources/fetch.ts'
import { EndpointError, isEndpointError, isFailure, orFailure } from '../transport/error.ts'
import { BLOCKS_PER_REQUEST, MAX_WALK } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import {
  type FinalizedBlocks,
  type Judge,
  narrowBlocks,
  type ProvableSource,
  refuted,
  type Said,
  withEachL2,
} from './message-places.ts'
import {
  isSameAs,
  isWanted,
  keyOf,
  type MessageSearch,
  newBudget,
  onlyOf,
  readSent,
  type SentMessage,
} from './messages.ts'

/**
 * Messages of L2 from the receipts of its blocks, proven from what L1 holds. Where no endpoint's logs lead to a root that L1
 * knows, they tell whose fault it is.
 */

/** What is known when the logs of all endpoints have failed. */
export interface Unproven {
  readonly l1Block: L1Block
  /** The newest finalized L2 block, proven. */
  readonly newest: bigint
  /** What the endpoints said. Those that lied are blamed. */
  readonly said: Said
  /** Why their logs were not enough: their failure. */
  readonly error: unknown
}

/** Runs `prove`. If that is impossible, the earlier failure counts. */
async function orEarlier<T>({ error }: Unproven, prove: () => Promise<T>): Promise<T> {
  try {
    return await prove()
  } catch (failure) {
    if (!isFailure(failure)) throw failure
    const isVerdict = ['L1_CONTRADICTION', 'MESSAGES_REFUTED', 'MESSAGE_MISSING'].includes(failure.code)
    if (isVerdict || !isEndpointError(error)) throw isVerdict ? failure : error
    const reason = [failure.code, failure.found].filter(Boolean).join(', ')
    const found = [error.found, `Their blocks could not be proven: ${reason}`].filter(Boolean).join('. ')
    throw new EndpointError(error.code, { ...error, found, cause: error.cause ?? failure })
  }
}

/** What `judge` makes of the messages of a finalization. @throws the earlier failure if they cannot be proven */
export const judgeProven = <T>(
  source: ProvableSource,
  unproven: Unproven,
  blocks: FinalizedBlocks,
  judge: Judge<T>,
): Promise<T> => orEarlier(unproven, () => judgeBlocks(source, unproven, blocks, judge))

/**
 * Finds a message in proven blocks: around those in which an endpoint has found one, and otherwise from the newest back.
 *
 * @param judgeOf makes the judge of a message
 */
export const proveMessage = <T>(
  source: ProvableSource,
  unproven: Unproven,
  { search, found }: { readonly search: MessageSearch; readonly found: readonly SentMessage[] },
  judgeOf: (sent: SentMessage) => Judge<T>,
): Promise<T> =>
  orEarlier(unproven, async () => {
    const judgeAround = async (sent: SentMessage) => {
      let failure = unproven.error
      for await (const blocks of narrowBlocks(source, unproven.l1Block, sent.block)) {
        const judging = judgeBlocks(source, unproven, blocks, judgeOf(sent), sent)
        const outcome = await judging.then(value => ({ value }), orFailure)
        if ('value' in outcome) return outcome.value
        failure = outcome
      }
      throw failure
    }
    let failure: unknown
    // What several endpoints have found is judged once.
    for (const sent of new Map(found.map(one => [keyOf(one), one])).values()) {
      try {
        return await judgeAround(sent)
      } catch (error) {
        failure = orFailure(error)
      }
    }
    const isInvented = isEndpointError(failure) && failure.code === 'MESSAGES_REFUTED'
    // No receipt proves the hash of a transaction.
    if (search.transactionHash !== undefined || (failure && !isInvented)) throw failure ?? unproven.error
    const other = await findProven(source, unproven, search).catch(orFailure)
    if (isFailure(other)) throw failure ?? other
    return judgeAround(other)
  })

/** Finds a message in the newest proven blocks. @throws EndpointError `MESSAGE_MISSING`, as `findSent` */
async function findProven(source: ProvableSource, { l1Block, newest }: Unproven, search: MessageSearch) {
  const claim = await fetchClaim(source, l1Block, newest, newest)
  const least = claim.number - MAX_WALK + 1n
  const oldest = mostOf(least, search.fromBlock ?? 0n)
  for (let next = claim; next.number >= oldest; ) {
    const { sent, parent } = await fetchSent(source, next, mostOf(oldest, next.number - BLOCKS_PER_REQUEST + 1n))
    const found = sent.filter(({ message }) => isWanted(message, search))
    if (found.length > 0) return onlyOf(found, 'L2')
    next = parent
  }
  const found = `none in the blocks ${mostOf(oldest, 0n)} to ${claim.number}, which are proven`
  throw new EndpointError('MESSAGE_MISSING', { found, layer: 'L2' })
}

const mostOf = (a: bigint, b: bigint) => (a > b ? a : b)

async function judgeBlocks<T>(
  source: ProvableSource,
  { l1Block, newest, said }: Unproven,
  { first, last }: FinalizedBlocks,
  judge: Judge<T>,
  wanted?: SentMessage,
): Promise<T> {
  const verifyHas = (all: readonly SentMessage[]) => {
    if (wanted === undefined || all.some(isSameAs(wanted))) return
    const { block, message } = wanted
    throw refuted(`message ${message.number} of L2 block ${block} is not in the receipts of its finalization`)
  }
  const claim = await fetchClaim(source, l1Block, newest, last)
  const inBlocks = `the L2 blocks ${first} to ${last}`
  if (claim.number - first >= MAX_WALK) {
    throw new EndpointError('RESPONSE_TOO_LARGE', { found: `${inBlocks} are more than ${MAX_WALK}`, layer: 'L2' })
  }
  const { sent } = await fetchSent(source, claim, first)
  blameLiars(source, said, { first, last: claim.number }, sent)
  if (claim.number === last) {
    verifyHas(sent)
    const found = await judge(sent)
    if (found !== null) return found
    const isElse = 'or its trees have another depth than 5: the roots of their proven messages are unknown to L1'
    throw new EndpointError('L1_CONTRADICTION', {
      found: `${inBlocks} are not one finalization, ${isElse}`,
      layer: 'L1',
    })
  }
  // Nothing but the root on L1 tells whether an endpoint has told the truth about the last block.
  return withEachL2(source, async (provider, { signal }, onL1) => {
    const own = await askChild(provider, claim, signal)
    const ofLast = await fetchSent({ ...source, l2: only(provider), signal }, own, last)
    const all = [...sent, ...ofLast.sent]
    verifyHas(all)
    const found = await onL1(judge(all))
    if (found !== null) return found
    throw refuted(`those in ${inBlocks}, of which only the last is not proven`)
  })
}

/** The last of these blocks, or the one before, with its hash: the newest that is proven. @param newest finalized */
async function fetchClaim(source: ProvableSource, l1Block: L1Block, newest: bigint, last: bigint): Promise<BlockClaim> {
  const own = await fetchAnchor(source, l1Block, last)
  if (own.blockHash !== undefined) return { hash: own.blockHash, number: last }
  // The state after a block does not have its hash.
  const isInWindow = last < newest && firstInWindow(newest) <= last
  const anchor = isInWindow ? await fetchAnchor(source, l1Block, newest) : own
  const [number, stateBlock] = [isInWindow ? last : last - 1n, anchor.l2BlockNumber]
  if (number < 0n) throw refusal('HISTORY_OUTSIDE_WINDOW', 'a block before it', 'none')
  const { account, storage } = await fetchSlot(source, anchor, historyContract, historySlot(number))
  return { number, hash: readBlockHash({ account, storage }, { number, stateBlock }) }
}

/** What the state of an anchored block holds in one slot. */
async function fetchSlot(source: ProvableSource, anchor: Anchor, address: Hex, slot: Hex) {
  const { l2, schemeAt, signal } = source
  const { scheme, stateRoot } = await openAnchor({ l2, signal }, anchor, schemeAt)
  const asked = { address, storageKeys: [slot] }
  const how = { ...source.how, trusted: { scheme, stateRoot }, signal }
  const answer = await fetchAnswer(l2, { ...asked, l2BlockNumber: anchor.l2BlockNumber }, how)
  return verifyState(answer, { scheme, stateRoot, ...asked })
}

/** Whether the newest finalized state has given away the number of a message: then its block is finalized, whoever denies it. */
export async function isFinalized(
  source: ProvableSource,
  { l1Block, newest }: Pick<Unproven, 'l1Block' | 'newest'>,
  { message }: SentMessage,
): Promise<boolean> {
  const anchor = await fetchAnchor(source, l1Block, newest)
  const { sender, layout } = source
  const { storage } = await fetchSlot(source, anchor, sender.address, slotKey(layout.nextNumberOnL2))
  return BigInt(storage[0]?.value ?? 0n) > message.number
}

/** A block that follows a proven one: which one, only the endpoint says. */
async function askChild(provider: AnyProvider, parent: BlockClaim, signal: AbortSignal): Promise<BlockClaim> {
  const number = parent.number + 1n
  const block = await askBlock(provider, number, false, signal)
  const hash = hashHeader(encodeHeader(block))
  if (openBlock(block, { hash, number }).header.parentHash === parent.hash) return { hash, number }
  const found = `block ${number} does not follow block ${parent.number}, which is proven`
  throw new EndpointError('ANSWER_MALFORMED', { found, layer: 'L2' })
}

/** All messages of a block and those before it, in order, and the block before these. */
async function fetchSent(source: ProvableSource, newest: BlockClaim, first: bigint) {
  const { sender } = source
  const filter = decodeFilter({ address: sender.address, topics: [MESSAGE_SENT] })
  const [isSelected, mayBeIn] = [selectedBy(filter), bloomTest(filter)]
  const budget = newBudget()
  const newestFirst: SentMessage[][] = []
  let parent = newest
  const blocks = readBlocks(source, newest, first, ({ header }, own): Promise<SentMessage[]> => {
    parent = { hash: header.parentHash, number: header.number - 1n }
    if (!mayBeIn(header.logsBloom)) return Promise.resolve([])
    // In the terms of an endpoint's logs.
    return fetchPlacedLogs(own, header, (logs, provider) => {
      const sent = logs.filter(isSelected).map(({ blockNumber, logIndex, ...log }) => ({
        ...{ ...log, blockNumber: encodeQuantity(blockNumber), logIndex: encodeQuantity(BigInt(logIndex)) },
      }))
      return readSent(provider, sent, sender, budget)
    })
  })
  for await (const sent of blocks) newestFirst.push(sent)
  return { sent: newestFirst.reverse().flat(), parent }
}

/** Tells of the endpoints whose logs lack a message of proven blocks, or have another. Of each once. */
function blameLiars({ l2 }: ProvableSource, said: Said, proven: FinalizedBlocks, sent: readonly SentMessage[]): void {
  for (const [index, { blocks, all }] of said) {
    const first = mostOf(blocks.first, proven.first)
    const isProven = ({ block }: SentMessage) => block >= first && block <= blocks.last && block <= proven.last
    const [truth, lies] = [sent, all].map(list => new Map(list.filter(isProven).map(one => [keyOf(one), one])))
    const missing = sent.find(one => truth?.has(keyOf(one)) && !lies?.has(keyOf(one)))
    const invented = all.find(one => lies?.has(keyOf(one)) && !truth?.has(keyOf(one)))
    const one = missing ?? invented
    if (one === undefined) continue
    const lie = missing === undefined ? 'it invented' : 'it left out'
    l2.blame(index, refuted(`${lie} message ${one.message.number} of L2 block ${one.block}, whose logs are proven`))
    said.delete(index)
  }
}
