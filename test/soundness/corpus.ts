import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { bigintToBytes, bytesToHex, concatBytes, type Hex, hexToBytes } from '../../src/base/bytes.ts'
import { applyPatches } from '../../src/site/patches.ts'
import { MAX_NODE_COUNT, MAX_NODE_LENGTH } from '../../src/verify/anchor/limits.ts'
import { decodeRlp } from '../../src/verify/anchor/trie.ts'
import { openTransactions } from '../../src/verify/blocks/transactions.ts'
import { keccak256 } from '../../src/verify/hash/keccak/index.ts'
import { toTail, toWord } from '../../src/verify/messages/message.ts'
import type { HashScheme } from '../../src/verify/scheme/scheme.ts'
import { safely } from '../../src/verify/verifier/safe.ts'
import type { InvalidTransition, TransitionInput, ValidTransition } from '../../vectors/transitions/generate.ts'
import { type Beside, isBytes, lengthOf } from './beside.ts'
import { askReceipts, encodeSent, isReceipt } from './receipts.ts'
import { askTransition, type LooseTrace } from './transitions.ts'
import { askEthProof, askList, askPlace, askTrie, type EthSlot } from './tries.ts'

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** All transitions of the corpus. Each must have the code of its vector, unless that is the code of another layer. */
export function askTransitionVectors(beside: Beside, schemes: readonly HashScheme[], known: readonly string[]) {
  const folder = 'vectors/transitions'
  const judged = { valid: 0, invalid: 0, elsewhere: 0 }
  const ask = ({ scheme: name, answer, parentStateRoot, stateRoot }: TransitionInput) => {
    const scheme = schemes.find(scheme => scheme.name === name)
    const blocks: unknown = Object(Object(answer).result ?? answer).zkStateMerkleProof
    const isRoot = (root: unknown) => isBytes(root) && lengthOf(root) === 32
    const isMadeOfTraces =
      Array.isArray(blocks) &&
      blocks.every(block => Array.isArray(block) && block.every(trace => typeof trace === 'object'))
    if (!scheme || !isRoot(parentStateRoot) || !(stateRoot === undefined || isRoot(stateRoot)) || !isMadeOfTraces)
      return null
    return askTransition(beside, name, scheme, { parentStateRoot, stateRoot, blocks: blocks as LooseTrace[][] })
  }
  for (const file of readdirSync(`${folder}/valid`)) {
    const { input }: ValidTransition = read(`${folder}/valid/${file}`)
    if (ask(input) !== 'accepted') throw new Error(`${file} is not accepted`)
    judged.valid += 1
  }
  for (const file of readdirSync(`${folder}/invalid`)) {
    const vector: InvalidTransition = read(`${folder}/invalid/${file}`)
    const { input } = applyPatches(vector, read(`${folder}/valid/${vector.base}.json`))
    const outcome = ask(input as TransitionInput)
    if (outcome === vector.expected.code) judged.invalid += 1
    else if (outcome === null || outcome === 'accepted' || !known.includes(vector.expected.code)) judged.elsewhere += 1
    else throw new Error(`${file}: ${outcome}`)
  }
  console.log(
    `transitions: ${judged.valid} valid, ${judged.invalid} invalid for a rule of the model, ${judged.elsewhere} for another`,
  )
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => Object(value)
const toBytes = (hex: string) => hexToBytes(hex, lengthOf(hex))
const isWord = (value: unknown): value is Hex => isBytes(value) && lengthOf(value) === 32
const isInteger = (value: unknown): value is number => Number.isInteger(value)

/** How each kind of question is found in a part of a file. Each asks what the model can express, and returns the outcomes. */
const FINDERS = {
  'answers of eth_getProof': (beside, part) =>
    answersIn(part).map(({ address, nodes, slots }) => askEthProof(beside, rootOf(nodes), address, nodes, slots)),
  'trie proofs': (beside, part) =>
    answersIn(part)
      .flatMap(({ address, nodes, slots }) => [{ key: address, nodes }, ...slots])
      .map(({ key, nodes }) => askTrie(beside, rootOf(nodes), keccak256(key), nodes)),
  'blocks of receipts': (beside, part, claim) => {
    const { items, root } = listIn(part, claim, 'receipts')
    return root !== null && items.every(isReceipt) ? [askReceipts(beside, items, root)] : []
  },
  'ordered lists': (beside, part, claim) => {
    const receipts = listIn(part, claim, 'receipts').items.filter(isReceipt)
    const encoded = unlessRefused(() => receipts.map(encodeSent)) ?? []
    return [encoded, transactionsIn(part, claim)].flatMap(values =>
      values.length === 0 ? [] : [askList(beside, values)],
    )
  },
  'places of messages': (beside, part, claim) => {
    const { root, leafIndex, proof } = fieldsOf(part['messageProof'])
    const message = encodeMessage(fieldsOf(part['message'] ?? claim['message']))
    const isPath = isWord(root) && isInteger(leafIndex) && Array.isArray(proof) && proof.every(isWord)
    return isPath && message !== null ? [askPlace(beside, message, { root, leafIndex, proof })] : []
  },
} satisfies Readonly<Record<string, (beside: Beside, part: Fields, claim: Fields) => string[]>>

export type FileKind = keyof typeof FINDERS
const KINDS = Object.keys(FINDERS) as FileKind[]

/** The kind of question that vectors of a function are about. */
const JUDGED = new Map([
  ['verifyReceipts', 'blocks of receipts'],
  ['verifyMessageFromL2', 'places of messages'],
])

/** The only vector with a code of a model for what the model does not see. */
const INEXPRESSIBLE = 'place-array.json'

/**
 * Asks about everything in the files of these folders that looks like one of {@link FINDERS}. In a vector of these functions it
 * must have the verdict of the vector, unless that has the code of another layer.
 *
 * @param known the codes of the models
 * @param only the kinds of questions. None stands for all
 */
export function askFiles(
  beside: Beside,
  folders: readonly string[],
  known: ReadonlySet<string>,
  only: readonly FileKind[],
): void {
  const kinds = only.length > 0 ? only : KINDS
  for (const folder of folders) {
    if (!existsSync(folder)) {
      console.log(`${folder}: skipped, for it is not there`)
      continue
    }
    const counts = new Map<string, number>(kinds.map(kind => [kind, 0]))
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.json'))
    for (const path of paths.map(path => `${folder}/${path}`).filter(path => statSync(path).isFile())) {
      const file = fieldsOf(read(path))
      const { base } = file
      const whole = base === undefined ? file : applyPatches(file, read(`${dirname(path)}/../valid/${base}.json`))
      for (const kind of kinds) {
        const found = partsOf(whole).flatMap(part => FINDERS[kind](beside, part, fieldsOf(whole['claim'])))
        counts.set(kind, (counts.get(kind) ?? 0) + found.length)
        if (kind !== JUDGED.get(`${whole['operation']}`) || found.length === 0 || path.endsWith(INEXPRESSIBLE)) continue
        verifyOutcomes(path, found, fieldsOf(whole['expected']), known)
      }
    }
    for (const [kind, count] of counts) console.log(`${folder}: ${count} ${kind}`)
  }
}

/** @throws unless a vector is refused by the model if its code is one of the model's, and accepted if it is valid */
function verifyOutcomes(
  path: string,
  outcomes: readonly string[],
  { valid, code }: Fields,
  known: ReadonlySet<string>,
) {
  const refusals = outcomes.filter(outcome => known.has(outcome))
  const isRight = valid === true ? refusals.length === 0 : !known.has(`${code}`) || refusals.includes(`${code}`)
  if (!isRight) throw new Error(`${path}: ${outcomes.join()}`)
}

function partsOf(value: unknown): Fields[] {
  if (typeof value !== 'object' || value === null) return []
  return [fieldsOf(value), ...Object.values(value).flatMap(partsOf)]
}

const rootOf = ([top]: readonly Uint8Array[]) => keccak256(top ?? new Uint8Array(0))

/** The nodes of an `eth_getProof` answer, none if this is no answer. */
function answersIn({ address, accountProof, storageProof }: Fields) {
  const isNodes = (nodes: unknown): nodes is string[] =>
    Array.isArray(nodes) &&
    nodes.length <= MAX_NODE_COUNT &&
    nodes.every(node => isBytes(node) && lengthOf(node) <= MAX_NODE_LENGTH)
  if (!Array.isArray(storageProof) || !isNodes(accountProof) || accountProof.length === 0) return []
  if (!isBytes(address) || lengthOf(address) !== 20) return []
  const isKey = (key: unknown): key is string => typeof key === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(key)
  const slots: EthSlot[] = storageProof
    .map(fieldsOf)
    .flatMap(({ key, proof }) =>
      isKey(key) && isNodes(proof) ? [{ key: bigintToBytes(BigInt(key), 32), nodes: proof.map(toBytes) }] : [],
    )
  if (slots.length !== storageProof.length) return []
  return [{ address: toBytes(address), nodes: accountProof.map(toBytes), slots }]
}

/** The place of the root in a header. */
const ROOTS = { transactions: 4, receipts: 5 }

/** A list of a block, and the root that its header or the claim of a vector has for it. */
function listIn(part: Fields, claim: Fields, name: keyof typeof ROOTS): { items: unknown[]; root: Hex | null } {
  const block = fieldsOf(part['block'])
  const stated = part['operation'] === undefined ? undefined : claim[`${name}Root`]
  const items = stated === undefined ? (part[name] ?? block[name]) : part['input']
  const root = stated ?? block[`${name}Root`] ?? rootInHeader(part['header'], ROOTS[name])
  return { items: Array.isArray(items) ? items : [], root: Array.isArray(items) && isWord(root) ? root : null }
}

function rootInHeader(header: unknown, place: number): string | null {
  const [item] = isBytes(header) ? [unlessRefused(() => decodeRlp(toBytes(header))?.[place])] : []
  return item instanceof Uint8Array ? bytesToHex(item) : null
}

/** The transactions of a block, encoded, if they have the root of its header: otherwise none. */
function transactionsIn(part: Fields, claim: Fields): Uint8Array[] {
  const { items, root } = listIn(part, claim, 'transactions')
  if (root === null) return []
  return unlessRefused(() => openTransactions(items, toBytes(root)).map(({ rlp }) => rlp)) ?? []
}

function unlessRefused<T>(work: () => T): T | null {
  const outcome = safely(work)
  return outcome.ok ? outcome.value : null
}

/** What is hashed for a message; null if its fields are not those of one. */
function encodeMessage({ from, to, fee, value, number, data }: Fields): Uint8Array | null {
  const isAddress = (text: unknown): text is Hex => isBytes(text) && lengthOf(text) === 20
  const isNumber = (text: unknown): text is Hex => typeof text === 'string' && /^0x[0-9a-f]{1,64}$/.test(text)
  if (!isAddress(from) || !isAddress(to) || !isBytes(data) || ![fee, value, number].every(isNumber)) return null
  const words = [toBytes(from), toBytes(to), ...[fee, value, number].map(text => BigInt(`${text}`)), 6 * 32]
  return concatBytes(...words.map(toWord), toTail(toBytes(data)))
}
