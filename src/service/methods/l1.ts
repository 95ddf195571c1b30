import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigintToBytes, bytesToHex, hexToBytes } from '../../bytes.ts'
import { encodeQuantity } from '../../hex.ts'
import type { FullChain } from '../chain.ts'
import type { ChainLog } from '../content.ts'
import type { StoredFinalization } from '../contract.ts'
import { MethodError, type Methods, rpcCodes } from '../json-rpc.ts'
import { DEFAULT_LOG_RANGE, MAX_KEYS } from '../limits.ts'
import type { L1 } from '../simulated-l1.ts'
import { blockNotFound, methodsOf, read, readBlock } from './common.ts'
import { getLogs } from './logs.ts'

/** The methods of the simulated L1's endpoint. */
export function l1Methods({ l1 }: FullChain, chainId: bigint, maxLogRange = DEFAULT_LOG_RANGE): Methods {
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
        l1
          .finalizations()
          .filter(({ l1BlockNumber: number }) => number >= from && number <= to)
          .flatMap(finalization => describeLog(l1, finalization))
      return getLogs(read.take(params, 1, 1)[0], { logsOf, numberOf, maxRange: maxLogRange })
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

/** The log of a finalization, in a transaction that does not exist; none if the block has been pruned. */
function describeLog({ contract, blocks }: L1, { l1BlockNumber, log }: StoredFinalization): ChainLog[] {
  const block = blocks.at(l1BlockNumber)?.block
  if (block === undefined) return []
  const place = {
    blockNumber: encodeQuantity(block.number),
    blockHash: block.hash,
    blockTimestamp: encodeQuantity(block.timestamp),
    transactionHash: bytesToHex(keccak_256(hexToBytes(block.hash, 32))),
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  }
  return [{ address: contract, ...log, ...place }]
}
