import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, onTestFinished } from 'vitest'
import { DEMO_SIGNERS } from '../../src/devnet/service/demo-transfer.ts'
import { lineaMessageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createHttpProvider, createRollupClient } from '../../src/entry/rpc.ts'
import { PROGRAM } from '../package/build.ts'
import { folderOf, networkFile, runHere } from './io.ts'

it('serves the demo state until it is terminated', async () => {
  const program = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'])
  onTestFinished(() => void program.kill('SIGKILL'))
  const ended = new Promise(resolve => program.on('close', resolve))
  let printed = ''
  for await (const chunk of program.stdout) {
    printed += chunk
    if (/state root.*0x[0-9a-f]{64}/.test(printed)) break
  }
  const url = /L2 +(\S+)/.exec(printed)?.[1] ?? ''
  const stateRoot = /0x[0-9a-f]{64}/.exec(printed)?.[0] as `0x${string}`
  const request = { scheme: poseidon2, stateRoot, address: `0x${'b2'.repeat(20)}`, l2BlockNumber: 8n } as const
  const { account } = await createRollupClient(createHttpProvider(url)).getVerifiedState(request)
  expect(account?.balance).toBe(13n)

  // What is sent is in a block at once, and finalized soon.
  const wallet = createWalletClient({ account: privateKeyToAccount(DEMO_SIGNERS[0].key), transport: http(url) })
  const viem = createPublicClient({ transport: http(url), pollingInterval: 100 })
  const hash = await wallet.sendTransaction({ chain: null, to: request.address, value: 2n, gas: 21_000n })
  expect(await viem.waitForTransactionReceipt({ hash })).toMatchObject({ blockNumber: 9n, status: 'success' })
  while ((await viem.getBlock({ blockTag: 'finalized' })).number < 9n) await new Promise(next => setTimeout(next, 50))
  expect(await viem.getBalance({ address: request.address, blockTag: 'finalized' })).toBe(15n)
  program.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it('prints what it serves, and every finalization, as JSON', async () => {
  const program = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--finalize-every', '2', '--json'])
  onTestFinished(() => void program.kill('SIGKILL'))
  const printed: unknown[] = []
  for await (const line of createInterface(program.stdout)) {
    if (printed.push(JSON.parse(line)) === 2) break
  }
  const finalized = (l2BlockNumber: string) => ({ l2BlockNumber, stateRoot: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  expect(printed).toEqual([
    {
      ...{ l2: expect.any(String), l1: expect.any(String), beacon: expect.any(String), finalized: finalized('8') },
      network: {
        ...{ name: 'linea', scheme: 'poseidon2', messageService: lineaMessageService },
        ...{ rollup: expect.objectContaining({ chainId: 59_144 }), beacon: expect.any(Object) },
      },
    },
    { finalized: finalized('10') },
  ])
})

it('serves the beacon chain of the network, from which everything is proven', async () => {
  const program = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--finalize-every', '3600', '--json'])
  onTestFinished(() => void program.kill('SIGKILL'))
  const [line] = await once(createInterface(program.stdout), 'line')
  const { l1, l2, beacon } = JSON.parse(line)
  const { data } = Object(await (await fetch(`${beacon}/eth/v1/beacon/blocks/finalized/root`)).json())
  const file = join(folderOf(), 'bundle.json')
  const claim = ['--address', `0x${'b2'.repeat(20)}`, '--checkpoint', data.root]
  const recorded = await runHere(['record', 'state', '--l1', l1, '--l2', l2, '--beacon', beacon, ...claim, '-o', file])
  expect(recorded.code, recorded.stderr).toBe(0)
  const verified = await runHere(['verify', file, ...claim, '--l2-block', '8', '--json'])
  expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: 'verified' })
})

it('upgrades the contract before the block that is stated', async () => {
  const program = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--upgrade-at', '5', '--json'])
  onTestFinished(() => void program.kill('SIGKILL'))
  for await (const line of createInterface(program.stdout)) {
    const { l2, finalized } = JSON.parse(line)
    expect(finalized).toMatchObject({ l2BlockNumber: '8', blockHash: expect.any(String) })
    const viem = createPublicClient({ transport: http(l2) })
    const { hash, stateRoot } = await viem.getBlock({ blockNumber: 8n })
    expect(finalized).toEqual({ l2BlockNumber: '8', blockHash: hash, stateRoot })
    const address = `0x${'b2'.repeat(20)}` as const
    const asked = { address, storageKeys: [], l2BlockNumber: 8n, scheme: 'ethereum', stateRoot } as const
    const { account } = await createRollupClient(l2).getVerifiedState(asked)
    expect(account?.balance).toBe(13n)
    break
  }
})

it('names the option that chooses another port if its own is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await runHere(['serve', '--port', `${port}`])
  expect(code).toBe(2)
  expect(stderr).toContain('choose another port with --port')
})

it('refuses wrong options', async () => {
  for (const args of [
    ['--port', 'x'],
    ['--port', '70000'],
    ['--network', 'x'],
    ['--network', networkFile({ rollup: { address: '0x00' } })],
    ['--history', '0'],
    // More blocks than seconds: their time would run ahead of the clock.
    ['--finalize-every', '1'],
  ]) {
    expect((await runHere(['serve', ...args])).code, args.join(' ')).toBe(2)
  }
})
