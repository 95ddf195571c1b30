import {
  computeRoot,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
  type Scheme,
} from '../../../src/index.ts'
import { decodeWord, leafBytes, nameLeaf, node0Bytes, openingLength, siblingBytes, valueBytes } from './bytes.ts'
import { checksOf, placeError, type Step } from './checks.ts'
import { type ExplorerDocument, resultIn } from './document.ts'
import { describeFault, type PlacedFault } from './fault.ts'
import type { Judgement } from './judge.ts'
import type { Check, Gap, Level, Neighbour, PathView, ProofView, Status } from './messages.ts'
import { fieldIn, fieldsOf, isGiven, isHexOf, itemsOf, show, toBytes, toHex } from './value.ts'
import { claimWords } from './wording.ts'

const DEPTH = 40
const LEAF_ENTRY = 41
const DIGEST_LENGTH = 32
const ACCOUNT_LENGTH = 192

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
  const value = fieldIn(fieldIn(leafProofAt(document, 0), 'proof'), 'value')
  const root = isHexOf(ACCOUNT_LENGTH, value) ? `0x${value.slice(2 + 2 * 64, 2 + 2 * 96)}` : null
  const rootSource = accountIsProven ? 'of the proven account' : 'as the account value says, not proven'
  return { rootName: 'storage root', wantedRoot: root, rootSource: root === null ? 'not known' : rootSource }
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
