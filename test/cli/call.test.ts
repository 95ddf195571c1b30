import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { folderOf, networkFile, networkOf, runHere } from './io.ts'

const ROLLUP = '0x00000000000000000000000000000000000011ff'
const [ALICE, BOB, TOKEN] = ['a1', 'b2', '70'].map(byte => `0x${byte.repeat(20)}`) as [string, string, string]
const BALANCE = `0x70a08231${'0'.repeat(24)}${BOB.slice(2)}`
const STATED = networkOf(ROLLUP)

/** A loop without an end. */
const LOOP = `0x${'1c'.repeat(20)}` as const
const genesis = demoWorld(poseidon2)
genesis.setAccount(LOOP, { nonce: 1n, code: '0x5b5f56' })
const service = createService({ genesis, rollup: { address: ROLLUP } })
let endpoints: string[]
let beaconUrl: string
beforeAll(async () => {
  addDemoBlocks(service.chain)
  const urls = await service.listen()
  endpoints = ['--l1', urls.l1Url, '--l2', urls.url]
  beaconUrl = urls.beaconUrl
  return () => service.close({ graceMs: 0 })
})

it('records a call, and verifies it offline', async () => {
  const file = join(folderOf(), 'call.json')
  const record = ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN, BALANCE, '--sender', ALICE, '-o', file]
  const recorded = await runHere(record)
  expect(recorded).toMatchObject({ code: 0 })
  expect(recorded.stdout).toContain(
    'Consistent: nobody has confirmed the L1 block hash. If it is right, the call returned.',
  )
  expect(recorded.stdout).toMatch(/^ *to .*stated by you$/m)
  expect(recorded.stdout).toMatch(/^ *value .*the default, not stated by you$/m)
  const line = recorded.stdout.split('\n').find(line => line.includes('npx rollup-state-proof verify')) ?? ''
  const args = line.trim().split(' ').slice(2)
  expect(await runHere(args)).toMatchObject({ code: 0 })
  const { code, stdout } = await runHere([...args, '--json'])
  const { verdict, returnData, trustedInput, call, sources } = JSON.parse(stdout)
  expect(sources).toEqual({
    ...{ trusted: 'user', scheme: 'lengths', rollup: 'user', l2BlockNumber: 'user' },
    ...{ from: 'user', to: 'user', data: 'user', value: 'user', gas: 'user' },
  })
  expect([code, verdict, trustedInput, call.to, call.from]).toEqual([0, 'verified', 'l1BlockHash', TOKEN, ALICE])
  expect(BigInt(returnData)).toBeGreaterThan(0n)

  const wrong = await runHere(args.map(arg => (arg === BALANCE ? '0x313ce567' : arg)))
  expect(wrong).toMatchObject({ code: 1 })
  expect(wrong.stdout).toContain('CALL_MISMATCH')
  const inspected = await runHere(['inspect', file])
  expect(inspected).toMatchObject({ code: 0 })
  expect(inspected.stdout).toContain('call as evidence')
  expect(inspected.stdout).toContain(BALANCE)

  const bundle = JSON.parse(readFileSync(file, 'utf8'))
  const folder = folderOf({ 'forged.json': { ...bundle, codes: [] } })
  const forged = await runHere(args.map(arg => (arg === file ? join(folder, 'forged.json') : arg)).concat('--json'))
  expect(forged.code).toBe(1)
  expect(JSON.parse(forged.stdout)).toMatchObject({ verdict: 'refused', error: { code: 'CALL_STATE_MISSING' } })
})

it('records a call from a beacon checkpoint, and verifies it from there', async () => {
  const file = join(folderOf(), 'call.json')
  const ANY_AGE = ['--checkpoint-max-age', '4000000000']
  const checkpoint = ['--checkpoint', `${await service.beacon.blockRoot(60n)}`]
  const record = [
    'record',
    'call',
    ...endpoints,
    ...networkOf(ROLLUP, { beacon: service.beacon.network }),
    '--call',
    TOKEN,
    BALANCE,
    '-o',
    file,
    ...checkpoint,
    ...ANY_AGE,
  ]
  const recorded = await runHere([...record, '--beacon', 'http://127.0.0.1:1', '--beacon', beaconUrl])
  expect(recorded).toMatchObject({ code: 0 })
  expect(recorded.stderr).toContain('beacon endpoint 1 failed (UNREACHABLE); asking another\n')
  expect(recorded.stdout).toContain('Everything rests on the beacon block that you stated')
  const line = recorded.stdout.split('\n').find(line => line.includes('npx rollup-state-proof verify')) ?? ''
  const args = line.trim().split(' ').slice(2)
  expect(args).toContain('--checkpoint')
  const verified = await runHere(args)
  expect(verified).toMatchObject({ code: 0 })
  for (const text of ['the call returned', 'trusted beacon block', 'of 512', 'L2 block time']) {
    expect(verified.stdout).toContain(text)
  }
  expect(JSON.parse((await runHere([...args, '--json'])).stdout)).toMatchObject({
    ...{
      verdict: 'verified',
      trustedInput: 'beaconBlockRoot',
      beaconBlock: { trustedBlockRoot: checkpoint[1] },
    },
  })
  const other = args.map(arg => (arg === checkpoint[1] ? `0x${'11'.repeat(32)}` : arg))
  const refused = await runHere(other)
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('BEACON_ROOT_MISMATCH')])
  expect((await runHere([...record, '--force'])).stderr).toContain('--beacon is needed: ')
  expect((await runHere([...record, '--l1-block', '5'])).stderr).toContain(
    '--l1-block and --checkpoint exclude each other',
  )
})

it('ends a call at the deadline', async () => {
  const folder = folderOf()
  const file = join(folder, 'call.json')
  // With this gas, the loop ends soon.
  const call = ['--call', LOOP, '0x', '--gas', '100000']
  const recorded = await runHere(['record', 'call', ...endpoints, ...STATED, ...call, '-o', file])
  expect(recorded.stdout).toContain(
    'Consistent: nobody has confirmed the L1 block hash. If it is right, the call failed.',
  )
  const hash = /--l1-block-hash (0x[0-9a-f]{64})/.exec(recorded.stdout)?.[1] ?? ''
  const bundle = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...bundle, call: { ...bundle.call, gas: '0x2faf080' } }))
  const verify = ['verify', file, ...STATED, '--l1-block-hash', hash, '--timeout', '1']
  const { code, stderr } = await runHere(verify)
  expect([code, stderr]).toEqual([2, expect.stringContaining('(--timeout SECONDS)')])
})

it('refuses an L1 block with a hash other than the stated one', async () => {
  const record = [
    'record',
    'call',
    ...endpoints,
    ...STATED,
    '--call',
    TOKEN,
    BALANCE,
    '-o',
    join(folderOf(), 'call.json'),
  ]
  const refused = await runHere([...record, '--l1-block-hash', `0x${'11'.repeat(32)}`])
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('HEADER_HASH_MISMATCH')])
})

it('says that there is no code at the address of a call', async () => {
  const file = join(folderOf(), 'call.json')
  const nowhere = `0x${'12'.repeat(20)}`
  for (const [to, hasCode] of [
    [BOB, false],
    [nowhere, false],
    [TOKEN, true],
  ] as const) {
    const record = ['record', 'call', ...endpoints, ...STATED, '--call', to, BALANCE, '-o', file, '--force']
    const { stdout } = await runHere(record)
    const args = (stdout.split('\n').find(line => line.includes('npx')) ?? '').trim().split(' ').slice(2)
    const verified = await runHere(args)
    expect([verified.code, verified.stdout.includes('returned nothing, and there is no code at this address')]).toEqual(
      [0, !hasCode],
    )
    expect(JSON.parse((await runHere([...args, '--json'])).stdout)).toMatchObject({ verdict: 'verified', hasCode })
  }
})

it('records a reverted call, and refuses malformed data', async () => {
  const folder = folderOf()
  const data = `0xa9059cbb${'0'.repeat(24)}${BOB.slice(2)}${'f'.repeat(64)}`
  const record = (...more: string[]) =>
    runHere(['record', 'call', ...endpoints, ...STATED, '-o', join(folder, `${more.length}.json`), ...more])
  const reverted = await record('--call', TOKEN, data)
  expect(reverted).toMatchObject({ code: 0 })
  expect(reverted.stdout).toContain(
    'Consistent: nobody has confirmed the L1 block hash. If it is right, the call reverted.',
  )
  // Data with an odd number of digits.
  expect(await record('--call', TOKEN, '0x1', '--json')).toMatchObject({ code: 2 })
})

it('names the option whose value the library refuses', async () => {
  const output = join(folderOf(), 'call.json')
  const record = ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN, '0x', '-o', output]
  const proxy = ['proxy', ...endpoints, ...STATED]
  const address = ROLLUP
  const without = networkFile({ rollup: { address } })
  const frontier = networkFile({ rollup: { address }, hardfork: 'frontier' })
  const short = networkFile({ rollup: { address: '0x12' } })
  const cases: [args: string[], message: string][] = [
    [[...record, '--gas', '50000001'], '--gas: expected'],
    [[...record, '--environment', 'coinbase=0x1'], '--environment coinbase: expected'],
    [record.with(record.indexOf('--network') + 1, without), '--network: expected the chain id of the rollup'],
    [record.with(record.indexOf('--network') + 1, frontier), `${frontier}: hardfork: expected one of`],
    [[...record, '--timeout', '0'], '--timeout: expected 1 to 86400'],
    [[...proxy, '--timeout', '0'], '--timeout: expected 1 to 86400'],
    [[...proxy, '--forward', 'eth_call'], '--forward'],
    [[...proxy, '--gas', '1'], '--gas: expected'],
    [[...proxy, '--environment', 'coinbase=0x1'], '--environment coinbase: expected'],
    [proxy.with(proxy.indexOf('--network') + 1, without), '--network: expected the chain id of the rollup'],
    [proxy.with(proxy.indexOf('--network') + 1, short), `${short}: rollup.address: expected`],
  ]
  for (const [args, message] of cases) {
    const { code, stderr } = await runHere(args)
    expect([code, stderr], args.join(' ')).toEqual([2, expect.stringContaining(`rollup-state-proof: ${message}`)])
  }
  expect(cases.length).toBe(11)
})

it('refuses incompatible options', async () => {
  const folder = folderOf({ 'answer.json': { accountProof: {} } })
  const cases = [
    ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN],
    ['record', 'call', ...endpoints, ...STATED, '--call', 'token', '0x'],
    ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN, '0x', '--call', TOKEN, '0x'],
    ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN, '0x', '--address', TOKEN, '-o', '-'],
    ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN, '0x', '--value', 'x', '-o', '-'],
    ['record', 'call', ...endpoints, ...STATED, '--call', TOKEN, '0x', '--sender', '0x1', '-o', join(folder, 'x.json')],
    ['verify', join(folder, 'answer.json'), '--call', TOKEN, '0x'],
  ]
  for (const args of cases) expect((await runHere(args)).code, args.join(' ')).toBe(2)
  expect(cases.length).toBe(7)
})
