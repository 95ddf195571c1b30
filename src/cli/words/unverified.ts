import { bytesToBigint, bytesToHex } from '../../base/bytes.ts'
import { isRefusal, ProofError } from '../../base/errors.ts'
import { encodeHeader, FIELDS, verifyHeader } from '../../verify/anchor/header.ts'
import { decodeRlp } from '../../verify/anchor/rlp.ts'
import { decodeBeacon } from '../../verify/beacon/decode.ts'
import type { EvidenceName } from '../../verify/evidence/names.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import type { Leaf } from '../../verify/tree/leaf.ts'
import { decodeAccount } from '../../verify/verifier/leaf-api.ts'
import { formOf, guessSchemeOfPath, type LeafForm, leafPaths, schemeNamed } from './answer.ts'
import { DocumentError } from './error.ts'
import { MESSAGE_NUMBERS, parseNumber } from './evidence.ts'
import { holdsTraces, readInputFile } from './input-file.ts'
import { evidenceKinds } from './kinds.ts'
import {
  DIGEST_LENGTH,
  decodeHex,
  decodeLeafIndex,
  describeDetails,
  LEAF_NODE,
  nameLeafIndex,
  readNodes,
  treeLengths,
} from './layout.ts'
import { MAX_LISTED_ITEMS } from './limits.ts'
import { fieldIn, hasFields, isGiven, isObject, itemsOf, show } from './value.ts'
import { formatTime } from './wording.ts'

/** What a file says, part by part. No part is passed on whole, because deep nesting could break the code that prints it. */
export type UnverifiedField = string | number | bigint | boolean | null | UnverifiedFields
export interface UnverifiedFields {
  [name: string]: UnverifiedField
}

/** What could not be decoded, and where. */
export interface Problem {
  readonly path: string
  readonly message: string
}

/** Decodes what can be decoded, and notes what cannot. @throws DocumentError if the kind of file is unknown */
export function inspectContent(content: unknown) {
  const problems: Problem[] = []
  if (!isObject(content)) throw new DocumentError('it is not a JSON object')
  const part = partOf(problems, '', content)
  if (holdsTraces(content)) return { kind: 'traces of the state manager', fields: inspectTraces(part), problems }
  const file = readInputFile(content)
  const { kind } = file
  const inspected = (fields: UnverifiedFields, name: string = kind) => ({ kind: name, fields, problems })
  if (file.kind === 'function vector') return inspected(inspectFunctionVector(part, file.operation), 'evidence vector')
  if (file.kind === 'evidence vector') return inspected(inspectEvidenceVector(part, file.evidence))
  if (file.kind === 'evidence') {
    return inspected(inspectBundle(part, file.evidence), evidenceKinds[file.evidence].name.replace(/^an? /, ''))
  }
  if (kind === 'unknown') throw new DocumentError('it is not a bundle, answer, JSON-RPC response, recording or vector')
  if (kind !== 'vector' && kind !== 'recording') return inspected(inspectAnswer(part, undefined))
  const name = kind === 'vector' ? 'answer' : 'result'
  return inspected({
    ...part.pick('description', 'flag', 'scheme', 'stateRoot', 'address', 'storageKeys'),
    [name]: inspectAnswer(part.at(name), schemeNamed(part.at('scheme').value)),
    ...(kind === 'vector' && inspectExpected(part)),
  })
}

/** A value of the file, at its path. Problems are collected, instead of stopping at the first one. */
interface Part {
  readonly value: unknown
  /** Null and a missing field are not given. */
  readonly isGiven: boolean
  /** The named field. */
  at(name: string): Part
  /** The value, by its kind alone if it has parts. */
  show(): string
  /** This part. Notes a problem if it is not an object. */
  object(): Part
  /** The named fields that are present. A list becomes its items. */
  pick(...names: readonly string[]): UnverifiedFields
  /** The named fields that are given, inspected. */
  given(inspectors: Readonly<Record<string, (field: Part) => UnverifiedField>>): UnverifiedFields
  /** The first items of an array, by index. Notes a problem if this is not an array. */
  list(inspect: (item: Part) => UnverifiedField): UnverifiedFields
  /** The result of `decode`; undefined if it refuses, which is noted. */
  attempt<T>(decode: (value: unknown) => T): T | undefined
}

function partOf(problems: Problem[], path: string, value: unknown): Part {
  const expect = (expected: string, isSo: boolean) => {
    if (!isSo) problems.push({ path, message: `expected ${expected}, found ${show(value)}` })
  }
  const part: Part = {
    value,
    isGiven: isGiven(value),
    at: name => partOf(problems, join(path, name), fieldIn(value, name)),
    show: () => show(value),
    object() {
      expect('an object', isObject(value))
      return part
    },
    pick: (...names) =>
      Object.fromEntries(
        names.filter(name => hasFields(value, name)).map(name => [name, showItems(fieldIn(value, name))]),
      ),
    given: inspectors =>
      Object.fromEntries(
        Object.entries(inspectors)
          .filter(([name]) => part.at(name).isGiven)
          .map(([name, inspect]) => [name, inspect(part.at(name))]),
      ),
    list(inspect) {
      expect('an array', Array.isArray(value))
      return listItems(itemsOf(value), (item, index) => inspect(partOf(problems, `${path}[${index}]`, item)))
    },
    attempt(decode) {
      try {
        return decode(value)
      } catch (error) {
        if (!isRefusal(error)) throw error
        problems.push({ path: join(path, error.path), message: `${error.code}: ${describeDetails(error)}` })
        return undefined
      }
    },
  }
  return part
}

const join = (path: string, rest: string): string =>
  path === '' || rest === '' || rest.startsWith('[') ? `${path}${rest}` : `${path}.${rest}`

const showItems = (value: unknown): UnverifiedField => (Array.isArray(value) ? listItems(value, show) : show(value))

/** The first items by index, and how many `more` there are. */
function listItems(all: readonly unknown[], inspect: (item: unknown, index: number) => UnverifiedField) {
  const more = all.length - MAX_LISTED_ITEMS
  const items = all.slice(0, MAX_LISTED_ITEMS).map((item, index) => [`[${index}]`, inspect(item, index)])
  return { ...Object.fromEntries(items), ...(more > 0 && { more }) }
}

const showPart = (part: Part): string => part.show()

/** A number of at most `bits` bits; anything else by its kind. */
const inspectNumber = ({ value }: Part, bits: number): UnverifiedField => parseNumber(value, bits) ?? show(value)

/** How many traces each block has. */
function inspectTraces(response: Part): UnverifiedFields {
  const result = response.at('result').isGiven ? response.at('result') : response
  return {
    ...result.pick('zkParentStateRootHash', 'zkEndStateRootHash', 'zkStateManagerVersion'),
    blocks: result.at('zkStateMerkleProof').list(block => `${itemsOf(block.value).length} traces`),
  }
}

/** The head of a bundle, with the body of its kind in it. */
function inspectBundle(bundle: Part, evidence: EvidenceName): UnverifiedFields {
  const number = bundle.at('l2BlockNumber')
  return {
    ...bundle.object().pick('format', 'version', 'kind', 'scheme'),
    rollup: bundle.at('rollup').object().pick('name', 'address'),
    ...(evidence !== 'message' && { l2BlockNumber: inspectNumber(number, 64) }),
    ...bundle.given({ consensus: inspectConsensus, l1: inspectL1, l2Header: header => inspectHeader(header) }),
    ...bodies[evidence](bundle, schemeNamed(bundle.at('scheme').value)),
  }
}

/** The fields of the body, by the kind of evidence. */
const bodies: Readonly<Record<EvidenceName, (bundle: Part, scheme: HashScheme | undefined) => UnverifiedFields>> = {
  state: (bundle, scheme) => ({
    request: bundle.at('request').object().pick('address', 'storageKeys'),
    answer: inspectAnswer(bundle.at('answer'), scheme),
  }),
  logs(bundle, scheme) {
    const blocks = itemsOf(bundle.at('blocks').value)
    const count = (name: string) => blocks.filter(block => isGiven(fieldIn(block, name))).length
    const filter = bundle.at('filter').object()
    return {
      ...{ fromBlock: inspectNumber(bundle.at('fromBlock'), 64), toBlock: inspectNumber(bundle.at('toBlock'), 64) },
      filter: {
        ...filter.pick('address'),
        ...filter.given({ topics: topics => topics.list(({ value }) => showItems(value)) }),
      },
      ...{
        blocks: blocks.length,
        blocksWithReceipts: count('receipts'),
        blocksWithTransactions: count('transactions'),
      },
      // Where L1 holds the hash of the newest block, there need not be one.
      ...((bundle.at('answer').isGiven || scheme !== undefined) && {
        answer: inspectAnswer(bundle.at('answer'), scheme),
      }),
    }
  },
  message(bundle) {
    const message = bundle.at('message')
    const numbers = MESSAGE_NUMBERS.map(name => [name, inspectNumber(message.at(name), 256)] as const)
    return {
      message: { ...message.object().pick('from', 'to', 'data'), ...Object.fromEntries(numbers) },
      ...bundle.given({ messageProof: place => place.object().pick('root', 'leafIndex') }),
    }
  },
  // Each answer, but only the number of the codes.
  call(bundle, scheme) {
    const environment = bundle.at('environment').object()
    return {
      ...bundle.pick('chainId', 'hardfork'),
      call: bundle.at('call').object().pick('from', 'to', 'data', 'value', 'gas'),
      environment: {
        ...environment.pick('timestamp', 'gasLimit', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao'),
        ...environment.given({ blockHashes: showPart }),
      },
      answers: bundle.at('answers').list(item => ({
        ...item.object().pick('address', 'storageKeys'),
        answer: inspectAnswer(item.at('answer'), scheme),
      })),
      codes: bundle.at('codes').show(),
    }
  },
}

/** Slots, committee size and signers of each beacon API answer. The root of the first header is what `--checkpoint` states. */
function inspectConsensus(consensus: Part): UnverifiedFields {
  return {
    ...consensus.object().pick('network'),
    bootstrap: inspectBootstrap(consensus.at('bootstrap')),
    updates: consensus.at('updates').list(inspectSigned),
    ...consensus.given({ finality: inspectSigned }),
  }
}

function inspectBootstrap(bootstrap: Part): UnverifiedFields {
  const data = bootstrap.object().at('data').object()
  const header = data.at('header')
  const root = header.at('beacon').attempt(beacon => bytesToHex(decodeBeacon(beacon).root))
  return {
    ...bootstrap.given({ version: showPart }),
    ...(root !== undefined && { beaconBlockRoot: root }),
    ...inspectBeaconHeader(header),
    committee: data.at('current_sync_committee').at('pubkeys').show(),
  }
}

function inspectSigned(signed: Part): UnverifiedFields {
  const data = signed.object().at('data').object()
  const nextCommittee = data.at('next_sync_committee')
  const { value: bits } = data.at('sync_aggregate').at('sync_committee_bits')
  const isBits = typeof bits === 'string' && bits.length === 130
  const ones = (digit: string) => Number.parseInt(digit, 16).toString(2).match(/1/g)?.length ?? 0
  return {
    ...signed.given({ version: showPart }),
    attested: inspectBeaconHeader(data.at('attested_header')),
    finalized: inspectBeaconHeader(data.at('finalized_header')),
    signatureSlot: data.at('signature_slot').show(),
    signers: isBits ? [...bits.slice(2)].reduce((sum, digit) => sum + ones(digit), 0) : 0,
    ...(nextCommittee.isGiven && { nextCommittee: nextCommittee.at('pubkeys').show() }),
  }
}

function inspectBeaconHeader(header: Part): UnverifiedFields {
  const execution = header.at('execution')
  const hash = header.at('execution_block_hash')
  const number = execution.at('block_number')
  return {
    slot: header.at('beacon').at('slot').show(),
    l1BlockHash: (hash.isGiven ? hash : execution.at('block_hash')).show(),
    ...(number.isGiven && { l1BlockNumber: number.show() }),
  }
}

const inspectL1 = (l1: Part): UnverifiedFields =>
  l1.object().given({
    header: header => inspectHeader(header),
    proof: inspectEthProof,
    finalizedState: inspectFinalizedState,
  })

function inspectFinalizedState(state: Part): UnverifiedFields {
  const timestamp = state.object().at('timestamp')
  const time = parseNumber(timestamp.value, 64)
  const spell = (number: Part) => inspectNumber(number, 256)
  return {
    messageNumber: spell(state.at('messageNumber')),
    ...state.given({ forcedTransactionNumber: spell }),
    timestamp: time === null ? timestamp.show() : `${time} (${formatTime(time)})`,
  }
}

/** @param hex the header. Default: the part itself */
function inspectHeader(part: Part, hex = part.value): UnverifiedFields {
  const bytes = part.attempt(() => decodeHex(hex))
  if (bytes === undefined) return { header: part.show() }
  const hash = bytesToHex(keccak256(bytes))
  // Verifying it against its own hash shows only that it is a header.
  const block = part.attempt(() => verifyHeader(hex, hash))
  if (block === undefined) return { hash }
  const items = decodeRlp(bytes)
  const fields = FIELDS.flatMap(([name, { kind }], index): [string, UnverifiedField][] => {
    const item = items[index]
    return item instanceof Uint8Array ? [[name, kind === 'integer' ? bytesToBigint(item) : bytesToHex(item)]] : []
  })
  return { hash, ...Object.fromEntries(fields), timestamp: formatTime(block.timestamp) }
}

/** The fields of an eth_getProof answer, with only the number of its nodes. */
function inspectEthProof(proof: Part): UnverifiedFields {
  return {
    ...proof.object().pick('address', 'nonce', 'balance', 'storageHash', 'codeHash'),
    accountProof: proof.at('accountProof').show(),
    storageProof: proof
      .at('storageProof')
      .list(slot => ({ ...slot.object().pick('key', 'value'), nodes: slot.at('proof').show() })),
  }
}

/** A rollup_getProof answer, bare or in a JSON-RPC response. */
function inspectAnswer(answer: Part, scheme: HashScheme | undefined): UnverifiedFields {
  const response = answer.object().pick('jsonrpc', 'id')
  const [error, result] = [answer.at('error'), answer.at('result')]
  if (error.isGiven) return { ...response, error: error.object().pick('code', 'message') }
  return result.value === undefined
    ? { ...response, ...inspectResult(answer, scheme) }
    : { ...response, result: inspectResult(result.object(), scheme) }
}

function inspectResult(result: Part, scheme: HashScheme | undefined): UnverifiedFields {
  const accountProof = result.at('accountProof')
  const isEthProof = Array.isArray(accountProof.value) && hasFields(result.value, 'storageProof')
  if (isEthProof) return inspectEthProof(result)
  return {
    accountProof: inspectLeafProof(accountProof, 'account', scheme),
    storageProofs: result
      .at('storageProofs')
      .list(proof => (proof.value === null ? null : inspectLeafProof(proof, 'slot', scheme))),
  }
}

type EntryName = 'account' | 'slot'

function inspectLeafProof(leafProof: Part, entry: EntryName, scheme: HashScheme | undefined): UnverifiedFields {
  const key = leafProof.object().at('key')
  key.attempt(value => decodeHex(value, [treeLengths[entry].key]))
  const form = formOf(leafProof.value)
  const fields: UnverifiedFields = { key: key.show(), claims: claimWords.get(form) ?? form }
  for (const names of leafPaths) {
    const [index, proof] = [leafProof.at(names.index), leafProof.at(names.proof)]
    if (!index.isGiven && !proof.isGiven) continue
    const decoded = index.attempt(decodeLeafIndex)
    fields[names.index] = decoded === undefined ? index.show() : nameLeafIndex(decoded)
    fields[names.proof] = inspectProof(proof.object(), entry, scheme ?? guessSchemeOfPath(proof.value))
  }
  return fields
}

const claimWords = new Map<LeafForm, string>([
  ['both', 'both existence and non-existence'],
  ['neither', 'nothing'],
])

function inspectProof(proof: Part, entry: EntryName, scheme: HashScheme | undefined): UnverifiedFields {
  const [value, nodes] = [proof.at('value'), proof.at('proofRelatedNodes')]
  const { value: length } = treeLengths[entry]
  // A neighbour may be HEAD or TAIL, whose value is 32 bytes.
  const bytes = value.attempt(hex => decodeHex(hex, [length, DIGEST_LENGTH]))
  const account =
    scheme &&
    entry === 'account' &&
    bytes?.length === length &&
    value.attempt(() => decodeAccount(scheme, bytesToHex(bytes)))
  const path = nodes.attempt(all => {
    if (scheme) return inspectPath(scheme, all)
    const expected = '128 bytes (mimc) or 192 bytes (poseidon2)'
    throw new ProofError('WRONG_LENGTH', { path: `[${LEAF_NODE}]`, expected })
  })
  return { value: account ? { ...account } : value.show(), ...(path ?? { proofRelatedNodes: nodes.show() }) }
}

/** @throws ProofError */
function inspectPath(scheme: HashScheme, nodes: unknown): UnverifiedFields {
  const { rootNode, siblingLeaf, leafNode } = readNodes(scheme, nodes)
  return {
    scheme: scheme.name,
    nextFreeNode: rootNode.nextFreeNode,
    subRoot: bytesToHex(rootNode.subRoot),
    leaf: describeLeaf(leafNode),
    siblingLeaf: siblingLeaf ? describeLeaf(siblingLeaf) : 'none',
  }
}

const describeLeaf = ({ prev, next, hKey, hVal }: Leaf): UnverifiedFields => ({
  prev: nameLeafIndex(prev),
  next: nameLeafIndex(next),
  hKey: bytesToHex(hKey),
  hVal: bytesToHex(hVal),
})

const VECTOR_FIELDS = ['description', 'flag', 'operation', 'kind', 'scheme', 'code', 'codeHash'] as const

function inspectFunctionVector(vector: Part, operation: unknown): UnverifiedFields {
  const stated = { ...vector.pick(...VECTOR_FIELDS), ...inspectExpected(vector) }
  if (operation !== 'encodeHeader') return stated
  const block = vector.at('block')
  const header = block.attempt(encodeHeader)
  return { ...stated, block: header === undefined ? block.show() : inspectHeader(block, header) }
}

function inspectEvidenceVector(vector: Part, evidence: EvidenceName): UnverifiedFields {
  const claim = vector.at('claim')
  return {
    ...vector.pick(...VECTOR_FIELDS),
    claim: {
      ...claim.pick('l2BlockNumber', 'address', 'storageKeys'),
      rollup: claim.at('rollup').pick('name', 'address'),
      trusted: claim.at('trusted').pick('beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot'),
    },
    bundle: inspectBundle(vector.at(vector.at('bundle').isGiven ? 'bundle' : 'input'), evidence),
    ...inspectExpected(vector),
  }
}

function inspectExpected(vector: Part): UnverifiedFields {
  const expected = vector.at('expected')
  return { expected: isObject(expected.value) ? expected.pick('valid', 'code', 'path') : expected.show() }
}
