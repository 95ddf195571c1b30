import type { Report } from './judge.ts'
import type { Loaded } from './opened-file.ts'
import type { ProofView } from './proof-view.ts'
import type { Statement } from './statement.ts'

/** The messages between the page and its worker. Their size is bounded, whatever the file contains. */

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
