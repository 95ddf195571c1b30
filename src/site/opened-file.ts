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
import { type AnswerFile, type FunctionVector, holdsTraces, readInputFile } from '../cli/words/input-file.ts'
import { evidenceKinds } from '../cli/words/kinds.ts'
import { readBytes } from '../cli/words/layout.ts'
import { inspectContent } from '../cli/words/unverified.ts'
import { brief, fieldIn, fieldsOf, isGiven, isObject, itemsOf, printable, show } from '../cli/words/value.ts'
import { count } from '../cli/words/wording.ts'
import type { EvidenceName } from '../verify/evidence/names.ts'
import { MAX_FIELD_CHARACTERS, MAX_KEYS, MAX_LOGS_CHARACTERS } from './limits.ts'
import { eachField, type FieldName, fieldNames, type Statement, type Subject, type Suggested } from './statement.ts'
import { flatRows } from './wording.ts'

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
  /** What the file says, if the page cannot verify it. */
  readonly said?: ReturnType<typeof flatRows>
}

/** @throws DocumentError if the page cannot show this kind of file */
export function openFile(content: unknown): OpenedFile {
  if (!isObject(content)) throw new DocumentError(`This is not a JSON object, but ${brief(show(content))}.`)
  if (holdsTraces(content)) return openTraces({ kind: 'traces', description: '', answer: content, claim: {} })
  const file = readInputFile(content)
  if (file.kind === 'evidence') {
    const kind = evidenceKinds[file.evidence].name.replace(/^an? /, '')
    return openers[file.evidence]({ kind, description: '', bundle: file.bundle })
  }
  if (file.kind === 'evidence vector') return openers[file.evidence](file)
  if (file.kind === 'function vector') return openVector(file, content)
  if (file.kind === 'unknown') {
    throw new DocumentError(
      'This is not an answer, a JSON-RPC response, evidence, a recording, a list of traces or a vector.',
    )
  }
  return openAnswer(file)
}

/** How evidence of each kind is opened. */
const openers: Readonly<Record<EvidenceName, (file: Evidence) => OpenedFile>> = {
  state: openBundle,
  logs: openLogs,
  message: openMessage,
  call: ({ description, bundle }) => openOther('call', description, bundle),
}

/** A vector for a function that the page calls, too. */
function openVector({ operation, description, fields }: FunctionVector, content: unknown): OpenedFile {
  if (operation !== 'verifyTransition') return openOther('vector', description, content)
  const { answer, ...claim } = fieldsOf(fields['input'])
  return openTraces({ kind: 'evidence vector', description, answer, claim })
}

function openAnswer({ kind, description, stated, answer }: AnswerFile): OpenedFile {
  const { storageProof } = resultIn(answer)
  const isEth = isEthAnswer(answer)
  const slotCount = isEth ? itemsOf(storageProof).length : storageProofsIn(answer).length
  const isTooMany = slotCount > MAX_KEYS
  const served = isTooMany ? 0 : storageKeysIn(answer)
  const areServed = typeof served !== 'number'
  const { scheme, stateRoot, address, storageKeys } = stated
  const isTrie = scheme === undefined ? isEth : isTrieOf(scheme)
  const said = suggest('file', { scheme, trusted: stateRoot, address, storageKeys })
  const isAsking = said.storageKeys === undefined && slotCount > 0 && !areServed
  const reason = isTooMany
    ? `The answer has more than ${MAX_KEYS} storage proofs.`
    : 'The answer has storage proofs without a storage key.'
  return {
    kind,
    subject: 'answer',
    description: brief(description),
    holds: count(slotCount, 'storage proof'),
    suggested: {
      trustedKind: { value: 'l2StateRoot', source: stateRoot === undefined ? 'answer' : 'file' },
      ...suggest('answer', {
        scheme: guessKind(answer)?.name,
        address: addressIn(answer),
        storageKeys: areServed ? served : undefined,
      }),
      ...said,
    },
    notes: isAsking ? [`${reason} Enter the keys that you asked for.`] : [],
    answer,
    bundle: undefined,
    isTrie,
  }
}

function openBundle({ kind, description, bundle, scheme: statedScheme, claim }: Evidence): OpenedFile {
  const { scheme, rollup, l2BlockNumber, request, answer } = fieldsOf(bundle)
  const { address, storageKeys } = fieldsOf(request)
  const { storageProof } = fieldsOf(answer)
  const said = claim === undefined ? {} : suggestClaim(statedScheme, claim)
  return {
    kind,
    subject: 'bundle',
    description: brief(description),
    holds: count(storageProofsIn(answer).length || itemsOf(storageProof).length, 'storage proof'),
    suggested: {
      trustedKind: { value: 'l1BlockHash', source: 'bundle' },
      ...suggest('bundle', {
        scheme: kindNamed(scheme)?.name,
        rollup: nameOfRollup(fieldIn(rollup, 'address')),
        l2Block: decimal(l2BlockNumber),
        address,
        storageKeys,
      }),
      ...said,
    },
    notes: noteOnRollup(rollup, said),
    answer,
    bundle,
    isTrie: isTrieOf(scheme),
    network: fieldIn(fieldIn(claim, 'trusted'), 'network'),
  }
}

/** The user must state an unknown contract, because anyone can deploy one that holds any root. */
function noteOnRollup(rollup: unknown, said: Suggested): string[] {
  const { address, name } = fieldsOf(rollup)
  const label = typeof name === 'string' ? ` (${brief(name)})` : ''
  return nameOfRollup(address) === undefined && said.rollup === undefined
    ? [`The bundle is for the contract ${brief(show(address))}${label}. Enter the rollup that you asked about.`]
    : []
}

interface DescribedFile {
  readonly kind: string
  readonly description: string
}

/** Evidence, and what a vector states about it. */
interface Evidence extends DescribedFile {
  readonly bundle: unknown
  readonly scheme?: unknown
  readonly claim?: unknown
}

/** It names no account: the state, if it is needed at all, holds the hash of the newest block. */
function openLogs(file: Evidence): OpenedFile {
  const { blocks } = fieldsOf(file.bundle)
  const { suggested, ...opened } = openBundle(file)
  const { address: _, storageKeys: __, ...others } = suggested
  const { fromBlock, toBlock, filter } = fieldsOf(file.claim)
  const stated = Object.entries({ fromBlock, toBlock, filter }).filter(
    ([, value]) => isGiven(value) && value !== 'fromBundle',
  )
  const logs = logsAskedFor({ ...fieldsOf(file.bundle), ...Object.fromEntries(stated) })
  const said = suggest(stated.length > 0 ? 'file' : 'bundle', { logs })
  return {
    ...{ ...opened, subject: 'logs', suggested: { ...others, ...said } },
    holds: `logs of ${count(itemsOf(blocks).length, 'block')}`,
  }
}

/** The argument of eth_getLogs, with spaces where the field can break it. */
function logsAskedFor({ fromBlock, toBlock, filter }: Readonly<Record<string, unknown>>): string {
  const { address, topics } = fieldsOf(filter)
  const asked = { fromBlock: decimal(fromBlock), toBlock: decimal(toBlock), address, topics }
  return JSON.stringify(asked, null, 1).replace(/\n */g, ' ')
}

function openMessage({ kind, description, bundle, claim }: Evidence): OpenedFile {
  const { rollup, messageProof } = fieldsOf(bundle)
  const { message } = fieldsOf(claim)
  const stated = suggestClaim(undefined, claim)
  const said = {
    ...stated,
    ...suggest('file', { message: typeof message === 'string' && message !== 'fromBundle' ? message : undefined }),
  }
  return {
    kind,
    subject: 'message',
    description: brief(description),
    holds: messageProof === undefined ? 'a message to L2' : 'a message from L2',
    suggested: {
      trustedKind: { value: 'l1BlockHash', source: 'bundle' },
      ...suggest('bundle', { rollup: nameOfRollup(fieldIn(rollup, 'address')) }),
      ...said,
    },
    notes: noteOnRollup(rollup, said),
    answer: undefined,
    bundle,
    isTrie: false,
    network: fieldIn(fieldIn(claim, 'trusted'), 'network'),
  }
}

function openTraces(
  file: DescribedFile & { readonly answer: unknown; readonly claim: Readonly<Record<string, unknown>> },
): OpenedFile {
  const { kind, description, answer, claim } = file
  const { scheme, parentStateRoot, stateRoot } = claim
  const result = fieldsOf(fieldIn(answer, 'result') ?? answer)
  const { zkParentStateRootHash: begin, zkEndStateRootHash: end, zkStateMerkleProof } = result
  const blocks = itemsOf(zkStateMerkleProof)
  const traces = blocks.reduce<number>((sum, block) => sum + itemsOf(block).length, 0)
  return {
    kind,
    subject: 'traces',
    description: brief(description),
    holds: `${count(traces, 'trace')} in ${count(blocks.length, 'block')}`,
    suggested: {
      trustedKind: { value: 'l2StateRoot', source: 'answer' },
      ...suggest('answer', { scheme: guessSchemeOfTraces(blocks), trusted: begin, endRoot: end }),
      ...suggest('file', { scheme, trusted: parentStateRoot, endRoot: stateRoot }),
    },
    notes: [],
    answer,
    bundle: undefined,
    isTrie: false,
  }
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

const otherKinds = {
  call: ['call as evidence', 'a call'],
  vector: ['vector of a function', 'neither an answer nor evidence'],
} as const

function openOther(what: keyof typeof otherKinds, description: string, content: unknown): OpenedFile {
  const [kind, holds] = otherKinds[what]
  return {
    ...{ kind, subject: what, description: brief(description), holds, suggested: {}, notes: [] },
    ...{ answer: undefined, bundle: content, isTrie: false, said: flatRows(inspectContent(content).fields) },
  }
}

/** Whether the state of this kind is a trie of Ethereum. */
export const isTrieOf = (scheme: unknown): boolean => kindNamed(scheme)?.hashScheme === null

/** What an evidence vector states. It leaves the rest to the bundle. */
function suggestClaim(scheme: unknown, claim: unknown): Suggested {
  const { rollup, trusted, l2BlockNumber, address, storageKeys } = fieldsOf(claim)
  const { address: contract, layout, implementation } = fieldsOf(rollup)
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
    implementation,
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

/** Suggests the values that fit their form fields. */
function suggest(source: Source, values: Readonly<Partial<Record<FieldName, unknown>>>): Suggested {
  const suggested: Suggested = {}
  for (const name of fieldNames) {
    const value = values[name]
    const lines = name === 'storageKeys' ? itemsOf(value) : [value]
    const most = name === 'logs' ? MAX_LOGS_CHARACTERS : MAX_FIELD_CHARACTERS
    const isFit = lines.length <= MAX_KEYS && lines.every(line => typeof line === 'string' && line.length <= most)
    if (value === undefined || !isFit) continue
    suggested[name] = { value: lines.map(line => printable(String(line))).join('\n'), source }
  }
  return suggested
}

/** The content of the form once the file is open. The user fills in what the file does not say. */
export const statementFrom = (suggested: Suggested): Statement =>
  eachField(name => suggested[name] ?? { value: '', source: 'user' })
