import { expect, it } from 'vitest'
import type { Fault, FaultRequest } from '../../../src/devnet/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createHttpProvider, createRollupClient } from '../../../src/entry/rpc.ts'
import { startService, USER } from '../../client/servers.ts'
import { askRpc } from './ask.ts'
import { corrupt, seededFaults } from './faults.ts'

it('applies a fault to the request it is for', async () => {
  const seen: FaultRequest[] = []
  let fault: Fault | undefined
  const { url, l1Url, beaconUrl } = await startService({
    faults: request => {
      seen.push(request)
      return fault
    },
  })
  const ask = () => askRpc(url, 'eth_blockNumber', [])
  const post = () =>
    fetch(l1Url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
    })
  expect(await ask()).toMatchObject({ result: '0x1' })
  fault = { kind: 'status', status: 429, retryAfterSeconds: 3 }
  const limited = await post()
  expect([limited.status, limited.headers.get('Retry-After')]).toEqual([429, '3'])
  fault = { kind: 'error', code: -32000, message: 'a message' }
  expect(await ask()).toMatchObject({ id: 7, error: { code: -32000, message: 'a message' } })
  expect((await fetch(`${beaconUrl}/eth/v1/beacon/genesis`)).status).toBe(500)
  fault = { kind: 'reset' }
  await expect(ask()).rejects.toThrow('fetch failed')
  fault = { kind: 'cut' }
  await expect(ask()).rejects.toThrow()
  fault = { kind: 'delay', milliseconds: 30 }
  expect(await ask()).toMatchObject({ result: '0x1' })
  fault = { kind: 'lie', change: result => `${result}0` }
  expect(await ask()).toMatchObject({ result: '0x10' })
  fault = { kind: 'lie', change: () => ({ data: 'none' }) }
  expect(await (await fetch(`${beaconUrl}/eth/v1/beacon/genesis`)).json()).toEqual({ data: 'none' })

  expect(seen.map(({ turn }) => turn)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  expect(seen[1]).toEqual({ endpoint: 'l1', method: 'eth_chainId', params: [], turn: 1 })
  expect(seen[3]).toMatchObject({ endpoint: 'beacon', method: '/eth/v1/beacon/genesis' })
})

it('survives a fault function that throws', async () => {
  const throwing = () => {
    throw new Error('a mistake')
  }
  const { url, service } = await startService({ faults: () => ({ kind: 'lie', change: throwing }) })
  expect(await askRpc(url, 'eth_blockNumber', [])).toMatchObject({ error: { code: -32603 } })
  expect(service.chain.latest()).toBe(1n)
})

it('does not wait for a delayed answer when it closes', async () => {
  let arrive = () => {}
  const arrived = new Promise<void>(resolve => {
    arrive = resolve
  })
  const faults = (): Fault => {
    arrive()
    return { kind: 'delay', milliseconds: 3_600_000 }
  }
  const { url, service } = await startService({ faults })
  const answer = askRpc(url, 'eth_blockNumber', [])
  await arrived
  await service.close()
  // It was pending, so it is answered.
  expect(await answer).toHaveProperty('result', '0x1')
})

it('draws the same faults from the same seed, at the given rates', () => {
  const rates = { rateLimited: 0.1, unavailable: 0.1, reset: 0.1, cut: 0.1, slow: 0.1, lie: 0.1 }
  const draw = (seed: number) => {
    const faults = seededFaults(seed, rates)
    return Array.from({ length: 2000 }, (_, turn) => faults({ endpoint: 'l2', method: '', params: [], turn })?.kind)
  }
  expect(draw(1)).toEqual(draw(1))
  expect(draw(1)).not.toEqual(draw(2))
  for (const kind of ['reset', 'cut', 'delay', 'lie']) {
    const found = draw(3).filter(drawn => drawn === kind).length
    expect(found).toBeGreaterThan(140)
    expect(found).toBeLessThan(260)
  }
  expect(draw(3).filter(kind => kind === undefined).length).toBeGreaterThan(700)
})

it('never makes a client accept a lie', async () => {
  const { url, service } = await startService({
    faults: ({ method }) => (method === 'rollup_getProof' ? lie : undefined),
  })
  const lie: Fault = { kind: 'lie', change: corrupt }
  const stateRoot = service.chain.at(1n)?.stateRoot() ?? '0x'
  const claim = { scheme: poseidon2, stateRoot, address: USER, l2BlockNumber: 1n }
  const provider = createHttpProvider(url)
  await expect(createRollupClient(provider, { method: 'rollup_getProof' }).getVerifiedState(claim)).rejects.toThrow()
  const { account } = await createRollupClient(provider, { method: 'linea_getProof' }).getVerifiedState(claim)
  expect(account?.nonce).toBe(7n)
})
