import { JsonRpcProvider } from 'ethers'
import { expect, it, vi } from 'vitest'
import { admissionOf, answerLimit } from '../../src/client/transport/admission.ts'
import { redactorOf } from '../../src/client/transport/redact.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createBundle, lineaLayout } from '../../src/entry/anchor.ts'
import { mainnetBeacon, trustBeaconBlock } from '../../src/entry/beacon.ts'
import { ProofError } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  createRollupClient,
  diagnose,
  EndpointError,
  fetchVerifiedRoot,
  finalizedBlockHash,
  type RequestProvider,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { fetchAnswer, fetcherOf } from './fetching.ts'
import { everythingIn } from './hostile-conversations.ts'
import { CONTRACT, ROLLUP, startServer, startService, USER, word } from './servers.ts'

const world = demoWorld(poseidon2)
const stateRoot = world.stateRoot()
const keys = Array.from({ length: 20 }, (_, index) => word(index))
const request = { scheme: poseidon2, stateRoot, address: CONTRACT, storageKeys: keys, l2BlockNumber: 1n }

const providing = (answer: (params: readonly unknown[], method: string) => unknown): RequestProvider => ({
  request: async ({ method, params }) => answer(Array.isArray(params) ? params : [], method),
})
const failing = (error: unknown): RequestProvider => ({
  request: () => {
    throw error
  },
})
const honest = ([address, storageKeys]: readonly unknown[]) =>
  world.getProof(address as typeof CONTRACT, storageKeys as typeof keys)
const codeOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return error instanceof ProofError || error instanceof EndpointError ? error.code : error
  }
}

it('examines only a bounded part of an error, however long it is', () => {
  // Without the bound, each of these takes seconds or never ends.
  const texts = [
    'method '.repeat(40_000) + 'not '.repeat(40_000),
    'a'.repeat(200_000),
    `${'not '.repeat(100_000)}finalized`,
    '/'.repeat(200_000),
    'https:'.repeat(50_000),
    '%2525252'.repeat(40_000),
  ]
  let diagnosed = 0
  for (const text of texts) {
    for (const error of [{ code: -32000, message: text }, { code: -32000, message: '', data: text }, new Error(text)]) {
      expect(everythingIn(diagnose(error)).length).toBeLessThan(40_000)
      diagnosed++
    }
  }
  expect(diagnosed).toBe(18)
})

it('follows 32 causes of an error, five deep', () => {
  let reads = 0
  const endless = {}
  for (const name of ['cause', 'error', 'info']) {
    const get = () => {
      reads++
      return endless
    }
    Object.defineProperty(endless, name, { get })
  }
  expect(diagnose(endless).code).toBe('UNREACHABLE')
  expect(reads).toBeLessThan(300)
  const nested = (depth: number): unknown =>
    depth === 0 ? { code: -32601, message: 'no' } : { cause: nested(depth - 1) }
  expect([5, 6].map(depth => diagnose(nested(depth)).code)).toEqual(['METHOD_UNKNOWN', 'UNREACHABLE'])
})

it('keeps only the fields of an answer that the method defines', async () => {
  const large = 'x'.repeat(1_000_000)
  const provider = providing(params => {
    const { accountProof, storageProofs } = honest(params)
    return { accountProof: { ...accountProof, large }, storageProofs: storageProofs.map(p => ({ ...p, large })), large }
  })
  for (const maxKeysPerRequest of [1, 20]) {
    expect(await fetchAnswer(provider, request, { maxKeysPerRequest })).toEqual(honest([CONTRACT, keys]))
  }
})

it('bounds what it keeps by what was requested', async () => {
  const long = `0x${'ab'.repeat(400_000)}`
  const lies = [
    () => ({ accountProof: { key: long }, storageProofs: [] }),
    () => ({ accountProof: {}, storageProofs: new Array(200_000).fill(null) }),
    () => ({ accountProof: { proof: { proofRelatedNodes: new Array(300_000).fill('0x') } }, storageProofs: [] }),
  ]
  for (const lie of lies) {
    expect(await codeOf(() => fetchAnswer(providing(lie), { ...request, storageKeys: [] }))).toBe('RESPONSE_TOO_LARGE')
  }
  expect(lies.length).toBe(3)
})

it('keeps at most 128 MiB of proofs, however many keys are requested', () => {
  const admission = admissionOf(answerLimit(2 ** 20), redactorOf(new URL('https://endpoint.example')))
  admission.charge(2 ** 27)
  expect(() => admission.charge(1)).toThrow(expect.objectContaining({ code: 'RESPONSE_TOO_LARGE' }))
})

it('returns only what was verified', async () => {
  const TRUE = honest([CONTRACT, keys])
  const other = world.fork()
  other.setAccount(CONTRACT, { balance: 99n })
  const FORGED = other.getProof(CONTRACT, keys)
  const mixed = { jsonrpc: '2.0', result: TRUE, ...FORGED }
  expect(
    await fetchAnswer(
      providing(() => mixed),
      request,
    ),
  ).toEqual(TRUE)
  // The same over several requests.
  const each = ([address, asked]: readonly unknown[]) => ({
    jsonrpc: '2.0',
    result: honest([address, asked]),
    ...other.getProof(CONTRACT, asked as typeof keys),
  })
  expect(await fetchAnswer(providing(each), request, { maxKeysPerRequest: 3 })).toEqual(TRUE)
  // Fields of eth_getProof, which it looks at only to refuse such answers.
  const both = { ...TRUE, storageHash: word(1), storageProof: [] }
  const known = await fetchAnswer(
    providing(() => both),
    request,
  )
  expect(Object.keys(Object(known)).sort()).toEqual(['accountProof', 'storageProofs'])
  const nested = { result: { result: TRUE } }
  expect(
    await codeOf(() =>
      fetchAnswer(
        providing(() => nested),
        request,
      ),
    ),
  ).toBe('MALFORMED_RESPONSE')
  const inherited: unknown = Object.create(TRUE)
  expect(
    await codeOf(() =>
      fetchAnswer(
        providing(() => inherited),
        request,
      ),
    ),
  ).toBe('MALFORMED_RESPONSE')
})

it('reports the source of the L1 block hash', async () => {
  const { url, l1Url } = await startService()
  const asked = { scheme: poseidon2, rollup: ROLLUP, address: CONTRACT }
  const recorded = await recordEvidence(withNetwork({ l1: l1Url, l2: url, ...asked }))
  expect(recorded.verified.trustedInput).toBe('l1BlockHash')
})

const SHORT = ['Ab1', 'k3y', 'tiny', 'Zz9-x']
const LONG = ['secret-key-0123456789', '9aa3d95b3bc440fa88ea12eaa4456161', 'clé-sécrète', 'with space+plus']

it('redacts every key of a URL in every encoding', () => {
  let checked = 0
  for (const key of [...SHORT, ...LONG]) {
    const encoded = encodeURIComponent(key)
    for (const url of [
      `https://h.example:8999/v3/${encoded}`,
      `https://h.example:8999/?a=${encoded}`,
      `https://h.example:8999/${encoded}`,
      `https://h.example:8999/rpc#${encoded}`,
    ]) {
      const redact = redactorOf(new URL(url))
      const spellings = [
        key,
        key.toUpperCase(),
        key.toLowerCase(),
        encoded,
        encoded.toLowerCase(),
        encodeURIComponent(encoded),
      ]
      for (const spelling of spellings) {
        for (const text of [`the key ${spelling} is wrong`, `"${spelling}"`, `key=${spelling}&`, `(${spelling})`]) {
          const shown = redact(text).toLowerCase()
          expect(shown, text).not.toContain(spelling.toLowerCase())
          checked++
        }
      }
      expect(redact(`at ${url} or //h.example:8999 or h.example:8999`)).not.toMatch(/h\.example|8999/)
      expect(redact('BLOCK_MISSING_IN_CHAIN: rollup_getProof at block 7')).toBe(
        'BLOCK_MISSING_IN_CHAIN: rollup_getProof at block 7',
      )
    }
  }
  expect(checked).toBe(8 * 4 * 6 * 4)
})

it('quotes no key in a ProofError, wherever the quote is truncated', async () => {
  const KEY = 'secret-key-0123456789'
  let refused = 0
  for (const padding of [0, 40, 58, 60, 65, 70, 75, 79]) {
    const text = `${'x'.repeat(padding)}${KEY} and more ${'y'.repeat(60)}`
    const { url } = await startServer((response, id) => {
      const { accountProof } = honest([CONTRACT, []])
      const result = { accountProof: { ...accountProof, key: text }, storageProofs: [] }
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    const provider = createHttpProvider(`${url}/v3/${KEY}`)
    const asked = { scheme: poseidon2, stateRoot, address: CONTRACT, l2BlockNumber: 1n }
    const error = await createRollupClient(provider)
      .getVerifiedState(asked)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ProofError)
    expect(everythingIn(error)).not.toMatch(/secret|127\.0/)
    refused++
  }
  expect(refused).toBe(8)
})

it('keeps what providers throw as the cause, without URLs', async () => {
  const mistake = new TypeError('x.foo is not a function')
  const error = await fetcherOf(failing(mistake))
    .blockNumber()
    .catch((thrown: unknown) => thrown)
  const { name, message, stack } = mistake
  expect(error).toMatchObject({ code: 'UNREACHABLE', cause: { name, message, stack } })
  const leaking = new TypeError('at https://rpc.example/v3/secret', { cause: new Error('wss://rpc.example/secret') })
  const clean = diagnose(leaking)
  expect(clean.cause).toMatchObject({ name: 'TypeError', message: 'at [URL]', cause: { message: '[URL]' } })
  expect(everythingIn(clean)).not.toContain('secret')
  const proxy = new Proxy(
    {},
    {
      get: () => {
        throw new Error('https://a/secret')
      },
      getPrototypeOf: () => {
        throw new Error('no')
      },
    },
  )
  const getter = {
    get code() {
      throw new Error('https://a/secret')
    },
    message: 'https://a/secret',
  }
  const odd = [
    proxy,
    getter,
    Object.create(null),
    Symbol('s'),
    7n,
    () => {},
    'https://a/secret',
    { toString: 1 },
    new Proxy([], {}),
  ]
  for (const thrown of odd) {
    const found = await fetcherOf(failing(thrown))
      .blockNumber()
      .catch((error: unknown) => error)
    expect(found).toMatchObject({ code: 'UNREACHABLE' })
    expect(everythingIn(found)).not.toContain('secret')
  }
  expect(odd.length).toBe(9)
})

it('reports what it expected if an argument is missing, misspelt or wrong', async () => {
  const provider = providing(honest)
  const untyped = (value: unknown) => value as never
  const client = createRollupClient(provider)
  const asked = { scheme: poseidon2, stateRoot, address: CONTRACT, storageKeys: [], l2BlockNumber: 1n }
  const root = { l1: provider, rollup: ROLLUP, l1BlockHash: word(1) }
  const apis = [{ get: async () => null }]
  const trusted = trustBeaconBlock({ network: mainnetBeacon, blockRoot: word(1) })
  const endpoints = { l1: provider, l2: provider, scheme: poseidon2, rollup: ROLLUP, address: CONTRACT }
  const recordFrom = (beacon: object) => recordEvidence(withNetwork({ ...endpoints, beacon: untyped(beacon) }))
  const mistakes: [string, RegExp, () => unknown][] = [
    ['l2', /neither http nor https/, () => createRollupClient('secret')],
    ['l2', /expected a URL, or an EIP-1193 provider.*found nothing/, () => createRollupClient(untyped(null))],
    ['l2', /found an object/, () => createRollupClient(untyped({}))],
    ['l2', /at least one endpoint/, () => createRollupClient([])],
    ['l2[1]', /EIP-1193/, () => createRollupClient([provider, untyped(7)])],
    ['maxKeys', /an unknown field/, () => createRollupClient(provider, untyped({ maxKeys: 1 }))],
    ['', /an object/, () => createRollupClient(provider, untyped('linea_getProof'))],
    [
      'rollup.adress',
      /expected address|no field but/,
      () => createRollupClient(provider, { rollup: untyped({ ...ROLLUP, adress: 1 }) }),
    ],
    ['method', /the name of a method/, () => createRollupClient(provider, { method: '' })],
    [
      'storageRoot',
      /expected no field but address/,
      () => client.getVerifiedState(untyped({ ...asked, storageRoot: 1 })),
    ],
    ['address', /found nothing/, () => client.getVerifiedState(untyped({ ...asked, address: undefined }))],
    ['l2BlockNumber', /bigint.*the number 3/, () => client.getVerifiedState({ ...asked, l2BlockNumber: untyped(3) })],
    [
      'l2BlockNumber',
      /bigint.*found nothing/,
      () => client.getVerifiedState({ ...asked, l2BlockNumber: untyped(undefined) }),
    ],
    ['signal', /AbortSignal/, () => client.getVerifiedState({ ...asked, signal: untyped(1) })],
    ['storagekeys', /expected storageKeys/, () => client.getVerifiedState(untyped({ storagekeys: [] }))],
    ['stateRoot', /found nothing/, () => client.getVerifiedState(untyped({ ...asked, stateRoot: undefined }))],
    ['scheme', /./, () => client.getVerifiedState(untyped({ ...asked, scheme: undefined }))],
    ['l2BlockNumber', /a bigint/, () => client.getVerifiedState(untyped({ ...asked, l2BlockNumber: 'finalized' }))],
    ['timeoutt', /an unknown field/, () => createHttpProvider('http://a', untyped({ timeoutt: 1 }))],
    ['timeoutMs', /found the number -1/, () => createHttpProvider('http://a', { timeoutMs: -1 })],
    ['timeoutMs', /found the number 1e/, () => createHttpProvider('http://a', { timeoutMs: 1e100 })],
    [
      'signal',
      /expected an AbortSignal/,
      () => createHttpProvider('http://a', { signal: untyped(new AbortController()) }),
    ],
    ['url', /http or https.*found an object/, () => createHttpProvider(untyped({ href: 'http://a/secret' }))],
    ['l1', /EIP-1193/, () => fetchVerifiedRoot(untyped({ ...root, l1: undefined }))],
    ['rollup', /an object/, () => fetchVerifiedRoot(untyped({ ...root, rollup: undefined }))],
    [
      'rollup.layout.roots',
      /unknown/,
      () => fetchVerifiedRoot({ ...root, rollup: { ...ROLLUP, layout: untyped({ ...lineaLayout, roots: 1n }) } }),
    ],
    ['l1BlockHash', /32 bytes/, () => fetchVerifiedRoot(untyped({ ...root, l1BlockHash: undefined }))],
    [
      'l1BlockHash',
      /32 bytes.*a function/,
      () => fetchVerifiedRoot({ ...root, l1BlockHash: untyped(async () => word(1)) }),
    ],
    ['l2BlockNumber', /a bigint/, () => fetchVerifiedRoot({ ...root, l2BlockNumber: untyped(3) })],
    ['l2blocknumber', /expected l2BlockNumber/, () => fetchVerifiedRoot(untyped({ ...root, l2blocknumber: 3n }))],
    ['signal', /AbortSignal/, () => fetchVerifiedRoot({ ...root, signal: untyped(1) })],
    ['beacon.apis', /one or more beacon APIs/, () => recordFrom({ trusted })],
    ['beacon.apis', /one or more beacon APIs/, () => recordFrom({ apis: [{}], trusted })],
    ['beacon.trusted', /trustBeaconBlock/, () => recordFrom({ apis })],
    [
      'beacon.trusted.beaconBlockRoot',
      /32 bytes/,
      () => recordFrom({ apis, trusted: { ...trusted, beaconBlockRoot: '0x' } }),
    ],
    ['beacon.trusted.root', /unknown/, () => recordFrom({ apis, trusted: { ...trusted, root: 1 } })],
    ['beacon.maxtrustedageseconds', /expected maxT/, () => recordFrom({ apis, trusted, maxtrustedageseconds: 1 })],
    ['beacon.maxTrustedAgeSeconds', /seconds/, () => recordFrom({ apis, trusted, maxTrustedAgeSeconds: -1 })],
    ['l1', /EIP-1193/, () => finalizedBlockHash(untyped(undefined))],
    ['l1[1]', /EIP-1193/, () => finalizedBlockHash([provider, untyped(1)])],
    ['l1', /each endpoint once/, () => finalizedBlockHash(['http://a/secret', new URL('http://a/secret')])],
  ]
  for (const [path, words, mistake] of mistakes) {
    let error: unknown
    try {
      await mistake()
    } catch (thrown) {
      error = thrown
    }
    const message = expect.stringMatching(words)
    expect(error, `${path} ${words}`).toMatchObject({ code: 'ARGUMENT_INVALID', action: 'fix', path, message })
    expect(everythingIn(error)).not.toContain('secret')
  }
  expect(mistakes.length).toBe(41)
})

it('works with a provider of ethers', async () => {
  const { url, service } = await startService()
  const provider = new JsonRpcProvider(url, 1, { staticNetwork: true, batchMaxCount: 1 })
  const stateRoot = service.chain.at(1n)?.stateRoot() ?? '0x'
  try {
    const client = createRollupClient(provider)
    const { storage } = await client.getVerifiedState({
      scheme: poseidon2,
      stateRoot,
      address: CONTRACT,
      storageKeys: [word(0)],
      l2BlockNumber: 1n,
    })
    expect(storage[0]?.value).toBe(word(43))
    await expect(client.getVerifiedState({ ...request, l2BlockNumber: 99n })).rejects.toMatchObject({
      code: 'BLOCK_MISSING',
    })
  } finally {
    provider.destroy()
  }
})

it('fetches 200,000 keys of an account without storage', async () => {
  const many = Array.from({ length: 200_000 }, (_, index) => word(index))
  const provider = providing(([address]) => world.getProof(address as typeof USER, []))
  const answer = await fetchAnswer(
    provider,
    { ...request, address: USER, storageKeys: many },
    { maxKeysPerRequest: 50_000 },
  )
  expect(answer).toEqual(world.getProof(USER, []))
})

it('reads nothing from a polluted Object.prototype', async () => {
  const polluted: Record<string, unknown> = {
    code: -32601,
    jsonrpc: '2.0',
    result: 1,
    method: 'x',
    verify: 1,
  }
  for (const [name, value] of Object.entries(polluted)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  }
  try {
    const asked: unknown[] = []
    const provider = providing((params, method) => {
      asked.push(method)
      return honest(params)
    })
    expect(await fetchAnswer(provider, request)).toEqual(honest([CONTRACT, keys]))
    expect(asked).toEqual(['rollup_getProof'])
    expect(diagnose(new TypeError('no')).code).toBe('UNREACHABLE')
  } finally {
    for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
  }
})

it('writes only known fields into a bundle', () => {
  const proof = {
    address: CONTRACT,
    accountProof: ['0xab', 'https://a/secret'],
    storageProof: [{ key: '0x1', url: 'secret' }],
    secret: 1,
  }
  const { accountProof } = world.getProof(CONTRACT, [])
  const answer = {
    jsonrpc: '2.0',
    result: { accountProof: { ...accountProof, url: 'https://a/secret' }, storageProofs: [], secret: 1 },
  }
  const parts = { scheme: poseidon2, rollup: ROLLUP, l2BlockNumber: 1n, address: CONTRACT }
  const bundle = createBundle({ ...parts, answer, l1: { proof } })
  expect(bundle.answer).toEqual({ accountProof, storageProofs: [] })
  expect(bundle.l1?.proof).toEqual({ address: CONTRACT, accountProof: ['0xab', null], storageProof: [{ key: '0x1' }] })
  expect(JSON.stringify(bundle)).not.toContain('secret')
  const listOf = (length: number) =>
    new Proxy([], {
      get: (_, name) => (name === 'length' ? length : 'x'),
      getOwnPropertyDescriptor: (target, name) =>
        name === 'length' ? Reflect.getOwnPropertyDescriptor(target, name) : { value: 'x', configurable: true },
    })
  const withList = (length: number) =>
    createBundle({ ...parts, answer: { accountProof, storageProofs: listOf(length) } }).answer
  expect(() => withList(2 ** 50)).toThrow(expect.objectContaining({ code: 'EVIDENCE_MALFORMED' }))
  // What is no list stays wrong.
  for (const length of [Number.POSITIVE_INFINITY, Number.NaN, -1, 1.5]) {
    expect(withList(length)).toEqual({ accountProof, storageProofs: null })
  }
})

it('does not hang on a promise that never settles or on values that are not promises', async () => {
  const controller = new AbortController()
  const never: RequestProvider = { request: () => new Promise(() => {}) }
  const waiting = fetchAnswer(never, request, { signal: controller.signal }).catch((error: unknown) => error)
  controller.abort('the caller had enough')
  // The reason is the caller's own, so it is passed on unchanged.
  expect(await waiting).toMatchObject({ code: 'ABORTED', cause: 'the caller had enough' })
  // Values that are not promises.
  const odd: unknown[] = [() => honest([CONTRACT, keys]), 7, 'x', Symbol('x'), undefined]
  for (const value of odd) {
    const provider = { request: () => value } as never
    const { signal } = new AbortController()
    expect(await codeOf(() => fetchAnswer(provider, request, { signal }))).toBe('MALFORMED_RESPONSE')
  }
  expect(odd.length).toBe(5)
  vi.restoreAllMocks()
})
