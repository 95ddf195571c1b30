import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { filterOf, filterOptions } from '../../src/cli/options/filter.ts'
import { parseOptions } from '../../src/cli/options/parse.ts'
import { addDemoBlocks, createService, demoWorld, type Fault, type FaultRequest } from '../../src/devnet/index.ts'
import { verifyEvidence } from '../../src/entry/anchor.ts'
import { logsEvidence } from '../../src/entry/blocks.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { ROLLUP } from '../client/servers.ts'
import { folderOf, networkOf, runHere } from './io.ts'

const TOKEN: Hex = `0x${'70'.repeat(20)}`
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The newest finalized block. */
const LAST = 140

const demo = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, faults: request => faults?.(request) })
let faults: ((request: FaultRequest) => Fault | undefined) | undefined
let urls: { l1: string; l2: string }
let truth: Record<string, unknown>[]
beforeAll(async () => {
  // One transfer in each of the blocks 1 to 20, and 130 to 140.
  addDemoBlocks(demo.chain, { counts: [20] })
  for (let number = 21; number < 130; number++) demo.chain.addBlock()
  addDemoBlocks(demo.chain, { counts: [11] })
  const { url: l2, l1Url: l1 } = await demo.listen()
  urls = { l1, l2 }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getLogs',
    params: [{ fromBlock: '0x0', toBlock: `0x${(LAST - 1).toString(16)}` }],
  })
  const answer = await fetch(l2, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  truth = Object(await answer.json()).result
  return () => demo.close({ graceMs: 0 })
})

const EVENT = ['--address', TOKEN, '--event', 'Transfer(address,address,uint256)']

function start(name = 'rows.csv') {
  const folder = folderOf()
  const file = (other: string) => join(folder, other)
  onTestFinished(() => {
    faults = undefined
  })
  const common = networkOf(ROLLUP.address)
  const logs = (...more: string[]) => {
    const output = more.includes('-o') ? [] : ['-o', file(name)]
    return runHere(['record', 'logs', '--l1', urls.l1, '--l2', urls.l2, ...common, ...output, ...more])
  }
  const evidence = `${name}.evidence.ndjson`
  const read = (other = name) => readFileSync(file(other))
  return { folder, file, evidence, common, logs, read }
}

/** The L1 block hash in a report. */
const hashIn = (stdout: string): string => /L1 block hash +(0x[0-9a-f]{64})/.exec(stdout)?.[1] ?? ''

const at = (number: number) => `0x${number.toString(16)}`
/** As `eth_getLogs` answers, newest first. */
const logsOf = (from: number, to: number) =>
  truth.filter(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to).toReversed()

it('writes all logs of a range, newest first, and checks them offline', async () => {
  const { folder, logs, read } = start()
  const range = ['--from-block', '100']
  const { code, stdout, stderr } = await logs(...EVENT, ...range)
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(stderr).toContain('40 of 40 blocks')
  expect(stdout).toContain('If it is right, these are all logs of these blocks that the filter selects: 10.')
  const [head, ...rows] = read().toString().trimEnd().split('\n')
  expect(head).toBe(
    'blockNumber,blockTimestamp,blockHash,transactionHash,transactionIndex,logIndex,address,topic0,topic1,topic2,topic3,data',
  )
  const wanted = logsOf(100, 139)
  expect([rows.length, wanted.length]).toEqual([10, 10])
  for (const [index, row] of rows.entries()) {
    const { blockNumber, blockHash, transactionHash, transactionIndex, logIndex, address, topics, data } = Object(
      wanted[index],
    )
    const [number, , ...rest] = row.split(',')
    expect(number).toBe(`${Number(blockNumber)}`)
    expect(rest).toEqual([
      blockHash,
      transactionHash,
      `${Number(transactionIndex)}`,
      `${Number(logIndex)}`,
      address,
      ...topics,
      '',
      data,
    ])
  }
  expect(stdout).toMatch(
    /to block +139 +the default, not stated by you\n +blocks +40 +30 of them ruled out by their headers\n +receipts +10 /,
  )
  expect(stdout).toMatch(/L2 block +140 +the default, not stated by you\n/)
  expect(readdirSync(folder).sort()).toEqual(['rows.csv', 'rows.csv.evidence.ndjson'])

  const [, more = ''] = /run the same command with (--check .*)\.\n/.exec(stdout) ?? []
  expect(more).toBe(`--check --l1-block-hash ${hashIn(stdout)}`)
  const check = await logs(...EVENT, ...range, ...more.split(' '))
  expect(check).toMatchObject({ code: 0, stderr: '' })
  expect(check.stdout).toContain(
    'Verified, for the L2 block and last block that the file names: these are all logs of these blocks that the filter selects: 10.',
  )
  expect(check.stdout).toMatch(/to block +139 +from the file\n/)

  // Nothing is fetched again.
  faults = () => ({ kind: 'reset' })
  const again = await logs(...EVENT, ...range)
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('rows.csv exists, and would be replaced') })
})

it('writes NDJSON, and a summary as JSON', async () => {
  const { logs, read } = start('rows.ndjson')
  const { code, stdout } = await logs('--from-block', '130', '--to-block', '131', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ fetched: true, counts: { blocks: 2, logs: 2 }, range: { toBlock: '131' } })
  const rows = read()
    .toString()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  // The columns of CSV. A topic that a log does not have is left out.
  expect(
    rows.map(({ blockNumber, data, ...row }) => [blockNumber, data, row.topic0, row.topic2, 'topic3' in row]),
  ).toEqual(
    logsOf(130, 131).map(({ blockNumber, topics, data }) => [
      `${Number(blockNumber)}`,
      data,
      ...[0, 2].map(index => (topics as string[])[index]),
      false,
    ]),
  )
  const none = start('none.csv')
  const other = await none.logs('--address', ROLLUP.address, '--from-block', '130')
  expect(other.stdout).toMatch(/blocks +10 +10 of them ruled out by their headers/)
  expect(none.read().toString().split('\n')).toHaveLength(2)
  const hash = hashIn(other.stdout)
  const check = await none.logs('--address', ROLLUP.address, '--from-block', '130', '--check', '--l1-block-hash', hash)
  expect(check.code).toBe(0)
})

/** Ends a search at block 5, and serves it afterwards. */
function stopAt5() {
  faults = ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === at(5)
      ? { kind: 'error', code: -32000, message: 'gone' }
      : undefined
  return () => {
    faults = undefined
  }
}

it('keeps each verified block, and continues after an interruption wherever the file was cut', async () => {
  const whole = start('whole.csv')
  const undisturbed = await whole.logs(...EVENT, '--from-block', '0')
  expect(undisturbed.code).toBe(0)
  const [rows, kept] = [whole.read(), whole.read(whole.evidence)]

  const { logs, read, file, folder, evidence } = start()
  const run = () => logs(...EVENT, '--from-block', '0')
  const serve = stopAt5()
  const cut = await run()
  expect(cut.code).toBe(3)
  expect(cut.stderr).toContain(`What came is in ${file(evidence)}: run the same command again to continue`)
  expect(readdirSync(folder)).toEqual([evidence])
  const saved = read(evidence)
  expect(kept.subarray(0, saved.length).equals(saved)).toBe(true)
  serve()
  // A killed run has written any part of what follows.
  const next = kept.indexOf('\n', saved.length) + 1
  for (const end of [saved.length, saved.length + 1, next - 1, next, next + 9]) {
    for (const name of readdirSync(folder)) rmSync(file(name))
    writeFileSync(file(evidence), kept.subarray(0, end))
    let asked = 0
    faults = ({ method }) => {
      if (method === 'eth_getBlockByNumber') asked++
      return undefined
    }
    const { code, stdout, stderr } = await run()
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const left = end < next ? 6 : 5
    expect(stderr).toContain(`: ${left} blocks left, after an earlier run`)
    expect([read().equals(rows), read(evidence).equals(kept)]).toEqual([true, true])
    expect(hashIn(stdout)).toBe(hashIn(undisturbed.stdout))
    // Headers, and the blocks that hold a log: all but the first.
    expect(asked).toBe(2 * left - 1)
  }
  faults = undefined
  // It is complete: nothing but the rows is missing.
  rmSync(file('rows.csv'))
  expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining(': 0 blocks left') })
  expect(read().equals(rows)).toBe(true)
})

it('goes on with no evidence that proves something else, and leaves it as it is', async () => {
  const { logs, read, file, evidence, folder } = start()
  const run = (...more: string[]) => logs(...EVENT, '--from-block', '0', ...more)
  const serve = stopAt5()
  expect((await run()).code).toBe(3)
  serve()
  const lines = read(evidence).toString().trimEnd().split('\n')
  const [bundle = '', first = '', second = '', ...rest] = lines
  const changed: [string[], string][] = [
    [['mine'], 'its line 1 is not of this request (not JSON'],
    [[''], 'its line 1 is not of this request (empty)'],
    [[first, second], 'its line 1 is not of this request'],
    [[bundle.replace('"l2BlockNumber":"0x8c"', '"l2BlockNumber":"0x1"'), first], 'its line 1 is not of this request'],
    [[bundle, second, ...rest], 'its line 2 is not of this request (HEADER_HASH_MISMATCH'],
    [[bundle, first, '{}', ...rest], 'its line 3 is not of this request'],
    [[bundle, first, second.slice(9)], 'its line 3 is not of this request (not JSON'],
  ]
  for (const [content, words] of changed) {
    const text = `${content.join('\n')}\n`
    writeFileSync(file(evidence), text)
    const { code, stdout, stderr } = await run()
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`${file(evidence)} exists, and ${words}`)])
    expect([read(evidence).toString(), readdirSync(folder)]).toEqual([text, [evidence]])
  }
  expect(changed).toHaveLength(7)
  writeFileSync(file(evidence), `${lines.join('\n')}\n`)
  // A file of another L1, if the user states none, and one of another block than the user states.
  expect((await run('--l1-block-hash', TRANSFER)).stderr).toContain('its line 1 is not of this request (HEADER_HASH')
  faults = ({ endpoint, method }) =>
    endpoint === 'l1' && method === 'eth_getBlockByHash' ? { kind: 'lie', change: () => null } : undefined
  expect((await run()).stderr).toContain('the L1 endpoint does not know its L1 block 0x')
  faults = undefined
  expect((await run('--l1-block', '1')).stderr).toMatch(/its line 1 is not of this request \(it is of L1 block \d+\)/)
  expect((await run()).code).toBe(0)
  // The rows of the same evidence, or all anew.
  rmSync(file('rows.csv'))
  writeFileSync(file(evidence), 'mine\n')
  expect((await run('--force')).code).toBe(0)
  expect(read(evidence).toString().startsWith('{"format"')).toBe(true)
})

it('leaves the evidence that another run has written under way', async () => {
  const { logs, read, file, evidence, folder } = start()
  faults = () => {
    writeFileSync(file(evidence), 'of another run\n')
    return undefined
  }
  const { code, stderr } = await logs(...EVENT, '--from-block', '0')
  expect([code, stderr]).toEqual([2, expect.stringContaining('another run has written it meanwhile')])
  expect([read(evidence).toString(), readdirSync(folder)]).toEqual(['of another run\n', [evidence]])
})

describe('a check', () => {
  const range = ['--from-block', '130']
  async function searched() {
    const started = start()
    const { code, stdout } = await started.logs(...EVENT, ...range)
    expect(code).toBe(0)
    const check = (...more: string[]) =>
      started.logs(...EVENT, ...range, '--check', '--l1-block-hash', hashIn(stdout), ...more)
    const rows = started.read().toString().trimEnd().split('\n')
    const [bundle = '', ...blocks] = started.read(started.evidence).toString().trimEnd().split('\n')
    return { ...started, check, rows, bundle, blocks }
  }
  const changedRow = (row: string) => `${row.slice(0, -1)}${row.endsWith('1') ? '2' : '1'}`
  type Files = { rows: string[]; blocks: string[] }
  const withBlock = (
    blocks: string[],
    index: number,
    change: (block: { receipts: { logs: unknown[] }[]; transactions: unknown[] }) => unknown,
  ) => blocks.with(index, JSON.stringify(change(JSON.parse(blocks[index] ?? ''))))
  const cases: [string, (files: Files) => Partial<Files>, RegExp][] = [
    [
      'a changed row',
      ({ rows }) => ({ rows: rows.with(3, changedRow(rows[3] ?? '')) }),
      /line 4 of .*: differs from what is proven[\s\S]*proven +137,/,
    ],
    ['a missing row', ({ rows }) => ({ rows: rows.toSpliced(3, 1) }), /line 4 of .*: differs/],
    ['a row twice', ({ rows }) => ({ rows: [...rows, rows[10] ?? ''] }), /: follows the last row/],
    [
      'swapped rows',
      ({ rows }) => ({ rows: rows.with(3, rows[4] ?? '').with(4, rows[3] ?? '') }),
      /line 4 of .*: differs/,
    ],
    ['another heading', ({ rows }) => ({ rows: rows.with(0, 'a,b') }), /line 1 of .*: differs/],
    [
      'a missing block',
      ({ blocks }) => ({ blocks: blocks.toSpliced(4, 1) }),
      /Refused: HEADER_HASH_MISMATCH[\s\S]*at +header/,
    ],
    [
      'missing last blocks',
      ({ blocks }) => ({ blocks: blocks.slice(0, 8) }),
      /the file ends without proof of \d+ of the blocks asked for/,
    ],
    [
      'a block more',
      ({ blocks }) => ({ blocks: [...blocks, blocks[9] ?? ''] }),
      /it proves none of the blocks asked for/,
    ],
    ['no JSON', ({ blocks }) => ({ blocks: blocks.with(2, '{') }), /: not JSON/],
    [
      'a log less in block and rows',
      ({ rows, blocks }) => ({
        rows: rows.toSpliced(2, 1),
        blocks: withBlock(blocks, 1, block => ({
          ...block,
          receipts: block.receipts.map(receipt => ({ ...receipt, logs: [] })),
        })),
      }),
      /Refused: RECEIPTS_ROOT_MISMATCH[\s\S]*at +receipts/,
    ],
    [
      'a block left at its header',
      ({ rows, blocks }) => ({
        rows: rows.toSpliced(2, 1),
        blocks: withBlock(blocks, 1, ({ receipts: _, transactions: __, ...rest }) => rest),
      }),
      /Refused: LOGS_CONTENT_MISSING[\s\S]*at +receipts/,
    ],
  ]

  it('finds everything that is changed', async () => {
    const { check, rows, bundle, blocks, file, evidence } = await searched()
    for (const [name, change, words] of cases) {
      const changed = { rows, blocks, ...change({ rows, blocks }) }
      writeFileSync(file('rows.csv'), `${changed.rows.join('\n')}\n`)
      // The evidence may be packed.
      writeFileSync(file(evidence), gzipSync(`${[bundle, ...changed.blocks].join('\n')}\n`))
      const { code, stdout } = await check()
      expect(stdout, name).toMatch(words)
      expect(stdout, name).toContain('Refused: ')
      expect(code, name).toBe(1)
      const json = JSON.parse((await check('--json')).stdout)
      expect(json, name).toMatchObject({ verdict: 'refused', line: expect.any(Number) })
    }
  })

  it('believes neither the bundle nor another L1 block', async () => {
    const { check, logs, file, evidence, bundle, blocks } = await searched()
    const other = await logs(...EVENT, ...range, '--check', '--l1-block-hash', TRANSFER)
    expect(other).toMatchObject({ code: 1, stdout: expect.stringContaining('HEADER_HASH_MISMATCH') })
    expect((await check('--l2-block', '139')).code).toBe(1)
    const shorter = await check('--to-block', '138')
    expect([shorter.code, shorter.stdout]).toEqual([
      1,
      expect.stringMatching(
        /EVIDENCE_KEYS_MISMATCH[\s\S]*expected +the hash of block 138, for a range to block 138\n +found +that of block 139\n[\s\S]*line 1 of /,
      ),
    ])
    const forged = JSON.stringify({ ...JSON.parse(bundle), answer: {} })
    writeFileSync(file(evidence), `${[forged, ...blocks].join('\n')}\n`)
    const json = await check('--json')
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({
      verdict: 'refused',
      line: 1,
      error: { code: 'MALFORMED_RESPONSE' },
    })
    writeFileSync(file(evidence), '')
    expect((await check()).stdout).toMatch(/EVIDENCE_MALFORMED[\s\S]*line 1 of /)
  })
})

describe('a lie', () => {
  const change = (method: string, work: (result: never) => unknown) => (request: FaultRequest) =>
    request.method === method && request.endpoint === 'l2' ? ({ kind: 'lie', change: work } as Fault) : undefined
  it.each([
    [
      'a log left out',
      change('eth_getBlockReceipts', (receipts: object[]) => receipts.map(receipt => ({ ...receipt, logs: [] }))),
      'RECEIPTS_ROOT_MISMATCH',
    ],
    [
      'another header',
      change('eth_getBlockByNumber', (block: object) => ({ ...block, gasUsed: '0x1' })),
      'HEADER_HASH_MISMATCH',
    ],
    [
      'another state',
      change('rollup_getProof', (answer: object) =>
        JSON.parse(JSON.stringify(answer).replace(/"value":"0x(..)/, '"value":"0x7f')),
      ),
      '[A-Z_]+',
    ],
  ] as const)('is refused: %s', async (_, lie, code) => {
    const { logs, folder } = start()
    faults = lie as never
    const outcome = await logs(...EVENT, '--from-block', '138')
    expect(outcome).toMatchObject({ code: 1, stdout: expect.stringMatching(code) })
    expect(readdirSync(folder).filter(name => name.endsWith('.json'))).toEqual([])
  })
})

it('says of a bundle without a filter that nobody stated one, as verify does', async () => {
  const { logs, file, common } = start('logs.json')
  const { stdout } = await logs('--from-block', '133', '--to-block', '134')
  expect(stdout).toMatch(/contracts +any +the default, not stated by you\n/)
  const hash = ['--l1-block-hash', hashIn(stdout)]
  const verified = await runHere(['verify', file('logs.json'), ...common, ...hash])
  expect(verified.stdout).toMatch(/contracts +any +from the bundle, not stated by you\n/)
  const stated = await logs('--from-block', '133', '--address', TOKEN, '--force')
  expect(stated.stdout).toMatch(/contracts +0x\w+ +stated by you\n/)
})

it('records one bundle, which verify, inspect and the library read', async () => {
  const { logs, file, common, read } = start('logs.json')
  const wanted = [...EVENT, '--from-block', '133', '--to-block', '134']
  const { code, stdout } = await logs(...wanted)
  expect(code).toBe(0)
  expect(stdout).toContain(
    'Consistent: nobody has confirmed the L1 block hash. If it is right, these blocks have exactly 2 logs that the filter selects.',
  )
  const bundle = JSON.parse(read().toString())
  const [, l1BlockHash = ''] = /--l1-block-hash (0x[0-9a-f]{64})/.exec(stdout) ?? []
  const left = {
    l2BlockNumber: 'fromBundle',
    fromBlock: 'fromBundle',
    toBlock: 'fromBundle',
    filter: 'fromBundle',
  } as const
  const trusted = { l1BlockHash: l1BlockHash as Hex }
  expect(
    verifyEvidence(bundle, { kind: logsEvidence, scheme: poseidon2, rollup: ROLLUP, trusted, ...left }).logs.length,
  ).toBe(2)
  const verify = (...more: string[]) =>
    runHere(['verify', file('logs.json'), ...common, '--l1-block-hash', l1BlockHash, ...more])

  const [, printed = ''] = /npx rollup-state-proof (verify .*)/.exec(stdout) ?? []
  const stated = await runHere(printed.split(' '))
  expect(stated.code).toBe(0)
  expect(stated.stdout).not.toContain('from the bundle, not stated by you')
  const unstated = await runHere([
    'verify',
    file('logs.json'),
    ...networkOf(ROLLUP.address),
    '--l1-block-hash',
    l1BlockHash,
  ])
  expect(unstated.stdout).toMatch(/from block +133 +from the bundle, not stated by you/)
  const json = JSON.parse((await verify('--json', '--from-block', '133')).stdout)
  expect(json).toMatchObject({
    verdict: 'verified',
    sources: { fromBlock: 'user', toBlock: 'bundle', filter: 'bundle', scheme: 'lengths' },
  })
  expect(json.logs.map(({ blockNumber }: { blockNumber: string }) => blockNumber)).toEqual(['133', '134'])
  const other = await verify('--to-block', '135')
  expect(other).toMatchObject({ code: 1, stdout: expect.stringContaining('LOGS_MISMATCH') })
  expect((await verify('--address', TOKEN, '--address', ROLLUP.address)).code).toBe(1)
  for (const option of ['--storage-key', '--message', '--sender']) {
    const { code, stderr } = await verify(option, option === '--sender' ? TOKEN : TRANSFER)
    expect({ code, stderr }, option).toMatchObject({ code: 2, stderr: expect.stringContaining(`leave out ${option}`) })
  }

  expect((await runHere(['inspect', file('logs.json')])).stdout).toMatch(/logs as evidence[\s\S]*fromBlock +133/)
  expect(await logs(...wanted)).toMatchObject({ code: 2, stderr: expect.stringContaining('would be replaced') })
  const open = await logs('--from-block', '139', '-o', '-')
  expect(open.stdout).toContain('"kind":"logs"')
  expect(open.stderr).toMatch(/from block +139 +stated by you\n *to block +139 +the default, not stated by you/)
  expect((await runHere(['audit', file('logs.json'), '--json'])).stdout).toContain(
    'logs as evidence: an audit takes evidence of state only, so use the command verify',
  )
})

it.each<[string, readonly string[], string]>([
  ['no range', ['--address', TOKEN], '--from-block is needed: the first block of the range'],
  ['a range backwards', ['--from-block', '9', '--to-block', '8'], '--to-block: it is before --from-block'],
  [
    'a short address',
    ['--from-block', '9', '--address', '0x12'],
    '--address: expected 0x-prefixed hexadecimal of 20 bytes',
  ],
  [
    'an event as a topic',
    ['--from-block', '9', '--topic', 'Transfer(address)'],
    'For the signature of an event, use --event.',
  ],
  [
    'a topic as an event',
    ['--from-block', '9', '--event', TRANSFER],
    "--event: expected a signature such as 'Transfer(",
  ],
  ['a tuple', ['--from-block', '9', '--event', 'A((uint256,bool))'], 'pass the hash of its signature with --topic'],
  ['no such type', ['--from-block', '9', '--event', 'A(uint257)'], 'no such type: uint257'],
  [
    'too many topics',
    ['--from-block', '9', '--event', 'A()', ...Array(4).fill(['--topic', 'any']).flat()],
    'at most four topics',
  ],
  ['a check of a bundle', ['--from-block', '9', '-o', 'x.json', '--check'], 'check it with the command verify'],
  ['a check without trust', ['--from-block', '9', '--check'], '--check needs --l1-block-hash or --checkpoint'],
  ['a check by force', ['--from-block', '9', '--check', '--force', '--l1-block-hash', TRANSFER], 'leave out --force'],
  ['a range after the state', ['--from-block', '140'], '--from-block: the newest block that can be proven is 139'],
])('says what is wrong: %s', async (_, options, words) => {
  const { logs, folder } = start()
  const { code, stderr } = await logs(...options)
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(words) })
  expect(readdirSync(folder)).toEqual([])
})

it.each(['csv', 'bundle'])('says which block is the newest for a range that ends after it: %s', async format => {
  const { logs, folder } = start(format === 'csv' ? 'rows.csv' : 'logs.json')
  const { code, stderr } = await logs('--from-block', '1', '--to-block', '140')
  const words = 'the newest block that can be proven is 139'
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`--to-block: ${words}`) })
  expect(readdirSync(folder)).toEqual([])
})

it('understands events as people write them', () => {
  const filter = (...args: string[]) => filterOf(parseOptions(args, filterOptions).values)
  const topicOf = (event: string) => filter('--event', event).topics[0]?.[0]
  for (const event of [
    ...[
      'Transfer(address,address,uint256)',
      'Transfer(address, address, uint)',
      ' Transfer( address,address , uint256 ) ',
    ],
    'event Transfer(address indexed from, address indexed to, uint256 value);',
  ]) {
    expect(topicOf(event), event).toBe(TRANSFER)
  }
  // keccak256 of these signatures, as contracts on mainnet use them.
  expect(topicOf('Paused(address account)')).toBe('0x62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258')
  expect(topicOf('Sync(uint112 a, uint112 b)')).toBe(
    '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  )
  for (const wrong of [
    'A(uint7)',
    'A(uint08)',
    'A(bytes33)',
    'A(address1)',
    'A(x)',
    'A(bytes0)',
    'A(uint[[])',
    'A',
    'A(',
    '(a)',
    '1(address)',
  ]) {
    expect(() => topicOf(wrong), wrong).toThrow('--event')
  }
  for (const right of ['A()', 'A(int[])', 'A(bytes32[2][])', 'A(string,bytes,bool)'])
    expect(topicOf(right)).toHaveLength(66)
  const [address, topic] = [TOKEN, `0x${'AB'.repeat(32)}`]
  expect(filter('--address', address, '--topic', 'any', '--topic', `${address},${topic}`)).toEqual({
    address: [address],
    topics: [[], [`0x${'00'.repeat(12)}${'70'.repeat(20)}`, topic.toLowerCase()]],
  })
  expect(() => filter('--topic', Array(1025).fill(topic).join())).toThrow('--topic: at most 1024 for one place')
  expect(() => filter(...Array(1025).fill(['--address', address]).flat())).toThrow('--address: at most 1024')
})
