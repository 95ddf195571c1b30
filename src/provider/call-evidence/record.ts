import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath } from '../../base/errors.ts'
import { encodeQuantity, lowerCase } from '../../base/hex.ts'
import { readOptions, verifyUint, verifyWhole } from '../../base/options.ts'
import { readNetwork } from '../../client/network/network.ts'
import { recordEvidence } from '../../client/record/record.ts'
import { openEndpoints } from '../../client/sources/endpoints.ts'
import { fetchState, verifyClientOptions } from '../../client/sources/fetch.ts'
import { redactProofErrors } from '../../client/transport/diagnose.ts'
import { CONTENTS_AT_ONCE } from '../../client/transport/limits.ts'
import { verifySignal, verifyTimeout } from '../../client/transport/options.ts'
import { inAdvance } from '../../client/transport/waiting.ts'
import { createBundle } from '../../verify/evidence/kinds/state.ts'
import { createStateVerifier, decidedKind, type StateClaim } from '../../verify/state/kind.ts'
import type { StateScheme } from '../../verify/state/types.ts'
import type { CallRequest } from '../call-request.ts'
import { chainIdOf, verifyEnvironment } from '../environment.ts'
import { loadEvm } from '../evm-packages.ts'
import { execute } from '../execute.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS, DEFAULT_TIMEOUT, MAX_DATA_BYTES } from '../limits.ts'
import { meterReads } from '../metered-reader.ts'
import { endpointsOf } from '../options.ts'
import { inPace } from '../pace.ts'
import { createKnownState, createProvenState } from '../proven-state.ts'
import { guessHash, type Rehearse } from '../rehearsal.ts'
import { NOBODY, noteReads } from '../state-reader.ts'
import { encodeEnvironment, provenIn, watchEnvironment } from './state.ts'
import type { CallBundle, CallRecordOptions, RecordedCall } from './types.ts'
import { verifyCallEvidence } from './verify.ts'

const OPTIONS = [
  ...['l1', 'l2', 'network', 'call', 'l2BlockNumber', 'environment', 'maxRequests'],
  'timeoutMs',
  ...['maxKeysPerRequest', 'l1BlockNumber', 'beacon', 'onProgress', 'signal'],
]

export async function recordCall(options: CallRecordOptions): Promise<RecordedCall> {
  const wanted = readRecordOptions(options)
  return redactProofErrors(() => recordVerified(wanted), ...wanted.l1.sources, ...wanted.l2.sources)
}

type Wanted = ReturnType<typeof readRecordOptions>

/** `recordEvidence` validates the `others` before it sends a request. */
function readRecordOptions(options: CallRecordOptions) {
  const own = readOptions('', options, OPTIONS)
  const { network, l2BlockNumber, maxRequests = DEFAULT_MAX_REQUESTS, signal } = own
  const { timeoutMs = DEFAULT_TIMEOUT } = own
  const { l1BlockNumber, beacon, onProgress } = own
  const { rollup, schemeAt, hardfork } = readNetwork(network)
  const chainId = atPath('network', () => chainIdOf(rollup))
  verifySignal(signal)
  return {
    l1: openEndpoints('l1', own.l1, 'L1', { signal }),
    l2: endpointsOf(chainId, openEndpoints('l2', own.l2, 'L2', { signal }), signal),
    ...{ network, schemeAt, rollup, chainId, l2BlockNumber, beacon, signal },
    call: decodeCall(own.call),
    hardfork,
    environment: verifyEnvironment(own.environment),
    maxRequests: verifyWhole('maxRequests', maxRequests, 1),
    timeoutMs: verifyTimeout(timeoutMs),
    how: verifyClientOptions({ rollup, maxKeysPerRequest: own.maxKeysPerRequest }),
    others: { l1BlockNumber, beacon, onProgress, signal },
  }
}

function decodeCall(call: CallRecordOptions['call']): CallRequest & { readonly to: Hex; readonly gas: bigint } {
  const stated = readOptions('call', call, ['from', 'to', 'data', 'value', 'gas'])
  const { from = NOBODY, to, data = '0x', value = 0n, gas = CALL_GAS } = stated
  verifyUint('call.gas', gas, 64, 21_000n)
  if (gas > CALL_GAS) throw invalid('call.gas', `at most ${CALL_GAS}`, gas)
  if (typeof data !== 'string' || data.length > 2 + 2 * MAX_DATA_BYTES || !/^0x(?:[0-9a-f]{2})*$/i.test(data)) {
    throw new ArgumentError({ path: 'call.data', expected: 'hexadecimal of at most 1 MiB' })
  }
  return {
    from: bytesToHex(decodeArgument('call.from', from, 20)),
    to: bytesToHex(decodeArgument('call.to', to, 20)),
    data: lowerCase(data),
    value: verifyUint('call.value', value, 256),
    ...{ gas, gasPrice: 0n, maxGasPrice: 0n, accessList: [] },
  }
}

async function recordVerified(wanted: Wanted): Promise<RecordedCall> {
  const { l1, l2, rollup, chainId, call, hardfork, environment, beacon, how } = wanted
  // Every call reads its sender, so the sender is the first answer. The anchor is recorded with it.
  const first = { network: wanted.network, address: call.from, l2BlockNumber: wanted.l2BlockNumber }
  const endpoints = { l1: l1.sources, l2: l2.sources }
  const recorded = await recordEvidence({
    ...endpoints,
    ...first,
    maxKeysPerRequest: how.maxKeysPerRequest,
    ...wanted.others,
  })
  const { l2BlockNumber, stateRoot, l1Block } = recorded.verified
  // L1 decides whether it is the state that the caller expects.
  const scheme = decidedKind(recorded.scheme, wanted.schemeAt(l2BlockNumber))

  const source = { l2, block: l2BlockNumber, ...how, scheme, known: createKnownState() }
  const proven = createProvenState({ ...source, stateRoot, verify: createStateVerifier(scheme) })
  const block = provenIn(recorded.verified)
  const values = watchEnvironment(environment, block)
  const context = { chainId, hardfork, blockNumber: l2BlockNumber, environment: values.environment }
  const { timeoutMs, signal, maxRequests } = wanted
  const state = await inPace({ timeoutMs, signals: [signal] }, async pace => {
    const rehearse: Rehearse = async (guesses, pace) => {
      // What a rehearsal reads of the block is not noted.
      const unnoted = { ...context, environment: values.all, hashAt: guessHash(guesses, l2BlockNumber) }
      return execute(await loadEvm(), guesses, call, call.gas, unnoted, pace)
    }
    const noted = noteReads(
      meterReads(proven.by(pace), call, { ...source, maxRequests, prefetch: true, rehearse, pace }),
    )
    await execute(await loadEvm(), noted.reader, call, call.gas, context, pace)
    return noted
  })

  const { request: _, answer: __, ...head } = recorded.bundle
  const { from, to, data, value, gas } = call
  const bundle = {
    ...{ ...head, kind: 'call' },
    chainId: encodeQuantity(chainId),
    hardfork,
    environment: encodeEnvironment(environment, values.read, block),
    call: { from, to, data, value: encodeQuantity(value), gas: encodeQuantity(gas) },
    answers: await fetchAnswers(wanted, { scheme, stateRoot }, l2BlockNumber, state.touched),
    codes: [...state.codes.values()].map(bytesToHex),
  } as CallBundle<StateScheme>
  // The parts were verified one by one. This verifies the bundle as a whole.
  const trusted = beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  const stated = { from, to, data, value, gas }
  const claim = { scheme, rollup, trusted, hardfork, l2BlockNumber, call: stated }
  const verified = await verifyCallEvidence(bundle, claim, { signal, timeoutMs })
  const { l1BlockHashFrom } = recorded
  // What is trusted decides which case it is, and the scheme the kind.
  return { scheme: recorded.scheme, bundle, l1BlockHashFrom, verified } as RecordedCall
}

async function fetchAnswers(
  { l2, rollup, how, signal }: Wanted,
  trusted: Pick<StateClaim, 'scheme' | 'stateRoot'>,
  l2BlockNumber: bigint,
  touched: ReadonlyMap<Hex, ReadonlySet<Hex>>,
): Promise<CallBundle['answers']> {
  const answers: CallBundle['answers'] = []
  const accounts = [...touched]
  async function fetchOne(index: number, ended: AbortSignal) {
    const [address, slots] = accounts[index] as (typeof accounts)[number]
    const asked = { address, storageKeys: [...slots], l2BlockNumber }
    const { answer } = await fetchState(l2, { ...asked, ...trusted }, { ...how, signal: ended })
    const known = createBundle({ scheme: trusted.scheme, rollup, ...asked, answer }).answer
    return { address, storageKeys: asked.storageKeys, answer: known }
  }
  for await (const one of inAdvance(accounts.length, CONTENTS_AT_ONCE, fetchOne, signal)) answers.push(one)
  return answers
}
