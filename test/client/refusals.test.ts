import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { diagnoseStatus, parseError } from '../../src/client/transport/diagnose.ts'
import { redactUrls } from '../../src/client/transport/redact.ts'
import { createHttpProvider, diagnose, EndpointError, type EndpointErrorCode } from '../../src/entry/rpc.ts'
import { EXAMPLES, HTTP_EXAMPLES } from './refusals.ts'
import { startServer } from './servers.ts'

const GET_PROOF = { method: 'linea_getProof', params: ['0x1', [], '0x7'] }

const examples = Object.entries(EXAMPLES).flatMap(([code, list]) =>
  list.map(([source, rpc, message, { data, ...asked } = {}]) => ({
    code: code as EndpointErrorCode,
    about: `${source}: ${message}`,
    error: { code: rpc, message, data },
    asked: { ...GET_PROOF, ...asked },
  })),
)

it.each(examples)('$code: $about', ({ code, error, asked }) => {
  expect(parseError(error, asked, redactUrls).code).toBe(code)
  // The same through a library that throws it.
  expect(diagnose(Object.assign(new Error(error.message), error), asked).code).toBe(code)
})

const overHttp = Object.entries(HTTP_EXAMPLES).flatMap(([meaning, list]) =>
  list.map(([source, status, body, method]) => ({ meaning, source, status, body, method })),
)

it.each(overHttp)('$meaning: $source, $status: $body', ({ meaning, status, body, method }) => {
  const { code, action } = diagnoseStatus({ method, params: [], status }, body)
  expect(`${code} ${action}`).toBe(meaning)
})

it('knows many words, of every kind, and nobody is in two places', () => {
  expect(examples.length).toBeGreaterThanOrEqual(200)
  expect(overHttp.length).toBe(76)
  expect(new Set(examples.map(({ code }) => code)).size).toBe(10)
  expect(new Set(examples.map(({ error, asked }) => JSON.stringify([error, asked]))).size).toBeGreaterThan(190)
})

it('names the method and the endpoint by its place, and says what to do, also with words that nobody knows', async () => {
  const { url } = await startServer((response, id) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'qwertz' } })),
  )
  const error = await createHttpProvider(url)
    .request({ method: 'linea_getProof', params: [] })
    .catch((thrown: EndpointError) => thrown)
  expect((error as EndpointError).message).toBe(
    'ENDPOINT_ERROR: linea_getProof. Error -32000: "qwertz". The endpoint reported an error.',
  )
  const placed = new EndpointError('BLOCK_MISSING', { layer: 'L2', index: 1, method: 'linea_getProof' })
  expect(placed.message).toMatch(/^BLOCK_MISSING: the second L2 endpoint, linea_getProof\. The endpoint does not hold/)
})

interface Served {
  readonly from: string
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly error?: object
  readonly code: EndpointErrorCode
  readonly action: string
}

/** The error of a request to a server that answers like this, and how long it paused before it asked again. */
async function outcomeOf({ status, headers, body, error }: Served) {
  const { url } = await startServer((response, id) => {
    const text = (body ?? JSON.stringify({ jsonrpc: '2.0', id: '$id', error })).replace(/"?\$id"?/, `${id}`)
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text)
  })
  return createHttpProvider(url, { maxRetries: 0 })
    .request(GET_PROOF)
    .catch((thrown: unknown) => thrown)
}

const FILE = new URL('../../../shared/cases/server-errors.json', import.meta.url)
const recorded = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : null
const cases: Served[] = recorded ? [...recorded.errors, ...recorded.http] : []

it('means the same by what real servers were seen to answer', async context => {
  if (recorded === null) {
    console.log('skipped: 39 answers of real servers, because there is no ../shared/cases')
    return context.skip()
  }
  expect(cases.length).toBe(39)
  for (const served of cases) {
    const outcome = await outcomeOf(served)
    const isWait = /^(?:wait|step back|own)/.test(served.action)
    expect(outcome, served.from).toMatchObject({ code: served.code, action: isWait ? 'wait' : 'change' })
  }
  const asked = (method: string, params: unknown[]) => (error: unknown) =>
    parseError(error, { method, params }, redactUrls)
  const tagged = recorded.finalizedTag.errors.map(asked('eth_getBlockByNumber', ['finalized', false]))
  expect(tagged.map(({ action }: EndpointError) => action)).toEqual(['wait', 'wait', 'wait'])
  const ranged = recorded.logRanges.errors.map(asked('eth_getLogs', [{}]))
  expect(ranged.map(({ code }: EndpointError) => code)).toEqual(['PARAMS_REFUSED', 'PARAMS_REFUSED', 'PARAMS_REFUSED'])
})
