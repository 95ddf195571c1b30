import { expect, it, onTestFinished } from 'vitest'
import { followMessagesWith } from '../../src/client/follow/follow-messages.ts'
import { createService, demoWorld } from '../../src/devnet/index.ts'
import { verifyEvidence } from '../../src/entry/anchor.ts'
import { type Hex, isArgumentError } from '../../src/entry/index.ts'
import { encodeMessageClaim, lineaMessageService, messageEvidence } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  type FollowEvent,
  type FollowedMessages,
  type FollowMessagesOptions,
  finalizedBlockHash,
  isEndpointError,
  type RequestProvider,
} from '../../src/entry/rpc.ts'
import { encodeMessageLog, readMessageLog, withHash } from '../../src/verify/messages/message.ts'
import type { Sent } from '../../vectors/messages/bridge.ts'
import { at, contentOf } from '../../vectors/messages/truth.ts'
import { type InParts, withNetwork } from '../network.ts'
import { randomOf } from '../random.ts'
import { ROLLUP, word } from './servers.ts'

const messageService = lineaMessageService
const user = contentOf('user').from
const friend = contentOf('friend').to

/** The slot of the newest finalized block, which all other proofs of the contract hold. */
const CURRENT = word(281)

/** A service, and what to follow. `finalize` adds messages in three blocks, some of them by the user or to the friend. */
async function start() {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService })
  const { url: l2, l1Url: l1 } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const { chain } = service
  const random = randomOf(77)
  const all: Sent[][] = [[]]
  return {
    ...{ chain, l1, l2, all },
    /** @param count of messages per block. Default: up to 17 */
    finalize(count?: number) {
      const sent: Sent[] = []
      for (let block = 0; block < 3; block++) {
        const contents = Array.from({ length: count ?? Math.floor(random() * 18) }, (_, index) => ({
          ...contentOf(`${all.length} ${block} ${index}`, index),
          ...(random() < 0.3 && { from: user }),
          ...(random() < 0.3 && { to: friend }),
        }))
        sent.push(...chain.messages.sendFromL2(contents))
        chain.addBlock()
      }
      chain.finalize()
      all.push(sent)
      return sent
    },
    options: { l1, l2, rollup: ROLLUP, scheme: poseidon2, messageService, fromL2BlockNumber: 0n } as const,
  }
}

/** Follows until there is nothing new, or `wait` throws. */
async function follow(options: Omit<InParts<FollowMessagesOptions>, 'l1BlockHash'>, wait: () => void = () => {}) {
  const items: FollowedMessages[] = []
  const failures: string[] = []
  const ending = new AbortController()
  let isRetry = false
  const onEvent = (event: FollowEvent) => {
    if (event.name === 'follow.request.failed') {
      failures.push(`${event.attributes.layer} ${event.attributes['endpoint.index']} ${event.attributes['error.type']}`)
    }
    isRetry = event.name === 'follow.retry' || event.name === 'follow.l1.behind'
  }
  const timing = {
    random: () => 0,
    async wait() {
      wait()
      if (!isRetry) ending.abort()
      isRetry = false
    },
  }
  const l1BlockHash = finalizedBlockHash(options.l1)
  let error: unknown
  try {
    const following = followMessagesWith(
      withNetwork({ l1BlockHash, ...options, onEvent, signal: ending.signal }),
      timing,
    )
    for await (const item of following) items.push(item)
  } catch (thrown) {
    error = thrown
  }
  const code = isEndpointError(error) || isArgumentError(error) ? error.code : String(error)
  return { items, failures, code, path: isArgumentError(error) ? error.path : '' }
}

const numbersOf = (items: readonly FollowedMessages[]) =>
  items.map(item => item.messages.map(one => one.message.number))
const numbersIn = (sent: readonly (readonly Sent[])[], isIt: (one: Sent) => boolean) =>
  sent.map(list => list.filter(isIt).map(({ number }) => number))

it('yields each message of a sender or recipient once, in order, over restarts at any time', async () => {
  const { finalize, chain, all, options } = await start()
  for (let round = 0; round < 5; round++) finalize(round === 2 ? 0 : undefined)
  const isClaimed = ({ number }: Sent) => number % 5n === 0n
  chain.messages.claimOnL1(
    all
      .flat()
      .filter(isClaimed)
      .map(({ number }) => number),
  )
  for (const [filter, isIt] of [
    [{ from: user }, ({ from }: Sent) => from === user],
    [{ to: friend.toUpperCase().replace('0X', '0x') as Hex }, ({ to }: Sent) => to === friend],
    [{ from: user, to: friend }, ({ from, to }: Sent) => from === user && to === friend],
  ] as const) {
    const expected = numbersIn(all, one => isIt(one) && !isClaimed(one))
    expect(expected.flat().length).toBeGreaterThan(0)
    const { items, code } = await follow({ ...options, ...filter })
    expect([numbersOf(items), code]).toEqual([expected, 'ABORTED'])
    for (const { messages, l1Block } of items) {
      for (const { message, messageHash, messageProof, claim, bundle } of messages) {
        const verified = verifyEvidence(bundle, {
          kind: messageEvidence,
          rollup: ROLLUP,
          trusted: { l1BlockHash: l1Block.hash },
          message,
        })
        expect(verified).toMatchObject({ status: 'claimable', messageHash, messageProof })
        expect(claim).toBe(encodeMessageClaim({ message, messageProof }))
      }
    }
    // From the progress of any item on, it yields the rest.
    for (const [index, { progress }] of 'to' in filter ? [] : items.entries()) {
      const rest = await follow({ ...options, ...filter, resumeFrom: JSON.parse(JSON.stringify(progress)) })
      expect(numbersOf(rest.items)).toEqual(expected.slice(index + 1))
    }
  }
  const [newest] = (await follow({ ...options, fromL2BlockNumber: undefined })).items
  expect([newest?.l2BlockNumber, newest?.messages]).toEqual([chain.finalized(), []])
})

interface Log {
  topics: Hex[]
  blockNumber: Hex
  logIndex: Hex
}
type Lie = (logs: Log[]) => Log[]
const LIES: Readonly<Record<string, Lie>> = {
  'leaves out the first': logs => logs.slice(1),
  'leaves out the last': logs => logs.slice(0, -1),
  'leaves out all': () => [],
  'leaves out the last tree': logs => logs.slice(0, 32),
  'leaves out the first tree': logs => logs.slice(32),
  'has an invention in the place of one': logs => {
    const index = logs.findIndex(({ topics }) => topics[1]?.endsWith(user.slice(2)))
    const message = readMessageLog(logs[index])?.message
    if (message === undefined) return logs
    return logs.with(index, {
      ...at(logs, index),
      ...encodeMessageLog(withHash({ ...message, value: 1n, from: message.to })),
    })
  },
  'swaps two, and their places': logs =>
    logs.map((log, index) => {
      const { blockNumber, logIndex } = log
      return { ...at(logs, index < 2 ? 1 - index : index), blockNumber, logIndex }
    }),
}
/** @param isPruned whether it has no receipts, either */
const lying = (url: string, lie: Lie, isPruned = false): RequestProvider => {
  const { request } = createHttpProvider(url)
  return {
    async request(args) {
      if (isPruned && args.method === 'eth_getBlockReceipts') return null
      const answer = await request(args)
      return args.method === 'eth_getLogs' && Array.isArray(answer) ? lie(structuredClone(answer)) : answer
    },
  }
}

it('loses and invents none with an endpoint that lies, alone for a while or beside an honest one', async () => {
  const { finalize, all, l2, options } = await start()
  finalize(15)
  const expected = numbersIn(all, ({ from }) => from === user)
  for (const [name, lie] of Object.entries(LIES)) {
    const beside = await follow({ ...options, from: user, l2: [lying(l2, lie), l2] })
    expect(numbersOf(beside.items), name).toEqual(expected)
    // What is no list of messages may be asked for twice: beside the proofs, and once their number is known.
    expect(beside.failures.length, name).toBeLessThanOrEqual(beside.failures[0]?.endsWith('MALFORMED') ? 2 : 1)
    expect(new Set(beside.failures).size, name).toBe(1)
    expect(beside.failures[0], name).toMatch(/^L2 0 (MESSAGES_REFUTED|ANSWER_MALFORMED)$/)
  }
  // One lie after the other, and the truth at last.
  const lies = Object.values(LIES).slice(2)
  let rounds = 0
  const alone = lying(l2, logs => lies[rounds]?.(logs) ?? logs, true)
  expect(numbersOf((await follow({ ...options, from: user, l2: alone }, () => rounds++)).items)).toEqual(expected)
  const forever = await follow({ ...options, l2: lying(l2, () => [], true) })
  expect([numbersOf(forever.items), forever.code]).toEqual([[[]], 'MESSAGES_REFUTED'])
  expect(forever.failures.filter(one => one === 'L2 0 MESSAGES_REFUTED')).toHaveLength(8)
})

it('proves at an L1 block that is not older than the finalization, and at a newer one after a failure', async () => {
  const { finalize, chain, l1, options } = await start()
  const old = await finalizedBlockHash(l1)()
  finalize(5)
  const [number] = numbersIn([finalize(5)], ({ from }) => from === user).flat()
  if (number === undefined) throw new Error('no message')
  // What L1 holds of the messages of the second finalization cannot be asked for at first. Then its hash is an old one, then not.
  let [proofs, asked, rounds] = [0, 0, 0]
  const failing: RequestProvider = {
    async request(args) {
      const [, keys] = args.params as readonly unknown[]
      const isHeld = args.method === 'eth_getProof' && Array.isArray(keys) && !keys.includes(CURRENT)
      if (isHeld && ++proofs === 2) throw new Error('no')
      return createHttpProvider(l1).request(args)
    },
  }
  const l1BlockHash = async () => (++asked === 2 ? old : finalizedBlockHash(l1)())
  const { items, code } = await follow({ ...options, from: user, l1: failing, l1BlockHash } as never, () => {
    if (rounds++ === 0) chain.messages.claimOnL1([number])
  })
  expect(code).toBe('ABORTED')
  expect(numbersOf(items).flat()).not.toContain(number)
  expect(items.length).toBe(3)
  expect([proofs, rounds]).toEqual([3, 3])
  expect(asked).toBe(3)
})

it('refuses a service that is none, and progress of another', async () => {
  const { finalize, options } = await start()
  finalize()
  const { items } = await follow(options)
  const { progress } = at(items, 0)
  const refused = async (more: object) => {
    const { code, path } = await follow({ ...options, ...more })
    return `${code} ${path}`
  }
  expect(await refused({ messageService: user })).toBe('ARGUMENT_INVALID network.messageService')
  expect(await refused({ messageService: undefined })).toBe('ARGUMENT_INVALID network.messageService')
  expect(await refused({ messageService: '0x12' })).toBe('ARGUMENT_INVALID network.messageService')
  expect(await refused({ from: '0x12' })).toBe('ARGUMENT_INVALID from')
  expect(await refused({ skipUnavailable: true })).toMatch(/^ARGUMENT_INVALID/)
  for (const resumeFrom of [
    ...[{}, [], 'text', { ...progress, version: 2 }, { ...progress, messageService: user }],
    ...[
      { ...progress, nextNumber: 1 },
      { ...progress, stateRoot: '0x' },
      { ...progress, nextNumber: undefined },
    ],
  ]) {
    expect(await refused({ resumeFrom })).toBe('ARGUMENT_INVALID resumeFrom')
  }
})

it('asks L1 once for all messages of a finalization, in parts that the bound on keys allows', async () => {
  const { finalize, l1, l2, options } = await start()
  const counted = (url: string, asked: { method: string; keys: number }[]): RequestProvider => {
    const provider = createHttpProvider(url)
    return {
      request: args => {
        const [, keys] = args.params as readonly unknown[]
        asked.push({ method: args.method, keys: Array.isArray(keys) ? keys.length : 0 })
        return provider.request(args)
      },
    }
  }
  for (let round = 0; round < 2; round++) finalize(100)
  const run = async (maxKeysPerRequest: number | undefined) => {
    const asked: { method: string; keys: number }[] = []
    const source = counted(l1, asked)
    const { items } = await follow({ ...options, maxKeysPerRequest, l1: source, l2: counted(l2, []) })
    expect(items.map(({ messages }) => messages.length)).toEqual([0, 300, 300])
    const proofs = asked.filter(({ method, keys }) => method === 'eth_getProof' && keys > 7).map(({ keys }) => keys)
    return { proofs, total: asked.length }
  }
  // Of each: the roots of ten trees of 32 messages, one or two slots for 256 of them each, and the code of the contract.
  const whole = await run(undefined)
  expect(whole.proofs).toEqual([13, 13])
  const parts = await run(8)
  expect([parts.proofs, parts.total - whole.total]).toEqual([[8, 8], 2])
})
