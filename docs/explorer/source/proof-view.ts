import {
  computeRoot,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
  type Scheme,
} from '../../../src/index.ts'
import { checksOf, type PlacedError, placeError, type Step } from './checks.ts'
import { type ExplorerDocument, resultIn } from './document.ts'
import { claimWords, type Judgement } from './judge.ts'
import type {
  ByteField,
  Bytes,
  Check,
  Fault,
  FaultPlace,
  Gap,
  Level,
  Neighbour,
  PathView,
  ProofView,
  Status,
} from './messages.ts'
import { fieldIn, fieldsOf, isGiven, isHexOf, itemsOf, printable, show, toBytes, toHex } from './value.ts'

const DEPTH = 40
const LEAF_ENTRY = 41
const DIGEST_LENGTH = 32
const ACCOUNT_LENGTH = 192
const MAX_LEAVES = 2n ** 40n

/** Everything that one leaf proof says, taken apart as far as it goes; the account's is 0, the first slot's 1. */
export function viewProof(document: ExplorerDocument, judgement: Judgement, index: number): ProofView {
  const { scheme, steps, failed, error, address, storageKeys } = judgement
  const leafProof = leafProofAt(document, index)
  const asked = index === 0 ? address : (storageKeys[index - 1] ?? '')
  const keyHash = scheme && hashKey(scheme, index, asked)
  const place = error && placeError(error, document.isBundle)
  const fault = place?.group === index ? describeFault(place) : null
  const parts = partsOf(leafProof)
  const checks = checksOf(steps, failed, index)
  const paths =
    scheme === null
      ? []
      : parts.map(part => viewPath({ scheme, index, part, leafProof, ...rootOf(document, judgement, index), fault }))
  return {
    index,
    title: index === 0 ? 'the account' : `slot ${index}`,
    claims: claimWords[formIn(steps, parts, index)],
    key: asked,
    keyHash,
    checks,
    gap: scheme && keyHash && parts.length === 2 ? viewGap(scheme, leafProof, keyHash, checks) : null,
    paths,
    fault: fault && { place: fault.place, code: fault.code, text: fault.text },
  }
}

function leafProofAt({ answer }: ExplorerDocument, index: number): Readonly<Record<string, unknown>> {
  const { accountProof, storageProofs } = resultIn(answer)
  return fieldsOf(index === 0 ? accountProof : itemsOf(storageProofs)[index - 1])
}

interface Part {
  readonly proof: PathView['part']
  readonly index: string
  readonly title: string
}
const PRESENT: Part = { proof: 'proof', index: 'leafIndex', title: 'Path of the leaf' }
const LEFT: Part = { proof: 'leftProof', index: 'leftLeafIndex', title: 'Path of the left neighbour' }
const RIGHT: Part = { proof: 'rightProof', index: 'rightLeafIndex', title: 'Path of the right neighbour' }

/** What can be drawn: whichever paths are there. */
const partsOf = (leafProof: Readonly<Record<string, unknown>>): Part[] =>
  [PRESENT, LEFT, RIGHT].filter(({ proof }) => isGiven(leafProof[proof]))

const formIn = (steps: readonly Step[], parts: readonly Part[], index: number) => {
  if (parts.length === 0) return steps.filter(({ group }) => group === index).length === 1 ? 'implied' : 'unknown'
  return parts.includes(PRESENT) ? (parts.length === 1 ? 'existence' : 'unknown') : 'absence'
}

function hashKey(scheme: Scheme, index: number, key: string): string | null {
  if (index === 0) return isHexOf(20, key) ? hashAccountKey(scheme, key) : null
  return isHexOf(32, key) ? hashStorageKey(scheme, key) : null
}

function hashValue(scheme: Scheme, index: number, value: unknown): string | null {
  if (index > 0) return isHexOf(DIGEST_LENGTH, value) ? hashStorageValue(scheme, value) : null
  try {
    return isHexOf(ACCOUNT_LENGTH, value) ? hashAccountValue(scheme, value) : null
  } catch {
    return null
  }
}

/** The root that the paths must lead to, and what it rests on. */
function rootOf(document: ExplorerDocument, { stateRoot, accountIsProven }: Judgement, index: number) {
  if (index === 0) {
    const root = stateRoot && isHexOf(DIGEST_LENGTH, stateRoot.value) ? stateRoot : null
    return { rootName: 'state root', wantedRoot: root?.value ?? null, rootSource: root?.source ?? 'not known' }
  }
  const bytes = toBytes(fieldIn(fieldIn(leafProofAt(document, 0), 'proof'), 'value'))
  const root = bytes?.length === ACCOUNT_LENGTH ? toHex(bytes.subarray(64, 96)) : null
  const rootSource = accountIsProven ? 'of the proven account' : 'as the account value says, not proven'
  return { rootName: 'storage root', wantedRoot: root, rootSource: root === null ? 'not known' : rootSource }
}

interface PlacedFault extends Fault {
  readonly part: PathView['part'] | null
  /** Where inside the part the leaf field is, if one is at fault. */
  readonly field: string | null
}

/** Where in the drawing the check failed. */
function describeFault({ code, path, found }: PlacedError): PlacedFault {
  const [, part = null, rest = ''] = /^(proof|leftProof|rightProof)\.?(.*)$/s.exec(path) ?? []
  const partOfIndex = { leafIndex: 'proof', leftLeafIndex: 'leftProof', rightLeafIndex: 'rightProof' } as const
  const ofIndex = Object.entries(partOfIndex).find(([name]) => name === path)?.[1]
  const fault = (place: FaultPlace, text: string, field: string | null = null): PlacedFault => ({
    place,
    code,
    text,
    field,
    // The pattern above lets no other name through.
    part: ofIndex ?? (part as PathView['part'] | null),
  })
  if (ofIndex !== undefined) return fault('leaf index', 'This leaf index is refused.')
  if (code === 'NOT_ADJACENT') return fault('links', 'The neighbours do not point at each other.')
  if (path === 'key') return fault('key', 'This key is refused.')
  if (code === 'KEY_NOT_BETWEEN') return fault('key', 'The key does not fall into this gap.')
  if (code === 'SUB_ROOT_MISMATCH') {
    return fault(
      'sub-root',
      'The path leads to another sub-root. Hashes cannot tell which node on the way was altered.',
    )
  }
  if (code === 'STATE_ROOT_MISMATCH' || code === 'STORAGE_ROOT_MISMATCH') {
    return fault('root', 'Node 0 does not hash to this root.')
  }
  if (code === 'SENTINEL_MISPLACED') return fault('leaf', 'HEAD and TAIL are where they must not be.', 'hKey')
  if (code === 'LEAF_KEY_MISMATCH') return fault('leaf', 'This leaf belongs to another key.', 'hKey')
  if (rest === 'value') {
    return fault('value', 'This value is refused.', code === 'VALUE_MISMATCH' ? 'hVal' : null)
  }
  const [, entry] = /^proofRelatedNodes\[(\d+)\]$/.exec(rest) ?? []
  if (entry === undefined) return fault('nodes', 'This cannot be read as a path.')
  const text = `Node ${entry} is refused${found === '' ? '' : `: ${printable(found)}`}.`
  if (entry === '0') return fault('node 0', text)
  return Number(entry) === LEAF_ENTRY ? fault('leaf', text) : fault(`level ${DEPTH - Number(entry)}`, text)
}

interface PathInput {
  readonly scheme: Scheme
  readonly index: number
  readonly part: Part
  readonly leafProof: Readonly<Record<string, unknown>>
  readonly wantedRoot: string | null
  readonly rootName: string
  readonly rootSource: string
  readonly fault: PlacedFault | null
}

function viewPath(input: PathInput): PathView {
  const { scheme, part, leafProof, wantedRoot, rootName, rootSource } = input
  const { value, proofRelatedNodes } = fieldsOf(leafProof[part.proof])
  const index = leafProof[part.index]
  const nodes = itemsOf(proofRelatedNodes)
  const isPath = nodes.length === LEAF_ENTRY + 1
  const fault = input.fault?.part === part.proof ? input.fault : null
  const leafIndex = isLeafIndex(index) ? index : null
  const levels = isPath ? viewLevels(scheme, leafIndex, nodes) : []
  const computed = isPath && leafIndex !== null ? computeRoots(scheme, leafIndex, nodes) : null
  const [top] = nodes
  const node0 = isHexOf(scheme.wordLength + DIGEST_LENGTH, top) ? toBytes(top) : null
  return {
    part: part.proof,
    title: part.title,
    leafIndex: leafIndex === null ? show(index) : nameLeaf(leafIndex),
    wantedRoot,
    rootName,
    rootSource,
    computedRoot: computed?.root ?? null,
    nextFreeNode: node0 && decodeWord(scheme, node0.subarray(0, scheme.wordLength)),
    statedSubRoot: node0 && toHex(node0.subarray(scheme.wordLength)),
    computedSubRoot: computed?.subRoot ?? null,
    levels,
    bytes: isPath
      ? [
          leafBytes(scheme, 'The leaf (node 41)', nodes[LEAF_ENTRY], fault),
          node0Bytes(scheme, top, fault),
          valueBytes(scheme, input.index, value, fault),
          siblingBytes(scheme, nodes[DEPTH], fault),
        ]
      : [valueBytes(scheme, input.index, value, fault)],
    valueHash: hashValue(scheme, input.index, value),
    fault: fault && { place: fault.place, code: fault.code, text: fault.text },
  }
}

const isLeafIndex = (index: unknown): index is number =>
  typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 && index < 2 ** DEPTH

const nameLeaf = (index: number): string => (index === 0 ? '0 (HEAD)' : index === 1 ? '1 (TAIL)' : `${index}`)

/** The published function, where it does not refuse the nodes. */
function computeRoots(scheme: Scheme, leafIndex: number, nodes: readonly unknown[]) {
  try {
    // Unchecked, whatever the type says: computeRoot checks each.
    return computeRoot(scheme, leafIndex, nodes as readonly `0x${string}`[])
  } catch {
    return null
  }
}

/** From the sub-root down. What cannot be hashed leaves the levels above it without a digest. */
function viewLevels(scheme: Scheme, leafIndex: number | null, nodes: readonly unknown[]): Level[] {
  const levels: Level[] = []
  let empty = new Uint8Array(DIGEST_LENGTH)
  let running = hashNode(scheme, nodes[LEAF_ENTRY], openingLength(scheme)).digest
  for (let level = 0; level < DEPTH; level++) {
    const entry = DEPTH - level
    const node = nodes[entry]
    const isMissingLeaf = level === 0 && isHexOf(DIGEST_LENGTH, node) && /^0x0*$/.test(node)
    const { digest, problem } = isMissingLeaf
      ? { digest: new Uint8Array(DIGEST_LENGTH), problem: null }
      : hashNode(scheme, node, level === 0 ? openingLength(scheme) : 2 * DIGEST_LENGTH)
    // Division, not a shift: an index passes 2^32.
    const isRight = Math.floor((leafIndex ?? 0) / 2 ** level) % 2 === 1
    levels.push({
      level,
      entry,
      siblingSide: isRight ? 'left' : 'right',
      sibling: digest && toHex(digest),
      isEmpty: digest !== null && toHex(digest) === toHex(empty),
      running: running && toHex(running),
      problem,
    })
    running =
      running && digest && leafIndex !== null ? hashPair(scheme, isRight ? [digest, running] : [running, digest]) : null
    empty = hashPair(scheme, [empty, empty])
  }
  return levels.reverse()
}

function hashPair(scheme: Scheme, [left, right]: readonly [Uint8Array, Uint8Array]): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(2 * DIGEST_LENGTH)
  message.set(left)
  message.set(right, DIGEST_LENGTH)
  return Uint8Array.from(scheme.hasher.hash(message))
}

const openingLength = (scheme: Scheme): number => 2 * scheme.wordLength + 2 * DIGEST_LENGTH

function hashNode(
  scheme: Scheme,
  node: unknown,
  length: number,
): { digest: Uint8Array | null; problem: string | null } {
  const problem = problemOf(scheme, node, [length])
  const bytes = problem === null ? toBytes(node) : null
  return { digest: bytes && scheme.hasher.hash(bytes), problem }
}

/** Why a node cannot be hashed; null when it can. */
function problemOf(scheme: Scheme, node: unknown, lengths: readonly number[]): string | null {
  if (typeof node !== 'string') return `not a string, but ${show(node)}`
  const length = node.length / 2 - 1
  if (!lengths.includes(length))
    return `${node.length} characters, not ${lengths.map(bytes => 2 + 2 * bytes).join(' or ')}`
  const bytes = toBytes(node)
  if (bytes === null) return 'not hexadecimal'
  return scheme.isCanonical(bytes) ? null : 'a field element is not reduced'
}

/** The number that a word spells; null when it has stray bytes. */
function decodeWord(scheme: Scheme, word: Uint8Array): string | null {
  const number = scheme.unword(word)
  return number && `${BigInt(toHex(number))}`
}

interface FieldPlan {
  readonly name: string
  readonly length: number
  readonly value: (bytes: Uint8Array) => string
  readonly note: string
  /** Whether the bytes of this field alone would pass. Any would when left out. */
  readonly isSound?: (bytes: Uint8Array) => boolean
}

const asDigest = (bytes: Uint8Array): string => toHex(bytes)
const asNumber = (bytes: Uint8Array): string => `${BigInt(toHex(bytes))}`

/**
 * Takes bytes apart by a plan, when they have its length.
 *
 * @param isFault whether a field was refused, or all of them; then those that are not sound are marked
 */
function planBytes(title: string, hex: unknown, plan: readonly FieldPlan[], isFault: (name: string) => boolean): Bytes {
  const length = plan.reduce((sum, field) => sum + field.length, 0)
  const bytes = isHexOf(length, hex) ? toBytes(hex) : null
  if (bytes === null) {
    const problem = typeof hex === 'string' ? `This is not hexadecimal of ${length} bytes.` : `This is ${show(hex)}.`
    return { title, hex: typeof hex === 'string' ? hex.slice(0, 2 * ACCOUNT_LENGTH + 2) : '', fields: [], problem }
  }
  let start = 0
  const fields = plan.map(({ name, length, value, note, isSound = () => true }) => {
    const end = start + length
    const part = bytes.subarray(start, end)
    const field: ByteField = { name, start, end, value: value(part), note, isFault: isFault(name) }
    start = end
    return { field, isSound: isSound(part) }
  })
  // When no field by itself is to blame, all that were refused are marked.
  const isBlamed = fields.some(({ field, isSound }) => field.isFault && !isSound)
  return {
    title,
    hex: toHex(bytes),
    fields: fields.map(({ field, isSound }) => ({ ...field, isFault: field.isFault && !(isBlamed && isSound) })),
    problem: null,
  }
}

const wordNote = (scheme: Scheme, what: string): string =>
  scheme.name === 'mimc'
    ? `${what} One field element: the number itself, 32 bytes.`
    : `${what} Each 2-byte piece of the 32-byte number stands in 4 bytes, of which the first two are zero.`

/** A word that spells a number below the limit. */
const isWordBelow = (scheme: Scheme, limit: bigint) => (bytes: Uint8Array) => {
  const number = scheme.isCanonical(bytes) ? decodeWord(scheme, bytes) : null
  return number !== null && BigInt(number) < limit
}

const asIndex = (scheme: Scheme) => (bytes: Uint8Array) => {
  const index = decodeWord(scheme, bytes)
  return index === null ? 'stray bytes: not an index' : nameLeaf(Number(index))
}

const digestField = (scheme: Scheme, name: string, note: string): FieldPlan => ({
  name,
  length: DIGEST_LENGTH,
  value: asDigest,
  note,
  isSound: bytes => scheme.isCanonical(bytes),
})

const leafPlan = (scheme: Scheme): FieldPlan[] => [
  {
    name: 'prev',
    length: scheme.wordLength,
    value: asIndex(scheme),
    note: wordNote(scheme, 'Index of the leaf with the next smaller key hash.'),
    isSound: isWordBelow(scheme, MAX_LEAVES),
  },
  {
    name: 'next',
    length: scheme.wordLength,
    value: asIndex(scheme),
    note: wordNote(scheme, 'Index of the leaf with the next larger key hash.'),
    isSound: isWordBelow(scheme, MAX_LEAVES),
  },
  digestField(scheme, 'hKey', 'Hash of the key: the leaves are sorted by it.'),
  digestField(scheme, 'hVal', 'Hash of the value. HEAD and TAIL have zeros here.'),
]

function leafBytes(scheme: Scheme, title: string, node: unknown, fault: PlacedFault | null): Bytes {
  const isWhole = fault?.place === 'leaf' && fault.field === null
  return planBytes(title, node, leafPlan(scheme), name => isWhole || fault?.field === name)
}

function siblingBytes(scheme: Scheme, node: unknown, fault: PlacedFault | null): Bytes {
  const title = 'The sibling leaf (node 40)'
  const isFault = () => fault?.place === 'level 0'
  const missing: FieldPlan = {
    name: 'missing leaf',
    length: DIGEST_LENGTH,
    value: () => 'no leaf stands there',
    note: '32 zero bytes stand for a leaf that is missing: they are its digest, not its preimage.',
  }
  const isMissing = isHexOf(DIGEST_LENGTH, node)
  return planBytes(title, node, isMissing ? [missing] : leafPlan(scheme), isFault)
}

const node0Bytes = (scheme: Scheme, node: unknown, fault: PlacedFault | null): Bytes =>
  planBytes(
    'Node 0',
    node,
    [
      {
        name: 'nextFreeNode',
        length: scheme.wordLength,
        value: bytes => decodeWord(scheme, bytes) ?? 'stray bytes: not a number',
        note: wordNote(scheme, 'The index that the next new key takes. Every leaf index is below it.'),
        isSound: isWordBelow(scheme, MAX_LEAVES + 1n),
      },
      digestField(scheme, 'sub-root', 'The top of the 40 levels. The root is the hash of these two fields together.'),
    ],
    name =>
      fault?.place === 'node 0' || fault?.place === 'root' || (fault?.place === 'sub-root' && name === 'sub-root'),
  )

function accountPlan(scheme: Scheme, fault: PlacedFault | null): FieldPlan[] {
  // The fields are looked at for what the check was about: their range, or their one spelling.
  const isSmall = (bytes: Uint8Array) => BigInt(toHex(bytes)) < 2n ** 64n
  const isCanonical = (bytes: Uint8Array) => scheme.isCanonical(scheme.word(bytes))
  const number = (name: string, unit: string, note: string): FieldPlan => ({
    name,
    length: 32,
    value: bytes => `${asNumber(bytes)}${unit}`,
    note,
    isSound: fault?.code === 'VALUE_OUT_OF_RANGE' && name !== 'balance' ? isSmall : isCanonical,
  })
  return [
    number('nonce', '', 'How many transactions the account has sent.'),
    number('balance', ' wei', 'In wei.'),
    digestField(scheme, 'storageRoot', "Root of the account's own tree of storage slots."),
    digestField(scheme, 'snarkCodeHash', "The rollup's own hash of the contract code."),
    {
      name: 'keccakCodeHash',
      length: 32,
      value: asDigest,
      note: 'keccak256 of the contract code; of nothing for an account without code.',
    },
    number('codeSize', ' bytes', 'Length of the contract code.'),
  ]
}

function valueBytes(scheme: Scheme, index: number, value: unknown, fault: PlacedFault | null): Bytes {
  const isRefused = () => fault?.place === 'value'
  if (index === 0 && !isHexOf(DIGEST_LENGTH, value)) {
    return planBytes('The account value', value, accountPlan(scheme, fault), isRefused)
  }
  const note =
    index === 0
      ? 'HEAD and TAIL are no accounts: their value is 32 zero bytes.'
      : 'What the storage slot holds, as a number.'
  const title = index === 0 ? 'The value of HEAD or TAIL' : 'The slot value'
  return planBytes(title, value, [{ name: 'value', length: DIGEST_LENGTH, value: asNumber, note }], isRefused)
}

/** The two leaves around a key that does not exist, as far as they can be read. */
function viewGap(
  scheme: Scheme,
  leafProof: Readonly<Record<string, unknown>>,
  keyHash: string,
  checks: readonly Check[],
): Gap | null {
  const left = readNeighbour(scheme, leafProof, LEFT)
  const right = readNeighbour(scheme, leafProof, RIGHT)
  if (left === null || right === null) return null
  // The last three checks of an absence are these.
  const [forth, back, between] = checks.slice(-3).map(({ status }) => status)
  const shown = (isSo: boolean, status: Status = 'not reached') => ({ isSo, status })
  // Lower-case hexadecimal of one length sorts as its bytes do.
  const isAfterLeft = left.neighbour.hKey < keyHash
  return {
    left: left.neighbour,
    right: right.neighbour,
    keyHash,
    forth: shown(left.next === right.index, forth),
    back: shown(right.prev === left.index, back),
    between: shown(isAfterLeft && keyHash < right.neighbour.hKey, between),
    isAfterLeft,
  }
}

function readNeighbour(scheme: Scheme, leafProof: Readonly<Record<string, unknown>>, part: Part) {
  const { proofRelatedNodes } = fieldsOf(leafProof[part.proof])
  const index = leafProof[part.index]
  const leaf = itemsOf(proofRelatedNodes)[LEAF_ENTRY]
  const bytes = isHexOf(openingLength(scheme), leaf) ? toBytes(leaf) : null
  if (bytes === null || !isLeafIndex(index)) return null
  const { wordLength } = scheme
  const prev = decodeWord(scheme, bytes.subarray(0, wordLength))
  const next = decodeWord(scheme, bytes.subarray(wordLength, 2 * wordLength))
  const hKey = toHex(bytes.subarray(2 * wordLength, 2 * wordLength + DIGEST_LENGTH))
  const shown = (number: string | null) => (number === null ? 'not an index' : nameLeaf(Number(number)))
  const neighbour: Neighbour = {
    name: index === 0 ? 'HEAD' : index === 1 ? 'TAIL' : `leaf ${index}`,
    leafIndex: nameLeaf(index),
    prev: shown(prev),
    next: shown(next),
    hKey,
  }
  return { neighbour, index, prev: prev === null ? null : Number(prev), next: next === null ? null : Number(next) }
}
