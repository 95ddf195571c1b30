import { excerpt, ProofError, refusal } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { hexOf, optional, unread } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { FinalizedState } from '../anchor/finalized-state.ts'
import { KIND_NAMES, type KindName } from '../state/types.ts'

/** What every bundle says that it is. */
export const FORMAT = 'rollup-state-proof/evidence'
export const VERSION = 1

/** The head of a bundle, with its own fields checked: hexadecimal in lower case, numbers as bigints. The proofs in it are not read yet. */
export type DecodedHead = ReturnType<typeof decodeHead>

export const reader = /* @__PURE__ */ readerOf('EVIDENCE_MALFORMED')

const ENVELOPE = ['format', 'version', 'kind'] as const
const HEAD_OF_L1 = ['rollup', 'consensus', 'l1'] as const
const HEAD_OF_L2 = ['scheme', 'l2BlockNumber', 'l2Header'] as const

type Field = <T>(
  name: (typeof ENVELOPE | typeof HEAD_OF_L1 | typeof HEAD_OF_L2)[number],
  decode: (value: unknown) => T,
) => T

/** Decodes the head of a bundle, and reads the fields of its body. The proofs in both are not read yet. */
export function openHead(bundle: unknown, { name, layer, fields }: BundleForm) {
  const isOfL1 = layer === 'L1'
  const names = [...ENVELOPE, ...HEAD_OF_L1, ...(isOfL1 ? [] : HEAD_OF_L2), ...fields]
  const field = reader.fieldsOf<string>(bundle, names)
  if (field('format', unread) === undefined) refuseAnswer(bundle)
  field('format', format => verifyIs(FORMAT, format))
  field('version', verifyVersion)
  field('kind', kind => verifyIs(name, kind))
  return { head: decodeHead(field, isOfL1), field }
}

interface BundleForm {
  readonly name: string
  readonly layer: 'L1' | 'L2'
  readonly fields: readonly string[]
}

function verifyIs(expected: string, value: unknown): void {
  const stated = reader.string(value)
  if (stated !== expected) throw refusal('EVIDENCE_MALFORMED', expected, excerpt(stated))
}

function verifyVersion(version: unknown): void {
  if (version === undefined) throw refusal('EVIDENCE_MALFORMED', 'a version', 'none')
  if (version !== VERSION) throw new ProofError('EVIDENCE_VERSION', { expected: `${VERSION}` })
}

/** A bare answer, or the response around it, is what people pass most in the place of a bundle. */
function refuseAnswer(bundle: unknown): void {
  const { accountProof, result } = reader.fields(bundle, ['accountProof', 'result'])
  if (accountProof === undefined && result === undefined) return
  throw refusal('EVIDENCE_MALFORMED', 'an evidence bundle', 'an answer alone: use verifyProof, with its state root')
}

const decodeL1 = (l1: unknown) => reader.fields(l1, ['header', 'proof', 'finalizedState'])

function decodeHead(field: Field, isOfL1: boolean) {
  return {
    rollup: field('rollup', decodeRollup),
    consensus: field('consensus', unread),
    l1: field('l1', isOfL1 ? decodeL1 : optional(decodeL1)),
    /** What leads on to L2; null if the head ends at L1. */
    l2: isOfL1
      ? null
      : {
          scheme: field('scheme', decodeKindName),
          number: field('l2BlockNumber', quantityOf(64)),
          header: field('l2Header', unread),
        },
  }
}

function decodeKindName(value: unknown): KindName {
  const stated = reader.string(value)
  const name = KIND_NAMES.find(known => known === stated)
  if (name === undefined) throw refusal('EVIDENCE_MALFORMED', KIND_NAMES.join(' or '), excerpt(stated))
  return name
}

function decodeRollup(rollup: unknown) {
  const field = reader.fieldsOf(rollup, ['name', 'address'])
  return { name: field('name', optional(reader.string)), address: field('address', hexOf(reader, 20)) }
}

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
