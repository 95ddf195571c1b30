import { decodeArgument, readKeys } from '../../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../../base/bytes.ts'
import { atPath } from '../../../base/errors.ts'
import { atMost, hexOf, unread } from '../../../base/json/decoders.ts'
import { readOptions } from '../../../base/options.ts'
import { decodeHeadClaim, HEAD_CLAIM, unlessFromBundle, verifySame } from '../claim.ts'
import { reader } from '../decode.ts'
import { createKind } from '../kind.ts'
import { MAX_STORAGE_KEYS } from '../limits.ts'
import type { AnyClaim } from '../types.ts'

function decodeRequest(request: unknown) {
  const field = reader.fieldsOf(request, ['address', 'storageKeys'])
  return {
    address: field('address', hexOf(reader, 20)),
    storageKeys: field('storageKeys', keys => reader.items(keys, verifyKeyCount, hexOf(reader, 32))),
  }
}

const verifyKeyCount = /* @__PURE__ */ atMost('EVIDENCE_MALFORMED', MAX_STORAGE_KEYS, ' keys')

/** The keys as the caller wrote them, and in lower case. */
function decodeStorageKeys(storageKeys: readonly Hex[]) {
  const keys = readKeys(storageKeys)
  return { written: keys.map(({ text }) => text), lowerCase: keys.map(({ bytes }) => bytesToHex(bytes)) }
}

/** All keys, in the same order: a caller who states keys reads the slots by position. */
function verifyKeys(expected: readonly Hex[], found: readonly Hex[]): void {
  const verify = (wanted: string, stated: string) =>
    verifySame('EVIDENCE_KEYS_MISMATCH', 'request.storageKeys', wanted, stated)
  verify(`${expected.length} keys`, `${found.length} keys`)
  for (const [index, key] of found.entries()) verify(`${expected[index]}`, key)
}

export function decodeStateClaim(claim: AnyClaim) {
  const { address, storageKeys, ...head } = readOptions('', claim, ['kind', ...HEAD_CLAIM, 'address', 'storageKeys'])
  return {
    head: decodeHeadClaim(head, false),
    address: unlessFromBundle('address', address, hex => bytesToHex(decodeArgument('address', hex, 20))),
    storageKeys: unlessFromBundle('storageKeys', storageKeys, decodeStorageKeys),
  }
}

/** A validated claim about a state of any kind. What is left to the bundle is undefined. */
export type DecodedStateClaim = ReturnType<typeof decodeStateClaim>

/** What the entry point anchor exports by this name. */
export const stateEvidence = /* @__PURE__ */ createKind({
  name: 'state',
  layer: 'L2',
  fields: ['request', 'answer'],
  decodeClaim: claim => decodeStateClaim(claim as AnyClaim),
  decodeBody: field => ({ ...field('request', decodeRequest), answer: field('answer', unread) }),
  compare(body, { address, storageKeys }: DecodedStateClaim) {
    verifySame('EVIDENCE_ADDRESS_MISMATCH', 'request.address', address, body.address)
    if (storageKeys !== undefined) verifyKeys(storageKeys.lowerCase, body.storageKeys)
  },
  verify({ address, answer, ...request }, block, { head, storageKeys }) {
    const { stateRoot } = block
    const asked = { stateRoot, address, storageKeys: storageKeys?.written ?? request.storageKeys }
    return { ...atPath('answer', () => head.l2.state.verify(answer, asked)), address, ...block }
  },
})
