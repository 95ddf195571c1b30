/**
 * Clients over URLs or any EIP-1193 providers: they fetch and verify in one call, record evidence, follow finalizations, and say
 * what to do when an endpoint fails.
 *
 * @module rollup-state-proof/rpc
 */

export {
  type BeaconBlockHashOptions,
  type BeaconFailure,
  beaconBlockHash,
} from '../client/beacon/beacon.ts'
export { followFinalizations } from '../client/follow/follow.ts'
export {
  type ClaimableMessage,
  type FollowedMessages,
  type FollowMessagesOptions,
  followMessages,
  type MessagesProgress,
} from '../client/follow/follow-messages.ts'
export type {
  FollowEvent,
  FollowedFinalization,
  FollowOptions,
  FollowProgress,
  FollowRequest,
} from '../client/follow/types.ts'
export { type AgreementOptions, type DissentingSource, finalizedBlockHash } from '../client/l1/l1-block-hash.ts'
export { fetchVerifiedRoot, type VerifiedRoot, type VerifiedRootOptions } from '../client/l1/verified-root.ts'
export { type Recorded, type RecordOptions, type RecordProgress, recordEvidence } from '../client/record/record.ts'
export {
  type MessageRecordOptions,
  type RecordedMessage,
  recordMessage,
} from '../client/record/record-message.ts'
export type { Endpoint } from '../client/sources/endpoints.ts'
export {
  createRollupClient,
  type RollupClient,
  type RollupClientOptions,
  type StateRequest,
} from '../client/sources/fetch.ts'
export { diagnose } from '../client/transport/diagnose.ts'
export {
  EndpointError,
  type EndpointErrorCode,
  endpointErrorMeanings,
  isEndpointError,
} from '../client/transport/error.ts'
export { type BeaconApi, createBeaconApi, createHttpProvider, type HttpOptions } from '../client/transport/http.ts'
export type { RequestProvider } from '../client/transport/provider.ts'
