import { excerpt, isProofError, ProofError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { parseBounded } from '../../base/json/parse.ts'
import { isPlain } from '../../base/options.ts'
import { EndpointError, isKnownError, withDetails } from './error.ts'
import { LONGEST_RETRY_AFTER, MAX_CAUSES, MAX_DEPTH, MAX_TEXT_LENGTH } from './limits.ts'
import { admitText, type Redact, type RedactText, redactUrls } from './redact.ts'
import { meaningOf } from './refusals.ts'

/** What was asked, as far as it is known: the same words mean different things for different requests. */
export interface Asked {
  /** The JSON-RPC method. */
  readonly method?: string | undefined
  /** Its parameters, in order. */
  readonly params?: readonly unknown[] | undefined
}

/**
 * Diagnoses an error that any provider, or `verifyProof`, threw on the way to a verified answer. Throws nothing.
 *
 * @param error what was thrown
 * @param asked the request, if known: the same words mean something else if it names a block by tag, or asks for logs
 * @returns an EndpointError that says what to do, without anything that looks like a URL. A ProofError is returned as it is, unless
 * it shows a mistake of the endpoint rather than a lie. An unknown error becomes the `cause` of an `UNREACHABLE`
 *
 * @example
 * ```ts
 * import { diagnose } from 'rollup-state-proof/rpc'
 *
 * const thrown = { code: -32601, message: 'the method does not exist' } // by a wallet, for instance
 * console.log(diagnose(thrown).code) // METHOD_UNKNOWN
 * ```
 */
export const diagnose = (error: unknown, asked: Asked = {}): EndpointError | ProofError =>
  diagnoseWith(redactUrls, error, asked)

export function diagnoseWith(redact: Redact, error: unknown, asked: Asked = {}): EndpointError | ProofError {
  try {
    if (isKnownError(error)) return redactError(error, redact)
    if (!isProofError(error)) return diagnoseThrown(error, asked, redact)
    const cause = redactError(error, redact)
    if (cause.code === 'FOREIGN_PROOF') return new EndpointError('ETH_PROOF_ANSWER', { cause })
    return cause.code === 'KEY_MISMATCH' ? new EndpointError('OTHER_KEYS', { cause }) : cause
  } catch {
    // For example a proxy whose traps all throw.
    return new EndpointError('UNREACHABLE', { found: 'the provider threw something that cannot be read' })
  }
}

function diagnoseThrown(error: unknown, asked: Asked, redact: Redact): EndpointError {
  const chain = causeChain(error)
  // Checked by name, because the code of a DOMException is not a JSON-RPC code.
  const isNamed = (name: string) => (link: object) => field(link, 'name') === name
  if (chain.some(isNamed('TimeoutError'))) return new EndpointError('TIMEOUT')
  // What the endpoint wrote, an object without a class that libraries keep as the `cause`, must not pass for the decision of
  // the caller, after which nobody else is asked.
  if (chain.filter(link => !isPlain(link)).some(isNamed('AbortError'))) return new EndpointError('ABORTED')
  const numberIn = (name: string) => (link: object) => Number.isInteger(field(link, name))
  const [coded, answered] = [chain.find(numberIn('code')), chain.find(numberIn('status'))]
  const link = coded ?? answered
  if (link === undefined) return new EndpointError('UNREACHABLE', { cause: redactError(error, redact) })
  // viem keeps the endpoint's own message in `details`.
  const message = field(link, 'details') ?? field(link, 'message')
  const said = {
    rpc: coded === undefined ? null : (field(coded, 'code') as number),
    message: typeof message === 'string' ? message : '',
    data: coded && field(coded, 'data'),
  }
  return diagnoseSaid(said, { ...asked, status: answered && (field(answered, 'status') as number) }, redact)
}

/** The errors that libraries wrap in each other, innermost first: in `cause` (viem), `error` and `info` (ethers). */
function causeChain(error: unknown): object[] {
  const chain: object[] = []
  const follow = (link: unknown, depth: number): void => {
    if (typeof link !== 'object' || link === null || depth > MAX_DEPTH || chain.length >= MAX_CAUSES) return
    for (const name of ['cause', 'error', 'info']) follow(field(link, name), depth + 1)
    chain.push(link)
  }
  follow(error, 0)
  return chain
}

/** Never one of a polluted `Object.prototype`. A field whose getter throws counts as missing. */
function field(source: object, name: string): unknown {
  try {
    const value: unknown = Reflect.get(source, name)
    return value === Reflect.get(Object.prototype, name) ? undefined : value
  } catch {
    return undefined
  }
}

/** What an endpoint says in place of a result, as it wrote it. */
interface Said {
  /** The JSON-RPC error code; null if it is no JSON-RPC error. */
  readonly rpc: number | null
  readonly message: unknown
  readonly data?: unknown
}

interface Answered extends Asked {
  /** Any status but success; undefined if it is unknown. */
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
}

/** The table in `refusals.ts` decides what it means. */
function diagnoseSaid({ rpc, message, data }: Said, answered: Answered, redact: Redact): EndpointError {
  const { status, method = '', params = [], retryAfterMs = backoffIn(data) } = answered
  const words = admitText(message ?? '', redact)
  const said = data === undefined || data === null ? words : `${words} ${admitText(data, redact)}`
  // An API key may be a number, and appear as the code.
  const code = rpc === null || redact(`${rpc}`) === `${rpc}` ? rpc : 0
  const meaning = meaningOf({ rpc: code, text: said, status: status ?? null, method, params })
  if (code === null) return new EndpointError(meaning, { found: words || undefined, status, retryAfterMs })
  return new EndpointError(meaning, { found: `error ${code}: ${excerpt(words)}`, said, status, retryAfterMs })
}

/** The time that Infura asks to wait, in milliseconds: docs.metamask.io, avoid rate limiting. */
function backoffIn(data: unknown): number | undefined {
  const seconds = readOwn(Object(readOwn(Object(data), 'rate')), 'backoff_seconds')
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, LONGEST_RETRY_AFTER) : undefined
}

/**
 * The EndpointError for an HTTP status that is no success. A JSON-RPC error in the body says more than the status, and so do
 * a few words of a gateway. Anything longer is no explanation.
 */
export function diagnoseStatus(answered: Answered, body: string, redact: Redact = redactUrls): EndpointError {
  const text = body.trim()
  let parsed: unknown
  try {
    parsed = parseBounded(text)
  } catch {
    // It is words.
  }
  const words = text === '' || text.length > MAX_TEXT_LENGTH ? '' : excerpt(text)
  const message = text.startsWith('<') ? 'an HTML page' : words
  return diagnoseSaid((isObject(parsed) && saidIn(parsed)) || { rpc: null, message }, answered, redact)
}

export interface RpcRequest {
  jsonrpc: '2.0'
  id: number
  method: string
  params: readonly unknown[]
}

/**
 * The result of a JSON-RPC 2.0 response. Gateways write it almost right: without its version, with the id as a text, or with an
 * error that is a mere text, or has no envelope around it. Whatever could be an error is one, never a result.
 *
 * @throws EndpointError `ENVELOPE_MALFORMED`, `ID_MISMATCH`; the EndpointError for the endpoint's own error
 */
export function parseResponse(response: unknown, request: RpcRequest, redact: Redact = redactUrls): unknown {
  if (!isObject(response)) throw malformed(Array.isArray(response) ? 'an array' : 'no object')
  const version = readOwn(response, 'jsonrpc')
  if (version !== undefined && version !== '2.0' && version !== '1.0') throw malformed('its jsonrpc is not "2.0"')
  // Some serializers write null for a missing field. As a result, null is a value.
  const isError = (readOwn(response, 'error') ?? undefined) !== undefined
  const hasResult = Object.hasOwn(response, 'result')
  if (isError && readOwn(response, 'result') != null) throw malformed('it has both a result and an error')
  const said = isError || !hasResult ? saidIn(response) : null
  if (said === null && !hasResult) throw malformed('it has neither a result nor an error')
  if (said === null && isError) throw malformed('its error says nothing')
  const id = readOwn(response, 'id')
  const isOther = id !== request.id && id !== `${request.id}`
  // An endpoint that could not read the request does not know its id.
  if (isOther && (said === null || (id !== null && id !== undefined))) throw new EndpointError('ID_MISMATCH')
  if (said === null) return readOwn(response, 'result')
  throw diagnoseSaid(said, request, redact)
}

/** The EndpointError for the `error` of a response; `ENVELOPE_MALFORMED` if it says nothing. */
export function parseError(error: unknown, asked: Asked, redact: Redact): EndpointError {
  const said = saidIn({ error })
  return said === null ? malformed('its error says nothing') : diagnoseSaid(said, asked, redact)
}

/** That of JSON-RPC, whose code may be a text, or which may be a mere text; or what gateways and beacon APIs write in its place. */
function saidIn(body: object): Said | null {
  const given = readOwn(body, 'error') ?? readOwn(body, 'errors')
  const inner: unknown = Array.isArray(given) ? given[0] : given
  const error = isObject(inner) ? inner : body
  const codes = ['code', 'statusCode'].map(name => readOwn(error, name))
  const code = codes.find(one => Number.isInteger(one) || (typeof one === 'string' && /^-?\d{1,9}$/.test(one)))
  const words = ['message', 'detail', 'error', 'reason', 'title'].map(name => readOwn(error, name))
  const message = words.find(one => typeof one === 'string') ?? (typeof inner === 'string' ? inner : undefined)
  if (code === undefined && message === undefined) return null
  return { rpc: Number(code ?? 0), message, data: readOwn(error, 'data') }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformed = (found: string) => new EndpointError('ENVELOPE_MALFORMED', { found })

/** What was thrown, as an error that may be shown: without URLs and keys, with its name, message, stack, code and causes. */
export function redactError<T extends EndpointError | ProofError>(thrown: T, redact: RedactText): T
export function redactError(thrown: unknown, redact: RedactText, depth?: number): Error | undefined
export function redactError(thrown: unknown, redact: RedactText, depth = 0): Error | undefined {
  if (thrown === undefined || depth > MAX_DEPTH) return undefined
  if (isProofError(thrown)) {
    const [expected, found] = [thrown.expected, thrown.found].map(text => text && redact(text))
    const redacted = new ProofError(thrown.code, { path: thrown.path, expected, found })
    return redacted.message === thrown.message ? thrown : redacted
  }
  if (isKnownError(thrown)) {
    const [found, said] = [thrown.found, thrown.said].map(text => text && redact(text))
    // That of `ABORTED` is the reason that the caller gave, not the endpoint.
    const cause = thrown.code === 'ABORTED' ? thrown.cause : redactError(thrown.cause, redact)
    return withDetails(thrown, { found, said, cause })
  }
  const cause = redactError(field(Object(thrown), 'cause'), redact, depth + 1)
  const read = (name: string) => {
    const value = field(Object(thrown), name)
    return typeof value === 'string' && value !== '' ? admitText(value, redact) : undefined
  }
  const [name, code] = [read('name') ?? 'Error', read('code')]
  const error = new Error(read('message') ?? admitText(thrown, redact), cause && { cause })
  return Object.assign(error, { name, stack: read('stack') ?? `${name}: ${error.message}` }, code && { code })
}

/** A failed check from `work` quotes what does not verify, so the URLs of these endpoints are removed from it. */
export async function redactProofErrors<T>(
  work: () => Promise<T>,
  ...endpoints: readonly { readonly redact: Redact }[]
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isProofError(error) ? endpoints.reduce((shown, { redact }) => redactError(shown, redact), error) : error
  }
}
