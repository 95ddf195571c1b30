/**
 * `npm run bench:provider`: how many waves of requests, requests and milliseconds it takes to ask a verified provider, with
 * in-process endpoints that answer after 50 milliseconds; and calls without any request, compared with an EVM over the whole
 * state; and messages, followed and recorded; then calls and searches for logs through the proxy, too. Prints Markdown. `waves` and `shapes` in `test/provider/`, and `message-waves` in
 * `test/client/`, fail if the counts change.
 */
import type { VerifiedProvider } from '../../src/entry/provider.ts'
import { messageCosts } from '../client/message-waves.ts'
import { ALICE, demoState } from '../provider/contracts.ts'
import { createEndpoints, type Endpoints } from '../provider/endpoints.ts'
import { runFull } from '../provider/full-state.ts'
import { paramsOf, SHAPES, shapesState } from '../provider/shapes.ts'
import { CALLS, countWaves, finalize } from '../provider/waves.ts'
import { median } from './measure.ts'
import { printProxied } from './proxied.ts'

const [ROUNDS, LATENCY] = [5, 50]

type Step = (provider: VerifiedProvider, endpoints: Endpoints) => unknown

/** The last step is measured, after the others. */
async function row(name: string, steps: readonly Step[], state = demoState): Promise<void> {
  const [times, rounds]: [number[], string[][][]] = [[], []]
  // A larger state takes seconds to build.
  for (let round = 0; round < (state === demoState ? ROUNDS : 1); round++) {
    const endpoints = createEndpoints(state, true)
    const waves = countWaves(endpoints, LATENCY)
    const provider = endpoints.provider(waves.options)
    for (const step of steps.slice(0, -1)) await step(provider, endpoints)
    waves.take()
    const begin = performance.now()
    await steps.at(-1)?.(provider, endpoints)
    times.push(performance.now() - begin)
    rounds.push(waves.take())
  }
  const [counts, requests] = [rounds.map(({ length }) => length), rounds.map(round => round.flat().length)]
  console.log(`| ${name} | ${median(counts)} | ${median(requests)} | ${median(times).toFixed(0)} |`)
}

async function local(name: string, { params }: (typeof CALLS)[keyof typeof CALLS]): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now()
    await runFull(demoState, params[0] as Parameters<typeof runFull>[1], 0n, 10_000_000n)
    times.push(performance.now() - begin)
  }
  console.log(`| ${name}, the EVM over the whole state in memory | | | ${median(times).toFixed(1)} |`)
}

const view: Step = provider => provider.view()
const refresh: Step = provider => provider.refresh()
const ask =
  (name: keyof typeof CALLS): Step =>
  provider =>
    provider.request(CALLS[name])
const balance: Step = provider => provider.request({ method: 'eth_getBalance', params: [ALICE, 'latest'] })
const call =
  (name: string, from = 0): Step =>
  provider =>
    provider.request({ method: 'eth_call', params: paramsOf(SHAPES[name]?.(from) ?? { data: '0x' }) })
const news: Step = (_, endpoints) => finalize(endpoints)
const newL1Block: Step = (_, { chain }) => chain.l1.addBlock()

console.log('| what | waves | requests | milliseconds |\n|---|--:|--:|--:|')
// Loads the EVM.
await createEndpoints(demoState).provider().request(CALLS.balanceOf)
await row('the first view', [view])
await row('a balance, with the first view', [balance])
await row('refresh, the same L1 block', [view, refresh])
await row('refresh, a new L1 block, nothing finalized', [view, newL1Block, refresh])
await row('refresh, a newer finalization', [view, news, refresh])
for (const name of ['balanceOf', 'quote', 'slots'] as const) {
  const what = { balanceOf: '`balanceOf`', quote: 'a quote', slots: '200 slots' }[name]
  await row(`${what}, with the first view`, [ask(name)])
  await row(`${what}, cold`, [view, ask(name)])
  await row(`${what}, after a newer finalization`, [view, ask(name), news, refresh, ask(name)])
  await row(`${what}, warm`, [view, ask(name), ask(name)])
  await local(what, CALLS[name])
}
for (const name of Object.keys(SHAPES)) {
  await row(`${name}, cold`, [view, call(name)], shapesState)
  await row(
    `${name}, others, after a newer finalization`,
    [view, call(name), news, refresh, call(name, 5)],
    shapesState,
  )
}
for (const { name, waves, milliseconds } of await messageCosts(LATENCY)) {
  console.log(`| ${name} | ${waves.length} | ${waves.flat().length} | ${milliseconds.toFixed(0)} |`)
}
console.log()
await printProxied(LATENCY)
