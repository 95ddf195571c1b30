import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createVerifiedProvider, type ProviderView, type VerifiedProvider } from '../../entry/provider.ts'
import { createJsonRpcServer, sayWith } from '../../provider/json-rpc.ts'
import { readForward } from '../../provider/options.ts'
import { exitCodes, type Io } from '../command.ts'
import { cannotListen, didYouMean, UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH, PROXY_LIMITS } from '../limits.ts'
import { flag, l1SourceOptions, list, optionsOf, or, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { type Connections, createConnections } from '../options/endpoint.ts'
import { openL1Source } from '../options/l1-source.ts'
import { networkOf } from '../options/network.ts'
import { asText, environmentOf, type Read, whole } from '../options/read.ts'
import { toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { cut, printable } from '../words/value.ts'
import { formatAge, formatTime } from '../words/wording.ts'
import { serveProxy } from './proxy-server.ts'

/** That of a page, or of a browser's extension, by its id: 32 letters in Chromium, a UUID in Firefox and Safari. */
const EXTENSION =
  /^(?:chrome-extension:\/\/[a-p]{32}|(?:moz|safari-web)-extension:\/\/[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12})$/
const origin: Read<string> = text => {
  const isPage = /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
  if (text === '*' || isPage || EXTENSION.test(text)) return text
  throw new UsageError(
    '--allow-origin: expected an origin, with its scheme (http, https, or that of an extension) and without a path; or *',
  )
}

const methodToForward: Read<string> = text => {
  if (text === 'wallet' || text.includes('_')) return text
  const name = cut(text, MAX_SHOWN_LENGTH)
  throw new UsageError(`--forward: no such method: ${name}.${didYouMean(text, ['wallet'])}`)
}

const options = {
  ...optionsOf('port', 'host'),
  'allow-origin': list('ORIGIN', 'admit pages of this origin; * admits all', origin),
  'allow-host': list('NAME', 'accept requests under this host name, too', asText),
  forward: list('METHOD', 'pass it on, unproven; `wallet`: all that sending needs', methodToForward),
  'one-head': flag('state and blocks at one number, one finalization older'),
  'incomplete-logs': flag('list the logs that --l2 lists: others may be left out'),
  ...optionsOf('environment'),
  gas: or('50000000', typed('N', 'gas limit per call', whole(21_000, Number.MAX_SAFE_INTEGER))),
  refresh: or('60', typed('SECONDS', 'how often to check for a newer block', whole(1, 86_400))),
  timeout: or('8', typed('SECONDS', 'time for a request of a client', whole(1, 86_400))),
  concurrency: or('16', typed('N', 'how many requests may ask endpoints at once', whole(1, 1000))),
}

/** In place of the library's meanings, which name its own options. */
const HINTS = {
  METHOD_REFUSED:
    'Only proven answers are given here: --forward METHOD passes a method on, unproven, and --forward wallet all that sending needs.',
  VALUE_UNPROVEN:
    'The call reads a value of its block that no proof covers. If you know it, state it with --environment NAME=VALUE.',
  TIMEOUT: 'The request did not end within --timeout SECONDS. Ask again; for logs, there is --incomplete-logs.',
} as const
/** How long pending requests may take once the proxy is told to end, or once the provider should have refused them, in milliseconds. */
const GRACE = 1000
/** Per request to an endpoint, which may go on after the client that caused it has gone. */
const ENDPOINT_SECONDS = 30

export const command = defineCommand(
  {
    usage: 'proxy [options]',
    options,
    shared: { ...optionsOf('network', 'l1', 'l2', 'implementation', 'json'), ...l1SourceOptions },
    about: `
Serves Ethereum's JSON-RPC over HTTP and WebSocket on this machine, for wallets
and programs. Every answer is proven from an L1 block hash; methods that no
proof covers are refused. Ctrl-C ends it.`,
    notes: `
Exit code: 0 ended by Ctrl-C; 2 wrong usage, or the port is taken. --json prints
a line per event: listening, view, waiting, progress, failure, disagreement,
stopped.`,
    examples: `
export L1_URL=https://... L2_URL=https://... BEACON_URL=https://...
rollup-state-proof proxy --l1-agree https://... --l1-agree https://... \\
  --allow-origin http://localhost:3000
rollup-state-proof proxy --checkpoint 0x... --beacon-state beacon.json`,
  },
  async (values, io) => {
    const { json, port, concurrency, 'allow-origin': origins = [], 'allow-host': hosts = [], forward = [] } = values
    const deadline = 1000 * values.timeout
    const network = networkOf(values)
    const controller = new AbortController()
    const connections: Connections = createConnections(ENDPOINT_SECONDS, controller.signal, (wait, text) =>
      log.waiting(wait, text),
    )
    const [l1, l2] = [connections.open('l1', values.l1), connections.open('l2', values.l2)]
    const log = createLog(json, io, text => connections.redact(text))
    const { l1BlockHash, trust } = await openL1Source(values, network, l1, connections, log.disagreement)
    const provider = createVerifiedProvider({
      l1,
      l2,
      l1BlockHash,
      network,
      oneHead: values['one-head'] ?? false,
      completeLogs: !values['incomplete-logs'],
      forward,
      environment: environmentOf(values),
      maxGas: BigInt(values.gas),
      timeoutMs: deadline,
      signal: controller.signal,
      onView(view) {
        log.view(view)
        push()
      },
    })
    let push = () => {}
    const rpc = createJsonRpcServer(
      provider,
      { ...PROXY_LIMITS, timeout: deadline + GRACE, concurrency },
      sayWith(HINTS),
      log.progress,
    )
    const server = await serveProxy(rpc, { origins, hosts }, port, values.host).catch(cannotListen('--port'))
    push = server.push
    const end = Promise.race(SIGNALS.map(name => once(process, name)))
    log.listening(server.url, trust, readForward(forward).forward)
    const ending = new AbortController()
    const hint = () => connections.wrongChains(network.rollup)
    void follow(provider, 1000 * values.refresh, log, ending.signal, hint)
    await end
    ending.abort()
    await server.close(GRACE)
    controller.abort()
    connections.close()
    log.stopped()
    return exitCodes.verified
  },
)

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Polls for a newer view. @param hint what may explain that there is none yet; empty if nothing is known to */
async function follow(
  provider: VerifiedProvider,
  interval: number,
  log: Log,
  ending: AbortSignal,
  hint: () => Promise<string>,
): Promise<void> {
  let isNew = true
  while (!ending.aborted) {
    const failure = await provider.refresh().then(
      () => undefined,
      (error: unknown) => error,
    )
    isNew &&= failure !== undefined
    const words = isNew ? await hint() : ''
    if (!ending.aborted) log.refreshed(failure, words)
    await setTimeout(interval, undefined, { signal: ending }).catch(() => {})
  }
}

type Log = ReturnType<typeof createLog>

function createLog(json: boolean, io: Io, redact: (text: string) => string) {
  let lastFailure: string | undefined
  const write = (event: string, fields: object, text: string) =>
    io.stdout.write(json ? toJson({ event, time: new Date().toISOString(), ...fields }) : `${text}\n`)

  return {
    listening(url: string, trust: string, forward: readonly string[]): void {
      const unproven = forward.map(printable).join(', ') || 'none'
      const rows = Object.entries({ proxy: url, trusted: trust, 'forwarded unproven': unproven })
      write('listening', { url, trust, forward }, formatTable(rows, io.stdout))
    },
    view({ l2BlockNumber, stateRoot, blockHash, l1Block, timestamp, ageSeconds }: ProviderView): void {
      const age = `${formatAge(BigInt(ageSeconds))} old`
      const since = timestamp === undefined ? `at least ${age}` : `of ${formatTime(timestamp)}, ${age}`
      const l1 = `proven from L1 block ${l1Block.number} ${l1Block.hash}`
      const view = { l2BlockNumber, stateRoot, blockHash, l1Block, timestamp, ageSeconds }
      write('view', view, `  L2 block ${l2BlockNumber}, ${since}, ${l1}`)
    },
    /** A recurring failure is logged once, until something else happens. */
    refreshed(error: unknown, hint: string): void {
      const { reason, action, message } = Object(error)
      const text = error === undefined ? undefined : `${redact(String(message))}${hint && ` ${hint}`}`
      if (text !== undefined && text !== lastFailure) {
        write('failure', { reason, action, message: text }, `  no newer block: ${printable(text)}`)
      }
      lastFailure = text
    },
    progress: (method: string, text: string) =>
      write('progress', { method, message: text }, `  ${printable(method)}: ${text}`),
    waiting: (wait: object, text: string) => write('waiting', wait, `  ${text}`),
    disagreement: (text: string) => write('disagreement', { message: text }, `  L1 block hash: ${printable(text)}`),
    stopped: () => write('stopped', {}, '  stopped'),
  }
}
