import { keccak_256 } from '@noble/hashes/sha3.js'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import { followMessagesWith } from '../../src/client/follow/follow-messages.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import { type Hex, isArgumentError, isProofError } from '../../src/entry/index.ts'
import { type Message, lineaMessageService as messageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  type FollowMessagesOptions,
  finalizedBlockHash,
  isEndpointError,
  type MessageRecordOptions,
  type RequestProvider,
  recordMessage,
} from '../../src/entry/rpc.ts'
import { encodeMessageLog, readMessage } from '../../src/verify/messages/message.ts'
import { at, contentOf } from '../../vectors/messages/truth.ts'
import { skipTime } from './clock.ts'
import { ROLLUP } from './servers.ts'

// A queue waits for busy endpoints.
beforeEach(skipTime)

import { type InParts, withNetwork } from '../network.ts'
import { fail, providerOf, type Tamper, to } from './tampered.ts'

const ROUNDS = 4
const user = contentOf('user').from

/** Finalizations of three blocks, of which the first has two messages and the last three. The user sends the fifth of each. */
function build(kind: 'poseidon2' | 'ethereum') {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, {
    messageService,
    contractVersion: kind === 'ethereum' ? 9 : 8,
  })
  const sent: Message[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const count of [2, 0, 3]) {
      const contents = Array.from({ length: count }, (_, index) => contentOf(`${round} ${count} ${index}`, index))
      sent.push(
        ...chain.messages.sendFromL2(contents.map((one, index) => (index === 2 ? { ...one, from: user } : one))),
      )
      chain.addBlock()
    }
    chain.finalize()
  }
  return { chain, sent, scheme: kind === 'ethereum' ? kind : poseidon2 }
}

type Built = ReturnType<typeof build>
let chains: Record<'poseidon2' | 'ethereum', Built>
beforeAll(() => {
  chains = { poseidon2: build('poseidon2'), ethereum: build('ethereum') }
})
const KINDS = ['poseidon2', 'ethereum'] as const

const l1Of = ({ chain }: Built, tamper?: Tamper) => providerOf(l1Methods(chain, 1n), tamper)
const l2Of = ({ chain }: Built, tamper?: Tamper) => providerOf(l2Methods(chain, 2n), tamper)

interface Log {
  topics: Hex[]
  blockNumber: Hex
  logIndex: Hex
}
const onLogs = (lie: (logs: Log[], params: readonly unknown[]) => unknown): Tamper =>
  to('eth_getLogs', (logs, params) => lie(logs as Log[], params))
const refusing = to('eth_getLogs', fail(-32000, 'query exceeds limit'))
/** The log of a message that was never sent, behind the others of a block. */
const inventedLog = (message: Message, block: number) => ({
  ...encodeMessageLog(readMessage('', message)),
  ...{ address: messageService, blockNumber: `0x${block.toString(16)}` as Hex, logIndex: '0x9' as Hex },
})
const both =
  (...tampers: Tamper[]): Tamper =>
  (answer, ...rest) =>
    tampers.reduce((lied, tamper) => tamper(lied, ...rest), answer)

async function record(
  built: Built,
  message: MessageRecordOptions['message'],
  options: Partial<InParts<MessageRecordOptions>>,
) {
  const { scheme } = built
  const failed: string[] = []
  const onProgress: MessageRecordOptions['onProgress'] = step => {
    if (step.step === 'endpointFailed') failed.push(`${step.layer} ${step.index} ${step.code}`)
  }
  const asked = { l1: l1Of(built).provider, rollup: ROLLUP, messageService, scheme, message, onProgress }
  const outcome = await recordMessage(withNetwork({ ...asked, l2: l2Of(built).provider, ...options })).then(
    ({ verified }) => `${verified.status} ${verified.message.number}`,
    (error: unknown) => {
      if (isEndpointError(error) || isProofError(error) || isArgumentError(error)) return error.message
      throw error
    },
  )
  return { outcome, failed }
}

const hashOf = (built: Built, number: number) => {
  const { topics } = encodeMessageLog(readMessage('', at(built.sent, number - 1)))
  return { messageHash: at(topics, 3) }
}

/** @param onWait called at the first wait; the second one ends it. Default: the first one does */
async function follow(
  built: Built,
  l2: readonly Tamper[],
  { onWait, ...options }: Partial<InParts<FollowMessagesOptions>> & { onWait?: () => void } = {},
) {
  const { provider: l1 } = l1Of(built)
  const ending = new AbortController()
  let waits = 0
  const numbers: bigint[] = []
  const failures: string[] = []
  const asked = { l1, l2: l2.map(tamper => l2Of(built, tamper).provider), rollup: ROLLUP, scheme: built.scheme }
  const following = followMessagesWith(
    withNetwork({
      ...{ ...asked, messageService, fromL2BlockNumber: 0n, l1BlockHash: finalizedBlockHash(l1) },
      signal: ending.signal,
      onEvent: (event: import('../../src/entry/rpc.ts').FollowEvent) => {
        if (event.name === 'follow.request.failed') failures.push(event.error.message)
      },
      ...options,
    }),
    {
      random: () => 0,
      wait: async () => {
        if (onWait === undefined || waits++ > 0) ending.abort()
        else onWait()
      },
    },
  )
  try {
    for await (const { messages } of following) numbers.push(...messages.map(({ message }) => message.number))
  } catch (error) {
    if (!isEndpointError(error) || error.code !== 'ABORTED') throw error
  }
  return { numbers, failures }
}

it.each(KINDS)(
  'messages are found, recorded and followed by receipts if no endpoint sends logs, with %s',
  async kind => {
    const built = chains[kind]
    const l2 = l2Of(built, refusing).provider
    const outcomeOf = async (message: MessageRecordOptions['message']) => (await record(built, message, { l2 })).outcome
    for (const number of [7, 16]) expect(await outcomeOf(hashOf(built, number))).toBe(`claimable ${number}`)
    expect(await outcomeOf({ from: user })).toBe('claimable 20')
    expect(await outcomeOf({ from: messageService })).toContain('There is none in the blocks 0 to 12')
    const [transactionHash] = Object(built.chain.getBlock(9n)).transactions
    expect(await outcomeOf({ transactionHash })).toContain('There are 3 in the transaction')
    const { numbers } = await follow(built, [refusing, refusing])
    expect(numbers).toEqual(built.sent.map(({ number }) => number))
  },
)

it('an endpoint that sends forged receipts is left for the next', async () => {
  const built = chains.poseidon2
  const forgeries: Record<string, Tamper> = {
    'a receipt lacks a log': to('eth_getBlockReceipts', (receipts, [block]) => {
      for (const receipt of block === '0x6' ? (receipts as { logs: unknown[] }[]) : []) receipt.logs.pop()
      return receipts
    }),
    'there is no block': to('eth_getBlockReceipts', () => null),
    'there are no logs': to('eth_getBlockReceipts', () => [null, 'text', { logs: 'text' }, { logs: [null, {}] }]),
  }
  for (const [name, forgery] of Object.entries(forgeries)) {
    const liar = l2Of(built, both(refusing, forgery)).provider
    const honest = l2Of(built, refusing).provider
    const { outcome, failed } = await record(built, hashOf(built, 7), { l2: [liar, honest] })
    expect([name, outcome]).toEqual([name, 'claimable 7'])
    expect(failed.filter(one => one.startsWith('L2 0')).length, name).toBe(1)
    const alone = (await record(built, hashOf(built, 7), { l2: liar })).outcome
    expect(alone, name).toMatch(/^(MESSAGES_REFUTED|MESSAGE_MISSING|BLOCK_MISSING)/)
  }
})

it('a follower goes on without a restart once L1 tells a finalization that all its endpoints hid', async () => {
  const built = chains.poseidon2
  let isHidden = true
  const { provider: l1 } = l1Of(
    built,
    to('eth_getLogs', logs => (logs as Log[]).filter(({ topics }) => !isHidden || BigInt(topics[1] ?? 0) !== 6n)),
  )
  const onWait = () => {
    isHidden = false
  }
  const { numbers, failures } = await follow(built, [answer => answer], { l1, onWait })
  expect(numbers).toEqual(built.sent.map(({ number }) => number))
  expect(failures.map(one => one.split(':')[0])).toEqual(['MESSAGES_REFUTED'])
})

const AGE = 2_000_000n
/** The same L1, after many blocks. The finalizations of the first three L2 blocks are too old to be found. */
const oldL1 = (built: Built): RequestProvider => {
  const { provider } = l1Of(
    built,
    to('eth_getLogs', logs => (logs as Log[]).filter(({ topics }) => BigInt(topics[1] ?? 0) > 3n)),
  )
  const shift = (quantity: unknown, by: bigint) => {
    const number = BigInt(String(quantity)) + by
    return `0x${(number > 0n ? number : 0n).toString(16)}`
  }
  return {
    async request({ method, params = [] }) {
      const given = params as readonly unknown[]
      if (method === 'eth_getProof') return provider.request({ method, params: given.with(2, shift(given[2], -AGE)) })
      if (method === 'eth_getLogs') {
        const filter = Object(given[0])
        if (BigInt(filter.toBlock) < AGE) return []
        const [fromBlock, toBlock] = [shift(filter.fromBlock, -AGE), shift(filter.toBlock, -AGE)]
        return provider.request({ method, params: [{ ...filter, fromBlock, toBlock }] })
      }
      const block = Object(await provider.request({ method, params }))
      const number = shift(block.number, AGE)
      const rlp = encodeHeader({ ...block, number })
      return { ...block, number, hash: bytesToHex(keccak_256(Buffer.from(rlp.slice(2), 'hex'))) }
    },
  }
}

it('a message that is too old is missing, which is not the fault of L1, and no endpoint can keep another from its truth', async () => {
  const built = chains.poseidon2
  const old = await record(built, hashOf(built, 1), { l1: oldL1(built) })
  expect(old.outcome).toMatch(
    /^MESSAGE_MISSING: the L2 endpoint. No log of the finalization of L2 block 1 from L1 block 1000005 on/,
  )
  const inventing = l2Of(
    built,
    onLogs(() => [inventedLog(at(built.sent, 6), 2)]),
  ).provider
  const l2 = [inventing, l2Of(built).provider]
  const beside = await record(built, hashOf(built, 12), { l1: oldL1(built), l2 })
  expect(beside).toEqual({ outcome: 'claimable 12', failed: ['L2 0 MESSAGE_MISSING'] })
})
