import { existsSync } from 'node:fs'
import { redactError } from '../../client/transport/diagnose.ts'
import { isProofError, type ProofError } from '../../entry/index.ts'
import { type EndpointError, type EndpointErrorCode, endpointErrorMeanings, isEndpointError } from '../../entry/rpc.ts'
import { exitCodes, type Io, type Output } from '../command.ts'
import { UsageError } from '../errors.ts'
import { MAX_STORAGE_KEYS } from '../limits.ts'
import { describeError, formatError, REFUSED, toJson } from '../output/report.ts'
import { overwriteProgress } from '../output/terminal.ts'
import { describeVerdict, exitCodeOf, paint } from '../output/verdict.ts'
import { untilSignal } from '../signals.ts'
import { printable } from '../words/value.ts'
import { type Connections, createConnections } from './connections.ts'
import type { Flags } from './declared.ts'
import { networkOf } from './network.ts'

/** The options of a command that asks endpoints, as far as they matter to all such commands. */
export type EndpointFlags = Pick<Flags, 'network' | 'implementation' | 'output'> & {
  readonly timeout: number
  readonly json: boolean
}

/** Whose proof to fetch. @throws UsageError */
export function requestOf({ address, 'storage-key': storageKeys = [] }: Flags) {
  if (address === undefined) throw new UsageError('--address is needed: whose proof to fetch, 20 bytes')
  if (storageKeys.length > MAX_STORAGE_KEYS)
    throw new UsageError(`--storage-key: at most ${MAX_STORAGE_KEYS} fit into one file`)
  return { address, storageKeys }
}

/** Runs `work`, which Ctrl-C aborts, and reports its failure. @returns the exit code */
export async function withEndpoints(
  flags: EndpointFlags,
  io: Io,
  work: (connections: Connections) => Promise<number>,
): Promise<number> {
  const { timeout, json, output } = flags
  if (json && output === '-') throw new UsageError('--json and --output - both need standard output')
  return untilSignal(async signal => {
    const connections = createConnections(timeout, signal, (_, text) => showProgress(io, text))
    try {
      return await work(connections)
    } catch (error) {
      return await reportFailure(error, flags, connections, io)
    } finally {
      connections.close()
    }
  })
}

/** Says why endpoints could not do what was asked. @returns the exit code @throws any other error */
async function reportFailure(error: unknown, flags: EndpointFlags, connections: Connections, io: Io): Promise<number> {
  const { json, output } = flags
  if (!isProofError(error) && !isEndpointError(error)) throw error
  // What an endpoint said was redacted when it came. A check may quote it, too: only that is redacted, never our own words.
  const failure = isProofError(error) ? redactError(error, connections.redactor()) : error
  const hint = await hintFor(failure, flags, connections)
  const report = { fetched: false, ...(isProofError(failure) && describeVerdict(REFUSED)), error: describe(failure) }
  if (json) io.stdout.write(toJson({ ...report, ...(hint && { hint }) }))
  // A refusal goes where any other verdict would have gone.
  const stream = isProofError(failure) && output !== '-' ? io.stdout : io.stderr
  const text = isProofError(failure) ? formatError(failure, [], stream) : formatFailure(failure, output, stream)
  if (!json) stream.write(`${text}${hint && `${hint}\n`}`)
  return isProofError(failure) ? exitCodeOf(REFUSED) : exitCodes.noAnswer
}

const OF_OTHER_CHAIN: readonly EndpointErrorCode[] = [
  'METHOD_UNKNOWN',
  'PARAMS_REFUSED',
  'ANSWER_MALFORMED',
  'ETH_PROOF_ANSWER',
  'CHAIN_MISMATCH',
  'BLOCK_MISSING',
  'PROOF_UNAVAILABLE',
]

const PROOF_METHOD =
  'If the endpoint has another name for the method that serves proofs, state it as rollup.method in a file for --network.'

/** What may help, in a sentence; empty if nothing is known to. */
async function hintFor(
  failure: ProofError | EndpointError,
  flags: EndpointFlags,
  connections: Connections,
): Promise<string> {
  if (!isProofError(failure) && !OF_OTHER_CHAIN.includes(failure.code)) return ''
  const other = await connections.wrongChains(networkOf(flags).rollup)
  const isMethod = !isProofError(failure) && failure.code === 'METHOD_UNKNOWN' && failure.layer === 'L2'
  return other === '' && isMethod && /\w_getProof/.test(failure.message) ? PROOF_METHOD : other
}

function describe(error: ProofError | EndpointError): object {
  if (isProofError(error)) return describeError(error)
  const { code, action, layer, message, status, said } = error
  return { code, action, meaning: endpointErrorMeanings[code], layer, message, status, said }
}

function formatFailure(error: EndpointError, output: string | undefined, stream: Output): string {
  const partial = `${output}.evidence.ndjson`
  const hint =
    output !== undefined && existsSync(partial)
      ? `What came is in ${printable(partial)}: run the same command again to continue.\n`
      : ''
  // The user's own signal, with which no endpoint has to do.
  if (error.code === 'ABORTED') return `Stopped.\n${hint}`
  return `${paint(stream, 'red', 'Not fetched:')} ${printable(error.message)}\n${hint}`
}

/** On a terminal, each text overwrites the one before. Otherwise, each gets a line. */
export function showProgress(io: Io, text: string): void {
  if (io.stderr.isTTY) overwriteProgress(io, text)
  else io.stderr.write(`${text}\n`)
}

/** The shell command that runs this program with `args`. */
export const commandLine = (args: readonly string[]): string => ['npx rollup-state-proof', ...args.map(quote)].join(' ')

function quote(arg: string): string {
  if (/^[\w./:-]+$/.test(arg)) return arg
  if (printable(arg) === arg) return `'${arg.replaceAll("'", "'\\''")}'`
  // bash and zsh support $'...', in which bytes that could act or hide in a terminal can be escaped.
  return `$'${[...Buffer.from(arg)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`
}

/** Writes a path so that it is not read as an option. */
export const asArgument = (path: string): string => (path.startsWith('-') && path !== '-' ? `./${path}` : path)
