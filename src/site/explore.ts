import { leafProofAt } from '../cli/words/answer.ts'
import { DocumentError } from '../cli/words/error.ts'
import { toHex } from '../cli/words/layout.ts'
import { brief, parseJson } from '../cli/words/value.ts'
import { judge } from './judge.ts'
import { MAX_CHANGED_DIGITS } from './limits.ts'
import type { Reply, Request } from './messages.ts'
import { type OpenedFile, openFile } from './opened-file.ts'
import { placeOfPart, viewPart, withDigits } from './part.ts'
import { type ProofView, viewLeafProof } from './proof-view.ts'
import type { Judgement } from './report.ts'

/** Answers the page's requests, one at a time. It remembers the last file and its last verdict. */
export function createExplorer(maxMib: number): (request: Request) => Promise<Reply> {
  let content: unknown = null
  let verdict: { readonly shown: unknown; readonly file: OpenedFile; readonly judgement: Judgement } | null = null

  async function answer(request: Request): Promise<Reply> {
    const { id } = request
    switch (request.kind) {
      case 'load': {
        content = null
        verdict = null
        const bytes = await readBlob(request.blob, maxMib)
        content = readJson(bytes)
        const { kind, subject, description, holds, suggested, notes } = openFile(content)
        const loaded = { kind, subject, description, holds, suggested, notes }
        return { id, kind: 'load', loaded, digest: await digestOf(bytes) }
      }
      case 'part': {
        const scheme = verdict?.judgement.scheme?.name ?? ''
        return { id, kind: 'part', part: viewPart(content, request.place, request.start, scheme) }
      }
      case 'verify': {
        const shown = withDigits(content, request.changes.slice(0, MAX_CHANGED_DIGITS))
        const file = openFile(shown)
        const judgement = judge(file, request.statement)
        verdict = { shown, file, judgement }
        return { id, kind: 'verify', report: judgement.report }
      }
      case 'proof': {
        if (verdict === null) throw new DocumentError('There is no verdict yet.')
        const { shown, file, judgement } = verdict
        return {
          ...{ id, kind: 'proof', proof: viewProof(file, judgement, request.index) },
          place: placeOfPart(shown, leafProofAt(file.answer, request.index)),
        }
      }
    }
  }

  let last: Promise<unknown> = Promise.resolve()
  return request => {
    const reply = last
      .then(() => answer(request))
      .catch((error: unknown): Reply => {
        const message = error instanceof DocumentError ? error.message : `The explorer failed: ${String(error)}`
        return { id: request.id, kind: 'problem', message }
      })
    last = reply
    return reply
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

/** Empty on a page without TLS, where browsers compute no digests. */
async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', bytes)
  return digest === undefined ? '' : toHex(new Uint8Array(digest)).slice(2)
}
