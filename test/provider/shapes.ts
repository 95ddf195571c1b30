import { encodeAbiParameters, encodeFunctionData, keccak256 } from 'viem'
import { tokenSlots } from '../../src/devnet/service/demo-contracts.generated.ts'
import { type Hex, mappingSlot } from '../../src/entry/index.ts'
import { type Contract, compiledContracts } from '../contracts/compile.ts'
import { ALICE, demoState, MANY, MULTICALL, manyAbi, multicallAbi, PROXY, TOKEN, tokenAbi } from './contracts.ts'
import { at, word } from './endpoints.ts'
import type { FullAccount, FullState } from './full-state.ts'

/** Calls of the kinds that wallets and pages make, by how one read leads to the next. */

const compiled = await compiledContracts()
const [Pool, Router, Items, Balances, Forwarder] = ['Pool', 'Router', 'Items', 'Balances', 'Proxy'].map(name => {
  const contract = compiled[name]
  if (contract === undefined) throw new Error(`the contract ${name} is missing`)
  return contract
}) as [Contract, Contract, Contract, Contract, Contract]

const [POOL, OTHER_POOL, ROUTER, ITEMS] = [at('75'), at('76'), at('77'), at('78')]
const OWNERS = Array.from({ length: 520 }, (_, index): Hex => `0x${(2 ** 40 + index).toString(16).padStart(40, '0')}`)
const PROXIES = Array.from({ length: 20 }, (_, index) => at((0x80 + index).toString(16)))
const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

const balanceSlot = (owner: Hex): Hex => mappingSlot({ slot: tokenSlots.balanceOf, keys: [owner] })
const balances = Object.fromEntries(OWNERS.map((owner, index) => [balanceSlot(owner), word(index + 1)]))
const slotOf = (name: string) => BigInt(Pool.slots[name] ?? 0)

/** A pool with a range every 11 ticks, of which the first ones are below its own tick. */
function pool(scale: bigint): FullAccount {
  const ticks = Array.from({ length: 60 }, (_, index) => 11 * index)
  const words = new Map<number, bigint>()
  for (const tick of ticks) words.set(tick >> 8, (words.get(tick >> 8) ?? 0n) | (1n << BigInt(tick & 255)))
  const mapped = (name: string, key: number) => mappingSlot({ slot: slotOf(name), keys: [BigInt(key)] })
  return {
    nonce: 1n,
    code: Pool.code,
    storage: {
      // The price, and the tick above it.
      [word(slotOf('price'))]: word((30n << 128n) + scale * 10n ** 18n),
      [word(slotOf('liquidity'))]: word(1000n),
      ...Object.fromEntries([...words].map(([key, bits]) => [mapped('bitmap', key), word(bits)])),
      ...Object.fromEntries(ticks.map(tick => [mapped('liquidityNet', tick), word(10n)])),
    },
  }
}

const firstItem = BigInt(keccak256(word(0)))
export const shapesState: FullState = new Map<Hex, FullAccount>([
  ...demoState,
  [TOKEN, { ...demoState.get(TOKEN), storage: { ...demoState.get(TOKEN)?.storage, ...balances } }],
  [PROXY, { ...demoState.get(PROXY), storage: { ...demoState.get(PROXY)?.storage, ...balances } }],
  ...OWNERS.slice(0, 510).map((owner, index): [Hex, FullAccount] => [owner, { balance: BigInt(index + 1) }]),
  ...PROXIES.map((address): [Hex, FullAccount] => [
    address,
    {
      nonce: 1n,
      code: Forwarder.code,
      storage: {
        [IMPLEMENTATION]: word(BigInt(TOKEN)),
        ...Object.fromEntries(Object.entries(balances).slice(0, 10)),
      },
    },
  ]),
  [POOL, pool(2n)],
  [OTHER_POOL, pool(3n)],
  [ROUTER, { nonce: 1n, code: Router.code }],
  [
    ITEMS,
    {
      nonce: 1n,
      code: Items.code,
      storage: {
        [word(0)]: word(60),
        ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [word(firstItem + BigInt(index)), word(7)])),
      },
    },
  ],
])

export interface Asked {
  readonly to?: Hex
  readonly data: Hex
}

const aggregate = (calls: readonly (readonly [to: Hex, data: Hex])[]): Asked => ({
  to: MULTICALL,
  data: encodeFunctionData({
    abi: multicallAbi,
    functionName: 'aggregate3',
    args: [calls.map(([target, callData]) => ({ target, allowFailure: true, callData }))],
  }),
})
const balanceOf = (owner: Hex) => encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
const some = (count: number, from: number) => OWNERS.slice(from, from + count)
export const balancesOf = (count: number, token: Hex) => (from: number) =>
  aggregate(some(count, from).map(owner => [token, balanceOf(owner)]))
const deployless =
  (count: number) =>
  (from: number): Asked => ({
    data: `${Balances.init}${encodeAbiParameters([{ type: 'address' }, { type: 'address[]' }], [TOKEN, some(count, from)]).slice(2)}`,
  })
const ofItself =
  (to: Hex, abi: typeof manyAbi, functionName: string, args: (from: number) => unknown[]) =>
  (from: number): Asked => ({
    to,
    data: encodeFunctionData({ abi, functionName, args: args(from) }),
  })

/** By name: the call, which is another one for each `from`. */
export const SHAPES: Readonly<Record<string, (from: number) => Asked>> = {
  '1 balance by multicall': balancesOf(1, TOKEN),
  '50 balances by multicall': balancesOf(50, TOKEN),
  '500 balances by multicall': balancesOf(500, TOKEN),
  '1 balance, deployless': deployless(1),
  '50 balances, deployless': deployless(50),
  '500 balances, deployless': deployless(500),
  '500 balances of a proxied token': balancesOf(500, PROXY),
  '20 proxies, 5 balances each': from =>
    aggregate(PROXIES.flatMap(token => some(5, from).map(owner => [token, balanceOf(owner)] as const))),
  '500 balances of ether': from =>
    aggregate(
      some(500, from).map(owner => [
        MULTICALL,
        encodeFunctionData({ abi: multicallAbi, functionName: 'getEthBalance', args: [owner] }),
      ]),
    ),
  'a quote through two pools': ofItself(ROUTER, Router.abi, 'quote', from => [[POOL, OTHER_POOL], 3000 + from]),
  'an array of 50': ofItself(ITEMS, Items.abi, 'sum', from => [from]),
  'a linked list of 40': ofItself(MANY, manyAbi, 'chase', from => [40 - from]),
}

/** With the sender that pages state, or none. */
export const paramsOf = (asked: Asked, from: Hex = ALICE) => [{ from, ...asked }, 'latest']
