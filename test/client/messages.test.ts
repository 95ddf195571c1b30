import { beforeAll, describe, expect, it } from 'vitest'
import { lowerCase } from '../../src/base/hex.ts'
import { findSent, readSent } from '../../src/client/record/messages.ts'
import { MAX_MESSAGE_DATA, MAX_MESSAGES, MAX_SEARCH_REQUESTS } from '../../src/client/transport/limits.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import { redactUrls } from '../../src/client/transport/redact.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { verifyEvidence } from '../../src/entry/anchor.ts'
import { trustBeaconBlock } from '../../src/entry/beacon.ts'
import { type Hex, isArgumentError, isProofError } from '../../src/entry/index.ts'
import { lineaMessageService, messageEvidence } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  isEndpointError,
  type MessageRecordOptions,
  type RequestProvider,
  recordMessage,
} from '../../src/entry/rpc.ts'
import { encodeMessageLog, readMessage } from '../../src/verify/messages/message.ts'
import { createBridge, hashOf, type Place, type Sent } from '../../vectors/messages/bridge.ts'
import { at, contentOf } from '../../vectors/messages/truth.ts'
import { withNetwork } from '../network.ts'
import { randomOf } from '../random.ts'
import { ANY_TRUSTED, apiOf, forge } from './beacon-apis.ts'
import { ROLLUP, startServer } from './servers.ts'

const messageService = lineaMessageService
const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService, l1Unfinalized: 2 })
const bridge = createBridge()
const placed: { sent: Sent; place: Place; block: bigint }[] = []
const claimed = new Set<Sent>()
let urls: { l1: string; l2: string }
/** Sent, and not finalized. */
let waiting: Sent

beforeAll(async () => {
  const { chain } = service
  const random = randomOf(3)
  const below = (most: number) => Math.floor(random() * most)
  for (let round = 0; round < 8; round++) {
    const blocks: bigint[] = []
    for (let block = 0; block < 3; block++) {
      const sent = Array.from({ length: below(36) }, (_, index) => contentOf(`${round} ${block} ${index}`, index))
      chain.messages.sendFromL2(sent)
      const number = chain.addBlock()
      for (const one of sent) {
        bridge.sendFromL2(one)
        blocks.push(number)
      }
    }
    chain.addBlock()
    chain.finalize()
    placed.push(...bridge.finalize().map((one, index) => ({ ...one, block: blocks[index] ?? 0n })))
    const now = placed.filter(({ sent }) => !claimed.has(sent) && random() < 0.3).map(({ sent }) => sent)
    chain.messages.claimOnL1(now.map(({ number }) => number))
    for (const one of now) claimed.add(one)
    chain.messages.sendToL2([contentOf(`to ${round}`, 40)]).map(one => bridge.sendToL2(one))
  }
  const [last] = chain.messages.sendFromL2([contentOf('waiting', 5)])
  if (last === undefined) throw new Error('no message')
  waiting = last
  chain.addBlock()
  chain.l1.addBlock()
  chain.l1.addBlock()
  const { url: l2, l1Url: l1 } = await service.listen()
  urls = { l1, l2 }
  return () => service.close({ graceMs: 0 })
})

const sender = { layer: 'L2', address: lowerCase(messageService) } as const

type Answer = (args: { method: string; params: readonly unknown[] }, answer: unknown) => unknown
/** An endpoint whose answers are changed. `asked` are the methods. */
function changed(url: string, change: Answer): RequestProvider & { asked: string[] } {
  const { request } = createHttpProvider(url)
  const asked: string[] = []
  return {
    asked,
    async request(args) {
      asked.push(args.method)
      const params = Array.isArray(args.params) ? args.params : []
      return change({ method: args.method, params }, structuredClone(await request(args)))
    },
  }
}
const silent: RequestProvider = { request: () => new Promise(() => {}) }
const onLogs =
  (change: (logs: Log[]) => unknown): Answer =>
  ({ method }, answer) =>
    method === 'eth_getLogs' && Array.isArray(answer) && answer.length > 0 ? change(answer) : answer
/** The log of a message that was never sent, in the newest block. */
const logOf = (message: Sent, index: number) => ({
  ...encodeMessageLog(readMessage('', message)),
  ...{ address: sender.address, blockNumber: '0x21', logIndex: `0x${index}` },
})
interface Log {
  address: Hex
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  logIndex: Hex
}

const record = (message: MessageRecordOptions['message'], options: Partial<MessageRecordOptions> = {}) =>
  recordMessage(withNetwork({ ...urls, rollup: ROLLUP, scheme: poseidon2, messageService, message, ...options }))
const outcomeOf = (work: Promise<{ verified: { status: string } }>) =>
  work.then(
    ({ verified }) => verified.status,
    (error: unknown) =>
      isEndpointError(error) || isProofError(error) || isArgumentError(error)
        ? [error.code, isEndpointError(error) ? error.layer : ''].join(' ').trim()
        : String(error),
  )
const hashed = ({ sent }: { sent: Sent }) => ({ messageHash: hashOf(sent) })
/** In the second of three trees of its finalization, with numbers around 256. */
const one = () =>
  at(
    placed,
    placed.findIndex(({ sent, place }) => sent.number > 200n && place.leafIndex === 9),
  )

describe('a message from L2', () => {
  it('is proven as a second model has it, over many finalizations and numbers around 256', async () => {
    expect(placed.length).toBeGreaterThan(300)
    const counts = { claimable: 0, claimed: 0 }
    for (const number of [1, 32, 33, 120, 254, 255, 256, 257, placed.length]) {
      const { sent, place } = at(placed, number - 1)
      const { bundle, verified, claim } = await record({ messageHash: hashOf(sent) })
      const status = claimed.has(sent) ? 'claimed' : 'claimable'
      expect(verified).toMatchObject({ status, message: sent, messageProof: place })
      expect(claim !== undefined).toBe(status === 'claimable')
      const trusted = { l1BlockHash: verified.l1Block.hash }
      expect(verifyEvidence(bundle, { kind: messageEvidence, rollup: ROLLUP, trusted, message: sent }).status).toBe(
        status,
      )
      counts[status]++
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
  })

  it('is found by its hash, its transaction or its sender, and by nothing else', async () => {
    const { sent } = one()
    const asked = { address: messageService, fromBlock: '0x0', topics: [null, null, null, hashOf(sent)] }
    const { request } = createHttpProvider(urls.l2)
    const logs = (await request({ method: 'eth_getLogs', params: [asked] })) as (Log & { transactionHash: Hex })[]
    const { transactionHash } = at(logs, 0)
    const upper = `0x${sent.from.slice(2).toUpperCase()}` as Hex
    expect((await record({ from: upper })).verified.messageHash).toBe(hashOf(sent))
    // The block is one transaction, with the messages of all.
    const several = await record({ transactionHash }).catch(String)
    expect(several).toMatch(
      /MESSAGE_MISSING: .*There are \d+ in the transaction: state the hash of one, such as 0x[0-9a-f]{64}, /,
    )
    const alone = changed(urls.l2, ({ method }, answer) =>
      method === 'eth_getTransactionReceipt' ? { ...Object(answer), logs: [...logs, other(at(logs, 0))] } : answer,
    )
    expect((await record({ transactionHash }, { l2: alone })).verified.messageHash).toBe(hashOf(sent))
    const none = changed(urls.l2, ({ method }, answer) =>
      method === 'eth_getTransactionReceipt' ? { logs: [] } : answer,
    )
    expect(await outcomeOf(record({ transactionHash }, { l2: none }))).toBe('MESSAGE_MISSING L2')
    const elsewhere = record({ transactionHash: hashOf(sent) })
    await expect(elsewhere).rejects.toThrow(`. It has no receipt of the transaction ${hashOf(sent)}. `)
    for (const search of [{ from: sent.to }, { messageHash: transactionHash }, { transactionHash: hashOf(sent) }]) {
      expect(await outcomeOf(record(search))).toBe('MESSAGE_MISSING L2')
    }
    const wrong = [
      {},
      { number: 3n },
      { from: sent.data },
      { messageHash: upper },
      { ...hashed(one()), from: sent.from },
    ]
    for (const search of wrong) expect(await outcomeOf(record(search as object))).toBe('ARGUMENT_INVALID')
    const { l1, l2 } = urls
    const message = hashed(one())
    expect(await outcomeOf(recordMessage(withNetwork({ l1, l2, rollup: ROLLUP, scheme: poseidon2, message })))).toBe(
      'ARGUMENT_INVALID',
    )
  })

  it('is waited for while its block is not finalized, and then only if no endpoint can prove it', async () => {
    const outcome = await record(hashed({ sent: waiting })).catch(String)
    expect(outcome).toContain(
      'BLOCK_NOT_FINALIZED: the L2 endpoint. The message is in block 33, and the last final one is 32.',
    )
    const later = changed(
      urls.l2,
      onLogs(logs => logs.map(log => ({ ...log, blockNumber: '0x21' }))),
    )
    for (const isClaimed of [true, false]) {
      const message = at(
        placed.filter(({ sent }) => claimed.has(sent) === isClaimed),
        0,
      )
      expect(await outcomeOf(record(hashed(message), { l2: later }))).toBe('BLOCK_NOT_FINALIZED L2')
      const status = isClaimed ? 'claimed' : 'claimable'
      expect(await outcomeOf(record(hashed(message), { l2: [later, urls.l2] }))).toBe(status)
    }
  })
})

/** The logs of a finalization have many; those of the search have one. */
const ofFinalization = (change: (logs: Log[]) => unknown) => onLogs(logs => (logs.length === 1 ? logs : change(logs)))
const other = (log: Log) => ({ ...log, address: `0x${'12'.repeat(20)}` as const })
const LIES: Readonly<Record<string, readonly [change: Answer, code: string]>> = {
  'leaves one out': [ofFinalization(logs => logs.toSpliced(3, 1)), 'MESSAGES_REFUTED L2'],
  'leaves out the message': [
    ofFinalization(logs => logs.filter(log => log.topics[3] !== hashOf(one().sent))),
    'MESSAGES_REFUTED L2',
  ],
  'has none': [ofFinalization(() => []), 'MESSAGES_REFUTED L2'],
  'swaps two, and their places': [
    ofFinalization(logs => {
      const index = logs.findIndex(log => log.topics[3] === hashOf(one().sent))
      const places = logs.map(({ blockNumber, logIndex }) => ({ blockNumber, logIndex }))
      const swapped = logs.with(index, at(logs, index + 1)).with(index + 1, at(logs, index))
      return swapped.map((log, place) => ({ ...log, ...places[place] }))
    }),
    'MESSAGES_REFUTED L2',
  ],
  'adds one of another contract': [
    ofFinalization(logs => [...logs.slice(0, -1), other(at(logs, logs.length - 1))]),
    'ANSWER_MALFORMED L2',
  ],
  'has another topic count': [
    ofFinalization(logs => logs.map(log => ({ ...log, topics: log.topics.slice(0, 3) }))),
    'ANSWER_MALFORMED L2',
  ],
  'changes a value': [
    ofFinalization(logs => logs.map(log => ({ ...log, data: log.data.replace('0x0', '0x1') as Hex }))),
    'ANSWER_MALFORMED L2',
  ],
  'names no block': [ofFinalization(logs => logs.map(log => ({ ...log, blockNumber: null }))), 'ANSWER_MALFORMED L2'],
  'names another block': [
    ofFinalization(logs => logs.map(log => ({ ...log, blockNumber: '0x1' }))),
    'MESSAGES_REFUTED L2',
  ],
  'sends no list': [ofFinalization(() => ({})), 'MALFORMED_RESPONSE'],
  'sends more than there may be': [ofFinalization(logs => Array(MAX_MESSAGES + 1).fill(logs[0])), 'MALFORMED_RESPONSE'],
  'names a block of another finalization': [
    onLogs(logs => (logs.length === 1 ? [{ ...logs[0], blockNumber: '0x6' }] : logs)),
    'MESSAGES_REFUTED L2',
  ],
  'knows no such message': [onLogs(() => []), 'MESSAGE_MISSING L2'],
}

it.each([
  ['doubled', logs => logs.toSpliced(3, 0, at(logs, 3))],
  ['newest first', logs => logs.toReversed()],
] satisfies [string, Parameters<typeof ofFinalization>[0]][])(
  'takes the logs of an honest endpoint, %s',
  async (_, change) => {
    const { verified } = await record(hashed(one()), { l2: changed(urls.l2, ofFinalization(change)) })
    expect(verified.messageProof).toEqual(one().place)
  },
)

describe('an L2 endpoint that lies', () => {
  it.each(Object.entries(LIES))('is blamed, and another one asked, if it %s', async (_, [change, code]) => {
    const l2 = changed(urls.l2, change)
    expect(await outcomeOf(record(hashed(one()), { l2 }))).toBe(code)
    const failed: string[] = []
    const onProgress: MessageRecordOptions['onProgress'] = step => {
      if (step.step === 'endpointFailed') failed.push(`${step.layer} ${step.index} ${step.code}`)
    }
    const { verified } = await record(hashed(one()), { l2: [l2, urls.l2], onProgress })
    expect(verified.messageProof).toEqual(one().place)
    expect(failed).toEqual([`L2 0 ${code.replace(' L2', '')}`])
  })

  it('does not hold up the honest one by its silence', async () => {
    const { verified } = await record(hashed(one()), { l2: [silent, urls.l2], l1: [silent, urls.l1] })
    expect(verified.messageProof).toEqual(one().place)
  })

  it('cannot send more data than there may be', async () => {
    const log = { address: messageService, topics: [], data: `0x${'00'.repeat(MAX_MESSAGE_DATA)}` }
    const request: RequestProvider['request'] = async ({ method }) => (method === 'eth_blockNumber' ? '0x20' : [log])
    expect(await outcomeOf(record(hashed(one()), { l2: { request } }))).toBe('RESPONSE_TOO_LARGE L2')
  })

  it('cannot send more messages in several answers than there may be', () => {
    const sent = [0, 1].map(index => logOf({ ...at(placed, index).sent }, index))
    const length = sent.reduce((sum, { data }) => sum + 512 + data.length / 2, 0)
    const read = (bytes: number) => readSent(sent, sender, redactUrls, { bytes })
    expect(read(length)).toHaveLength(2)
    expect(() => read(length - 1)).toThrow('RESPONSE_TOO_LARGE')
  })

  it('is asked from the newest block back, until a range has the message: the newest of its sender', async () => {
    const ends: bigint[] = []
    const request: RequestProvider['request'] = async ({ method, params }) => {
      if (method === 'eth_blockNumber') return '0xea60'
      const [{ toBlock: blockNumber }] = params as [{ toBlock: Hex }]
      ends.push(BigInt(blockNumber))
      if (ends.length < 3) return []
      return [5, 7, 6].map(index => ({ ...logOf({ ...one().sent, number: BigInt(index) }, index), blockNumber }))
    }
    const attempt = { signal: new AbortController().signal, heard: () => {} }
    const found = await findSent(openProvider({ request }), sender, { from: one().sent.from }, attempt)
    expect([found.message.number, ends]).toEqual([7n, [60_000n, 58_000n, 56_000n]])
  })

  it('cannot be asked without an end', async () => {
    let asked = 0
    const request: RequestProvider['request'] = async ({ method }) => {
      asked++
      return method === 'eth_blockNumber' ? '0xffffffff' : []
    }
    expect(await outcomeOf(record(hashed(one()), { l2: { request } }))).toBe('MESSAGE_MISSING L2')
    expect(asked).toBe(MAX_SEARCH_REQUESTS + 1)
  })

  it('cannot end the search with messages that it invents', async () => {
    const { sent } = one()
    const [messageHash] = (({ topics }) => topics.slice(3) as Hex[])(logOf({ ...sent, number: 900n }, 0))
    for (const blockNumber of ['0x21', '0x20'] as const) {
      const inventing = changed(urls.l2, ({ method }, answer) =>
        method === 'eth_getLogs' ? [{ ...logOf({ ...sent, number: 900n }, 0), blockNumber }] : answer,
      )
      const code = blockNumber === '0x21' ? 'BLOCK_NOT_FINALIZED L2' : 'MESSAGES_REFUTED L2'
      for (const search of [{ from: sent.from }, { messageHash }]) {
        expect(await outcomeOf(record(search, { l2: inventing }))).toBe(code)
      }
      const { verified } = await record({ from: sent.from }, { l2: [inventing, urls.l2] })
      expect(verified.messageProof).toEqual(one().place)
    }
  })

  it.each(['from', 'to', 'value', 'data'] as const)('cannot have its API key written as %s', async field => {
    const key = 'c0ffee00c0ffee00c0ffee00c0ffee00'
    const value = { from: `0x${key}00000000`, to: `0x00000000${key}`, value: BigInt(`0x${key}`), data: `0x${key}` }
    const invented = logOf({ ...waiting, number: 900n, [field]: value[field] }, 0)
    const messageHash = at(invented.topics, 3)
    const { url } = await startServer((response, id, _, body) => {
      const result = body.includes('eth_blockNumber') ? '0x21' : [invented]
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    expect(await outcomeOf(record({ messageHash }, { l2: `${url}/v3/${key}` }))).toBe('ANSWER_MALFORMED L2')
    expect(await outcomeOf(record({ messageHash }, { l2: `${url}/v3/other` }))).toBe('BLOCK_NOT_FINALIZED L2')
  })
})

it('a message is proven from a beacon block that you trust, whatever an API or L1 endpoint says', async () => {
  const trusting = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService })
  const { chain, beacon } = trusting
  const [sent] = chain.messages.sendFromL2([contentOf('beacon')])
  addDemoBlocks(chain)
  const { url: l2, l1Url: l1 } = await trusting.listen()
  const blockRoot = (await beacon.blockRoot(60n)) ?? '0x'
  const trusted = trustBeaconBlock({ network: beacon.network, blockRoot })
  const wanted = { from: sent?.from }
  const forging = apiOf(trusting, forge)
  const failed: string[] = []
  // A block of its own, consistent in itself.
  const other = changed(l1, ({ method }, answer) => (method === 'eth_getBlockByHash' ? chain.l1.getBlock(1n) : answer))
  const { bundle, verified, claim } = await record(wanted, {
    ...{ l1: [other, l1], l2, beacon: { apis: [forging, apiOf(trusting)], trusted, ...ANY_TRUSTED } },
    onProgress: step =>
      void (step.step === 'endpointFailed' && failed.push(`${step.layer} ${step.index} ${step.code}`)),
  })
  expect([verified.status, verified.trustedInput]).toEqual(['claimable', 'beaconBlockRoot'])
  expect(forging.asked.length).toBeGreaterThan(0)
  expect(failed.filter(one => !one.startsWith('beacon 0 '))).toEqual(['L1 0 HEADER_HASH_MISMATCH'])
  const claimed = { rollup: ROLLUP, message: verified.message }
  const again = verifyEvidence(JSON.parse(JSON.stringify(bundle)), { kind: messageEvidence, ...claimed, trusted })
  expect([again, claim?.slice(0, 10)]).toEqual([verified, '0x6463fb2a'])
  const elsewhere = trustBeaconBlock({ network: beacon.network, blockRoot: hashOf(waiting) })
  expect(() => verifyEvidence(bundle, { kind: messageEvidence, ...claimed, trusted: elsewhere })).toThrow(/^BEACON_/)
  await trusting.close({ graceMs: 0 })
})

it('a message is proven where L1 holds the state root and the hash of the block before', async () => {
  const both = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService })
  const { chain } = both
  chain.upgrade()
  chain.addBlock()
  const { stateRoot, hash: blockHash } = chain.getBlock(1n) as { stateRoot: Hex; hash: Hex }
  chain.l1.finalize({ l2BlockNumber: 1n, stateRoot, blockHash })
  const [sent] = chain.messages.sendFromL2([contentOf('both')])
  chain.addBlock()
  chain.finalize()
  const { url: l2, l1Url: l1 } = await both.listen()
  expect(await outcomeOf(record({ from: sent?.from }, { l1, l2 }))).toBe('claimable')
  await both.close({ graceMs: 0 })
})

describe('an L1 endpoint that lies', () => {
  const isOf = (end: bigint) => (log: Log) => BigInt(log.topics[1] ?? 0) === end
  /** The last blocks of the message's finalization, and of that before. */
  const ends = () => {
    const last = ((one().block - 1n) / 4n + 1n) * 4n
    return [last - 4n, last] as const
  }
  const rename = (log: Log, end: bigint) => ({
    ...log,
    topics: [log.topics[0], `0x${end.toString(16).padStart(64, '0')}`],
  })
  it.each<[string, Answer, string]>([
    ['hides the finalization before', onLogs(logs => logs.filter(log => !isOf(ends()[0])(log))), 'MESSAGES_REFUTED L2'],
    ['hides the finalization', onLogs(logs => logs.filter(log => !isOf(ends()[1])(log))), 'MESSAGES_REFUTED L2'],
    ['invents one', onLogs(logs => [...logs, rename(at(logs, 0), ends()[0] + 1n)]), 'L1_CONTRADICTION L1'],
    ['has no logs', onLogs(() => []), 'L1_CONTRADICTION L1'],
    ['sends no list', onLogs(() => 'none'), 'ANSWER_MALFORMED L1'],
  ])('hides nothing that another one tells, if it %s', async (_, change, code) => {
    const l1 = changed(urls.l1, change)
    expect(await outcomeOf(record(hashed(one()), { l1 }))).toBe(code)
    expect((await record(hashed(one()), { l1: [l1, urls.l1] })).verified.messageProof).toEqual(one().place)
  })

  it('cannot have more blocks read than a finalization may have', async () => {
    const large = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService })
    const [sent] = large.chain.messages.sendFromL2([contentOf('large')])
    large.chain.addBlock()
    large.chain.l1.finalize({ l2BlockNumber: 300_000n, stateRoot: large.chain.pending.stateRoot() })
    const { url: l2, l1Url: l1 } = await large.listen()
    expect(await outcomeOf(record({ from: sent?.from }, { l1, l2 }))).toBe('L1_CONTRADICTION L1')
    await large.close({ graceMs: 0 })
  })
})

describe('a message to L2', () => {
  const direction = 'toL2'
  it('is sent, or in a block that is not final yet, as a second model has it', async () => {
    for (const sent of bridge.toL2.slice(0, -1)) {
      const { bundle, verified, claim } = await record({ messageHash: hashOf(sent) }, { direction })
      expect([verified.status, verified.message, verified.messageProof, claim]).toEqual([
        'sent',
        sent,
        undefined,
        undefined,
      ])
      expect(bundle.messageProof).toBe(undefined)
    }
    const [late] = service.chain.messages.sendToL2([contentOf('late')])
    if (late === undefined) throw new Error('no message')
    const search = { messageHash: hashOf(late) }
    expect(await outcomeOf(record(search, { direction }))).toBe('BLOCK_NOT_FINALIZED L1')
    expect(await outcomeOf(record(search, { direction, l1BlockNumber: 'latest' }))).toBe('sent')
  })

  it('is none that an endpoint invents', async () => {
    const [sent, next] = [at(bridge.toL2, 3), { ...at(bridge.toL2, 3), number: 50n }]
    const inventing = (message: Sent, blockNumber = '0x3') =>
      changed(urls.l1, ({ method }, answer) => {
        if (method !== 'eth_getLogs' || !Array.isArray(answer)) return answer
        return [{ ...answer[0], ...logOf(message, 0), address: ROLLUP.address, blockNumber }]
      })
    const forged = { ...sent, value: sent.value + 1n }
    const search = { from: sent.from }
    expect(await outcomeOf(record(search, { direction, l1: inventing(forged) }))).toBe('L1_CONTRADICTION L1')
    expect((await record(search, { direction, l1: [inventing(forged), urls.l1] })).verified.message).toEqual(sent)
    expect(await outcomeOf(record(search, { direction, l1: inventing(next) }))).toBe('L1_CONTRADICTION L1')
    // Nobody can disprove what is yet to be sent.
    const newest = await createHttpProvider(urls.l1).request({ method: 'eth_blockNumber' })
    const late = inventing(next, String(newest))
    expect(await outcomeOf(record(search, { direction, l1: late }))).toBe('BLOCK_NOT_FINALIZED L1')
    expect((await record(search, { direction, l1: [late, urls.l1] })).verified.message).toEqual(sent)
  })
})
