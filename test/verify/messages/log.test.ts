import { encodeAbiParameters, encodeEventTopics, parseAbi, parseAbiParameters } from 'viem'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { encodeMessageLog, readMessage, readMessageLog, toMessage } from '../../../src/verify/messages/message.ts'
import { hashOf, type Sent } from '../../../vectors/messages/bridge.ts'
import { contentOf, rollup } from '../../../vectors/messages/truth.ts'

const abi = parseAbi([
  'event MessageSent(address indexed from, address indexed to, uint256 fee, uint256 value, uint256 number, bytes data, bytes32 indexed hash)',
])
const { address } = rollup

/** As an ABI library encodes it. */
function logOf(message: Sent) {
  const { from, to, fee, value, number, data } = message
  const topics = encodeEventTopics({ abi, eventName: 'MessageSent', args: { from, to, hash: hashOf(message) } })
  const words = encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bytes'), [fee, value, number, data])
  return { topics: topics.map(topic => String(topic) as Hex), data: words }
}
const messages = [0, 1, 31, 32, 33, 400].map(length => ({
  ...contentOf(`log ${length}`, length),
  number: BigInt(length + 1),
}))

it('reads and writes the logs of an ABI library', () => {
  for (const message of messages) {
    const log = logOf(message)
    const read = readMessageLog({ ...log, address, blockNumber: '0x1' })
    expect(read && { ...read, message: toMessage(read.message) }).toEqual({ address, message })
    expect(read && bytesToHex(read.message.hash)).toBe(hashOf(message))
    expect(encodeMessageLog(readMessage('', message))).toEqual(log)
  }
})

it('reads no log of another event or shape, and none that states another hash', () => {
  const [, message = { ...contentOf('none'), number: 1n }] = messages
  const { topics, data } = logOf(message)
  const [first = '0x', , to = '0x', hash = '0x'] = topics
  const another = `0x${'ab'.repeat(32)}` as const
  const zero = { ...message, number: 0n }
  const wrong: unknown[] = [
    ...[null, {}, { topics, data }, { address, topics: 'all', data }, { address, topics: [...topics, hash], data }],
    ...[0, 1, 2, 3].map(count => ({ address, topics: topics.slice(0, count), data })),
    ...[another, `${first.slice(0, -1)}d`].map(topic => ({ address, topics: topics.with(0, topic as Hex), data })),
    ...[
      { address, topics: topics.with(1, to), data },
      { address, topics: topics.with(3, another), data },
    ],
    ...['0x', data.slice(0, 2 + 5 * 64 - 2), data.slice(0, 2 + 5 * 64)].map(cut => ({ address, topics, data: cut })),
    // Longer than the data, and than any array.
    ...['2', 'f'.repeat(64)].map(length => {
      const padded = length.padStart(64, '0')
      return { address, topics, data: `${data.slice(0, 2 + 4 * 64)}${padded}${data.slice(2 + 5 * 64)}` }
    }),
    { address, ...logOf(zero) },
  ]
  expect(wrong.length).toBe(19)
  for (const log of wrong) expect(readMessageLog(log)).toBe(null)
})
