import { expect, it } from 'vitest'
import type { Hex } from '../../src/index.ts'
import { ProviderError } from '../../src/provider.ts'
import { at, createEndpoints, word } from './endpoints.ts'
import type { FullState } from './full-state.ts'

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

it('tells accounts that do not exist from those that are empty, as EXTCODEHASH does', async () => {
  expect(await run(`0x${push20(STRANGER)}3f${RETURN}`)).toBe(word(0))
  const funded: FullState = new Map([[STRANGER, { balance: 1n }]])
  const empty = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(await run(`0x${push20(STRANGER)}3f${RETURN}`, funded)).toBe(empty)
})

it('keeps the code of a contract that destroys itself until the end, and sends its balance', async () => {
  // Calls the victim, which sends all it has to the target; then returns the size of the victim's code, and its balance.
  const victim: FullState = new Map([[STRANGER, { nonce: 1n, balance: 7n, code: `0x${push20(TARGET)}ff` as Hex }]])
  const call = `5f5f5f5f5f${push20(STRANGER)}5af150`
  expect(await run(`0x${call}${push20(STRANGER)}3b${RETURN}`, victim)).toBe(word(22))
  expect(await run(`0x${call}${push20(STRANGER)}31${RETURN}`, victim)).toBe(word(0))
  expect(await run(`0x${call}47${RETURN}`, victim)).toBe(word(7))
})

it('never answers for a precompile that it cannot compute', async () => {
  // The point evaluation of EIP-4844 with input of the right length, its success as the result.
  const kzg = await run(`0x5f5f60c05f600a5afa${RETURN}`).catch(error => error)
  if (kzg instanceof ProviderError) expect(kzg.reason).toBe('EXECUTION_FAILED')
  else expect(kzg).toBe(word(0))
  // BLS12-381: the addition of two points at infinity is one.
  expect(await run(`0x60806000610100600060 0b5afa3d${RETURN}`.replaceAll(' ', '') as Hex)).toBe(word(128))
})

it('ends memory and time bombs within the gas', async () => {
  const outOfGas = { reason: 'EXECUTION_FAILED' }
  // MSTORE far away; a copy of 2^32 bytes; MODEXP with lengths of 2^255.
  await expect(run(`0x5f7f${'ff'.repeat(32)}52`)).rejects.toMatchObject(outOfGas)
  await expect(run('0x63ffffffff5f5f37')).rejects.toMatchObject(outOfGas)
  const modexp = `7f80${'00'.repeat(31)}5f527f80${'00'.repeat(31)}6020527f80${'00'.repeat(31)}6040525f5f60605f60055afa${RETURN}`
  expect(await run(`0x${modexp}`)).toBe(word(0))
})

it('reads the history contract and the beacon roots as what the state says, not as the EVM would fill them', async () => {
  const history: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935'
  // EIP-2935 as an account of the state, with a slot that the rollup wrote.
  const code = '0x5f545f5260205ff3'
  const state: FullState = new Map([[history, { nonce: 1n, code, storage: { [word(0)]: word(42) } }]])
  expect(await run(`0x60205f5f5f5f${push20(history)}5af1505f51${RETURN}`, state)).toBe(word(42))
  expect(await run(`0x60205f5f5f5f${push20(history)}5af1505f51${RETURN}`)).toBe(word(0))
  // BLOCKHASH of a block that could be: refused, whatever stands there.
  const endpoints = createEndpoints(new Map([[TARGET, { nonce: 1n, code: `0x5f40${RETURN}` as Hex }]]))
  endpoints.chain.addBlock()
  endpoints.chain.finalize()
  const asked = endpoints.provider().request({ method: 'eth_call', params: [{ to: TARGET }, 'latest'] })
  await expect(asked).rejects.toMatchObject({ data: { instruction: 'BLOCKHASH' } })
})

it('runs the code that an account delegates to, proven as well', async () => {
  // EIP-7702: the delegate's code, with the storage of the account.
  const state: FullState = new Map([
    [STRANGER, { nonce: 1n, code: `0xef0100${TARGET.slice(2)}` as Hex, storage: { [word(0)]: word(9) } }],
    [TARGET, { nonce: 1n, code: `0x5f54${RETURN}` as Hex, storage: { [word(0)]: word(1) } }],
  ])
  const endpoints = createEndpoints(state)
  const ask = () => endpoints.provider().request({ method: 'eth_call', params: [{ to: STRANGER }, 'latest'] })
  expect(await ask()).toBe(word(9))
  endpoints.lie.l2 = (method, answer, [address]) => (method === 'eth_getCode' && address === TARGET ? '0x' : answer)
  await expect(ask()).rejects.toMatchObject({ reason: 'PROOF_REFUSED', data: { error: 'CODE_HASH_MISMATCH' } })
})
