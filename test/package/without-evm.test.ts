import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, onTestFinished } from 'vitest'
import { DEMO_SIGNERS } from '../../src/devnet/service/demo-transfer.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { addDemoBlocks, demoWorld } from '../../src/entry/service/demo.ts'
import { createService } from '../../src/entry/service.ts'
import { folderOf } from '../cli/io.ts'
import { startProxyProcess } from '../cli/proxy-process.ts'
import { PACKAGE } from './build.ts'

const rollup = '0x00000000000000000000000000000000000011ff'
const COMMAND = 'npm install @ethereumjs/common @ethereumjs/evm @ethereumjs/util'

/** The package and its dependencies, without the optional ones. @returns the command */
function installWithoutEvm(): string {
  const folder = folderOf({})
  cpSync(PACKAGE, join(folder, 'rollup-state-proof'), { recursive: true })
  mkdirSync(join(folder, 'node_modules/@ethereumjs'), { recursive: true })
  for (const name of ['@noble', '@ethereumjs/rlp', 'tinypool']) {
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  }
  return join(folder, 'rollup-state-proof/dist/cli/main.js')
}

it('says at the start of the proxy and at each call how to install the EVM, and proves the rest', async () => {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: { address: rollup } })
  addDemoBlocks(service.chain)
  const { url, l1Url } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const network = ['--l1', l1Url, '--l1-agree', l1Url, '--l2', url, '--rollup', rollup, '--chain-id', '1337']
  const args = [...network, '--scheme', 'poseidon2', '--port', '0']
  const proxy = await startProxyProcess([installWithoutEvm()], args, program => {
    onTestFinished(() => void program.kill('SIGKILL'))
  })
  expect(proxy.events[0]).toMatchObject({ event: 'listening', missing: expect.stringContaining(COMMAND) })

  const address = `0x${'b2'.repeat(20)}`
  const ask = async (method: string, param: unknown) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [param, 'latest'] })
    const headers = { 'Content-Type': 'application/json' }
    return (await fetch(proxy.url, { method: 'POST', headers, body })).json()
  }
  expect(await ask('eth_getBalance', address)).toMatchObject({ result: '0xd' })
  const error = { message: expect.stringContaining(COMMAND), data: { reason: 'EVM_MISSING' } }
  expect(await ask('eth_call', { to: address })).toMatchObject({ error })
})

it('executes transfers without the EVM, and says how to install it for contracts', async () => {
  const args = [installWithoutEvm(), 'serve', '--port', '0', '--json']
  const program = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void program.kill('SIGKILL'))
  const [line] = await once(createInterface(program.stdout), 'line')
  const wallet = createWalletClient({
    ...{ account: privateKeyToAccount(DEMO_SIGNERS[0].key), transport: http(JSON.parse(line).l2, { retryCount: 0 }) },
  })
  const request = { chain: null, value: 0n, gas: 100_000n, data: '0x00' } as const
  expect(await wallet.sendTransaction({ ...request, to: `0x${'b2'.repeat(20)}` })).toMatch(/^0x/)
  await expect(wallet.sendTransaction({ ...request, to: `0x${'70'.repeat(20)}` })).rejects.toThrow(COMMAND)
})
