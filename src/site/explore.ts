import { leafProofAt } from '../cli/words/answer.ts'
import { DocumentError } from '../cli/words/error.ts'
import { toHex } from '../cli/words/layout.ts'
import { brief, parseJson } from '../cli/words/value.ts'
import type { OpenedFile } from './file.ts'
import { judge } from './judge.ts'
import { MAX_CHANGED_DIGITS } from './limits.ts'
import { openFile } from './opened-file.ts'
import { type DigitChange, type Place, placeOfPart, viewPart, withDigits } from './part.ts'
import { type ProofView, viewLeafProof } from './proof-view.ts'
import type { Judgement, Report } from './report.ts'
import type { Statement } from './statement.ts'

/**
 * What the page asks its worker, one thing at a time. It remembers the last file and its last verdict. The size of what it answers
 * is bounded, whatever the file contains.
 */
export function createExplorer(maxMib: number) {
  let content: unknown = null
  let verdict: { readonly shown: unknown; readonly file: OpenedFile; readonly judgement: Judgement } | null = null
  return {
    /** Opens a file. Its SHA-256 is empty on a page without TLS, where browsers compute none. */
    async load(blob: Blob) {
      content = null
      verdict = null
      const bytes = await readBlob(blob, maxMib)
      content = readJson(bytes)
      const { kind, fields, holds, suggested } = openFile(content)
      const hash = await globalThis.crypto?.subtle?.digest('SHA-256', bytes)
      const digest = hash === undefined ? '' : toHex(new Uint8Array(hash)).slice(2)
      return { kind, fields, holds, suggested, digest }
    },
    /** @param changes digits of the file that are other ones */
    verify(statement: Statement, changes: readonly DigitChange[]): Report {
      const shown = withDigits(content, changes.slice(0, MAX_CHANGED_DIGITS))
      const file = openFile(shown)
      const judgement = judge(file, statement)
      verdict = { shown, file, judgement }
      return judgement.report
    },
    /** Some of what a part of the file holds, from the `start`th on. */
    part: (place: Place, start: number) => viewPart(content, place, start, verdict?.judgement.scheme?.name ?? ''),
    proof(index: number): { readonly proof: ProofView | null; readonly place: Place | null } {
      if (verdict === null) throw new DocumentError('There is no verdict yet.')
      const { shown, file, judgement } = verdict
      return {
        proof: viewProof(file, judgement, index),
        place: placeOfPart(shown, leafProofAt(file.answer, index)),
      }
    },
  }
}

export type Explorer = ReturnType<typeof createExplorer>
export type Request = readonly [kind: keyof Explorer, ...args: readonly unknown[]]
export interface Reply {
  readonly kind: keyof Explorer
  readonly answer?: unknown
  /** Why there is no answer. */
  readonly problem?: string
}

export async function replyTo(explorer: Explorer, [kind, ...args]: Request): Promise<Reply> {
  try {
    // The page passes the arguments of that kind.
    const work = explorer[kind] as (...args: readonly unknown[]) => unknown
    return { kind, answer: await work(...args) }
  } catch (error) {
    return { kind, problem: error instanceof DocumentError ? error.message : `The explorer failed: ${String(error)}` }
  }
}

/** One proof of the file; null if it has none. */
export function viewProof(file: OpenedFile, judgement: Judgement, index: number): ProofView | null {
  return judgement.forms[index] === undefined ? null : viewLeafProof(file, judgement, index)
}

async function readBlob(blob: Blob, maxMib: number): Promise<Uint8Array<ArrayBuffer>> {
  if (blob.size > maxMib * 2 ** 20) {
    throw new DocumentError(`The file is larger than ${maxMib} MiB. The command rollup-state-proof takes larger ones.`)
  }
  const bytes = await blob.arrayBuffer().catch(() => {
    // Some browsers take a folder for a file until it is read.
    throw new DocumentError('It cannot be read. It is a folder, or it was moved or changed meanwhile.')
  })
  return new Uint8Array(bytes)
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    throw error instanceof DocumentError ? new DocumentError(`The file is ${brief(error.message)}.`) : error
  }
}
