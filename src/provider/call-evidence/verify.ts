import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, excerpt, isProofError, own, ProofError } from '../../base/errors.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { verifySignal, verifyTimeout } from '../../client/transport/options.ts'
import { type DecodedStateClaim, decodeStateClaim, unlessFromBundle } from '../../verify/evidence/claim.ts'
import { decodeConsensus } from '../../verify/evidence/consensus.ts'
import type { Trusted } from '../../verify/evidence/types.ts'
import { verifyDecoded } from '../../verify/evidence/verify.ts'
import type { StateScheme } from '../../verify/state/types.ts'
import { safely } from '../../verify/verifier/safe.ts'
import { chainIdOf, verifyHardfork } from '../environment.ts'
import { isProviderError } from '../error.ts'
import { loadEvm } from '../evm-packages.ts'
import { type Execution, execute } from '../execute.ts'
import { CALL_GAS, DEFAULT_TIMEOUT } from '../limits.ts'
import { inPace, type Pace } from '../pace.ts'
import { noteReads } from '../state-reader.ts'
import { type DecodedCallEvidence, decodeCallEvidence } from './decode.ts'
import { provenIn, verifyEnvironmentUsed, verifyUnproven, watchEnvironment } from './environment.ts'
import { readBundle, verifyAnswers, verifyStateUsed } from './state.ts'
import type { CallAnchor, CallClaim, CallOutcome, CallVerifyOptions, StatedCall, VerifiedCall } from './types.ts'

const CLAIM_FIELDS = ['scheme', 'rollup', 'trusted', 'chainId', 'l2BlockNumber', 'hardfork', 'call', 'maxGas']
const CALL_FIELDS = ['from', 'to', 'data', 'value', 'gas'] as const

/** Implements the function of the same name in `../call-evidence.ts`. */
export async function verifyCallEvidence(
  bundle: unknown,
  claim: CallClaim<Trusted, StateScheme>,
  options: CallVerifyOptions,
): Promise<VerifiedCall<Trusted, StateScheme>> {
  const wanted = decodeCallClaim(claim)
  const { signal, timeoutMs = DEFAULT_TIMEOUT } = readOptions('', options, ['signal', 'timeoutMs'])
  verifySignal(signal)
  verifyTimeout(timeoutMs)

  return inPace({ timeoutMs, signals: [signal] }, async pace => {
    const decoded = decodeCallEvidence(bundle, wanted.maxGas)
    verifyExpected(decoded, wanted)
    const anchor = verifyAnchor(decoded, await withConsensus(decoded.anchor.consensus, wanted.evidence, pace))
    await pace.pause()
    return { ...anchor, ...(await verifyExecution(decoded, wanted.evidence.kind.scheme, anchor, pace)) }
  })
}

/** Verifies the state in a bundle, and executes the call on it. */
async function verifyExecution(decoded: DecodedCallEvidence, scheme: StateScheme, anchor: AnyAnchor, pace: Pace) {
  const { call, chainId, hardfork, environment } = decoded
  const { stateRoot, l2BlockNumber: blockNumber } = anchor
  const accounts = await verifyAnswers(decoded.answers, scheme, stateRoot, pace.pause)
  const proven = provenIn(anchor)
  verifyUnproven(environment, proven)
  const state = noteReads(await readBundle(accounts, decoded.codes, pace.pause))
  const values = watchEnvironment(environment, proven)
  const packages = await loadEvm()
  const request = { ...call, gasPrice: 0n, maxGasPrice: 0n, accessList: [] }
  const context = { chainId, hardfork, blockNumber, environment: values.environment }
  const execution = await execute(packages, state.reader, request, call.gas, context, pace).catch(toCallError)
  verifyStateUsed(decoded, state)
  verifyEnvironmentUsed(environment, values.read)
  const { gasUsed } = execution
  return { ...{ chainId, hardfork, environment, call, gasUsed }, ...outcomeOf(execution) }
}

/** Validates the whole claim, so that a wrong one never looks like a fault of the bundle. */
function decodeCallClaim(claim: CallClaim<Trusted, StateScheme>) {
  const { chainId, hardfork, call, maxGas = CALL_GAS, ...about } = readOptions('', claim, CLAIM_FIELDS)
  const evidence = decodeStateClaim({ ...about, address: 'fromBundle', storageKeys: 'fromBundle' })
  if (evidence.trusted.kind === 'l2StateRoot' && evidence.l2BlockNumber === undefined) {
    throw new ArgumentError({ path: 'l2BlockNumber', expected: 'the number of the block of this state root' })
  }
  return {
    evidence,
    chainId: chainIdOf(evidence.rollup, chainId),
    hardfork: unlessFromBundle('hardfork', hardfork, verifyHardfork),
    maxGas: verifyUint('maxGas', maxGas, 64, 21_000n),
    call: own(call === 'fromBundle' ? {} : decodeStatedCall(call, maxGas)),
  }
}

type AnyAnchor = CallAnchor<Trusted, StateScheme>

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

/** Refuses a bundle that differs from what the caller states. `verifyAnchor` compares the rest. */
function verifyExpected({ chainId, hardfork, call }: DecodedCallEvidence, wanted: Wanted): void {
  const compare = (path: string, expected: string | bigint | undefined, found: string | bigint) => {
    if (expected === undefined || expected === found) return
    throw new ProofError('CALL_MISMATCH', { path, expected: excerpt(`${expected}`), found: excerpt(`${found}`) })
  }
  compare('chainId', wanted.chainId, chainId)
  compare('hardfork', wanted.hardfork, hardfork)
  for (const name of CALL_FIELDS) compare(`call.${name}`, wanted.call[name], call[name])
}

type Wanted = ReturnType<typeof decodeCallClaim>

/** The claim, which then knows the outcome of the consensus part: its hundreds of signatures are verified here, with pauses. */
async function withConsensus(consensus: unknown, claim: DecodedStateClaim, pace: Pace): Promise<DecodedStateClaim> {
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

/** Proves the state root: the first answer of a call is also that of an `EvidenceBundle`. */
function verifyAnchor({ anchor, answers: [first] }: DecodedCallEvidence, claim: DecodedStateClaim): AnyAnchor {
  if (first === undefined) throw new ProofError('CALL_STATE_MISSING', { path: 'answers', expected: 'at least one' })
  try {
    const proven = verifyDecoded({ ...anchor, kind: 'state', request: first, answer: first.answer }, claim)
    const { account: _, storage: __, address: ___, ...rest } = proven
    // The claim states the number if the bundle does not prove it.
    return rest as AnyAnchor
  } catch (error) {
    if (!isProofError(error)) throw error
    // The paths of that `EvidenceBundle`, as paths of this one.
    const path = error.path.replace(/^answer/, 'answers[0].answer').replace(/^request/, 'answers[0]')
    throw new ProofError(error.code, { path, expected: error.expected, found: error.found })
  }
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
