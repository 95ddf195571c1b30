import { bigintToBytes, bytesToHex, type Hex, hexToBytes } from '../../../base/bytes.ts'
import { encodeQuantity } from '../../../base/hex.ts'
import { params as read } from '../../../provider/requests.ts'
import { keccak256 } from '../../../verify/hash/keccak/index.ts'
import type { Block } from '../block.ts'
import type { FullChain } from '../chain.ts'
import type { ChainLog } from '../content.ts'
import type { ContractLog } from '../contract.ts'
import { blockNotFound, MethodError, type Methods, methodsOf, readBlock, rpcCodes } from '../json-rpc.ts'
import { MAX_KEYS } from '../limits.ts'
import type { L1 } from '../simulated-l1.ts'
import { getLogs } from './logs.ts'

export function l1Methods({ l1 }: FullChain, chainId: bigint): Methods {
  const numberOf = (block: unknown): bigint => {
    const [latest, finalized] = [l1.blockNumber(), l1.blockNumber('finalized')]
    const tags = { latest, earliest: 0n, pending: latest, finalized, safe: l1.blockNumber('safe') }
    return readBlock(block, tags, l1.blocks)
  }

  /** Full nodes keep all blocks, but only recent states. */
  const orNotKept = <T>(found: T | null, number: bigint): T => {
    if (found !== null) return found
    if (l1.getBlock(number) === null) throw blockNotFound()
    throw new MethodError(rpcCodes.serverError, `historical state of block ${number} is not available`)
  }

  return methodsOf(chainId, l1.blocks, numberOf, {
    eth_getLogs: params => {
      const logsOf = (from: bigint, to: bigint) =>
        describeLogs(l1, ({ l1BlockNumber: number }) => number >= from && number <= to)
      return getLogs(read.take(params, 1, 1)[0], { logsOf, numberOf })
    },
    eth_getTransactionReceipt(params) {
      const hash = read.bytes('transaction hash', read.take(params, 1, 1)[0], 32)
      const logs = describeLogs(l1, ({ l1BlockNumber }) => {
        const block = l1.blocks.at(l1BlockNumber)?.block
        return block !== undefined && transactionIn(block) === hash
      })
      return logs.length === 0 ? null : { transactionHash: hash, status: '0x1', logs }
    },
    eth_getProof(params) {
      const [address, keys, block] = read.take(params, 3, 3)
      const storageKeys = read.list('storage keys', keys, MAX_KEYS, read.slot)
      const number = numberOf(block)
      return orNotKept(l1.getProof(read.bytes('address', address, 20), storageKeys, number), number)
    },
    eth_getStorageAt(params) {
      const [address, slot, block = 'latest'] = read.take(params, 2, 3)
      const number = numberOf(block)
      const value = l1.getStorage(read.bytes('address', address, 20), read.slot('slot', slot), number)
      return bytesToHex(bigintToBytes(orNotKept(value, number), 32))
    },
  })
}

/** Those of a block are of one transaction, which does not exist. */
const transactionIn = (block: Block): Hex => bytesToHex(keccak256(hexToBytes(block.hash, 32)))

/** The logs of the contract that are selected, but for those of blocks that have been pruned. */
function describeLogs({ contract, blocks, logs }: L1, isSelected: (log: ContractLog) => boolean): ChainLog[] {
  let [before, logIndex] = [-1n, 0]
  return logs()
    .filter(isSelected)
    .flatMap(({ l1BlockNumber, topics, data }) => {
      const block = blocks.at(l1BlockNumber)?.block
      if (block === undefined) return []
      logIndex = l1BlockNumber === before ? logIndex + 1 : 0
      before = l1BlockNumber
      const place = {
        blockNumber: encodeQuantity(block.number),
        blockHash: block.hash,
        blockTimestamp: encodeQuantity(block.timestamp),
        transactionHash: transactionIn(block),
        transactionIndex: '0x0',
        logIndex: encodeQuantity(BigInt(logIndex)),
        removed: false,
      }
      return [{ address: contract, topics, data, ...place }]
    })
}
