import { DocumentError, type ExplorerDocument, readDocument } from './document.ts'
import { type Judgement, judge } from './judge.ts'
import type { Reply, Request } from './messages.ts'
import { viewProof } from './proof-view.ts'

/** As in the command line: room for more than a thousand slots. */
export const MAX_INPUT_MIB = 16

/** Answers the page's requests, one at a time; it remembers the last file and the last verdict on it. */
export function createExplorer(maxMib: number): (request: Request) => Promise<Reply> {
  let document: ExplorerDocument | null = null
  let judgement: Judgement | null = null

  async function answer(request: Request): Promise<Reply> {
    const { id } = request
    switch (request.kind) {
      case 'load': {
        document = null
        judgement = null
        document = readDocument(await readJson(request.blob, maxMib))
        const { kind, isBundle, description, slotCount, suggested, notes } = document
        return { id, kind: 'load', loaded: { kind, isBundle, description, slotCount, suggested, notes } }
      }
      case 'verify':
        if (document === null) throw new DocumentError('There is no file to verify.')
        judgement = judge(document, request.statement)
        return { id, kind: 'verify', report: judgement.report }
      case 'proof':
        if (document === null || judgement === null) throw new DocumentError('There is no verdict yet.')
        return { id, kind: 'proof', proof: viewProof(document, judgement, request.index) }
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

async function readJson(blob: Blob, maxMib: number): Promise<unknown> {
  if (blob.size > maxMib * 2 ** 20) throw new DocumentError(`The file is larger than ${maxMib} MiB.`)
  const bytes = await blob.arrayBuffer()
  // A fatal decoder, for bytes that are silently replaced are not the bytes that were sent. It drops a leading BOM.
  const text = orDocumentError('The file is not UTF-8 text.', () =>
    new TextDecoder('utf-8', { fatal: true }).decode(bytes),
  )
  if (text.trim() === '') throw new DocumentError('The file is empty.')
  return orDocumentError('The file is not JSON.', () => JSON.parse(text))
}

function orDocumentError<T>(message: string, work: () => T): T {
  try {
    return work()
  } catch {
    throw new DocumentError(message)
  }
}
