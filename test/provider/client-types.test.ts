import type { Eip1193Provider } from 'ethers'
import type { EIP1193Provider } from 'viem'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import {
  isProviderError,
  ProviderError,
  type ProviderErrorReason,
  providerErrorMeanings,
  type VerifiedProvider,
} from '../../src/entry/provider.ts'
import { EndpointError, type RequestProvider } from '../../src/entry/rpc.ts'
import type { AnyProviderError } from '../../src/provider/error.ts'
import { demoState } from './contracts.ts'
import { createEndpoints } from './endpoints.ts'

it('is a provider in the types of viem and ethers', async () => {
  const provider: VerifiedProvider = createEndpoints(demoState).provider()
  const ofViem: EIP1193Provider = provider
  const ofEthers: Eip1193Provider = provider
  const ofOurs: RequestProvider = provider
  const id: Hex = await ofViem.request({ method: 'eth_chainId' })
  expect([id, await ofEthers.request({ method: 'eth_chainId' })]).toEqual(['0x539', '0x539'])
  const unknown: unknown = await ofOurs.request({ method: 'eth_chainId' })
  const own = await provider.request<Hex>({ method: 'eth_chainId', params: [] })
  // @ts-expect-error unless the caller states it, the type of a result is unknown
  const wrong: Hex = unknown
  expect([unknown, wrong]).toEqual([own, own])
})

it('has no events, so that listeners are never called', async () => {
  const provider = createEndpoints(demoState).provider()
  const listener = () => expect.unreachable()
  for (const event of ['connect', 'disconnect', 'chainChanged', 'accountsChanged', 'message']) {
    expect(provider.on(event, listener)).toBeUndefined()
    expect(provider.removeListener(event, listener)).toBeUndefined()
  }
  await provider.view()
})

it('throws errors whose data are typed by their reason', () => {
  const describe = (error: AnyProviderError): string => {
    if (error.reason === 'REVERTED') return error.data
    if (error.reason === 'PROOF_REFUSED') return `${error.data.error} at ${error.data.path}`
    if (error.reason === 'VALUE_UNPROVEN') return error.data.instruction
    // @ts-expect-error the data of another reason
    return error.reason === 'ENDPOINT_FAILED' ? error.data.error : `${error.data.instruction}`
  }
  const errors: unknown[] = [
    new ProviderError('REVERTED', '0x12'),
    new ProviderError('PROOF_REFUSED', { error: 'BAD_HEX', path: 'answer' }),
    new ProviderError('VALUE_UNPROVEN', { instruction: 'BASEFEE' }),
    new ProviderError('ENDPOINT_FAILED', { error: 'TIMEOUT', layer: 'L1' }),
  ]
  expect(errors.filter(isProviderError).map(describe)).toEqual(['0x12', 'BAD_HEX at answer', 'BASEFEE', 'TIMEOUT'])
  // @ts-expect-error the data of another reason
  new ProviderError('PROOF_REFUSED', { instruction: 'BASEFEE' })
})

it('has a meaning, a code and an action for every reason', () => {
  const reasons = Object.keys(providerErrorMeanings) as ProviderErrorReason[]
  const errors = reasons.map(reason => new ProviderError(reason, { reason } as never, { found: 'The rest.' }))
  expect(new Set(errors.map(({ code }) => code)).size).toBe(13)
  for (const { reason, code, action, name, message, data } of errors) {
    expect([typeof code, name, data], reason).toEqual(['number', 'ProviderError', { reason }])
    expect(message).toBe(`${providerErrorMeanings[reason]} The rest.`)
    expect(['fix', 'change', 'none'], reason).toContain(action)
  }
  const timeout = new ProviderError('ENDPOINT_FAILED', { error: 'TIMEOUT' }, { cause: new EndpointError('TIMEOUT') })
  expect(timeout.action).toBe('wait')
})
