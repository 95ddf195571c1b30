import type { LeafPath } from '../document/answer.ts'
import type { Source } from '../document/claim.ts'
import type { InputFile } from '../document/input-file.ts'
import type { PathLevel } from '../document/layout.ts'
import type { Row } from '../document/wording.ts'

/** The messages between the page and its worker. Their size is bounded, whatever the file contains. */

export type { PathLevel, Row, Source }

export const fieldNames = [
  'scheme',
  'trustedKind',
  'trusted',
  'network',
  'address',
  'storageKeys',
  'rollup',
  'l2Block',
  'rootsSlot',
  'currentSlot',
] as const
export type FieldName = (typeof fieldNames)[number]

/** The content of one form field. `storageKeys` has one key per line. */
export interface Field {
  readonly value: string
  readonly source: Source
}
export type Statement = Readonly<Record<FieldName, Field>>

/** What a file holds, before any of it is verified. */
export interface Loaded {
  readonly kind: InputFile['kind']
  readonly isBundle: boolean
  readonly description: string
  /** How many storage proofs the answer has. */
  readonly slotCount: number
  /** The inputs that the file itself suggests. */
  readonly suggested: Readonly<Partial<Record<FieldName, Field>>>
  readonly notes: readonly string[]
}

export type Verdict = 'verified' | 'refused' | 'unjudged'
export type Status = 'passed' | 'failed' | 'not reached'

export interface Check {
  readonly title: string
  readonly codes: readonly string[]
  readonly status: Status
}

export interface CheckGroup {
  readonly title: string
  readonly checks: readonly Check[]
}

export interface Failure {
  readonly code: string
  readonly path: string
  readonly expected?: string | undefined
  readonly found?: string | undefined
}

/** One box of the chain of trust. */
export interface ChainBox {
  readonly title: string
  readonly state: Status | 'trusted' | 'left out'
  /** Hashes and addresses in full. */
  readonly values: readonly string[]
  readonly note: string
  /** The tree that proves this box; null for the L2 state root and above. */
  readonly tree: string | null
}

export interface InputError {
  readonly field: FieldName
  readonly message: string
}

/** One row of the table of proofs: the account first, then the slots. */
export interface ProofSummary {
  readonly name: string
  readonly key: string
  readonly status: Status
  readonly outcome: string
  /** The value of a slot that is proven to exist, 32 bytes; otherwise empty. */
  readonly value: string
}

export interface Report {
  readonly verdict: Verdict
  /** Whether the user stated everything that the verdict "verified" rests on. */
  readonly isStated: boolean
  readonly headline: string
  readonly text: string
  /** The invalid inputs in the form. */
  readonly inputErrors: readonly InputError[]
  readonly failure: Failure | null
  readonly question: readonly Row[]
  readonly chain: readonly Row[]
  readonly boxes: readonly ChainBox[]
  readonly account: readonly Row[]
  readonly notes: readonly string[]
  readonly groups: readonly CheckGroup[]
  readonly proofs: readonly ProofSummary[]
  /** The proof to show first. */
  readonly shown: number
}

/** Some bytes of the answer, and what each part of them means. */
export interface Bytes {
  readonly title: string
  readonly hex: string
  readonly fields: readonly ByteField[]
  /** Why the bytes cannot be split into fields; null if they can. */
  readonly problem: string | null
}

export interface ByteField {
  readonly name: string
  /** In bytes; `end` is exclusive. */
  readonly start: number
  readonly end: number
  readonly value: string
  readonly note: string
  readonly isFault: boolean
}

/** The place in the drawing where the check failed. */
export type FaultPlace =
  | 'root'
  | 'node 0'
  | 'sub-root'
  | 'leaf'
  | 'leaf index'
  | 'value'
  | 'nodes'
  | 'links'
  | 'key'
  | `level ${number}`

export interface Fault {
  readonly place: FaultPlace
  readonly code: string
  readonly text: string
}

export interface PathView {
  readonly part: LeafPath['proof']
  readonly title: string
  readonly leafIndex: string
  /** The root that the path must lead to; null if it is unknown. */
  readonly wantedRoot: string | null
  readonly rootName: string
  readonly rootSource: string
  readonly computedRoot: string | null
  readonly nextFreeNode: string | null
  readonly statedSubRoot: string | null
  readonly computedSubRoot: string | null
  /** The highest level first; empty if the nodes cannot be read. */
  readonly levels: readonly PathLevel[]
  readonly bytes: readonly Bytes[]
  /** What the value hashes to; null if it cannot be hashed. */
  readonly valueHash: string | null
  readonly fault: Fault | null
}

/** A leaf next to the position of an absent key. */
export interface Neighbour {
  readonly name: string
  readonly prev: string
  readonly next: string
  readonly hKey: string
}

/** A statement in the drawing: whether it holds in the file, and the status of its check. */
export interface Shown {
  readonly isSo: boolean
  readonly status: Status
}

export interface Gap {
  readonly left: Neighbour
  readonly right: Neighbour
  readonly keyHash: string
  readonly forth: Shown
  readonly back: Shown
  readonly between: Shown
  readonly isAfterLeft: boolean
}

/** One leaf proof in full. */
export interface ProofView {
  readonly index: number
  readonly title: string
  readonly claims: string
  readonly key: string
  readonly keyHash: string | null
  readonly checks: readonly Check[]
  readonly gap: Gap | null
  readonly paths: readonly PathView[]
  readonly fault: Fault | null
}

export type Request =
  | { readonly id: number; readonly kind: 'load'; readonly blob: Blob }
  | { readonly id: number; readonly kind: 'verify'; readonly statement: Statement }
  | { readonly id: number; readonly kind: 'proof'; readonly index: number }

export type Reply =
  /** The worker has started. */
  | { readonly id: 0; readonly kind: 'ready' }
  | { readonly id: number; readonly kind: 'load'; readonly loaded: Loaded }
  | { readonly id: number; readonly kind: 'verify'; readonly report: Report }
  | { readonly id: number; readonly kind: 'proof'; readonly proof: ProofView }
  | { readonly id: number; readonly kind: 'problem'; readonly message: string }
