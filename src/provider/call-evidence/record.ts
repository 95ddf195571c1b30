import { decodeArgument, invalid, readOptions } from '../../arguments.ts'
import { bytesToHex, type Hex } from '../../bytes.ts'
import { ArgumentError } from '../../errors.ts'
import { createBundle } from '../../evidence/create.ts'
import { encodeQuantity, lowerCase } from '../../hex.ts'
import { redactProofErrors } from '../../rpc/diagnose.ts'
import { type Endpoints as OpenEndpoints, openEndpoints } from '../../rpc/endpoints.ts'
import { fetchAnswer, verifyClientOptions } from '../../rpc/fetch.ts'
import { verifyWhole } from '../../rpc/options.ts'
import { recordEvidence } from '../../rpc/record.ts'
import { createVerifier } from '../../verifier/verifier.ts'
import { type CallRequest, NOBODY } from '../call-request.ts'
import { DEFAULT_HARDFORK, verifyBigint, verifyEnvironment, verifyHardfork } from '../environment.ts'
import { loadEvm } from '../evm-packages.ts'
import { execute } from '../execute.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS, MAX_DATA_BYTES } from '../limits.ts'
import { meterReads } from '../metered-reader.ts'
import type { VerifiedProviderOptions } from '../options.ts'
import { createProvenState } from '../proven-state.ts'
import { noteReads } from '../state-reader.ts'
import { encodeEnvironment, watchEnvironment } from './environment.ts'
import type { CallBundle, CallEvidenceRequest, CallRecordOptions, RecordedCall } from './types.ts'
import { verifyCallEvidence } from './verify.ts'

type Endpoints = Pick<VerifiedProviderOptions, 'l1' | 'l2'>

/** Implements the function of the same name in `../call-evidence.ts`. */
export async function recordCall(
  endpoints: Endpoints,
  request: CallEvidenceRequest,
  options: CallRecordOptions,
): Promise<RecordedCall> {
  const l1 = openEndpoints('l1', endpoints.l1, 'L1')
  const l2 = openEndpoints('l2', endpoints.l2, 'L2')
  const wanted = verifyRequest(request)
  const how = verifyCallOptions(options)
  return redactProofErrors(() => recordVerified(l1, l2, wanted, how), ...l1.providers, ...l2.providers)
}

const REQUEST_FIELDS = ['scheme', 'rollup', 'chainId', 'call', 'l2BlockNumber', 'hardfork', 'environment']

function verifyRequest(request: CallEvidenceRequest) {
  const own = readOptions('', request, REQUEST_FIELDS)
  const { scheme, rollup, chainId, l2BlockNumber, hardfork = DEFAULT_HARDFORK } = own
  const stated = readOptions('call', own.call, ['from', 'to', 'data', 'value', 'gas'])
  const { from = NOBODY, to, data = '0x', value = 0n, gas = CALL_GAS } = stated
  verifyBigint('chainId', chainId, 1n, 256)
  verifyHardfork(hardfork)
  verifyBigint('call.value', value, 0n, 256)
  verifyBigint('call.gas', gas, 21_000n, 64)
  if (gas > CALL_GAS) throw invalid('call.gas', `at most ${CALL_GAS}`, gas)
  if (typeof data !== 'string' || data.length > 2 + 2 * MAX_DATA_BYTES || !/^0x(?:[0-9a-f]{2})*$/i.test(data)) {
    throw new ArgumentError({ path: 'call.data', expected: 'hexadecimal of at most 1 MiB' })
  }
  const call = {
    from: bytesToHex(decodeArgument('call.from', from, 20)),
    to: bytesToHex(decodeArgument('call.to', to, 20)),
    data: lowerCase(data),
    ...{ value, gas, gasPrice: 0n, maxGasPrice: 0n, accessList: [] },
  } satisfies CallRequest
  return { scheme, rollup, chainId, call, hardfork, l2BlockNumber, environment: verifyEnvironment(own.environment) }
}

const OPTIONS = ['l1BlockNumber', 'beacon', 'maxFinalizations', 'maxRequests', 'onProgress', 'signal']

/** `recordEvidence` validates the other options before it sends a request. */
function verifyCallOptions(options: CallRecordOptions) {
  const own = verifyClientOptions(options, OPTIONS)
  const { maxRequests = DEFAULT_MAX_REQUESTS } = own
  verifyWhole('maxRequests', maxRequests, 1)
  return Object.assign(own, { maxRequests })
}

type Wanted = ReturnType<typeof verifyRequest>
type How = ReturnType<typeof verifyCallOptions>

async function recordVerified(
  l1: OpenEndpoints,
  l2: OpenEndpoints,
  wanted: Wanted,
  { maxRequests, ...how }: How,
): Promise<RecordedCall> {
  const { scheme, rollup, chainId, call, hardfork, l2BlockNumber, environment } = wanted
  const { method, maxKeysPerRequest, beacon } = how
  // Every call reads its sender, so the sender is the first answer. The anchor is recorded with it.
  const first = { scheme, rollup, address: call.from, ...(l2BlockNumber !== undefined && { l2BlockNumber }) }
  const { bundle: anchor, verified: evidence } = await recordEvidence(l1.providers, l2.providers, first, how)
  const { l2BlockNumber: block, stateRoot, finalizedTimestamp, l1Block } = evidence

  const source = { l2, block, stateRoot, method, maxKeysPerRequest, scheme, verifier: createVerifier(scheme) }
  const meter = { l2, block, maxRequests, maxKeysPerRequest, prefetch: true }
  const state = noteReads(meterReads(createProvenState(source), call, meter))
  const values = watchEnvironment(environment, finalizedTimestamp)
  const context = { chainId, hardfork, blockNumber: block, environment: values.environment }
  await execute(await loadEvm(), state.reader, call, call.gas, context)

  const { version, kind: _, request: __, answer: ___, ...proven } = anchor
  const bundle: CallBundle = {
    ...{ version, kind: 'call', ...proven },
    chainId: encodeQuantity(chainId),
    hardfork,
    environment: encodeEnvironment(environment, values.read, finalizedTimestamp !== undefined),
    call: {
      ...{ from: call.from, to: call.to, data: call.data },
      ...{ value: encodeQuantity(call.value), gas: encodeQuantity(call.gas) },
    },
    answers: await fetchAnswers(l2, wanted, how, { block, stateRoot }, state.touched),
    codes: [...state.codes.values()].map(bytesToHex),
  }
  // The parts were verified one by one. This verifies the bundle as a whole.
  const trusted = beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  const claim = { scheme, rollup, trusted, chainId, hardfork, l2BlockNumber: block, call: { gas: call.gas } }
  const verified = await verifyCallEvidence(bundle, claim)
  if (verified.trustedInput === 'beaconBlockRoot') return { bundle, l1BlockHashFrom: 'beaconCheckpoint', verified }
  return {
    bundle,
    l1BlockHashFrom: 'l1Endpoint',
    verified: { ...verified, l1Block, l2BlockNumber: block, trustedInput: 'l1BlockHash' },
  }
}

/** The answers for what the execution read, known fields only. */
async function fetchAnswers(
  l2: OpenEndpoints,
  { scheme, rollup }: Wanted,
  { method, maxKeysPerRequest, signal }: Pick<How, 'method' | 'maxKeysPerRequest' | 'signal'>,
  { block, stateRoot }: { block: bigint; stateRoot: Hex },
  touched: ReadonlyMap<Hex, ReadonlySet<Hex>>,
): Promise<CallBundle['answers']> {
  const answers: CallBundle['answers'] = []
  for (const [address, slots] of touched) {
    const storageKeys = [...slots]
    const fetching = { method, maxKeysPerRequest, signal, trusted: { scheme, stateRoot } }
    const answer = await fetchAnswer(l2, { address, storageKeys, l2BlockNumber: block }, fetching)
    const parts = { scheme, rollup, l2BlockNumber: block, address, storageKeys, answer }
    answers.push({ address, storageKeys, answer: createBundle(parts).answer })
  }
  return answers
}
