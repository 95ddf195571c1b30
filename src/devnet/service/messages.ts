import { invalid, readItems } from '../../base/arguments.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, concatBytes, type Hex } from '../../base/bytes.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { mappingSlot, slotKey } from '../../verify/anchor/contract.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import {
  type DecodedMessage,
  encodeMessageLog,
  lineaMessageLayout as layout,
  MESSAGE_SENT,
  type Message,
  readMessage,
  readMessageLog,
  toMessage,
} from '../../verify/messages/message.ts'
import { messageTrees } from '../../verify/messages/tree.ts'
import type { World } from '../world/world.ts'
import type { BlockStore } from './block.ts'
import type { ChainTransaction, DescribedContent } from './content.ts'
import type { Anchored, Bridge, ContractChange, Write } from './contract.ts'
import { DEMO_SIGNERS, signCall } from './demo-transfer.ts'
import type { L1 } from './simulated-l1.ts'

/** What somebody sends from one layer to the other. */
export type MessageContent = Pick<Message, 'from' | 'to'> & Partial<Pick<Message, 'fee' | 'value' | 'data'>>

/** The messages between the layers of a {@link ServiceChain} with a `messageService`. They move no ether. */
export interface ServiceMessages {
  /**
   * Sends messages from L2, in one transaction of the next block, by the first account of the demo. The next finalization anchors
   * them on L1, like any log `MessageSent` of the message service.
   *
   * @param messages in order
   * @throws ArgumentError
   */
  sendFromL2(messages: readonly MessageContent[]): Message[]
  /**
   * Marks messages from L2 as claimed, in a new L1 block.
   *
   * @param numbers of the messages
   * @throws ArgumentError if one is claimed already
   */
  claimOnL1(numbers: readonly bigint[]): void
  /** Sends messages to L2, in a new L1 block. @param messages in order @throws ArgumentError */
  sendToL2(messages: readonly MessageContent[]): Message[]
  /** Delivers to L2 all messages that L1 has sent: to the pending state. */
  receiveOnL2(): void
  /**
   * Marks a message to L2 as claimed, in the pending state.
   *
   * @param message that L2 has received
   * @throws ArgumentError if L2 has not received it, or it is claimed already
   */
  claimOnL2(message: Message): void
}

/** `L2MerkleRootAdded(bytes32 indexed root, uint256 indexed depth)`, `L2MessagingBlockAnchored(uint256 indexed l2Block)` */
const [ROOT_ADDED, BLOCK_ANCHORED] = [
  '0x300e6f978eee6a4b0bba78dd8400dc64fd5652dbfc868a2258e16d0977be222b',
  '0x3c116827db9db3a30c1a25db8b0ee4bab9d2b223560209cfd839601b621c726d',
] as const
/** `RollingHashUpdated(uint256 indexed messageNumber, bytes32 indexed rollingHash, bytes32 indexed messageHash)` */
const ROLLING_HASH_UPDATED = '0xea3b023b4c8680d4b4824f0143132c95476359a2bb70a81d6c5a36f6918f6339'
const DEPTH = 5n
/** On L2: slots of `uint256 lastAnchoredL1MessageNumber` and `mapping(uint256 => bytes32) l1RollingHashes`. */
const [LAST_RECEIVED, ROLLING_HASHES_ON_L2] = [280n, 281n]
const GAS_USED = 60_000n

const entry = (slot: bigint, key: bigint | Hex): Hex => mappingSlot({ slot, keys: [key] })

type Blocks = BlockStore<{ readonly state: World; readonly content: DescribedContent }>

/** Creates the message service in the state of L2. @returns what the contract on L1 has to know; undefined without a service */
export function deployMessageService(state: World, service: Hex | undefined, blocks: Blocks): Bridge | undefined {
  if (service === undefined) return undefined
  state.setAccount(service, { nonce: 1n })
  state.setStorage(service, { key: slotKey(layout.nextNumberOnL2), value: slotKey(1n) })
  const begin: Write[] = [[slotKey(layout.nextMessageNumber), 1n]]
  return { begin, anchor: (first, last) => anchorMessages(blocks, service, first, last) }
}

/** What a finalization of the blocks from `first` to `last` writes on L1 about messages. */
function anchorMessages(blocks: Blocks, service: Hex, first: bigint, last: bigint): Anchored {
  const [hashes, senders]: [Hex[], bigint[]] = [[], []]
  for (let number = first; number <= last; number++) {
    const logs = blocks.at(number)?.content.receipts.flatMap(receipt => receipt.logs) ?? []
    const sent = logs.filter(({ address, topics }) => address === service && topics[0] === MESSAGE_SENT)
    if (sent.length > 0) senders.push(number)
    hashes.push(...sent.flatMap(({ topics }) => topics[3] ?? []))
  }
  const roots = messageTrees(hashes).map(({ root }) => root)
  const state = blocks.at(last)?.state
  return {
    messageNumber: BigInt(state?.getStorage(service, slotKey(LAST_RECEIVED)) ?? 0n),
    writes: roots.map(root => [entry(layout.treeDepths, root), DEPTH]),
    logs: [
      ...roots.map(root => ({ topics: [ROOT_ADDED, root, slotKey(DEPTH)], data: '0x' as const })),
      ...senders.map(number => ({ topics: [BLOCK_ANCHORED, slotKey(number)], data: '0x' as const })),
    ],
  }
}

interface Bridged {
  readonly chainId: bigint
  readonly pending: World
  readonly l1: L1
  /** The transactions for the next block of L2, to which it adds. */
  readonly queue: ChainTransaction[]
}

/** @param given undefined if the chain has no message service */
export function createMessages(given: Hex | undefined, { chainId, pending, l1, queue }: Bridged): ServiceMessages {
  const open = (): Hex => {
    if (given === undefined)
      throw invalid('messageService', 'the address of the message service, in createService', given)
    return given
  }
  const read = (service: Hex, key: Hex) => BigInt(pending.getStorage(service, key))
  const write = (service: Hex, ...writes: Write[]) => {
    for (const [key, value] of writes) pending.setStorage(service, { key, value: slotKey(value) })
  }
  const claimed = (number: bigint) => entry(layout.claimedMessages, number >> 8n)

  return {
    sendFromL2(messages) {
      const service = open()
      const next = read(service, slotKey(layout.nextNumberOnL2))
      const sent = readContents(messages, next)
      write(service, [slotKey(layout.nextNumberOnL2), next + BigInt(sent.length)])
      const logs = sent.map(message => ({ address: service, ...encodeMessageLog(message) }))
      const call = { state: pending, chainId, to: service, input: '0x9f3ce55a', gasUsed: GAS_USED } as const
      queue.push({ transaction: signCall(call, DEMO_SIGNERS[0]), gasUsed: GAS_USED, logs })
      return sent.map(toMessage)
    },
    claimOnL1(numbers) {
      open()
      const words = new Map<Hex, bigint>()
      for (const number of readItems('numbers', numbers, one => verifyUint('', one, 256, 1n))) {
        const [key, bit] = [claimed(number), 1n << (number & 255n)]
        const word = words.get(key) ?? l1.read(key)
        if ((word & bit) !== 0n) throw invalid('numbers', 'messages that are not claimed', number)
        words.set(key, word | bit)
      }
      l1.write({ writes: [...words], logs: [] })
    },
    sendToL2(messages) {
      open()
      return sendOnL1(l1, messages)
    },
    receiveOnL2() {
      const service = open()
      for (const log of l1.logs()) {
        const message = readMessageLog({ ...log, address: l1.contract })?.message
        if (message === undefined || message.number <= read(service, slotKey(LAST_RECEIVED))) continue
        write(
          service,
          [entry(layout.inbox, bytesToHex(message.hash)), 1n],
          [entry(ROLLING_HASHES_ON_L2, message.number), l1.read(entry(layout.rollingHashes, message.number))],
          [slotKey(LAST_RECEIVED), message.number],
        )
      }
    },
    claimOnL2(message) {
      const service = open()
      const key = entry(layout.inbox, bytesToHex(readMessage('message', message).hash))
      if (read(service, key) !== 1n)
        throw invalid('message', 'one that L2 has received, and nobody has claimed', message)
      write(service, [key, 2n])
    },
  }
}

function sendOnL1(l1: Bridged['l1'], messages: readonly MessageContent[]): Message[] {
  const next = l1.read(slotKey(layout.nextMessageNumber))
  const sent = readContents(messages, next)
  let rolling = l1.read(entry(layout.rollingHashes, next - 1n))
  const writes: Write[] = [[slotKey(layout.nextMessageNumber), next + BigInt(sent.length)]]
  const logs: ContractChange['logs'][number][] = []
  for (const message of sent) {
    const bytes = keccak256(concatBytes(bigintToBytes(rolling, 32), message.hash))
    rolling = bytesToBigint(bytes)
    writes.push([entry(layout.rollingHashes, message.number), rolling])
    const words = [slotKey(message.number), bytesToHex(bytes), bytesToHex(message.hash)]
    logs.push(encodeMessageLog(message), { topics: [ROLLING_HASH_UPDATED, ...words], data: '0x' })
  }
  l1.write({ writes, logs })
  return sent.map(toMessage)
}

/** @param first the number of the first message @throws ArgumentError */
const readContents = (messages: readonly MessageContent[], first: bigint): DecodedMessage[] => {
  let number = first
  return readItems('messages', messages, item => {
    const own = readOptions('', item, ['from', 'to', 'fee', 'value', 'data'])
    const { from, to, fee = 0n, value = 0n, data = '0x' } = own
    return readMessage('', { from, to, fee, value, data, number: number++ })
  })
}
