import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HARDFORKS, type Hardfork } from '../../../src/client/network/network.ts'
import type { Hex } from '../../../src/entry/index.ts'
import type { VerifiedProvider } from '../../../src/entry/provider.ts'
import { readCall } from '../../../src/provider/call.ts'
import { isProviderError } from '../../../src/provider/error.ts'
import { execute } from '../../../src/provider/execute.ts'
import { inPace } from '../../../src/provider/pace.ts'
import { sized, strided } from '../../size.ts'
import { createEndpoints, UNHURRIED } from '../endpoints.ts'
import { CHAIN_ID } from '../full-state.ts'
import { readerOver } from '../proving/full-reader.ts'
import { type Anvil, findAnvil, startAnvil, type Traced } from './anvil.ts'
import { addDifferences } from './differences.ts'
import * as machine from './machine-cases.ts'
import { addPrecompiles, withExactGas } from './precompile-cases.ts'
import { addRandom } from './random-cases.ts'
import { BLOCK, type Case, createScene, ENVIRONMENT, GAS, HASHES, RICH } from './scene.ts'
import * as states from './state-cases.ts'

const scene = createScene()
for (const add of [...Object.values(states), ...Object.values(machine), addPrecompiles, addRandom]) add(scene)
const differences = addDifferences(scene)

/** One call deep enough to reach the bottom of the stack. */
const MOST_GAS = 2n ** 41n
/** One call of so many is made through a provider, too: in turn through that of each kind of state. */
const PROVIDER_STRIDE = strided(12)

/** How many there have to be. */
const EXPECTED = {
  ...{ storage: 100, 'transient storage': 50, 'access lists': 143, creation: 214, collisions: 60, delegation: 170 },
  ...{ accounts: 82, 'self-destruction': 88, values: 126, environment: 134, 'intrinsic gas': 216, 'static calls': 60 },
  ...{ depth: 36, 'return data': 106, reverts: 102, memory: 102, instructions: 195, 'all instructions': 3 * sized(1) },
  ...{ precompiles: 468, 'drawn programs': 10 * sized(12) },
}
const anvil = findAnvil()
const total = Object.values(EXPECTED).reduce((sum, count) => sum + count, 0)
if ('missing' in anvil) console.warn(`skipped ${total} calls, because there is no anvil: ${anvil.missing}`)

const reader = readerOver(scene.state)
/** The same state as a sparse tree, whose root L1 holds, and as that of Ethereum, in a block whose hash L1 holds. */
const endpoints = [false, true].map(isUpgraded => {
  const one = createEndpoints(scene.state)
  if (isUpgraded) one.chain.upgrade()
  for (let block = 0n; block < BLOCK; block++) one.chain.addBlock()
  one.chain.finalize()
  return one
})

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** The parameter of `eth_call`, for both. */
function parameterOf({ from = RICH, to, data = '0x', gas = GAS, value = 0n, accessList = [], ...fees }: Case) {
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice = maxFeePerGas === undefined ? 0n : undefined } = fees
  const quantities = { value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas }
  return Object.fromEntries([
    ...Object.entries({ from, ...(to !== null && { to }), data, accessList }),
    ...Object.entries(quantities).flatMap(([name, value]) => (value === undefined ? [] : [[name, quantity(value)]])),
  ])
}

type Outcome = Omit<Traced, 'innerGas'>

/** A program or an operand that is drawn may call a precompile that the rollup does not have. */
const unlessDrawn = (one: Case) => (error: unknown) => {
  const isRefused = isProviderError(error) && error.reason === 'ROLLUP_DIFFERS'
  if (isRefused && ['drawn programs', 'all instructions'].includes(one.category)) return error.reason
  throw error
}

/** Executes a call as `eth_call` does, and tells how much gas the transaction uses. A pause is due before each step, or hardly ever. */
async function executed(one: Case, isHurried: boolean): Promise<Outcome> {
  const hurry = isHurried ? { isDue: () => true, giveWay: async () => {} } : {}
  const context = { chainId: CHAIN_ID, hardfork: one.hardfork, blockNumber: BLOCK, environment: ENVIRONMENT }
  const call = readCall(parameterOf(one), CHAIN_ID)(ENVIRONMENT.baseFee)
  try {
    const { failure, returnData, gasUsed } = await inPace(UNHURRIED, pace =>
      execute(reader, call, one.gas ?? GAS, context, { ...pace, ...hurry }),
    )
    if (failure === null) return { ending: 'returned', data: returnData, gas: gasUsed }
    return failure === 'revert'
      ? { ending: 'reverted', data: returnData, gas: gasUsed }
      : { ending: 'failed', data: '0x', gas: gasUsed }
  } catch (error) {
    if (isProviderError(error) && error.reason === 'EXECUTION_FAILED') return { ending: 'refused', data: '0x', gas: 0n }
    throw error
  }
}

/** What a client of the provider gets. It does not learn whether a call that failed had begun, nor its gas. */
async function requested(provider: VerifiedProvider, one: Case) {
  try {
    const data = await provider.request({ method: 'eth_call', params: [parameterOf(one), 'latest'] })
    return { ending: 'returned', data }
  } catch (error) {
    if (!isProviderError(error)) throw error
    if (error.reason === 'REVERTED') return { ending: 'reverted', data: error.data }
    if (error.reason === 'EXECUTION_FAILED') return { ending: 'failed', data: '0x' }
    throw error
  }
}

/** How many calls were compared, by category and by how they ended. */
const counts: Record<string, number> = {}
const endings: Record<string, number> = {}
let throughProvider = 0

const nameOf = (one: Case): string => `${one.hardfork}, ${one.category}: ${one.what.slice(0, 200)}`

describe.skipIf('missing' in anvil)('calls, compared with anvil', () => {
  const nodes = new Map<Hardfork, Anvil>()
  beforeAll(async () => {
    if ('missing' in anvil) return
    for (const hardfork of HARDFORKS)
      nodes.set(hardfork, await startAnvil(anvil.path, hardfork, scene.state, BLOCK, ENVIRONMENT, HASHES))
  })
  afterAll(() => Promise.all([...nodes.values()].map(node => node.close())))

  const nodeOf = (hardfork: Hardfork): Anvil => {
    const node = nodes.get(hardfork)
    if (node === undefined) throw new Error('anvil has not started')
    return node
  }

  async function compare(hardfork: Hardfork, cases: readonly Case[], traced: readonly Traced[]): Promise<void> {
    const options = { hardfork, environment: ENVIRONMENT, maxGas: MOST_GAS, timeoutMs: 3_600_000 }
    const providers = endpoints.map(one => one.provider(options))
    for (const [index, one] of cases.entries()) {
      const { innerGas: _, ...expected } = traced[index] as Traced
      counts[one.category] = (counts[one.category] ?? 0) + 1
      const own = [
        await executed(one, false).catch(unlessDrawn(one)),
        await executed(one, true).catch(unlessDrawn(one)),
      ]
      if (own.includes('ROLLUP_DIFFERS')) continue
      for (const outcome of own) expect(outcome, nameOf(one)).toEqual(expected)
      endings[expected.ending] = (endings[expected.ending] ?? 0) + 1
      // Of the provider that proves blocks, BLOCKHASH is that of its own chain.
      if (index % PROVIDER_STRIDE !== 0 || one.what.startsWith('BLOCKHASH')) continue
      const { ending, data } = expected
      const wanted = { ending: ending === 'refused' ? 'failed' : ending, data }
      const provider = providers[throughProvider++ % providers.length] as VerifiedProvider
      expect(await requested(provider, one), nameOf(one)).toEqual(wanted)
    }
  }

  it.each(HARDFORKS)('return, revert with, and cost the same: %s', async hardfork => {
    const node = nodeOf(hardfork)
    const cases = scene.cases.filter(one => one.hardfork === hardfork)
    const plain = cases.filter(({ probe }) => probe === undefined)
    const probes = cases.filter(({ probe }) => probe !== undefined)
    const shown = await node.trace(probes.map(parameterOf))
    const exact = probes.flatMap((one, index) => withExactGas(one, shown[index]?.innerGas))
    const all = [...plain, ...exact]
    await compare(hardfork, all, await node.trace(all.map(parameterOf)))
  })

  it('are as many as they are meant to be', () => {
    console.info(`calls compared with ${'version' in anvil ? anvil.version : ''}:`, counts, endings, {
      throughProvider,
    })
    expect(counts).toEqual(EXPECTED)
    for (const ending of ['returned', 'reverted', 'failed', 'refused'])
      expect(endings[ending], ending).toBeGreaterThan(80)
    expect(throughProvider).toBeGreaterThan(200)
  })

  it('differ only where they have to', async () => {
    for (const { one, theirs, ours } of differences) {
      const [traced] = await nodeOf(one.hardfork).trace([parameterOf(one)], true)
      expect(traced, nameOf(one)).toMatchObject({ ending: 'returned', data: theirs })
      const hardfork = one.hardfork === 'london' ? 'london' : 'prague'
      for (const { provider } of endpoints) {
        const asked = requested(provider({ environment: ENVIRONMENT, hardfork }), one)
        if (ours.startsWith('0x')) expect(await asked, nameOf(one)).toEqual({ ending: 'returned', data: ours })
        else await expect(asked, nameOf(one)).rejects.toMatchObject({ reason: ours })
      }
    }
    expect(differences).toHaveLength(7)
  })
})
