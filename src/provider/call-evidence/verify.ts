import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { excerpt, own, ProofError } from '../../base/errors.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { verifyHardfork } from '../../client/network/hardfork.ts'
import { verifySignal, verifyTimeout } from '../../client/transport/options.ts'
import { EMPTY_CODE_HASH } from '../../verify/anchor/code.ts'
import { type ProvenBlock, verifyBlock } from '../../verify/evidence/chain.ts'
import { type DecodedHeadClaim, decodeHeadClaim, HEAD_CLAIM, unlessFromBundle } from '../../verify/evidence/claim.ts'
import { decodeConsensus } from '../../verify/evidence/consensus.ts'
import type { EvidenceForm } from '../../verify/evidence/kind.ts'
import type { Trusted } from '../../verify/evidence/types.ts'
import { openBundle } from '../../verify/evidence/verify.ts'
import type { StateKind } from '../../verify/state/kind.ts'
import type { StateScheme } from '../../verify/state/types.ts'
import { safely } from '../../verify/verifier/safe.ts'
import { chainIdOf } from '../environment.ts'
import { isProviderError } from '../error.ts'
import { loadEvm } from '../evm-packages.ts'
import { type Execution, execute } from '../execute.ts'
import { CALL_GAS, DEFAULT_TIMEOUT } from '../limits.ts'
import { inPace, type Pace } from '../pace.ts'
import { noteReads } from '../state-reader.ts'
import { BODY_FIELDS, type DecodedCallEvidence, decodeCallEvidence } from './decode.ts'
import { provenIn, verifyEnvironmentUsed, verifyUnproven, watchEnvironment } from './environment.ts'
import { readBundle, verifyAnswers, verifyStateUsed } from './state.ts'
import type { CallClaim, CallOutcome, CallVerifyOptions, StatedCall, VerifiedCall } from './types.ts'

const CLAIM_FIELDS = [...HEAD_CLAIM, 'chainId', 'hardfork', 'call', 'maxGas']
const CALL_FIELDS = ['from', 'to', 'data', 'value', 'gas'] as const

/** Evidence of a call. Verifying it takes an EVM, and time: see {@link verifyCallEvidence}. */
const callEvidence: EvidenceForm<'call', DecodedCallEvidence, Wanted> = {
  name: 'call',
  layer: 'L2',
  fields: BODY_FIELDS,
  decodeClaim: claim => decodeCallClaim(claim as CallClaim<Trusted, StateScheme>),
  decodeBody: (field, { maxGas }) => decodeCallEvidence(field, maxGas),
  compare: verifyExpected,
}

/** Implements the function of the same name in `../call-evidence.ts`. */
export async function verifyCallEvidence(
  bundle: unknown,
  claim: CallClaim<Trusted, StateScheme>,
  options: CallVerifyOptions,
): Promise<VerifiedCall<Trusted, StateScheme>> {
  const wanted = callEvidence.decodeClaim(claim)
  const { signal, timeoutMs = DEFAULT_TIMEOUT } = readOptions('', options, ['signal', 'timeoutMs'])
  verifySignal(signal)
  verifyTimeout(timeoutMs)

  return inPace({ timeoutMs, signals: [signal] }, async pace => {
    const { head, body } = openBundle(callEvidence, bundle, wanted)
    const block = verifyBlock(head, await withConsensus(head.consensus, wanted.head, pace))
    await pace.pause()
    const outcome = await verifyExecution(body, wanted.head.l2.state, block, pace)
    // The claim decides which case it is.
    return { ...block, ...outcome } as VerifiedCall<Trusted, StateScheme>
  })
}

/** Verifies the state in a bundle, and executes the call on it. */
async function verifyExecution(body: DecodedCallEvidence, state: StateKind, block: ProvenBlock, pace: Pace) {
  const { call, chainId, hardfork, environment } = body
  const accounts = await verifyAnswers(body.answers, state, block.stateRoot, pace.pause)
  const proven = provenIn(block)
  verifyUnproven(environment, proven)
  const reads = noteReads(await readBundle(accounts, body.codes, pace.pause))
  const values = watchEnvironment(environment, proven)
  const packages = await loadEvm()
  const request = { ...call, gasPrice: 0n, maxGasPrice: 0n, accessList: [] }
  // Proven, or stated: the claim says it if nothing proves it.
  const blockNumber = block.l2BlockNumber as bigint
  const context = { chainId, hardfork, blockNumber, environment: values.environment }
  const execution = await execute(packages, reads.reader, request, call.gas, context, pace).catch(toCallError)
  verifyStateUsed(body, reads)
  verifyEnvironmentUsed(environment, values.read)
  const { gasUsed } = execution
  const hasCode = (accounts.get(call.to)?.account?.codeHash ?? EMPTY_CODE_HASH) !== EMPTY_CODE_HASH
  return { ...{ chainId, hardfork, environment, call, hasCode, gasUsed }, ...outcomeOf(execution) }
}

/** Validates the whole claim, so that a wrong one never looks like a fault of the bundle. */
function decodeCallClaim(claim: CallClaim<Trusted, StateScheme>) {
  const { chainId, hardfork, call, maxGas = CALL_GAS, ...about } = readOptions('', claim, CLAIM_FIELDS)
  const head = decodeHeadClaim(about, true)
  return {
    head,
    chainId: chainIdOf(head.rollup, chainId),
    hardfork: unlessFromBundle('hardfork', hardfork, verifyHardfork),
    maxGas: verifyUint('maxGas', maxGas, 64, 21_000n),
    call: own(call === 'fromBundle' ? {} : decodeStatedCall(call, maxGas)),
  }
}

type Wanted = ReturnType<typeof decodeCallClaim>

type CallParts = { readonly [Name in (typeof CALL_FIELDS)[number]]?: Hex | bigint | undefined }

function decodeStatedCall(call: StatedCall, maxGas: bigint): CallParts {
  const { from, to, data, value, gas } = readOptions('call', call, CALL_FIELDS)
  const bytes = (path: string, length?: number) => (hex: Hex) => bytesToHex(decodeArgument(path, hex, length))
  const quantity = (path: string, bits: number) => (number: bigint) => verifyUint(path, number, bits)
  const stated = {
    from: unlessFromBundle('call.from', from, bytes('call.from', 20)),
    to: unlessFromBundle('call.to', to, bytes('call.to', 20)),
    data: unlessFromBundle('call.data', data, bytes('call.data')),
    value: unlessFromBundle('call.value', value, quantity('call.value', 256)),
    gas: unlessFromBundle('call.gas', gas, quantity('call.gas', 64)),
  }
  if (stated.gas === undefined || stated.gas <= maxGas) return stated
  throw invalid('call.gas', `at most ${maxGas}, the maxGas`, stated.gas)
}

/** Refuses a body that differs from what the caller states. */
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
async function withConsensus(consensus: unknown, claim: DecodedHeadClaim, pace: Pace): Promise<DecodedHeadClaim> {
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
  // That nobody knows how the rollup would end the call is no fault of the bundle.
  if (!isProviderError(error) || error.reason === 'ROLLUP_DIFFERS') throw error
  if (error.reason === 'VALUE_UNPROVEN') {
    const { instruction } = error.data
    throw new ProofError('CALL_STATE_MISSING', { path: 'environment', expected: `the value of ${instruction}` })
  }
  const found = excerpt(error.message)
  throw new ProofError('EVIDENCE_MALFORMED', { path: 'call', expected: 'a call that can begin', found })
}
