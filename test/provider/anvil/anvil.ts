import { execFileSync, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hardfork } from '../../../src/client/network/network.ts'
import type { Hex } from '../../../src/entry/index.ts'
import type { Environment } from '../../../src/provider/options.ts'
import { CHAIN_ID, type FullState } from '../full-state.ts'

/** How a call ended. `refused` means that it did not begin. */
export type Ending = 'returned' | 'reverted' | 'failed' | 'refused'
export interface Traced {
  readonly ending: Ending
  /** What it returned or reverted with. */
  readonly data: Hex
  /** Gas used by the transaction; 0 if it was refused. */
  readonly gas: bigint
  /** Gas used by the first call that it made. */
  readonly innerGas: bigint | undefined
}

const ORACLES = fileURLToPath(new URL('../../oracles/node_modules', import.meta.url))

/** anvil's own program, or why there is none that runs here. */
export function findAnvil(): { readonly path: string; readonly version: string } | { readonly missing: string } {
  try {
    const { resolve } = createRequire(join(ORACLES, '@foundry-rs/anvil/const.mjs'))
    const [platform, arch] = [process.platform, process.arch === 'x64' ? 'amd64' : process.arch]
    const file = platform === 'win32' ? 'anvil.exe' : 'anvil'
    const path = resolve(`@foundry-rs/anvil-${platform}-${arch}/bin/${file}`)
    return { path, version: `${execFileSync(path, ['--version'])}`.split('\n')[0] ?? '' }
  } catch (error) {
    return { missing: `${error}`.split('\n')[0] ?? '' }
  }
}

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** A genesis with the whole state, for `--init`. */
const genesisOf = (state: FullState) => ({
  config: { chainId: Number(CHAIN_ID) },
  ...{
    nonce: '0x0',
    timestamp: '0x0',
    extraData: '0x',
    gasLimit: '0x1c9c380',
    difficulty: '0x0',
    coinbase: `0x${'00'.repeat(20)}`,
  },
  mixHash: `0x${'00'.repeat(32)}`,
  alloc: Object.fromEntries(
    [...state].map(([address, { nonce = 0n, balance = 0n, code, storage }]) => [
      address,
      { nonce: quantity(nonce), balance: quantity(balance), code, storage },
    ]),
  ),
})

/** anvil takes 2 MB at a time. */
const CALLS_A_BATCH = 100

/** The parameters of `eth_call`, all of them strings. */
export type CallParameters = Readonly<Record<string, unknown>>

interface Answer {
  readonly id: number
  readonly error?: { readonly message: string }
  readonly result?: {
    readonly output?: Hex
    readonly error?: string
    readonly gasUsed: Hex
    readonly calls?: readonly { readonly gasUsed: Hex }[]
  }
}

export type Anvil = Awaited<ReturnType<typeof startAnvil>>

/**
 * Starts anvil on a free port, without accounts of its own and without a network, over this state.
 *
 * @param hashes of the blocks before it
 */
export async function startAnvil(
  path: string,
  hardfork: Hardfork,
  state: FullState,
  block: bigint,
  env: Environment,
  hashes: readonly Hex[],
) {
  const folder = await mkdtemp(join(tmpdir(), 'anvil-'))
  await writeFile(join(folder, 'genesis.json'), JSON.stringify(genesisOf(state)))
  const options = ['--port', '0', '--accounts', '0', '--no-mining', '--hardfork', hardfork, '--init', 'genesis.json']
  const child = spawn(path, [...options, '--disable-default-create2-deployer', '--disable-console-log'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`anvil ended with ${code}`)))
  })
  ended.catch(() => {})
  const listening = new Promise<string>(resolve => {
    let printed = ''
    child.stdout.on('data', text => {
      printed += text
      const found = /Listening on (127\.0\.0\.1:\d+)/.exec(printed)?.[1]
      if (found !== undefined) resolve(`http://${found}`)
    })
  })
  // Even a test run that is ended leaves no process behind.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  async function close(): Promise<void> {
    process.off('exit', kill)
    kill()
    await ended.catch(() => {})
    await rm(folder, { recursive: true, force: true })
  }
  const url = await Promise.race([listening, ended]).catch(async error => {
    await close()
    throw error
  })

  const blockOverrides = {
    number: quantity(block),
    time: quantity(env.timestamp ?? 0n),
    gasLimit: quantity(env.gasLimit ?? 0n),
    feeRecipient: env.coinbase,
    prevRandao: env.prevRandao,
    baseFeePerGas: quantity(env.baseFee ?? 0n),
    blockHash: { ...hashes },
  }
  /** anvil takes the base fee of its block also for a call that pays nothing, where nodes take 0. So it is told that one. */
  const blockOf = ({ gasPrice }: CallParameters) =>
    gasPrice === '0x0' ? { ...blockOverrides, baseFeePerGas: '0x0' } : blockOverrides
  const headers = { 'content-type': 'application/json' }
  return {
    close,
    /** Sends one request. @returns the result */
    async request(method: string, ...params: readonly unknown[]): Promise<unknown> {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const response = await Promise.race([fetch(url, { method: 'POST', headers, body }), ended])
      const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
      if (result === undefined) throw new Error(`${method}: ${error?.message}`)
      return result
    },
    /** Executes each call on the same state. */
    async trace(calls: readonly CallParameters[], isPlain = false): Promise<Traced[]> {
      const traces: Traced[] = []
      for (let first = 0; first < calls.length; first += CALLS_A_BATCH) {
        const requests = calls.slice(first, first + CALLS_A_BATCH).map((call, id) => ({
          ...{ jsonrpc: '2.0', id, method: 'debug_traceCall' },
          params: [call, 'latest', { tracer: 'callTracer', blockOverrides: isPlain ? blockOverrides : blockOf(call) }],
        }))
        const sent = fetch(url, { method: 'POST', headers, body: JSON.stringify(requests) })
        const answers = (await (await Promise.race([sent, ended])).json()) as Answer[]
        traces.push(...answers.sort((a, b) => a.id - b.id).map(readTrace))
      }
      return traces
    },
  }
}

function readTrace({ error, result }: Answer): Traced {
  if (result === undefined) {
    // What a node says of a transaction that cannot be in a block.
    if (/insufficient funds|intrinsic gas|gas floor|gas too low|initcode size/i.test(error?.message ?? '')) {
      return { ending: 'refused', data: '0x', gas: 0n, innerGas: undefined }
    }
    throw new Error(`anvil does not execute the call: ${error?.message}`)
  }
  const inner = result.calls?.[0]?.gasUsed
  const failed = result.error === 'execution reverted' ? 'reverted' : 'failed'
  const ending = result.error === undefined ? 'returned' : failed
  return {
    ...{ ending, data: ending === 'failed' ? '0x' : (result.output ?? '0x') },
    ...{ gas: BigInt(result.gasUsed), innerGas: inner === undefined ? undefined : BigInt(inner) },
  }
}
