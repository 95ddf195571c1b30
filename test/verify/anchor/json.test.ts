import { expect, it } from 'vitest'
import { ProofError } from '../../../src/base/errors.ts'
import { verifyEthProof, verifyEvidence } from '../../../src/entry/anchor.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'

it('does not let a getter or proxy choose the error', () => {
  const trap = () => {
    throw new ProofError('STATE_ROOT_MISMATCH')
  }
  const getter = Object.defineProperty({}, 'version', { get: trap, enumerable: true })
  const unreadable = new Proxy({}, { getOwnPropertyDescriptor: trap })
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const zero = `0x${'00'.repeat(32)}` as const
  const address = `0x${'00'.repeat(20)}` as const
  const rollup = { name: 'devnet', address }
  for (const hostile of [getter, unreadable, proxy]) {
    const known = { scheme: poseidon2, rollup, trusted: { l2StateRoot: zero }, l2BlockNumber: 1n, address }
    expect(() => verifyEvidence(hostile, { ...known, storageKeys: [] })).toThrow(
      expect.objectContaining({ code: 'EVIDENCE_MALFORMED' }),
    )
  }
  for (const accountProof of [proxy, new Proxy([''], { getOwnPropertyDescriptor: trap })]) {
    expect(() => verifyEthProof({ accountProof, storageProof: [] }, { l1StateRoot: zero, address })).toThrow(
      expect.objectContaining({ code: 'L1_PROOF_MALFORMED', path: expect.stringContaining('accountProof') }),
    )
  }
})
