/** The parts of `@lodestar/types` in use, declared here because its own declarations do not compile strictly. */

export interface TreeNode {
  readonly left: TreeNode
  readonly right: TreeNode
  readonly root: Uint8Array
}

/** The fields of a state, body or header that are set or read here. */
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
  deserialize(bytes: Uint8Array): unknown
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

// Typed as a string to hide the import from the compiler.
const name: string = '@lodestar/types'

export const ssz: Record<Module, Record<TypeName, SszType>> = (await import(name)).ssz
