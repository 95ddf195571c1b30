import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { folderOf } from '../cli/io.ts'
import { PACKAGE } from './build.ts'

const rollup = { address: '0x00000000000000000000000000000000000011ff', chainId: 1337 } as const
const address = `0x${'b2'.repeat(20)}`

const CALL = JSON.parse(readFileSync('vectors/calls/valid/balance-behind-proxy.json', 'utf8'))

const program = (l1: string, l2: string) => `
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createVerifiedProvider, isProviderError, verifyCallEvidence } from 'rollup-state-proof/provider'
import { finalizedBlockHash } from 'rollup-state-proof/rpc'

const [l1, l2] = ${JSON.stringify([l1, l2])}
const network = { rollup: ${JSON.stringify(rollup)}, scheme: poseidon2 }
const about = { l1, l2, network, l1BlockHash: finalizedBlockHash(l1) }
const provider = createVerifiedProvider(about)
console.log(await provider.request({ method: 'eth_getBalance', params: ['${address}', 'latest'] }))
const called = provider.request({ method: 'eth_call', params: [{ to: '${address}' }, 'latest'] })
const refusal = error => isProviderError(error) ? error.reason + ': ' + error.message : error.code
console.log(await called.catch(refusal))
const { bundle, claim } = ${JSON.stringify(CALL)}
const stated = { scheme: poseidon2, rollup: claim.rollup, trusted: claim.trusted, l2BlockNumber: BigInt(claim.l2BlockNumber) }
const unstated = { chainId: 1337n, hardfork: 'fromBundle', call: 'fromBundle' }
console.log(await verifyCallEvidence(bundle, { ...stated, ...unstated }).catch(refusal))
`

/** The library and its dependencies, without the optional ones. */
function installWithoutEvm(): string {
  const folder = folderOf({})
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@ethereumjs'), { recursive: true })
  cpSync(PACKAGE, join(modules, 'rollup-state-proof'), { recursive: true })
  for (const name of ['@noble', '@ethereumjs/rlp']) symlinkSync(resolve('node_modules', name), join(modules, name))
  return folder
}

it('says at each call how to install the EVM, and proves the rest', async () => {
  const service = createService({ genesis: demoWorld(poseidon2), rollup })
  addDemoBlocks(service.chain)
  const { url, l1Url } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const cwd = installWithoutEvm()
  writeFileSync(join(cwd, 'program.mjs'), program(l1Url, url))
  const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd })
  const [balance, refusal, ofEvidence] = stdout.split('\n')
  // It is no fault of the bundle.
  expect(ofEvidence).toBe(refusal)
  expect(balance).toBe('0xd')
  expect(refusal).toMatch(
    /^EVM_MISSING: .*`npm install @ethereumjs\/common@10\.1 @ethereumjs\/evm@10\.1 @ethereumjs\/util@10\.1`/,
  )
})
