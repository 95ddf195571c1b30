import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { ProviderError } from '../../src/entry/provider.ts'
import { at, createEndpoints, word } from './endpoints.ts'
import type { FullAccount, FullState } from './full-state.ts'

const TARGET = at('c0')
const STRANGER = at('ee')
const run = (code: Hex, more: FullState = new Map(), options: object = {}) => {
  const state: FullState = new Map([[TARGET, { nonce: 1n, code, storage: { [word(0)]: word(1) } }], ...more])
  return createEndpoints(state)
    .provider(options)
    .request({ method: 'eth_call', params: [{ to: TARGET }, 'latest'] })
}
/** Leaves the word on the stack as the result. */
const RETURN = '5f5260205ff3'
const push20 = (address: Hex) => `73${address.slice(2)}`

it('tells absent accounts from empty ones, as EXTCODEHASH does', async () => {
  expect(await run(`0x${push20(STRANGER)}3f${RETURN}`)).toBe(word(0))
  const funded: FullState = new Map([[STRANGER, { balance: 1n }]])
  const empty = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(await run(`0x${push20(STRANGER)}3f${RETURN}`, funded)).toBe(empty)
})

it('keeps the code of a contract that destroys itself until the end, and sends its balance', async () => {
  // Calls the victim, which sends its whole balance to the target. Then returns the victim's code size or a balance.
  const victim: FullState = new Map([[STRANGER, { nonce: 1n, balance: 7n, code: `0x${push20(TARGET)}ff` as Hex }]])
  const call = `5f5f5f5f5f${push20(STRANGER)}5af150`
  expect(await run(`0x${call}${push20(STRANGER)}3b${RETURN}`, victim)).toBe(word(22))
  expect(await run(`0x${call}${push20(STRANGER)}31${RETURN}`, victim)).toBe(word(0))
  expect(await run(`0x${call}47${RETURN}`, victim)).toBe(word(7))
})

it('never answers for a precompile that it cannot compute', async () => {
  // The point evaluation of EIP-4844 with input of the right length.
  await expect(run(`0x5f5f60c05f600a5afa${RETURN}`)).rejects.toMatchObject({ reason: 'ROLLUP_DIFFERS' })
  // BLS12-381: two points at infinity add up to the point at infinity, 128 bytes.
  expect(await run(`0x60806000610100600060 0b5afa3d${RETURN}`.replaceAll(' ', '') as Hex)).toBe(word(128))
})

it('ends memory and time bombs within the gas', async () => {
  const outOfGas = { reason: 'EXECUTION_FAILED' }
  // MSTORE far away; a copy of 2^32 bytes; MODEXP with lengths of 2^255.
  await expect(run(`0x5f7f${'ff'.repeat(32)}52`)).rejects.toMatchObject(outOfGas)
  await expect(run('0x63ffffffff5f5f37')).rejects.toMatchObject(outOfGas)
  const modexp = `7f80${'00'.repeat(31)}5f527f80${'00'.repeat(31)}6020527f80${'00'.repeat(31)}6040525f5f60605f60055afa${RETURN}`
  await expect(run(`0x${modexp}`)).rejects.toMatchObject({ reason: 'ROLLUP_DIFFERS', data: { precompile: 'MODEXP' } })
})

it('reads the history contract from the state, not as the EVM would fill it', async () => {
  const history: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935'
  // EIP-2935 as an account of the state, with a slot that the rollup wrote.
  const code = '0x5f545f5260205ff3'
  const state: FullState = new Map([[history, { nonce: 1n, code, storage: { [word(0)]: word(42) } }]])
  expect(await run(`0x60205f5f5f5f${push20(history)}5af1505f51${RETURN}`, state)).toBe(word(42))
  expect(await run(`0x60205f5f5f5f${push20(history)}5af1505f51${RETURN}`)).toBe(word(0))
  // BLOCKHASH of an earlier block is refused.
  const endpoints = createEndpoints(new Map([[TARGET, { nonce: 1n, code: `0x5f40${RETURN}` as Hex }]]))
  endpoints.chain.addBlock()
  endpoints.chain.finalize()
  const asked = endpoints.provider().request({ method: 'eth_call', params: [{ to: TARGET }, 'latest'] })
  await expect(asked).rejects.toMatchObject({ data: { instruction: 'BLOCKHASH' } })
})

it('runs the code that an account delegates to (EIP-7702)', async () => {
  const wallet = at('aa')
  // Returns the sum of slot 0 and the address.
  const target = { nonce: 1n, code: `0x5f543001${RETURN}`, storage: { [word(0)]: word(1) } } as const
  const delegation = `0xef0100${TARGET.slice(2)}` as const
  const state: FullState = new Map<Hex, FullAccount>([
    [TARGET, target],
    [wallet, { nonce: 4n, balance: 9n, code: delegation, storage: { [word(0)]: word(41) } }],
    [STRANGER, { nonce: 1n, code: `0x5f5f5f5f5f${push20(wallet)}5af1503d5f5f3e5f51${push20(wallet)}3b01${RETURN}` }],
  ])
  const endpoints = createEndpoints(state)
  const call = (to: Hex) => endpoints.provider().request({ method: 'eth_call', params: [{ to }, 'latest'] })
  const own = word(BigInt(wallet) + 41n)
  // The code runs with the wallet's storage and address. EXTCODESIZE is that of the delegation, 23 bytes.
  expect(await call(wallet)).toBe(own)
  expect(await call(STRANGER)).toBe(word(BigInt(own) + 23n))
  expect(await endpoints.provider().request({ method: 'eth_getCode', params: [wallet] })).toBe(delegation)
  // The endpoint serves the delegate's code in place of the delegation, then other code for the delegate.
  const lies: [Hex, Hex][] = [
    [wallet, target.code],
    [TARGET, '0x'],
  ]
  for (const [lied, code] of lies) {
    endpoints.lie.l2 = (method, answer, [address]) => (method === 'eth_getCode' && address === lied ? code : answer)
    await expect(call(wallet)).rejects.toMatchObject({
      ...{ reason: 'PROOF_REFUSED', data: { error: 'CODE_HASH_MISMATCH' } },
    })
  }
})

it('answers what the EVM itself knows of blocks and blobs, and stops at unproven values', async () => {
  const op = (bytes: string) => `0x${bytes}${RETURN}` as const
  const codes: [Hex, unknown][] = [
    // BLOCKHASH of the block itself, of a later one, and of number 2^256 - 1 is zero by definition.
    [op('600140'), word(0)],
    [op('600240'), word(0)],
    [op(`7f${'ff'.repeat(32)}40`), word(0)],
    [op('5f40'), 'BLOCKHASH'],
    // BLOBHASH of a call without blobs, PREVRANDAO, BASEFEE of a call that pays nothing, BLOBBASEFEE, COINBASE, GASLIMIT.
    [op('5f49'), word(0)],
    [op('44'), 'PREVRANDAO'],
    [op('48'), word(0)],
    [op('4a'), 'BLOBBASEFEE'],
    [op('41'), 'COINBASE'],
    [op('45'), 'GASLIMIT'],
    // NUMBER, CHAINID and GASPRICE.
    [op('43'), word(1)],
    [op('46'), word(1337)],
    [op('3a'), word(0)],
  ]
  for (const [code, expected] of codes) {
    const { provider, chain } = createEndpoints(new Map([[TARGET, { nonce: 1n, code }]]))
    chain.addBlock()
    chain.finalize()
    const asked = provider().request({ method: 'eth_call', params: [{ to: TARGET }, 'latest'] })
    const found = await asked.catch((error: ProviderError) => Reflect.get(Object(error.data), 'instruction'))
    expect(found, code).toBe(expected)
  }
  expect(codes.length).toBe(13)
})

it('refuses unknown fields, unproven blocks and oversized data', async () => {
  const { provider, asked } = createEndpoints(new Map([[TARGET, { nonce: 1n, code: '0x00' }]]))
  const verified = provider()
  await verified.view()
  asked.length = 0
  const call = { to: TARGET }
  const params: unknown[][] = [
    [call, 'latest', { [TARGET]: { codes: '0x' } }],
    [call, 'latest', {}, { number: '0x1' }],
    [call, 'latest', 'x'],
    [{ ...call, blobVersionedHashes: [word(1)] }],
    [{ ...call, authorizationList: [{}] }],
    [{ ...call, data: `0x${'00'.repeat(2 ** 20 + 1)}` }],
    [{ ...call, data: '0x00', input: '0x01' }],
    [{ ...call, gas: 5 }],
    [{ ...call, value: '-0x1' }],
    [{ ...call, accessList: Array(1025).fill({ address: TARGET }) }],
    [call, 'pending'],
    [call, 'earliest'],
    [call, 'LATEST'],
    [call, ''],
    [call, 0],
    [call, '0'],
    [call, '0x'],
    [call, `0x${'f'.repeat(17)}`],
    [call, { blockHash: word(1) }],
    [call, { blockNumber: '0x0', blockHash: word(1) }],
    [call, {}],
    [call, []],
    [null, 'latest'],
    [[call], 'latest'],
  ]
  for (const given of params) {
    const asking = verified.request({ method: 'eth_call', params: given })
    const refused = await asking.then(
      () => null,
      (error: ProviderError) => error,
    )
    const place = JSON.stringify(given).slice(0, 80)
    expect(refused, place).toBeInstanceOf(ProviderError)
    expect(refused?.reason, place).toBe('PARAMS_INVALID')
    expect(refused?.message.length).toBeLessThan(200)
  }
  expect(params.length).toBe(24)
  expect(asked).toEqual([])
})
