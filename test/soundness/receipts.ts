import { bytesToHex, type Hex } from '../../src/base/bytes.ts'
import { orderedTrieRoot } from '../../src/verify/blocks/ordered-trie.ts'
import { bloomOf, decodeLog, decodeReceipt, encodeReceipt, verifyReceipts } from '../../src/verify/blocks/receipts.ts'
import { flipBit } from '../../vectors/forge.ts'
import { type Beside, digits, isBytes, lengthOf } from './beside.ts'
import { below, pick, randomBytes } from './made.ts'

/** The receipts of a block, beside `verifyReceipts`. */

interface SentLog {
  address: Hex
  topics: Hex[]
  data: Hex
}
export interface SentReceipt {
  type: Hex
  status: Hex
  cumulativeGasUsed: Hex
  logsBloom: Hex
  logs: SentLog[]
}

const quantity = (value: number): Hex => `0x${value.toString(16)}`
const some = (length: number) => bytesToHex(randomBytes(length))

const makeLog = (): SentLog => ({
  address: some(20),
  topics: Array.from({ length: below(5) }, () => some(32)),
  data: some(pick([0, 1, 32, 60, 300])),
})

function makeReceipts(): SentReceipt[] {
  let gas = 0
  return Array.from({ length: below(pick([2, 3, 6])) }, () => {
    const logs = Array.from({ length: below(4) }, makeLog)
    gas += below(pick([2, 2 ** 16, 2 ** 40]))
    const logsBloom = bytesToHex(bloomOf(logs.map(decodeLog)))
    return { type: quantity(below(5)), status: quantity(below(2)), cumulativeGasUsed: quantity(gas), logsBloom, logs }
  })
}

export const encodeSent = (receipt: SentReceipt): Uint8Array => encodeReceipt(decodeReceipt(receipt))
const rootOf = (receipts: readonly SentReceipt[]): Hex => bytesToHex(orderedTrieRoot(receipts.map(encodeSent)))

/** Whether the model can express it: it begins with integers and whole bytes. */
export function isReceipt(sent: unknown): sent is SentReceipt {
  const isQuantity = (text: unknown) => typeof text === 'string' && /^0x(0|[1-9a-f][0-9a-f]{0,15})$/.test(text)
  const isOf = (length: number) => (text: unknown) => isBytes(text) && lengthOf(text) === length
  const isLog = (log: unknown) => {
    const { address, topics, data }: Partial<SentLog> = Object(log)
    return isOf(20)(address) && Array.isArray(topics) && topics.length <= 4 && topics.every(isOf(32)) && isBytes(data)
  }
  const { type, status, cumulativeGasUsed, logsBloom, logs }: Partial<SentReceipt> = Object(sent)
  if (![type, status, cumulativeGasUsed].every(isQuantity) || Number(type) > 4 || !isOf(256)(logsBloom)) return false
  return Array.isArray(logs) && logs.every(isLog)
}

const lies: ((receipts: SentReceipt[], receipt: SentReceipt) => void)[] = [
  (_, receipt) => Object.assign(receipt, { type: quantity(below(5)) }),
  (_, receipt) => Object.assign(receipt, { status: quantity(below(4)) }),
  (_, receipt) => Object.assign(receipt, { cumulativeGasUsed: quantity(below(2 ** 16)) }),
  (_, receipt) => Object.assign(receipt, { logsBloom: flipBit(receipt.logsBloom, below(256)) }),
  (_, receipt) => receipt.logs.splice(below(3), 1),
  (_, receipt) => receipt.logs.splice(below(3), 0, makeLog()),
  (_, receipt) => Object.assign(receipt.logs[0] ?? {}, { data: some(pick([0, 33])) }),
  (_, receipt) => receipt.logs[0]?.topics.pop(),
  receipts => receipts.splice(below(receipts.length), 1),
  receipts => receipts.reverse(),
]

const listOf = (parts: readonly string[]) => ['', ...parts.map(digits)].join(',')
const describe = ({ type, status, cumulativeGasUsed, logsBloom, logs }: SentReceipt): string[] => [
  ...['R', ...[type, status, cumulativeGasUsed].map(value => `${BigInt(value)}`), digits(logsBloom)],
  ...logs.flatMap(({ address, topics, data }) => ['L', digits(address), listOf(topics), digits(data)]),
]

/** Asks both verifiers about what the model knows of receipts. */
export function askReceipts(beside: Beside, receipts: readonly SentReceipt[], receiptsRoot: Hex): string {
  return beside.ask(['V', digits(receiptsRoot), ...receipts.flatMap(describe)], () => {
    const known = receipts.map(({ type, status, cumulativeGasUsed, logsBloom, logs }) => ({
      ...{ type, status, cumulativeGasUsed, logsBloom },
      logs: logs.map(({ address, topics, data }) => ({ address, topics, data })),
    }))
    return `accepted ${verifyReceipts(known, { receiptsRoot })
      .map(({ gasUsed }) => gasUsed)
      .join()}`
  })
}

export function askMadeReceipts(beside: Beside, size: number): void {
  while (beside.asked() < size) {
    const honest = makeReceipts()
    const receipts = structuredClone(honest)
    for (let times = below(3); times > 0 && receipts.length > 0; times--) pick(lies)(receipts, pick(receipts))
    // Under a root of their own, what the root does not refuse is refused for what it says. A wrong status has none.
    const isRooted = below(3) > 0 && receipts.every(({ status }) => BigInt(status) < 2n)
    const receiptsRoot = rootOf(isRooted ? receipts : honest)
    askReceipts(beside, receipts, receiptsRoot)
  }
}
