import { addressIn, guessKind, kindNamed, leafProofAt, type Source, storageKeysIn } from '../cli/words/answer.ts'
import { nameOfRollup, parseNumber } from '../cli/words/evidence.ts'
import {
  type AnswerFile,
  type EvidenceVector,
  evidenceNames,
  holdsTraces,
  readInputFile,
} from '../cli/words/input-file.ts'
import { toHex } from '../cli/words/layout.ts'
import {
  brief,
  DocumentError,
  fieldIn,
  fieldsOf,
  isGiven,
  isObject,
  itemsOf,
  parseJson,
  printable,
  show,
} from '../cli/words/value.ts'
import { type OpenedFile, slotsIn } from './file.ts'
import { judge, kindOf } from './judge.ts'
import { MAX_CHANGED_DIGITS, MAX_FIELD_CHARACTERS, MAX_KEYS } from './limits.ts'
import { type DigitChange, type Place, placeOfPart, viewPart, withDigits } from './part.ts'
import { type ProofView, viewLeafProof } from './proof-view.ts'
import type { Judgement, Report } from './report.ts'
import { type FieldName, fieldNames, type Statement, type Suggested } from './statement.ts'

/** @throws DocumentError if the page cannot show this kind of file */
export function openFile(content: unknown): OpenedFile {
  if (!isObject(content)) throw new DocumentError(`This is not a JSON object, but ${brief(show(content))}.`)
  if (holdsTraces(content)) return openTraces('traces', content)
  const file = readInputFile(content)
  const { kind } = file
  if (kind === 'evidence vector') return openEvidence(kind, file)
  if (kind === 'evidence') {
    const name = evidenceNames[file.evidence].replace(/^an? /, '')
    return openEvidence(name, { ...file, scheme: undefined, claim: undefined })
  }
  if (kind === 'function vector') {
    const { answer, ...claim } = fieldsOf(file.fields['input'])
    if (file.operation === 'verifyTransition') return openTraces('evidence vector', answer, claim)
    throw new DocumentError('This is a vector of a function: the tests run it, and this page does not.')
  }
  if (kind === 'unknown') {
    throw new DocumentError(
      'This is not an answer, a JSON-RPC response, evidence, a recording, a list of traces or a vector.',
    )
  }
  const error = kind === 'JSON-RPC response' ? fieldIn(file.answer, 'error') : undefined
  if (!isGiven(error)) return openAnswer(file)
  throw new DocumentError(`The server sent an error, and no proof: ${brief(show(fieldIn(error, 'message') ?? error))}`)
}

/** @param sources what each says of the question, the later ones before the earlier ones */
function opened(file: Omit<OpenedFile, 'suggested' | 'fields' | 'holds'>, ...sources: readonly Suggested[]) {
  const { fields, holds } = kindOf(file.subject)
  const all = Object.assign({}, ...sources)
  const suggested = fields.filter(name => all[name] !== undefined)
  return {
    ...file,
    fields,
    holds: holds(file),
    suggested: Object.fromEntries(suggested.map(name => [name, all[name]])),
  }
}

function openAnswer({ kind, stated, answer }: AnswerFile): OpenedFile {
  const slotCount = slotsIn(answer)
  const served = slotCount > MAX_KEYS ? 0 : storageKeysIn(answer)
  const { scheme, stateRoot, address, storageKeys } = stated
  const said = suggest('file', { scheme, trusted: stateRoot, address, storageKeys })
  const isAsking = said.storageKeys === undefined && slotCount > 0 && typeof served === 'number'
  const asking = `Enter the storage keys that you asked for: the answer names none, or more than ${MAX_KEYS}.`
  return opened(
    { kind, subject: 'answer', answer, notes: isAsking ? [asking] : [] },
    suggest('answer', {
      scheme: guessKind(answer)?.name,
      address: addressIn(answer),
      storageKeys: typeof served === 'number' ? undefined : served,
    }),
    said,
  )
}

/** Evidence, and what a vector states about it. */
function openEvidence(
  kind: string,
  { evidence, bundle, scheme: stated, claim }: Pick<EvidenceVector, 'evidence' | 'bundle' | 'scheme' | 'claim'>,
): OpenedFile {
  const { scheme, rollup, l2BlockNumber, request, answer } = fieldsOf(bundle)
  const own = suggest('bundle', {
    trustedKind: 'l1BlockHash',
    scheme: kindNamed(scheme)?.name,
    l2Block: decimal(l2BlockNumber),
    rollup: nameOfRollup(fieldIn(rollup, 'address')),
    ...fieldsOf(request),
  })
  const network = fieldIn(fieldIn(claim, 'trusted'), 'network')
  return opened({ kind, subject: evidence, bundle, answer, network }, own, suggestClaim(stated, claim))
}

/** Traces. @param claim what a vector states about them */
function openTraces(kind: string, answer: unknown, claim?: unknown): OpenedFile {
  const { scheme, parentStateRoot, stateRoot } = fieldsOf(claim)
  const result = fieldsOf(fieldIn(answer, 'result') ?? answer)
  const { zkParentStateRootHash: trusted, zkEndStateRootHash: endRoot } = result
  return opened(
    { kind, subject: 'traces', answer },
    suggest('answer', { trusted, endRoot }),
    suggest('file', { scheme, trusted: parentStateRoot, endRoot: stateRoot }),
  )
}

/** What an evidence vector states. It leaves the rest to the bundle. */
function suggestClaim(scheme: unknown, claim: unknown): Suggested {
  const { rollup, trusted, l2BlockNumber, address, storageKeys, message } = fieldsOf(claim)
  const { address: contract, layout, implementation } = fieldsOf(rollup)
  const { network, ...roots } = fieldsOf(trusted)
  const [[trustedKind, root] = []] = Object.entries(roots)
  const { stateRootHashes, currentL2BlockNumber, blockHashes } = fieldsOf(layout)
  const slots = [stateRootHashes, currentL2BlockNumber, blockHashes].filter(isGiven)
  const known = { scheme, trustedKind, trusted: root, network: fieldIn(network, 'name') }
  const asked = { l2Block: decimal(l2BlockNumber), address, storageKeys, message }
  const spelled = layout === undefined ? undefined : slots.map(slot => show(decimal(slot))).join(' ')
  return suggest('file', { ...known, ...asked, rollup: contract, implementation, layout: spelled })
}

/** Converts a quantity to decimal. Returns anything else unchanged. */
const decimal = (quantity: unknown): unknown => {
  const number = parseNumber(quantity, 256)
  return number === null ? quantity : `${number}`
}

/** Suggests the values that fit their form fields. What is left to the bundle is no value. */
function suggest(source: Source, values: Readonly<Partial<Record<FieldName, unknown>>>): Suggested {
  const suggested: Suggested = {}
  for (const name of fieldNames) {
    const value = values[name] === 'fromBundle' ? undefined : values[name]
    const lines = name === 'storageKeys' ? itemsOf(value) : [value]
    const isFit =
      lines.length <= MAX_KEYS && lines.every(line => typeof line === 'string' && line.length <= MAX_FIELD_CHARACTERS)
    if (value === undefined || !isFit) continue
    suggested[name] = { value: lines.map(line => printable(String(line))).join('\n'), source }
  }
  return suggested
}

/** What the page asks its worker, one thing at a time, of the last file. The size of each answer is bounded, whatever the file contains. */
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
