import { followMessagesWith } from '../../src/client/follow/follow-messages.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import type { Hex } from '../../src/entry/index.ts'
import { lineaMessageService as messageService } from '../../src/entry/messages.ts'
import { poseidon2 as scheme } from '../../src/entry/poseidon2.ts'
import { finalizedBlockHash, isEndpointError, recordMessage } from '../../src/entry/rpc.ts'
import { contentOf } from '../../vectors/messages/truth.ts'
import { countWaves } from '../provider/waves.ts'
import { providerOf } from './following.ts'
import { ROLLUP } from './servers.ts'

/** What was asked by wave, and the milliseconds that it took. */
export interface MessageCost {
  readonly name: string
  readonly waves: readonly (readonly string[])[]
  readonly milliseconds: number
}

/** What it takes to follow messages and to record one. @param latency of each wave, in milliseconds */
export async function messageCosts(latency = 0): Promise<MessageCost[]> {
  const chain = createChain(demoWorld(scheme), ROLLUP, { messageService })
  const [l1, l2] = [providerOf(l1Methods(chain, 1n)).provider, providerOf(l2Methods(chain, 2n)).provider]
  const waves = countWaves({ l1, l2, l1BlockHash: finalizedBlockHash(l1) }, latency)
  const { l1BlockHash, ...endpoints } = waves.options
  const network = { rollup: ROLLUP, scheme, messageService }
  let sent = 0
  /** A finalization of three blocks, with so many messages in each. */
  const finalize = (count: number) => {
    for (let block = 0; block < 3; block++) {
      chain.messages.sendFromL2(Array.from({ length: count }, () => contentOf(`${++sent}`, sent)))
      chain.addBlock()
    }
    chain.finalize()
  }
  finalize(1)
  const costs: MessageCost[] = []
  let began = performance.now()
  const take = (name: string) => {
    costs.push({ name, waves: waves.take(), milliseconds: performance.now() - began })
    began = performance.now()
  }
  const steps = [
    { name: 'follow messages: the first finalization', next: () => finalize(5) },
    { name: 'a finalization with 15 messages', next: () => finalize(0) },
    { name: 'a finalization without any', next: () => chain.l1.addBlock() },
    { name: 'a new L1 block, nothing finalized', next: () => {} },
    { name: 'the same L1 block', next: () => ending.abort() },
  ]
  const ending = new AbortController()
  const timing = {
    random: () => 0,
    async wait() {
      const { name, next } = steps.shift() ?? { name: 'more', next: () => ending.abort() }
      take(name)
      next()
    },
  }
  const following = followMessagesWith({ ...endpoints, l1BlockHash, network, signal: ending.signal }, timing)
  let found = 0
  try {
    for await (const { messages } of following) found += messages.length
  } catch (error) {
    if (!isEndpointError(error) || error.code !== 'ABORTED') throw error
  }
  if (found !== 15) throw new Error(`${found} messages`)
  waves.take()
  began = performance.now()
  const logs: unknown = await l2.request({ method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: 'latest' }] })
  const { transactionHash, topics } = (logs as { transactionHash: Hex; topics: Hex[] }[])[0] ?? {}
  const [toL2] = chain.messages.sendToL2([contentOf('to L2', 1)])
  chain.l1.addBlock()
  const recorded = [
    { name: 'record a message', message: { messageHash: topics?.[3] } },
    { name: 'record the message of a transaction', message: { transactionHash } },
    { name: 'record a message to L2', message: { from: toL2?.from }, direction: 'toL2' },
  ] as const
  for (const { name, ...search } of recorded) {
    await recordMessage({ ...endpoints, network, ...search })
    take(name)
  }
  return costs
}
