import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { kindNamed } from '../../../src/cli/words/answer.ts'
import { verifyEvidence } from '../../../src/entry/anchor.ts'
import { type LogFilter, type LogsClaim, logsEvidence } from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { applyPatches } from '../../../src/site/patches.ts'
import { bloomOf, type Content, quantity } from '../../../vectors/blocks/truth.ts'
import { named } from '../../../vectors/evidence/l1.ts'
import { rollup } from '../../../vectors/evidence/truth.ts'
import type { LogsVector } from '../../../vectors/logs/generate.ts'
import { anchorOf, makeChain, partsOf } from '../../../vectors/logs/truth.ts'
import { sized } from '../../size.ts'
import { createTraps } from '../../traps.ts'
import { codeOf } from '../anchor/helpers.ts'
import { refusalOf, spell } from '../blocks/helpers.ts'
import { sizesOf } from '../sizes.ts'
import { changedAt, placesOf } from './places.ts'

const read = (path: string): LogsVector => JSON.parse(readFileSync(`vectors/logs/${path}`, 'utf8'))
const valid = (name: string) => {
  const vector = read(`valid/${name}.json`)
  return { bundle: 'input' in vector ? Object(vector.input) : {}, claim: claimOf(vector), vector }
}

type Claim = Omit<LogsClaim, 'kind'>
const verifyLogs = (bundle: unknown, claim: Claim) => verifyEvidence(bundle, { kind: logsEvidence, ...claim })

function claimOf({ scheme, claim }: LogsVector): Claim {
  const number = (text: Hex | 'fromBundle') => (text === 'fromBundle' ? text : BigInt(text))
  const [l2BlockNumber, fromBlock, toBlock] = [claim.l2BlockNumber, claim.fromBlock, claim.toBlock].map(number)
  // Known to be a scheme, and three numbers.
  return { ...claim, scheme: kindNamed(scheme)?.scheme, l2BlockNumber, fromBlock, toBlock } as Claim
}

/** A vector whose bundle is the changed one of its base. */
function inputOf(vector: LogsVector): unknown {
  if (!('base' in vector)) return vector.input
  const { input } = applyPatches(vector, read(`valid/${vector.base}.json`))
  return input
}

const vectors = (['valid', 'invalid'] as const).flatMap(kind =>
  readdirSync(`vectors/logs/${kind}`).map(name => ({ path: `${kind}/${name}`, vector: read(`${kind}/${name}`) })),
)

it('gives each vector of logs its expected outcome', () => {
  const counts = { valid: 0, invalid: 0 }
  for (const { path, vector } of vectors) {
    const [input, claim] = [inputOf(vector), claimOf(vector)]
    if (vector.expected.valid) {
      const { logs, blockCount, ruledOutCount, receiptCount } = verifyLogs(input, claim)
      expect(spell({ logs, blockCount, ruledOutCount, receiptCount }), path).toEqual(vector.expected.verified)
      counts.valid++
    } else {
      expect(
        codeOf(() => verifyLogs(input, claim)),
        path,
      ).toBe(vector.expected.code)
      counts.invalid++
    }
  }
  expect(counts).toEqual(sizesOf('logs'))
})

it('has a schema that accepts every valid bundle and refuses malformed ones', () => {
  const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: false, strictRequired: false }).compile(
    JSON.parse(readFileSync('docs/evidence.schema.json', 'utf8')),
  )
  const counts = { kept: 0, broken: 0 }
  for (const { path, vector } of vectors) {
    const { expected } = vector
    const isBroken = !expected.valid && /^EVIDENCE_(MALFORMED|VERSION)$/.test(expected.code)
    if (!expected.valid && !isBroken) continue
    expect(validate(inputOf(vector)), `${path}: ${JSON.stringify(validate.errors)}`).toBe(!isBroken)
    counts[isBroken ? 'broken' : 'kept']++
  }
  expect(counts.kept).toBe(sizesOf('logs').valid)
  expect(counts.broken).toBeGreaterThan(4)
})

it('returns what it rests on, and the range and filter of the bundle', () => {
  const { bundle, claim } = valid('one-log')
  const verified = verifyLogs(bundle, claim)
  expect(verified).toMatchObject({
    ...{
      trustedInput: 'l1BlockHash',
      l2BlockNumber: 1000n,
      currentL2BlockNumber: 9187n,
      fromBlock: 998n,
      toBlock: 998n,
    },
    filter: { address: [], topics: [[], [named('from c')]] },
  })
  expect(Object.keys(verified)).not.toEqual(expect.arrayContaining(['account', 'storage', 'address']))
})

describe('a range of random blocks', () => {
  const [addresses, topics] = [['a', 'b', 'c'].map(name => named(name, 20)), ['x', 'y', 'z'].map(name => named(name))]
  const log = fc.record({
    ...{ address: fc.constantFrom(...addresses), topics: fc.array(fc.constantFrom(...topics), { maxLength: 4 }) },
    data: fc.constantFrom('0x' as const, '0x01' as const),
  })
  const chain = fc.array(fc.array(fc.array(log, { maxLength: 2 }), { maxLength: 2 }), { minLength: 1, maxLength: 4 })
  const choice = (values: readonly Hex[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 2 })
  const filter = fc.record({ address: choice(addresses), topics: fc.array(choice(topics), { maxLength: 3 }) })
  /** As the yellow paper has it. */
  const mayHold = (bloom: unknown, { address, topics }: { address: Hex[]; topics: Hex[][] }) =>
    BigInt(String(bloom)) !== 0n &&
    [address.map(value => [value, []] as const), ...topics.map(list => list.map(value => [value, []] as const))].every(
      list =>
        list.length === 0 ||
        list.some(([address, topics]) => {
          const mask = BigInt(bloomOf([{ address, topics }]))
          return (BigInt(String(bloom)) & mask) === mask
        }),
    )
  const isSelected = ({ address, topics }: Content['logs'][number], filter: { address: Hex[]; topics: Hex[][] }) =>
    (filter.address.length === 0 || filter.address.includes(address)) &&
    filter.topics.length <= topics.length &&
    filter.topics.every((list, index) => list.length === 0 || list.includes(topics[index] ?? '0x'))

  it('has exactly the logs that the filter selects', async () => {
    const seen = { logs: 0, ruledOut: 0, inVain: 0 }
    await fc.assert(
      fc.asyncProperty(chain, filter, async (logs, filter) => {
        const blocks = await makeChain(logs, 50n)
        const last = 49n + BigInt(logs.length)
        const { bundleFor, blockHash } = await anchorOf(
          poseidon2,
          blocks.map(({ block }) => [BigInt(block.number), block.hash]),
          [last + 1n],
        )
        const parts = blocks.map((block, index) => {
          const { header, receipts, transactions } = partsOf(block)
          const { logsBloom } = block.receipts.length > 0 ? Object(block.block) : { logsBloom: '0x0' }
          const isHere = logs[index]?.flat().some(log => isSelected(log, filter))
          return { header, ...(mayHold(logsBloom, filter) && { receipts }), ...(isHere && { transactions }) }
        })
        const range = { fromBlock: quantity(50), toBlock: quantity(last), filter }
        const bundle = { ...(await bundleFor(last + 1n, last)), kind: 'logs', ...range, blocks: parts.toReversed() }
        const claim = { scheme: poseidon2, rollup, trusted: { l1BlockHash: blockHash }, l2BlockNumber: last + 1n }
        const verified = verifyLogs(bundle, { ...claim, fromBlock: 50n, toBlock: last, filter })
        const expected = logs.flatMap((block, index) =>
          block
            .flat()
            .flatMap((log, logIndex) =>
              isSelected(log, filter) ? [{ ...log, logIndex, blockNumber: 50n + BigInt(index) }] : [],
            ),
        )
        expect(verified.logs).toMatchObject(expected)
        expect([verified.logs.length, verified.blockCount]).toEqual([expected.length, logs.length])
        seen.logs += expected.length
        seen.ruledOut += verified.ruledOutCount
        if (expected.length === 0 && verified.receiptCount > 0) seen.inVain++
      }),
      { seed: 33, numRuns: sized(25) },
    )
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0)
  })
})

/** Two bundles with one block of logs: its hash is that of a slot, or L1 holds it. */
const small = {
  slotted: () => valid('one-log'),
  anchored: () => {
    const { bundle, claim } = valid('ethereum-anchored')
    const range = { fromBlock: bundle.toBlock, blocks: bundle.blocks.slice(0, 1) }
    return { bundle: { ...bundle, ...range }, claim: { ...claim, fromBlock: BigInt(bundle.toBlock) } }
  },
}

it.each(['slotted', 'anchored'] as const)(
  'never accepts another statement from a bundle that is changed anywhere: %s',
  name => {
    const { bundle, claim } = small[name]()
    const honest = JSON.stringify(spell(verifyLogs(bundle, claim)))
    const flip = (part: unknown) =>
      typeof part === 'string' ? `${part.slice(0, -1)}${part.endsWith('1') ? '2' : '1'}` : part === true ? false : null
    const counts = { refused: 0, same: 0 }
    for (const path of placesOf(bundle).filter(path => path[0] !== 'answer' && path[1] !== 'proof')) {
      for (const change of [flip, () => undefined, () => ({})]) {
        const changed = changedAt(bundle, path, change)
        const accepted = { verified: '' }
        const refusal = refusalOf(() => {
          accepted.verified = JSON.stringify(spell(verifyLogs(changed, claim)))
        })
        if (refusal === 'accepted') expect(accepted.verified, path.join('.')).toBe(honest)
        counts[refusal === 'accepted' ? 'same' : 'refused']++
      }
    }
    // The label of the rollup, and what is left out of a transaction's derived fields.
    expect(counts.same).toBeLessThan(12)
    expect(counts.refused).toBeGreaterThan(130)
  },
)

it.each(['slotted', 'anchored'] as const)(
  'throws only its own errors, whatever getters and proxies throw: %s',
  name => {
    const { bundle, claim } = small[name]()
    const { hostile, sprung } = createTraps()
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const endless = new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 32 - 1 : '0x') })
    const odd = new Proxy([], { get: (_, key) => (key === 'length' ? 1.5 : '0x') })
    const places = placesOf(bundle).filter(path => path[0] !== 'answer' && path[1] !== 'proof' && path.length < 5)
    for (const path of places) {
      for (const part of [hostile, revoked, endless, odd, Object.create(null)]) {
        const changed = changedAt(bundle, path, () => part)
        expect(
          codeOf(() => verifyLogs(changed, claim)),
          path.join('.'),
        ).not.toBe(null)
      }
    }
    expect(places.length).toBeGreaterThan(15)
    expect(sprung()).toBeGreaterThan(5)
  },
)

it('reads each of its own fields once', () => {
  const { bundle, claim } = valid('one-log')
  const reads: string[] = []
  const watch = <T extends object>(source: T, prefix: string): T =>
    new Proxy(source, {
      get(target, name) {
        reads.push(`${prefix}${String(name)}`)
        return Reflect.get(target, name)
      },
    })
  const [block] = bundle.blocks
  verifyLogs(watch({ ...bundle, blocks: [watch(block, 'blocks.')] }, ''), claim)
  expect(reads.length).toBe(15)
  expect(new Set(reads).size).toBe(reads.length)
})

it('names the place in the bundle', () => {
  const { bundle, claim } = valid('transfers-poseidon2')
  const index = Object(bundle.blocks).findIndex((block: object) => 'receipts' in block)
  const refused = (path: (string | number)[], change: (part: unknown) => unknown) =>
    refusalOf(() => verifyLogs(changedAt(bundle, ['blocks', index, ...path], change), claim))
  const at = `blocks[${index}]`
  expect(refused(['receipts'], () => [])).toBe(`RECEIPTS_ROOT_MISMATCH ${at}.receipts`)
  expect(refused(['receipts', 0, 'status'], () => '0x2')).toBe(`RECEIPT_STATUS ${at}.receipts[0].status`)
  expect(refused(['receipts'], () => undefined)).toBe(`LOGS_CONTENT_MISSING ${at}.receipts`)
  expect(refused(['transactions'], () => [])).toBe(`TRANSACTIONS_ROOT_MISMATCH ${at}.transactions`)
  const unwritten = read('invalid/history-zero.json')
  expect(refusalOf(() => verifyLogs(inputOf(unwritten), claimOf(unwritten)))).toBe('HISTORY_NO_HASH answer')
})

it('reads an answer that is null as none, and goes back from the block whose hash L1 holds', () => {
  const { bundle, claim, vector } = valid('ethereum-before-the-anchored')
  const { logs, l2BlockNumber, toBlock } = verifyLogs(bundle, claim)
  expect([logs.length, l2BlockNumber, toBlock]).toEqual([1, 999n, 995n])
  expect(verifyLogs({ ...bundle, answer: null }, claim)).toEqual(verifyLogs(bundle, claim))
  const others = [{ l2BlockNumber: 998n }, { rollup: { ...rollup, name: 'another' } }]
  expect(others.map(other => codeOf(() => verifyLogs(bundle, { ...claim, ...other })))).toEqual([
    'EVIDENCE_BLOCK_MISMATCH',
    'EVIDENCE_ROLLUP_MISMATCH',
  ])
  const codeFor = (scheme: string) => codeOf(() => verifyLogs(bundle, claimOf({ ...vector, scheme } as LogsVector)))
  expect(['poseidon2', 'mimc'].map(codeFor)).toEqual(Array(2).fill('EVIDENCE_SCHEME_MISMATCH'))
})

it('refuses a filter with more choices than it compares a log with', () => {
  const { bundle, claim } = valid('one-log')
  const many = (count: number) => Array.from({ length: count }, (_, index) => named(`${index}`, 20))
  const withAddresses = (count: number) => () =>
    verifyLogs({ ...bundle, filter: { address: many(count), topics: [] } }, claim)
  expect(refusalOf(withAddresses(1025))).toBe('EVIDENCE_MALFORMED filter.address')
  // The header rules out all of them.
  expect(refusalOf(withAddresses(1024))).toBe('LOGS_CONTENT_UNUSED blocks[0].receipts')
})

it('states the same filter in any order, case and number of times', () => {
  const { bundle, claim } = valid('transfers-poseidon2')
  const [token, transfer] = [bundle.filter.address[0], bundle.filter.topics[0][0]]
  const upper = (hex: string): Hex => `0x${hex.slice(2).toUpperCase()}`
  const same: LogFilter[] = [
    { address: token, topics: [transfer] },
    { address: [token, upper(token)], topics: [[upper(transfer), transfer]] },
  ]
  const others: LogFilter[] = [
    {},
    { address: token },
    { address: token, topics: [transfer, null] },
    { topics: [transfer] },
  ]
  for (const filter of same) expect(verifyLogs(bundle, { ...claim, filter }).logs.length).toBe(4)
  const two = [token, named('without logs', 20)]
  const wide = { ...bundle, filter: { ...bundle.filter, address: two } }
  const reversed = { address: two.toReversed(), topics: [transfer] }
  expect(verifyLogs(wide, { ...claim, filter: reversed }).logs.length).toBe(4)
  for (const filter of others) {
    expect(refusalOf(() => verifyLogs(bundle, { ...claim, filter }))).toBe('LOGS_MISMATCH filter')
  }
})

it('refuses invalid claims', () => {
  const { bundle, claim } = valid('transfers-poseidon2')
  const { stateRoot } = verifyLogs(bundle, claim)
  const wrong: [Record<string, unknown>, string][] = [
    [{ scheme: undefined }, 'scheme'],
    [{ trusted: {} }, 'trusted'],
    [{ fromBlock: undefined }, 'fromBlock'],
    [{ fromBlock: 994 }, 'fromBlock'],
    [{ toBlock: -1n }, 'toBlock'],
    [{ l2BlockNumber: undefined }, 'l2BlockNumber'],
    [{ filter: undefined }, 'filter'],
    [{ filter: { addres: named('a', 20) } }, 'filter.addres'],
    [{ filter: { address: '0x12' } }, 'filter.address'],
    [{ filter: { topics: ['0x12'] } }, 'filter.topics[0]'],
    [{ address: named('a', 20) }, 'address'],
    [{ trusted: { l2StateRoot: stateRoot }, l2BlockNumber: 'fromBundle' }, 'l2BlockNumber'],
  ]
  for (const [change, path] of wrong) {
    const call = () => verifyLogs(bundle, { ...claim, ...change } as never)
    expect(call, JSON.stringify(path)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID', path }))
  }
})
