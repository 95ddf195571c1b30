import { isArgumentError } from '../../index.ts'
import { redactorOf } from '../../rpc/redact.ts'
import {
  type BeaconApi,
  createBeaconApi,
  createHttpProvider,
  type HttpOptions,
  type RequestProvider,
} from '../../rpc.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { wholeNumber } from './parse.ts'

/** The endpoints of a command. */
export type Connections = ReturnType<typeof createConnections>

/** @param timeout per request, including retries, in seconds @param signal aborts all requests */
export function createConnections(timeout: string, signal: AbortSignal) {
  const redactors: ((text: string) => string)[] = []

  function connect<T>(flag: string, url: string, create: (url: string, options: HttpOptions) => T, more = {}): T {
    const options = { timeoutMs: 1000 * wholeNumber('--timeout', timeout, 1, 86_400), signal, ...more }
    try {
      const opened = create(url, options)
      redactors.push(redactorOf(new URL(url)))
      return opened
    } catch (error) {
      throw isArgumentError(error) ? argumentRefused(error, `--${flag}`) : error
    }
  }

  /**
   * @param flag without dashes
   * @param given the URL from the user. Default: from the environment, such as `L1_URL`
   * @param maxRetries as in HttpOptions
   * @throws UsageError
   */
  function open(flag: string, given: string | undefined, maxRetries?: number): RequestProvider {
    const name = flag.toUpperCase()
    const url = given ?? process.env[`${name}_URL`]
    if (!url) throw new UsageError(`--${flag} is needed: the URL of the ${name} endpoint`)
    return connect(flag, url, createHttpProvider, maxRetries === undefined ? {} : { maxRetries })
  }

  return {
    signal,
    open,
    /** Opens each URL. Default: those in the environment, separated by spaces. @throws UsageError */
    openAll(flag: 'l1' | 'l2', urls: readonly string[] | undefined): RequestProvider[] {
      const given = urls ?? inEnvironment(flag)
      return given.length === 0 ? [open(flag, undefined)] : given.map(url => open(flag, url))
    },
    /** @param urls from the user. Default: those in the environment, which may be none @throws UsageError */
    openBeacon: (urls: readonly string[] | undefined): BeaconApi[] =>
      (urls ?? inEnvironment('beacon')).map(url => connect('beacon', url, createBeaconApi)),
    /** Removes the API keys of all endpoints from a text, because an endpoint can repeat its key anywhere. */
    redact: (text: string): string => redactors.reduce((running, redact) => redact(running), text),
  }
}

const inEnvironment = (name: string): string[] =>
  (process.env[`${name.toUpperCase()}_URL`] ?? '').split(/\s+/).filter(url => url !== '')
