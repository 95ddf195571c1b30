import { mappingSlot, slotKey } from '../anchor/slots.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ArgumentError, isArgumentError, isProofError } from '../errors.ts'
import { encodeQuantity } from '../hex.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { createWorld, type World } from '../world/world.ts'
import type { ServiceChain } from './chain.ts'
import { demoCode, tokenSlots } from './demo-contracts.generated.ts'

/**
 * Creates a world from a genesis file: `{ "alloc": { ADDRESS: { "balance", "nonce", "code", "storage": { KEY: VALUE } } } }`.
 * `balance` and `nonce` are integers, or decimal or `0x` strings; all else is hexadecimal. The rollup's own code hash is not
 * specified, so accounts with code get the hash of empty code. If it matters, set `snarkCodeHash` in the account.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param genesis parsed from JSON
 * @throws ArgumentError
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
        ...(code !== undefined && { code: hexOf(`${place}.code`, code) }),
        ...(snarkCodeHash !== undefined && { snarkCodeHash: hexOf(`${place}.snarkCodeHash`, snarkCodeHash) }),
      })
      for (const [key, value] of Object.entries(objectOf(`${place}.storage`, storage))) {
        world.setStorage(address, { key: wordOf(key), value: wordOf(hexOf(`${place}.storage`, value)) })
      }
    } catch (error) {
      if (!isProofError(error) && !isArgumentError(error)) throw error
      throw invalid(`${place}: ${error.message}`)
    }
  }
  return world
}

const DEMO_USER: Hex = `0x${'a1'.repeat(20)}`
const DEMO_PAYEE: Hex = `0x${'b2'.repeat(20)}`
const DEMO_CONTRACT: Hex = `0x${'c0'.repeat(20)}`
const DEMO_TOKEN: Hex = `0x${'70'.repeat(20)}`
const DEMO_PROXY: Hex = `0x${'71'.repeat(20)}`
const DEMO_MULTICALL: Hex = `0x${'ca'.repeat(20)}`
/** The EIP-1967 slot for the address of a proxy's implementation. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const HOLDERS: readonly (readonly [Hex, bigint])[] = [
  [DEMO_USER, 1_000_000n * 10n ** 18n],
  [DEMO_PAYEE, 250n * 10n ** 18n],
]

/**
 * A small state for experiments: two accounts (`0xa1a1…`, `0xb2b2…`), a contract (`0xc0c0…`) with the slots 0, 1 and 7, an
 * ERC-20 token (`0x7070…`) that both accounts hold, the same token behind an EIP-1967 proxy (`0x7171…`) with its own balances,
 * and a contract (`0xcaca…`) with the `aggregate3` function of Multicall3.
 *
 * @param scheme `mimc` or `poseidon2`
 * @throws ArgumentError if the scheme is neither
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
      [DEMO_USER]: { balance: '1000000000000000000', nonce: '7' },
      [DEMO_PAYEE]: { balance: '5' },
      [DEMO_CONTRACT]: { nonce: '1', code: '0x6001600101', storage: { '0x0': '0x2a', '0x1': '0xff', '0x7': '0x1' } },
      [DEMO_TOKEN]: { nonce: '1', code: demoCode.token, storage: tokenStorage('Demo token', 'DEMO', HOLDERS) },
      [DEMO_PROXY]: {
        nonce: '1',
        code: demoCode.proxy,
        storage: { ...tokenStorage('Proxied token', 'PROX', HOLDERS.toReversed()), [IMPLEMENTATION_SLOT]: DEMO_TOKEN },
      },
      [DEMO_MULTICALL]: { nonce: '1', code: demoCode.multicall },
    },
  })
}

/** The storage of the token, as the compiler lays it out. @param name at most 31 bytes, like the symbol */
function tokenStorage(name: string, symbol: string, holders: readonly (readonly [Hex, bigint])[]) {
  const { balanceOf, totalSupply } = tokenSlots
  const supply = holders.reduce((sum, [, balance]) => sum + balance, 0n)
  return Object.fromEntries([
    ...holders.map(([holder, balance]) => [mappingSlot(balanceOf, holder), encodeQuantity(balance)]),
    [slotKey(totalSupply), encodeQuantity(supply)],
    [slotKey(tokenSlots.name), shortString(name)],
    [slotKey(tokenSlots.symbol), shortString(symbol)],
  ])
}

/** Encodes a string of at most 31 ASCII characters in one slot: the bytes, and twice their number in the last byte. */
function shortString(text: string): Hex {
  const digits = bytesToHex(new TextEncoder().encode(text)).slice(2)
  return `0x${digits.padEnd(62, '0')}${(2 * text.length).toString(16).padStart(2, '0')}`
}

/**
 * Adds finalized blocks to a chain that starts from the demo state. Each block pays the second account and writes slot 0 of the
 * contract.
 *
 * @param chain a chain whose genesis is {@link demoWorld}
 * @param counts number of blocks per finalization. Default: 3, 1 and 4, so that the finalizations end at blocks 3, 4 and 8
 * @param l1Blocks number of empty L1 blocks before each finalization. Default: 20
 * @throws ArgumentError if the state lacks the demo contract
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
export function addDemoBlocks(chain: ServiceChain, counts: readonly number[] = [3, 1, 4], l1Blocks = 20): void {
  const { pending, addBlock, finalize, l1, latest } = chain
  for (const blocks of counts) {
    for (let added = 0; added < blocks; added++) {
      const number = latest() + 1n
      pending.setAccount(DEMO_PAYEE, { balance: 5n + number })
      pending.setStorage(DEMO_CONTRACT, { key: wordOf('0x0'), value: wordOf(encodeQuantity(42n + number)) })
      addBlock()
    }
    for (let added = 0; added < l1Blocks; added++) l1.addBlock()
    finalize()
  }
}

const invalid = (found: string) => new ArgumentError({ found })

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
