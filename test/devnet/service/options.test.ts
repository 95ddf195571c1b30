import { expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld, type Service } from '../../../src/devnet/index.ts'
import { lineaRollup } from '../../../src/entry/anchor.ts'
import { isArgumentError } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { ROLLUP, word } from '../../client/servers.ts'
import { askRpc } from './ask.ts'

const genesis = demoWorld(poseidon2)

/** The path of the mistake that a call is refused for. */
const mistakeIn = (call: () => unknown): string => {
  try {
    call()
  } catch (error) {
    if (isArgumentError(error)) return error.path
    throw error
  }
  return 'none'
}

it('refuses options that are misspelt, missing or wrong', () => {
  const right = { genesis, rollup: ROLLUP }
  const cases: [string, unknown][] = [
    ['', undefined],
    ['', null],
    ['', []],
    ['publicRate', { ...right, publicRate: 1 }],
    ['prooflag', { ...right, prooflag: 1 }],
    ['port', { ...right, port: 8545 }],
    ['genesis', { rollup: ROLLUP }],
    ['genesis', { ...right, genesis: { alloc: {} } }],
    ['rollup', { genesis }],
    ['rollup', { genesis, rollup: ROLLUP.address }],
    ['rollup.address', { genesis, rollup: {} }],
    ['rollup.address', { genesis, rollup: { address: '0x11' } }],
    ['rollup.chainid', { genesis, rollup: { ...ROLLUP, chainid: 1 } }],
    ...['chainId', 'l1ChainId'].flatMap(name =>
      [0, 0n, -1, 1.5, '1', 2 ** 60, 1n << 256n, null].map((id): [string, unknown] => [name, { ...right, [name]: id }]),
    ),
    ['keep', { ...right, keep: 0 }],
    ...['keep', 'proofLag', 'l1Unfinalized', 'l1History'].flatMap(name =>
      [-1, 0.5, 1n, '1', Number.NaN].map((count): [string, unknown] => [name, { ...right, [name]: count }]),
    ),
    ['apiKeys', { ...right, apiKeys: 'key' }],
    ['apiKeys[0]', { ...right, apiKeys: [1] }],
    ['contractVersion', { ...right, contractVersion: 10 }],
    ['upgradeAt', { ...right, upgradeAt: 1n, contractVersion: 9 }],
    ...[0n, -1n, 5, '5', 1n << 64n].map((upgradeAt): [string, unknown] => ['upgradeAt', { ...right, upgradeAt }]),
    ...['faults', 'clock'].map((name): [string, unknown] => [name, { ...right, [name]: {} }]),
  ]
  for (const [path, options] of cases) {
    expect([mistakeIn(() => createService(options as never)), options]).toEqual([path, options])
  }
  expect(cases.length).toBe(61)
  const unset = ['chainId', 'apiKeys', 'faults', 'keep', 'clock', 'contractVersion', 'upgradeAt'] as const
  const optional = Object.fromEntries(unset.map(name => [name, undefined]))
  expect(createService({ ...right, ...optional }).chain.latest()).toBe(0n)
})

it('takes a chain id as a number or a bigint', async () => {
  for (const options of [
    { rollup: ROLLUP, chainId: 59144, l1ChainId: 1n },
    { rollup: { ...lineaRollup, chainId: 7n }, chainId: 59144n, l1ChainId: 1 },
    { rollup: lineaRollup },
  ]) {
    const service = createService({ genesis, ...options })
    const { url, l1Url } = await service.listen()
    expect(await askRpc(url, 'eth_chainId', [])).toMatchObject({ result: '0xe708' })
    expect(await askRpc(l1Url, 'net_version', [])).toMatchObject({ result: '1' })
    await service.close()
  }
})

it('closes at the end of a block that holds it, and after its grace', async () => {
  const isServing = (url: string) =>
    askRpc(url, 'eth_blockNumber', []).then(
      () => true,
      () => false,
    )
  const start = async (): Promise<{ service: Service; url: string }> => {
    const service = createService({ genesis, rollup: ROLLUP })
    return { service, url: (await service.listen()).url }
  }
  let held = ''
  {
    const { service, url } = await start()
    await using _ = service
    held = url
    expect(await isServing(held)).toBe(true)
  }
  expect(await isServing(held)).toBe(false)

  const { service, url } = await start()
  for (const [path, options] of [
    ['', 0],
    ['grace', { grace: 0 }],
    ['graceMs', { graceMs: -1 }],
    ['graceMs', { graceMs: 2 ** 31 }],
    ['graceMs', { graceMs: 5n }],
  ] as const) {
    await expect(service.close(options as never)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path })
  }
  expect(await isServing(url)).toBe(true)
  await service.close({ graceMs: 0 })
  expect(await isServing(url)).toBe(false)
})

it('refuses a port, an interface or a depth that is none', async () => {
  const service = createService({ genesis, rollup: ROLLUP, l1Unfinalized: 2 })
  for (const [path, ...given] of [
    ['port', -1],
    ['port', 65_536],
    ['port', 1.5],
    ['port', '127.0.0.1', 0],
    ['host', 0, ''],
    ['host', 0, 8545],
  ]) {
    const refused = { code: 'ARGUMENT_INVALID', path }
    await expect(service.listen(...(given as Parameters<Service['listen']>))).rejects.toMatchObject(refused)
  }
  const { l1 } = service.chain
  for (let added = 0; added < 4; added++) l1.addBlock()
  for (const depth of [-1, 0.5, Number.NaN, 1n]) expect(mistakeIn(() => l1.reorganize(depth as number))).toBe('depth')
  expect([l1.reorganize(0), l1.blockNumber()]).toEqual([0, 4n])
  expect([l1.reorganize(9), l1.blockNumber()]).toEqual([2, 5n])
})

it('finalizes any root on L1 that is said to be of a later block', () => {
  const { chain } = createService({ genesis, rollup: ROLLUP })
  const [l2BlockNumber, stateRoot] = [7n, word(1)]
  const cases: [string, unknown][] = [
    ['', 7n],
    ['l2Block', { l2Block: 7n, stateRoot }],
    ['l2BlockNumber', { stateRoot }],
    ['l2BlockNumber', { l2BlockNumber: 7, stateRoot }],
    ['l2BlockNumber', { l2BlockNumber: 1n << 64n, stateRoot }],
    ['l2BlockNumber', { l2BlockNumber: 0n, stateRoot }],
    ['stateRoot', { l2BlockNumber }],
    ['stateRoot', { l2BlockNumber, stateRoot: '0x01' }],
    ['timestamp', { l2BlockNumber, stateRoot, timestamp: 1 }],
  ]
  for (const [path, finalization] of cases) {
    expect([mistakeIn(() => chain.l1.finalize(finalization as never)), finalization]).toEqual([path, finalization])
  }
  expect(chain.l1.blockNumber()).toBe(0n)
  chain.l1.finalize({ l2BlockNumber, stateRoot, timestamp: undefined })
  chain.l1.finalize({ l2BlockNumber: 9n, stateRoot, timestamp: 2n ** 40n })
  expect([chain.finalized(), chain.l1.blockNumber()]).toEqual([9n, 2n])
  expect(chain.l1.getBlock(2n)).toMatchObject({ timestamp: `0x${(2n ** 40n + 1n).toString(16)}` })
  // The chain itself is behind: it has nothing to finalize.
  chain.addBlock()
  chain.finalize()
  expect([chain.finalized(), chain.l1.blockNumber()]).toEqual([9n, 2n])
})

it('adds as many demo blocks as its options say', () => {
  const { chain } = createService({ genesis, rollup: ROLLUP })
  addDemoBlocks(chain)
  expect([chain.finalized(), chain.l1.blockNumber()]).toEqual([8n, 63n])
  addDemoBlocks(chain, { counts: [2], l1Blocks: undefined })
  expect([chain.finalized(), chain.l1.blockNumber()]).toEqual([10n, 84n])
  addDemoBlocks(chain, { counts: [1, 1], l1Blocks: 0 })
  expect([chain.finalized(), chain.l1.blockNumber()]).toEqual([12n, 86n])
  for (const [path, options] of [
    ['', [2]],
    ['l1blocks', { l1blocks: 1 }],
    ['counts', { counts: 2 }],
    ['counts[1]', { counts: [2, -1] }],
    ['l1Blocks', { l1Blocks: 0.5 }],
  ] as const) {
    expect(mistakeIn(() => addDemoBlocks(chain, options as never))).toBe(path)
  }
  expect(chain.latest()).toBe(12n)
})
