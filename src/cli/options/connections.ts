import { isArgumentError } from '../../index.ts'
import { type Redact, redactorFor, redactorOf } from '../../rpc/redact.ts'
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
  const opened: object[] = []

  function connect<T extends object>(
    flag: string,
    url: string,
    create: (url: string, options: HttpOptions) => T,
    more = {},
  ): T {
    const options = { timeoutMs: 1000 * wholeNumber('--timeout', timeout, 1, 86_400), signal, ...more }
    try {
      const provider = create(url, options)
      redactors.push(redactorOf(new URL(url)))
      opened.push(provider)
      return provider
    } catch (error) {
      throw isArgumentError(error) ? argumentRefused(error, `--${flag}`) : error
    }
  }

  return {
    signal,
    /**
     * @param flag without dashes
     * @param urls from the user. Default: those in the environment, such as `L1_URL`, separated by spaces
     * @param more as in HttpOptions
     * @throws UsageError if there are none, or one is wrong
     */
    open(flag: string, urls: readonly string[] | undefined, more?: Pick<HttpOptions, 'maxRetries'>): RequestProvider[] {
      const given = urls ?? inEnvironment(flag)
      if (given.length === 0) {
        const name = flag.toUpperCase()
        throw new UsageError(`--${flag} is needed: the URL of the ${name} endpoint; or set ${name}_URL`)
      }
      return given.map(url => connect(flag, url, createHttpProvider, more))
    },
    /** @param urls from the user. Default: those in the environment, which may be none @throws UsageError */
    openBeacon: (urls: readonly string[] | undefined): BeaconApi[] =>
      (urls ?? inEnvironment('beacon')).map(url => connect('beacon', url, createBeaconApi)),
    /** Removes the API keys of all endpoints from a text, because an endpoint can repeat its key anywhere. */
    redact: (text: string): string => redactors.reduce((running, redact) => redact(running), text),
    /** The same, for texts that may be cut. */
    redactor: (): Redact => redactorFor(...opened),
  }
}

const inEnvironment = (name: string): string[] =>
  (process.env[`${name.toUpperCase()}_URL`] ?? '').split(/\s+/).filter(url => url !== '')
