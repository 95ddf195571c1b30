import { excerpt, ProofError, refusal } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { atMost, hexOf, optional, unread } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { FinalizedState } from '../anchor/finalized-state.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { ETHEREUM, type KindName } from '../state/types.ts'
import { MAX_STORAGE_KEYS } from './limits.ts'

/** The version of the format for a state with a hash scheme, and of bundles of calls. */
export const VERSION = 1
/** That for an Ethereum state. A verifier that knows only the first refuses it, rather than read it in another way. */
export const ETHEREUM_VERSION = 2
/** What these bundles prove: a state, not a call. */
export const KIND = 'state'

/** A bundle whose own fields are checked: hexadecimal in lower case, numbers as bigints. The proofs in it are not read yet. */
export type DecodedEvidence = ReturnType<typeof decodeEvidence>

const reader = readerOf('EVIDENCE_MALFORMED')

const HEAD = ['version', 'kind', 'scheme', 'rollup', 'l2BlockNumber'] as const
const FIELDS = [...HEAD, ...(['consensus', 'l1', 'l2Header', 'request', 'answer'] as const)]

/** @throws ProofError `EVIDENCE_MALFORMED`, `EVIDENCE_VERSION`, `BAD_HEX`, `WRONG_LENGTH` */
export function decodeEvidence(bundle: unknown) {
  const field = reader.fieldsOf(bundle, FIELDS)
  const version = field('version', unread)
  if (version === undefined) refuseAnswer(bundle)
  field('version', value => verifyVersion(value, VERSIONS))
  field('kind', verifyKind)
  return {
    scheme: field('scheme', version === ETHEREUM_VERSION ? verifyEthereum : decodeSchemeName),
    l1: field(
      'l1',
      optional(l1 => reader.fields(l1, ['header', 'proof', 'finalizedState'])),
    ),
    rollup: field('rollup', decodeRollup),
    l2BlockNumber: field('l2BlockNumber', quantityOf(64)),
    request: field('request', decodeRequest),
    consensus: field('consensus', unread),
    l2Header: field('l2Header', unread),
    answer: field('answer', unread),
  }
}

/** A bare answer, or the response around it, is what people pass most in the place of a bundle. */
function refuseAnswer(bundle: unknown): void {
  const { accountProof, result } = reader.fields(bundle, ['accountProof', 'result'])
  if (accountProof === undefined && result === undefined) return
  throw refusal('EVIDENCE_MALFORMED', 'an evidence bundle', 'an answer alone: use verifyProof, with its state root')
}

/** Of a state, and of what follows from one. */
export const VERSIONS: readonly unknown[] = [VERSION, ETHEREUM_VERSION]

export function verifyVersion(version: unknown, known: readonly unknown[] = [VERSION]): void {
  if (version === undefined) throw refusal('EVIDENCE_MALFORMED', 'a version', 'none')
  if (!known.includes(version)) throw new ProofError('EVIDENCE_VERSION', { expected: known.join(' or ') })
}

function verifyKind(kind: unknown): void {
  const stated = reader.string(kind)
  if (stated !== KIND) throw refusal('EVIDENCE_MALFORMED', `the kind ${KIND}`, excerpt(stated))
}

function decodeSchemeName(value: unknown): Scheme['name'] {
  const scheme = reader.string(value)
  if (scheme === 'mimc' || scheme === 'poseidon2') return scheme
  throw refusal('EVIDENCE_MALFORMED', 'mimc or poseidon2', excerpt(scheme))
}

function verifyEthereum(value: unknown): KindName {
  const scheme = reader.string(value)
  if (scheme === ETHEREUM) return scheme
  throw refusal('EVIDENCE_MALFORMED', `${ETHEREUM}, in version ${ETHEREUM_VERSION}`, excerpt(scheme))
}

export function decodeRollup(rollup: unknown) {
  const field = reader.fieldsOf(rollup, ['name', 'address'])
  return { name: field('name', optional(reader.string)), address: field('address', hexOf(reader, 20)) }
}

function decodeRequest(request: unknown) {
  const field = reader.fieldsOf(request, ['address', 'storageKeys'])
  return {
    address: field('address', hexOf(reader, 20)),
    storageKeys: field('storageKeys', keys => reader.items(keys, verifyKeyCount, hexOf(reader, 32))),
  }
}

const verifyKeyCount = /* @__PURE__ */ atMost('EVIDENCE_MALFORMED', MAX_STORAGE_KEYS, ' keys')

/** @throws ProofError `EVIDENCE_MALFORMED` */
export function decodeFinalizedState(state: unknown): FinalizedState {
  const field = reader.fieldsOf(state, ['messageNumber', 'forcedTransactionNumber', 'timestamp'])
  return {
    messageNumber: field('messageNumber', quantityOf(256)),
    forcedTransactionNumber: field('forcedTransactionNumber', optional(quantityOf(256))),
    timestamp: field('timestamp', quantityOf(64)),
  }
}

/** A quantity in lower case: in a bundle, each number has one spelling. */
export const quantityOf =
  (bits: number) =>
  (value: unknown): bigint => {
    const text = reader.string(value)
    const quantity = decodeQuantity(text, bits)
    if (quantity !== null && encodeQuantity(quantity) === text) return quantity
    throw refusal('EVIDENCE_MALFORMED', `a quantity of at most ${bits / 8} bytes without leading zeros`, excerpt(text))
  }
