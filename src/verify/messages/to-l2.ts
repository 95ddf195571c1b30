import { bytesToBigint, bytesToHex, concatBytes, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import { mappingSlot, slotKey } from '../anchor/contract.ts'
import { IMPLEMENTATION_KEY } from '../anchor/rollup.ts'
import { decodeProven, type ProvenHistory } from '../blocks/header.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import {
  type DecodedMessageClaim,
  type MessageClaim,
  type MessageFromL2,
  type MessageRequest,
  readClaim,
  readSlots,
} from './from-l2.ts'
import { type DecodedMessage, type MessageLayout, readLayout, readMessage, toWord } from './message.ts'

/** What L1 holds about a message to L2, at the proven state. */
export interface MessageToL2 extends Omit<MessageFromL2, 'status'> {
  /**
   * - `sent`: L1 has sent it
   * - `notSent`: L1 has not given its number to any message yet
   * - `unknown`: L1 gave its number to a message before the contract kept rolling hashes, and does not say to which
   */
  status: 'sent' | 'notSent' | 'unknown'
}

/**
 * The storage keys to request with `eth_getProof` for the rollup contract, to prove that a message to L2 was sent. They are the
 * rolling hashes of the message before and of the message, the number of the next message, and the code behind the proxy.
 *
 * @param request the message
 * @returns 32 bytes each
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { messageToL2Keys } from 'rollup-state-proof/messages'
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const keys = messageToL2Keys({ message: { from, to, fee: 0n, value: 1n, number: 1n, data: '0x' } })
 * console.log(BigInt(keys[2])) // 228n
 * ```
 */
export function messageToL2Keys(request: MessageRequest): [Hex, Hex, Hex, Hex] {
  const { message, layout } = readRequest(request)
  return [...keysOf(message, layout), IMPLEMENTATION_KEY]
}

function readRequest(request: MessageRequest) {
  const { message, layout } = readOptions('', request, ['message', 'layout'])
  return { message: readMessage('message', message), layout: readLayout(layout) }
}

function keysOf({ number }: DecodedMessage, layout: MessageLayout): [Hex, Hex, Hex] {
  const rollingHash = (key: bigint) => mappingSlot({ slot: layout.rollingHashes, keys: [key] })
  return [rollingHash(number - 1n), rollingHash(number), slotKey(layout.nextMessageNumber)]
}

/**
 * Verifies whether L1 has sent a message to L2, from an `eth_getProof` result for {@link messageToL2Keys}.
 *
 * @param l1Proof what the L1 endpoint sent as the result, parsed from JSON
 * @param claim the L1 state root that you trust, the rollup, and the message
 * @throws ProofError `MESSAGE_ROLLING_HASH_MISMATCH` if the number is that of another message, `ANCHOR_NO_CONTRACT`,
 * `ANCHOR_IMPLEMENTATION_MISMATCH`, and what `verifyEthProof` throws; ArgumentError
 *
 * @example
 * ```ts
 * import { messageToL2Keys, verifyMessageToL2 } from 'rollup-state-proof/messages'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { l1 } = createService({ genesis: demoWorld(poseidon2), rollup }).chain
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 9n, data: '0x' } as const
 * const l1Proof = l1.getProof(rollup.address, messageToL2Keys({ message }), 0n)
 * const l1StateRoot = Reflect.get(l1.getBlock(0n) ?? {}, 'stateRoot') // in production: from verifyHeader
 * console.log(verifyMessageToL2(l1Proof, { l1StateRoot, rollup, message }).status) // notSent
 * ```
 */
export function verifyMessageToL2(l1Proof: unknown, claim: MessageClaim): MessageToL2 {
  return verifySent(l1Proof, readClaim(claim))
}

export function verifySent(l1Proof: unknown, claim: DecodedMessageClaim): MessageToL2 {
  const { message, layout, contract } = claim
  const { values, implementation } = readSlots(l1Proof, keysOf(message, layout), contract)
  const [before, own, next] = values
  const { hash } = message
  const rest = { messageHash: bytesToHex(hash), implementation }
  if (own === 0n) return { status: message.number < next ? 'unknown' : 'notSent', ...rest }
  const [expected, found] = [bytesToHex(toWord(own)), bytesToHex(keccak256(concatBytes(toWord(before), hash)))]
  if (found !== expected)
    throw new ProofError('MESSAGE_ROLLING_HASH_MISMATCH', { path: 'storageProof[1]', expected, found })
  return { status: 'sent', ...rest }
}

/**
 * The storage key of the message service on L2 that says whether a message has arrived, 32 bytes.
 *
 * @param request the message
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { messageArrivalKey } from 'rollup-state-proof/messages'
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 1n, data: '0x' } as const
 * console.log(messageArrivalKey({ message }).length) // 66
 * ```
 */
export function messageArrivalKey(request: MessageRequest): Hex {
  const { message, layout } = readRequest(request)
  return arrivalKey(message, layout)
}

const arrivalKey = ({ hash }: DecodedMessage, { inbox }: MessageLayout): Hex =>
  mappingSlot({ slot: inbox, keys: [bytesToHex(hash)] })

/** How far a message to L2 has come on L2: not yet there, or there and not claimed yet, or claimed. */
export type MessageArrival = 'notReceived' | 'received' | 'claimed'

const ARRIVALS: readonly MessageArrival[] = ['notReceived', 'received', 'claimed']

/**
 * How far a message to L2 has come on L2, from a proven slot of the message service.
 *
 * @param proven what `verifyProof` returned for the message service, such as `lineaMessageService`
 * @param request the message
 * @throws ProofError `MESSAGE_NO_SERVICE`, `MESSAGE_STATUS`; ArgumentError
 *
 * @example
 * ```ts
 * import { messageArrivalKey, readMessageArrival } from 'rollup-state-proof/messages'
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 1n, data: '0x' } as const
 * // In place of these two, pass what verifyProof returned for lineaMessageService and [key].
 * const [account, key] = [{}, messageArrivalKey({ message })] as const
 * const storage = [{ key, value: `0x${'00'.repeat(31)}01` }] as const
 * console.log(readMessageArrival({ account, storage }, { message })) // received
 * ```
 */
export function readMessageArrival(proven: ProvenHistory, request: MessageRequest): MessageArrival {
  const { message, layout } = readRequest(request)
  const { account, value } = atPath('proven', () => decodeProven(proven, arrivalKey(message, layout)))
  if (account === null) throw new ProofError('MESSAGE_NO_SERVICE', { expected: 'an account of the message service' })
  const arrival = ARRIVALS[Number(bytesToBigint(value))]
  if (arrival === undefined) throw refusal('MESSAGE_STATUS', '0, 1 or 2', bytesToHex(value))
  return arrival
}
