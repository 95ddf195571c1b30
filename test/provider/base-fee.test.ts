import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { recordCall, type VerifiedProvider, verifyCallEvidence } from '../../src/entry/provider.ts'
import { withNetwork } from '../network.ts'
import { createBlockEndpoints } from './block-endpoints.ts'
import { at, createEndpoints, LEFT, ROLLUP, upgrade, word } from './endpoints.ts'
import { CHAIN_ID } from './full-state.ts'

/**
 * What a call sees of the base fee, as nodes have it. In geth, `applyMessage` of internal/ethapi/api.go and `run` of
 * eth/gasestimator take 0 for the base fee wherever the price of the call is 0, also after its block overrides, and leave the fee
 * for blobs alone unless the call names one. In Besu, `EthCall.isAllowExceedingBalanceAutoSelection` decides by the same rule, and
 * `TransactionSimulator.processWithWorldUpdater` executes on a header whose base fee is then 0. The price of a call with fees is
 * that of the conformance test `eth_call/call-callenv-options-eip1559` of ethereum/execution-apis: base fee and tip, up to the limit.
 */

const PAYER = at('a1')
/** Returns GASPRICE and BASEFEE. */
const READS: Hex = '0x3a5f524860205260405ff3'
/** Reverts if GASPRICE is below BASEFEE, as code that computes the tip does. Otherwise returns the tip. */
const TIP: Hex = '0x483a03483a10600f575f5260205ff35b5f80fd'

const pair = (price: bigint, baseFee: bigint) => `0x${word(price).slice(2)}${word(baseFee).slice(2)}`

const callOf =
  (provider: VerifiedProvider, block = 'latest') =>
  (data: Hex, fees: object = {}) =>
    provider.request({ method: 'eth_call', params: [{ from: PAYER, data, gas: '0x30d40', ...fees }, block] })

/** Blocks whose base fee is 7. Those with the numbers 5, 8 and 12 are the last of finalizations. */
function setUp(options: object = {}) {
  const { chain, l2, provider } = createBlockEndpoints()
  for (const last of [5n, 8n, 12n]) {
    while (chain.latest() < last) chain.addBlock()
    chain.finalize()
  }
  const endpoint = l2()
  return { endpoint, provider: provider(endpoint, options) }
}

const FREE = [{}, { gasPrice: '0x0' }, { maxFeePerGas: '0x0' }, { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }]

it('is 0 for a call that pays nothing, at every block, whatever is stated', async () => {
  const { provider, endpoint } = setUp()
  const stated = setUp({ environment: { baseFee: 3n } }).provider
  const upgraded = createEndpoints(new Map([[PAYER, { balance: 10n ** 18n }]]))
  upgrade(upgraded)
  const calls = [
    ...[callOf(provider), callOf(provider, '0xc'), callOf(provider, '0x8'), callOf(provider, '0x5')],
    ...[callOf(stated), callOf(upgraded.provider())],
  ]
  let asked = 0
  for (const call of calls) {
    for (const fees of FREE) {
      expect(await call(READS, fees)).toBe(pair(0n, 0n))
      expect(await call(TIP, fees)).toBe(word(0))
      asked++
    }
  }
  expect(asked).toBe(24)
  // None of it needs the header.
  expect(endpoint.counts()['eth_getBlockByNumber']).toBeUndefined()
})

const PAID = [
  ...([
    [{ gasPrice: '0x9' }, 9n],
    [{ gasPrice: '0x7' }, 7n],
    [{ maxFeePerGas: '0x9' }, 7n],
    [{ maxFeePerGas: '0x9', maxPriorityFeePerGas: '0x1' }, 8n],
    [{ maxFeePerGas: '0x9', maxPriorityFeePerGas: '0x9' }, 9n],
  ] as const),
]

it.each(['latest', '0xc', '0x8', '0x5'] as const)('is proven for a call that pays: %s', async block => {
  const call = callOf(setUp().provider, block)
  for (const [fees, price] of PAID) {
    expect(await call(READS, fees)).toBe(pair(price, 7n))
    expect(await call(TIP, fees)).toBe(word(price - 7n))
  }
  for (const fees of [{ gasPrice: '0x6' }, { maxFeePerGas: '0x6' }]) {
    // The words by which viem and ethers know the reason.
    const message = expect.stringContaining('max fee per gas less than block base fee')
    await expect(call(READS, fees)).rejects.toMatchObject({ reason: 'PARAMS_INVALID', message })
  }
  const wrong = { maxPriorityFeePerGas: '0x1' }
  await expect(call(READS, wrong)).rejects.toMatchObject({ reason: 'PARAMS_INVALID' })
})

it('is that of the block before where the header of the newest one is not proven', async () => {
  const { provider, endpoint } = setUp()
  expect(await callOf(provider)(READS, { maxFeePerGas: '0x9' })).toBe(pair(7n, 7n))
  const named = endpoint.asked.filter(({ method }) => method === 'eth_getBlockByNumber').map(({ params }) => params[0])
  expect(named).toEqual(['0xb'])
  // Nothing else is taken from there.
  const limit = callOf(provider)('0x455f5260205ff3', { maxFeePerGas: '0x9' })
  await expect(limit).rejects.toMatchObject({ reason: 'VALUE_UNPROVEN', data: { instruction: 'GASLIMIT' } })
})

it('holds for estimates and access lists', async () => {
  const { provider } = setUp()
  const ask = (method: string, fees: object, block = 'latest') =>
    provider.request({ method, params: [{ from: PAYER, data: TIP, ...fees }, block] })
  for (const fees of [...FREE, ...PAID.map(([one]) => one)]) {
    for (const block of ['latest', '0x8']) {
      expect(BigInt(Object(await ask('eth_estimateGas', fees, block)))).toBeGreaterThan(53_000n)
      expect(await ask('eth_createAccessList', fees, block)).not.toHaveProperty('error')
    }
  }
  await expect(ask('eth_estimateGas', { maxFeePerGas: '0x6' }, '0x8')).rejects.toMatchObject({
    reason: 'PARAMS_INVALID',
  })
})

it('does not touch the fee for blobs, which no header proves', async () => {
  const blob: Hex = '0x4a5f5260205ff3'
  const stated = setUp({ environment: { blobBaseFee: 5n } }).provider
  for (const fees of [{}, { maxFeePerGas: '0x9' }]) {
    await expect(callOf(setUp().provider)(blob, fees)).rejects.toMatchObject({ data: { instruction: 'BLOBBASEFEE' } })
    expect(await callOf(stated)(blob, fees)).toBe(word(5))
  }
})

it('is 0 in evidence, too, of both kinds of state: no call there pays', async () => {
  const to = at('c0')
  for (const isUpgraded of [false, true]) {
    const code: Hex = `0x${READS.slice(2)}`
    const endpoints = createEndpoints(new Map([[to, { nonce: 1n, code }]]))
    if (isUpgraded) upgrade(endpoints)
    const { l1, l2 } = endpoints
    const about = { rollup: ROLLUP, chainId: CHAIN_ID }
    const { bundle, verified, scheme } = await recordCall(
      withNetwork({
        ...{ l1, l2, ...about, call: { from: PAYER, to }, scheme: poseidon2, environment: { baseFee: 7n } },
      }),
    )
    expect(verified).toMatchObject({ outcome: 'returned', returnData: pair(0n, 0n), environment: {} })
    expect([scheme === 'ethereum', bundle.environment]).toEqual([isUpgraded, {}])
    const trusted = { l1BlockHash: verified.l1Block.hash }
    const kind = isUpgraded ? ('ethereum' as const) : poseidon2
    const claim = {
      scheme: kind,
      ...about,
      trusted,
      l2BlockNumber: 'fromBundle',
      hardfork: 'prague',
      call: LEFT,
    } as const
    expect(await verifyCallEvidence(bundle, claim)).toMatchObject({ returnData: pair(0n, 0n) })
    // Whoever states one makes the bundle another.
    const stated = { ...bundle, environment: { baseFee: '0x7' } }
    await expect(verifyCallEvidence(stated, claim)).rejects.toMatchObject({ code: 'CALL_STATE_UNUSED' })
  }
})
