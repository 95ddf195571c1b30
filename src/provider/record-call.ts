import type { Rollup } from '../anchor/rollup.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { createEvidence } from '../evidence/create.ts'
import { decodeArgument } from '../proof/claim.ts'
import { redactProofErrors } from '../rpc/diagnose.ts'
import { atEndpoint } from '../rpc/error.ts'
import { fetchAnswer, verifyClientOptions } from '../rpc/fetch.ts'
import { argumentInvalid, readOptions, verifyWhole } from '../rpc/options.ts'
import { type Provider, type SendProvider, toQuantity } from '../rpc/provider.ts'
import { type Recorded, type RecordOptions, recordEvidence } from '../rpc/record.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { createVerifier } from '../verifier/verifier.ts'
import { type CallEvidence, type VerifiedCall, verifyCallEvidence, watchEnvironment } from './call-evidence.ts'
import type { CallRequest } from './call-request.ts'
import {
  DEFAULT_HARDFORK,
  type Environment,
  type Hardfork,
  verifyBigint,
  verifyEnvironment,
  verifyHardfork,
} from './environment.ts'
import { loadEvm } from './evm-packages.ts'
import { execute } from './execute.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS, MAX_DATA_BYTES } from './limits.ts'
import { meterReads } from './metered-reader.ts'
import { createProvenState, EMPTY_CODE_HASH } from './proven-state.ts'
import type { StateReader } from './state-reader.ts'

/** What to record evidence of. */
export interface CallEvidenceRequest {
  /** The hash scheme of the rollup at the L2 block. */
  scheme: Scheme
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** Chain id of the rollup. */
  chainId: bigint
  /** What to execute. */
  call: {
    /** The caller, 20 bytes. Default: the zero address. */
    from?: Hex
    /** The contract, 20 bytes. */
    to: Hex
    /** At most 1 MiB. Default: empty. */
    data?: Hex
    /** In wei. Default: 0. */
    value?: bigint
    /** Gas limit of the transaction. Default: 50,000,000, which is also the maximum. */
    gas?: bigint
  }
  /** The last block of a finalization. Default: the newest one whose proof the L2 endpoint holds. */
  l2BlockNumber?: bigint
  /** The hard fork of the rollup at the L2 block. Default: `prague`. */
  hardfork?: Hardfork
  /**
   * Block values that no proof covers, as you state them. The bundle keeps them apart from what is proven. Your timestamp is
   * used only if L1 proves none. Default: none.
   */
  environment?: Environment
}

/** How to record. */
export interface CallRecordOptions extends Omit<RecordOptions, 'resumeFrom'> {
  /** Limit on the requests for the execution. Default: 1000. */
  maxRequests?: number
}

/** A bundle, and what it proves. */
export interface RecordedCall extends Pick<Recorded, 'l1BlockHashFrom'> {
  /** The verified bundle, as JSON. */
  bundle: CallEvidence
  /** What the bundle proves if you trust the L1 block hash, or the checkpoint. */
  evidence: Extract<VerifiedCall, { reach: 'beaconBlockRoot' | 'l1BlockHash' }>
}

const NOBODY: Hex = `0x${'0'.repeat(40)}`

/** Implements the function of the same name in `evidence.ts`. */
export async function recordCall(
  l1: Provider | SendProvider,
  l2: Provider | SendProvider,
  request: CallEvidenceRequest,
  options: CallRecordOptions = {},
): Promise<RecordedCall> {
  const wanted = verifyRequest(request)
  const how = verifyCallOptions(options)
  return redactProofErrors(() => recordWith(l1, l2, wanted, how), l1, l2)
}

const REQUEST_FIELDS = ['scheme', 'rollup', 'chainId', 'call', 'l2BlockNumber', 'hardfork', 'environment']

function verifyRequest(request: CallEvidenceRequest) {
  const own = readOptions('request', request, REQUEST_FIELDS)
  const { scheme, rollup, chainId, l2BlockNumber, hardfork = DEFAULT_HARDFORK } = own
  const {
    from = NOBODY,
    to,
    data = '0x',
    value = 0n,
    gas = CALL_GAS,
  } = readOptions('call', own.call, [...['from', 'to', 'data', 'value', 'gas']])
  verifyBigint('chainId', chainId, 1n, 256)
  verifyHardfork(hardfork)
  verifyBigint('call.value', value, 0n, 256)
  verifyBigint('call.gas', gas, 21_000n, 64)
  if (gas > CALL_GAS) throw argumentInvalid('call.gas', `at most ${CALL_GAS}`, gas)
  if (typeof data !== 'string' || data.length > 2 + 2 * MAX_DATA_BYTES || !/^0x(?:[0-9a-f]{2})*$/i.test(data)) {
    throw new ProofError('CLAIM_INVALID', { path: 'call.data', expected: 'hexadecimal of at most 1 MiB' })
  }
  const call: CallRequest = {
    from: bytesToHex(decodeArgument('call.from', from, 20)),
    to: bytesToHex(decodeArgument('call.to', to, 20)),
    data: `0x${data.slice(2).toLowerCase()}`,
    ...{ value, gas, gasPrice: 0n, maxGasPrice: 0n, accessList: [] },
  }
  return {
    scheme,
    rollup,
    chainId,
    call,
    gas,
    hardfork,
    l2BlockNumber,
    environment: verifyEnvironment(own.environment),
  }
}

const OPTIONS = [
  ...['method', 'maxKeysPerRequest', 'l1Block', 'beacon', 'maxFinalizations', 'maxRequests', 'onProgress', 'signal'],
]

/** `recordEvidence` validates the other options before it sends a request. */
function verifyCallOptions(options: CallRecordOptions) {
  const own = verifyClientOptions(options, OPTIONS)
  const { maxRequests = DEFAULT_MAX_REQUESTS } = own
  verifyWhole('maxRequests', maxRequests, 1)
  return Object.assign(own, { maxRequests })
}

async function recordWith(
  l1: Provider | SendProvider,
  l2: Provider | SendProvider,
  {
    scheme,
    rollup,
    chainId,
    call,
    gas,
    hardfork,
    l2BlockNumber: stated,
    environment,
  }: ReturnType<typeof verifyRequest>,
  { maxRequests, ...options }: ReturnType<typeof verifyCallOptions>,
): Promise<RecordedCall> {
  const { method, maxKeysPerRequest, signal, beacon } = options
  // Every call reads its sender, so the sender is the first answer. The anchor is recorded with it.
  const first = { scheme, rollup, address: call.from, ...(stated !== undefined && { l2BlockNumber: stated }) }
  const { bundle: anchor, evidence } = await recordEvidence(l1, l2, first, options)
  const { l2BlockNumber: block, stateRoot, finalizedTimestamp, l1Block } = evidence

  const source = { l2, block, stateRoot, method, maxKeysPerRequest }
  const proven = createProvenState({ ...source, scheme, verifier: createVerifier(scheme) })
  const meter = { l2, block, maxRequests, maxKeysPerRequest, prefetch: true }
  const { state, touched, codes } = noteReads(meterReads(proven, call, meter))
  const read = new Set<string>()
  const around = watchEnvironment(environment, finalizedTimestamp, read)
  await execute(await loadEvm(), state, call, gas, { chainId, hardfork, blockNumber: block, environment: around })

  const answers: CallEvidence['answers'] = []
  for (const [address, slots] of touched) {
    const storageKeys = [...slots]
    const fetching = { method, maxKeysPerRequest, ...(signal && { signal }) }
    const answer = await atEndpoint('L2', () => fetchAnswer(l2, { address, storageKeys, block }, fetching))
    const { answer: understood } = createEvidence({
      scheme,
      rollup,
      l2BlockNumber: block,
      address,
      storageKeys,
      answer,
    })
    answers.push({ address, storageKeys, answer: understood })
  }
  const { version, scheme: name, rollup: contract, l2BlockNumber, consensus, l1: way } = anchor
  const bundle: CallEvidence = {
    ...{ version, kind: 'call', scheme: name, rollup: contract, l2BlockNumber },
    ...(consensus && { consensus }),
    l1: way,
    chainId: toQuantity(chainId),
    hardfork,
    environment: spellEnvironment(environment, read, finalizedTimestamp !== null),
    call: {
      ...{ from: call.from, to: call.to ?? NOBODY, data: call.data },
      ...{ value: toQuantity(call.value), gas: toQuantity(gas) },
    },
    answers,
    codes: [...codes.values()].map(bytesToHex),
  }
  // The parts were verified one by one. This verifies the bundle as a whole.
  const trusted = beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  const claim = { scheme, rollup, trusted, chainId, hardfork, l2BlockNumber: block, call: { gas } }
  const verified = await verifyCallEvidence(bundle, claim)
  if (verified.reach === 'beaconBlockRoot') return { bundle, l1BlockHashFrom: 'beaconCheckpoint', evidence: verified }
  return {
    bundle,
    l1BlockHashFrom: 'l1Endpoint',
    evidence: { ...verified, l1Block, l2BlockNumber: block, reach: 'l1BlockHash' },
  }
}

/** Records what an execution reads: each account with its slots, and each code. */
function noteReads(reader: StateReader) {
  const touched = new Map<Hex, Set<Hex>>()
  const codes = new Map<Hex, Uint8Array>()
  async function read(address: Hex) {
    const account = await reader.getAccount(address)
    const slots = touched.get(address) ?? new Set()
    touched.set(address, slots)
    return { account, slots }
  }
  const state: StateReader = {
    getAccount: async address => (await read(address)).account,
    async getStorage(address, key) {
      const { account, slots } = await read(address)
      // Without storage, the account proof alone proves that every slot is zero.
      if (account?.hasStorage) slots.add(key)
      return reader.getStorage(address, key)
    },
    async getCode(address) {
      const codeHash = (await read(address)).account?.codeHash ?? EMPTY_CODE_HASH
      const code = await reader.getCode(address)
      if (codeHash !== EMPTY_CODE_HASH) codes.set(codeHash, code)
      return code
    },
  }
  return { state, touched, codes }
}

function spellEnvironment(
  environment: Environment,
  read: ReadonlySet<string>,
  isProven: boolean,
): CallEvidence['environment'] {
  const { blockHashes = {}, ...values } = environment
  const stated = Object.entries(values).filter(([name]) => read.has(name) && !(name === 'timestamp' && isProven))
  const hashes = Object.entries(blockHashes).filter(([number]) => read.has(`blockHashes.${number}`))
  return {
    ...Object.fromEntries(stated.map(([name, value]) => [name, typeof value === 'bigint' ? toQuantity(value) : value])),
    ...(hashes.length > 0 && { blockHashes: Object.fromEntries(hashes) }),
  }
}
