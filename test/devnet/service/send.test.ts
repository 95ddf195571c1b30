import { JsonRpcProvider, Wallet } from 'ethers'
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  getContractAddress,
  http,
  parseAbi,
  parseEther,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { addDemoBlocks, demoWorld } from '../../../src/devnet/index.ts'
import { createChain } from '../../../src/devnet/service/chain.ts'
import { tokenSlots } from '../../../src/devnet/service/demo-contracts.generated.ts'
import { DEMO_SIGNERS } from '../../../src/devnet/service/demo-transfer.ts'
import { createSender } from '../../../src/devnet/service/send.ts'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import { historyContract, historySlot, type VerifiedBlock, verifyBlock } from '../../../src/entry/blocks.ts'
import { type Hex, mappingSlot } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { encodeTransaction, type Sent } from '../../../vectors/blocks/truth.ts'
import { ROLLUP, startService, USER, word } from '../../client/servers.ts'
import { findAnvil, startAnvil } from '../../provider/anvil/anvil.ts'
import { assemble, join, type Part, sizeOf } from '../../provider/anvil/assemble.ts'
import type { FullState } from '../../provider/full-state.ts'
import { askRpc } from './ask.ts'

const TOKEN: Hex = `0x${'70'.repeat(20)}`
const NOBODY: Hex = `0x${'ee'.repeat(20)}`
const ABSENT: Hex = `0x${'dd'.repeat(20)}`
const MINER: Hex = `0x${'00'.repeat(20)}`
const ALICE = privateKeyToAccount(DEMO_SIGNERS[0].key)
const BOB = privateKeyToAccount(DEMO_SIGNERS[1].key)
const abi = parseAbi([
  'function transfer(address, uint256) returns (bool)',
  'function approve(address, uint256) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
const fees = { maxFeePerGas: 10n ** 9n + 7n, maxPriorityFeePerGas: 10n ** 9n }
const base = { chainId: 1337, gas: 200_000n }

/** Signed by Alice: with fees of EIP-1559, unless it says otherwise. */
const signed = (request: { gasPrice?: bigint; [field: string]: unknown }) =>
  ALICE.signTransaction({
    ...base,
    ...(request.gasPrice === undefined && { type: 'eip1559', ...fees }),
    ...request,
  } as never)

const transferOf = (value: bigint) => encodeFunctionData({ abi, functionName: 'transfer', args: [BOB.address, value] })
const approvalOf = (value: bigint) => encodeFunctionData({ abi, functionName: 'approve', args: [BOB.address, value] })

/** The newest block as it is served. */
async function newestOf(url: string): Promise<{ transactions: Sent[]; receipts: Sent[]; verified: VerifiedBlock }> {
  const { result: block } = (await askRpc(url, 'eth_getBlockByNumber', ['latest', true])) as {
    result: { hash: Hex; number: Hex; transactions: Sent[] }
  }
  const { result: receipts } = (await askRpc(url, 'eth_getBlockReceipts', ['latest'])) as { result: Sent[] }
  const { hash, transactions } = block
  const number = BigInt(block.number)
  const verified = verifyBlock({ header: encodeHeader(block), transactions, receipts }, { hash, number })
  return { transactions, receipts, verified }
}

it('executes what viem and ethers send, in blocks that verify', async () => {
  const { url, service } = await startService()
  const { chain } = service
  const transport = http(url, { retryCount: 0 })
  const wallet = createWalletClient({ account: ALICE, transport })
  const viem = createPublicClient({ transport, pollingInterval: 20 })
  const before = chain.pending.getAccount(ALICE.address)?.balance ?? 0n

  const hash = await wallet.sendTransaction({ chain: null, to: USER, value: parseEther('1'), gas: 21_000n })
  const receipt = await viem.waitForTransactionReceipt({ hash })
  expect(receipt).toMatchObject({ status: 'success', gasUsed: 21_000n, blockNumber: 2n, logs: [] })
  expect((await newestOf(url)).verified.transactions[0]?.hash).toBe(hash)
  expect(await viem.getBalance({ address: USER })).toBe(parseEther('2'))
  const paid = receipt.effectiveGasPrice * 21_000n
  expect(await viem.getBalance({ address: ALICE.address })).toBe(before - parseEther('1') - paid)
  expect(await viem.getBalance({ address: MINER })).toBe(paid - 7n * 21_000n)

  const sent = await wallet.sendTransaction({ chain: null, to: TOKEN, data: transferOf(5n), gas: 100_000n })
  const { logs } = await viem.waitForTransactionReceipt({ hash: sent })
  expect(await viem.getContractEvents({ address: TOKEN, abi, fromBlock: 3n })).toMatchObject([
    { args: { from: ALICE.address, to: BOB.address, value: 5n }, transactionHash: sent },
  ])
  expect(logs.length).toBe(1)

  const ethers = new JsonRpcProvider(url, undefined, { staticNetwork: true, pollingInterval: 20 })
  onTestFinished(() => ethers.destroy())
  const bob = new Wallet(DEMO_SIGNERS[1].key, ethers)
  const response = await bob.sendTransaction({ to: TOKEN, data: transferOf(1n), gasLimit: 100_000n })
  expect((await response.wait())?.logs.length).toBe(1)
  expect((await newestOf(url)).verified.receipts[0]?.status).toBe(1n)
  expect(await viem.getTransactionCount({ address: BOB.address, blockTag: 'pending' })).toBe(1)
})

it('executes the transfers of the demo as the demo does', async () => {
  const demo = await startService()
  addDemoBlocks(demo.service.chain, { counts: [1] })
  const { transactions, receipts } = await newestOf(demo.url)
  const [transaction = {}] = transactions
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  await createSender(chain)(bytesToHex(encodeTransaction(transaction)))
  const [receipt] = chain.blocks.at(1n)?.content.receipts ?? []
  const own = ['blockHash', 'blockNumber', 'blockTimestamp']
  const unplaced = (sent: object) => Object.fromEntries(Object.entries(sent).filter(([name]) => !own.includes(name)))
  const flat = (sent: Sent = {}) => ({ ...unplaced(sent), logs: (sent.logs as object[]).map(unplaced) })
  expect(flat(receipt)).toEqual(flat(receipts[0]))
  for (const address of [...DEMO_SIGNERS.map(({ address }) => address), TOKEN]) {
    expect(chain.pending.getAccount(address)).toEqual(demo.service.chain.pending.getAccount(address))
  }
})

it('refuses in the words of geth what cannot be in the next block', async () => {
  const { url, service } = await startService()
  const { chain } = service
  chain.pending.setAccount(ALICE.address, { nonce: 3n })
  const sign = (changes: object) => signed({ nonce: 3, to: NOBODY, ...changes })
  const authorization = await BOB.signAuthorization({ address: TOKEN, chainId: 1337, nonce: 0 })
  const blobs = { type: 'eip4844', maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${word(1).slice(4)}`] }
  const good = await sign({})
  const wrong: [unknown, number, string][] = [
    [undefined, -32602, 'expected 1 parameters'],
    ['0x', -32602, 'no signed transaction'],
    ['0x0', -32602, 'transaction: expected'],
    [`0x${'00'.repeat(131_073)}`, -32602, 'at most 131072 bytes'],
    [`${good.slice(0, -64)}${'ff'.repeat(32)}`, -32602, 'no signed transaction'],
    [`${good}00`, -32602, 'no signed transaction'],
    [await sign({ chainId: 1 }), -32000, 'invalid chain id'],
    [await sign({ type: 'legacy', chainId: undefined, gasPrice: 7n }), -32000, 'invalid chain id'],
    [await sign({ nonce: 2 }), -32000, 'nonce too low: next nonce 3, tx nonce 2'],
    [await sign({ nonce: 4 }), -32000, 'nonce too high: next nonce 3, tx nonce 4'],
    [await sign({ value: parseEther('100') }), -32000, 'insufficient funds for gas * price + value'],
    [await sign({ maxFeePerGas: 6n, maxPriorityFeePerGas: 0n }), -32000, 'max fee per gas less than block base fee'],
    [await sign({ gas: 20_999n }), -32000, 'intrinsic gas too low'],
    [await sign({ to: TOKEN, gas: 20_999n }), -32000, 'intrinsic gas too low'],
    [await sign({ gas: 36_000_001n }), -32000, 'exceeds block gas limit'],
    [
      await sign({ to: null, gas: 10_000_000n, data: `0x${'00'.repeat(49_153)}` }),
      -32000,
      'max initcode size exceeded',
    ],
    [await sign({ type: 'eip7702', authorizationList: [authorization] }), -32000, 'transaction type not supported'],
    [await sign(blobs), -32000, 'transaction type not supported'],
  ]
  const state = chain.pending.stateRoot()
  for (const [raw, code, words] of wrong) {
    const error = { code, message: expect.stringContaining(words) }
    expect(await askRpc(url, 'eth_sendRawTransaction', raw === undefined ? [] : [raw]), words).toMatchObject({ error })
  }
  expect(wrong.length).toBe(18)
  expect([chain.latest(), chain.pending.stateRoot()]).toEqual([1n, state])

  chain.pending.setAccount(ALICE.address, { code: '0x00' })
  const error = { code: -32000, message: 'sender not an eoa' }
  expect(await askRpc(url, 'eth_sendRawTransaction', [good])).toMatchObject({ error })
  chain.pending.setAccount(ALICE.address, { code: '0x' })
  expect(await askRpc(url, 'eth_sendRawTransaction', [good])).toMatchObject({ result: expect.any(String) })
  expect(await askRpc(url, 'eth_sendRawTransaction', [good])).toMatchObject({ error: { message: 'already known' } })
})

it('executes what is sent at once in the order in which it came, each in a block that others may add in between', async () => {
  let [time, others] = [0x69000000, 0]
  const chain = createChain(demoWorld(poseidon2), ROLLUP, { clock: () => (time += 3) })
  const { building } = chain
  /** Three times, somebody adds a block while a transaction is executed. */
  function next() {
    if (others < 3) queueMicrotask(() => chain.addBlock())
    others++
    return building.next()
  }
  const send = createSender({ ...chain, building: { ...building, next } })
  // Stores the number of the block, the hash of its parent by either way, and the balance of its beneficiary.
  const history = [
    'NUMBER',
    1,
    'SWAP1',
    'SUB',
    0,
    'MSTORE',
    32,
    64,
    32,
    0,
    0,
    BigInt(historyContract),
    'GAS',
    'CALL',
    'POP',
  ]
  const runtime = assemble(
    ...['NUMBER', 0, 'SSTORE', 1, 'NUMBER', 'SUB', 'BLOCKHASH', 1, 'SSTORE'],
    ...[...history, 64, 'MLOAD', 2, 'SSTORE', 'TIMESTAMP', 3, 'SSTORE'],
  )
  chain.pending.setAccount(NOBODY, { nonce: 1n, code: runtime })
  const count = 6
  const raws = await Promise.all(Array.from({ length: count }, (_, nonce) => signed({ nonce, to: NOBODY })))
  const sent = raws.map(send)
  const hashes = await Promise.all(sent)
  expect([chain.latest(), others]).toEqual([BigInt(count + 3), count + 3])
  const numbers = hashes.map(hash => chain.blocks.holding(hash)?.block.number ?? 0n)
  expect(numbers).toEqual(numbers.toSorted((a, b) => Number(a - b)))
  for (const [index, number] of numbers.entries()) {
    const { block, state, content } = chain.blocks.at(number) ?? expect.unreachable()
    expect(content.transactions.map(({ hash }) => hash)).toEqual([hashes[index]])
    expect(content.receipts[0]).toMatchObject({ status: '0x1' })
    const slots = [0, 1, 2, 3].map(key => state.getStorage(NOBODY, word(key)))
    expect(slots).toEqual([word(Number(number)), block.parentHash, block.parentHash, word(Number(block.timestamp))])
    expect(state.getStorage(historyContract, historySlot(number - 1n))).toBe(block.parentHash)
  }
  expect(numbers.length).toBe(count)
})

it('lets only so many wait', async () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  const send = createSender(chain)
  const raw = await signed({ nonce: 0, to: NOBODY })
  const sent = Array.from({ length: 256 }, () => send(raw).then(hash => hash, String))
  expect(() => send(raw)).toThrow('too many transactions at once')
  const results = await Promise.all(sent)
  expect(new Set(results)).toEqual(new Set([results[0], 'Error: already known']))
  expect(await send(await signed({ nonce: 1, to: NOBODY }))).toMatch(/^0x/)
})

const anvil = findAnvil()
if ('missing' in anvil) console.warn(`skipped 19 transactions, because there is no anvil: ${anvil.missing}`)

/** Code that returns `runtime`, after `first`. */
function creating(runtime: Hex, ...first: readonly Part[]): Hex {
  const begin = assemble(...first)
  const copy = (offset: number) => assemble(sizeOf(runtime), 'DUP1', offset, 0, 'CODECOPY', 0, 'RETURN')
  return join(begin, copy(sizeOf(begin) + sizeOf(copy(255))), runtime)
}

describe.skipIf('missing' in anvil)('transactions, compared with anvil', () => {
  it('have the same receipts, in blocks with the same roots, and write the same', async () => {
    if ('missing' in anvil) return
    const genesis = demoWorld(poseidon2)
    const chain = createChain(genesis, ROLLUP)
    const tokenCode = genesis.getCode(TOKEN) ?? '0x'
    // The token, without names.
    const balances = DEMO_SIGNERS.map(({ address }) => slotOf(address))
    const storage = Object.fromEntries(balances.map(key => [key, genesis.getStorage(TOKEN, key)]))
    const ether = { balance: parseEther('100') }
    const state: FullState = new Map<Hex, object>([
      ...DEMO_SIGNERS.map(({ address }) => [address, ether] as const),
      [USER, { nonce: 7n, balance: 10n ** 18n }],
      [TOKEN, { nonce: 1n, code: tokenCode, storage }],
    ])
    const node = await startAnvil(anvil.path, 'prague', state, 1n, {}, [])
    onTestFinished(node.close)

    const created = (nonce: number) => getContractAddress({ from: ALICE.address, nonce: BigInt(nonce) })
    const inner = getContractAddress({ from: created(18), nonce: 1n })
    const counter = creating(assemble(1, 'DUP1', 'SLOAD', 1, 'ADD', 'SWAP1', 'SSTORE'), 7, 1, 'SSTORE')
    const keys = { address: TOKEN, storageKeys: balances }
    const requests: Record<string, unknown>[] = [
      { to: USER, value: 5n },
      { to: NOBODY },
      { to: ALICE.address, value: 1n, data: '0x00ff' },
      { to: TOKEN, data: transferOf(10n ** 18n) },
      { to: TOKEN, data: transferOf(10n ** 30n) },
      { type: 'legacy', gasPrice: 8n, to: TOKEN, data: approvalOf(5n) },
      { type: 'eip2930', gasPrice: 9n, to: TOKEN, data: approvalOf(0n), accessList: [keys] },
      { data: counter },
      { to: created(7) },
      { to: created(7), gas: 24_000n },
      { data: assemble(0, 0, 'REVERT'), value: 3n },
      { data: assemble('CALLER', 'SELFDESTRUCT'), value: 4n },
      { data: creating(assemble('CALLER', 'SELFDESTRUCT')), value: 6n },
      { to: created(12) },
      { to: '0x0000000000000000000000000000000000000004', data: '0x0102', value: 2n },
      { data: creating(assemble(0, 'DUP1', 'LOG0', 1, 2, 0, 0, 'LOG2')), value: 1n },
      { to: created(15) },
      // Calls an account that does not exist.
      { data: assemble(0, 0, 0, 0, 0, BigInt(ABSENT), 'GAS', 'CALL') },
      // Creates a contract, which destroys itself.
      { data: assemble(0x33ff, 0, 'MSTORE', 2, 30, 9, 'CREATE', 0, 'SSTORE'), value: 9n },
    ]
    const touched = [
      ALICE.address,
      BOB.address,
      USER,
      NOBODY,
      TOKEN,
      ...[7, 10, 11, 12, 15, 17, 18].map(created),
      inner,
      MINER,
    ]
    const send = createSender(chain)
    let [statuses, logs] = ['', 0]
    for (const [index, request] of requests.entries()) {
      const raw = await signed({ nonce: index, ...request })
      const hash = await send(raw)
      await node.request('anvil_setNextBlockBaseFeePerGas', '0x7')
      expect(await node.request('eth_sendRawTransaction', raw)).toBe(hash)
      await node.request('evm_mine')
      const theirs = (await node.request('eth_getTransactionReceipt', hash)) as Sent
      const { block, content } = chain.blocks.holding(hash) ?? expect.unreachable()
      const [ours = {}] = content.receipts as readonly Sent[]
      const same = ['status', 'gasUsed', 'cumulativeGasUsed', 'logsBloom', 'effectiveGasPrice', 'type', 'from', 'to']
      expect(
        same.map(name => ours[name] ?? null),
        `${index}`,
      ).toEqual(same.map(name => theirs[name] ?? null))
      const theirBlock = (await node.request('eth_getBlockByNumber', 'latest', false)) as Sent
      const roots = ['transactionsRoot', 'receiptsRoot', 'logsBloom', 'gasUsed'] as const
      const { transactionsRoot, receiptsRoot, logsBloom, gasUsed } = block.content
      expect([transactionsRoot, receiptsRoot, logsBloom, `0x${gasUsed.toString(16)}`]).toEqual(
        roots.map(name => theirBlock[name]),
      )
      statuses += Number(ours.status)
      logs += (ours.logs as unknown[]).length
    }
    for (const address of touched) {
      const { nonce = 0n, balance = 0n } = chain.pending.getAccount(address) ?? {}
      expect([balance, nonce], `${address}`).toEqual([
        BigInt(String(await node.request('eth_getBalance', address, 'latest'))),
        BigInt(String(await node.request('eth_getTransactionCount', address, 'latest'))),
      ])
      expect(chain.pending.getCode(address)).toBe(await node.request('eth_getCode', address, 'latest'))
      for (const key of [word(0), word(1), ...balances]) {
        const slot = chain.pending.getStorage(address, key)
        expect(slot).toBe(await node.request('eth_getStorageAt', address, key, 'latest'))
      }
    }
    expect(chain.pending.getAccount(ABSENT)).toBeNull()
    expect([statuses, logs]).toEqual(['1111011110011111111', 5])
  })
})

const slotOf = (holder: Hex): Hex => mappingSlot({ slot: tokenSlots.balanceOf, keys: [holder] })
