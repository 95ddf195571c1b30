import { plural } from '../../base/errors.ts'
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

export type Connections = ReturnType<typeof createConnections>

/** Called with what requests to an endpoint wait for, which it is, and that in words. */
export type TellWait = (wait: QueueState & { readonly endpoint: string }, text: string) => void

/** @param timeout per request, in seconds */
export function createConnections(timeout: number, signal: AbortSignal, tellWait: TellWait) {
  const timeoutMs = 1000 * timeout
  const opened: object[] = []
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
        opened.push(provider)
        const endpoint = `--${flag} number ${index + 1}`
        ends.push(queueOf(provider).watch(state => tellWait({ endpoint, ...state }, describeWait(endpoint, state))))
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
    /** Those for --checkpoint. */
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
    /** Nothing is told of these endpoints any more. */
    close(): void {
      for (const end of ends) end()
    },
    /** Removes the API keys of all endpoints from a text, because an endpoint can repeat its key anywhere. */
    redactor: (): Redact => redactorFor(...opened),
  }
}

const inEnvironment = (name: string): readonly string[] =>
  (process.env[`${name.toUpperCase()}_URL`] ?? '').split(/\s+/).filter(url => url !== '')

function describeWait(endpoint: string, { waiting, requestsPerSecond: rate, pauseMs }: QueueState): string {
  const seconds = (count: number) => formatAge(BigInt(Math.ceil(count)))
  if (rate === undefined)
    return `${endpoint} is busy: ${plural(waiting, 'request waits', 'requests wait')}, for ${seconds(pauseMs / 1000)} at first`
  return `${endpoint} allows about ${rate.toPrecision(2)} requests per second: ${waiting} wait, for ${seconds(waiting / rate)}`
}

/** The chain, by name if it is a known network or the L1 of one: these are easily taken for each other. */
function nameOf(id: string): string {
  const l2 = lineaNetworks.find(({ rollup }) => `${rollup.chainId}` === id)
  const l1 = lineaNetworks.find(({ rollup }) => `${rollup.l1ChainId}` === id)
  const name = l2?.name ?? (l1 && `Ethereum ${l1.beacon.name}`)
  return name === undefined ? `chain ${id}` : `${name} (chain ${id})`
}

/** The chain that the endpoint says it serves; empty if it does not say. */
async function chainIdAt(url: string, signal: AbortSignal): Promise<string> {
  const provider = createHttpProvider(url, { timeoutMs: HINT_TIMEOUT_MS, maxRetries: 0, signal })
  const id = await provider.request({ method: 'eth_chainId' }).catch(() => null)
  return `${decodeQuantity(id, 64) ?? ''}`
}
