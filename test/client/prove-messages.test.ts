import { keccak_256 } from '@noble/hashes/sha3.js'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import { followMessagesWith } from '../../src/client/follow/follow-messages.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import { historyContract } from '../../src/entry/blocks.ts'
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
import { encodeMessageLog } from '../../src/verify/messages/log.ts'
import { readMessage } from '../../src/verify/messages/message.ts'
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
function build(kind: 'poseidon2' | 'ethereum', { lastCount = 3, hasHistory = true } = {}) {
  const genesis = demoWorld(poseidon2)
  if (!hasHistory) genesis.deleteAccount(historyContract)
  const chain = createChain(genesis, ROLLUP, {
    messageService,
    contractVersion: kind === 'ethereum' ? 9 : 8,
  })
  const sent: Message[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const count of [2, 0, round === ROUNDS - 1 ? lastCount : 3]) {
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
/** It finds the message, and refuses the logs of the finalization. */
const locating = onLogs((logs, [filter]) => (Object(filter).topics.length > 1 ? logs : fail(-32000, 'too many')()))
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

const LIES: Readonly<Record<string, (built: Built) => Tamper>> = {
  'leave out a log': () => onLogs(logs => (logs.length > 1 ? logs.toSpliced(1, 1) : logs)),
  'leave out the message': built => onLogs(logs => logs.filter(log => log.topics[3] !== hashOf(built, 7).messageHash)),
  'leave out all': () => onLogs(() => []),
  'invent a log': ({ sent }) =>
    onLogs(logs => {
      const block = Number(logs.findLast(log => BigInt(log.blockNumber) < 5n)?.blockNumber ?? 0)
      if (logs.length < 2 || block === 0) return logs
      const index = logs.findLastIndex(log => Number(log.blockNumber) === block)
      return logs.toSpliced(index + 1, 0, inventedLog({ ...at(sent, 0), number: 900n }, block))
    }),
  'refuse to send logs': () => refusing,
}

describe.each(KINDS)('if the logs of all L2 endpoints prove nothing, with %s', kind => {
  it.each(Object.entries(LIES))('messages are recorded and followed, though all %s', async (_, lieOf) => {
    const built = chains[kind]
    const lie = lieOf(built)
    const l2 = [l2Of(built, lie).provider, l2Of(built, lie).provider]
    for (const number of [7, 16]) {
      expect((await record(built, hashOf(built, number), { l2 })).outcome).toBe(`claimable ${number}`)
    }
    const { numbers } = await follow(built, [lie, lie])
    expect(numbers).toEqual(built.sent.map(({ number }) => number))
  })

  it('a message is found by whatever is known of it, among proven blocks', async () => {
    const built = chains[kind]
    const l2 = l2Of(built, refusing).provider
    const outcomeOf = async (message: MessageRecordOptions['message']) => (await record(built, message, { l2 })).outcome
    expect(await outcomeOf({ number: 4n })).toBe('claimable 4')
    expect(await outcomeOf({ from: user, to: at(built.sent, 9).to })).toBe('claimable 10')
    expect(await outcomeOf({ from: user })).toMatch(/^ARGUMENT_INVALID.*found \d that fit/)
    const newest = kind === 'ethereum' ? 12 : 11
    expect(await outcomeOf({ number: 99n })).toContain(`none in the blocks 0 to ${newest}, which are proven`)
    expect(await outcomeOf({ number: 2n, fromBlock: 4n })).toContain(`none in the blocks 4 to ${newest}`)
    const block = Object(built.chain.getBlock(9n))
    const [transactionHash] = block.transactions
    expect(await outcomeOf({ transactionHash, number: 14n })).toBe('claimable 14')
    // No receipt proves which transaction it is of: nothing is searched.
    expect(await outcomeOf({ transactionHash: `0x${'12'.repeat(32)}` })).toMatch(/^MESSAGE_MISSING/)
  })

  it('an endpoint that sends forged receipts or headers is left for the next', async () => {
    const built = chains[kind]
    const forgeries: Record<string, Tamper> = {
      'a receipt lacks a log': to('eth_getBlockReceipts', receipts => {
        for (const receipt of receipts as { logs: unknown[] }[]) receipt.logs.pop()
        return receipts
      }),
      'the header rules out all logs': to('eth_getBlockByNumber', block => ({
        ...block,
        logsBloom: `0x${'00'.repeat(256)}`,
      })),
      'the header is another': to('eth_getBlockByNumber', block => ({ ...block, gasUsed: '0x1' })),
      'there is no block': to('eth_getBlockByNumber', () => null),
    }
    for (const [name, forgery] of Object.entries(forgeries)) {
      const liar = l2Of(built, both(refusing, forgery)).provider
      const honest = l2Of(built, refusing).provider
      const { outcome, failed } = await record(built, hashOf(built, 7), { l2: [liar, honest] })
      expect([name, outcome]).toEqual([name, 'claimable 7'])
      expect(failed.filter(one => one.startsWith('L2 0')).length, name).toBeGreaterThan(1)
      const alone = (await record(built, hashOf(built, 7), { l2: liar })).outcome
      expect(alone, name).toMatch(/^PARAMS_REFUSED/)
      expect(alone, name).toMatch(/Their blocks could not be proven: [A-Z_]+/)
    }
  })

  it('L1 is blamed if all its endpoints hide a finalization, and not without the proof', async () => {
    const built = chains[kind]
    const hiding = to('eth_getLogs', logs => (logs as Log[]).filter(({ topics }) => BigInt(topics[1] ?? 0) !== 6n))
    const l1 = l1Of(built, hiding).provider
    const [refuted, proven] = [
      await record(built, hashOf(built, 7), { l1, scheme: undefined }),
      await record(built, hashOf(built, 7), { l1 }),
    ]
    expect(refuted.outcome).toMatch(/^MESSAGES_REFUTED: the L2 endpoint/)
    expect(proven.outcome).toMatch(
      /^L1_CONTRADICTION: the L1 endpoint. the L2 blocks 4 to 9 are not one finalization, or its trees have another depth than 5/,
    )
    const l2 = l2Of(built, LIES['leave out the message']?.(built)).provider
    const beside = await record(built, hashOf(built, 6), { l1: [l1, l1Of(built).provider], l2 })
    expect(beside.outcome).toBe('claimable 6')
    // For its logs, and for the lie in them, whatever ranges of blocks were told.
    expect(beside.failed).toEqual(['L2 0 MESSAGES_REFUTED', 'L2 0 MESSAGES_REFUTED'])
    // L2 proves nothing about a finalization that L1 does not tell.
    const silent = l1Of(built, to('eth_getLogs', fail(-32000, 'query exceeds limit')))
    await record(built, hashOf(built, 7), { l1: silent.provider })
    // Asked for fewer blocks each time, down to one; then for the one in which the finalization arrived, and for no other.
    const logged = silent.asked.filter(({ method }) => method === 'eth_getLogs')
    expect(new Set(logged.map(({ params }) => Reflect.get(Object(params[0]), 'toBlock'))).size).toBe(2)
  })

  it('a follower goes on without a restart once L1 tells a finalization that all its endpoints hid', async () => {
    const built = chains[kind]
    let isHidden = true
    const { provider: l1 } = l1Of(
      built,
      to('eth_getLogs', logs => (logs as Log[]).filter(({ topics }) => !isHidden || BigInt(topics[1] ?? 0) !== 6n)),
    )
    const onWait = () => {
      isHidden = false
    }
    const { numbers } = await follow(built, [answer => answer], { l1, onWait })
    expect(numbers).toEqual(built.sent.map(({ number }) => number))
  })

  it('what several endpoints have found is proven once', async () => {
    const built = chains[kind]
    const hiding = to('eth_getLogs', logs => (logs as Log[]).filter(({ topics }) => BigInt(topics[1] ?? 0) !== 6n))
    const l2 = [1, 2, 3].map(() => l2Of(built, locating))
    const providers = l2.map(({ provider }) => provider)
    const { outcome } = await record(built, hashOf(built, 7), { l1: l1Of(built, hiding).provider, l2: providers })
    expect(outcome).toMatch(/^L1_CONTRADICTION/)
    const asked = l2.flatMap(one => one.asked).filter(({ method }) => method === 'eth_getBlockReceipts')
    expect(new Set(asked.map(({ params }) => params[0])).size).toBe(asked.length)
  })

  it('whoever leaves out or invents a message is blamed, with block and number', async () => {
    const built = chains[kind]
    const one = LIES['leave out the message']?.(built)
    const other = LIES['invent a log']?.(built)
    if (!one || !other) throw new Error('no lie')
    const { failures } = await follow(built, [one, other])
    expect(failures.join('\n')).toContain('it left out message 7 of L2 block 4, whose logs are proven')
    expect(failures.join('\n')).toContain('it invented message 900 of L2 block 4, whose logs are proven')
    const { failed } = await record(built, hashOf(built, 6), { l2: l2Of(built, one).provider })
    expect(failed).toEqual(['L2 0 MESSAGES_REFUTED', 'L2 0 MESSAGES_REFUTED'])
    const invented = { ...at(built.sent, 0), number: 900n }
    const inventing = onLogs(() => [inventedLog(invented, 4)])
    const { outcome } = await record(built, { number: 900n }, { l2: l2Of(built, inventing).provider })
    expect(outcome).toMatch(
      /^MESSAGES_REFUTED: the L2 endpoint. message 900 of L2 block 4 is not in the receipts of its finalization/,
    )
  })

  it('a message of a block that is not finalized stays unproven, and no block is fetched for it', async () => {
    const built = build(kind)
    const [waiting] = built.chain.messages.sendFromL2([contentOf('waiting')])
    built.chain.addBlock()
    const l2 = l2Of(built)
    const { outcome } = await record(built, { number: waiting?.number }, { l2: l2.provider })
    expect(outcome).toBe(`notAnchored ${waiting?.number}`)
    const methods = l2.asked.map(({ method }) => method)
    // That of the newest finalized block leads to its state, which has not given away the number.
    expect(methods.filter(method => method === 'eth_getBlockByNumber')).toHaveLength(kind === 'ethereum' ? 1 : 0)
    expect(methods).not.toContain('eth_getBlockReceipts')
  })

  it('a message of a finalized block is proven, though an endpoint says that its block is not finalized', async () => {
    const built = chains[kind]
    const postponing = both(
      onLogs(() => [inventedLog(at(built.sent, 6), 13)]),
      to('eth_blockNumber', () => '0xd'),
    )
    const [liar, honest] = [l2Of(built, postponing).provider, l2Of(built, refusing).provider]
    expect((await record(built, hashOf(built, 7), { l2: [liar, honest] })).outcome).toBe('claimable 7')
    // Nobody proves that it was not.
    const mute = l2Of(built, both(postponing, to('eth_getBlockReceipts', fail(-32601, 'no')))).provider
    expect((await record(built, hashOf(built, 7), { l2: mute })).outcome).toBe('notAnchored 7')
    const unproven = l2Of(built, (answer, method, params, turn) =>
      method.endsWith('getProof') ? fail(-32601, 'no')() : postponing(answer, method, params, turn),
    ).provider
    expect((await record(built, hashOf(built, 7), { l2: unproven })).outcome).toBe('notAnchored 7')
  })
})

describe('where L1 holds state roots', () => {
  const number = 5 * ROUNDS
  /** The same chain, but for its last block. */
  const forked = (method: string, isLast: (params: readonly unknown[]) => boolean): Tamper => {
    const fork = l2Methods(build('poseidon2', { lastCount: 2 }).chain, 2n)
    return (answer, asked, params) =>
      asked === method && isLast(params) ? JSON.parse(JSON.stringify(fork.get(asked)?.(params))) : answer
  }
  const isLast = ([block]: readonly unknown[]) => BigInt(String(block)) === BigInt(3 * ROUNDS)

  it('the root on L1 judges the last block of the newest finalization, which nothing else proves', async () => {
    const built = chains.poseidon2
    const [block, receipts] = ['eth_getBlockByNumber', 'eth_getBlockReceipts'].map(method => forked(method, isLast))
    if (!block || !receipts) throw new Error('no fork')
    const liar = l2Of(built, both(refusing, block, receipts)).provider
    // Its logs say the same, so no proven block shows that it lies.
    const { outcome } = await record(built, { number: BigInt(number) - 4n }, { l2: liar })
    expect(outcome).toMatch(/^MESSAGES_REFUTED.*those in the L2 blocks 10 to 12, of which only the last is not proven/)
    const l2 = [liar, l2Of(built, refusing).provider]
    expect((await record(built, { number: BigInt(number) - 4n }, { l2 })).outcome).toBe(`claimable ${number - 4}`)
    expect((await follow(built, [both(refusing, block, receipts), refusing])).numbers.length).toBe(number)
    // What is missing in a block that is not proven is nobody's fault yet.
    const lacking = onLogs(logs => logs.filter(log => log.topics[3] !== hashOf(built, number).messageHash))
    expect((await follow(built, [lacking])).failures.map(one => one.split(':')[0])).toEqual(['MESSAGES_REFUTED'])
    // A later finalization proves it.
    const own = build('poseidon2')
    let isMute = true
    const mute = to('eth_getBlockReceipts', (sent, params) => (isMute && isLast(params) ? fail(-32000, 'no')() : sent))
    const onWait = () => {
      isMute = false
      own.chain.addBlock()
      own.chain.finalize()
    }
    const later = await follow(own, [both(lacking, mute)], { onWait })
    expect(later.failures.at(-1)).toContain('it left out message 20 of L2 block 12, whose logs are proven')
    expect(later.numbers.length).toBe(number)
    const elsewhere = to('eth_getBlockByNumber', (sent, params) =>
      isLast(params) ? { ...sent, parentHash: `0x${'12'.repeat(32)}` } : sent,
    )
    const other = await follow(built, [both(refusing, elsewhere), refusing])
    expect(other.failures.join('\n')).toContain(
      'ANSWER_MALFORMED: the first L2 endpoint. block 12 does not follow block 11',
    )
    expect(other.numbers.length).toBe(number)
  })

  it('a finalization that the newest state does not reach is proven from its own', async () => {
    const built = build('poseidon2')
    built.chain.l1.finalize({ l2BlockNumber: 9_000n, stateRoot: built.chain.pending.stateRoot() })
    const l2 = l2Of(
      built,
      both(
        refusing,
        to('rollup_getProof', answer => answer),
      ),
    )
    const { outcome } = await record(built, hashOf(built, 7), { l2: l2.provider })
    expect(outcome).toMatch(/Their blocks could not be proven/)
    const near = l2Of(built, locating)
    expect((await record(built, hashOf(built, 7), { l2: near.provider })).outcome).toBe('claimable 7')
    expect(near.asked.filter(({ method }) => method === 'rollup_getProof').map(({ params }) => params[2])).toEqual([
      '0x6',
    ])
  })

  it('the earlier refusal stays if the state does not have the hashes of blocks', async () => {
    const built = build('poseidon2', { hasHistory: false })
    const { outcome } = await record(built, hashOf(built, 7), {
      l2: l2Of(built, LIES['leave out a log']?.(built)).provider,
    })
    expect(outcome).toMatch(/^MESSAGES_REFUTED.*Their blocks could not be proven: HISTORY_NO_CONTRACT/)
  })
})

describe('on an L1 that is older than a search reaches', () => {
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
    const old = await record(built, hashOf(built, 1), { l1: oldL1(built), scheme: undefined })
    expect(old.outcome).toMatch(
      /^MESSAGE_MISSING: the L2 endpoint. no log of the finalization of L2 block 1 from L1 block 1000005 on/,
    )
    const inventing = l2Of(
      built,
      onLogs(() => [inventedLog(at(built.sent, 6), 2)]),
    ).provider
    const l2 = [inventing, l2Of(built).provider]
    const beside = await record(built, hashOf(built, 12), { l1: oldL1(built), l2 })
    expect(beside).toEqual({ outcome: 'claimable 12', failed: ['L2 0 MESSAGE_MISSING'] })
  })
})

it('fetches no block of a finalization with more blocks than can be proven', async () => {
  const built = build('ethereum')
  const hash = `0x${'ab'.repeat(32)}` as const
  built.chain.messages.sendFromL2([contentOf('large')])
  built.chain.addBlock()
  built.chain.l1.finalize({ l2BlockNumber: 65_549n, blockHash: hash })
  const l2 = l2Of(built, locating)
  const { outcome } = await record(built, { number: 5n * BigInt(ROUNDS) + 1n }, { l2: l2.provider })
  expect(outcome).toMatch(/RESPONSE_TOO_LARGE, the L2 blocks 13 to 65549 are more than 65536/)
  expect(l2.asked.map(({ method }) => method)).not.toContain('eth_getBlockByNumber')
})
