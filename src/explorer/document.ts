import { lineaMainnet, lineaSepolia, type Rollup } from '../../../src/anchor.ts'
import {
  type DocumentKind,
  type Field,
  type FieldName,
  fieldNames,
  type Loaded,
  type SchemeName,
  type Source,
  type Statement,
} from './messages.ts'
import { fieldIn, fieldsOf, isGiven, isHexOf, isObject, itemsOf, printable, show } from './value.ts'

/** A file that was read: what it holds, and what it says was asked. */
export interface ExplorerDocument extends Loaded {
  /** What the endpoint answered; of a bundle, its `answer`. */
  readonly answer: unknown
  /** The bundle, when it is one. */
  readonly bundle: unknown
  /** How the answer's paths begin in the errors. */
  readonly answerPath: string
}

/** The file cannot be explored; the message says why. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
}

/** More keys than an honest answer of 16 MiB has room for. */
const MAX_KEYS = 4096

/** @throws DocumentError when it is nothing that is known */
export function readDocument(content: unknown): ExplorerDocument {
  if (!isObject(content)) throw new DocumentError(`This is no JSON object, but ${show(content)}.`)
  const has = (name: string) => Object.hasOwn(content, name)
  if (['version', 'rollup', 'request', 'answer'].every(has)) return ofBundle(content, 'evidence bundle', {}, '')
  if (has('operation')) return ofEvidenceVector(content)
  // What calls itself a JSON-RPC response came from an endpoint: whatever else it says is nobody's statement.
  if (!has('jsonrpc') && has('scheme') && (has('answer') || has('result'))) return ofCase(content)
  if (['jsonrpc', 'result', 'error', 'accountProof', 'storageProofs', 'storageProof'].some(has)) {
    return ofAnswer(content, 'answer', {}, '')
  }
  throw new DocumentError('This is no answer, JSON-RPC response, evidence bundle, recording or vector.')
}

type Suggested = Partial<Record<FieldName, Field>>

/** A vector or a recording: it says itself what was asked. */
function ofCase(content: Readonly<Record<string, unknown>>): ExplorerDocument {
  const isVector = Object.hasOwn(content, 'answer')
  const { scheme, stateRoot, address, storageKeys, description, answer, result } = content
  const said = {
    ...suggest('scheme', scheme, 'file'),
    trustedKind: { value: 'l2StateRoot', source: 'file' as const },
    ...suggest('trusted', stateRoot, 'file'),
    ...suggest('address', address, 'file'),
    ...suggestKeys(storageKeys, 'file'),
  }
  return ofAnswer(isVector ? answer : result, isVector ? 'vector' : 'recording', said, text(description))
}

function ofAnswer(answer: unknown, kind: DocumentKind, said: Suggested, description: string): ExplorerDocument {
  const { accountProof, storageProofs } = resultIn(answer)
  const slots = itemsOf(storageProofs)
  const { key: address } = fieldsOf(accountProof)
  const keys = slots.slice(0, MAX_KEYS + 1).map(proof => fieldIn(proof, 'key'))
  const areKeys = keys.length <= MAX_KEYS && keys.every(key => isHexOf(32, key))
  const notes = [
    ...(said.storageKeys === undefined && slots.length > 0 && !areKeys
      ? [
          slots.length > MAX_KEYS
            ? `The answer has ${slots.length} storage proofs, more than any honest one of this size: state the keys that you asked for.`
            : 'A storage proof names no storage key: state the keys that you asked for.',
        ]
      : []),
  ]
  return {
    kind,
    isBundle: false,
    description,
    slotCount: slots.length,
    suggested: {
      ...suggest('scheme', guessScheme(accountProof), 'answer'),
      trustedKind: { value: 'l2StateRoot', source: 'answer' },
      ...(isHexOf(20, address) && suggest('address', address, 'answer')),
      ...(areKeys && suggestKeys(keys, 'answer')),
      ...said,
    },
    notes,
    answer,
    bundle: undefined,
    answerPath: '',
  }
}

function ofEvidenceVector(content: Readonly<Record<string, unknown>>): ExplorerDocument {
  const { operation, claim, scheme, bundle, description } = content
  if (operation !== 'verifyEvidence') {
    throw new DocumentError('This vector is of no bundle: there is no proof of the rollup in it to look at.')
  }
  const { rollup, trusted, l2BlockNumber, address, storageKeys } = fieldsOf(claim)
  const { address: contract, layout } = fieldsOf(rollup)
  const [first] = Object.entries(fieldsOf(trusted))
  const { stateRootHashes, currentL2BlockNumber } = fieldsOf(layout)
  return ofBundle(
    bundle,
    'evidence vector',
    {
      ...suggest('scheme', scheme, 'file'),
      ...suggest('trustedKind', first?.[0], 'file'),
      ...suggest('trusted', first?.[1], 'file'),
      ...suggest('rollup', contract, 'file'),
      ...suggest('l2Block', l2BlockNumber, 'file'),
      ...suggest('address', address, 'file'),
      ...suggestKeys(storageKeys, 'file'),
      ...suggest('rootsSlot', stateRootHashes, 'file'),
      ...suggest('currentSlot', currentL2BlockNumber, 'file'),
    },
    text(description),
  )
}

function ofBundle(bundle: unknown, kind: DocumentKind, said: Suggested, description: string): ExplorerDocument {
  const { scheme, rollup, l2BlockNumber, request, answer } = fieldsOf(bundle)
  const { address, storageKeys } = fieldsOf(request)
  const { address: contract, name } = fieldsOf(rollup)
  // A contract that is not known is for the person to state: anyone can deploy one that holds any root.
  const isOf = (known: Rollup) => typeof contract === 'string' && contract.toLowerCase() === known.address.toLowerCase()
  const known = isOf(lineaMainnet) ? 'mainnet' : isOf(lineaSepolia) ? 'sepolia' : undefined
  const label = typeof name === 'string' ? ` (${printable(name)})` : ''
  return {
    kind,
    isBundle: true,
    description,
    slotCount: itemsOf(resultIn(answer).storageProofs).length,
    suggested: {
      ...suggest('scheme', scheme, 'bundle'),
      trustedKind: { value: 'l1BlockHash', source: 'bundle' },
      ...suggest('rollup', known, 'bundle'),
      ...suggest('l2Block', l2BlockNumber, 'bundle'),
      ...suggest('address', address, 'bundle'),
      ...suggestKeys(storageKeys, 'bundle'),
      ...said,
    },
    notes:
      known === undefined && said.rollup === undefined
        ? [`The bundle is for the contract ${show(contract)}${label}: state the rollup that you mean.`]
        : [],
    answer,
    bundle,
    answerPath: 'answer',
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? printable(value) : '')

/** What fits a field of the form. */
const suggest = (name: FieldName, value: unknown, source: Source): Suggested =>
  typeof value === 'string' && value.length <= 200 ? { [name]: { value: printable(value), source } } : {}

function suggestKeys(keys: unknown, source: Source): Suggested {
  const items = itemsOf(keys)
  if (items.length > MAX_KEYS || !items.every(key => typeof key === 'string' && key.length <= 200)) return {}
  return { storageKeys: { value: items.map(key => printable(String(key))).join('\n'), source } }
}

/** The result inside a JSON-RPC response, or the answer itself when it is bare. */
export function resultIn(answer: unknown): { readonly accountProof?: unknown; readonly storageProofs?: unknown } {
  const fields = fieldsOf(answer)
  const { jsonrpc, result } = fields
  return fieldsOf(isGiven(jsonrpc) || isGiven(result) ? result : fields)
}

/** The length of the leaf tells the schemes apart. */
function guessScheme(leafProof: unknown): SchemeName | undefined {
  const { proof, leftProof } = fieldsOf(leafProof)
  const { proofRelatedNodes } = fieldsOf(proof ?? leftProof)
  const leaf = itemsOf(proofRelatedNodes)[41]
  const length = typeof leaf === 'string' ? leaf.length : 0
  return length === 2 + 2 * 128 ? 'mimc' : length === 2 + 2 * 192 ? 'poseidon2' : undefined
}

/** The form as it stands when a file is opened that says these things: what it does not say is left to the person. */
export function statementFrom(suggested: Suggested): Statement {
  const entries = fieldNames.map((name): [FieldName, Field] => [name, suggested[name] ?? { value: '', source: 'you' }])
  // Of all the names.
  return Object.fromEntries(entries) as Record<FieldName, Field>
}
