import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { readRollup } from '../../verify/anchor/rollup.ts'
import { decodeContract, type MessageFromL2, messageFromL2Keys, verifyInL1 } from '../../verify/messages/from-l2.ts'
import type { MessageLayout } from '../../verify/messages/layout.ts'
import { toMessage } from '../../verify/messages/message.ts'
import { type MessageProof, messageTrees } from '../../verify/messages/tree.ts'
import { ETHEREUM } from '../../verify/state/types.ts'
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
  const { rollup, layout, how } = source
  const contract = decodeContract(l1Block.stateRoot, readRollup(rollup))
  const read = ({ sent, place, keys }: KeyedMessage, whole: unknown, asked: readonly Hex[]): HeldMessage => {
    const proof = onlySlots(whole, asked, keys)
    try {
      return {
        sent,
        place,
        proof,
        status: verifyInL1(proof, place, { contract, message: sent.message, layout }).status,
      }
    } catch (error) {
      if (!isProofError(error) || error.code !== 'MESSAGE_NUMBER_CLAIMED') throw error
      return { sent, place, proof, status: 'notAnchored' }
    }
  }
  const keyed = all.map(({ sent, place }) => ({
    sent,
    place,
    keys: messageFromL2Keys({ message: toMessage(sent.message), root: place.root, layout }),
  }))
  const held: HeldMessage[] = []
  for (const group of inGroups(keyed, how.maxKeysPerRequest)) {
    const asked = [...new Set(group.flatMap(({ keys }) => keys))]
    const found = await fetchProof(source, asked, l1Block.number, proof => group.map(one => read(one, proof, asked)))
    for (const one of found) held.push(one)
  }
  return held
}

interface KeyedMessage extends PlacedMessage {
  readonly keys: readonly Hex[]
}

/** As many at once as their keys allow: many share the root of a tree, or a slot. */
function* inGroups(all: readonly KeyedMessage[], most: number): Generator<KeyedMessage[], void> {
  let group: KeyedMessage[] = []
  let asked = new Set<Hex>()
  for (const one of all) {
    if (group.length > 0 && new Set([...asked, ...one.keys]).size > most) {
      yield group
      group = []
      asked = new Set()
    }
    group.push(one)
    for (const key of one.keys) asked.add(key)
  }
  if (group.length > 0) yield group
}

/** The part of an `eth_getProof` answer that is about some of its keys. */
function onlySlots(proof: unknown, asked: readonly Hex[], keys: readonly Hex[]): unknown {
  const slots = readOwn(Object(proof), 'storageProof')
  if (!Array.isArray(slots)) return proof
  const own = keys.map(key => slots[asked.indexOf(key)]).filter(slot => slot !== undefined)
  return { ...Object(proof), storageProof: own }
}

/** The messages that L2 sent in these blocks do not lead to roots that L1 knows. */
export const refuted = (found: string): EndpointError => new EndpointError('MESSAGES_REFUTED', { found, layer: 'L2' })
