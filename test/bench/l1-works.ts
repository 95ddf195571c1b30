/** What is verified with Keccak: the work of `npm run bench:l1`, and a part of that of `npm run bench:builds`. */
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '../../src/base/bytes.ts'
import { slotKey } from '../../src/verify/anchor/contract.ts'
import { encodeHeader } from '../../src/verify/anchor/header.ts'
import { orderedTrieRoot } from '../../src/verify/blocks/ordered-trie.ts'
import { bloomOf, decodeLog, decodeReceipt, encodeReceipt } from '../../src/verify/blocks/receipts.ts'
import { createL1, named } from '../../vectors/evidence/l1.ts'

export type Library = Pick<typeof import('../../src/entry/anchor.ts'), 'verifyHeader' | 'verifyEthProof'> &
  Pick<typeof import('../../src/entry/blocks.ts'), 'verifyReceipts'> &
  Pick<typeof import('../../src/entry/messages.ts'), 'messageTrees'>

const CONTRACT = named('contract', 20)
const STORED = 5000
const RECEIPTS = 200
const MESSAGES = 1024

/** Receipts of a block, three logs each, as a server sends them. */
function makeReceipts() {
  const receipts = Array.from({ length: RECEIPTS }, (_, index) => {
    const logs = [0, 1, 2].map(log => ({
      address: named(`token ${log}`, 20),
      topics: [named('event'), named(`from ${index}`), named(`to ${log}`)],
      data: named(`data ${index}`),
    }))
    const logsBloom = bytesToHex(bloomOf(logs.map(decodeLog)))
    return {
      type: '0x2',
      status: '0x1',
      cumulativeGasUsed: `0x${(21_000 * (index + 1)).toString(16)}`,
      logsBloom,
      logs,
    }
  })
  const encoded = receipts.map(receipt => encodeReceipt(decodeReceipt(receipt)))
  return { text: JSON.stringify(receipts), receiptsRoot: bytesToHex(orderedTrieRoot(encoded)) }
}

const fromHex = (hex: string) => Buffer.from(hex.slice(2), 'hex')

const slots = new Map(Array.from({ length: STORED }, (_, slot) => [BigInt(slot), BigInt(named(`${slot}`))]))
const l1 = await createL1(CONTRACT, slots)
const rlp = encodeHeader(l1.block)
const hash = bytesToHex(keccak_256(fromHex(rlp)))
const hashes = Array.from({ length: MESSAGES }, (_, index) => named(`message ${index}`))

export interface Work {
  readonly name: string
  readonly run: (library: Library) => unknown
  readonly peer?: () => Promise<unknown>
}

async function proofOf(count: number): Promise<Work> {
  const keys = Array.from({ length: count }, (_, index) => BigInt(7 * index))
  const proof = await l1.getProof(CONTRACT, keys)
  const text = JSON.stringify(proof)
  const claim = { l1StateRoot: l1.stateRoot, address: CONTRACT, storageKeys: keys.map(slotKey) }
  return {
    name: `eth_getProof, ${count} slot${count === 1 ? '' : 's'}`,
    run: library => library.verifyEthProof(JSON.parse(text), claim),
    peer: async () => {
      const sent: typeof proof = JSON.parse(text)
      const options = { useKeyHashing: true } as const
      await verifyMerkleProof(fromHex(CONTRACT), sent.accountProof.map(fromHex), options)
      for (const { key, proof } of sent.storageProof) await verifyMerkleProof(fromHex(key), proof.map(fromHex), options)
    },
  }
}

const { text, receiptsRoot } = makeReceipts()
export const works: readonly Work[] = [
  { name: 'block header', run: library => library.verifyHeader(rlp, hash) },
  ...(await Promise.all([0, 1, 10, 100].map(proofOf))),
  {
    name: `receipts of a block, ${RECEIPTS}`,
    run: library => library.verifyReceipts(JSON.parse(text), { receiptsRoot }),
  },
  { name: `trees of ${MESSAGES} messages`, run: library => library.messageTrees(hashes) },
]
