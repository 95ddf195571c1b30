/**
 * Clients over any EIP-1193 provider: they fetch and verify in one call, record evidence, follow finalizations, and say what
 * to do when an endpoint fails.
 *
 * @module rollup-state-proof/rpc
 */
export {
  type ConsensusOptions,
  type ConsensusProgress,
  type FetchedConsensus,
  fetchConsensus,
} from './rpc/beacon.ts'
export { diagnose } from './rpc/diagnose.ts'
export {
  type EndpointError,
  type Layer,
  RpcError,
  type RpcErrorCode,
  type RpcErrorDetails,
  rpcAdvice,
} from './rpc/error.ts'
export {
  type BlockTag,
  type Client,
  type ClientOptions,
  createClient,
  type FetchOptions,
  fetchAnswer,
  type ProofRequest,
  type StateRequest,
} from './rpc/fetch.ts'
export { followFinalizations } from './rpc/follow.ts'
export {
  type BeaconFailure,
  type BeaconState,
  type BeaconVerifier,
  type FollowBeaconOptions,
  followBeacon,
} from './rpc/follow-beacon.ts'
export type { FollowEvent, FollowOptions, FollowRequest } from './rpc/follow-options.ts'
export type { FollowState } from './rpc/follow-state.ts'
export type { FollowedFinalization } from './rpc/follower.ts'
export { type BeaconApi, createBeaconApi, createHttpProvider, endpointUrl, type HttpOptions } from './rpc/http.ts'
export type { L1BlockTag } from './rpc/l1.ts'
export {
  type AgreementOptions,
  agreeingBlockHash,
  type DissentingSource,
  finalizedBlockHash,
} from './rpc/l1-block-hash.ts'
export type { FetchCheckpoint } from './rpc/partial-answers.ts'
export type { Provider, SendProvider } from './rpc/provider.ts'
export {
  type EvidenceRequest,
  type Recorded,
  type RecordOptions,
  type RecordProgress,
  recordEvidence,
} from './rpc/record.ts'
