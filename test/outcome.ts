import { type Hex, isArgumentError, isProofError, safely, verifyCode, verifyProof } from 'rollup-state-proof'
import {
  type EvidenceClaim,
  encodeHeader,
  type Rollup,
  type Trusted,
  type VerifiedEvidence,
  verifyAnchor,
  verifyEvidence,
} from 'rollup-state-proof/anchor'
import { trustBeaconBlock } from 'rollup-state-proof/beacon'
import { mimc } from 'rollup-state-proof/mimc'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import type { Accepted, EvidenceVector, Refused, VectorClaim } from '../vectors/evidence/vector.ts'
import type { Vector } from '../vectors/vector.ts'

// Imported as a user would: these names resolve to src/ in vitest, and to the packed tarball in test/runtimes.

const schemes = { mimc, poseidon2, ethereum: 'ethereum' } as const

/** The library's outcome for a vector, in the form of its `expected`. */
export const outcomeOf = (vector: Vector | EvidenceVector): unknown =>
  'operation' in vector ? outcomeOfEvidence(vector) : outcomeOfAnswer(vector)

function outcomeOfAnswer({ scheme, stateRoot, address, storageKeys, answer }: Vector): Vector['expected'] {
  const verified = safely(() => verifyProof(answer, { scheme: schemes[scheme], stateRoot, address, storageKeys }))
  if (!verified.ok) return { valid: false, code: verified.error.code }
  const { account, storage } = verified.value
  const { nonce, balance, codeSize } = account ?? {}
  return {
    valid: true,
    account: account && { ...account, nonce: `${nonce}`, balance: `${balance}`, codeSize: `${codeSize}` },
    storage,
  }
}

function outcomeOfEvidence(vector: EvidenceVector): Accepted | Refused | 'no error' {
  try {
    if (vector.operation === 'verifyEvidence') {
      return accept(verifyEvidence(vector.bundle, toClaim(vector.scheme, vector.claim)))
    }
    if (vector.operation === 'verifyAnchor') {
      const { l1StateRoot, rollup, l2BlockNumber } = vector.claim
      verifyAnchor(vector.proof, { l1StateRoot, rollup: toRollup(rollup), l2BlockNumber: BigInt(l2BlockNumber) })
    } else if (vector.operation === 'encodeHeader') encodeHeader(vector.block)
    else verifyCode(vector.code, vector.codeHash)
    return 'no error'
  } catch (error) {
    if (isProofError(error) || isArgumentError(error)) return { valid: false, code: error.code }
    throw error
  }
}

type Kind = (typeof schemes)[keyof typeof schemes]
type Verified = VerifiedEvidence<Trusted, bigint | 'fromBundle', readonly Hex[] | 'fromBundle', Kind>

function accept(verified: Verified): Accepted {
  const { account, l1Block, l2BlockNumber, currentL2BlockNumber, finalizedTimestamp, ...rest } = verified
  const beaconBlock = verified.trustedInput === 'beaconBlockRoot' && {
    ...verified.beaconBlock,
    slot: quantity(verified.beaconBlock.slot),
    slotTimestamp: quantity(verified.beaconBlock.slotTimestamp),
    trustedSlotTimestamp: quantity(verified.beaconBlock.trustedSlotTimestamp),
  }
  return {
    valid: true,
    ...rest,
    ...(beaconBlock && { beaconBlock }),
    ...('l2Block' in verified && { l2Block: verified.l2Block && spellNumbers(verified.l2Block) }),
    account: account && { nonce: quantity(account.nonce), balance: quantity(account.balance) },
    l2BlockNumber: l2BlockNumber === undefined ? undefined : quantity(l2BlockNumber),
    currentL2BlockNumber: currentL2BlockNumber === undefined ? undefined : quantity(currentL2BlockNumber),
    finalizedTimestamp: finalizedTimestamp === undefined ? undefined : quantity(finalizedTimestamp),
    l1Block: l1Block && { ...l1Block, number: quantity(l1Block.number), timestamp: quantity(l1Block.timestamp) },
  }
}

const spellNumbers = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, typeof field === 'bigint' ? quantity(field) : field]),
  )

export const quantity = (value: bigint): string => `0x${value.toString(16)}`

/** Converts the claim of an evidence vector, whose numbers are hexadecimal quantities. */
export function toClaim(
  scheme: keyof typeof schemes,
  { rollup, trusted, l2BlockNumber, ...claim }: VectorClaim,
): EvidenceClaim<Trusted, bigint | 'fromBundle', readonly Hex[] | 'fromBundle', Kind> {
  return {
    ...claim,
    scheme: schemes[scheme],
    rollup: toRollup(rollup),
    trusted: toTrusted(trusted),
    l2BlockNumber: l2BlockNumber === 'fromBundle' ? l2BlockNumber : BigInt(l2BlockNumber),
  }
}

/** Invalid vectors may hold no trusted value or two, which the type forbids. */
function toTrusted({ beaconBlockRoot, network, ...others }: VectorClaim['trusted']): Trusted {
  const beacon =
    beaconBlockRoot && (network ? trustBeaconBlock({ network, blockRoot: beaconBlockRoot }) : { beaconBlockRoot })
  return { ...others, ...beacon } as Trusted
}

export function toRollup({ layout, ...rollup }: VectorClaim['rollup']): Rollup {
  if (layout === undefined) return rollup
  const { stateRootHashes, currentL2BlockNumber } = layout
  const slots = { stateRootHashes: BigInt(stateRootHashes), currentL2BlockNumber: BigInt(currentL2BlockNumber) }
  return { ...rollup, layout: slots }
}
