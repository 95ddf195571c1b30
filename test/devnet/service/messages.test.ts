import { createPublicClient, http, numberToHex, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import { createService, demoWorld } from '../../../src/devnet/index.ts'
import { type Hex, isArgumentError } from '../../../src/entry/index.ts'
import { lineaMessageService } from '../../../src/entry/messages.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createBridge, hashOf, type Sent } from '../../../vectors/messages/bridge.ts'
import { at, contentOf } from '../../../vectors/messages/truth.ts'
import { ROLLUP, startService } from '../../client/servers.ts'
import { randomOf } from '../../random.ts'

const abi = parseAbi([
  'event MessageSent(address indexed from, address indexed to, uint256 fee, uint256 value, uint256 number, bytes data, bytes32 indexed hash)',
  'event L2MerkleRootAdded(bytes32 indexed root, uint256 indexed depth)',
  'event L2MessagingBlockAnchored(uint256 indexed number)',
  'event RollingHashUpdated(uint256 indexed number, bytes32 indexed rollingHash, bytes32 indexed hash)',
])
const key = (slot: bigint): Hex => numberToHex(slot, { size: 32 })
const contents = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => contentOf(`${name} ${index}`, index))
const messageService = lineaMessageService

it('keeps messages where the contracts keep them, over a random history', () => {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService })
  const { messages, l1 } = chain
  const bridge = createBridge()
  const random = randomOf(35)
  const below = (most: number) => Math.floor(random() * most)
  const claimable: Sent[] = []
  for (let round = 0; round < 9; round++) {
    for (let block = below(3); block >= 0; block--) {
      const sent = contents(`${round} ${block}`, below(60))
      expect(messages.sendFromL2(sent)).toEqual(sent.map(one => bridge.sendFromL2(one)))
      chain.addBlock()
    }
    const toL2 = contents(`to ${round}`, below(3))
    expect(messages.sendToL2(toL2)).toEqual(toL2.map(one => bridge.sendToL2(one)))
    if (round % 2) messages.receiveOnL2()
    const arrived = bridge.toL2.length
    chain.addBlock()
    chain.finalize()
    claimable.push(...bridge.finalize().map(({ sent }) => sent))
    const claimed = claimable.splice(0, below(claimable.length))
    for (const one of claimed) bridge.claim(one)
    messages.claimOnL1(claimed.map(({ number }) => number))
    if (round % 2) for (const one of bridge.toL2.slice(0, arrived)) bridge.arrive(one, 1n)
    const number = l1.blockNumber()
    for (const [slot, value] of bridge.l1) expect(l1.getStorage(ROLLUP.address, key(slot), number)).toBe(value)
    for (const [slot, value] of bridge.l2) expect(chain.pending.getStorage(messageService, key(slot))).toBe(key(value))
    expect(BigInt(chain.pending.getStorage(messageService, key(278n)))).toBe(1n + BigInt(bridge.fromL2.length))
  }
  // Numbers around 256, in more than one word of the bitmap.
  expect(bridge.fromL2.length).toBeGreaterThan(257)
  expect(bridge.l2.size).toBeGreaterThan(3)
  const [first] = bridge.toL2
  if (first === undefined) throw new Error('no message to L2')
  messages.claimOnL2(first)
  bridge.arrive(first, 2n)
  for (const [slot, value] of bridge.l2) expect(chain.pending.getStorage(messageService, key(slot))).toBe(key(value))
})

it('logs them as the contracts do', async () => {
  const { service, url, l1Url } = await startService({ messageService })
  const { chain } = service
  const [viem, viemL1] = [url, l1Url].map(one => createPublicClient({ transport: http(one, { retryCount: 0 }) }))
  const sent = chain.messages.sendFromL2(contents('a', 2))
  chain.addBlock()
  chain.addBlock()
  sent.push(...chain.messages.sendFromL2(contents('b', 33)))
  chain.addBlock()
  chain.finalize()
  const toL2 = chain.messages.sendToL2(contents('c', 2))
  const range = { fromBlock: 0n, toBlock: 'latest' } as const
  const ofL2 = (await viem?.getLogs({ ...range, address: messageService, events: abi, strict: true })) ?? []
  expect(ofL2.map(({ args, blockNumber }) => ({ ...args, blockNumber }))).toMatchObject(
    sent.map((one, index) => ({ ...one, hash: hashOf(one), blockNumber: index < 2 ? 2n : 4n })).map(expectedLog),
  )
  const receipt = await viem?.getTransactionReceipt({ hash: at(ofL2, 2).transactionHash })
  expect(receipt?.logs.length).toBe(33)

  const ofL1 = (await viemL1?.getLogs({ ...range, address: ROLLUP.address, events: abi, strict: true })) ?? []
  expect(ofL1.map(({ eventName, logIndex }) => `${logIndex} ${eventName}`)).toEqual([
    ...['0 L2MerkleRootAdded', '1 L2MerkleRootAdded', '2 L2MessagingBlockAnchored', '3 L2MessagingBlockAnchored'],
    ...['0 MessageSent', '1 RollingHashUpdated', '2 MessageSent', '3 RollingHashUpdated'],
  ])
  const bridge = createBridge()
  for (const one of sent) bridge.sendFromL2(one)
  for (const one of toL2) bridge.sendToL2(one)
  const roots = [...new Set(bridge.finalize().map(({ place }) => place.root))]
  expect(ofL1.slice(0, 4).map(({ args }) => args)).toEqual([
    ...roots.map(root => ({ root, depth: 5n })),
    ...[2n, 4n].map(number => ({ number })),
  ])
  const ofMessage = ofL1.at(-1)
  if (ofMessage === undefined) throw new Error('no log')
  expect(ofMessage.args).toMatchObject({ number: 2n, hash: hashOf(at(toL2, 1)) })
  const params: [Hex] = [ofMessage.transactionHash]
  expect(await viemL1?.request({ method: 'eth_getTransactionReceipt', params })).toMatchObject({
    status: '0x1',
    logs: { length: 4 },
  })
})

const expectedLog = ({ from, to, ...rest }: Sent & { hash: Hex; blockNumber: bigint }) => ({
  ...{ ...rest, from: expect.stringMatching(new RegExp(from, 'i')), to: expect.stringMatching(new RegExp(to, 'i')) },
})

it('anchors again what a reorganization of L1 has undone', () => {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService, l1Unfinalized: 9 })
  const bridge = createBridge()
  for (const name of ['first', 'second']) {
    for (const one of chain.messages.sendFromL2(contents(name, 3))) bridge.sendFromL2(one)
    chain.addBlock()
    chain.finalize()
  }
  chain.messages.sendToL2(contents('lost', 1))
  chain.l1.reorganize(3)
  // The newest finalization is repeated, with the messages of both.
  bridge.finalize()
  expect(chain.messages.sendToL2(contents('other', 1))).toEqual([bridge.sendToL2(at(contents('other', 1), 0))])
  const number = chain.l1.blockNumber()
  for (const [slot, value] of bridge.l1) expect(chain.l1.getStorage(ROLLUP.address, key(slot), number)).toBe(value)
  chain.messages.receiveOnL2()
  expect(BigInt(chain.pending.getStorage(messageService, key(280n)))).toBe(1n)
})

it('refuses what the contracts refuse, and messages in a chain without them', () => {
  const create = (options: object) => createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, ...options })
  const codeOf = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      return isArgumentError(error) ? error.path : String(error)
    }
    return 'accepted'
  }
  expect(codeOf(() => create({ messageService: '0x12' }))).toBe('messageService')
  const { messages } = create({ messageService }).chain
  messages.claimOnL1([5n])
  const [message] = messages.sendToL2(contents('m', 1))
  if (message === undefined) throw new Error('no message')
  expect(codeOf(() => messages.claimOnL1([6n, 5n]))).toBe('numbers')
  expect(codeOf(() => messages.claimOnL1([6n, 6n]))).toBe('numbers')
  expect(codeOf(() => messages.claimOnL1([0n]))).toBe('numbers[0]')
  expect(codeOf(() => messages.claimOnL2(message))).toBe('message')
  messages.receiveOnL2()
  messages.claimOnL2(message)
  expect(codeOf(() => messages.claimOnL2(message))).toBe('message')
  expect(codeOf(() => messages.sendFromL2([{ ...message, from: '0x' }]))).toBe('messages[0].number')
  const without = create({}).chain.messages
  for (const work of [
    () => without.sendFromL2([]),
    () => without.sendToL2([]),
    () => without.receiveOnL2(),
    () => without.claimOnL1([]),
    () => without.claimOnL2(message),
  ]) {
    expect(codeOf(work)).toBe('messageService')
  }
})
