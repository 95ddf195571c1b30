import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, type Hex, hexLength, hexToBytes } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { RpcError } from '../rpc/error.ts'
import { toQuantity } from '../rpc/provider.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { WorldError } from '../world/error.ts'
import { createWorld, type World } from '../world/world.ts'
import type { Chain } from './chain.ts'

/**
 * The world of a genesis file: `{ "alloc": { ADDRESS: { "balance", "nonce", "code", "storage": { KEY: VALUE } } } }`, with
 * numbers as decimal or `0x` strings. The rollup's own hash of code is not specified, so code gets that of no code; state
 * `snarkCodeHash` where it matters.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param genesis parsed from JSON
 * @throws RpcError `ARGUMENT_INVALID`
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { readGenesis } from 'rollup-state-proof/service'
 *
 * const address = '0x00000000000000000000000000000000000000aa'
 * const world = readGenesis(poseidon2, { alloc: { [address]: { balance: '5', storage: { '0x0': '0x2a' } } } })
 * console.log(world.getAccount(address)?.balance) // 5n
 * ```
 */
export function readGenesis(scheme: Scheme, genesis: unknown): World {
  const world = createWorld(scheme)
  const { alloc } = objectOf('genesis', genesis)
  for (const [name, account] of Object.entries(objectOf('alloc', alloc))) {
    const place = `alloc.${name.slice(0, 42)}`
    const { balance, nonce, code, snarkCodeHash, storage = {} } = objectOf(place, account)
    const address: Hex = `0x${name.replace(/^0x/i, '')}`
    try {
      world.setAccount(address, {
        ...(balance !== undefined && { balance: numberOf(`${place}.balance`, balance) }),
        ...(nonce !== undefined && { nonce: numberOf(`${place}.nonce`, nonce) }),
        ...(code !== undefined && describeCode(hexOf(`${place}.code`, code))),
        ...(snarkCodeHash !== undefined && { snarkCodeHash: hexOf(`${place}.snarkCodeHash`, snarkCodeHash) }),
      })
      for (const [key, value] of Object.entries(objectOf(`${place}.storage`, storage))) {
        world.setStorage(address, wordOf(key), wordOf(hexOf(`${place}.storage`, value)))
      }
    } catch (error) {
      if (!(error instanceof ProofError) && !(error instanceof WorldError)) throw error
      throw invalid(`${place}: ${error.message}`)
    }
  }
  return world
}

const DEMO_PAYEE: Hex = `0x${'b2'.repeat(20)}`
const DEMO_CONTRACT: Hex = `0x${'c0'.repeat(20)}`

/**
 * A small state to try things on: two accounts (`0xa1a1…`, `0xb2b2…`) and a contract (`0xc0c0…`) with the slots 0, 1 and 7.
 *
 * @param scheme `mimc` or `poseidon2`
 * @throws ProofError `CLAIM_INVALID` when it is neither
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { demoWorld } from 'rollup-state-proof/service'
 *
 * const world = demoWorld(poseidon2)
 * console.log(world.getAccount(`0x${'a1'.repeat(20)}`)?.nonce) // 7n
 * ```
 */
export function demoWorld(scheme: Scheme): World {
  return readGenesis(scheme, {
    alloc: {
      [`0x${'a1'.repeat(20)}`]: { balance: '1000000000000000000', nonce: '7' },
      [DEMO_PAYEE]: { balance: '5' },
      [DEMO_CONTRACT]: { nonce: '1', code: '0x6001600101', storage: { '0x0': '0x2a', '0x1': '0xff', '0x7': '0x1' } },
    },
  })
}

/**
 * Finalizes blocks 3, 4 and 8 over the demo state: each block pays the second account and writes slot 0 of the contract.
 *
 * @param chain over {@link demoWorld}
 * @throws WorldError `ACCOUNT_MISSING` over another state
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { chain } = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(chain)
 * console.log(chain.latest(), chain.finalized()) // 8n 8n
 * ```
 */
export function addDemoBlocks({ pending, addBlock, finalize, l1, latest }: Chain): void {
  for (const blocks of [3, 1, 4]) {
    for (let added = 0; added < blocks; added++) {
      const number = latest() + 1n
      pending.setAccount(DEMO_PAYEE, { balance: 5n + number })
      pending.setStorage(DEMO_CONTRACT, wordOf('0x0'), wordOf(toQuantity(42n + number)))
      addBlock()
    }
    // Finalizations are many L1 blocks apart.
    for (let added = 0; added < 20; added++) l1.addBlock()
    finalize()
  }
}

const invalid = (found: string) => new RpcError('ARGUMENT_INVALID', { found })

function objectOf(place: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${place} is not an object`)
  return { ...value }
}

function numberOf(place: string, value: unknown): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(text))
    throw invalid(`${place} is not a number`)
  return BigInt(text)
}

function hexOf(place: string, value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) throw invalid(`${place} is not hexadecimal`)
  return `0x${value.slice(2)}`
}

/** Genesis files write slots with or without their leading zeros. */
const wordOf = (hex: string): Hex => `0x${hex.replace(/^0x/i, '').padStart(64, '0')}`

function describeCode(code: Hex): { codeHash: Hex; codeSize: bigint } {
  const bytes = hexToBytes(code, hexLength(code))
  return { codeHash: bytesToHex(keccak_256(bytes)), codeSize: BigInt(bytes.length) }
}
