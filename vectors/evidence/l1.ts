import { createMerkleProof, createMPT, type MerklePatriciaTrie } from '@ethereumjs/mpt'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigintToBytes, bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import type { Hex } from '../../src/entry/index.ts'
import { slotKey } from '../../src/verify/anchor/contract.ts'
import { encodeRlp, type RlpItem } from '../../src/verify/anchor/trie.ts'

/** Bytes that look random and are the same on every machine. */
export const named = (name: string, length = 32): Hex =>
  bytesToHex(keccak_256(new TextEncoder().encode(name)).subarray(0, length))

/** An `eth_getProof` result as a forger sees it. */
export interface LooseEthProof {
  [field: string]: unknown
  storageHash?: unknown
  accountProof: string[]
  storageProof: { key: string; value?: string; proof: string[] }[]
}

export interface L1 {
  stateRoot: Hex
  /** The block in the form of `eth_getBlockByNumber`. */
  block: Record<string, string>
  getProof(address: Hex, slots: readonly bigint[]): Promise<LooseEthProof>
}

const toBytes = (hex: string) => hexToBytes(hex, hex.length / 2 - 1)
export const integer = (value: bigint): Uint8Array =>
  value === 0n ? new Uint8Array(0) : bigintToBytes(value, Math.ceil(value.toString(16).length / 2))

/** An L1 state that holds `contract` with `storage`, among forty other accounts. */
export async function createL1(contract: Hex, storage: ReadonlyMap<bigint, bigint>): Promise<L1> {
  const slots = await createMPT({ useKeyHashing: true })
  for (const [slot, value] of storage) await slots.put(bigintToBytes(slot, 32), encodeRlp(integer(value)))
  const codeHash = keccak_256(toBytes(named('code')))
  const accounts = await createMPT({ useKeyHashing: true })
  for (let index = 0; index < 40; index++) {
    const account = [
      integer(BigInt(index)),
      integer(10n ** 18n),
      (await createMPT()).root(),
      keccak_256(new Uint8Array(0)),
    ]
    await accounts.put(toBytes(named(`L1 account ${index}`, 20)), encodeRlp(account))
  }
  await accounts.put(toBytes(contract), encodeRlp([integer(1n), new Uint8Array(0), slots.root(), codeHash]))
  const stateRoot = bytesToHex(accounts.root())
  return {
    stateRoot,
    block: blockOf(stateRoot),
    async getProof(address, keys) {
      const isContract = address.toLowerCase() === contract.toLowerCase()
      return {
        address: address.toLowerCase(),
        accountProof: await nodes(accounts, toBytes(address)),
        ...(isContract && {
          balance: '0x0',
          nonce: '0x1',
          storageHash: bytesToHex(slots.root()),
          codeHash: bytesToHex(codeHash),
        }),
        storageProof: await Promise.all(
          keys.map(async key => ({
            key: slotKey(key),
            value: `0x${(isContract ? (storage.get(key) ?? 0n) : 0n).toString(16)}`,
            proof: isContract ? await nodes(slots, bigintToBytes(key, 32)) : [],
          })),
        ),
      }
    },
  }
}

const nodes = async (trie: MerklePatriciaTrie, key: Uint8Array): Promise<string[]> =>
  (await createMerkleProof(trie, key)).map(bytesToHex)

/** A Prague block with that state. */
function blockOf(stateRoot: Hex): Record<string, string> {
  const empty = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  return {
    parentHash: named('parent'),
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: named('miner', 20),
    stateRoot,
    transactionsRoot: empty,
    receiptsRoot: empty,
    logsBloom: `0x${'00'.repeat(256)}`,
    difficulty: '0x0',
    number: '0x16e3600',
    gasLimit: '0x2255100',
    gasUsed: '0x0',
    timestamp: '0x69000000',
    extraData: '0x',
    mixHash: named('randomness'),
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x7',
    withdrawalsRoot: empty,
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: named('beacon'),
    requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  }
}

/** The only node of a trie with one entry: a leaf whose path is the whole key. */
export const loneLeaf = (key: Uint8Array, value: Uint8Array, flags = 0x20): Uint8Array =>
  encodeRlp([Uint8Array.of(flags, ...keccak_256(key)), value])

/** An L1 state that consists of any one node, and a proof that consists of it. */
export function loneProof(node: Uint8Array, storageProof: LooseEthProof['storageProof']) {
  return { stateRoot: bytesToHex(keccak_256(node)), proof: { accountProof: [bytesToHex(node)], storageProof } }
}

/** An L1 state that holds only `contract`, whose storage consists only of `node`. */
export function loneStorage(contract: Hex, key: bigint, node: Uint8Array) {
  const fields: RlpItem = [integer(1n), new Uint8Array(0), keccak_256(node), keccak_256(new Uint8Array(0))]
  return loneProof(loneLeaf(toBytes(contract), encodeRlp(fields)), [{ key: slotKey(key), proof: [bytesToHex(node)] }])
}
