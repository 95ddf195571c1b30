import { type Hex, hexToBytes } from '../../bytes.ts'
import { parseNumber } from '../../document/evidence.ts'
import { compareFields, compareRefusal, type VectorOutcome } from '../../document/expected.ts'
import { type Expected, type FunctionVector, isCallEvidence, readInputFile } from '../../document/input-file.ts'
import { fieldsOf } from '../../document/value.ts'
import { ageOf, beaconRows, formatTime, timeRow } from '../../document/wording.ts'
import { ProofError } from '../../index.ts'
import type { Hardfork } from '../../provider/environment.ts'
import { type CallClaim, ProviderError, recordCall, type VerifiedCall, verifyCallEvidence } from '../../provider.ts'
import type { RecordProgress } from '../../rpc.ts'
import { exitCodes, type Io, type Output, UsageError } from '../command.ts'
import { readRegularJson } from '../files/input.ts'
import { openOutputFile, refuseOverwrite } from '../files/output-file.ts'
import { callOf, chainIdOf, environmentOf, methodOf, weiOf } from '../options/chain-flags.ts'
import type { Flags } from '../options/declared.ts'
import {
  asArgument,
  commandLine,
  type EndpointFlags,
  endProgress,
  keysPerRequestOf,
  notFetched,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { claimOfFlags, refuseWrongFlags, requireScheme, rollupOf } from '../options/flags.ts'
import { toInteger } from '../options/parse.ts'
import {
  describeProgress,
  hashSourceOf,
  type RecordTrust,
  type RecordTrustFlags,
  readRecordTrust,
  refuseProgress,
  trustedIn,
  trustOptionsOf,
  trustSentences,
} from '../options/record-trust.ts'
import { describeError, formatError, formatTable, paint, printable, toJson } from '../output/report.ts'

const STATED = [
  ...(['scheme', 'rollup', 'network', 'layout-roots-slot', 'layout-current-slot', 'chain-id'] as const),
  ...(['hardfork', 'gas'] as const),
]

/** What the user states about the call. Despite the types, hexadecimal is unchecked: the library refuses malformed values. */
function statedCall<T extends { to: Hex; data: Hex } | undefined>(call: T, { from, value, gas }: Flags) {
  const wei = weiOf(value)
  return {
    ...call,
    ...(from !== undefined && { from: from as `0x${string}` }),
    ...(wei !== undefined && { value: wei }),
    ...(gas !== undefined && { gas: toInteger('--gas', gas, 64) }),
  }
}

/** Despite the type, the name is unchecked: the library refuses an unknown one. */
const hardforkOf = ({ hardfork }: Flags): { hardfork?: Hardfork } =>
  hardfork === undefined ? {} : { hardfork: hardfork as Hardfork }

type CallFlags = EndpointFlags &
  RecordTrustFlags & { readonly l1?: string; readonly l2?: string; readonly force: boolean }

/** Runs `record --call TO DATA`: writes a call, and all that it reads, to one file. */
export async function recordCallFile(values: CallFlags, io: Io): Promise<number> {
  const call = callOf(values.call ?? '')
  const asked = statedCall(call, values)
  const l2BlockNumber = values['l2-block'] === undefined ? undefined : toInteger('--l2-block', values['l2-block'], 64)
  const request = {
    ...{ scheme: requireScheme(values.scheme), rollup: rollupOf(values), chainId: chainIdOf(values), call: asked },
    ...(l2BlockNumber !== undefined && { l2BlockNumber }),
    ...hardforkOf(values),
    environment: environmentOf(values),
  }
  const trust = await readRecordTrust(values, io)
  /** The options that the user stated, to be stated again when verifying. */
  const stated = STATED.flatMap(name => {
    const text = values[name]
    return text === undefined ? [] : [`--${name}`, text]
  })
  const { environment: ___, ...claim } = request

  return withEndpoints(values, io, async ({ signal, ...connections }) => {
    const [l1, l2] = [connections.open('l1', values.l1), connections.open('l2', values.l2)]
    const from = trustOptionsOf(trust, values.beacon, connections)
    const askedFor = { command: 'record --call', to: call.to, data: call.data }
    const output = await openOutputFile(values.output, values.force, askedFor, io)
    const { path } = output
    const report = (verified: VerifiedCall, source: 'network' | 'file') => {
      const { from, to, data } = verified.call
      const trusted =
        verified.reach === 'beaconBlockRoot'
          ? ['--checkpoint', verified.beaconBlock.checkpoint]
          : ['--l1-block-hash', verified.l1Block?.hash ?? '']
      const again = ['verify', asArgument(path), ...stated, ...trusted, '--call', to, data, '--from', from]
      const stream = path === '-' ? io.stderr : io.stdout
      const hashSource = hashSourceOf(trust, source)
      if (values.json) {
        const provenance = { fetched: source === 'network', source, sources: { l1BlockHash: hashSource }, file: path }
        io.stdout.write(toJson({ ...provenance, ...verified, age: ageOf(verified), verify: again }))
      } else {
        const [sentence, compare] = trustSentences[hashSource]
        const lines = [
          ...(source === 'file' ? [notFetched(path, stream)] : []),
          formatCall(verified, stream, asked),
          paint(stream, 'bold', sentence),
          `  ${compare}`,
          `  ${commandLine(again)}`,
        ]
        stream.write(`${lines.join('\n')}\n`)
      }
      return exitCodes.verified
    }
    if (output.exists) return report(await readRecorded(path, claim, trust), 'file')
    showProgress(io, 'looking for the newest finalized block, then executing the call')
    const onProgress = (progress: RecordProgress) => {
      refuseProgress(progress, trust)
      showProgress(io, describeProgress(progress, 0))
    }
    const how = { method: methodOf(values), maxKeysPerRequest: keysPerRequestOf(values), signal, onProgress }
    const { bundle, evidence } = await recordCall(l1, l2, request, { ...from, ...how }).catch(toUsageError)
    output.write(bundle)
    endProgress(io)
    return report(evidence, 'network')
  })
}

/** Turns errors that the user can fix into UsageErrors: a value to state, a package to install, a call that cannot start. */
function toUsageError(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  const hint = error.reason === 'VALUE_UNPROVEN' ? ' (--environment NAME=VALUE)' : ''
  throw new UsageError(`${error.message}${hint}`)
}

/** Verifies the bundle in the existing file, offline. If nothing is trusted, only the file states its L1 block hash. */
async function readRecorded(
  path: string,
  claim: Omit<CallClaim, 'trusted'>,
  trust: RecordTrust,
): Promise<VerifiedCall> {
  const bundle = await readRegularJson(path, { followLinks: false })
  if (!isCallEvidence(readInputFile(bundle))) throw refuseOverwrite(path, 'is not a call as evidence')
  try {
    return await verifyCallEvidence(bundle, { ...claim, trusted: trustedIn(bundle, trust) })
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    throw refuseOverwrite(path, `is not a bundle for this request (${error.message})`)
  }
}

/** `verify` of a call as evidence. */
export async function verifyCallFile(bundle: unknown, flags: Flags, json: boolean, io: Io): Promise<number> {
  const { scheme, rollup, trusted, l2BlockNumber } = await claimOfFlags(flags, io)
  const call = flags.call === undefined ? undefined : callOf(flags.call)
  const stated = statedCall(call, flags)
  const claim: CallClaim = {
    ...{ scheme, rollup, trusted, chainId: chainIdOf(flags), call: stated, ...hardforkOf(flags) },
    ...(l2BlockNumber !== undefined && { l2BlockNumber }),
  }
  try {
    const verified = await verifyCallEvidence(bundle, claim).catch(toUsageError)
    io.stdout.write(
      json
        ? toJson({ verified: true, ...verified, age: ageOf(verified) })
        : `${formatCall(verified, io.stdout, stated)}\n`,
    )
    return exitCodes.verified
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    refuseWrongFlags(error)
    if (json) io.stdout.write(toJson({ verified: false, error: describeError(error) }))
    else
      io.stderr.write(
        formatError(error, [['call', call === undefined ? 'whatever the bundle is for' : call.to]], io.stderr),
      )
    return exitCodes.notVerified
  }
}

const verdicts: Readonly<Record<VerifiedCall['outcome'], string>> = {
  returned: 'Verified: the call returned.',
  reverted: 'Verified: the call reverted.',
  failed: 'Verified: the call failed.',
}

function formatCall(
  verified: VerifiedCall,
  stream: Output,
  stated: { to?: string; data?: string } & { from?: string; value?: bigint } = {},
): string {
  const { outcome, returnData, gasUsed, call, l1Block, l2BlockNumber, environment, hardfork } = verified
  const said = (name: 'to' | 'data' | 'from' | 'value') =>
    stated[name] === undefined ? 'from the bundle' : 'stated by you'
  const rows = [
    ...beaconRows(verified).map(row => row.map((cell = '') => cell)),
    ...(l1Block === null ? [] : [['L1 block', `${l1Block.number}`, `of ${formatTime(l1Block.timestamp)}`]]),
    ...(l1Block === null ? [] : [['L1 block hash', l1Block.hash]]),
    ['L2 block', `${l2BlockNumber}`],
    timeRow(verified).map((cell = '') => cell),
    ['L2 state root', verified.stateRoot],
    ['hard fork', hardfork],
    ['to', call.to, said('to')],
    ['data', call.data, said('data')],
    ['from', call.from, said('from')],
    ['value', `${call.value} wei`, said('value')],
    ['gas limit', `${call.gas}`],
    ...Object.entries(environment).map(([name, value]) => [
      name,
      JSON.stringify(value, spell),
      'NOT proven: stated by whoever recorded it',
    ]),
    ['gas used', `${gasUsed}`],
    [outcome === 'reverted' ? 'reverted with' : 'returned', returnData],
    ...reasonRows(outcome, returnData),
  ]
  const verdict = paint(stream, outcome === 'returned' ? 'green' : 'bold', verdicts[outcome])
  return `${verdict}\n${formatTable(rows.map(row => row.map(printable)))}`
}

const spell = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

/** Decodes what Solidity itself reverts with: a text, or the number of a panic. */
function reasonRows(outcome: VerifiedCall['outcome'], returnData: `0x${string}`): string[][] {
  if (outcome !== 'reverted') return []
  const word = (at: number) => BigInt(`0x${returnData.slice(10 + 64 * at, 74 + 64 * at) || '0'}`)
  if (/^0x4e487b71[0-9a-f]{64}$/.test(returnData)) return [['which says', `Panic(0x${word(0).toString(16)})`]]
  if (!/^0x08c379a0[0-9a-f]{128,}$/.test(returnData) || word(0) !== 32n) return []
  const length = word(1)
  const text = returnData.slice(138)
  if (length * 2n > BigInt(text.length)) return []
  const bytes = hexToBytes(`0x${text.slice(0, 2 * Number(length))}`, Number(length))
  return [['which says', printable(new TextDecoder().decode(bytes))]]
}

/** Makes the call that a vector is about. Its claim is unchecked: the verifier refuses a malformed one. */
export async function runCallVector({ fields }: FunctionVector, expected: Expected): Promise<VectorOutcome> {
  const { scheme, claim, bundle } = fields
  const { chainId, l2BlockNumber, call, ...rest } = fieldsOf(claim)
  const { value, gas, ...others } = fieldsOf(call)
  const number = (text: unknown) => (text === undefined ? undefined : (parseNumber(text, 256) ?? undefined))
  const stated = {
    ...{ ...rest, scheme: requireScheme(scheme), chainId: number(chainId) },
    ...(l2BlockNumber !== undefined && { l2BlockNumber: number(l2BlockNumber) }),
    ...(call !== undefined && {
      call: {
        ...others,
        ...(value !== undefined && { value: number(value) }),
        ...(gas !== undefined && { gas: number(gas) }),
      },
    }),
  } as unknown as CallClaim
  try {
    const { outcome, returnData, gasUsed, finalizedTimestamp } = await verifyCallEvidence(bundle, stated)
    const time = finalizedTimestamp === null ? null : `0x${finalizedTimestamp.toString(16)}`
    const found = { outcome, returnData, gasUsed: `0x${gasUsed.toString(16)}`, finalizedTimestamp: time }
    return { error: null, mismatches: compareFields(expected, found) }
  } catch (error) {
    if (error instanceof ProofError) return { error, mismatches: compareRefusal(expected, error) }
    throw error
  }
}
