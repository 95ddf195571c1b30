/**
 * An EIP-1193 provider for viem, ethers and wallets, whose answers are all proven from an L1 block hash. It executes calls
 * locally; this needs the packages `@ethereumjs/evm`, `@ethereumjs/common` and `@ethereumjs/util`.
 *
 * @module rollup-state-proof/provider
 */

export type { Hex } from '../base/bytes.ts'
export type { ProofError } from '../base/errors.ts'
export type { Hardfork } from '../client/network/hardfork.ts'
export type { Endpoint } from '../client/sources/endpoints.ts'
export type { EndpointError } from '../client/transport/error.ts'
export type {
  CallBundle,
  CallClaim,
  CallOutcome,
  CallRecordOptions,
  RecordedCall,
  StatedCall,
  VerifiedCall,
} from '../provider/call-evidence/types.ts'
export { recordCall, verifyCallEvidence } from '../provider/call-evidence.ts'
export type { Environment } from '../provider/environment.ts'
export { isProviderError, ProviderError, type ProviderErrorReason, providerErrorMeanings } from '../provider/error.ts'
export type { ProviderView, VerifiedProviderOptions } from '../provider/options.ts'
export { createVerifiedProvider, type RequestOptions, type VerifiedProvider } from '../provider/provider.ts'
export type { Rollup } from '../verify/anchor/rollup.ts'
export type { Trusted } from '../verify/evidence/types.ts'
export type { Scheme } from '../verify/scheme/scheme.ts'
