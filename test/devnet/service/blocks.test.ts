import { JsonRpcProvider } from 'ethers'
import { createPublicClient, http, parseAbi, serializeTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, onTestFinished } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import {
  addDemoBlocks,
  type ChainTransaction,
  createService,
  createWorld,
  demoWorld,
} from '../../../src/devnet/index.ts'
import { createChain } from '../../../src/devnet/service/chain.ts'
import { tokenSlots } from '../../../src/devnet/service/demo-contracts.generated.ts'
import { DEMO_SIGNERS } from '../../../src/devnet/service/demo-transfer.ts'
import { getLogs } from '../../../src/devnet/service/methods/logs.ts'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import { historyContract, historySlot, readBlockHash, verifyBlock } from '../../../src/entry/blocks.ts'
import { type Hex, mappingSlot, verifyProof } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { encodeTransaction, kinds, makeBlock, type Sent } from '../../../vectors/blocks/truth.ts'
import { ROLLUP, startService, word } from '../../client/servers.ts'
import { askRpc } from './ask.ts'

const TOKEN: Hex = `0x${'70'.repeat(20)}`
const [ALICE, BOB] = DEMO_SIGNERS
const ETHER = 10n ** 18n

/** The result of one request, parsed from JSON. */
const resultOf = async (url: string, method: string, ...params: unknown[]) =>
  (await askRpc(url, method, params)) as { result: never }

/** The parts of a block as an endpoint serves them, verified. */
async function verifyServed(url: string, number: bigint) {
  const tag = `0x${number.toString(16)}`
  const { result: block } = (await resultOf(url, 'eth_getBlockByNumber', tag, true)) as {
    result: Sent & { hash: Hex; transactions: Sent[] }
  }
  const { result: receipts } = await resultOf(url, 'eth_getBlockReceipts', tag)
  const { transactions } = block
  const verified = verifyBlock({ header: encodeHeader(block), transactions, receipts }, { hash: block.hash, number })
  return { block, transactions, receipts: receipts as Sent[], verified }
}

it('serves demo blocks that verify, to viem and to ethers', async () => {
  const { url, service } = await startService()
  addDemoBlocks(service.chain)
  const viem = createPublicClient({ transport: http(url, { retryCount: 0 }) })
  let logCount = 0
  for (let number = 2n; number <= 9n; number++) {
    const { verified } = await verifyServed(url, number)
    expect(verified.transactions.map(({ from }) => from)).toEqual([(number % 2n === 1n ? ALICE : BOB).address])
    logCount += verified.receipts.flatMap(({ logs }) => logs).length
  }
  expect(logCount).toBe(8)

  const block = await viem.getBlock({ blockNumber: 9n, includeTransactions: true })
  const [transaction] = block.transactions
  const hash = transaction?.hash ?? '0x'
  expect(transaction).toMatchObject({ type: 'eip1559', chainId: 1337, to: TOKEN, blockNumber: 9n, nonce: 3 })
  expect((await viem.getBlock({ blockNumber: 9n })).transactions).toEqual([hash])
  expect(await viem.getTransaction({ hash })).toEqual(transaction)
  const receipt = await viem.waitForTransactionReceipt({ hash })
  expect(receipt).toMatchObject({ status: 'success', blockNumber: 9n, gasUsed: 34_229n, effectiveGasPrice: 7n })
  const event = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])[0]
  const logs = await viem.getLogs({ address: TOKEN, event, fromBlock: 0n, strict: true })
  expect(logs.map(({ args }) => [args.from.toLowerCase(), args.value])).toEqual(
    [BOB, ALICE, BOB, ALICE, BOB, ALICE, BOB, ALICE].map(({ address }) => [address, ETHER]),
  )
  expect(await viem.getLogs({ blockHash: block.hash })).toEqual(receipt.logs)
  expect(await viem.estimateFeesPerGas()).toMatchObject({ maxPriorityFeePerGas: 10n ** 9n })

  const ethers = new JsonRpcProvider(url, undefined, { staticNetwork: true, batchMaxCount: 1 })
  onTestFinished(() => ethers.destroy())
  expect((await ethers.getTransactionReceipt(hash))?.logs[0]?.transactionHash).toBe(hash)
  expect((await ethers.getBlock(9, true))?.prefetchedTransactions[0]?.from.toLowerCase()).toBe(ALICE.address)
  expect((await ethers.getLogs({ address: TOKEN, fromBlock: 3, toBlock: 4 })).length).toBe(2)
  expect((await ethers.getFeeData()).maxPriorityFeePerGas).toBe(10n ** 9n)
})

it.each([mimc, poseidon2])('moves the tokens in the $name state that its transfers say', scheme => {
  const { chain } = createService({ genesis: demoWorld(scheme), rollup: ROLLUP })
  addDemoBlocks(chain, { counts: [1] })
  expect(DEMO_SIGNERS.map(({ key }) => privateKeyToAccount(key).address.toLowerCase())).toEqual(
    DEMO_SIGNERS.map(({ address }) => address),
  )
  const tokensOf = (holder: Hex) => {
    const key = mappingSlot({ slot: tokenSlots.balanceOf, keys: [holder] })
    return BigInt(chain.pending.getStorage(TOKEN, key)) / ETHER
  }
  expect(DEMO_SIGNERS.map(({ address }) => tokensOf(address))).toEqual([999n, 1001n])
  expect(chain.pending.getAccount(ALICE.address)).toMatchObject({ nonce: 1n, balance: 100n * ETHER - 7n * 34_229n })
})

it('makes the headers, receipts and logs of blocks of all kinds as others do', async () => {
  const { url, service } = await startService({ chainId: 59_144 })
  const contents = await kinds()
  const asGiven = async (some: typeof contents): Promise<ChainTransaction[]> => {
    const { transactions } = await makeBlock(some)
    return some.map(({ status = 1, gasUsed, logs }, index) => ({
      ...{ transaction: bytesToHex(encodeTransaction(transactions[index] ?? {})), gasUsed, logs },
      status: BigInt(status),
    }))
  }
  const lists = [contents, ...contents.map(one => [one]), [], contents.toReversed()]
  for (const list of lists) {
    const number = service.chain.addBlock(await asGiven(list))
    const truth = await makeBlock(list, number)
    const { block, transactions, receipts } = await verifyServed(url, number)
    const same = ['transactionsRoot', 'receiptsRoot', 'logsBloom', 'gasUsed']
    expect(same.map(name => block[name])).toEqual(same.map(name => truth.block[name]))
    const unplaced = (sent: Sent): Sent => ({ ...sent, blockHash: 0, blockTimestamp: 0, blobGasPrice: 0 })
    expect(transactions.map(unplaced)).toEqual(truth.transactions.map(unplaced))
    const flat = (sent: Sent) => ({ ...unplaced(sent), logs: (sent.logs as Sent[]).map(unplaced) })
    expect(receipts.map(flat)).toEqual(truth.receipts.map(flat))
    const hashes = transactions.map(({ hash }) => hash)
    expect(await resultOf(url, 'eth_getBlockByHash', block.hash)).toMatchObject({ result: { transactions: hashes } })
    expect(await resultOf(url, 'eth_getBlockReceipts', block.hash)).toMatchObject({ result: receipts })
  }
  expect(lists.length).toBe(contents.length + 3)
})

it('refuses transactions that are none, and changes nothing', async () => {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  addDemoBlocks(chain, { counts: [1] })
  const account = privateKeyToAccount(ALICE.key)
  const request = { type: 'eip1559', chainId: 1, gas: 21_000n, to: TOKEN } as const
  const transaction = await account.signTransaction(request)
  const unsigned = serializeTransaction(request)
  const log = { address: TOKEN, topics: [], data: '0x' } as const
  const wrong: [unknown, string][] = [
    [7, 'transactions'],
    [[7], 'transactions[0]'],
    [[{ gasUsed: 1n }], 'transactions[0].transaction'],
    [[{ transaction: '0x', gasUsed: 1n }], 'transactions[0].transaction'],
    [[{ transaction: unsigned, gasUsed: 1n }], 'transactions[0].transaction'],
    [[{ transaction: `0x05${transaction.slice(4)}`, gasUsed: 1n }], 'transactions[0].transaction'],
    [[{ transaction: `${transaction}00`, gasUsed: 1n }], 'transactions[0].transaction'],
    [[{ transaction }], 'transactions[0].gasUsed'],
    [[{ transaction, gasUsed: 0n }], 'transactions[0].gasUsed'],
    [[{ transaction, gasUsed: 1n, status: 2n }], 'transactions[0].status'],
    [[{ transaction, gasUsed: 1n, logs: [log, {}] }], 'transactions[0].logs[1].address'],
    [[{ transaction, gasUsed: 1n, logs: [{ ...log, topics: [word(1), '0x1'] }] }], 'transactions[0].logs[0].topics[1]'],
    [[{ transaction, gasUsed: 1n, Logs: [] }], 'transactions[0].Logs'],
  ]
  const before = [chain.latest(), chain.pending.stateRoot()]
  for (const [transactions, path] of wrong) {
    expect(() => chain.addBlock(transactions as ChainTransaction[]), path).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path }),
    )
  }
  expect(wrong.length).toBe(13)
  expect([chain.latest(), chain.pending.stateRoot()]).toEqual(before)
  chain.addBlock([{ transaction, gasUsed: 1n, logs: [log] }])
  expect(chain.latest()).toBe(2n)
})

it('keeps the hashes of blocks in the state, as EIP-2935 has it', () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  const count = 8_195n
  while (chain.latest() < count) chain.addBlock()
  let compared = 0
  for (const stateBlock of [1n, 2n, 8_190n, 8_191n, 8_192n, count]) {
    const state = chain.at(stateBlock) ?? createWorld(poseidon2)
    const oldest = stateBlock > 8_191n ? stateBlock - 8_191n : 0n
    for (const number of new Set([oldest, stateBlock - 1n])) {
      const claim = { address: historyContract, stateRoot: state.stateRoot(), storageKeys: [historySlot(number)] }
      const proven = verifyProof(state.getProof(historyContract, claim.storageKeys), { scheme: poseidon2, ...claim })
      expect(readBlockHash(proven, { number, stateBlock })).toBe(chain.blocks.at(number)?.block.hash)
      compared++
    }
  }
  expect(compared).toBe(11)

  const without = createService({ genesis: createWorld(poseidon2), rollup: ROLLUP })
  without.chain.addBlock()
  without.chain.addBlock()
  expect(without.chain.pending.getAccount(historyContract)).toBeNull()
})

it('selects logs by filter, within bounds', async () => {
  const { url, service } = await startService({ keep: 2 })
  const { chain } = service
  addDemoBlocks(chain, { counts: [3, 1, 4] })
  // The finalizations end at the blocks 1, 4, 5 and 9; of these, the last two are kept.
  const [sender, recipient] = DEMO_SIGNERS.map(({ address }) => word(0).slice(0, 26) + address.slice(2))
  const all = { fromBlock: '0x5', toBlock: '0x9' }
  const block = (await resultOf(url, 'eth_getBlockByNumber', '0x6', false)) as { result: { hash: Hex } }
  const cases: [object, number[]][] = [
    [all, [5, 6, 7, 8, 9]],
    [{ ...all, topics: [null, sender] }, [5, 7, 9]],
    [{ ...all, topics: [null, null, [sender, recipient]] }, [5, 6, 7, 8, 9]],
    [{ ...all, address: ROLLUP.address }, []],
    [{ ...all, topics: [sender] }, []],
    [{ blockHash: block.result.hash }, [6]],
    [{ fromBlock: '0x8', toBlock: '0xf' }, [8, 9]],
    [{}, [9]],
  ]
  for (const [filter, expected] of cases) {
    const { result } = (await resultOf(url, 'eth_getLogs', filter)) as { result: { blockNumber: Hex }[] }
    expect(
      result.map(({ blockNumber }) => Number(blockNumber)),
      JSON.stringify(filter),
    ).toEqual(expected)
  }
  const refused: [object, number, string][] = [
    [{ fromBlock: '0x4', toBlock: '0x9' }, 4444, 'pruned'],
    [{ fromBlock: '0x5', toBlock: '0x2715' }, -32602, 'at most 10000'],
    [{ blockHash: word(1) }, -32000, 'not found'],
  ]
  for (const [filter, code, words] of refused) {
    const error = { code, message: expect.stringContaining(words) }
    expect(await askRpc(url, 'eth_getLogs', [filter])).toMatchObject({ error })
  }
  expect([cases.length, refused.length]).toEqual([8, 3])

  // More logs than an answer may have.
  const logsOf = (count: number) => () => new Array(count).fill({ address: TOKEN, topics: [], data: '0x' })
  const source = { numberOf: () => 0n, maxRange: 1 }
  expect(getLogs({}, { ...source, logsOf: logsOf(10_000) })).toHaveLength(10_000)
  expect(() => getLogs({}, { ...source, logsOf: logsOf(10_001) })).toThrow('more than 10000 logs')
})

/** Three transactions with tips of 1, 2 and 3 wei. */
const largeBlock = async (): Promise<ChainTransaction[]> =>
  Promise.all(
    [3n, 1n, 2n].map(async (tip, nonce) => {
      const fees = { maxPriorityFeePerGas: tip, maxFeePerGas: 100n }
      const request = { type: 'eip1559', chainId: 1337, gas: 100_000n, to: TOKEN, nonce, ...fees } as const
      return { transaction: await privateKeyToAccount(ALICE.key).signTransaction(request), gasUsed: 20_000n * tip }
    }),
  )

it('tells what transactions paid, by percentiles of gas', async () => {
  const { url, service } = await startService({ keep: 1 })
  const { chain } = service
  chain.addBlock(await largeBlock())
  const history = async (...params: unknown[]) => (await resultOf(url, 'eth_feeHistory', ...params)).result as unknown
  // The transactions used 20,000, 40,000 and 60,000 of 36,000,000 gas. Block 0 is pruned.
  expect(await history('0x5', 'latest', [0, 16, 17, 50, 51, 100])).toEqual({
    oldestBlock: '0x1',
    baseFeePerGas: ['0x7', '0x7', '0x7'],
    gasUsedRatio: [0, 120_000 / 36_000_000],
    baseFeePerBlobGas: ['0x1', '0x1', '0x1'],
    blobGasUsedRatio: [0, 0],
    reward: [
      ['0x0', '0x0', '0x0', '0x0', '0x0', '0x0'],
      ['0x1', '0x1', '0x2', '0x2', '0x3', '0x3'],
    ],
  })
  expect(await history(1, 'pending', [])).toMatchObject({ oldestBlock: '0x2', reward: [[]] })
  expect(await history('0x0', '0x2')).toMatchObject({ oldestBlock: '0x2', gasUsedRatio: [] })
  expect(await history('0x400', 'latest', new Array(100).fill(5))).toMatchObject({ oldestBlock: '0x1' })
  const refused: [unknown[], string][] = [
    [['0x401', 'latest'], 'at most 1024'],
    [['x', 'latest'], 'block count'],
    [['0x1', '0x3'], 'newest block'],
    [['0x1', 'latest', new Array(101).fill(5)], 'percentiles: expected at most 100'],
    [['0x1', 'latest', [5, 4]], 'percentiles fall'],
    [['0x1', 'latest', [101]], 'percentiles[0]'],
  ]
  for (const [params, words] of refused) {
    const error = { code: -32602, message: expect.stringContaining(words) }
    expect(await askRpc(url, 'eth_feeHistory', params)).toMatchObject({ error })
  }
  expect(refused.length).toBe(6)
})

it('forgets what transactions did with their blocks', async () => {
  const { url, service } = await startService({ keep: 2 })
  const first = service.chain.addBlock(await largeBlock())
  const tag = `0x${first.toString(16)}`
  const { result } = (await resultOf(url, 'eth_getBlockReceipts', tag)) as { result: { transactionHash: Hex }[] }
  const [hash] = result.map(({ transactionHash }) => transactionHash)
  expect(await resultOf(url, 'eth_getTransactionReceipt', hash)).toMatchObject({ result: { blockNumber: tag } })
  addDemoBlocks(service.chain)
  for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
    expect(await resultOf(url, method, hash)).toMatchObject({ result: null })
  }
  expect(await resultOf(url, 'eth_getBlockReceipts', tag)).toMatchObject({ result: null })
  expect(await resultOf(url, 'eth_getBlockReceipts', word(1))).toMatchObject({ result: null })
})
