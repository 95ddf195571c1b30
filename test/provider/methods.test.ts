import { expect, it } from 'vitest'
import { bytesToHex, hexLength, hexToBytes } from '../../src/base/bytes.ts'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError, type VerifiedProvider } from '../../src/entry/provider.ts'
import type { Asking } from '../../src/provider/provider.ts'
import { keccak256 } from '../../src/verify/hash/keccak/index.ts'
import { encodeTransaction, kinds, makeBlock } from '../../vectors/blocks/truth.ts'
import { METHODS, wordsOf } from '../tools/methods.ts'
import { createMixedEndpoints } from './block-endpoints.ts'
import { word } from './endpoints.ts'

const endpoints = await createMixedEndpoints()
const asking =
  (provider: VerifiedProvider) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  (method: string, ...params: unknown[]): Promise<any> =>
    provider.request({ method, params })
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    error => (isProviderError(error) ? error.reason : String(error)),
  )
const hashOf = (hex: Hex) => bytesToHex(keccak256(hexToBytes(hex, hexLength(hex))))

it('does with each method what the documents say', async () => {
  const verified = endpoints.provider(endpoints.l2())
  const pushed: Asking = { canPush: true }
  const ask = (method: string) => verified.request({ method }, pushed)
  const all = Object.values(METHODS).flat()
  expect(new Set(all).size).toBe(all.length)
  for (const kind of ['proven', 'stateless', 'forwarded', 'refused'] as const) {
    for (const method of METHODS[kind]) {
      const asked = ask(method)
      if (kind === 'refused') {
        await expect(asked).rejects.toThrow(`the method ${method} does not exist: ${wordsOf(kind, method)}.`)
      }
      if (kind === 'refused' || kind === 'forwarded') {
        await expect(asked).rejects.toMatchObject({ code: 4200, reason: 'METHOD_REFUSED', data: { method } })
        const forwarding = endpoints.provider(endpoints.l2(), { forward: [method] })
        expect(await reasonOf(asking(forwarding)(method))).toBe('ENDPOINT_FAILED')
      } else {
        expect(['answered', 'PARAMS_INVALID'], method).toContain(await reasonOf(asked))
        const forwarding = () => endpoints.provider(endpoints.l2(), { forward: [method] })
        if (kind === 'proven' && method !== 'eth_getTransactionCount') expect(forwarding).toThrow('proven here')
        else expect(forwarding()).toBeDefined()
      }
    }
  }
  const { proven, stateless, forwarded, refused } = METHODS
  expect([proven, stateless, forwarded, refused].map(({ length }) => length)).toEqual([42, 7, 2, 15])
  for (const method of ['eth_other', 'toString', '__proto__', 'constructor']) {
    await expect(ask(method)).rejects.toMatchObject({ code: 4200, message: expect.stringMatching(/does not exist\.$/) })
  }
})

it('answers probes, which state nothing about the chain, without a request', async () => {
  const l2 = endpoints.l2()
  const ask = asking(endpoints.provider(l2))
  const answers = await Promise.all([
    ...['web3_clientVersion', 'net_listening', 'eth_accounts', 'eth_syncing'].map(method => ask(method)),
    ask('web3_sha3', '0x68656c6c6f20776f726c64'),
  ])
  expect(answers).toEqual([
    ...['rollup-state-proof', true, [], false],
    '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
  ])
  expect(l2.asked).toEqual([])
  expect(await reasonOf(ask('web3_sha3', 'hello'))).toBe('PARAMS_INVALID')
  expect(await reasonOf(ask('eth_syncing', true))).toBe('PARAMS_INVALID')
})

it('proves transactions by their place, counts, uncles and raw forms, of blocks by number and by hash', async () => {
  const ask = asking(endpoints.provider(endpoints.l2()))
  const block = await ask('eth_getBlockByNumber', '0x4', true)
  const contents = await kinds()
  const sent = (await makeBlock(contents)).transactions.map(one => bytesToHex(encodeTransaction(one)))
  expect([block.transactions.length, sent.length]).toEqual([contents.length, contents.length])
  const names = [
    ['Number', '0x4'],
    ['Hash', block.hash],
  ]
  let seen = 0
  for (const [by, name] of names) {
    expect(await ask(`eth_getBlockTransactionCountBy${by}`, name)).toBe(`0x${contents.length.toString(16)}`)
    expect(await ask(`eth_getUncleCountByBlock${by}`, name)).toBe('0x0')
    expect(await ask(`eth_getUncleByBlock${by}AndIndex`, name, '0x0')).toBeNull()
    for (const [index, transaction] of block.transactions.entries()) {
      const place = [name, `0x${index.toString(16)}`]
      expect(await ask(`eth_getTransactionByBlock${by}AndIndex`, ...place)).toEqual(transaction)
      const raw = await ask(`eth_getRawTransactionByBlock${by}AndIndex`, ...place)
      expect([raw, hashOf(raw)]).toEqual([sent[index], transaction.hash])
      for (const method of ['eth_getRawTransactionByHash', 'debug_getRawTransaction'])
        expect(await ask(method, transaction.hash)).toBe(raw)
      seen++
    }
    const beyond = [name, `0x${contents.length.toString(16)}`]
    expect(await ask(`eth_getTransactionByBlock${by}AndIndex`, ...beyond)).toBeNull()
    expect(await ask(`eth_getRawTransactionByBlock${by}AndIndex`, ...beyond)).toBeNull()
    const header = await ask('debug_getRawHeader', name)
    expect(hashOf(header)).toBe(block.hash)
    expect(await ask('debug_getRawReceipts', name)).toHaveLength(contents.length)
  }
  expect(seen).toBe(2 * contents.length)
  // Unknown, and newer than what is proven.
  const missing = [
    'eth_getBlockTransactionCountByHash',
    'eth_getUncleCountByBlockHash',
    'debug_getRawHeader',
    'debug_getRawReceipts',
    'debug_getRawTransaction',
    'eth_getRawTransactionByHash',
  ]
  for (const method of missing) expect(await ask(method, word(1)), method).toBeNull()
  expect(await ask('eth_getTransactionByBlockNumberAndIndex', '0xffff', '0x0')).toBeNull()
  expect(await ask('eth_getBlockTransactionCountByNumber', '0x0')).toBe('0x0')
  expect(await reasonOf(ask('eth_getTransactionByBlockNumberAndIndex', '0x4', 'first'))).toBe('PARAMS_INVALID')
})

it('gives raw receipts only as the header commits to them', async () => {
  const lying = endpoints.l2((answer, method) =>
    method === 'eth_getBlockReceipts'
      ? (answer as object[]).map(one => ({ ...one, cumulativeGasUsed: '0x1' }))
      : answer,
  )
  const ask = asking(endpoints.provider(lying))
  expect(await reasonOf(ask('debug_getRawReceipts', '0x4'))).toBe('PROOF_REFUSED')
})

it('has the fee for blobs, which is 1 without an excess', async () => {
  expect(await asking(endpoints.provider(endpoints.l2()))('eth_blobBaseFee')).toBe('0x1')
})
