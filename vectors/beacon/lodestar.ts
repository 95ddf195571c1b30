/** The consensus types of `@lodestar/types`, as far as they are used: its own declarations do not compile strictly. */

export interface TreeNode {
  readonly left: TreeNode
  readonly right: TreeNode
  readonly root: Uint8Array
}

/** The fields that are set or read here, of a state, a body or a header. */
export interface Fields {
  currentSyncCommittee?: unknown
  nextSyncCommittee?: unknown
  finalizedCheckpoint?: unknown
  signedExecutionPayloadBid?: unknown
  executionPayload?: unknown
}

interface View extends Fields {
  readonly node: TreeNode
  commit(): void
  hashTreeRoot(): Uint8Array
}

interface SszType {
  defaultValue(): Fields
  defaultViewDU(): View
  toViewDU(value: unknown): View
  hashTreeRoot(value: unknown): Uint8Array
  toJson(value: unknown): Record<string, unknown>
  fromJson(json: unknown): unknown
  getPathInfo(path: readonly string[]): { gindex: bigint }
}

type TypeName =
  | 'BeaconState'
  | 'BeaconBlockBody'
  | 'BeaconBlockHeader'
  | 'Checkpoint'
  | 'ForkData'
  | 'LightClientBootstrap'
  | 'LightClientFinalityUpdate'
  | 'LightClientHeader'
  | 'LightClientUpdate'
  | 'SigningData'
  | 'SyncCommittee'
  | 'Transactions'
  | 'Withdrawals'

type Module = 'phase0' | 'altair' | 'bellatrix' | 'capella' | 'deneb' | 'electra' | 'fulu' | 'gloas'

// By a name that the compiler does not see through.
const name: string = '@lodestar/types'

export const ssz: Record<Module, Record<TypeName, SszType>> = (await import(name)).ssz
