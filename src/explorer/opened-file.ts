import { addressIn, guessScheme, leafProofAt, schemeNamed, storageKeysIn, storageProofsIn } from '../document/answer.ts'
import { DocumentError } from '../document/error.ts'
import { nameOfRollup, parseNumber } from '../document/evidence.ts'
import {
  type AnswerFile,
  type BundleFile,
  isBundleFile,
  isCallEvidence,
  isFunctionVector,
  readInputFile,
} from '../document/input-file.ts'
import { brief, fieldIn, fieldsOf, isObject, itemsOf, printable, show } from '../document/value.ts'
import { type Field, type FieldName, fieldNames, type Loaded, type Source, type Statement } from './messages.ts'

/** An opened file: what it contains, and what it suggests for the form. */
export interface OpenedFile extends Loaded {
  /** The endpoint's answer; for a bundle, its `answer`. */
  readonly answer: unknown
  /** The bundle, if it is one. */
  readonly bundle: unknown
  /** The consensus network, if the file is a vector that defines one. */
  readonly network?: unknown
}

/** More keys than an honest answer of 16 MiB has room for. */
const MAX_KEYS = 4096

/** @throws DocumentError if the page cannot show this kind of file */
export function openFile(content: unknown): OpenedFile {
  if (!isObject(content)) throw new DocumentError(`This is not a JSON object, but ${brief(show(content))}.`)
  const file = readInputFile(content)
  if (isBundleFile(file)) return openBundle(file)
  if (isCallEvidence(file)) {
    throw new DocumentError(
      'This is a call as evidence. Verifying it takes an EVM, which this page does not have. Use the command rollup-state-proof verify.',
    )
  }
  if (isFunctionVector(file)) {
    throw new DocumentError('This vector holds neither an answer nor an evidence bundle, so there is nothing to show.')
  }
  if (file.kind === 'unknown') {
    throw new DocumentError('This is not an answer, a JSON-RPC response, an evidence bundle, a recording or a vector.')
  }
  return openAnswer(file)
}

type Suggested = Partial<Record<FieldName, Field>>

function openAnswer({ kind, description, stated, answer }: AnswerFile): OpenedFile {
  const slotCount = storageProofsIn(answer).length
  const isTooMany = slotCount > MAX_KEYS
  const served = isTooMany ? 0 : storageKeysIn(answer)
  const areServed = typeof served !== 'number'
  const { scheme, stateRoot, address, storageKeys } = stated
  const said = {
    ...suggest('scheme', scheme, 'file'),
    ...suggest('trusted', stateRoot, 'file'),
    ...suggest('address', address, 'file'),
    ...suggestKeys(storageKeys, 'file'),
  }
  const isAsking = said.storageKeys === undefined && slotCount > 0 && !areServed
  return {
    kind,
    isBundle: false,
    description: brief(description),
    slotCount,
    suggested: {
      ...suggest('scheme', guessScheme(leafProofAt(answer, 0))?.name, 'answer'),
      trustedKind: { value: 'l2StateRoot', source: stateRoot === undefined ? 'answer' : 'file' },
      ...suggest('address', addressIn(answer), 'answer'),
      ...(areServed && suggestKeys(served, 'answer')),
      ...said,
    },
    notes: isAsking
      ? [
          isTooMany
            ? `The answer has ${slotCount} storage proofs, more than any honest answer of this size. Enter the keys that you asked for.`
            : 'A storage proof does not name its storage key. Enter the keys that you asked for.',
        ]
      : [],
    answer,
    bundle: undefined,
  }
}

function openBundle({ kind, description, bundle, claim: stated }: BundleFile): OpenedFile {
  const { scheme, rollup, l2BlockNumber, request, answer } = fieldsOf(bundle)
  const { address, storageKeys } = fieldsOf(request)
  const { address: contract, name } = fieldsOf(rollup)
  const said = stated === undefined ? {} : suggestClaim(stated)
  // The user must state an unknown contract, because anyone can deploy one that holds any root.
  const known = nameOfRollup(contract)
  const label = typeof name === 'string' ? ` (${brief(name)})` : ''
  return {
    kind,
    isBundle: true,
    description: brief(description),
    slotCount: storageProofsIn(answer).length,
    suggested: {
      ...suggest('scheme', schemeNamed(scheme)?.name, 'bundle'),
      trustedKind: { value: 'l1BlockHash', source: 'bundle' },
      ...suggest('rollup', known, 'bundle'),
      ...suggest('l2Block', decimal(l2BlockNumber), 'bundle'),
      ...suggest('address', address, 'bundle'),
      ...suggestKeys(storageKeys, 'bundle'),
      ...said,
    },
    notes:
      known === undefined && said.rollup === undefined
        ? [`The bundle is for the contract ${brief(show(contract))}${label}. Enter the rollup that you asked about.`]
        : [],
    answer,
    bundle,
    network: fieldIn(fieldIn(stated?.claim, 'trusted'), 'network'),
  }
}

/** What an evidence vector states. */
function suggestClaim({ scheme, claim }: { readonly scheme: unknown; readonly claim: unknown }): Suggested {
  const { rollup, trusted, l2BlockNumber, address, storageKeys } = fieldsOf(claim)
  const { address: contract, layout } = fieldsOf(rollup)
  const { network, ...roots } = fieldsOf(trusted)
  const [first] = Object.entries(roots)
  const { stateRootHashes, currentL2BlockNumber } = fieldsOf(layout)
  return {
    ...suggest('scheme', scheme, 'file'),
    ...suggest('trustedKind', first?.[0], 'file'),
    ...suggest('trusted', first?.[1], 'file'),
    ...suggest('network', fieldIn(network, 'name'), 'file'),
    ...suggest('rollup', contract, 'file'),
    ...suggest('l2Block', decimal(l2BlockNumber), 'file'),
    ...suggest('address', address, 'file'),
    ...suggestKeys(storageKeys, 'file'),
    ...suggest('rootsSlot', decimal(stateRootHashes), 'file'),
    ...suggest('currentSlot', decimal(currentL2BlockNumber), 'file'),
  }
}

/** Converts a quantity to decimal. Returns anything else unchanged. */
const decimal = (quantity: unknown): unknown => {
  const number = parseNumber(quantity, 256)
  return number === null ? quantity : `${number}`
}

/** Suggests a value for a form field, if it fits. */
const suggest = (name: FieldName, value: unknown, source: Source): Suggested =>
  typeof value === 'string' && value.length <= 200 ? { [name]: { value: printable(value), source } } : {}

function suggestKeys(keys: unknown, source: Source): Suggested {
  const items = itemsOf(keys)
  if (keys === undefined || items.length > MAX_KEYS) return {}
  if (!items.every(key => typeof key === 'string' && key.length <= 200)) return {}
  return { storageKeys: { value: items.map(key => printable(String(key))).join('\n'), source } }
}

/** The content of the form once the file is open. The user fills in what the file does not say. */
export function statementFrom(suggested: Suggested): Statement {
  const entries = fieldNames.map((name): [FieldName, Field] => [name, suggested[name] ?? { value: '', source: 'user' }])
  // The entries have all field names.
  return Object.fromEntries(entries) as Record<FieldName, Field>
}
