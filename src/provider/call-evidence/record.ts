import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOptions, verifyUint, verifyWhole } from '../../base/options.ts'
import { readNetwork } from '../../client/network/network.ts'
import { recordEvidence } from '../../client/record/record.ts'
import { type Endpoints, openEndpoints } from '../../client/sources/endpoints.ts'
import { fetchState, verifyClientOptions } from '../../client/sources/fetch.ts'
import { redactProofErrors } from '../../client/transport/diagnose.ts'
import { CONTENTS_AT_ONCE } from '../../client/transport/limits.ts'
import { inAdvance, verifySignal, verifyTimeout } from '../../client/transport/waiting.ts'
import { createBundle } from '../../verify/evidence/kinds/state.ts'
import { createStateVerifier, decidedKind, type StateClaim, type StateScheme } from '../../verify/state/kind.ts'
import { execute, FREE } from '../execute.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS, DEFAULT_TIMEOUT } from '../limits.ts'
import { chainIdOf, endpointsOf, onlyGiven, verifyEnvironment } from '../options.ts'
import { inPace } from '../pace.ts'
import { createKnownState, createProvenState, NOBODY } from '../proven-state.ts'
import { meterReads, rehearsalOf } from '../rehearsal.ts'
import type { CallBundle, CallRecordOptions, EvidenceCall, RecordedCall } from './types.ts'
import { decodeStatedCall, provenIn, verifyCallEvidence } from './verify.ts'

const WHAT = ['network', 'call', 'l2BlockNumber', 'environment', 'l1', 'l1BlockNumber', 'beacon', 'l2']
const HOW = ['maxRequests', 'timeoutMs', 'maxKeysPerRequest', 'onProgress', 'signal']

export async function recordCall(options: CallRecordOptions): Promise<RecordedCall> {
  const wanted = readRecordOptions(options)
  return redactProofErrors(() => recordVerified(wanted), ...wanted.l1.sources, ...wanted.l2.sources)
}

type Wanted = ReturnType<typeof readRecordOptions>

/** `recordEvidence` validates the rest of the options before it sends a request. */
function readRecordOptions(options: CallRecordOptions) {
  const { call, environment, ...own } = readOptions('', options, [...WHAT, ...HOW])
  const { maxRequests = DEFAULT_MAX_REQUESTS, timeoutMs = DEFAULT_TIMEOUT, ...recording } = own
  const { network, maxKeysPerRequest, signal } = recording
  const { rollup, scheme, hardfork } = readNetwork(network)
  const chainId = atPath('network', () => chainIdOf(rollup))
  verifySignal(signal)
  return {
    recording,
    l1: openEndpoints('l1', recording.l1, 'L1', { signal }),
    l2: endpointsOf(chainId, openEndpoints('l2', recording.l2, 'L2', { signal }), signal),
    scheme,
    rollup,
    chainId,
    call: decodeCall(call),
    hardfork,
    environment: verifyEnvironment(environment),
    maxRequests: verifyWhole('maxRequests', maxRequests, 1),
    timeoutMs: verifyTimeout(timeoutMs),
    how: verifyClientOptions({ rollup, maxKeysPerRequest }),
  }
}

function decodeCall(call: CallRecordOptions['call']): EvidenceCall {
  const stated = readOptions('call', call, ['from', 'to', 'data', 'value', 'gas'])
  const { from = NOBODY, to, data = '0x', value = 0n, gas = CALL_GAS } = stated
  verifyUint('call.gas', gas, 64, 21_000n)
  // None of it is left to a bundle.
  return decodeStatedCall({ from, to, data, value, gas }) as EvidenceCall
}

async function recordVerified(wanted: Wanted): Promise<RecordedCall> {
  const { recording, l1, l2, rollup, chainId, call, hardfork, environment, how, timeoutMs, maxRequests } = wanted
  const { beacon, signal } = recording
  // Every call reads its sender, so the sender is the first answer. The anchor is recorded with it.
  const givenTo = ({ sources }: Endpoints) => sources.map(({ given }) => given)
  const recorded = await recordEvidence({ ...recording, l1: givenTo(l1), l2: givenTo(l2), address: call.from })
  const { l2BlockNumber, stateRoot, l1Block } = recorded.verified
  // L1 decides whether it is the state that the caller expects.
  const scheme = decidedKind(recorded.scheme, wanted.scheme)

  const source = { l2, block: l2BlockNumber, ...how, scheme, known: createKnownState() }
  const state = createProvenState({ ...source, stateRoot, verify: createStateVerifier(scheme) })
  const proven = provenIn(recorded.verified)
  const context = { chainId, hardfork, blockNumber: l2BlockNumber, environment: onlyGiven(environment, proven) }
  const request = { ...call, ...FREE }
  const rehearse = rehearsalOf(request, call.gas, context)
  const { reads } = await inPace({ timeoutMs, signals: [signal] }, pace => {
    const meter = { ...source, maxRequests, rehearse, pace }
    return execute(meterReads(state.by(pace), meter), request, call.gas, context, pace)
  })

  const { request: _, answer: __, ...head } = recorded.bundle
  const stated = Object.entries(environment).filter(([name]) => reads.values.has(name) && !(name in proven))
  const encode = (value: bigint | Hex) => (typeof value === 'bigint' ? encodeQuantity(value) : value)
  const bundle = {
    ...head,
    kind: 'call',
    chainId: encodeQuantity(chainId),
    hardfork,
    environment: Object.fromEntries(stated.map(([name, value]) => [name, encode(value)])),
    call: { ...call, value: encodeQuantity(call.value), gas: encodeQuantity(call.gas) },
    answers: await fetchAnswers(wanted, { scheme, stateRoot }, l2BlockNumber, reads.slots),
    codes: [...reads.codes.values()].map(bytesToHex),
  } as CallBundle<StateScheme>
  // The parts were verified one by one. This verifies the bundle as a whole.
  const trusted = beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  const claim = { scheme, rollup, trusted, hardfork, l2BlockNumber, call }
  const verified = await verifyCallEvidence(bundle, claim, { signal, timeoutMs })
  // What is trusted decides which case it is, and the scheme the kind.
  return { scheme: recorded.scheme, bundle, verified } as RecordedCall
}

async function fetchAnswers(
  { l2, rollup, how, recording: { signal } }: Wanted,
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
