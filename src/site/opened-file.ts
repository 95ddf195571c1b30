import {
  addressIn,
  guessKind,
  isEthAnswer,
  kindNamed,
  resultIn,
  schemeNamed,
  storageKeysIn,
  storageProofsIn,
} from '../cli/words/answer.ts'
import type { Source } from '../cli/words/claim.ts'
import { DocumentError } from '../cli/words/error.ts'
import { nameOfRollup, parseNumber } from '../cli/words/evidence.ts'
import {
  type AnswerFile,
  type EvidenceVector,
  type FunctionVector,
  holdsTraces,
  readInputFile,
} from '../cli/words/input-file.ts'
import { evidenceNames } from '../cli/words/kinds.ts'
import { readBytes } from '../cli/words/layout.ts'
import {
  brief,
  type Fields,
  fieldIn,
  fieldsOf,
  isGiven,
  isObject,
  itemsOf,
  printable,
  show,
} from '../cli/words/value.ts'
import { count } from '../cli/words/wording.ts'
import type { EvidenceName } from '../verify/evidence/names.ts'
import { MAX_FIELD_CHARACTERS, MAX_KEYS, MAX_LOGS_CHARACTERS } from './limits.ts'
import {
  eachField,
  type FieldName,
  fieldNames,
  fieldsFor,
  type Statement,
  type Subject,
  type Suggested,
  unstated,
} from './statement.ts'

/** What a file holds, before any of it is verified. */
export interface Loaded {
  /** In words. */
  readonly kind: string
  readonly subject: Subject
  readonly description: string
  /** What it holds, in words, with their number. */
  readonly holds: string
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
  /** Whether its proofs are those of an Ethereum state. */
  readonly isTrie: boolean
  /** The consensus network, if the file is a vector that defines one. */
  readonly network?: unknown
}

/** @throws DocumentError if the page cannot show this kind of file */
export function openFile(content: unknown): OpenedFile {
  if (!isObject(content)) throw new DocumentError(`This is not a JSON object, but ${brief(show(content))}.`)
  if (holdsTraces(content)) return openTraces({ kind: 'traces', description: '', answer: content, claim: {} })
  const file = readInputFile(content)
  if (file.kind === 'evidence') {
    const kind = evidenceNames[file.evidence].replace(/^an? /, '')
    return openEvidence({ ...file, kind, scheme: undefined, claim: undefined })
  }
  if (file.kind === 'evidence vector') return openEvidence(file)
  if (file.kind === 'function vector') return openVector(file, content)
  if (file.kind === 'unknown') {
    throw new DocumentError(
      'This is not an answer, a JSON-RPC response, evidence, a recording, a list of traces or a vector.',
    )
  }
  return openAnswer(file)
}

type Described = Pick<Loaded, 'kind' | 'subject' | 'description' | 'holds'> & Partial<OpenedFile>

/** @param sources what each says of the question, the later ones before the earlier ones */
function opened({ description, ...described }: Described, ...sources: readonly Suggested[]): OpenedFile {
  const all = Object.assign({}, ...sources)
  const suggested = fieldsFor(described.subject).filter(name => all[name] !== undefined)
  return {
    ...{ answer: undefined, bundle: undefined, isTrie: false, notes: [], ...described },
    description: brief(description),
    suggested: Object.fromEntries(suggested.map(name => [name, all[name]])),
  }
}

/** A vector for a function that the page calls, too. */
function openVector({ operation, description, fields }: FunctionVector, content: unknown): OpenedFile {
  if (operation === 'verifyTransition') {
    const { answer, ...claim } = fieldsOf(fields['input'])
    return openTraces({ kind: 'evidence vector', description, answer, claim })
  }
  const holds = 'neither an answer nor evidence'
  return opened({ kind: 'vector of a function', subject: 'vector', description, holds, bundle: content })
}

function openAnswer({ kind, description, stated, answer }: AnswerFile): OpenedFile {
  const slotCount = slotsIn(answer)
  const served = slotCount > MAX_KEYS ? 0 : storageKeysIn(answer)
  const { scheme, stateRoot, address, storageKeys } = stated
  const said = suggest('file', { scheme, trusted: stateRoot, address, storageKeys })
  const isAsking = said.storageKeys === undefined && slotCount > 0 && typeof served === 'number'
  const reason =
    slotCount > MAX_KEYS
      ? `The answer has more than ${MAX_KEYS} storage proofs.`
      : 'The answer has storage proofs without a storage key.'
  return opened(
    {
      ...{ kind, subject: 'answer', description, answer, holds: count(slotCount, 'storage proof') },
      isTrie: scheme === undefined ? isEthAnswer(answer) : isTrieOf(scheme),
      notes: isAsking ? [`${reason} Enter the keys that you asked for.`] : [],
    },
    suggest('answer', {
      scheme: guessKind(answer)?.name,
      address: addressIn(answer),
      storageKeys: typeof served === 'number' ? undefined : served,
    }),
    said,
  )
}

const slotsIn = (answer: unknown): number =>
  storageProofsIn(answer).length || itemsOf(resultIn(answer)['storageProof']).length

/** What evidence of each kind is about, and what it holds. */
const evidenceOf: Readonly<
  Record<EvidenceName, { readonly subject: Subject; readonly holds: (bundle: Fields) => string }>
> = {
  state: { subject: 'bundle', holds: ({ answer }) => count(slotsIn(answer), 'storage proof') },
  logs: { subject: 'logs', holds: ({ blocks }) => `logs of ${count(itemsOf(blocks).length, 'block')}` },
  message: {
    subject: 'message',
    holds: ({ messageProof }) => (messageProof === undefined ? 'a message to L2' : 'a message from L2'),
  },
  call: { subject: 'call', holds: () => 'a call' },
}

/** Evidence, and what a vector states about it. */
interface Evidence extends Pick<EvidenceVector, 'evidence' | 'bundle' | 'description' | 'scheme' | 'claim'> {
  readonly kind: string
}

function openEvidence({ kind, evidence, description, bundle, scheme: stated, claim }: Evidence): OpenedFile {
  const { subject, holds } = evidenceOf[evidence]
  const fields = fieldsOf(bundle)
  const { scheme, rollup, l2BlockNumber, answer } = fields
  const described = { kind, subject, description, holds: holds(fields) }
  if (subject === 'call') return opened({ ...described, kind: 'call as evidence', bundle })
  const said = suggestClaim(stated, claim)
  const own = suggest('bundle', {
    ...{ trustedKind: 'l1BlockHash', scheme: kindNamed(scheme)?.name, l2Block: decimal(l2BlockNumber) },
    ...{ rollup: nameOfRollup(fieldIn(rollup, 'address')), ...fieldsOf(fields['request']) },
  })
  return opened(
    {
      ...{ ...described, bundle, answer, isTrie: isTrieOf(scheme), notes: noteOnRollup(rollup, said) },
      network: fieldIn(fieldIn(claim, 'trusted'), 'network'),
    },
    own,
    said,
    logsAskedFor(fields, fieldsOf(claim)),
  )
}

/** The user must state an unknown contract, because anyone can deploy one that holds any root. */
function noteOnRollup(rollup: unknown, said: Suggested): string[] {
  const { address, name } = fieldsOf(rollup)
  const label = typeof name === 'string' ? ` (${brief(name)})` : ''
  return nameOfRollup(address) === undefined && said.rollup === undefined
    ? [`The bundle is for the contract ${brief(show(address))}${label}. Enter the rollup that you asked about.`]
    : []
}

/** The argument of eth_getLogs, with spaces where the field can break it. */
function logsAskedFor(bundle: Fields, claim: Fields): Suggested {
  const stated = Object.entries(claim).filter(([, value]) => isGiven(value) && value !== 'fromBundle')
  const { fromBlock, toBlock, filter } = { ...bundle, ...Object.fromEntries(stated) } as Fields
  const { address, topics } = fieldsOf(filter)
  const asked = { fromBlock: decimal(fromBlock), toBlock: decimal(toBlock), address, topics }
  const isStated = stated.some(([name]) => ['fromBlock', 'toBlock', 'filter'].includes(name))
  return suggest(isStated ? 'file' : 'bundle', { logs: JSON.stringify(asked, null, 1).replace(/\n */g, ' ') })
}

/** Traces, and what a vector states about them. */
interface Traces extends Pick<Loaded, 'kind' | 'description'> {
  readonly answer: unknown
  readonly claim: Fields
}

function openTraces({ kind, description, answer, claim }: Traces): OpenedFile {
  const { scheme, parentStateRoot, stateRoot } = claim
  const result = fieldsOf(fieldIn(answer, 'result') ?? answer)
  const { zkParentStateRootHash: begin, zkEndStateRootHash: end, zkStateMerkleProof } = result
  const blocks = itemsOf(zkStateMerkleProof)
  const traces = blocks.reduce<number>((sum, block) => sum + itemsOf(block).length, 0)
  const holds = `${count(traces, 'trace')} in ${count(blocks.length, 'block')}`
  return opened(
    { kind, subject: 'traces', description, holds, answer },
    suggest('answer', { scheme: guessSchemeOfTraces(blocks), trusted: begin, endRoot: end }),
    suggest('file', { scheme, trusted: parentStateRoot, endRoot: stateRoot }),
  )
}

/** A digest of mimc would be one of poseidon2, too, only once in 250 times. */
function guessSchemeOfTraces(blocks: readonly unknown[]): string | undefined {
  const traces = blocks.flatMap(block => itemsOf(block).slice(0, MAX_ROOTS)).slice(0, MAX_ROOTS)
  const digests = traces.flatMap(
    trace => readBytes(32, fieldIn(trace, 'subRoot') ?? fieldIn(trace, 'oldSubRoot')) ?? [],
  )
  const isPoseidon2 = (digest: Uint8Array) => schemeNamed('poseidon2')?.isCanonical(digest)
  return digests.length === 0 ? undefined : digests.every(isPoseidon2) ? 'poseidon2' : 'mimc'
}

/** That many subtrees tell the schemes apart. */
const MAX_ROOTS = 20

/** Whether the state of this kind is a trie of Ethereum. */
export const isTrieOf = (scheme: unknown): boolean => kindNamed(scheme)?.hashScheme === null

/** What an evidence vector states. It leaves the rest to the bundle. */
function suggestClaim(scheme: unknown, claim: unknown): Suggested {
  const { rollup, trusted, l2BlockNumber, address, storageKeys, message } = fieldsOf(claim)
  const { address: contract, layout, implementation } = fieldsOf(rollup)
  const { network, ...roots } = fieldsOf(trusted)
  const [[trustedKind, root] = []] = Object.entries(roots)
  return suggest('file', {
    ...{ scheme, trustedKind, trusted: root, network: fieldIn(network, 'name'), rollup: contract, implementation },
    ...{ l2Block: decimal(l2BlockNumber), address, storageKeys, message },
    rootsSlot: decimal(fieldIn(layout, 'stateRootHashes')),
    currentSlot: decimal(fieldIn(layout, 'currentL2BlockNumber')),
    hashesSlot: decimal(fieldIn(layout, 'blockHashes')),
  })
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
    const most = name === 'logs' ? MAX_LOGS_CHARACTERS : MAX_FIELD_CHARACTERS
    const isFit = lines.length <= MAX_KEYS && lines.every(line => typeof line === 'string' && line.length <= most)
    if (value === undefined || !isFit) continue
    suggested[name] = { value: lines.map(line => printable(String(line))).join('\n'), source }
  }
  return suggested
}

/** The content of the form once the file is open. The user fills in what the file does not say. */
export const statementFrom = (suggested: Suggested): Statement => eachField(name => suggested[name] ?? unstated(name))
