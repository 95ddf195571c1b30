import fc from 'fast-check'
import { getContractAddress } from 'viem'
import { expect, it } from 'vitest'
import { createVerifier, type Hex } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { loadEvm } from '../../src/provider/evm-packages.ts'
import { execute } from '../../src/provider/execute.ts'
import { inPace } from '../../src/provider/pace.ts'
import { createProvenState } from '../../src/provider/proven-state.ts'
import { only } from '../../src/rpc/endpoints.ts'
import { sized } from '../size.ts'
import { at, createEndpoints, UNHURRIED, word } from './endpoints.ts'
import { bytesOf, CHAIN_ID, type FullAccount, type FullCall, type FullState, runFull } from './full-state.ts'
import { worlds } from './programs.ts'

/** Ten calls per world. */
const CALLS = sized(120)
const CALLS_A_WORLD = 10

/** The intrinsic gas of a Prague transaction, and its floor. */
function costsOf({ data, to }: FullCall): { base: bigint; floor: bigint } {
  const bytes = bytesOf(data)
  const tokens = BigInt(bytes.reduce((sum, byte) => sum + (byte === 0 ? 1 : 4), 0))
  const creation = to === undefined ? 32_000n + 2n * BigInt(Math.ceil(bytes.length / 32)) : 0n
  return { base: 21_000n + 4n * tokens + creation, floor: 21_000n + 10n * tokens }
}

async function expected(state: FullState, call: FullCall & { gas: bigint }) {
  const { base, floor } = costsOf(call)
  const { failure, returnData, gas, refund } = await runFull(state, call, 0n, call.gas - base)
  const spent = base + gas
  const paid = spent - (refund < spent / 5n ? refund : spent / 5n)
  return { failure, returnData, gasUsed: paid > floor ? paid : floor }
}

function stateOf(state: FullState) {
  const { chain, l2 } = createEndpoints(state)
  const stateRoot = chain.pending.stateRoot()
  const how = {
    scheme: poseidon2,
    verifier: createVerifier(poseidon2),
    method: 'rollup_getProof',
    maxKeysPerRequest: 100,
  }
  return createProvenState({ l2: only(l2), block: 0n, stateRoot, ...how })
}

it('gives the return data and the gas of an EVM that holds the full state', async () => {
  const packages = await loadEvm()
  const context = { chainId: CHAIN_ID, hardfork: 'prague', blockNumber: 0n, environment: {} } as const
  const seen = new Map<string, number>()
  let calls = 0
  await fc.assert(
    fc.asyncProperty(worlds, async ({ state, calls: asked }) => {
      const proven = stateOf(state)
      for (const call of asked) {
        const request = { ...call, to: call.to ?? null, gasPrice: 0n, maxGasPrice: 0n, accessList: [] }
        const gas = call.gas ?? 0n
        const { accessList: _, ...found } = await inPace(UNHURRIED, pace =>
          execute(packages, proven, { ...request, value: call.value ?? 0n, gas }, gas, context, pace),
        )
        expect(found).toEqual(await expected(state, { ...call, gas }))
        seen.set(`${found.failure}`, (seen.get(`${found.failure}`) ?? 0) + 1)
        calls++
      }
    }),
    { seed: 14, numRuns: Math.ceil(CALLS / CALLS_A_WORLD), endOnFailure: false },
  )
  expect(calls).toBeGreaterThanOrEqual(CALLS)
  // The programs end in many different ways.
  expect(seen.get('null')).toBeGreaterThan(CALLS / 4)
  expect([...seen.keys()].length).toBeGreaterThan(3)
  if (CALLS > 120) console.info(calls, Object.fromEntries(seen))
})

const CONTRACT = at('c0')
const callOf = (state: FullState) =>
  createEndpoints(state)
    .provider()
    .request({ method: 'eth_call', params: [{ to: CONTRACT }, 'latest'] })

it('undoes the writes of a reverted frame', async () => {
  // Calls itself, which writes slot 0 and reverts; then reads slot 0.
  const code = '0x366016575f5f60015f5f305af1505f545f5260205ff35b60095f555f5ffd'
  const state: FullState = new Map([[CONTRACT, { nonce: 1n, code, storage: { [word(0)]: word(5) } }]])
  expect(await callOf(state)).toBe(word(5))
})

it('creates no contract where an account has storage, code or a nonce', async () => {
  const created = getContractAddress({ from: CONTRACT, nonce: 1n }).toLowerCase() as Hex
  const creator = { nonce: 1n, code: '0x5f5f5ff05f5260205ff3' } as const
  expect(await callOf(new Map([[CONTRACT, creator]]))).toBe(word(BigInt(created)))
  const obstacles: FullAccount[] = [{ storage: { [word(1)]: word(1) } }, { code: '0x00' }, { nonce: 1n }]
  for (const obstacle of obstacles) {
    const state: FullState = new Map<Hex, FullAccount>([
      [CONTRACT, creator],
      [created, obstacle],
    ])
    expect(await callOf(state)).toBe(word(0))
  }
})
