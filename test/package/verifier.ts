// Compiled by .ci/package-check against the packed tarball: the platform-independent entry points, without platform types.
import { type Claim, createVerifier, type Hex, ProofError, type ProofErrorCode, verifyProof } from 'rollup-state-proof'
import { type EvidenceClaim, lineaRollup, verifyEvidence } from 'rollup-state-proof/anchor'
import { mimc } from 'rollup-state-proof/mimc'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createWorld, type GetProofResult } from 'rollup-state-proof/world'

const address: Hex = `0x${'ab'.repeat(20)}`
const world = createWorld(mimc)
world.setAccount(address, { balance: 5n })
const answer: GetProofResult = world.getProof(address, [])
const claim: Claim = { scheme: mimc, stateRoot: world.stateRoot(), address }

export function balanceOf(received: unknown): bigint | ProofErrorCode {
  try {
    const { account, storage } = verifyProof(received, claim)
    const values: readonly Hex[] = storage.map(({ value }) => value)
    return account === null ? BigInt(values.length) : account.balance
  } catch (error) {
    if (error instanceof ProofError) return error.code
    throw error
  }
}
export const outcome = safely(() =>
  createVerifier(poseidon2).verifyProof(answer, { stateRoot: world.stateRoot(), address }),
)
export const found: Hex | ProofErrorCode = outcome.ok ? (outcome.account?.codeHash ?? '0x') : outcome.error.code

const evidenceClaim: EvidenceClaim = { scheme: poseidon2, rollup: lineaRollup, trusted: { l1BlockHash: '0x' } }
export const block: bigint | null = verifyEvidence({}, evidenceClaim).l2BlockNumber

// These would compile if the types were `any`.
// @ts-expect-error a root is hex
verifyProof(answer, { ...claim, stateRoot: 'abc' })
// @ts-expect-error a scheme is required
verifyProof(answer, { stateRoot: world.stateRoot(), address })
// @ts-expect-error an optional field is omitted, not undefined
verifyProof(answer, { ...claim, storageKeys: undefined })
