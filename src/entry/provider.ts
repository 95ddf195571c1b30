/**
 * An EIP-1193 provider for viem, ethers and wallets, whose answers are all proven from an L1 block hash. It executes calls
 * locally; this needs the packages `@ethereumjs/evm`, `@ethereumjs/common` and `@ethereumjs/util`.
 *
 * @module rollup-state-proof/provider
 */

export type {
  CallBundle,
  CallClaim,
  CallRecordOptions,
  RecordedCall,
  VerifiedCall,
} from '../provider/call-evidence/types.ts'
export { recordCall, verifyCallEvidence } from '../provider/call-evidence.ts'
export { isProviderError, ProviderError, type ProviderErrorReason, providerErrorMeanings } from '../provider/error.ts'
export type { ProviderView, VerifiedProviderOptions } from '../provider/options.ts'
export { createVerifiedProvider, type RequestOptions, type VerifiedProvider } from '../provider/provider.ts'
