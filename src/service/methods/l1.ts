import { bigintToBytes, bytesToHex } from '../../bytes.ts'
import { isGiven, readOwn } from '../../json/known-fields.ts'
import type { FullChain } from '../chain.ts'
import { MethodError, type Methods, rpcCodes } from '../json-rpc.ts'
import { DEFAULT_LOG_RANGE, MAX_KEYS } from '../limits.ts'
import { blockNotFound, methodsOf, read, readBlock } from './common.ts'
import { getLogs } from './logs.ts'

/** The methods of the simulated L1's endpoint. */
export function l1Methods({ l1 }: FullChain, chainId: bigint, maxLogRange = DEFAULT_LOG_RANGE): Methods {
  const numberOf = (block: unknown): bigint => {
    const hash = typeof block === 'object' && block !== null ? readOwn(block, 'blockHash') : undefined
    if (isGiven(hash)) {
      const number = l1.numberOf(read.bytes('block hash', hash, 32))
      if (number === undefined) throw blockNotFound()
      return number
    }
    const [latest, finalized] = [l1.blockNumber(), l1.blockNumber('finalized')]
    return readBlock(block, { latest, earliest: 0n, pending: latest, finalized, safe: l1.blockNumber('safe') })
  }

  /** Full nodes keep all blocks, but only recent states. */
  const orNotKept = <T>(found: T | null, number: bigint): T => {
    if (found !== null) return found
    if (l1.getBlock(number) === null) throw blockNotFound()
    throw new MethodError(rpcCodes.serverError, `historical state of block ${number} is not available`)
  }

  return methodsOf(chainId, l1.blocks, numberOf, {
    eth_getLogs: params => getLogs(l1, read.take(params, 1, 1)[0], numberOf, maxLogRange),
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
