/**
 * Clients over URLs or any EIP-1193 providers: they fetch and verify in one call, record evidence, follow finalizations, and say
 * what to do when an endpoint fails.
 *
 * @module rollup-state-proof/rpc
 */
export type { Rollup } from './anchor/rollup.ts'
export type { Hex } from './bytes.ts'
export type { ProofError } from './errors.ts'
export {
  type ConsensusOptions,
  type ConsensusProgress,
  type FetchedConsensus,
  fetchConsensus,
} from './rpc/beacon.ts'
export { type Asked, diagnose } from './rpc/diagnose.ts'
export type { Endpoint } from './rpc/endpoints.ts'
export {
  EndpointError,
  type EndpointErrorCode,
  type EndpointErrorDetails,
  type EndpointReport,
  endpointErrorMeanings,
  isEndpointError,
  type Layer,
} from './rpc/error.ts'
export {
  type BlockTag,
  createRollupClient,
  type ProofRequest,
  type RollupClient,
  type RollupClientOptions,
  type StateRequest,
} from './rpc/fetch.ts'
export { followFinalizations } from './rpc/follow.ts'
export {
  type BeaconBlockHashOptions,
  type BeaconFailure,
  type BeaconProgress,
  beaconBlockHash,
} from './rpc/follow-beacon.ts'
export {
  type ClaimableMessage,
  type FollowedMessages,
  type FollowMessagesOptions,
  followMessages,
  type MessagesProgress,
} from './rpc/follow-messages.ts'
export type { FollowEvent, FollowOptions, FollowRequest } from './rpc/follow-options.ts'
export type { FollowProgress } from './rpc/follow-state.ts'
export type { FollowedBlock, FollowedFinalization, FollowedState, VerifiedRequests } from './rpc/follower.ts'
export { type BeaconApi, createBeaconApi, createHttpProvider, type HttpOptions } from './rpc/http.ts'
export type { L1BlockTag } from './rpc/l1.ts'
export {
  type AgreementOptions,
  agreeingBlockHash,
  type DissentingSource,
  finalizedBlockHash,
} from './rpc/l1-block-hash.ts'
export type { FetchProgress } from './rpc/partial-answers.ts'
export type { RequestProvider, SendProvider } from './rpc/provider.ts'
export type { QueueState } from './rpc/queue.ts'
export {
  type Recorded,
  type RecordOptions,
  type RecordProgress,
  recordEvidence,
} from './rpc/record.ts'
export {
  type MessageRecordOptions,
  type RecordedMessage,
  recordMessage,
  type WantedMessage,
} from './rpc/record-message.ts'
export { fetchVerifiedRoot, type VerifiedRoot, type VerifiedRootOptions } from './rpc/verified-root.ts'
export type { Scheme } from './scheme/scheme.ts'
