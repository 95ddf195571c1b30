import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { verifyEthProof } from '../../verify/anchor/eth-proof.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { readRollup } from '../../verify/anchor/rollup.ts'
import { decodeContract, type MessageFromL2, messageFromL2Keys, verifyInL1 } from '../../verify/messages/from-l2.ts'
import type { MessageLayout } from '../../verify/messages/layout.ts'
import { toMessage } from '../../verify/messages/message.ts'
import { type MessageProof, messageTrees } from '../../verify/messages/tree.ts'
import { ETHEREUM } from '../../verify/state/kind.ts'
import { walkBack } from '../l1/finalizations.ts'
import { contradiction, fetchAnchor, fetchProof, type L1Source, unless } from '../l1/l1.ts'
import type { BlockRange } from '../l1/log-ranges.ts'
import type { Endpoints } from '../sources/endpoints.ts'
import { EndpointError } from '../transport/error.ts'
import { BLOCKS_PER_REQUEST, MAX_FINALIZED_BLOCKS, MAX_SEARCH_REQUESTS } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import type { Sender, SentMessage } from './messages.ts'

/**
 * The blocks of the finalization that holds an L2 block, as an L1 endpoint says: a hint.
 *
 * @throws EndpointError `MESSAGE_MISSING` if the block is too old to be found
 */
export async function findBlocks(
  provider: AnyProvider,
  source: L1Source,
  l1Block: L1Block,
  block: bigint,
): Promise<BlockRange> {
  const least = l1Block.number - BigInt(MAX_SEARCH_REQUESTS) * BLOCKS_PER_REQUEST + 1n
  const oldest = least > 0n ? least : 0n
  // What is finalized first begins with block 0.
  const ends: bigint[] = oldest > 0n ? [] : [-1n]
  for await (const { logs } of walkBack(provider, source, { l1Block, oldest, sought: block })) {
    for (const { l2BlockNumber } of logs) ends.push(l2BlockNumber)
    if (logs.some(({ l2BlockNumber }) => l2BlockNumber < block)) break
  }
  ends.sort((a, b) => (a < b ? -1 : 1))
  const last = ends.find(end => end >= block)
  const before = ends.findLast(end => end < block)
  if (last === undefined || before === undefined) {
    // What is before the search is not the fault of L1. An L2 endpoint may have invented it.
    const code = last === undefined ? 'L1_CONTRADICTION' : 'MESSAGE_MISSING'
    const found = `no log of the finalization of L2 block ${block} from L1 block ${oldest} on`
    throw new EndpointError(code, { found, layer: 'L1' })
  }
  const count = last - before
  if (count <= MAX_FINALIZED_BLOCKS) return { first: before + 1n, last }
  throw contradiction(`a finalization of ${count} blocks`)
}

/** Whether finalizations end with the block before these, and with the last of them. There may be others between. */
export async function areFinalizations(source: L1Source, l1Block: L1Block, { first, last }: BlockRange) {
  // A finalization is one, whatever L1 holds for its end.
  const any: L1Source = { ...source, scheme: ETHEREUM }
  const isEnd = (end: bigint) => unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', fetchAnchor(any, l1Block, end)))
  const anchors = await Promise.all([last, ...(first > 1n ? [first - 1n] : [])].map(isEnd))
  return anchors.every(anchor => anchor !== null)
}

export interface MessageSource extends L1Source {
  readonly l2: Endpoints
  readonly sender: Sender
  readonly layout: MessageLayout
  readonly how: { readonly maxKeysPerRequest: number }
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

/** What L1 holds of these messages. If a number is claimed without its root, the message is not the one that was sent. */
export async function fetchHeld(
  source: MessageSource,
  l1Block: L1Block,
  all: readonly PlacedMessage[],
): Promise<HeldMessage[]> {
  const { rollup, layout } = source
  const contract = decodeContract(l1Block.stateRoot, readRollup(rollup))
  const keyed = all.map(one => ({
    ...one,
    keys: messageFromL2Keys({ message: toMessage(one.sent.message), root: one.place.root, layout }),
  }))
  // Many share the root of a tree, or a slot.
  const { account, slots } = await fetchSlots(source, l1Block, [...new Set(keyed.flatMap(({ keys }) => keys))])
  return keyed.map(({ keys, ...one }) => {
    const proof = { ...account, storageProof: keys.map(key => slots.get(key)) }
    try {
      const { status } = verifyInL1(proof, one.place, { contract, message: one.sent.message, layout })
      return { ...one, proof, status }
    } catch (error) {
      if (!isProofError(error) || error.code !== 'MESSAGE_NUMBER_CLAIMED') throw error
      return { ...one, proof, status: 'notAnchored' }
    }
  })
}

/** What an `eth_getProof` answer says of the rollup contract, and of each slot, proven. As many slots at once as the bound allows. */
async function fetchSlots({ how, ...source }: MessageSource, { stateRoot, number }: L1Block, keys: readonly Hex[]) {
  const claim = { l1StateRoot: stateRoot, address: source.rollup.address }
  const slots = new Map<Hex, unknown>()
  let account: object = {}
  for (let first = 0; first < keys.length; first += how.maxKeysPerRequest) {
    const storageKeys = keys.slice(first, first + how.maxKeysPerRequest)
    const { storageProof, ...rest } = await fetchProof(source, storageKeys, number, proof => {
      verifyEthProof(proof, { ...claim, storageKeys })
      // It has a slot for each.
      return proof as { readonly storageProof: readonly unknown[] }
    })
    account = rest
    for (const [index, key] of storageKeys.entries()) slots.set(key, storageProof[index])
  }
  return { account, slots }
}

/** The messages that L2 sent in these blocks do not lead to roots that L1 knows. */
export const refuted = (found: string): EndpointError => new EndpointError('MESSAGES_REFUTED', { found, layer: 'L2' })
