import { decodeQuantity } from '../../base/hex.ts'
import { lineaNetworks } from '../../client/network/linea.ts'
import { type QueueState, queueOf } from '../../client/transport/queue.ts'
import { type Redact, redactorFor } from '../../client/transport/redact.ts'
import type { Rollup } from '../../entry/anchor.ts'
import { isArgumentError } from '../../entry/index.ts'
import {
  type BeaconApi,
  createBeaconApi,
  createHttpProvider,
  type HttpOptions,
  type RequestProvider,
} from '../../entry/rpc.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { HINT_TIMEOUT_MS } from '../limits.ts'
import { formatAge } from '../words/wording.ts'
import { networkWith } from './network.ts'

export type Connections = ReturnType<typeof createConnections>

/** Called with what requests to an endpoint wait for, which it is, and that in words. */
export type TellWait = (wait: QueueState & { readonly endpoint: string }, text: string) => void

/** @param timeout per request, in seconds */
export function createConnections(timeout: number, signal: AbortSignal, tellWait: TellWait) {
  const timeoutMs = 1000 * timeout
  const opened: object[] = []
  const ends: (() => void)[] = []
  const counts = new Map<string, number>()
  const urlsOf: Record<string, readonly string[]> = {}

  function connect<T extends object>(flag: string, url: string, create: (url: string, options: HttpOptions) => T): T {
    try {
      const provider = create(url, { timeoutMs, signal })
      opened.push(provider)
      const place = (counts.get(flag) ?? 0) + 1
      counts.set(flag, place)
      const endpoint = `--${flag} number ${place}`
      ends.push(queueOf(provider).watch(state => tellWait({ endpoint, ...state }, describeWait(endpoint, state))))
      return provider
    } catch (error) {
      throw isArgumentError(error) ? argumentRefused(error, `--${flag}`) : error
    }
  }

  return {
    signal,
    timeoutMs,
    /** @param urls from the user. Default: those in the environment, such as `L1_URL`, separated by spaces */
    open(flag: string, urls: readonly string[] | undefined): RequestProvider[] {
      const given = urls ?? inEnvironment(flag)
      if (given.length === 0)
        throw new UsageError(`--${flag} is needed: the URL of the ${flag.toUpperCase()} endpoint; or ${unsetIn(flag)}`)
      urlsOf[flag] = given
      return given.map(url => connect(flag, url, createHttpProvider))
    },
    /**
     * Which endpoints of L1 and L2 serve another chain than they should, in a sentence; empty if none is known to. It asks them,
     * so it is for failures that another chain explains.
     */
    async wrongChains({ chainId, l1ChainId }: Pick<Rollup, 'chainId' | 'l1ChainId'>): Promise<string> {
      const idsOf = (flag: string) => Promise.all((urlsOf[flag] ?? []).map(url => chainIdAt(url, signal)))
      const [l1, l2] = await Promise.all([idsOf('l1'), idsOf('l2')])
      const [isL1, isL2] = [l2.includes(`${l1ChainId}`), l1.includes(`${chainId}`)]
      if (isL1 && isL2) return `--l1 and --l2 look swapped: --l1 serves ${nameOf(chainId)}, --l2 ${nameOf(l1ChainId)}.`
      const both = l1.find(id => id !== '' && l2.includes(id))
      if (both !== undefined && !isL1 && !isL2) return `--l1 and --l2 serve the same chain: ${nameOf(both)}.`
      const wrong = (layer: 'l1' | 'l2', ids: readonly string[], expected: number | bigint | undefined) => {
        const id = expected === undefined ? undefined : ids.find(id => id !== '' && id !== `${expected}`)
        const other = id && networkWith(id, layer)
        const advice = other === undefined ? '' : ` For that network, pass --network ${other}.`
        return id === undefined ? [] : [`--${layer} serves ${nameOf(id)}, but must serve ${nameOf(expected)}.${advice}`]
      }
      return [...wrong('l1', l1, l1ChainId), ...wrong('l2', l2, chainId)].join(' ')
    },
    /** Those for --checkpoint. @param urls from the user. Default: those in the environment @throws UsageError */
    openBeacon(urls: readonly string[] | undefined): BeaconApi[] {
      const apis = (urls ?? inEnvironment('beacon')).map(url => connect('beacon', url, createBeaconApi))
      if (apis.length > 0) return apis
      throw new UsageError(`--beacon is needed with --checkpoint: the URL of a beacon API; or ${unsetIn('beacon')}`)
    },
    /** Nothing is told of these endpoints any more. */
    close(): void {
      for (const end of ends) end()
    },
    /** Removes the API keys of all endpoints from a text, because an endpoint can repeat its key anywhere. */
    redactor: (): Redact => redactorFor(...opened),
  }
}

function describeWait(endpoint: string, { waiting, requestsPerSecond: rate, pauseMs }: QueueState): string {
  const seconds = (count: number) => formatAge(BigInt(Math.ceil(count)))
  if (rate === undefined)
    return `${endpoint} is busy: ${waiting} requests wait, for ${seconds(pauseMs / 1000)} at first`
  return `${endpoint} allows about ${rate.toPrecision(2)} requests per second: ${waiting} wait, for ${seconds(waiting / rate)}`
}

/** Of chains that are easily taken for each other, by their ids: each network, and its L1. */
const chainNames = new Map(
  lineaNetworks.flatMap(({ name, rollup, beacon }) => [
    [`${rollup.chainId}`, name],
    [`${rollup.l1ChainId}`, `Ethereum ${beacon.name}`],
  ]),
)

function nameOf(id: string | number | bigint | undefined): string {
  const name = chainNames.get(`${id}`)
  return name === undefined ? `chain ${id}` : `${name} (chain ${id})`
}

/** The chain that the endpoint says it serves; empty if it does not say. */
async function chainIdAt(url: string, signal: AbortSignal): Promise<string> {
  const provider = createHttpProvider(url, { timeoutMs: HINT_TIMEOUT_MS, maxRetries: 0, signal })
  const id = await provider.request({ method: 'eth_chainId' }).catch(() => null)
  return `${decodeQuantity(id, 64) ?? ''}`
}

/** That the variable would do, and whether it is set in vain. */
function unsetIn(flag: string): string {
  const name = `${flag.toUpperCase()}_URL`
  return process.env[name] === undefined ? `set ${name}` : `set ${name}, which is empty`
}

const inEnvironment = (name: string): string[] =>
  (process.env[`${name.toUpperCase()}_URL`] ?? '').split(/\s+/).filter(url => url !== '')
