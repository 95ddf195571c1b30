import { describe, expect, it } from 'vitest'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import {
  historyContract,
  historySlot,
  type LogFilter,
  readBlockHash,
  verifyBlock,
  verifyBlockHeader,
  verifyReceipts,
  verifyTransactions,
} from '../../../src/entry/blocks.ts'
import { type Hex, isArgumentError, slotKey } from '../../../src/entry/index.ts'
import { decodeFilter, selectedBy } from '../../../src/verify/blocks/filter.ts'
import { bloomOf, kinds, makeBlock, makeTruth } from '../../../vectors/blocks/truth.ts'
import { named } from '../../../vectors/evidence/l1.ts'
import { refusalOf, spell } from './helpers.ts'

const root = named('root')

describe('the contract that keeps block hashes', () => {
  const value = named('a hash')
  const proven = (number: bigint) => ({ account: {}, storage: [{ key: historySlot(number), value }] })

  it('keeps the hash of a block in the slot of its number modulo 8191', () => {
    expect(historyContract).toBe('0x0000F90827F1C53a10cb7A02335B175320002935'.toLowerCase())
    const numbers = [0n, 1n, 8190n, 8191n, 8192n, 2n ** 64n - 1n]
    expect(numbers.map(number => BigInt(historySlot(number)))).toEqual([
      0n,
      1n,
      8190n,
      0n,
      1n,
      (2n ** 64n - 1n) % 8191n,
    ])
    expect(historySlot(8194n)).toBe(slotKey(3n))
  })

  it('holds the hashes of the 8,191 blocks before that of the state', () => {
    const outcomes = (stateBlock: bigint, numbers: readonly bigint[]) =>
      numbers.map(number => refusalOf(() => readBlockHash(proven(number), { number, stateBlock })))
    const outside = 'HISTORY_OUTSIDE_WINDOW'
    expect(outcomes(20_000n, [11_808n, 11_809n, 19_999n, 20_000n, 20_001n])).toEqual([
      ...[outside, 'accepted', 'accepted', outside, outside],
    ])
    expect(outcomes(3n, [0n, 2n, 3n])).toEqual(['accepted', 'accepted', outside])
    expect(outcomes(8192n, [0n, 1n])).toEqual([outside, 'accepted'])
  })

  it('names the window that it has', () => {
    const expectedOf = (number: bigint, stateBlock: bigint) => {
      try {
        return readBlockHash(proven(number), { number, stateBlock })
      } catch (error) {
        return Reflect.get(Object(error), 'expected')
      }
    }
    expect(expectedOf(1n, 20_000n)).toBe('a block from 11809 to 19999')
    expect(expectedOf(5n, 5n)).toBe('a block from 0 to 4')
    expect(expectedOf(9000n, 8191n)).toBe('a block from 0 to 8190')
    expect(expectedOf(9000n, 8192n)).toBe('a block from 1 to 8191')
  })

  it('returns the slot of the block, wherever it is among the proven ones', () => {
    const other = { key: historySlot(4n), value: root }
    const [slot] = proven(5n).storage
    const storage = [other, { key: slot?.key.toUpperCase().replace('X', 'x') as Hex, value }]
    expect(readBlockHash({ account: {}, storage }, { number: 5n, stateBlock: 6n })).toBe(value)
    const missing = () => readBlockHash({ account: {}, storage: [other] }, { number: 5n, stateBlock: 6n })
    expect(missing).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID', path: 'proven.storage' }))
    for (const wrong of [5, 'x', undefined]) {
      const call = () => readBlockHash({ account: wrong as never, storage }, { number: 5n, stateBlock: 6n })
      expect(call).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID', path: 'proven.account' }))
    }
  })
})

describe('a filter over logs', () => {
  const [a, b] = [named('a', 20), named('b', 20)]
  const [x, y, z] = [named('x'), named('y'), named('z')]
  const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`
  const logs = [
    { address: a, topics: [] },
    { address: a, topics: [x] },
    { address: b, topics: [x, y] },
    { address: b, topics: [y, x, z] },
    { address: a, topics: [x, y, z, x] },
  ]
  const cases: [string, LogFilter, number[]][] = [
    ['everything', {}, [0, 1, 2, 3, 4]],
    ['one contract', { address: a }, [0, 1, 4]],
    ['an address in upper case', { address: upper(b) }, [2, 3]],
    ['one of several contracts', { address: [a, b] }, [0, 1, 2, 3, 4]],
    ['an empty list of contracts', { address: [] }, [0, 1, 2, 3, 4]],
    ['another contract', { address: named('c', 20) }, []],
    ['no topics', { topics: [] }, [0, 1, 2, 3, 4]],
    ['the first topic', { topics: [x] }, [1, 2, 4]],
    ['a topic in upper case', { topics: [upper(y)] }, [3]],
    ['any first topic, but there is one', { topics: [null] }, [1, 2, 3, 4]],
    ['an empty list of topics', { topics: [[], []] }, [2, 3, 4]],
    ['the second topic', { topics: [null, y] }, [2, 4]],
    [
      'one of several topics',
      {
        topics: [
          [x, y],
          [x, y],
        ],
      },
      [2, 3, 4],
    ],
    ['the last topic', { topics: [null, null, null, x] }, [4]],
    ['contract and topic', { address: b, topics: [x] }, [2]],
  ]
  it.each(cases)('selects %s', (_, filter, wanted) => {
    expect(logs.filter(selectedBy(decodeFilter(filter)))).toEqual(wanted.map(index => logs[index]))
  })

  it('refuses what is no filter', () => {
    const wrong: unknown[] = [
      ...[{ address: '0x12' }, { address: null }, { address: [a, '0x'] }, { topics: x }, { topics: [a] }],
      ...[{ topics: [x, x, x, x, x] }, { topics: [[x, 5]] }, null],
    ]
    expect(wrong.length).toBe(8)
    for (const filter of wrong) {
      let thrown: unknown
      try {
        decodeFilter(filter as never)
      } catch (error) {
        thrown = error
      }
      expect(isArgumentError(thrown), `${JSON.stringify(filter)}: ${thrown}`).toBe(true)
    }
  })
})

/** Claims a length, and counts how often anything is read of it. */
function countedArray(length: number) {
  const counts = { reads: 0 }
  const get = (_: unknown, name: PropertyKey) => {
    if (name === 'length') return length
    counts.reads++
    return undefined
  }
  const getOwnPropertyDescriptor = (target: object, name: PropertyKey) =>
    Reflect.getOwnPropertyDescriptor(target, name) ?? { value: 0, configurable: true, enumerable: true, writable: true }
  return { counts, list: new Proxy([], { get, getOwnPropertyDescriptor }) }
}

describe('hostile input', () => {
  const plain = { status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: bloomOf([]), logs: [] }

  it('reads nothing of a list that is too long', () => {
    const run = (length: number, work: (list: unknown) => unknown) => {
      const { list, counts } = countedArray(length)
      return [refusalOf(() => work(list)), counts.reads]
    }
    const transactions = (list: unknown) => verifyTransactions(list, { transactionsRoot: root })
    const receipts = (list: unknown) => verifyReceipts(list, { receiptsRoot: root })
    const logs = (list: unknown) => receipts([{ ...plain, logs: list }])
    expect(run(65_537, transactions)).toEqual(['BLOCK_TOO_LARGE', 0])
    expect(run(65_536, transactions)).toEqual(['BLOCK_MALFORMED [0]', 1])
    expect(run(65_537, receipts)).toEqual(['BLOCK_TOO_LARGE', 0])
    expect(run(32_769, logs)).toEqual(['BLOCK_TOO_LARGE [0].logs', 0])
    expect(run(32_768, logs)).toEqual(['BLOCK_MALFORMED [0].logs[0]', 1])
    expect(run(5, list => logs([{ address: named('a', 20), topics: list, data: '0x' }]))).toEqual([
      ...['BLOCK_TOO_LARGE [0].logs[0].topics', 0],
    ])
  })

  it('decodes as many logs as it admits, and data as long', () => {
    const log = { address: named('a', 20), topics: [], data: '0x' }
    const logs = new Array(32_768).fill(log)
    expect(refusalOf(() => verifyReceipts([{ ...plain, logs }], { receiptsRoot: root }))).toBe('RECEIPTS_ROOT_MISMATCH')
    const withData = (length: number) =>
      refusalOf(() =>
        verifyReceipts([{ ...plain, logs: [{ ...log, data: `0x${'00'.repeat(length)}` }] }], { receiptsRoot: root }),
      )
    expect(withData(100_000)).toBe('RECEIPTS_ROOT_MISMATCH')
    expect(withData(2 ** 23 + 1)).toBe('BLOCK_TOO_LARGE [0].logs[0].data')
  })

  it('throws nothing but refusals', async () => {
    const { block, transactions, receipts } = await makeBlock((await kinds()).slice(4, 5))
    const { transactionsRoot, receiptsRoot, hash } = block
    const claim = { hash, number: 1000n }
    const throwing = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new TypeError('caught')
        },
      },
    )
    const { proxy: revoked, revoke } = Proxy.revocable([], {})
    revoke()
    const odd = [
      undefined,
      null,
      0,
      1.5,
      Number.NaN,
      1n,
      '',
      '0x',
      'x',
      true,
      Symbol('x'),
      () => {},
      [],
      {},
      [[]],
      [null],
    ]
    const values = [...odd, throwing, revoked, [throwing], [revoked]]
    let refused = 0
    for (const value of values) {
      const works = [
        () => verifyTransactions([value], { transactionsRoot: root }),
        () => verifyReceipts([value], { receiptsRoot: root }),
        () => verifyBlock(value, claim),
        () => verifyBlock({ header: value, transactions, receipts }, claim),
        () => verifyBlockHeader(value, claim),
        ...Object.keys(transactions[0] ?? {}).map(name => () => {
          verifyTransactions(transactions.with(0, { ...transactions[0], [name]: value }), { transactionsRoot })
        }),
        ...Object.keys(receipts[0] ?? {}).map(name => () => {
          verifyReceipts(receipts.with(0, { ...receipts[0], [name]: value }), { receiptsRoot })
        }),
      ]
      for (const work of works) if (refusalOf(work) !== 'accepted') refused++
    }
    expect(refused).toBeGreaterThan(600)
  })

  it('reads each field of what was sent once for its value, and takes over nothing from a second reading', async () => {
    const { block, transactions, receipts } = await makeTruth()
    const { transactionsRoot, receiptsRoot } = block
    const shifty = (sent: object) => {
      let reads = 0
      return new Proxy(sent, { get: (target, name) => (++reads > 60 ? '0x666' : Reflect.get(target, name)) })
    }
    const truth = spell(verifyTransactions(transactions, { transactionsRoot }))
    const once = refusalOf(() => {
      expect(spell(verifyTransactions(transactions.map(shifty), { transactionsRoot }))).toEqual(truth)
    })
    expect(['accepted', 'BLOCK_FIELD_MISMATCH']).toContain(once.split(' ')[0])
    expect(refusalOf(() => verifyReceipts(receipts.map(shifty), { receiptsRoot }))).toBe('accepted')
  })
})

it('opens the header of a hash, of the number asked for only', async () => {
  const { block } = await makeBlock([])
  const header = encodeHeader(block)
  const claim = { hash: block.hash, number: 1000n }
  expect(verifyBlockHeader(header, claim)).toMatchObject({ hash: block.hash, number: 1000n })
  expect(refusalOf(() => verifyBlockHeader(header, { ...claim, number: 1001n }))).toBe('BLOCK_NUMBER_MISMATCH number')
  expect(refusalOf(() => verifyBlockHeader(header, { ...claim, hash: root }))).toBe('HEADER_HASH_MISMATCH')
})
