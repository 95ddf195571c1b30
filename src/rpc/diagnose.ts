import { excerpt, isProofError, ProofError } from '../errors.ts'
import { readOwn } from '../json/known-fields.ts'
import { isPlain } from '../options.ts'
import { EndpointError, type EndpointErrorCode, isKnownError } from './error.ts'
import { MAX_CAUSES, MAX_DEPTH } from './limits.ts'
import { admitText, type Redact, redactorFor, redactUrls } from './redact.ts'

/**
 * Diagnoses an error that any provider, or `verifyProof`, threw on the way to a verified answer. Throws nothing.
 *
 * @param error what was thrown
 * @param params the parameters of the request, if known: some errors mean something else if it names a block by tag
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
export function diagnose(error: unknown, params: readonly unknown[] = []): EndpointError | ProofError {
  return diagnoseWith(redactUrls, error, params)
}

/** Like {@link diagnose}, for an endpoint whose URL is known. */
export function diagnoseWith(
  redact: Redact,
  error: unknown,
  params: readonly unknown[] = [],
): EndpointError | ProofError {
  try {
    if (isKnownError(error)) return redactError(error, redact)
    if (isProofError(error)) {
      const cause = redactError(error, redact)
      if (cause.code === 'FOREIGN_PROOF') return new EndpointError('ETH_PROOF_ANSWER', { cause })
      return cause.code === 'KEY_MISMATCH' ? new EndpointError('OTHER_KEYS', { cause }) : cause
    }
    return diagnoseThrown(error, params, redact)
  } catch {
    // For example a proxy whose traps all throw.
    return new EndpointError('UNREACHABLE', { found: 'the provider threw something that cannot be read' })
  }
}

function diagnoseThrown(error: unknown, params: readonly unknown[], redact: Redact): EndpointError {
  const chain = causeChain(error)
  // Checked by name, because the code of a DOMException is not a JSON-RPC code.
  const isNamed = (name: string) => (link: object) => field(link, 'name') === name
  if (chain.some(isNamed('TimeoutError'))) return new EndpointError('TIMEOUT')
  // What the endpoint wrote, an object without a class that libraries keep as the `cause`, must not pass for the decision of
  // the caller, after which nobody else is asked.
  if (chain.filter(link => !isPlain(link)).some(isNamed('AbortError'))) return new EndpointError('ABORTED')
  for (const link of chain) {
    const [code, data] = [field(link, 'code'), field(link, 'data')]
    if (typeof code === 'number' && Number.isInteger(code)) {
      return diagnoseEndpointError({ code, message: messageIn(link), data }, params, redact)
    }
  }
  for (const link of chain) {
    const status = field(link, 'status')
    if (typeof status === 'number' && Number.isInteger(status)) return diagnoseStatus(status)
  }
  return new EndpointError('UNREACHABLE', { cause: redactCause(error, redact) })
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

/** A field that the library or its class has set, never one of a polluted `Object.prototype`. A getter can throw. */
function field(source: object, name: string): unknown {
  try {
    let owner: object | null = source
    for (let depth = 0; depth < MAX_CAUSES && owner !== null && owner !== Object.prototype; depth++) {
      if (Object.hasOwn(owner, name)) return Reflect.get(source, name)
      owner = Reflect.getPrototypeOf(owner)
    }
  } catch {
    // A field that cannot be read counts as missing.
  }
  return undefined
}

/** viem keeps the endpoint's own message in `details`. */
function messageIn(link: object): string {
  const message = field(link, 'details') ?? field(link, 'message')
  return typeof message === 'string' ? message : ''
}

/** @param status any status but success */
export function diagnoseStatus(status: number, retryAfter?: number): EndpointError {
  const code = status === 401 || status === 403 ? 'UNAUTHORIZED' : status === 429 ? 'RATE_LIMITED' : 'HTTP_ERROR'
  return new EndpointError(code, { status, retryAfterMs: retryAfter })
}

/** The EndpointError for the `error` of a JSON-RPC response, as the endpoint wrote it. */
function diagnoseEndpointError(
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  params: readonly unknown[],
  redact: Redact,
): EndpointError {
  const message = admitText(error.message, redact)
  const data = error.data === undefined || error.data === null ? undefined : admitText(error.data, redact)
  // An API key may be a number, and appear as the code.
  const code = redact(`${error.code}`) === `${error.code}` ? error.code : 0
  const endpoint = { code, message: excerpt(message), ...(data !== undefined && { data }) }
  return new EndpointError(nameEndpointError(code, `${message} ${data ?? ''}`, params), { report: endpoint })
}

/** A JSON-RPC 2.0 request. */
export interface RpcRequest {
  jsonrpc: '2.0'
  id: number
  method: string
  params: readonly unknown[]
}

/**
 * The result of a JSON-RPC 2.0 response.
 *
 * @param response parsed from JSON
 * @param request the request that was sent
 * @param redact applied to what the endpoint says
 * @throws EndpointError `ENVELOPE_MALFORMED`, `ID_MISMATCH`; the EndpointError for the endpoint's own error
 */
export function parseResponse(response: unknown, request: RpcRequest, redact: Redact = redactUrls): unknown {
  if (!isObject(response)) throw malformed(Array.isArray(response) ? 'an array' : 'no object')
  const version = readOwn(response, 'jsonrpc')
  if (version !== '2.0') throw malformed('its jsonrpc is not "2.0"')
  // Some serializers write null for a missing field. As a result, null is a value.
  const error = readOwn(response, 'error') ?? undefined
  const hasResult = Object.hasOwn(response, 'result')
  if (error !== undefined && readOwn(response, 'result') != null) throw malformed('it has both a result and an error')
  if (error === undefined && !hasResult) throw malformed('it has neither a result nor an error')
  const id = readOwn(response, 'id')
  // An endpoint that could not read the request does not know its id.
  if (id !== request.id && (error === undefined || id !== null)) throw new EndpointError('ID_MISMATCH')
  if (error === undefined) return readOwn(response, 'result')
  throw parseError(error, request.params, redact)
}

/** The EndpointError for the `error` of a response; `ENVELOPE_MALFORMED` if it is not a valid one. */
export function parseError(error: unknown, params: readonly unknown[], redact: Redact): EndpointError {
  if (!isObject(error)) return malformed('its error is no object')
  const [code, message, data] = ['code', 'message', 'data'].map(name => readOwn(error, name))
  if (typeof code !== 'number' || !Number.isInteger(code)) return malformed('the code of its error is no integer')
  if (typeof message !== 'string') return malformed('the message of its error is no string')
  return diagnoseEndpointError({ code, message, data }, params, redact)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformed = (found: string) => new EndpointError('ENVELOPE_MALFORMED', { found })

const TAGS: readonly unknown[] = ['latest', 'earliest', 'pending', 'finalized', 'safe']

/** Goes by the code if it is specific. Endpoints use -32600, -32602 and -32000 so broadly that only the words can tell. */
function nameEndpointError(code: number, text: string, params: readonly unknown[]): EndpointErrorCode {
  const hasTag = params.some(param => TAGS.includes(param))
  // The second is what Geth says of a state that it has dropped.
  if (/BLOCK_MISSING_IN_CHAIN|missing trie node/i.test(text)) return 'BLOCK_MISSING'
  if (code === -32601 || code === 4200) return 'METHOD_UNKNOWN'
  if (code === -32005 || code === 429 || /rate.?limit|too many requests/i.test(text)) return 'RATE_LIMITED'
  if (code === 401 || code === 403 || code === 4100 || /api.?key|unauthorized/i.test(text)) return 'UNAUTHORIZED'
  if (/not\b.{0,20}\bfinali[sz]ed/i.test(text)) return 'BLOCK_NOT_FINALIZED'
  if (hasTag && /\b(?:tag|finalized|safe|pending|earliest|latest|block ?(?:number|parameter))\b/i.test(text)) {
    return 'TAG_UNSUPPORTED'
  }
  if (saysMethodIsMissing(text)) return 'METHOD_UNKNOWN'
  return code === -32602 ? 'PARAMS_REFUSED' : 'ENDPOINT_ERROR'
}

/** Finds "method", then "not", then one of these words. In steps, because one pattern for all three would take cubic time. */
function saysMethodIsMissing(text: string): boolean {
  const afterMethod = text.slice(indexAfter(text, /method\b/i))
  return /\b(?:found|supported|available|exist|allowed)/i.test(afterMethod.slice(indexAfter(afterMethod, /\bnot\b/i)))
}

/** The index after the match, or the length of the text if there is none. */
function indexAfter(text: string, pattern: RegExp): number {
  const match = pattern.exec(text)
  return match === null ? text.length : match.index + match[0].length
}

/** Removes URLs and keys from an error. Returns the error itself if it contains none. */
export function redactError<T extends EndpointError | ProofError>(error: T, redact: Redact): T
export function redactError(error: EndpointError | ProofError, redact: Redact): EndpointError | ProofError {
  /** Text that an error quotes may have been cut inside a key. */
  const clean = (text: string) => (text.includes('…') ? redact(redact.trimCut(text)) : redact(text))
  if (isProofError(error)) {
    const { code, path, expected, found } = error
    const redacted = new ProofError(code, { path, expected: expected && clean(expected), found: found && clean(found) })
    return redacted.message === error.message ? error : redacted
  }
  const { found, report: endpoint, cause } = error
  const data = endpoint?.data === undefined ? {} : { data: admitText(endpoint.data, redact) }
  const redacted = new EndpointError(error.code, {
    ...error,
    found: found === undefined ? undefined : clean(found),
    report: endpoint && { code: endpoint.code, message: clean(endpoint.message), ...data },
    // The reason that the caller gave, not the endpoint.
    cause: error.code === 'ABORTED' ? cause : redactCause(cause, redact),
  })
  const isSame = redacted.cause === cause && redacted.message === error.message
  return isSame && redacted.report?.data === endpoint?.data ? error : redacted
}

/**
 * What was thrown, as an error that may be shown: itself if it has no further properties and nothing in it looks like a URL or
 * a key, otherwise a copy of its name, message, stack, code and causes.
 */
export function redactCause(error: unknown, redact: Redact, depth = 0): Error | undefined {
  if (error === undefined || depth > MAX_DEPTH) return undefined
  if (isProofError(error) || isKnownError(error)) return redactError(error, redact)
  if (typeof error !== 'object' || error === null) return new Error(excerpt(admitText(error, redact)))
  const text = (name: string): string => {
    const value = field(error, name)
    return typeof value === 'string' ? value : ''
  }
  const inner = field(error, 'cause')
  const cause = redactCause(inner, redact, depth + 1)
  const [name, message, stack] = ['name', 'message', 'stack'].map(text)
  const [cleanName, cleanMessage, cleanStack] = [name, message, stack].map(part => admitText(part, redact))
  const hasNoMore = Object.getOwnPropertyNames(error).every(own => ['name', 'message', 'stack', 'cause'].includes(own))
  const isClean = cleanName === name && cleanMessage === message && cleanStack === stack && cause === inner
  if (error instanceof Error && hasNoMore && isClean) return error
  const code = field(error, 'code')
  const copy = new Error(cleanMessage === '' ? admitText(error, redact) : cleanMessage, cause && { cause })
  if (cleanName !== '') copy.name = cleanName ?? ''
  if (typeof code === 'string') Object.assign(copy, { code: admitText(code, redact) })
  copy.stack = cleanStack === '' ? `${copy.name}: ${copy.message}` : (cleanStack ?? '')
  return copy
}

/** A failed check quotes what does not verify, so the URL of the provider is removed from it. */
export const redactFailure = (error: unknown, ...providers: readonly object[]): unknown =>
  isProofError(error) ? redactError(error, redactorFor(...providers)) : error

/** Runs `work`. A ProofError from it quotes what does not verify, so the URLs of these endpoints are removed from it. */
export async function redactProofErrors<T>(work: () => Promise<T>, ...endpoints: readonly object[]): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw redactFailure(error, ...endpoints)
  }
}
