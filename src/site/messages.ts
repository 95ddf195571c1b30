import type { Loaded } from './opened-file.ts'
import type { DigitChange, Part, Place } from './part.ts'
import type { ProofView } from './proof-view.ts'
import type { Report } from './report.ts'
import type { Statement } from './statement.ts'

/** The messages between the page and its worker. Their size is bounded, whatever the file contains. */

export type Request =
  | { readonly id: number; readonly kind: 'load'; readonly blob: Blob }
  /** `changes` are digits of the file that are other ones. */
  | {
      readonly id: number
      readonly kind: 'verify'
      readonly statement: Statement
      readonly changes: readonly DigitChange[]
    }
  /** Some of what a part of the file holds, from the `start`th on. */
  | { readonly id: number; readonly kind: 'part'; readonly place: Place; readonly start: number }
  | { readonly id: number; readonly kind: 'proof'; readonly index: number }

export type Reply =
  /** The worker has started. */
  | { readonly id: 0; readonly kind: 'ready' }
  /** `digest` is the file's SHA-256; empty where the browser computes none. */
  | { readonly id: number; readonly kind: 'load'; readonly loaded: Loaded; readonly digest: string }
  | { readonly id: number; readonly kind: 'verify'; readonly report: Report }
  | { readonly id: number; readonly kind: 'part'; readonly part: Part }
  /** `place` is that of the proof in the file. */
  | { readonly id: number; readonly kind: 'proof'; readonly proof: ProofView | null; readonly place: Place | null }
  | { readonly id: number; readonly kind: 'problem'; readonly message: string }
