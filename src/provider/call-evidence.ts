import type { Endpoint } from '../rpc/endpoints.ts'
import type {
  CallClaim,
  CallEvidenceRequest,
  CallRecordOptions,
  RecordedCall,
  VerifiedCall,
} from './call-evidence/types.ts'

// Imported on first use: bundlers put them into separate chunks, which programs that only use the provider never load.

/**
 * Verifies a call as evidence: proves the state in the bundle from the one thing that you trust, and executes the call again
 * on that state. It sends no requests. The bundle must contain what the execution reads, and nothing else.
 *
 * @param bundle a stranger's {@link CallEvidence}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `CALL_MISMATCH`, `CALL_STATE_MISSING`, `CALL_STATE_UNUSED`, and what `verifyEvidence` throws;
 * ProviderError `EVM_MISSING`
 *
 * @example
 * ```ts
 * import { lineaRollup } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { verifyCallEvidence } from 'rollup-state-proof/provider'
 *
 * const trusted = { l1BlockHash: `0x${'11'.repeat(32)}` } as const
 * const claim = { scheme: poseidon2, rollup: lineaRollup, trusted, chainId: 59144n }
 * const outcome = await verifyCallEvidence({}, claim).catch(error => error)
 * console.log(outcome.code) // EVIDENCE_MALFORMED
 * ```
 */
export async function verifyCallEvidence(bundle: unknown, claim: CallClaim): Promise<VerifiedCall> {
  const module = await import('./call-evidence/verify.ts')
  return module.verifyCallEvidence(bundle, claim)
}

/**
 * Records a call as evidence: executes it on proven state, and puts everything that it read into one bundle. Years later,
 * {@link verifyCallEvidence} can execute it again from the bundle alone. A call that reverts is recorded, too.
 *
 * @param l1 provider of the L1 on which the rollup is finalized
 * @param l2 provider of the rollup
 * @param request what to execute
 * @param options the L1 block or beacon checkpoint to start from, and how to record
 * @throws what `recordEvidence` throws; ProviderError `VALUE_UNPROVEN` if the call reads a value that no proof covers and that
 * you have not stated, `LIMIT_REACHED`, `EXECUTION_FAILED` if it cannot begin, `EVM_MISSING`
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { recordCall } from 'rollup-state-proof/provider'
 * import { createHttpProvider } from 'rollup-state-proof/rpc'
 * import { createService } from 'rollup-state-proof/service'
 * import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const call = { to: `0x${'70'.repeat(20)}`, data: '0x313ce567' } as const // decimals()
 * const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
 * const { bundle, evidence } = await recordCall(l1, l2, { scheme: poseidon2, rollup, chainId: 1337n, call })
 * console.log(bundle.kind, BigInt(evidence.returnData)) // call 18n
 * await service.close()
 * ```
 */
export async function recordCall(
  l1: Endpoint | readonly Endpoint[],
  l2: Endpoint | readonly Endpoint[],
  request: CallEvidenceRequest,
  options: CallRecordOptions = {},
): Promise<RecordedCall> {
  const module = await import('./call-evidence/record.ts')
  return module.recordCall({ l1, l2 }, request, options)
}
