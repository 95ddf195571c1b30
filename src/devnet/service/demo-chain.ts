import { invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { hasMethod, readOptions, verifyWhole } from '../../base/options.ts'
import { mappingSlot, slotKey } from '../../verify/anchor/slots.ts'
import { historyContract } from '../../verify/blocks/history.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { World } from '../world/world.ts'
import type { ServiceChain } from './chain.ts'
import { demoCode, tokenSlots } from './demo-contracts.generated.ts'
import { DEMO_SIGNERS, transferToken } from './demo-transfer.ts'
import { readGenesis, wordOf } from './genesis.ts'

export const DEMO_USER: Hex = `0x${'a1'.repeat(20)}`
export const DEMO_PAYEE: Hex = `0x${'b2'.repeat(20)}`
const DEMO_CONTRACT: Hex = `0x${'c0'.repeat(20)}`
export const DEMO_TOKEN: Hex = `0x${'70'.repeat(20)}`
const DEMO_PROXY: Hex = `0x${'71'.repeat(20)}`
const DEMO_MULTICALL: Hex = `0x${'ca'.repeat(20)}`
/** The EIP-1967 slot for the address of a proxy's implementation. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const HOLDERS: readonly (readonly [Hex, bigint])[] = [
  [DEMO_USER, 1_000_000n * 10n ** 18n],
  [DEMO_PAYEE, 250n * 10n ** 18n],
]
const SIGNERS = DEMO_SIGNERS.map(({ address }) => [address, 1000n * 10n ** 18n] as const)

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
  return readGenesis(scheme, {
    alloc: {
      [DEMO_USER]: { balance: '1000000000000000000', nonce: '7' },
      [DEMO_PAYEE]: { balance: '5' },
      [DEMO_CONTRACT]: { nonce: '1', code: '0x6001600101', storage: { '0x0': '0x2a', '0x1': '0xff', '0x7': '0x1' } },
      [DEMO_TOKEN]: {
        nonce: '1',
        code: demoCode.token,
        storage: tokenStorage('Demo token', 'DEMO', [...HOLDERS, ...SIGNERS]),
      },
      [DEMO_PROXY]: {
        nonce: '1',
        code: demoCode.proxy,
        storage: { ...tokenStorage('Proxied token', 'PROX', HOLDERS.toReversed()), [IMPLEMENTATION_SLOT]: DEMO_TOKEN },
      },
      [DEMO_MULTICALL]: { nonce: '1', code: demoCode.multicall },
      [historyContract]: { nonce: '1', code: HISTORY_CODE },
      ...Object.fromEntries(SIGNERS.map(([address]) => [address, { balance: '100000000000000000000' }])),
    },
  })
}

/** The storage of the token, as the compiler lays it out. @param name at most 31 bytes, like the symbol */
function tokenStorage(name: string, symbol: string, holders: readonly (readonly [Hex, bigint])[]) {
  const { balanceOf, totalSupply } = tokenSlots
  const supply = holders.reduce((sum, [, balance]) => sum + balance, 0n)
  return Object.fromEntries([
    ...holders.map(([holder, balance]) => [mappingSlot({ slot: balanceOf, keys: [holder] }), encodeQuantity(balance)]),
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
      pending.setStorage(DEMO_CONTRACT, { key: wordOf('0x0'), value: wordOf(encodeQuantity(42n + number)) })
      addBlock([
        transferToken({ state: pending, token: DEMO_TOKEN, chainId }, number % 2n === 1n ? [ALICE, BOB] : [BOB, ALICE]),
      ])
    }
    for (let added = 0; added < l1Blocks; added++) l1.addBlock()
    finalize()
  }
}
