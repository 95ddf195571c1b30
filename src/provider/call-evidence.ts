import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Rollup } from '../anchor/rollup.ts'
import { bytesToHex, type Hex, hexLength, hexToBytes } from '../bytes.ts'
import { atPath, excerpt, ProofError } from '../errors.ts'
import type { EvidenceClaim, Trusted, VerifiedEvidence } from '../evidence/types.ts'
import { verifyEvidence } from '../evidence/verify.ts'
import { readerOf } from '../json/reader.ts'
import { verifyOptions, verifyScheme } from '../proof/claim.ts'
import { verifyProof } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { DEFAULT_HARDFORK, type Environment, HARDFORKS, type Hardfork, verifyBigint } from './environment.ts'
import { ProviderError } from './error.ts'
import { loadEvm } from './evm-packages.ts'
import { execute } from './execute.ts'
import { CALL_GAS, MAX_BUNDLE_PARTS, MAX_DATA_BYTES } from './limits.ts'
import { EMPTY_CODE_HASH } from './proven-state.ts'
import type { ReadAccount, StateReader } from './state-reader.ts'

const VERSION = 1

/** A call in a bundle. */
export interface CallStatement {
  /** The caller, 20 bytes. */
  from: Hex
  /** The contract, 20 bytes. */
  to: Hex
  /** At most 1 MiB. */
  data: Hex
  /** In wei, a quantity. */
  value: Hex
  /** Gas limit of the transaction, a quantity. */
  gas: Hex
}

/**
 * A call as evidence: one JSON document with everything that an execution reads, and every proof from an L1 block hash to it.
 * Its JSON Schema is `docs/call-evidence.schema.json`.
 */
export interface CallEvidence {
  /** The version of this format. */
  version: 1
  /** Distinguishes it from evidence of accounts and slots. */
  kind: 'call'
  /** The hash scheme of the rollup at the L2 block. */
  scheme: Scheme['name']
  /** Whose state it is. */
  rollup: {
    /** A label for people. It proves nothing. */
    name?: string
    /** The contract on L1, 20 bytes. */
    address: Hex
  }
  /** The block in which the call is executed, a quantity. */
  l2BlockNumber: Hex
  /** As in an `Evidence`. */
  consensus?: unknown
  /** As in an `Evidence`. */
  l1?: unknown
  /** Chain id of the rollup, a quantity. */
  chainId: Hex
  /** Determines the available instructions and their gas costs. */
  hardfork: Hardfork
  /** The block values that the execution reads and no proof covers, as stated by the author of the bundle. */
  environment: {
    /** Seconds since 1970, a quantity. */
    timestamp?: Hex
    /** In wei, a quantity. */
    baseFee?: Hex
    /** In wei, a quantity. */
    blobBaseFee?: Hex
    /** Gas limit of the block, a quantity. */
    gasLimit?: Hex
    /** 20 bytes. */
    coinbase?: Hex
    /** 32 bytes. */
    prevRandao?: Hex
    /** Block hashes by decimal block number, 32 bytes each. */
    blockHashes?: Record<string, Hex>
  }
  /** What is executed. */
  call: CallStatement
  /** The answers of `rollup_getProof` for each account that the execution reads, with the slots that it reads. */
  answers: {
    /** 20 bytes. */
    address: Hex
    /** 32 bytes each. */
    storageKeys: Hex[]
    /** The result. */
    answer: unknown
  }[]
  /** Each contract code that the execution reads, once. */
  codes: Hex[]
}

/** What you know yourself. A bundle for anything else is refused. */
export interface CallClaim {
  /** `mimc` or `poseidon2`: the hash scheme of the rollup at the L2 block. */
  scheme: Scheme
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The value that everything is proven from. */
  trusted: Trusted
  /** Chain id of the rollup. */
  chainId: bigint
  /** Required if you trust an L2 state root. Default: any finalized block; check the returned number. */
  l2BlockNumber?: bigint
  /** The hard fork of the rollup at the L2 block. Default: `prague`. Under another hard fork, a call can end differently. */
  hardfork?: Hardfork
  /** The parts of the call that you know. Default: those of the bundle; check the returned ones. */
  call?: Partial<{
    /** 20 bytes. */
    from: Hex
    /** 20 bytes. */
    to: Hex
    /** Of any length. */
    data: Hex
    /** In wei. */
    value: bigint
    /**
     * Gas limit of the transaction. Default: 50,000,000. The bundle never decides it, because with less gas, an inner call can
     * fail that would otherwise succeed.
     */
    gas: bigint
  }>
  /** The highest gas limit to accept. Default: 50,000,000. */
  maxGas?: bigint
}

/** What a bundle proves about the block of the call. */
export type CallAnchor = VerifiedEvidence extends infer One
  ? One extends VerifiedEvidence
    ? Omit<One, 'account' | 'storage' | 'address'>
    : never
  : never

/** The outcome of a call, and what it rests on. */
export type VerifiedCall = CallAnchor & {
  /** Chain id of the rollup, as you stated it. */
  chainId: bigint
  /** The hard fork under which it was executed. */
  hardfork: Hardfork
  /** The block values that the execution read and no proof covers, as stated by the author of the bundle. */
  environment: Environment
  /** What was executed. */
  call: {
    /** 20 bytes, lower case. */
    from: Hex
    /** 20 bytes, lower case. */
    to: Hex
    /** At most 1 MiB, lower case. */
    data: Hex
    /** In wei. */
    value: bigint
    /** Gas limit of the transaction. */
    gas: bigint
  }
  /** How it ended. A call that reverts or fails is proven to do so. */
  outcome: 'returned' | 'reverted' | 'failed'
  /** What it returned, or reverted with. */
  returnData: Hex
  /** Gas used by the transaction, less refunds. */
  gasUsed: bigint
}

const reader = readerOf('EVIDENCE_MALFORMED')

/** Implements the function of the same name in `evidence.ts`. */
export async function verifyCallEvidence(bundle: unknown, claim: CallClaim): Promise<VerifiedCall> {
  const { maxGas = CALL_GAS, chainId } = claim ?? {}
  verifyOptions(claim, CLAIM_FIELDS)
  verifyScheme(claim?.scheme)
  verifyBigint('chainId', chainId, 1n, 256)
  verifyBigint('maxGas', maxGas, 21_000n, 64)
  const decoded = decodeCallEvidence(bundle, maxGas)
  verifyExpected(decoded, claim)
  const { call, hardfork, environment } = decoded
  const anchor = verifyAnswers(decoded, claim)
  const { finalizedTimestamp, l2BlockNumber } = anchor.anchor
  if (l2BlockNumber === null) {
    throw new ProofError('CLAIM_INVALID', {
      path: 'l2BlockNumber',
      expected: 'the number of the block of this state root',
    })
  }
  if (finalizedTimestamp !== null && environment.timestamp !== undefined) {
    throw unused('environment.timestamp', 'a timestamp beside the one that L1 proves')
  }
  const read = new Set<string>()
  const around = watchEnvironment(environment, finalizedTimestamp, read)
  const packages = await loadEvm()
  const request = { ...call, gasPrice: 0n, maxGasPrice: 0n, accessList: [] }
  const context = { chainId, hardfork, blockNumber: l2BlockNumber, environment: around }
  const execution = await execute(packages, anchor.state, request, call.gas, context).catch(toCallError)
  anchor.verifyAllUsed()
  verifyEnvironmentUsed(environment, read)
  const { failure, returnData, gasUsed } = execution
  return {
    ...anchor.anchor,
    ...{ chainId, hardfork, environment, call, returnData, gasUsed },
    outcome: failure === null ? 'returned' : failure === 'revert' ? 'reverted' : 'failed',
  }
}

const CLAIM_FIELDS = ['scheme', 'rollup', 'trusted', 'chainId', 'l2BlockNumber', 'hardfork', 'call', 'maxGas']

/** A value that the bundle does not state is reported as missing, like an account that it does not prove. */
function toCallError(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  const instruction: unknown = Reflect.get(Object(error.data), 'instruction')
  if (error.reason === 'VALUE_UNPROVEN') {
    throw new ProofError('CALL_STATE_MISSING', { path: 'environment', expected: `the value of ${instruction}` })
  }
  if (error.reason !== 'EXECUTION_FAILED') throw error
  throw new ProofError('EVIDENCE_MALFORMED', {
    path: 'call',
    expected: 'a call that can begin',
    found: excerpt(error.message),
  })
}

const unused = (path: string, found: string) => new ProofError('CALL_STATE_UNUSED', { path, found })

type Decoded = ReturnType<typeof decodeCallEvidence>

/** Refuses a bundle that differs from what the caller states. `verifyEvidence` compares the rest. */
function verifyExpected({ chainId, hardfork, call }: Decoded, claim: CallClaim): void {
  const { from, to, data, value, gas = CALL_GAS } = claim.call ?? {}
  const compare = (path: string, expected: unknown, found: unknown) => {
    if (expected === undefined || expected === found) return
    throw new ProofError('CALL_MISMATCH', { path, expected: excerpt(`${expected}`), found: excerpt(`${found}`) })
  }
  const lower = (text: Hex | undefined) => (typeof text === 'string' ? text.toLowerCase() : text)
  compare('chainId', claim.chainId, chainId)
  compare('hardfork', claim.hardfork ?? DEFAULT_HARDFORK, hardfork)
  compare('call.from', lower(from), call.from)
  compare('call.to', lower(to), call.to)
  compare('call.data', lower(data), call.data)
  compare('call.value', value, call.value)
  compare('call.gas', gas, call.gas)
}

/** A proven answer of the bundle. */
interface Proven {
  readonly account: ReadAccount | null
  readonly slots: ReadonlyMap<Hex, Hex>
  readonly usedSlots: Set<Hex>
  readonly index: number
  isUsed: boolean
}

/** Proves the answers of the bundle, and returns the state that they hold. */
function verifyAnswers(decoded: Decoded, claim: CallClaim) {
  const { answers, codes, evidence } = decoded
  const [first] = answers
  if (first === undefined) throw new ProofError('CALL_STATE_MISSING', { path: 'answers', expected: 'at least one' })
  const { scheme, rollup, trusted, l2BlockNumber } = claim
  const evidenceClaim: EvidenceClaim = {
    scheme,
    rollup,
    trusted,
    ...(l2BlockNumber !== undefined && { l2BlockNumber }),
  }
  const {
    account: _,
    storage: __,
    address: ___,
    ...anchor
  } = inFirstAnswer(() => verifyEvidence({ ...evidence, request: first, answer: first.answer }, evidenceClaim))
  const { stateRoot } = anchor
  const accounts = new Map<Hex, Proven>()
  for (const [index, { address, storageKeys, answer }] of answers.entries()) {
    if (accounts.has(address)) throw unused(`answers[${index}]`, `a second answer for ${address}`)
    const { account, storage } = atPath(`answers[${index}].answer`, () =>
      verifyProof(answer, { scheme, stateRoot, address, storageKeys }),
    )
    const hasStorage = account !== null && account.storageRoot !== scheme.emptyTreeRoot
    accounts.set(address, {
      account: account && { nonce: account.nonce, balance: account.balance, codeHash: account.codeHash, hasStorage },
      slots: new Map(storage.map(({ key, value }) => [key, value])),
      ...{ usedSlots: new Set<Hex>(), index, isUsed: false },
    })
  }
  const codesByHash = new Map(codes.map(code => [bytesToHex(keccak_256(code)), code]))
  const usedCodes = new Set<Hex>()

  const read = (address: Hex): Proven => {
    const proven = accounts.get(address)
    if (proven === undefined)
      throw new ProofError('CALL_STATE_MISSING', { path: 'answers', expected: `account ${address}` })
    proven.isUsed = true
    return proven
  }
  const state: StateReader = {
    getAccount: async address => read(address).account,
    async getStorage(address, key) {
      const { account, slots, usedSlots, index } = read(address)
      // Without storage, the account proof alone proves that every slot is zero.
      if (account === null || !account.hasStorage) return `0x${'0'.repeat(64)}`
      const value = slots.get(key)
      if (value === undefined) {
        throw new ProofError('CALL_STATE_MISSING', { path: `answers[${index}]`, expected: `slot ${key} of ${address}` })
      }
      usedSlots.add(key)
      return value
    },
    async getCode(address) {
      const { account } = read(address)
      if (account === null || account.codeHash === EMPTY_CODE_HASH) return new Uint8Array(0)
      const code = codesByHash.get(account.codeHash)
      if (code === undefined) {
        const expected = `code with the hash ${account.codeHash}`
        throw new ProofError('CALL_STATE_MISSING', { path: 'codes', expected })
      }
      usedCodes.add(account.codeHash)
      return code
    },
  }

  /** Refuses whatever the execution did not read, because a bundle must not contain anything of unknown purpose. */
  function verifyAllUsed(): void {
    for (const [address, { isUsed, usedSlots, index }] of accounts) {
      if (!isUsed) throw unused(`answers[${index}]`, `account ${address}`)
      if (usedSlots.size < (answers[index]?.storageKeys.length ?? 0)) {
        throw unused(`answers[${index}].storageKeys`, 'a slot that is not read, or is there twice')
      }
    }
    if (usedCodes.size < codes.length) throw unused('codes', 'a code that is not read, or is there twice')
  }
  return { anchor, state, verifyAllUsed }
}

/** The first answer is verified as part of an `Evidence`. This translates the paths in its errors to those of the bundle. */
function inFirstAnswer<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    const { code, path, expected, found } = error
    const place = path.replace(/^answer/, 'answers[0].answer').replace(/^request/, 'answers[0]')
    throw new ProofError(code, { path: place, expected, found })
  }
}

/** Wraps an environment, and adds the names of the values that are read to `read`. */
export function watchEnvironment(environment: Environment, proven: bigint | null, read: Set<string>): Environment {
  const watched: Environment = Object.create(null)
  const timestamp = proven ?? environment.timestamp
  const values = { ...environment, ...(timestamp !== undefined && { timestamp }) }
  for (const [name, value] of Object.entries(values)) {
    if (name === 'blockHashes') continue
    const get = () => {
      read.add(name)
      return value
    }
    Object.defineProperty(watched, name, { get, enumerable: true })
  }
  const blockHashes: Record<string, Hex> = Object.create(null)
  for (const [number, hash] of Object.entries(environment.blockHashes ?? {})) {
    const get = () => {
      read.add(`blockHashes.${number}`)
      return hash
    }
    Object.defineProperty(blockHashes, number, { get, enumerable: true })
  }
  watched.blockHashes = blockHashes
  return watched
}

function verifyEnvironmentUsed({ blockHashes = {}, ...values }: Environment, read: ReadonlySet<string>): void {
  const names = [...Object.keys(values), ...Object.keys(blockHashes).map(number => `blockHashes.${number}`)]
  const name = names.find(name => !read.has(name))
  if (name !== undefined) throw unused(`environment.${name}`, 'a value that is not read')
}

const FIELDS = [
  ...['version', 'kind', 'scheme', 'rollup', 'l2BlockNumber', 'consensus', 'l1', 'chainId', 'hardfork'],
  ...['environment', 'call', 'answers', 'codes'],
] as const
const ENVIRONMENT_FIELDS = [
  ...['timestamp', 'gasLimit', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao', 'blockHashes'],
] as const

function decodeCallEvidence(bundle: unknown, maxGas: bigint) {
  const fields = reader.fields(bundle, FIELDS)
  const { version, kind, scheme, rollup, l2BlockNumber, consensus, l1 } = fields
  if (version === undefined) throw malformed('version', 'a version', 'none')
  if (version !== VERSION) throw new ProofError('EVIDENCE_VERSION', { path: 'version', expected: `${VERSION}` })
  if (kind !== 'call') throw malformed('kind', 'call', 'another')
  let parts = 0
  const count = (more: number) => {
    parts += more
    if (parts > MAX_BUNDLE_PARTS) throw malformed('', `at most ${MAX_BUNDLE_PARTS} accounts, slots and codes`, 'more')
  }
  return {
    /** The `Evidence` of the first answer. Verification adds the request and the answer. */
    evidence: { version, scheme, rollup, l2BlockNumber, consensus, l1 },
    chainId: atPath('chainId', () => decodeQuantity(fields.chainId, 256)),
    hardfork: atPath('hardfork', () => decodeHardfork(fields.hardfork)),
    environment: atPath('environment', () => decodeEnvironment(fields.environment, count)),
    call: atPath('call', () => decodeCall(fields.call, maxGas)),
    answers: atPath('answers', () => reader.items(fields.answers, count, item => decodeAnswer(item, count))),
    codes: atPath('codes', () => reader.items(fields.codes, count, code => decodeBytes(code))),
  }
}

const malformed = (path: string, expected: string, found: string) =>
  new ProofError('EVIDENCE_MALFORMED', { path, expected, found })

function decodeAnswer(item: unknown, count: (more: number) => void) {
  const { address, storageKeys, answer } = reader.fields(item, ['address', 'storageKeys', 'answer'])
  return {
    address: atPath('address', () => bytesToHex(reader.bytes(address, 20))),
    storageKeys: atPath('storageKeys', () =>
      reader.items(storageKeys, count, key => bytesToHex(reader.bytes(key, 32))),
    ),
    answer,
  }
}

function decodeCall(call: unknown, maxGas: bigint) {
  const { from, to, data, value, gas } = reader.fields(call, ['from', 'to', 'data', 'value', 'gas'])
  const decoded = {
    from: atPath('from', () => bytesToHex(reader.bytes(from, 20))),
    to: atPath('to', () => bytesToHex(reader.bytes(to, 20))),
    data: atPath('data', () => bytesToHex(decodeBytes(data))),
    value: atPath('value', () => decodeQuantity(value, 256)),
    gas: atPath('gas', () => decodeQuantity(gas, 64)),
  }
  if (decoded.gas > maxGas) throw malformed('gas', `at most ${maxGas}`, `${decoded.gas}`)
  return decoded
}

function decodeEnvironment(value: unknown, count: (more: number) => void): Environment {
  const fields = reader.fields(value, ENVIRONMENT_FIELDS)
  const environment: Environment = Object.create(null)
  for (const [name, bits] of [
    ['timestamp', 64],
    ['gasLimit', 64],
    ['baseFee', 256],
    ['blobBaseFee', 256],
  ] as const) {
    if (fields[name] !== undefined) environment[name] = atPath(name, () => decodeQuantity(fields[name], bits))
  }
  for (const [name, length] of [
    ['coinbase', 20],
    ['prevRandao', 32],
  ] as const) {
    if (fields[name] !== undefined)
      environment[name] = atPath(name, () => bytesToHex(reader.bytes(fields[name], length)))
  }
  const { blockHashes } = fields
  if (blockHashes !== undefined)
    environment.blockHashes = atPath('blockHashes', () => decodeBlockHashes(blockHashes, count))
  return environment
}

function decodeBlockHashes(value: unknown, count: (more: number) => void): Record<string, Hex> {
  const numbers = typeof value === 'object' && value !== null ? tryKeys(value) : null
  if (numbers === null) throw malformed('', 'an object', 'none')
  count(numbers.length)
  const wrong = numbers.find(number => !/^(0|[1-9][0-9]{0,19})$/.test(number))
  if (wrong !== undefined) throw malformed('', 'decimal numbers of blocks', excerpt(wrong))
  const hashes: Record<string, Hex> = Object.create(null)
  const fields = reader.fields(value, numbers)
  for (const number of numbers) hashes[number] = atPath(number, () => bytesToHex(reader.bytes(fields[number], 32)))
  return hashes
}

const tryKeys = (value: object): string[] | null => {
  try {
    return Object.keys(value)
  } catch {
    return null
  }
}

function decodeHardfork(value: unknown): Hardfork {
  const name = reader.string(value)
  const hardfork = HARDFORKS.find(known => known === name)
  if (hardfork === undefined) throw malformed('', HARDFORKS.join(', '), excerpt(name))
  return hardfork
}

function decodeQuantity(value: unknown, bits: number): bigint {
  const quantity = reader.string(value)
  if (quantity.length > 2 + bits / 4 || !/^0x(0|[1-9a-f][0-9a-f]*)$/.test(quantity)) {
    throw malformed('', `a quantity of at most ${bits / 8} bytes without leading zeros`, excerpt(quantity))
  }
  return BigInt(quantity)
}

/** Checks the length before decoding. */
function decodeBytes(value: unknown): Uint8Array {
  const hex = reader.string(value)
  const length = hexLength(hex)
  if (length > MAX_DATA_BYTES) throw malformed('', `at most ${MAX_DATA_BYTES} bytes`, `${length}`)
  return hexToBytes(hex, length)
}
