import { DocumentError } from '../document/error.ts'
import { brief, parseJson } from '../document/value.ts'
import { type Judgement, judge } from './judge.ts'
import type { Reply, Request } from './messages.ts'
import { type OpenedFile, openFile } from './opened-file.ts'
import { viewProof } from './proof-view.ts'

/** Answers the page's requests, one at a time. It remembers the last file and its last verdict. */
export function createExplorer(maxMib: number): (request: Request) => Promise<Reply> {
  let file: OpenedFile | null = null
  let judgement: Judgement | null = null

  async function answer(request: Request): Promise<Reply> {
    const { id } = request
    switch (request.kind) {
      case 'load': {
        file = null
        judgement = null
        file = openFile(await readJson(request.blob, maxMib))
        const { kind, isBundle, description, slotCount, suggested, notes } = file
        return { id, kind: 'load', loaded: { kind, isBundle, description, slotCount, suggested, notes } }
      }
      case 'verify':
        if (file === null) throw new DocumentError('There is no file to verify.')
        judgement = judge(file, request.statement)
        return { id, kind: 'verify', report: judgement.report }
      case 'proof':
        if (file === null || judgement === null) throw new DocumentError('There is no verdict yet.')
        return { id, kind: 'proof', proof: viewProof(file, judgement, request.index) }
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
  const bytes = await blob.arrayBuffer().catch(() => {
    // Some browsers take a folder for a file until it is read.
    throw new DocumentError('It cannot be read. It is a folder, or it was moved or changed meanwhile.')
  })
  try {
    return parseJson(new Uint8Array(bytes))
  } catch (error) {
    throw error instanceof DocumentError ? new DocumentError(`The file is ${brief(error.message)}.`) : error
  }
}
