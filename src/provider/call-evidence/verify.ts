import { readOptions } from '../../arguments.ts'
import { ArgumentError, excerpt, isProofError, ProofError } from '../../errors.ts'
import type { VerifiedEvidence } from '../../evidence/types.ts'
import { verifyEvidence } from '../../evidence/verify.ts'
import { hashSchemeOf } from '../../scheme/scheme.ts'
import { DEFAULT_HARDFORK, verifyBigint } from '../environment.ts'
import { isProviderError } from '../error.ts'
import { loadEvm } from '../evm-packages.ts'
import { execute } from '../execute.ts'
import { CALL_GAS } from '../limits.ts'
import { noteReads } from '../state-reader.ts'
import { type DecodedCallEvidence, decodeCallEvidence } from './decode.ts'
import { verifyEnvironmentUsed, watchEnvironment } from './environment.ts'
import { readBundle, unused, verifyAnswers, verifyStateUsed } from './state.ts'
import type { CallAnchor, CallClaim, VerifiedCall } from './types.ts'

const CLAIM_FIELDS = ['scheme', 'rollup', 'trusted', 'chainId', 'l2BlockNumber', 'hardfork', 'call', 'maxGas']

/** Implements the function of the same name in `../call-evidence.ts`. */
export async function verifyCallEvidence(bundle: unknown, claim: CallClaim): Promise<VerifiedCall> {
  const { scheme, chainId, maxGas = CALL_GAS } = readOptions('', claim, CLAIM_FIELDS)
  hashSchemeOf(scheme)
  verifyBigint('chainId', chainId, 1n, 256)
  verifyBigint('maxGas', maxGas, 21_000n, 64)
  const decoded = decodeCallEvidence(bundle, maxGas)
  verifyExpected(decoded, claim)
  const { call, hardfork, environment } = decoded
  const anchor = verifyAnchor(decoded, claim)
  const accounts = verifyAnswers(decoded.answers, scheme, anchor.stateRoot)
  const { finalizedTimestamp, l2BlockNumber: blockNumber } = anchor
  if (blockNumber === undefined) {
    const expected = 'the number of the block of this state root'
    throw new ArgumentError({ path: 'l2BlockNumber', expected })
  }
  if (finalizedTimestamp !== undefined && environment.timestamp !== undefined) {
    throw unused('environment.timestamp', 'a timestamp beside the one that L1 proves')
  }
  const state = noteReads(readBundle(accounts, decoded.codes))
  const values = watchEnvironment(environment, finalizedTimestamp)
  const packages = await loadEvm()
  const request = { ...call, gasPrice: 0n, maxGasPrice: 0n, accessList: [] }
  const context = { chainId, hardfork, blockNumber, environment: values.environment }
  const execution = await execute(packages, state.reader, request, call.gas, context).catch(toCallError)
  verifyStateUsed(decoded, state)
  verifyEnvironmentUsed(environment, values.read)
  const { failure, returnData, gasUsed } = execution
  return {
    ...anchor,
    ...{ chainId, hardfork, environment, call, returnData, gasUsed },
    outcome: failure === null ? 'returned' : failure === 'revert' ? 'reverted' : 'failed',
  }
}

/** Refuses a bundle that differs from what the caller states. `verifyEvidence` compares the rest. */
function verifyExpected({ chainId, hardfork, call }: DecodedCallEvidence, claim: CallClaim): void {
  const { from, to, data, value, gas = CALL_GAS } = claim.call ?? {}
  const compare = (path: string, expected: unknown, found: unknown) => {
    if (expected === undefined || expected === found) return
    throw new ProofError('CALL_MISMATCH', { path, expected: excerpt(`${expected}`), found: excerpt(`${found}`) })
  }
  const lower = (text: unknown) => (typeof text === 'string' ? text.toLowerCase() : text)
  compare('chainId', claim.chainId, chainId)
  compare('hardfork', claim.hardfork ?? DEFAULT_HARDFORK, hardfork)
  compare('call.from', lower(from), call.from)
  compare('call.to', lower(to), call.to)
  compare('call.data', lower(data), call.data)
  compare('call.value', value, call.value)
  compare('call.gas', gas, call.gas)
}

/** Proves the state root: the first answer of a call is also that of an `Evidence`. */
function verifyAnchor({ anchor, answers: [first] }: DecodedCallEvidence, claim: CallClaim): CallAnchor {
  if (first === undefined) throw new ProofError('CALL_STATE_MISSING', { path: 'answers', expected: 'at least one' })
  const { scheme, rollup, trusted, l2BlockNumber = 'fromBundle' } = claim
  const stated = { scheme, rollup, trusted, l2BlockNumber, address: 'fromBundle', storageKeys: 'fromBundle' } as const
  try {
    const proven: VerifiedEvidence = verifyEvidence(
      { ...anchor, kind: 'state', request: first, answer: first.answer },
      stated,
    )
    const { account: _, storage: __, address: ___, ...rest } = proven
    return rest
  } catch (error) {
    if (!isProofError(error)) throw error
    // The paths of that `Evidence`, as paths of the bundle.
    const path = error.path.replace(/^answer/, 'answers[0].answer').replace(/^request/, 'answers[0]')
    throw new ProofError(error.code, { path, expected: error.expected, found: error.found })
  }
}

/** A value that the bundle does not state is reported as missing, like an account that it does not prove. */
function toCallError(error: unknown): never {
  if (!isProviderError(error)) throw error
  if (error.reason === 'VALUE_UNPROVEN') {
    const instruction: unknown = Reflect.get(Object(error.data), 'instruction')
    throw new ProofError('CALL_STATE_MISSING', { path: 'environment', expected: `the value of ${instruction}` })
  }
  const found = excerpt(error.message)
  throw new ProofError('EVIDENCE_MALFORMED', { path: 'call', expected: 'a call that can begin', found })
}
