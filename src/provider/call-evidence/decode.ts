import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { excerpt, refusal } from '../../base/errors.ts'
import { bytesUpTo, hexOf, optional, unread } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { HARDFORKS, type Hardfork } from '../../client/network/hardfork.ts'
import { quantityOf } from '../../verify/evidence/decode.ts'
import type { FieldReader } from '../../verify/evidence/kind.ts'
import { ENVIRONMENT_FIELDS, type Environment, isBlockNumber, onlyGiven } from '../environment.ts'
import { MAX_BUNDLE_PARTS, MAX_DATA_BYTES } from '../limits.ts'

/** The body of a bundle, with its own fields checked. The proofs in it are not read yet. */
export type DecodedCallEvidence = ReturnType<typeof decodeCallEvidence>

const reader = readerOf('EVIDENCE_MALFORMED')
export const BODY_FIELDS = ['chainId', 'hardfork', 'environment', 'call', 'answers', 'codes']

/** @throws ProofError `EVIDENCE_MALFORMED`, `BAD_HEX`, `WRONG_LENGTH` */
export function decodeCallEvidence(field: FieldReader, maxGas: bigint) {
  let parts = 0
  const count = (more: number) => {
    parts += more
    if (parts > MAX_BUNDLE_PARTS) throw malformed(`at most ${MAX_BUNDLE_PARTS} accounts, slots and codes`, 'more')
  }
  return {
    chainId: field('chainId', quantityOf(256)),
    hardfork: field('hardfork', decodeHardfork),
    environment: field('environment', value => decodeEnvironment(value, count)),
    call: field('call', call => decodeCall(call, maxGas)),
    answers: field('answers', list => reader.items(list, count, item => decodeAnswer(item, count))),
    codes: field('codes', list => reader.items(list, count, decodeBytes)),
  }
}

const malformed = (expected: string, found: string) => refusal('EVIDENCE_MALFORMED', expected, found)

function decodeAnswer(item: unknown, count: (more: number) => void) {
  const field = reader.fieldsOf(item, ['address', 'storageKeys', 'answer'])
  return {
    address: field('address', hexOf(reader, 20)),
    storageKeys: field('storageKeys', keys => reader.items(keys, count, hexOf(reader, 32))),
    answer: field('answer', unread),
  }
}

function decodeCall(call: unknown, maxGas: bigint) {
  const field = reader.fieldsOf(call, ['from', 'to', 'data', 'value', 'gas'])
  return {
    from: field('from', hexOf(reader, 20)),
    to: field('to', hexOf(reader, 20)),
    data: field('data', data => bytesToHex(decodeBytes(data))),
    value: field('value', quantityOf(256)),
    gas: field('gas', value => {
      const gas = quantityOf(64)(value)
      if (gas > maxGas) throw malformed(`at most ${maxGas}`, `${gas}`)
      return gas
    }),
  }
}

function decodeEnvironment(environment: unknown, count: (more: number) => void): Environment {
  const field = reader.fieldsOf(environment, ENVIRONMENT_FIELDS)
  return onlyGiven<Environment>({
    timestamp: field('timestamp', optional(quantityOf(64))),
    gasLimit: field('gasLimit', optional(quantityOf(64))),
    baseFee: field('baseFee', optional(quantityOf(256))),
    blobBaseFee: field('blobBaseFee', optional(quantityOf(256))),
    coinbase: field('coinbase', optional(hexOf(reader, 20))),
    prevRandao: field('prevRandao', optional(hexOf(reader, 32))),
    blockHashes: field(
      'blockHashes',
      optional(hashes => decodeBlockHashes(hashes, count)),
    ),
  })
}

function decodeBlockHashes(hashes: unknown, count: (more: number) => void): Record<string, Hex> {
  const numbers = tryKeys(hashes)
  if (numbers === null) throw malformed('an object', 'none')
  count(numbers.length)
  const wrong = numbers.find(number => !isBlockNumber(number))
  if (wrong !== undefined) throw malformed('decimal numbers of blocks', excerpt(wrong))
  const field = reader.fieldsOf(hashes, numbers)
  return onlyGiven(Object.fromEntries(numbers.map(number => [number, field(number, hexOf(reader, 32))])))
}

/** None if it is no object, which the reader refuses; null if it cannot be read. */
const tryKeys = (value: unknown): string[] | null => {
  try {
    return Object.keys(Object(value))
  } catch {
    return null
  }
}

function decodeHardfork(value: unknown): Hardfork {
  const name = reader.string(value)
  const hardfork = HARDFORKS.find(known => known === name)
  if (hardfork === undefined) throw malformed(HARDFORKS.join(', '), excerpt(name))
  return hardfork
}

const decodeBytes = /* @__PURE__ */ bytesUpTo(reader, MAX_DATA_BYTES, 'EVIDENCE_MALFORMED')
