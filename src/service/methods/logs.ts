import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, type Hex, hexToBytes } from '../../bytes.ts'
import { encodeQuantity } from '../../hex.ts'
import { isGiven } from '../../json/known-fields.ts'
import type { Block } from '../block.ts'
import type { StoredFinalization } from '../contract.ts'
import { MAX_ALTERNATIVES, MAX_LOGS } from '../limits.ts'
import type { L1 } from '../simulated-l1.ts'
import { invalidParams, read } from './common.ts'

/** The logs of the contract that a filter selects, oldest first. @param numberOf reads the number of a block */
export function getLogs(
  { contract, blocks, finalizations }: L1,
  filter: unknown,
  numberOf: (block: unknown) => bigint,
  maxRange: number,
): object[] {
  const fields = read.fields('filter', filter, ['blockHash', 'fromBlock', 'toBlock', 'address', 'topics'])
  const { blockHash, fromBlock, toBlock } = fields
  if (blockHash !== undefined && (fromBlock !== undefined || toBlock !== undefined)) {
    throw invalidParams('filter: blockHash excludes fromBlock and toBlock')
  }
  const from = numberOf(blockHash === undefined ? (fromBlock ?? 'latest') : { blockHash })
  const to = blockHash === undefined ? numberOf(toBlock ?? 'latest') : from
  const matches = readMatcher(fields.address, fields.topics)
  if (to < from) throw invalidParams('filter: fromBlock is after toBlock')
  if (to - from >= BigInt(maxRange)) throw invalidParams(`filter: at most ${maxRange} blocks at once`)
  const logs = finalizations().filter(
    ({ l1BlockNumber, log }) => l1BlockNumber >= from && l1BlockNumber <= to && matches(contract, log.topics),
  )
  if (logs.length > MAX_LOGS) throw invalidParams(`filter: more than ${MAX_LOGS} logs`)
  return logs.flatMap(({ l1BlockNumber, log }) => {
    const block = blocks.at(l1BlockNumber)?.block
    return block ? [describeLog(contract, log, block)] : []
  })
}

const describeLog = (address: Hex, { topics, data }: StoredFinalization['log'], block: Block) => ({
  address,
  topics,
  data,
  blockNumber: encodeQuantity(block.number),
  blockHash: block.hash,
  blockTimestamp: encodeQuantity(block.timestamp),
  transactionHash: bytesToHex(keccak_256(hexToBytes(block.hash, 32))),
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
})

/** Returns a predicate on a log's address and topics. In a filter, null matches anything, and an array any of its items. */
function readMatcher(address: unknown, topics: unknown = []): (address: Hex, topics: readonly Hex[]) => boolean {
  const oneOf = (place: string, value: unknown, length: number): readonly Hex[] | null => {
    const given = Array.isArray(value) ? value : isGiven(value) ? [value] : []
    const values = read.list(place, given, MAX_ALTERNATIVES, (_, item) => read.bytes(place, item, length))
    return values.length === 0 ? null : values
  }
  const addresses = oneOf('address', address, 20)
  const places = read
    .list('topics', topics, 4, (_, topic) => topic)
    .map((topic, index) => oneOf(`topic ${index}`, topic, 32))
  return (address, topics) =>
    (addresses === null || addresses.includes(address)) &&
    places.length <= topics.length &&
    places.every((place, index) => place === null || place.includes(topics[index] ?? '0x'))
}
