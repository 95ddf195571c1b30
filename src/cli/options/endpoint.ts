import { existsSync } from 'node:fs'
import { plural } from '../../base/errors.ts'
import { decodeQuantity } from '../../base/hex.ts'
import { lineaNetworks } from '../../client/network/linea.ts'
import { redactError } from '../../client/transport/diagnose.ts'
import { type Origin, originOf } from '../../client/transport/provider.ts'
import type { QueueState } from '../../client/transport/queue.ts'
import type { RedactText } from '../../client/transport/redact.ts'
import type { Rollup } from '../../entry/anchor.ts'
import { isArgumentError, isProofError, type ProofError } from '../../entry/index.ts'
import {
  type BeaconApi,
  createBeaconApi,
  createHttpProvider,
  type EndpointError,
  type EndpointErrorCode,
  endpointErrorMeanings,
  type HttpOptions,
  isEndpointError,
  type RequestProvider,
} from '../../entry/rpc.ts'
import { exitCodes, type Io, type Output } from '../command.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { ROWS_EVIDENCE } from '../files/input.ts'
import { HINT_TIMEOUT_MS, MAX_STORAGE_KEYS } from '../limits.ts'
import { describeError, formatError, REFUSED, toJson } from '../output/report.ts'
import { overwriteProgress } from '../output/table.ts'
import { describeVerdict, exitCodeOf, paint } from '../output/verdict.ts'
import { untilSignal } from '../signals.ts'
import { printable } from '../words/value.ts'
import { formatAge } from '../words/wording.ts'
import type { Flags } from './declared.ts'
import { networkOf } from './network.ts'

export type EndpointFlags = Pick<Flags, 'network' | 'implementation' | 'output' | 'l1-block' | 'l1-block-hash'> & {
  readonly timeout: number
  readonly json: boolean
}

export function requestOf({ address, 'storage-key': storageKeys = [] }: Flags) {
  if (address === undefined) throw new UsageError('--address is needed: whose proof to fetch, 20 bytes')
  if (storageKeys.length > MAX_STORAGE_KEYS)
    throw new UsageError(`--storage-key: at most ${MAX_STORAGE_KEYS} fit into one file`)
  return { address, storageKeys }
}

/** Runs `work`, which Ctrl-C aborts, and reports its failure. @returns the exit code */
export async function withEndpoints(flags: EndpointFlags, io: Io, work: (connections: Connections) => Promise<number>) {
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
  const failure = isProofError(error) ? redactError(error, connections.redact) : error
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

const OTHER_BLOCK =
  'By default, the newest finalized block of L1 is recorded: state the number of yours with --l1-block.'

/** What may help, in a sentence; empty if nothing is known to. */
async function hintFor(failure: ProofError | EndpointError, flags: EndpointFlags, connections: Connections) {
  const isOfNewest = flags['l1-block-hash'] !== undefined && flags['l1-block'] === undefined
  if (failure.code === 'HEADER_HASH_MISMATCH' && isOfNewest) return OTHER_BLOCK
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
  const partial = `${output}${ROWS_EVIDENCE}`
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

export const commandLine = (args: readonly string[]): string => ['npx rollup-state-proof', ...args.map(quote)].join(' ')

function quote(arg: string): string {
  if (/^[\w./:-]+$/.test(arg)) return arg
  if (printable(arg) === arg) return `'${arg.replaceAll("'", "'\\''")}'`
  // bash and zsh support $'...', in which bytes that could act or hide in a terminal can be escaped.
  return `$'${[...Buffer.from(arg)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`
}

/** Writes a path so that it is not read as an option. */
export const asArgument = (path: string): string => (path.startsWith('-') && path !== '-' ? `./${path}` : path)

export type Connections = ReturnType<typeof createConnections>

/** Called with what requests to an endpoint wait for, which it is, and that in words. */
export type TellWait = (wait: QueueState & { readonly endpoint: string }, text: string) => void

/** @param timeout per request, in seconds */
export function createConnections(timeout: number, signal: AbortSignal, tellWait: TellWait) {
  const timeoutMs = 1000 * timeout
  const opened: RedactText[] = []
  const ends: (() => void)[] = []
  const urlsOf = new Map<string, readonly string[]>()

  /** @param urls from the user. Default: those in the environment, such as `L1_URL`, separated by spaces @throws UsageError */
  function connect<T extends object>(
    flag: string,
    urls = inEnvironment(flag),
    create: (url: string, options: HttpOptions) => T,
  ): T[] {
    if (urls.length === 0) {
      const name = `${flag.toUpperCase()}_URL`
      const isEmpty = process.env[name] !== undefined
      throw new UsageError(
        `--${flag} is needed: the URL of an endpoint; or set ${name}${isEmpty ? ', which is empty' : ''}`,
      )
    }
    urlsOf.set(flag, urls)
    return urls.map((url, index) => {
      try {
        const provider = create(url, { timeoutMs, signal })
        // It is known, because this library has just opened it.
        const { redact, queue } = originOf(provider) as Origin
        opened.push(redact)
        const endpoint = `--${flag} number ${index + 1}`
        ends.push(queue.watch(state => tellWait({ endpoint, ...state }, describeWait(endpoint, state))))
        return provider
      } catch (error) {
        throw isArgumentError(error) ? argumentRefused(error, `--${flag}`) : error
      }
    })
  }

  return {
    signal,
    open: (flag: string, urls: readonly string[] | undefined): RequestProvider[] =>
      connect(flag, urls, createHttpProvider),
    openBeacon: (urls: readonly string[] | undefined): BeaconApi[] => connect('beacon', urls, createBeaconApi),
    /** Which endpoints serve another chain than they should, in sentences; empty if none is known to. It asks them. */
    async wrongChains({ chainId, l1ChainId }: Pick<Rollup, 'chainId' | 'l1ChainId'>): Promise<string> {
      const wrong = Object.entries({ l1: l1ChainId, l2: chainId }).map(async ([layer, expected]) => {
        if (expected === undefined) return []
        const ids = await Promise.all((urlsOf.get(layer) ?? []).map(url => chainIdAt(url, signal)))
        const id = ids.find(id => id !== '' && id !== `${expected}`)
        if (id === undefined) return []
        const meant = lineaNetworks.find(({ rollup }) => `${layer === 'l1' ? rollup.l1ChainId : rollup.chainId}` === id)
        const advice = meant === undefined ? '' : ` For that network, pass --network ${meant.name}.`
        return [`--${layer} serves ${nameOf(id)}, but must serve ${nameOf(`${expected}`)}.${advice}`]
      })
      return (await Promise.all(wrong)).flat().join(' ')
    },
    close(): void {
      for (const end of ends) end()
    },
    /** Removes the API keys of all endpoints from a text, because an endpoint can repeat its key anywhere. */
    redact: (text: string): string => opened.reduce((shown, redact) => redact(shown), text),
  }
}

const inEnvironment = (name: string): readonly string[] =>
  (process.env[`${name.toUpperCase()}_URL`] ?? '').split(/\s+/).filter(url => url !== '')

function describeWait(endpoint: string, { waiting, requestsPerSecond: rate, pauseMs }: QueueState): string {
  const seconds = (count: number) => formatAge(BigInt(Math.ceil(count)))
  const requests = plural(waiting, 'request waits', 'requests wait')
  if (rate === undefined) return `${endpoint} is busy: ${requests}, for ${seconds(pauseMs / 1000)} at first`
  return `${endpoint} allows about ${rate.toPrecision(2)} requests per second: ${requests}, for ${seconds(waiting / rate)}`
}

/** The chain, by name if it is a known network or the L1 of one: these are easily taken for each other. */
function nameOf(id: string): string {
  const l2 = lineaNetworks.find(({ rollup }) => `${rollup.chainId}` === id)
  const l1 = lineaNetworks.find(({ rollup }) => `${rollup.l1ChainId}` === id)
  const name = l2?.name ?? (l1 && `Ethereum ${l1.beacon.name}`)
  return name === undefined ? `chain ${id}` : `${name} (chain ${id})`
}

async function chainIdAt(url: string, signal: AbortSignal): Promise<string> {
  const provider = createHttpProvider(url, { timeoutMs: HINT_TIMEOUT_MS, maxRetries: 0, signal })
  const id = await provider.request({ method: 'eth_chainId' }).catch(() => null)
  return `${decodeQuantity(id, 64) ?? ''}`
}
