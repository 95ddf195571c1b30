import { addressIn, guessScheme, leafProofAt, schemeNamed, storageKeysIn, storageProofsIn } from '../document/answer.ts'
import type { Source } from '../document/claim.ts'
import { DocumentError } from '../document/error.ts'
import { nameOfRollup, parseNumber } from '../document/evidence.ts'
import {
  type AnswerFile,
  type BundleFile,
  type InputFile,
  isBundleFile,
  readInputFile,
} from '../document/input-file.ts'
import { brief, fieldIn, fieldsOf, isObject, itemsOf, printable, show } from '../document/value.ts'
import { MAX_FIELD_CHARACTERS, MAX_KEYS } from './limits.ts'
import { eachField, type FieldName, fieldNames, type Statement, type Suggested } from './statement.ts'

/** What a file holds, before any of it is verified. */
export interface Loaded {
  readonly kind: InputFile['kind']
  readonly isBundle: boolean
  readonly description: string
  /** How many storage proofs the answer has. */
  readonly slotCount: number
  /** The inputs that the file itself suggests. */
  readonly suggested: Suggested
  readonly notes: readonly string[]
}

/** An opened file: what it contains, and what it suggests for the form. */
export interface OpenedFile extends Loaded {
  /** The endpoint's answer; for a bundle, its `answer`. */
  readonly answer: unknown
  /** The bundle, if it is one. */
  readonly bundle: unknown
  /** The consensus network, if the file is a vector that defines one. */
  readonly network?: unknown
}

/** @throws DocumentError if the page cannot show this kind of file */
export function openFile(content: unknown): OpenedFile {
  if (!isObject(content)) throw new DocumentError(`This is not a JSON object, but ${brief(show(content))}.`)
  const file = readInputFile(content)
  if (isBundleFile(file)) return openBundle(file)
  if (file.kind === 'call evidence') {
    throw new DocumentError(
      'This is a call as evidence. Verifying it takes an EVM, which this page does not have. Use the command rollup-state-proof verify.',
    )
  }
  if (file.kind === 'logs evidence') {
    throw new DocumentError(
      'These are logs as evidence, which this page does not show. Use the command rollup-state-proof verify.',
    )
  }
  if (file.kind === 'message evidence') {
    throw new DocumentError(
      'This is a message as evidence, which this page does not show. Use the command rollup-state-proof verify.',
    )
  }
  if (file.kind === 'function vector') {
    throw new DocumentError('This vector holds neither an answer nor an evidence bundle, so there is nothing to show.')
  }
  if (file.kind === 'unknown') {
    throw new DocumentError('This is not an answer, a JSON-RPC response, an evidence bundle, a recording or a vector.')
  }
  return openAnswer(file)
}

function openAnswer({ kind, description, stated, answer }: AnswerFile): OpenedFile {
  const slotCount = storageProofsIn(answer).length
  const isTooMany = slotCount > MAX_KEYS
  const served = isTooMany ? 0 : storageKeysIn(answer)
  const areServed = typeof served !== 'number'
  const { scheme, stateRoot, address, storageKeys } = stated
  const said = suggest('file', { scheme, trusted: stateRoot, address, storageKeys })
  const isAsking = said.storageKeys === undefined && slotCount > 0 && !areServed
  const reason = isTooMany
    ? `The answer has ${slotCount} storage proofs, more than any honest answer of this size.`
    : 'A storage proof does not name its storage key.'
  return {
    kind,
    isBundle: false,
    description: brief(description),
    slotCount,
    suggested: {
      trustedKind: { value: 'l2StateRoot', source: stateRoot === undefined ? 'answer' : 'file' },
      ...suggest('answer', {
        scheme: guessScheme(leafProofAt(answer, 0))?.name,
        address: addressIn(answer),
        storageKeys: areServed ? served : undefined,
      }),
      ...said,
    },
    notes: isAsking ? [`${reason} Enter the keys that you asked for.`] : [],
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
      trustedKind: { value: 'l1BlockHash', source: 'bundle' },
      ...suggest('bundle', {
        scheme: schemeNamed(scheme)?.name,
        rollup: known,
        l2Block: decimal(l2BlockNumber),
        address,
        storageKeys,
      }),
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

/** What an evidence vector states. It leaves the rest to the bundle. */
function suggestClaim({ scheme, claim }: { readonly scheme: unknown; readonly claim: unknown }): Suggested {
  const { rollup, trusted, l2BlockNumber, address, storageKeys } = fieldsOf(claim)
  const { address: contract, layout } = fieldsOf(rollup)
  const { network, ...roots } = fieldsOf(trusted)
  const [[trustedKind, root] = []] = Object.entries(roots)
  const unlessLeft = (value: unknown) => (value === 'fromBundle' ? undefined : value)
  return suggest('file', {
    scheme,
    trustedKind,
    trusted: root,
    network: fieldIn(network, 'name'),
    rollup: contract,
    l2Block: decimal(unlessLeft(l2BlockNumber)),
    address: unlessLeft(address),
    storageKeys: unlessLeft(storageKeys),
    rootsSlot: decimal(fieldIn(layout, 'stateRootHashes')),
    currentSlot: decimal(fieldIn(layout, 'currentL2BlockNumber')),
  })
}

/** Converts a quantity to decimal. Returns anything else unchanged. */
const decimal = (quantity: unknown): unknown => {
  const number = parseNumber(quantity, 256)
  return number === null ? quantity : `${number}`
}

/** Suggests the values that fit their form fields. */
function suggest(source: Source, values: Readonly<Partial<Record<FieldName, unknown>>>): Suggested {
  const suggested: Suggested = {}
  for (const name of fieldNames) {
    const value = values[name]
    const lines = name === 'storageKeys' ? itemsOf(value) : [value]
    const isFit =
      lines.length <= MAX_KEYS && lines.every(line => typeof line === 'string' && line.length <= MAX_FIELD_CHARACTERS)
    if (value === undefined || !isFit) continue
    suggested[name] = { value: lines.map(line => printable(String(line))).join('\n'), source }
  }
  return suggested
}

/** The content of the form once the file is open. The user fills in what the file does not say. */
export const statementFrom = (suggested: Suggested): Statement =>
  eachField(name => suggested[name] ?? { value: '', source: 'user' })
