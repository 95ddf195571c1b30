import { expect, it } from 'vitest'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import type { Methods } from '../../src/devnet/service/json-rpc.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { lineaMessageService as messageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import {
  finalizedBlockHash,
  followFinalizations,
  followMessages,
  type RequestProvider,
  recordEvidence,
  recordMessage,
} from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { skipTime, tokenBucket } from './clock.ts'
import { ROLLUP, USER } from './servers.ts'

const OTHER = `0x${'b2'.repeat(20)}` as const
const PER_SECOND = 2

/** Two finalizations, the second of 30 blocks with a message in every tenth; and 50 L1 blocks since. */
function startChain() {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, { messageService })
  chain.addBlock()
  chain.finalize()
  for (let block = 0; block < 30; block++) {
    if (block % 10 === 0) chain.messages.sendFromL2([{ from: USER, to: OTHER, value: BigInt(block) }])
    chain.addBlock()
  }
  chain.finalize()
  for (let block = 0; block < 50; block++) chain.l1.addBlock()
  return chain
}
const chain = startChain()

/** As many free plans allow: two requests per second, and ten blocks of logs. */
function freePlan(methods: Methods) {
  const mayPass = tokenBucket(PER_SECOND)
  const counts = { asked: 0, busy: 0, refused: 0 }
  const provider: RequestProvider = {
    async request({ method, params = [] }) {
      counts.asked++
      if (!mayPass(performance.now())) {
        counts.busy++
        throw Object.assign(new Error('Too Many Requests'), { code: -32005, status: 429 })
      }
      const [filter] = params as [{ fromBlock: string; toBlock: string }]
      if (method === 'eth_getLogs' && Number(filter.toBlock) - Number(filter.fromBlock) >= 10) {
        counts.refused++
        const code = -32600
        throw Object.assign(new Error('You can make eth_getLogs requests with up to a 10 block range.'), { code })
      }
      return JSON.parse(JSON.stringify(methods.get(method)?.(params as unknown[])))
    },
  }
  return { provider, counts }
}

type Sources = { readonly l1: RequestProvider; readonly l2: RequestProvider }
const trusting = ({ l1, l2 }: Sources) => ({
  ...{ l1, l2, rollup: ROLLUP, scheme: poseidon2, l1BlockHash: finalizedBlockHash(l1) },
})
const provide = (sources: Sources) => createVerifiedProvider(withNetwork({ ...trusting(sources), chainId: 2n }))
const first = async <T>(items: AsyncGenerator<T>, isWanted: (item: T) => boolean): Promise<T | undefined> => {
  for await (const item of items) if (isWanted(item)) return item
  return undefined
}

/** What each activity comes to, and within how many seconds of the clock. */
const ACTIVITIES: readonly (readonly [string, (sources: Sources) => Promise<unknown>, unknown, number])[] = [
  [
    'record',
    async sources =>
      (await recordEvidence(withNetwork({ ...sources, scheme: poseidon2, rollup: ROLLUP, address: USER }))).verified
        .l2BlockNumber,
    31n,
    30,
  ],
  ['view', async sources => (await provide(sources).view()).l2BlockNumber, 31n, 30],
  [
    'call',
    sources => provide(sources).request({ method: 'eth_getBalance', params: [USER, 'latest'] }),
    '0xde0b6b3a7640000',
    30,
  ],
  [
    'follow',
    async sources => {
      const about = { ...trusting(sources), requests: [{ address: USER }], fromL2BlockNumber: 1n }
      const item = await first(followFinalizations(withNetwork(about)), ({ l2BlockNumber }) => l2BlockNumber === 31n)
      return item?.l2BlockNumber
    },
    31n,
    60,
  ],
  [
    'a message',
    async sources => {
      const about = { ...sources, rollup: ROLLUP, scheme: poseidon2, messageService, message: { from: USER } }
      return (await recordMessage(withNetwork(about))).verified.status
    },
    'claimable',
    120,
  ],
  [
    'messages',
    async sources => {
      const about = { ...trusting(sources), messageService, from: USER, fromL2BlockNumber: 0n }
      const found = await first(followMessages(withNetwork(about)), ({ messages }) => messages.length > 0)
      return found?.messages.map(({ message }) => message.number).join()
    },
    '1,2,3',
    240,
  ],
]

it.each(ACTIVITIES)(
  '%s, with two requests per second and ten blocks of logs',
  async (_name, work, expected, seconds) => {
    skipTime()
    const [one, two] = [freePlan(l1Methods(chain, 1n)), freePlan(l2Methods(chain, 2n))]
    const began = performance.now()
    const outcome = await work({ l1: one.provider, l2: two.provider }).catch((error: unknown) => String(error))
    const took = (performance.now() - began) / 1000
    const counts = [one.counts, two.counts]
    expect(outcome).toEqual(expected)
    expect(took).toBeLessThan(seconds)
    for (const { asked, busy, refused } of counts) {
      // Each range that is refused is halved, and the rest goes by what was learnt.
      expect(refused).toBeLessThanOrEqual(12)
      expect(busy).toBeLessThanOrEqual(asked / 2)
    }
  },
)
