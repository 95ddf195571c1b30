import { redactorOf } from '../rpc/redact.ts'
import {
  type BeaconApi,
  createBeaconApi,
  createHttpProvider,
  type HttpOptions,
  type Provider,
  RpcError,
} from '../rpc.ts'
import { UsageError } from './command.ts'
import { wholeNumber } from './input.ts'

/** The endpoints of a command. */
export interface Connections {
  /**
   * @param flag without dashes
   * @param url that the user gave; from the environment where there is none, as in `L1_URL`
   * @param maxRetries as HttpOptions has it
   * @throws UsageError
   */
  open(flag: string, url: string | undefined, maxRetries?: number): Provider
  /** {@link open} each; without any, those of the environment, separated by spaces. @throws UsageError */
  openAll(flag: 'l1' | 'l2', urls: readonly string[] | undefined): Provider[]
  /** @param urls that the user gave; none when there are none, neither here nor in the environment @throws UsageError */
  openBeacon(urls: readonly string[] | undefined): BeaconApi[]
  /** An endpoint can put the key that it was asked with into anything: takes all of them out of a text. */
  redact(text: string): string
}

/** @param timeout of each request with its retries, in seconds @param signal ends all of them */
export function createConnections(timeout: string, signal: AbortSignal): Connections {
  const redactors: ((text: string) => string)[] = []

  function connect<T>(
    flag: string,
    url: string,
    create: (url: string, options: HttpOptions) => T,
    more: HttpOptions = {},
  ): T {
    const milliseconds = 1000 * wholeNumber('--timeout', timeout, 1, 86_400)
    try {
      const opened = create(url, { timeout: milliseconds, signal, ...more })
      redactors.push(redactorOf(new URL(url)))
      return opened
    } catch (error) {
      throw error instanceof RpcError ? new UsageError(`--${flag}: ${error.found}`) : error
    }
  }

  function open(flag: string, given: string | undefined, maxRetries?: number): Provider {
    const name = flag.toUpperCase()
    const url = given ?? process.env[`${name}_URL`]
    if (!url) throw new UsageError(`--${flag} is needed: the URL of the ${name} endpoint`)
    return connect(flag, url, createHttpProvider, { ...(maxRetries !== undefined && { maxRetries }) })
  }

  return {
    open,
    openAll(flag, urls) {
      const given = urls ?? inEnvironment(flag)
      return given.length === 0 ? [open(flag, undefined)] : given.map(url => open(flag, url))
    },
    openBeacon: urls => (urls ?? inEnvironment('beacon')).map(url => connect('beacon', url, createBeaconApi)),
    redact: text => redactors.reduce((running, redact) => redact(running), text),
  }
}

const inEnvironment = (name: string): string[] =>
  (process.env[`${name.toUpperCase()}_URL`] ?? '').split(/\s+/).filter(url => url !== '')
