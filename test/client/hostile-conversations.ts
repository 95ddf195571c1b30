import { addDemoBlocks, demoWorld } from '../../src/devnet/index.ts'
import { type FullChain as Chain, createChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { ROLLUP } from './servers.ts'

/**
 * Endpoints that answer at random: with the truth, parts of it, or anything an attacker could send. They replace `fetch`, so
 * they exercise the whole client: HTTP, JSON-RPC, and the handling of answers.
 */

export type Random = () => number

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
const below = (random: Random, limit: number) => Math.floor(random() * limit)

/** Endpoints, each with the parts of its URL that must never be shown. */
export const ENDPOINTS: readonly { url: string; keys: readonly string[] }[] = [
  {
    url: 'https://rpc.example.com:8945/v3/Secret-Key-0123456789',
    keys: ['Secret-Key-0123456789', 'rpc.example.com:8945'],
  },
  { url: 'https://node.example.org/?apikey=Tok3nQ&x=1', keys: ['Tok3nQ', 'node.example.org'] },
  { url: 'https://eth.example/9aa3d95b3bc440fa88ea12eaa4456161', keys: ['9aa3d95b3bc440fa88ea12eaa4456161'] },
  { url: 'http://127.0.0.1:39551/a%20key%2Bmore/rpc', keys: ['a%20key%2Bmore', 'a key+more', '127.0.0.1:39551'] },
]

export interface Hostility {
  readonly random: Random
  readonly chain: Chain
  /** The share of answers that may be hostile. */
  readonly rate: number
  readonly l1Url: string
}

const percentEncoded = (text: string) => Array.from(text, letter => `%${letter.charCodeAt(0).toString(16)}`).join('')
const jsonEscaped = (text: string) =>
  Array.from(text, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** A key or URL in some encoding, padded so that truncation may split it. */
function echoOf(random: Random, url: string): string {
  const key = pick(random, ENDPOINTS.find(endpoint => endpoint.url === url)?.keys ?? [url])
  const spelling = pick(random, [
    key,
    key.toUpperCase(),
    key.toLowerCase(),
    percentEncoded(key),
    jsonEscaped(key),
    encodeURIComponent(url),
    url,
    url.toUpperCase(),
    url.replaceAll('/', '\\/'),
    new URL(url).pathname + new URL(url).search,
    `//${new URL(url).host}`,
  ])
  const padding = pick(random, [0, 1, 8, 60 + below(random, 25), 4070 + below(random, 30)])
  return (
    `${pick(random, ['x', ' ', '0x', 'not '])}`.repeat(padding) +
    spelling +
    pick(random, ['', ' is wrong', 'f'.repeat(100)])
  )
}

/** Arrays nested `depth` deep. */
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

function hostileValue(random: Random, url: string, depth = 0): unknown {
  switch (below(random, 16)) {
    case 0:
      return echoOf(random, url)
    case 1:
      return { [echoOf(random, url)]: echoOf(random, url), toString: 1, length: 1e9 }
    case 2:
      return JSON.parse('{"__proto__":{"accountProof":1,"code":-32601},"constructor":{"prototype":{}},"message":"x"}')
    case 3:
      return 'method '.repeat(below(random, 600)) + 'not '.repeat(below(random, 600))
    case 4:
      return 'a'.repeat(below(random, 100_000))
    case 5:
      return nested(1 + below(random, random() < 0.1 ? 10_000 : 50))
    case 6:
      return new Array(below(random, 3000)).fill(null)
    case 7:
      return `0x${'ab'.repeat(below(random, 2000))}`
    case 8:
      return `0x${below(random, 2 ** 31).toString(16)}`
    case 9:
      return pick(random, [-1, 0, 1e308, 0.5, 2 ** 53, 12345678])
    case 10:
      return pick(random, [null, true, '', '0x', [], {}, 'null'])
    case 11:
      return `0x${Buffer.from(echoOf(random, url)).toString('hex')}`
    case 12:
      return `0x${url.split('/').at(-1)}`.padEnd(66, '0')
    default:
      return depth > 2
        ? null
        : Object.fromEntries(
            ['error', 'result', 'jsonrpc', 'key', 'proof', 'data', 'cause']
              .filter(() => random() < 0.4)
              .map(name => [name, hostileValue(random, url, depth + 1)]),
          )
  }
}

/** Replaces a part of the value with something hostile, or adds it. */
function spoil(random: Random, url: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.08) return hostileValue(random, url)
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value }
  const names = Object.keys(value)
  const choice = random()
  if (choice < 0.2) {
    const name = pick(random, ['unknown', 'url', '__proto__', 'error', 'result', 'storageHash', 'length', 'toJSON'])
    Object.defineProperty(copy, name, {
      value: hostileValue(random, url),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else if (choice < 0.3 && Array.isArray(copy)) {
    copy.push(...copy)
  } else {
    const name = pick(random, names)
    if (name !== undefined) Reflect.set(Object(copy), name, spoil(random, url, Reflect.get(value, name)))
  }
  return copy
}

const hostileError = (random: Random, url: string) => ({
  code: pick(random, [-32600, -32601, -32602, -32000, -32005, 429, 4100, 1e15, 0.5, '1']),
  message: pick(random, [
    echoOf(random, url),
    `BLOCK_MISSING_IN_CHAIN ${echoOf(random, url)}`,
    'block 7 is not finalized',
    'method '.repeat(1100) + 'not '.repeat(1100),
    hostileValue(random, url),
  ]),
  ...(random() < 0.6 && { data: hostileValue(random, url) }),
})

/** A body in chunks of random size. */
function bodyOf(random: Random, text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text)
  const size = pick(random, [bytes.length + 1, bytes.length + 1, 1 + below(random, bytes.length + 1), 4096])
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}

/** A replacement of `fetch`, and the number of its calls. */
export function hostileFetch({ random, chain, rate, l1Url }: Hostility): { fetch: typeof fetch; count: () => number } {
  const methods = { l1: l1Methods(chain, 1n), l2: l2Methods(chain, 2n) }
  let count = 0
  const answerTo = (url: string, method: string, params: readonly unknown[]): unknown =>
    JSON.parse(JSON.stringify((url === l1Url ? methods.l1 : methods.l2).get(method)?.(params) ?? null))

  const hostile = (url: string, id: number, method: string, params: readonly unknown[]): Response => {
    const truth = () => answerTo(url, method, params)
    const respond = (body: unknown, status = 200) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return new Response(bodyOf(random, text), { status, headers: { 'Content-Type': 'application/json' } })
    }
    const envelope = { jsonrpc: '2.0', id }
    switch (below(random, 10)) {
      case 0:
        return respond({ ...envelope, error: hostileError(random, url) }, pick(random, [200, 200, 400, 500]))
      case 1:
        return respond(echoOf(random, url), pick(random, [200, 401, 403, 404, 502]))
      case 2:
        throw Object.assign(new TypeError(`fetch failed for ${echoOf(random, url)}`), {
          cause: Object.assign(new Error(`connect to ${url}`), { code: echoOf(random, url), url }),
        })
      case 3: {
        const text = JSON.stringify({ ...envelope, result: truth() })
        return respond(text.slice(0, below(random, text.length)))
      }
      case 4: {
        // A duplicate field: JSON.parse takes the last one, some other parsers the first.
        const twice = JSON.stringify(spoil(random, url, truth()))
        return respond(
          `{"jsonrpc":"2.0","id":${id},"result":${twice},"result":${JSON.stringify(truth())},"__proto__":{"a":1}}`,
        )
      }
      case 5:
        return respond({
          ...envelope,
          result: { jsonrpc: '2.0', id, result: truth(), ...Object(spoil(random, url, truth())) },
        })
      case 6:
        return respond(spoil(random, url, { ...envelope, result: truth() }))
      case 7: {
        const others = [params[0], [], pick(random, ['0x0', '0x3', '0x4', '0x8'])]
        return respond({ ...envelope, result: answerTo(url, method, method.endsWith('getProof') ? others : params) })
      }
      default:
        return respond({ ...envelope, result: spoil(random, url, truth()) })
    }
  }

  const stand: typeof fetch = async (input, init) => {
    count++
    const url = String(input)
    const { id, method, params } = JSON.parse(String(init?.body))
    if (random() < rate) {
      if (random() < 0.002)
        return await new Promise((_, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
        )
      return hostile(url, id, method, params)
    }
    return new Response(bodyOf(random, JSON.stringify({ jsonrpc: '2.0', id, result: answerTo(url, method, params) })))
  }
  return { fetch: stand, count: () => count }
}

export function demoChain(): Chain {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  addDemoBlocks(chain)
  return chain
}

/** Everything an error shows: its text, its fields, and those of its causes. */
export function everythingIn(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 8) return typeof error === 'string' ? error : (JSON.stringify(error) ?? '')
  const fields = Object.getOwnPropertyNames(error).map(name => {
    const value: unknown = Reflect.get(error, name)
    return value instanceof Error
      ? everythingIn(value, depth + 1)
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)
  })
  return [String(error), JSON.stringify(error), ...fields].join('\n')
}

/** The keys of the URLs that the text shows, in any case. For a long key, its first half is enough. */
export function keysIn(text: string, urls: readonly string[]): string[] {
  const lower = text.toLowerCase()
  const keys = ENDPOINTS.filter(({ url }) => urls.includes(url)).flatMap(endpoint => endpoint.keys)
  return keys.filter(key => {
    const spellings = [key, percentEncoded(key), jsonEscaped(key)].map(each => each.toLowerCase())
    const start = key.length > 16 ? [key.slice(0, key.length / 2).toLowerCase()] : []
    return [...spellings, ...start].some(each => lower.includes(each))
  })
}
