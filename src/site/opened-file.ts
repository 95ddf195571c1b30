import { addressIn, guessKind, kindNamed, storageKeysIn } from '../cli/words/answer.ts'
import type { Source } from '../cli/words/claim.ts'
import { DocumentError } from '../cli/words/error.ts'
import { nameOfRollup, parseNumber } from '../cli/words/evidence.ts'
import {
  type AnswerFile,
  type EvidenceVector,
  evidenceNames,
  holdsTraces,
  readInputFile,
} from '../cli/words/input-file.ts'
import { brief, fieldIn, fieldsOf, isGiven, isObject, itemsOf, printable, show } from '../cli/words/value.ts'
import { type OpenedFile, slotsIn } from './file.ts'
import { kindOf } from './judge.ts'
import { MAX_FIELD_CHARACTERS, MAX_KEYS } from './limits.ts'
import { type FieldName, fieldNames, type Suggested } from './statement.ts'

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
function opened(
  file: Omit<OpenedFile, 'suggested' | 'fields' | 'holds'>,
  ...sources: readonly Suggested[]
): OpenedFile {
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
