import { createMPT, type MerklePatriciaTrie } from '@ethereumjs/mpt'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createPublicClient, http, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/base/bytes.ts'
import { addDemoBlocks, createWorld, demoWorld, type World } from '../../../src/devnet/index.ts'
import { createChain, type ServiceChainOptions } from '../../../src/devnet/service/chain.ts'
import { implementationOf } from '../../../src/devnet/service/contract.ts'
import type { MethodError } from '../../../src/devnet/service/json-rpc.ts'
import { l2Methods } from '../../../src/devnet/service/methods/l2.ts'
import type { Trie } from '../../../src/devnet/service/trie.ts'
import {
  anchorStorageKeys,
  encodeHeader,
  verifyAnchor,
  verifyEthProof,
  verifyHeader,
} from '../../../src/entry/anchor.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { IMPLEMENTATION_KEY } from '../../../src/verify/anchor/rollup.ts'
import { encodeRlp } from '../../../src/verify/anchor/trie.ts'
import { historyContract } from '../../../src/verify/blocks/header.ts'
import { integer } from '../../../vectors/evidence/l1.ts'
import { ROLLUP, startService, word } from '../../client/servers.ts'
import { randomOf } from '../../random.ts'

const addressOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const bytes = (hex: Hex) => hexToBytes(hex, hex.length / 2 - 1)
const headerOf = (chain: ReturnType<typeof createChain>, number: bigint) => {
  const block = Object(chain.getBlock(number))
  return verifyHeader(encodeHeader(block), block.hash)
}

/** A state that is built anew, by another implementation of the trie. */
class Reference {
  readonly accounts = new Map<Hex, { nonce: bigint; balance: bigint; code: Hex; slots: Map<Hex, Hex> }>()

  async root(): Promise<Hex> {
    const trie = await createMPT({ useKeyHashing: true })
    for (const [address, { nonce, balance, code, slots }] of this.accounts) {
      const storage: MerklePatriciaTrie = await createMPT({ useKeyHashing: true })
      for (const [key, value] of slots) await storage.put(bytes(key), encodeRlp(integer(BigInt(value))))
      const account = [integer(nonce), integer(balance), storage.root(), keccak_256(bytes(code))]
      await trie.put(bytes(address), encodeRlp(account))
    }
    return bytesToHex(trie.root())
  }
}

it('has the roots of @ethereumjs/mpt after any writes, and proves what is there and what is not', async () => {
  const random = randomOf(9)
  const below = (limit: number) => Math.floor(random() * limit)
  const reference = new Reference()
  const chain = createChain(createWorld(poseidon2), ROLLUP)
  const write = () => {
    const address = addressOf(below(12))
    const held = reference.accounts.get(address)
    const kind = held === undefined ? 9 : below(10)
    if (kind === 0) {
      reference.accounts.delete(address)
      return chain.pending.deleteAccount(address)
    }
    if (held !== undefined && kind < 7) {
      const [key, value] = [word(below(6)), word(below(3) * 2 ** below(40))]
      if (BigInt(value) === 0n) held.slots.delete(key)
      else held.slots.set(key, value)
      return chain.pending.setStorage(address, { key, value })
    }
    const changes = { nonce: BigInt(below(300)), balance: BigInt(below(2)) * 10n ** 18n, code: word(below(2)) }
    reference.accounts.set(address, { ...changes, slots: held?.slots ?? new Map() })
    chain.pending.setAccount(address, changes)
  }
  for (let count = 0; count < 30; count++) write()
  chain.addBlock()
  chain.upgrade()
  let [present, absent, slots] = [0, 0, 0]
  for (let block = 2n; block < 30n; block++) {
    for (let count = below(12); count > 0; count--) write()
    expect(chain.addBlock()).toBe(block)
    const { stateRoot } = headerOf(chain, block)
    expect(stateRoot).toBe(await reference.root())
    // Of an older block, the state and its proofs stay.
    const storageKeys = [word(0), word(3), word(99)]
    for (const address of [addressOf(below(12)), addressOf(99)]) {
      const proof = l2Methods(chain, 1n).get('eth_getProof')?.([address, storageKeys, `0x${block.toString(16)}`])
      const { account, storage } = verifyEthProof(proof, { l1StateRoot: stateRoot, address, storageKeys })
      const held = reference.accounts.get(address)
      const { nonce, balance } = held ?? {}
      expect(account && { nonce: account.nonce, balance: account.balance }).toEqual(held ? { nonce, balance } : null)
      expect(storage.map(({ value }) => value)).toEqual(storageKeys.map(key => held?.slots.get(key) ?? word(0)))
      if (account === null) absent++
      else present++
      slots += storage.filter(({ exists }) => exists).length
    }
  }
  expect([present > 10, absent > 28, slots > 5]).toEqual([true, true, true])
})

it('computes of a block only what it changed', () => {
  const chain = createChain(createWorld(poseidon2), ROLLUP, { contractVersion: 9 })
  for (let index = 1; index < 400; index++) {
    chain.pending.setAccount(addressOf(index), { balance: 1n })
  }
  chain.addBlock()
  chain.pending.setStorage(addressOf(7), { key: word(5), value: word(6) })
  chain.addBlock()
  const [before, after] = [1n, 2n].map(number => chain.blocks.at(number)?.accounts ?? null)
  const nodesOf = (node: Trie): object[] =>
    node === null ? [] : [node, ...(node.end instanceof Uint8Array ? [] : node.end.flatMap(nodesOf))]
  const known = new Set(nodesOf(before ?? null))
  const made = nodesOf(after ?? null).filter(node => !known.has(node))
  expect([known.size > 400, made.length > 1, made.length < 8]).toEqual([true, true, true])
})

const events = parseAbi([
  'event DataFinalizedV3(uint256 indexed startBlockNumber, uint256 indexed endBlockNumber, bytes32 indexed shnarf, bytes32 parentStateRootHash, bytes32 finalStateRootHash)',
  'event DataFinalizedV4(uint256 indexed startBlockNumber, uint256 indexed endBlockNumber, bytes32 indexed endDataRollingHash, uint256 endOffset, bytes32 parentBlockHash, bytes32 finalBlockHash)',
  'event FinalizedStateUpdated(uint256 indexed blockNumber, uint256 timestamp, uint256 messageNumber, uint256 forcedTransactionNumber)',
])

it('holds roots before the upgrade and hashes after it, and says so in its logs', async () => {
  const { service, l1Url } = await startService({ upgradeAt: 5n })
  const { chain } = service
  addDemoBlocks(chain, { counts: [2, 1, 3, 2] })
  const { l1 } = chain
  const anchorAt = (l2BlockNumber: bigint, number: bigint) => {
    const l1StateRoot = Object(l1.getBlock(number)).stateRoot
    const proof = l1.getProof(ROLLUP.address, anchorStorageKeys({ rollup: ROLLUP, l2BlockNumber }), number)
    return verifyAnchor(proof, { l1StateRoot, rollup: ROLLUP, l2BlockNumber })
  }
  const newest = l1.blockNumber()
  for (const number of [0n, 1n, 3n, 4n]) {
    const stateRoot = chain.at(number)?.stateRoot()
    expect(anchorAt(number, newest)).toMatchObject({ stateRoot, blockHash: undefined })
  }
  for (const number of [7n, 9n]) {
    const blockHash = headerOf(chain as never, number).hash
    expect(anchorAt(number, newest)).toMatchObject({ stateRoot: undefined, blockHash })
  }
  // The upgrade finalizes what is there, in the L1 block before.
  expect([chain.upgradedAt(), chain.finalized()]).toEqual([5n, 9n])
  const versions: unknown[] = []
  for (let number = 0n; number <= newest; number++) {
    const value = l1.getStorage(ROLLUP.address, IMPLEMENTATION_KEY, number)
    if (versions.at(-1) !== value) versions.push(value)
  }
  expect(versions).toEqual([8, 9].map(version => BigInt(implementationOf(version as 8 | 9))))
  expect(anchorAt(4n, newest).implementation).toBe(implementationOf(9))

  const viem = createPublicClient({ transport: http(l1Url, { retryCount: 0 }) })
  const logs = await viem.getLogs({ address: ROLLUP.address, fromBlock: 0n, toBlock: 'latest', events, strict: true })
  const hash = (number: bigint) => headerOf(chain as never, number).hash
  const root = (number: bigint) => chain.at(number)?.stateRoot()
  const finalized = logs.flatMap(({ eventName, args }) => {
    if (eventName === 'FinalizedStateUpdated') return []
    const [, , data] = Object.values(args)
    return [[eventName, ...Object.values(args).filter(value => value !== data)]]
  })
  // The first V3 and the first V4 have no parent.
  expect(finalized).toEqual([
    ['DataFinalizedV3', 0n, 0n, word(0), root(0n)],
    ['DataFinalizedV3', 1n, 1n, root(0n), root(1n)],
    ['DataFinalizedV3', 2n, 3n, root(1n), root(3n)],
    ['DataFinalizedV3', 4n, 4n, root(3n), root(4n)],
    ['DataFinalizedV4', 5n, 7n, 0n, word(0), hash(7n)],
    ['DataFinalizedV4', 8n, 9n, 0n, hash(7n), hash(9n)],
  ])
  const all = await viem.getLogs({ address: ROLLUP.address, fromBlock: 0n, toBlock: 'latest' })
  expect(all.map(({ logIndex }) => logIndex)).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
})

it('answers eth_getProof from the upgrade on, and rollup_getProof before it', () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  const ask = (method: string, block: string) => {
    try {
      return l2Methods(chain, 1n).get(method)?.([addressOf(1), [word(0)], block])
    } catch (error) {
      return (error as MethodError).message
    }
  }
  addDemoBlocks(chain, { counts: [2] })
  expect(ask('eth_getProof', '0x2')).toBe('the method does not exist')
  chain.upgrade()
  addDemoBlocks(chain, { counts: [1] })
  expect(ask('rollup_getProof', '0x2')).toHaveProperty('accountProof.leftProof')
  expect(ask('linea_getProof', '0x3')).toBe('BLOCK_MISSING_IN_CHAIN - block 3 is missing')
  expect(ask('eth_getProof', '0x2')).toBe('the state of this block is not that of Ethereum')
  expect(ask('eth_getProof', 'latest')).toHaveProperty('storageHash')
  expect(ask('eth_getProof', 'pending')).toBe('block not found')
  expect(ask('eth_getProof', '0x9')).toBe('block not found')
})

it('begins with Ethereum states in version 9', () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, { contractVersion: 9 })
  expect([chain.upgradedAt(), chain.finalized()]).toEqual([0n, 0n])
  expect(Object(chain.getBlock(0n)).stateRoot).not.toBe(
    Object(createChain(demoWorld(poseidon2), ROLLUP).getBlock(0n)).stateRoot,
  )
  expect(chain.getBlock(1n)).toBe(null)
  const before = chain.l1.blockNumber()
  chain.upgrade()
  expect(chain.l1.blockNumber()).toBe(before)
})

it('writes the hash of the block before into the Ethereum state, too', () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, { upgradeAt: 1n })
  chain.addBlock()
  chain.addBlock()
  const proof = l2Methods(chain, 1n).get('eth_getProof')?.([historyContract, [word(1)], '0x2'])
  const claim = { l1StateRoot: headerOf(chain, 2n).stateRoot, address: historyContract, storageKeys: [word(1)] }
  expect(verifyEthProof(proof, claim).storage[0]?.value).toBe(headerOf(chain, 1n).hash)
})

it('keeps the upgrade when L1 is reorganized', () => {
  const options: ServiceChainOptions = { l1Unfinalized: 10 }
  const chain = createChain(demoWorld(poseidon2), ROLLUP, options)
  for (let count = 0; count < 12; count++) chain.l1.addBlock()
  addDemoBlocks(chain, { counts: [1], l1Blocks: 0 })
  chain.upgrade()
  addDemoBlocks(chain, { counts: [1, 1], l1Blocks: 0 })
  const newest = () => chain.l1.blockNumber()
  const held = (slot: bigint | Hex) =>
    chain.l1.getStorage(ROLLUP.address, typeof slot === 'bigint' ? word(Number(slot)) : slot, newest())
  expect(held(281n)).toBe(3n)
  expect(chain.l1.reorganize(4)).toBe(4)
  // The newest finalization is repeated.
  expect([held(281n), held(IMPLEMENTATION_KEY)]).toEqual([3n, BigInt(implementationOf(9))])
  const { rollup, l2BlockNumber } = { rollup: ROLLUP, l2BlockNumber: 3n }
  const proof = chain.l1.getProof(ROLLUP.address, anchorStorageKeys({ rollup, l2BlockNumber }), newest())
  const l1StateRoot = Object(chain.l1.getBlock(newest())).stateRoot
  expect(verifyAnchor(proof, { l1StateRoot, rollup, l2BlockNumber }).blockHash).toBe(headerOf(chain, 3n).hash)
  addDemoBlocks(chain, { counts: [1], l1Blocks: 0 })
  expect(held(281n)).toBe(4n)
})

it('takes a root up to version 8, and a hash in version 9', () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  const [stateRoot, blockHash] = [word(1), word(2)]
  expect(() => chain.l1.finalize({ l2BlockNumber: 1n, blockHash })).toThrow('blockHash')
  expect(() => chain.l1.finalize({ l2BlockNumber: 1n })).toThrow('stateRoot')
  chain.l1.finalize({ l2BlockNumber: 1n, stateRoot })
  chain.upgrade()
  expect(() => chain.l1.finalize({ l2BlockNumber: 2n, stateRoot })).toThrow('blockHash')
  expect(() => chain.l1.finalize({ l2BlockNumber: 2n, blockHash: '0x1' })).toThrow('blockHash')
  chain.l1.finalize({ l2BlockNumber: 2n, blockHash })
  chain.l1.finalize({ l2BlockNumber: 3n, blockHash, stateRoot })
  const anchorOf = (l2BlockNumber: bigint) => {
    const number = chain.l1.blockNumber()
    const proof = chain.l1.getProof(ROLLUP.address, anchorStorageKeys({ rollup: ROLLUP, l2BlockNumber }), number)
    return verifyAnchor(proof, {
      l1StateRoot: Object(chain.l1.getBlock(number)).stateRoot,
      rollup: ROLLUP,
      l2BlockNumber,
    })
  }
  expect(anchorOf(2n)).toMatchObject({ stateRoot: undefined, blockHash })
  expect(() => anchorOf(3n)).toThrow('ANCHOR_AMBIGUOUS')
})

it('needs a state of this copy of the package', () => {
  const copyOf = (world: World): World => ({ ...world, fork: () => copyOf(world.fork()) })
  const foreign = copyOf(demoWorld(poseidon2))
  expect(() => createChain(foreign, ROLLUP, { contractVersion: 9 })).toThrow('a world of this copy of the package')
  expect(createChain(foreign, ROLLUP).latest()).toBe(0n)
})
