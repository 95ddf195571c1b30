import { invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex, hexLength } from '../../base/bytes.ts'
import { atPath, excerpt, own, ProofError, refusal } from '../../base/errors.ts'
import { bytesUpTo, hexOf, optional, unread } from '../../base/json/decoders.ts'
import type { FieldReader } from '../../base/json/reader.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'
import { HARDFORKS, type Hardfork, verifyHardfork } from '../../client/network/network.ts'
import { verifySignal, verifyTimeout } from '../../client/transport/waiting.ts'
import { EMPTY_CODE_HASH } from '../../verify/anchor/contract.ts'
import { decodeConsensus } from '../../verify/evidence/consensus.ts'
import { quantityOf, reader, unlessFromBundle } from '../../verify/evidence/fields.ts'
import { type DecodedHeadClaim, verifyNumberKnown } from '../../verify/evidence/head.ts'
import { decodeClaim, type EvidenceForm, headerOf, type ProvenBlock } from '../../verify/evidence/kind.ts'
import type { Trusted } from '../../verify/evidence/trusted.ts'
import { openBundle, verifyBlock } from '../../verify/evidence/verify.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { StateKind, StateScheme } from '../../verify/state/kind.ts'
import { safely } from '../../verify/verifier/safe.ts'
import { isProviderError } from '../error.ts'
import { type Execution, execute, FREE } from '../execute.ts'
import { CALL_GAS, DEFAULT_TIMEOUT, MAX_BUNDLE_PARTS, MAX_DATA_BYTES } from '../limits.ts'
import { chainIdOf, ENVIRONMENT_FIELDS, environmentIn, onlyGiven, readEnvironment } from '../options.ts'
import { inPace, type Pace } from '../pace.ts'
import { createStateReader, type HeldAccount, isProven, toProvenAccount } from '../proven-state.ts'
import type { CallClaim, CallOutcome, CallVerifyOptions, StatedCall, VerifiedCall } from './types.ts'

/** The state that a bundle proves. The reader throws `CALL_STATE_MISSING` for anything else. */
async function openState({ answers, codes }: DecodedCallEvidence, state: StateKind, stateRoot: Hex, { pause }: Pace) {
  const missing = (path: string, expected: string) => new ProofError('CALL_STATE_MISSING', { path, expected })
  const accounts = new Map<Hex, HeldAccount>()
  for (const [index, { address, storageKeys, answer }] of answers.entries()) {
    await pause()
    if (accounts.has(address)) throw unused(`answers[${index}]`, `a second answer for ${address}`)
    const verify = () => state.verify(answer, { stateRoot, address, storageKeys })
    accounts.set(address, toProvenAccount(atPath(`answers[${index}].answer`, verify), state.scheme))
  }
  const codesByHash = new Map<Hex, Uint8Array>()
  for (const code of codes) {
    await pause()
    codesByHash.set(bytesToHex(keccak256(code)), code)
  }
  return createStateReader({
    async read(address, key) {
      await pause()
      const known = accounts.get(address)
      if (known === undefined) throw missing('answers', `account ${address}`)
      if (!isProven(known, key))
        throw missing(`answers[${[...accounts.keys()].indexOf(address)}]`, `slot ${key} of ${address}`)
      return known
    },
    async readCode(codeHash) {
      const code = codesByHash.get(codeHash)
      if (code === undefined) throw missing('codes', `code with the hash ${codeHash}`)
      return code
    },
  })
}

/** Refuses whatever the execution did not read, or need not be stated: a bundle must not contain anything of unknown purpose. */
function verifyUsed({ answers, codes, environment }: DecodedCallEvidence, proven: object, reads: Execution['reads']) {
  for (const [index, { address, storageKeys }] of answers.entries()) {
    const slots = reads.slots.get(address)
    if (slots === undefined) throw unused(`answers[${index}]`, `account ${address}`)
    if (slots.size < storageKeys.length) {
      throw unused(`answers[${index}].storageKeys`, 'a slot that is not read, or is there twice')
    }
  }
  if (reads.codes.size < codes.length) throw unused('codes', 'a code that is not read, or is there twice')
  for (const name of Object.keys(environment)) {
    if (name in proven) throw unused(`environment.${name}`, 'a value beside the one that is proven')
    if (!reads.values.has(name)) throw unused(`environment.${name}`, 'a value that is not read')
  }
}

const unused = (path: string, found: string) => new ProofError('CALL_STATE_UNUSED', { path, found })

/** The values that the anchor of a call proves: those of the header, if L1 holds its hash, and otherwise the timestamp at most. */
export function provenIn(anchor: Pick<ProvenBlock, 'stateRoot' | 'finalizedTimestamp' | 'l2Block'>) {
  const header = headerOf(anchor)
  return onlyGiven(header ? environmentIn(header) : { timestamp: anchor.finalizedTimestamp })
}

const CALL_FIELDS = ['from', 'to', 'data', 'value', 'gas'] as const

/** Evidence of a call. Verifying it takes an EVM, and time: see {@link verifyCallEvidence}. */
const callEvidence: EvidenceForm<'call', 'L2', DecodedCallEvidence, Wanted> = {
  name: 'call',
  layer: 'L2',
  fields: ['chainId', 'hardfork', 'environment', 'call', 'answers', 'codes'],
  stated: ['chainId', 'hardfork', 'call'],
  decodeClaim: (stated, head) => decodeCallClaim(stated as CallClaim<Trusted, StateScheme>, head),
  decodeBody: decodeCallEvidence,
  compare: verifyExpected,
}

export async function verifyCallEvidence(
  bundle: unknown,
  claim: CallClaim<Trusted, StateScheme>,
  options: CallVerifyOptions,
): Promise<VerifiedCall<Trusted, StateScheme>> {
  const wanted = decodeClaim(callEvidence, claim)
  const { signal, timeoutMs = DEFAULT_TIMEOUT } = readOptions('', options, ['signal', 'timeoutMs'])
  verifySignal(signal)
  verifyTimeout(timeoutMs)

  return inPace({ timeoutMs, signals: [signal] }, async pace => {
    const { head, body } = openBundle(callEvidence, bundle, wanted)
    const block = verifyBlock(head, await withConsensus(head.consensus, wanted.head, pace))
    await pace.pause()
    const outcome = await verifyExecution(body, wanted.head.l2.scheme, block, pace)
    // The claim decides which case it is.
    return { ...block, ...outcome } as VerifiedCall<Trusted, StateScheme>
  })
}

async function verifyExecution(body: DecodedCallEvidence, state: StateKind, block: ProvenBlock, pace: Pace) {
  const { call, chainId, hardfork, environment } = body
  const held = await openState(body, state, block.stateRoot, pace)
  const proven = provenIn(block)
  // Proven, or stated: the claim says it if nothing proves it.
  const blockNumber = block.l2BlockNumber as bigint
  const context = { chainId, hardfork, blockNumber, environment: onlyGiven(environment, proven) }
  const execution = await execute(held, { ...call, ...FREE }, call.gas, context, pace).catch(toCallError)
  verifyUsed(body, proven, execution.reads)
  const target = await held.getAccount(call.to)
  const hasCode = (target?.codeHash ?? EMPTY_CODE_HASH) !== EMPTY_CODE_HASH
  return { chainId, hardfork, environment, call, hasCode, gasUsed: execution.gasUsed, ...outcomeOf(execution) }
}

/** Validates the whole claim, so that a wrong one never looks like a fault of the bundle. */
function decodeCallClaim({ chainId, hardfork, call }: CallClaim<Trusted, StateScheme>, head: DecodedHeadClaim<'L2'>) {
  verifyNumberKnown(head)
  return {
    head,
    chainId: chainIdOf(head.rollup, chainId),
    hardfork: unlessFromBundle('hardfork', hardfork, verifyHardfork),
    call: own<Partial<ReturnType<typeof decodeStatedCall>>>(call === 'fromBundle' ? {} : decodeStatedCall(call)),
  }
}

type Wanted = ReturnType<typeof decodeCallClaim>

/** What is left to the bundle is undefined. @throws ArgumentError */
export function decodeStatedCall(call: StatedCall) {
  const { from, to, data, value, gas } = readOptions('call', call, CALL_FIELDS)
  const bytes = (path: string, length?: number) => (hex: Hex) => readHex(path, hex, length)
  const quantity = (path: string, bits: number) => (number: bigint) => verifyUint(path, number, bits)
  const stated = {
    from: unlessFromBundle('call.from', from, bytes('call.from', 20)),
    to: unlessFromBundle('call.to', to, bytes('call.to', 20)),
    data: unlessFromBundle('call.data', data, bytes('call.data')),
    value: unlessFromBundle('call.value', value, quantity('call.value', 256)),
    gas: unlessFromBundle('call.gas', gas, quantity('call.gas', 64)),
  }
  if (hexLength(stated.data ?? '0x') > MAX_DATA_BYTES) throw invalid('call.data', 'at most 1 MiB', data)
  if ((stated.gas ?? 0n) > CALL_GAS) throw invalid('call.gas', `at most ${CALL_GAS}`, gas)
  return stated
}

function verifyExpected({ chainId, hardfork, call }: DecodedCallEvidence, wanted: Wanted): void {
  const compare = (path: string, expected: string | bigint | undefined, found: string | bigint) => {
    if (expected === undefined || expected === found) return
    throw new ProofError('CALL_MISMATCH', { path, expected: excerpt(`${expected}`), found: excerpt(`${found}`) })
  }
  compare('chainId', wanted.chainId, chainId)
  compare('hardfork', wanted.hardfork, hardfork)
  for (const name of CALL_FIELDS) compare(`call.${name}`, wanted.call[name], call[name])
}

/** The claim, which then knows the outcome of the consensus part: its hundreds of signatures are verified here, with pauses. */
async function withConsensus(consensus: unknown, claim: DecodedHeadClaim<'L2'>, pace: Pace) {
  const { root, beaconBlock } = claim.trusted
  const inSteps = beaconBlock?.verifyConsensus.inSteps
  if (beaconBlock === null || inSteps === undefined || consensus === undefined) return claim
  const outcome = await safely(async () => {
    const { network: _, ...answers } = decodeConsensus(consensus)
    const steps = inSteps(answers, root)
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      await pace.pause()
    }
  })
  const verifyConsensus = () => {
    if (outcome.ok) return outcome.value
    throw outcome.error
  }
  return { ...claim, trusted: { ...claim.trusted, beaconBlock: { ...beaconBlock, verifyConsensus } } }
}

function outcomeOf({ failure, returnData }: Execution): CallOutcome {
  if (failure === null) return { outcome: 'returned', returnData }
  return failure === 'revert' ? { outcome: 'reverted', revertData: returnData } : { outcome: 'failed' }
}

/** A value that the bundle does not state is reported as missing, like an account that it does not prove. */
function toCallError(error: unknown): never {
  if (isProviderError(error) && error.reason === 'VALUE_UNPROVEN') {
    const { instruction } = error.data
    throw new ProofError('CALL_STATE_MISSING', { path: 'environment', expected: `the value of ${instruction}` })
  }
  // That the EVM is not installed, or that nobody knows how the rollup would end the call, is no fault of the bundle.
  if (!isProviderError(error) || error.reason !== 'EXECUTION_FAILED') throw error
  const found = excerpt(error.message)
  throw new ProofError('EVIDENCE_MALFORMED', { path: 'call', expected: 'a call that can begin', found })
}

/** The body of a bundle, with its own fields checked. The proofs in it are not read yet. */
type DecodedCallEvidence = ReturnType<typeof decodeCallEvidence>

function decodeCallEvidence(field: FieldReader) {
  let parts = 0
  const count = (more: number) => {
    parts += more
    if (parts > MAX_BUNDLE_PARTS) throw malformed(`at most ${MAX_BUNDLE_PARTS} accounts, slots and codes`, 'more')
  }
  return {
    chainId: field('chainId', quantityOf(256)),
    hardfork: field('hardfork', decodeHardfork),
    environment: field('environment', decodeEnvironment),
    call: field('call', decodeCall),
    answers: field('answers', list => reader.items(list, count, item => decodeAnswer(item, count))),
    codes: field('codes', list => reader.items(list, count, decodeBytes)),
  }
}

const malformed = (expected: string, found: string) => refusal('EVIDENCE_MALFORMED', expected, found)

function decodeAnswer(item: unknown, count: (more: number) => void) {
  const field = reader.fieldsOf(item, ['address', 'storageKeys', 'answer'])
  return {
    address: field('address', hexOf(reader, 20)),
    storageKeys: field('storageKeys', keys => reader.items(keys, count, hexOf(reader, 32))),
    answer: field('answer', unread),
  }
}

function decodeCall(call: unknown) {
  const field = reader.fieldsOf(call, CALL_FIELDS)
  return {
    from: field('from', hexOf(reader, 20)),
    to: field('to', hexOf(reader, 20)),
    data: field('data', data => bytesToHex(decodeBytes(data))),
    value: field('value', quantityOf(256)),
    gas: field('gas', value => {
      const gas = quantityOf(64)(value)
      if (gas > CALL_GAS) throw malformed(`at most ${CALL_GAS}`, `${gas}`)
      return gas
    }),
  }
}

function decodeEnvironment(environment: unknown) {
  const field = reader.fieldsOf(environment, ENVIRONMENT_FIELDS)
  return readEnvironment(
    (name, bits) => field(name, optional(quantityOf(bits))),
    (name, length) => field(name, optional(hexOf(reader, length))),
  )
}

function decodeHardfork(value: unknown): Hardfork {
  const name = reader.string(value)
  const hardfork = HARDFORKS.find(known => known === name)
  if (hardfork === undefined) throw malformed(HARDFORKS.join(', '), excerpt(name))
  return hardfork
}

const decodeBytes = /* @__PURE__ */ bytesUpTo(reader, MAX_DATA_BYTES, 'EVIDENCE_MALFORMED')
