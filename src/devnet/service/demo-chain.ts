import { invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { hasMethod, readOptions, verifyWhole } from '../../base/options.ts'
import { mappingSlot, slotKey } from '../../verify/anchor/contract.ts'
import { IMPLEMENTATION_KEY } from '../../verify/anchor/rollup.ts'
import { historyContract } from '../../verify/blocks/header.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { AccountChanges } from '../world/account.ts'
import { createWorld, type World } from '../world/world.ts'
import type { ServiceChain } from './chain.ts'
import { demoCode, tokenSlots } from './demo-contracts.generated.ts'
import { DEMO_SIGNERS, transferToken } from './demo-transfer.ts'

export const DEMO_USER: Hex = `0x${'a1'.repeat(20)}`
export const DEMO_PAYEE: Hex = `0x${'b2'.repeat(20)}`
const DEMO_CONTRACT: Hex = `0x${'c0'.repeat(20)}`
export const DEMO_TOKEN: Hex = `0x${'70'.repeat(20)}`
const DEMO_PROXY: Hex = `0x${'71'.repeat(20)}`
const DEMO_MULTICALL: Hex = `0x${'ca'.repeat(20)}`
const ETHER = 10n ** 18n
const HOLDERS: readonly Slot[] = [
  [DEMO_USER, 1_000_000n * ETHER],
  [DEMO_PAYEE, 250n * ETHER],
]
const SIGNERS = DEMO_SIGNERS.map(({ address }) => [address, 1000n * ETHER] as const)

const [ALICE, BOB] = DEMO_SIGNERS
/** Of {@link historyContract}, as EIP-2935 has it. */
const HISTORY_CODE =
  '0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500'

/**
 * A small state for experiments. It has two accounts (`0xa1a1…`, `0xb2b2…`), a contract (`0xc0c0…`) with the slots 0, 1 and 7, an
 * ERC-20 token (`0x7070…`) that both accounts hold, the same token behind an EIP-1967 proxy (`0x7171…`) with its own balances,
 * and a contract (`0xcaca…`) with the `aggregate3` function of Multicall3. The first two accounts of anvil and Hardhat
 * (`0xf39f…`, `0x7099…`), whose keys everybody knows, have ether and tokens. The contract of EIP-2935 keeps the hashes of blocks.
 *
 * @param scheme `mimc` or `poseidon2`
 * @throws ArgumentError if the scheme is neither
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { demoWorld } from 'rollup-state-proof-devnet'
 *
 * const world = demoWorld(poseidon2)
 * console.log(world.getAccount(`0x${'a1'.repeat(20)}`)?.nonce) // 7n
 * ```
 */
export function demoWorld(scheme: Scheme): World {
  const world = createWorld(scheme)
  const create = (address: Hex, account: AccountChanges, slots: readonly Slot[] = []) => {
    world.setAccount(address, account)
    for (const [key, value] of slots) world.setStorage(address, { key, value: slotKey(value) })
  }
  create(DEMO_USER, { balance: ETHER, nonce: 7n })
  create(DEMO_PAYEE, { balance: 5n })
  create(DEMO_CONTRACT, { nonce: 1n, code: '0x6001600101' }, [
    [slotKey(0n), 42n],
    [slotKey(1n), 255n],
    [slotKey(7n), 1n],
  ])
  create(DEMO_TOKEN, { nonce: 1n, code: demoCode.token }, tokenSlotsOf('Demo token', 'DEMO', [...HOLDERS, ...SIGNERS]))
  create(DEMO_PROXY, { nonce: 1n, code: demoCode.proxy }, [
    ...tokenSlotsOf('Proxied token', 'PROX', HOLDERS.toReversed()),
    [IMPLEMENTATION_KEY, BigInt(DEMO_TOKEN)],
  ])
  create(DEMO_MULTICALL, { nonce: 1n, code: demoCode.multicall })
  create(historyContract, { nonce: 1n, code: HISTORY_CODE })
  for (const [address] of SIGNERS) create(address, { balance: 100n * ETHER })
  return world
}

type Slot = readonly [key: Hex, value: bigint]

/** The storage of the token, as the compiler lays it out. @param name at most 31 bytes, like the symbol */
function tokenSlotsOf(name: string, symbol: string, holders: readonly Slot[]): Slot[] {
  const { balanceOf, totalSupply } = tokenSlots
  const supply = holders.reduce((sum, [, balance]) => sum + balance, 0n)
  return [
    ...holders.map(([holder, balance]) => [mappingSlot({ slot: balanceOf, keys: [holder] }), balance] as const),
    [slotKey(totalSupply), supply],
    [slotKey(tokenSlots.name), shortString(name)],
    [slotKey(tokenSlots.symbol), shortString(symbol)],
  ]
}

/** Encodes a string of at most 31 ASCII characters in one slot: the bytes, and twice their number in the last byte. */
function shortString(text: string): bigint {
  const digits = bytesToHex(new TextEncoder().encode(text)).slice(2)
  return BigInt(`0x${digits.padEnd(62, '0')}`) * 256n + BigInt(2 * text.length)
}

/** How many blocks {@link addDemoBlocks} adds. */
export interface DemoBlocksOptions {
  /** Number of blocks per finalization. Default: 3, 1 and 4, so that the finalizations end at blocks 3, 4 and 8. */
  counts?: readonly number[] | undefined
  /** Number of empty L1 blocks before each finalization. Default: 20. */
  l1Blocks?: number | undefined
}

/**
 * Adds finalized blocks to a chain that starts from the demo state. Each block pays the second account and writes slot 0 of the
 * contract, both without a transaction. It has one transaction: of the accounts with known keys, one sends the other a token.
 *
 * @param chain a chain whose genesis is {@link demoWorld}
 * @param options how many blocks
 * @throws ArgumentError if an option is unknown or not a whole number, or if the state lacks the demo contract
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { chain } = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(chain, { counts: [2, 1] })
 * console.log(chain.latest(), chain.finalized()) // 3n 3n
 * ```
 */
export function addDemoBlocks(chain: ServiceChain, options: DemoBlocksOptions = {}): void {
  const { counts = [3, 1, 4], l1Blocks = 20 } = readOptions('', options, ['counts', 'l1Blocks'])
  if (!hasMethod(chain, 'addBlock')) throw invalid('chain', 'the chain of a service', chain)
  const blockCounts = readItems('counts', counts, count => verifyWhole('', count, 0))
  verifyWhole('l1Blocks', l1Blocks, 0)
  const { pending, chainId, addBlock, finalize, l1, latest } = chain
  for (const blocks of blockCounts) {
    for (let added = 0; added < blocks; added++) {
      const number = latest() + 1n
      pending.setAccount(DEMO_PAYEE, { balance: 5n + number })
      pending.setStorage(DEMO_CONTRACT, { key: slotKey(0n), value: slotKey(42n + number) })
      addBlock([
        transferToken({ state: pending, to: DEMO_TOKEN, chainId }, number % 2n === 1n ? [ALICE, BOB] : [BOB, ALICE]),
      ])
    }
    for (let added = 0; added < l1Blocks; added++) l1.addBlock()
    finalize()
  }
}
