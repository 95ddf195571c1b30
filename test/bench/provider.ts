/**
 * `npm run bench:provider`: the endpoint requests and milliseconds that calls to a verified provider take, with in-process
 * endpoints, compared with an EVM over the whole state. Prints Markdown.
 */
import { encodeFunctionData } from 'viem'
import type { Hex } from '../../src/index.ts'
import { ALICE, demoState, MANY, manyAbi, TOKEN, tokenAbi } from '../provider/contracts.ts'
import { createEndpoints } from '../provider/endpoints.ts'
import { runFull } from '../provider/full-state.ts'
import { median } from './measure.ts'

const ROUNDS = 7
const balanceOf = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [ALICE] })
const sum = encodeFunctionData({ abi: manyAbi, functionName: 'sum' })

/** The median of several runs, in milliseconds. */
async function measure(prepare: () => Promise<() => Promise<unknown>>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const work = await prepare()
    const begin = performance.now()
    await work()
    times.push(performance.now() - begin)
  }
  return median(times)
}

async function row(name: string, request: { method: string; params: unknown[] }, hint: boolean, isWarm: boolean) {
  let requests = 0
  const milliseconds = await measure(async () => {
    const endpoints = createEndpoints(demoState, hint)
    const provider = endpoints.provider()
    await provider.view()
    if (isWarm) await provider.request(request)
    endpoints.asked.length = 0
    return async () => {
      await provider.request(request)
      requests = endpoints.asked.length
    }
  })
  console.log(`| ${name} | ${requests} | ${milliseconds.toFixed(1)} |`)
}

async function local(name: string, to: Hex, data: Hex) {
  const milliseconds = await measure(async () => () => runFull(demoState, { from: ALICE, to, data }, 0n, 10_000_000n))
  console.log(`| ${name}, the EVM over the whole state in memory | | ${milliseconds.toFixed(1)} |`)
}

const callOf = (to: Hex, data: Hex) => ({ method: 'eth_call', params: [{ from: ALICE, to, data }, 'latest'] })
console.log('| what | requests | milliseconds |\n|---|---|---|')
await row('`eth_getBalance`', { method: 'eth_getBalance', params: [ALICE, 'latest'] }, true, false)
await row('`balanceOf`, cold', callOf(TOKEN, balanceOf), true, false)
await row('`balanceOf`, warm', callOf(TOKEN, balanceOf), true, true)
await local('`balanceOf`', TOKEN, balanceOf)
await row('200 slots, with a hint', callOf(MANY, sum), true, false)
await row('200 slots, without a hint', callOf(MANY, sum), false, false)
await row('200 slots, warm', callOf(MANY, sum), true, true)
await local('200 slots', MANY, sum)
