import type { Trusted } from '../verify/evidence/trusted.ts'
import type { Scheme } from '../verify/scheme/scheme.ts'
import type { StateScheme } from '../verify/state/kind.ts'
import type {
  CallClaim,
  CallRecordOptions,
  CallVerifyOptions,
  RecordedCall,
  VerifiedCall,
} from './call-evidence/types.ts'

// Imported on first use: bundlers put them into separate chunks, which programs that only use the provider never load.

/**
 * Verifies a call as evidence: proves the state in the bundle from the one thing that you trust, and executes the call again
 * on that state. It sends no requests. The bundle must contain what the execution reads, and nothing else.
 *
 * The claim states every part of the call, or says `'fromBundle'`: what you leave to the bundle, its author chose. Then use the
 * returned value, not the one that you expected.
 *
 * @param bundle a stranger's {@link CallBundle}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @param options how to abort, and how long it may take
 * @throws ProofError `CALL_MISMATCH`, `CALL_STATE_MISSING`, `CALL_STATE_UNUSED`, and what `verifyEvidence` throws; ArgumentError
 * for the claim; EndpointError `ABORTED`; ProviderError `TIMEOUT`, `ROLLUP_DIFFERS`, `EVM_MISSING`,
 * `LIMIT_REACHED` if this machine has too little memory
 *
 * @example
 * ```ts
 * import { isProofError } from 'rollup-state-proof'
 * import { lineaRollup } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { type CallClaim, verifyCallEvidence } from 'rollup-state-proof/provider'
 *
 * const claim: CallClaim = {
 *   scheme: poseidon2,
 *   rollup: lineaRollup,
 *   trusted: { l1BlockHash: `0x${'11'.repeat(32)}` },
 *   l2BlockNumber: 'fromBundle',
 *   hardfork: 'prague',
 *   call: { to: `0x${'70'.repeat(20)}`, data: '0x313ce567', from: 'fromBundle', value: 0n, gas: 50_000_000n },
 * }
 * const bundle = {} // from a stranger
 * try {
 *   const verified = await verifyCallEvidence(bundle, claim)
 *   if (verified.outcome === 'returned') console.log(verified.returnData)
 * } catch (error) {
 *   if (isProofError(error)) console.log(error.code) // EVIDENCE_MALFORMED
 * }
 * ```
 */
export async function verifyCallEvidence<Trust extends Trusted, Kind extends StateScheme = Scheme>(
  bundle: unknown,
  claim: CallClaim<Trust, Kind>,
  options: CallVerifyOptions = {},
): Promise<VerifiedCall<Trust, Kind>> {
  const module = await import('./call-evidence/verify.ts')
  // The claim decides which case it is.
  return (await module.verifyCallEvidence(bundle, claim, options)) as VerifiedCall<Trust, Kind>
}

/**
 * Records a call as evidence: executes it on proven state, and puts everything that it read into one bundle. Years later,
 * {@link verifyCallEvidence} can execute it again from the bundle alone. A call that reverts is recorded, too.
 *
 * @param options the endpoints, the rollup, what to execute, and how to record
 * @throws what `recordEvidence` throws; ProviderError `VALUE_UNPROVEN` if the call reads a value that no proof covers and that
 * you have not stated, `TIMEOUT`, `ROLLUP_DIFFERS`, `LIMIT_REACHED`, `EXECUTION_FAILED` if it cannot begin, `EVM_MISSING`; EndpointError `CHAIN_MISMATCH`
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { recordCall } from 'rollup-state-proof/provider'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff', chainId: 1337 } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const call = { to: `0x${'70'.repeat(20)}`, data: '0x313ce567' } as const // decimals()
 * const network = { rollup, scheme: poseidon2 }
 * const { bundle, verified } = await recordCall({ l1: l1Url, l2: url, network, call })
 * if (verified.outcome === 'returned') console.log(bundle.kind, BigInt(verified.returnData)) // call 18n
 * await service.close()
 * ```
 */
export async function recordCall(options: CallRecordOptions): Promise<RecordedCall> {
  const module = await import('./call-evidence/record.ts')
  return module.recordCall(options)
}
