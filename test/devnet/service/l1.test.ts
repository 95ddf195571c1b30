import { keccak_256 } from '@noble/hashes/sha3.js'
import { createPublicClient, encodeAbiParameters, http, keccak256, parseAbiItem } from 'viem'
import { expect, it } from 'vitest'
import { bytesToHex, type Hex } from '../../../src/base/bytes.ts'
import { addDemoBlocks, createService, demoWorld, type ServiceChainOptions } from '../../../src/devnet/index.ts'
import { finalizedStateTopics, verifyEthProof } from '../../../src/entry/anchor.ts'
import { mappingSlot } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { ROLLUP, startService, word } from '../../client/servers.ts'
import { askRpc } from './ask.ts'

const event = parseAbiItem(
  'event FinalizedStateUpdated(uint256 indexed blockNumber, uint256 timestamp, uint256 messageNumber, uint256 forcedTransactionNumber)',
)
const olderEvent = parseAbiItem(
  'event FinalizedStateUpdated(uint256 indexed blockNumber, uint256 timestamp, uint256 messageNumber)',
)

/** L1 blocks 0, 21, 42 and 63 finalize L2 blocks up to 0, 3, 4 and 8. */
function demoChain(options: ServiceChainOptions = {}) {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, ...options })
  addDemoBlocks(chain)
  return chain
}

/** Proven slots of the contract at an L1 block. */
function slotsAt({ l1 }: ReturnType<typeof demoChain>, number: bigint, storageKeys: Hex[]): Hex[] {
  const proof = JSON.parse(JSON.stringify(l1.getProof(ROLLUP.address, storageKeys, number)))
  const stateRoot = Reflect.get(l1.getBlock(number) ?? {}, 'stateRoot')
  return verifyEthProof(proof, { l1StateRoot: stateRoot, address: ROLLUP.address, storageKeys }).storage.map(
    ({ value }) => value,
  )
}

it.each([7, 8] as const)('stores the inputs of its newest finalization, in version %i', async contractVersion => {
  const { service, l1Url } = await startService({ contractVersion })
  addDemoBlocks(service.chain, { counts: [2, 1, 3, 2, 1] })
  const viem = createPublicClient({ transport: http(l1Url, { retryCount: 0 }) })
  const range = { address: ROLLUP.address, fromBlock: 0n, toBlock: 'latest' } as const
  const logs =
    contractVersion === 8
      ? await viem.getLogs({ ...range, event, strict: true })
      : await viem.getLogs({ ...range, event: olderEvent, strict: true })
  expect(logs.map(({ args }) => args.blockNumber)).toEqual([0n, 1n, 3n, 4n, 7n, 9n, 10n])
  let compared = 0
  for (const { args, blockNumber, blockHash } of logs) {
    const { timestamp } = args
    const messageNumber = BigInt(String(args.messageNumber))
    const forcedNumber = BigInt('forcedTransactionNumber' in args ? String(args.forcedTransactionNumber) : 0)
    const keys = [
      word(447),
      mappingSlot({ slot: 334n, keys: [messageNumber] }),
      mappingSlot({ slot: 452n, keys: [forcedNumber] }),
    ]
    const [state, messageHash = '0x', forcedHash = '0x'] = slotsAt(service.chain, blockNumber, keys)
    const numbers = [
      messageNumber,
      messageHash,
      ...(contractVersion === 8 ? [forcedNumber, forcedHash] : []),
      timestamp,
    ]
    const words = encodeAbiParameters(
      numbers.map(() => ({ type: 'uint256' }) as const),
      numbers.map(number => BigInt(String(number))),
    )
    expect(keccak256(words)).toBe(state)
    expect(timestamp).toBe(service.chain.timestamp(args.blockNumber))
    const l1Block = await viem.getBlock({ blockHash })
    expect(l1Block.timestamp).toBeGreaterThan(timestamp)
    compared++
  }
  expect(compared).toBe(7)
  const last = logs.at(-1)?.args
  expect(last?.messageNumber).toBe(4n)
  if (last && 'forcedTransactionNumber' in last) expect(last.forcedTransactionNumber).toBe(1n)
  expect('forcedTransactionNumber' in (last ?? {})).toBe(contractVersion === 8)
})

it('filters logs as endpoints do', async () => {
  const { l1Url, service } = await startService()
  addDemoBlocks(service.chain)
  const signature = 'FinalizedStateUpdated(uint256,uint256,uint256,uint256)'
  const topic = bytesToHex(keccak_256(new TextEncoder().encode(signature)))
  const all = { fromBlock: '0x1', toBlock: '0x40' }
  const hash = Reflect.get(service.chain.l1.getBlock(1n) ?? {}, 'hash')
  const found = async (filter: object) => {
    const { result } = (await askRpc(l1Url, 'eth_getLogs', [filter])) as { result: { topics: Hex[] }[] }
    // Each finalization has another log, too.
    return result.flatMap(({ topics }) => (topics[0] === topic ? [Number(topics[1])] : []))
  }
  const cases: [object, number[]][] = [
    [all, [1, 4, 5, 9]],
    [{ ...all, address: ROLLUP.address }, [1, 4, 5, 9]],
    [{ ...all, address: [ROLLUP.address.toUpperCase().replace('0X', '0x')] }, [1, 4, 5, 9]],
    [{ ...all, address: `0x${'11'.repeat(20)}` }, []],
    [{ ...all, address: [], topics: [] }, [1, 4, 5, 9]],
    [{ ...all, topics: [topic] }, [1, 4, 5, 9]],
    [{ ...all, topics: [null, [word(4), word(9)]] }, [4, 9]],
    [{ ...all, topics: [word(4)] }, []],
    [{ ...all, topics: [topic, null, null] }, []],
    [{ fromBlock: '0x1', toBlock: '0x16' }, [1, 4]],
    [{ fromBlock: '0x1', toBlock: '0x2710' }, [1, 4, 5, 9]],
    [{}, [9]],
    [{ fromBlock: 'finalized' }, [9]],
    [{ blockHash: hash }, [1]],
    [Object.create({ fromBlock: '0x1' }), [9]],
  ]
  for (const [filter, expected] of cases) expect(await found(filter), JSON.stringify(filter)).toEqual(expected)
  expect(cases.length).toBe(15)

  const refused: [unknown, number, string][] = [
    [7, -32602, 'filter'],
    [[], -32602, 'filter'],
    [{ blockHash: hash, fromBlock: '0x1' }, -32602, 'blockHash'],
    [{ blockHash: '0x1' }, -32602, 'hash'],
    [{ blockHash: word(1) }, -32000, 'not found'],
    [{ fromBlock: '0x0', toBlock: '0x2710' }, -32602, 'at most 10000'],
    [{ fromBlock: '0x2', toBlock: '0x1' }, -32602, 'after'],
    [{ fromBlock: 'x' }, -32602, 'block'],
    [{ ...all, address: 'x' }, -32602, 'address'],
    [{ ...all, address: new Array(1025).fill(ROLLUP.address) }, -32602, 'at most 1024'],
    [{ ...all, topics: 'x' }, -32602, 'topics'],
    [{ ...all, topics: ['x'] }, -32602, 'topics[0]'],
    [{ ...all, topics: new Array(5).fill(null) }, -32602, 'topics'],
  ]
  for (const [filter, code, words] of refused) {
    const answer = await askRpc(l1Url, 'eth_getLogs', [filter])
    expect(answer).toMatchObject({ error: { code, message: expect.stringContaining(words) } })
  }
  expect(refused.length).toBe(13)
})

it('reorganizes blocks that are not final, and merges their finalizations into one', async () => {
  const { service, l1Url } = await startService({ l1Unfinalized: 8 })
  const { chain } = service
  const { l1 } = chain
  addDemoBlocks(chain, { counts: [1, 1], l1Blocks: 2 })
  expect(l1.blockNumber()).toBe(7n)
  for (let added = 0; added < 5; added++) l1.addBlock()
  chain.addBlock()
  chain.finalize()
  expect([l1.blockNumber(), l1.blockNumber('safe'), l1.blockNumber('finalized')]).toEqual([13n, 9n, 5n])
  for (const [tag, number] of Object.entries({ latest: '0xd', safe: '0x9', finalized: '0x5' })) {
    expect(await askRpc(l1Url, 'eth_getBlockByNumber', [tag, false])).toMatchObject({ result: { number } })
  }
  const hashAt = (number: bigint) => Reflect.get(l1.getBlock(number) ?? {}, 'hash')
  const rootAt = (block: bigint) => slotsAt(chain, l1.blockNumber(), [mappingSlot({ slot: 282n, keys: [block] })])[0]
  const before = [5n, 6n, 13n].map(hashAt)
  expect(rootAt(3n)).toBe(chain.at(3n)?.stateRoot())

  expect(l1.reorganize(100)).toBe(8)
  expect(l1.blockNumber()).toBe(14n)
  expect(hashAt(5n)).toBe(before[0])
  expect([6n, 13n].map(hashAt)).not.toEqual(before.slice(1))
  expect(l1.numberOf(before[2])).toBeUndefined()
  expect(await askRpc(l1Url, 'eth_getBlockByHash', [before[2], false])).toMatchObject({ result: null })
  // Block 3 was the last of a finalization. Now only block 4 is.
  expect([rootAt(2n), rootAt(3n), rootAt(4n)]).toEqual([chain.at(2n)?.stateRoot(), word(0), chain.at(4n)?.stateRoot()])
  const logs = (await askRpc(l1Url, 'eth_getLogs', [{ fromBlock: '0x0', topics: [finalizedStateTopics] }])) as {
    result: { topics: Hex[] }[]
  }
  expect(logs.result.map(({ topics }) => Number(topics[1]))).toEqual([0, 1, 2, 4])
  expect([chain.finalized(), chain.provable()]).toEqual([4n, 4n])

  const still = demoChain()
  expect(still.l1.reorganize(5)).toBe(0)
  expect(still.l1.blockNumber()).toBe(63n)
})

it('keeps only its newest states if configured, but all blocks', async () => {
  const { service, l1Url } = await startService({ l1History: 10 })
  addDemoBlocks(service.chain)
  const proofAt = (block: unknown) => askRpc(l1Url, 'eth_getProof', [ROLLUP.address, [word(281)], block])
  expect(await proofAt('0x37')).toMatchObject({ result: { storageProof: [{ value: '0x5' }] } })
  const gone = { error: { code: -32000, message: expect.stringContaining('historical state') } }
  expect(await proofAt('0x36')).toMatchObject(gone)
  expect(await askRpc(l1Url, 'eth_getStorageAt', [ROLLUP.address, '0x119', '0x36'])).toMatchObject(gone)
  expect(await askRpc(l1Url, 'eth_getBlockByNumber', ['0x1', false])).toMatchObject({ result: { number: '0x1' } })
  const hash = Reflect.get(service.chain.l1.getBlock(64n) ?? {}, 'hash')
  expect(await proofAt({ blockHash: hash })).toMatchObject({ result: { storageProof: [{ value: '0x9' }] } })
  expect(await proofAt({ blockHash: word(1) })).toMatchObject({ error: { code: -32000 } })
  expect(await proofAt({})).toMatchObject({ error: { code: -32602 } })
})

it('forgets old finalizations if configured', () => {
  const chain = demoChain({ keep: 3, l1Unfinalized: 2 })
  for (let turn = 0; turn < 40; turn++) addDemoBlocks(chain, { counts: [2], l1Blocks: 1 })
  expect([chain.latest(), chain.finalized(), chain.l1.blockNumber()]).toEqual([88n, 88n, 143n])
  for (const kept of [84n, 86n, 88n]) expect(chain.at(kept)?.stateRoot()).toMatch(/^0x/)
  for (const old of [0n, 82n, 83n]) expect([chain.at(old), chain.timestamp(old)]).toEqual([undefined, undefined])
  expect(chain.l1.getBlock(139n)).not.toBeNull()
  expect(chain.l1.getBlock(138n)).toBeNull()
  // The contract itself keeps every root.
  expect(slotsAt(chain, 143n, [mappingSlot({ slot: 282n, keys: [3n] })])).not.toEqual([word(0)])
})

it('takes its time from the given clock', () => {
  let now = 1_900_000_000
  const chain = demoChain({ clock: () => now })
  const timeOf = (number: bigint) => Number(Reflect.get(chain.l1.getBlock(number) ?? {}, 'timestamp'))
  expect([timeOf(0n), timeOf(1n)]).toEqual([now + 1, now + 2])
  expect([chain.timestamp(0n), chain.timestamp(1n)]).toEqual([BigInt(now), BigInt(now + 1)])
  now += 1000
  chain.l1.addBlock()
  expect(timeOf(64n)).toBe(now)
})
