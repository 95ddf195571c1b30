// Compiled by .ci/package-check against the packed tarball: the platform-independent entry points, without platform types.
import {
  type Claim,
  createVerifier,
  type GetProofResult,
  type Hex,
  isProofError,
  mappingSlot,
  meaningOf,
  type ProofErrorCode,
  safely,
  verifyProof,
} from 'rollup-state-proof'
import { lineaRollup, verifyEvidence } from 'rollup-state-proof/anchor'
import { mainnetBeacon, trustBeaconBlock } from 'rollup-state-proof/beacon'
import { mimc } from 'rollup-state-proof/mimc'
import { poseidon2 } from 'rollup-state-proof/poseidon2'

const address: Hex = `0x${'ab'.repeat(20)}`
const stateRoot: Hex = `0x${'00'.repeat(32)}`
declare const answer: GetProofResult
const claim: Claim = { scheme: mimc, stateRoot, address, storageKeys: undefined }

export function balanceOf(received: unknown): bigint | ProofErrorCode {
  try {
    const { account, storage } = verifyProof(received, claim)
    const values: readonly Hex[] = storage.map(({ value }) => value)
    return account === null ? BigInt(values.length) : account.balance
  } catch (error) {
    if (isProofError(error)) return error.code
    throw error
  }
}

const keys = [mappingSlot({ slot: 3n, keys: [address] })] as const
export const balance: Hex = verifyProof(answer, { ...claim, storageKeys: keys }).storage[0].value

export const outcome = safely(() => createVerifier(poseidon2).verifyProof(answer, { stateRoot, address }))
export const found: string = outcome.ok ? (outcome.value.account?.codeHash ?? '0x') : outcome.error.code

const stated = {
  scheme: poseidon2,
  rollup: lineaRollup,
  address,
  storageKeys: keys,
  l2BlockNumber: 'fromBundle',
} as const
const proven = verifyEvidence({}, { ...stated, trusted: { l1BlockHash: '0x' } })
export const blocks: bigint[] = [proven.l2BlockNumber, proven.l1Block.number]
const trusted = trustBeaconBlock({ network: mainnetBeacon, blockRoot: '0x' })
export const signers: number = verifyEvidence({}, { ...stated, trusted }).beaconBlock.signers

export const meaning = (error: unknown): string => (isProofError(error) ? meaningOf(error.code) : '')

// These would compile if the types were `any`.
// @ts-expect-error a root is hex
verifyProof(answer, { ...claim, stateRoot: 'abc' })
// @ts-expect-error a scheme is required
verifyProof(answer, { stateRoot, address })
// @ts-expect-error there is one key, and so one slot
verifyProof(answer, { ...claim, storageKeys: keys }).storage[1]
// @ts-expect-error whose state it is must be said
verifyEvidence({}, { scheme: poseidon2, rollup: lineaRollup, trusted: { l1BlockHash: '0x' } })
