import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeHeader } from '../anchor/header.ts'
import { encodeRlp } from '../anchor/rlp.ts'
import { lineaLayout, type Rollup } from '../anchor/rollup.ts'
import { mappingSlot, slotKey } from '../anchor/slots.ts'
import { bigintToBytes, bytesToHex, type Hex, hexToBytes } from '../bytes.ts'
import { toQuantity } from '../rpc/provider.ts'
import { proveEntry, putEntry, type Trie, trieRoot } from './growing-trie.ts'

/** An L1 that holds the rollup contract and no more. */
export interface SimulatedL1 {
  /**
   * Writes the root of an L2 block into the contract, in a new L1 block.
   *
   * @param l2BlockNumber above those finalized before
   * @param stateRoot 32 bytes
   */
  finalize(l2BlockNumber: bigint, stateRoot: Hex): void
  /** A block in which nothing happens. */
  addBlock(): void
  /** The number of the newest block: all of them are final. */
  blockNumber(): bigint
  /**
   * As `eth_getBlockByNumber` answers; null when there is no such block.
   *
   * @param number of the L1 block, from 0
   */
  getBlock(number: bigint): object | null
  /**
   * As `eth_getProof` answers; null when there is no such block.
   *
   * @param address 20 bytes
   * @param storageKeys 32 bytes each
   * @param number of the L1 block, from 0
   */
  getProof(address: Hex, storageKeys: readonly Hex[], number: bigint): object | null
  /**
   * A slot's value; null when there is no such block.
   *
   * @param address 20 bytes
   * @param key 32 bytes
   * @param number of the L1 block, from 0
   */
  getStorage(address: Hex, key: Hex, number: bigint): bigint | null
}

interface L1State {
  readonly block: Readonly<Record<string, string>> & { readonly hash: Hex }
  readonly accounts: Trie
  readonly storage: Trie
}

const EMPTY = new Uint8Array(0)
const GENESIS_TIME = 0x69000000n
const SECONDS_A_BLOCK = 12n
const EMPTY_TRIE: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

export function createL1(rollup: Rollup): SimulatedL1 {
  const { stateRootHashes, currentL2BlockNumber } = rollup.layout ?? lineaLayout
  const contract = hexToBytes(rollup.address, 20)
  const codeHash = keccak_256(EMPTY)
  const states: L1State[] = []
  let storage: Trie = null
  const writes: { key: Hex; value: bigint; block: number }[] = []

  function write(key: Hex, value: bigint): void {
    // A zero slot is never stored.
    if (value !== 0n) storage = putEntry(storage, hexToBytes(key, 32), encodeRlp(integer(value)))
    writes.push({ key, value, block: states.length })
  }

  function addBlock(): void {
    const account = encodeRlp([integer(1n), EMPTY, trieRoot(storage), codeHash])
    const accounts = putEntry(null, contract, account)
    const parentHash = states.at(-1)?.block.hash ?? bytesToHex(new Uint8Array(32))
    const block = makeBlock(BigInt(states.length), parentHash, trieRoot(accounts))
    states.push({ block, accounts, storage })
  }

  const isContract = (address: Hex) => address.toLowerCase() === rollup.address.toLowerCase()

  function getStorage(address: Hex, key: Hex, number: bigint): bigint | null {
    if (states[Number(number)] === undefined) return null
    if (!isContract(address)) return 0n
    return writes.findLast(write => write.key === key && write.block <= Number(number))?.value ?? 0n
  }

  return {
    finalize(l2BlockNumber, stateRoot) {
      write(mappingSlot(stateRootHashes, l2BlockNumber), BigInt(stateRoot))
      write(slotKey(currentL2BlockNumber), l2BlockNumber)
      addBlock()
    },
    addBlock,
    getStorage,
    blockNumber: () => BigInt(states.length - 1),
    getBlock: number => {
      const state = states[Number(number)]
      return state ? { ...state.block, transactions: [], uncles: [], withdrawals: [] } : null
    },
    getProof(address, storageKeys, number) {
      const state = states[Number(number)]
      if (state === undefined) return null
      const trie = isContract(address) ? state.storage : null
      return {
        address: address.toLowerCase(),
        accountProof: proveEntry(state.accounts, hexToBytes(address, 20)).map(bytesToHex),
        balance: '0x0',
        nonce: isContract(address) ? '0x1' : '0x0',
        codeHash: bytesToHex(codeHash),
        storageHash: bytesToHex(trieRoot(trie)),
        storageProof: storageKeys.map(key => ({
          key,
          value: toQuantity(getStorage(address, key, number) ?? 0n),
          proof: proveEntry(trie, hexToBytes(key, 32)).map(bytesToHex),
        })),
      }
    },
  }
}

const integer = (value: bigint): Uint8Array =>
  value === 0n ? EMPTY : bigintToBytes(value, Math.ceil(value.toString(16).length / 2))

/** A block of Prague. */
function makeBlock(number: bigint, parentHash: Hex, stateRoot: Uint8Array): L1State['block'] {
  const zeros = (length: number) => bytesToHex(new Uint8Array(length))
  const block = {
    number: toQuantity(number),
    parentHash,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: zeros(20),
    stateRoot: bytesToHex(stateRoot),
    transactionsRoot: EMPTY_TRIE,
    receiptsRoot: EMPTY_TRIE,
    logsBloom: zeros(256),
    difficulty: '0x0',
    gasLimit: '0x2255100',
    gasUsed: '0x0',
    timestamp: toQuantity(GENESIS_TIME + number * SECONDS_A_BLOCK),
    extraData: '0x',
    mixHash: zeros(32),
    nonce: zeros(8),
    baseFeePerGas: '0x7',
    withdrawalsRoot: EMPTY_TRIE,
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: zeros(32),
    requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  }
  const header = encodeHeader(block)
  return { ...block, hash: bytesToHex(keccak_256(hexToBytes(header, header.length / 2 - 1))) }
}
