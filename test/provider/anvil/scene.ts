import { HARDFORKS, type Hardfork, isSince } from '../../../src/client/network/network.ts'
import { historyContract, historySlot } from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import type { AccessList } from '../../../src/provider/execute.ts'
import type { Environment } from '../../../src/provider/options.ts'
import { at, word } from '../endpoints.ts'
import type { FullAccount, FullState } from '../full-state.ts'
import { assemble, type Part } from './assemble.ts'

/** A call that both EVMs execute. Gas is 3,000,000 and the sender is rich unless it says otherwise. */
export interface Case {
  readonly category: string
  readonly hardfork: Hardfork
  readonly what: string
  readonly from?: Hex
  /** null to create a contract. */
  readonly to: Hex | null
  readonly data?: Hex
  readonly value?: bigint
  readonly gas?: bigint
  readonly gasPrice?: bigint
  readonly maxFeePerGas?: bigint
  readonly maxPriorityFeePerGas?: bigint
  readonly accessList?: AccessList
  /** What it calls through a meter, in order to learn how much gas that takes. */
  readonly probe?: { readonly address: Hex; readonly input: Hex }
}
export type Asked = Omit<Case, 'category' | 'hardfork'>

export const GAS = 3_000_000n
export const RICH = at('a1')
export const ABSENT = at('ee')
export const COINBASE = at('cb')
/** Has a balance, and no code. */
export const EMPTY = at('e0')
export const OTHER = at('0f')
export const BLOCK = 9n

/** What is stated of the block. anvil takes all of it, except that its blob base fee is always 1. */
export const ENVIRONMENT: Environment = {
  timestamp: 1_790_000_000n,
  baseFee: 7n,
  blobBaseFee: 1n,
  coinbase: COINBASE,
  prevRandao: word(0x77n << 248n),
  gasLimit: 61_000_000n,
}
/** The hashes of the blocks before it, which the state holds. */
export const HASHES = Array.from({ length: Number(BLOCK) }, (_, at) => word(0xb10c000 + at))

/** All forks from the first. */
export const since = (first: Hardfork): Hardfork[] => HARDFORKS.filter(hardfork => isSince(first, hardfork))

/** One state that all cases share, in which each program has an address of its own. */
export function createScene() {
  const state = new Map<Hex, FullAccount>([
    [RICH, { nonce: 3n, balance: 10n ** 18n }],
    [EMPTY, { balance: 5n }],
    [OTHER, { nonce: 1n, balance: 7n, code: assemble('ADDRESS', 'STOP'), storage: { [word(1)]: word(5) } }],
    [COINBASE, { balance: 2n }],
    [
      historyContract,
      { nonce: 1n, storage: Object.fromEntries(HASHES.map((hash, at) => [historySlot(BigInt(at)), hash])) },
    ],
  ])
  const cases: Case[] = []
  let placed = 0
  return {
    state: state as FullState,
    cases,
    set: (address: Hex, account: FullAccount) => void state.set(address, account),
    /** Gives an account an address. Its nonce is 1. */
    place(account: FullAccount): Hex {
      const address: Hex = `0xc0de${(++placed).toString(16).padStart(36, '0')}`
      state.set(address, { nonce: 1n, ...account })
      return address
    },
    program(...parts: readonly Part[]): Hex {
      return this.place({ code: assemble(...parts) })
    },
    ask(category: string, hardforks: readonly Hardfork[], ...asked: readonly Asked[]): void {
      for (const hardfork of hardforks) cases.push(...asked.map(one => ({ category, hardfork, ...one })))
    },
  }
}
export type Scene = ReturnType<typeof createScene>

/**
 * A contract that makes a call: of calldata, the first word is the gas, the second the address, the rest the input. It returns
 * whether the call succeeded, the gas that it took, and all that it returned.
 */
export const meter = (instruction: 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' = 'CALL', value = 0): Part[] => [
  ...[64, 'CALLDATASIZE', 'SUB', 'DUP1', 64, 0, 'CALLDATACOPY', 'GAS', 0, 0, 'DUP4', 0],
  ...(instruction === 'CALL' || instruction === 'CALLCODE' ? [value] : []),
  ...[32, 'CALLDATALOAD', 0, 'CALLDATALOAD', instruction],
  ...REPORT,
]
/** Returns the word on top, the gas used since that below it, and the return data. */
export const REPORT: readonly Part[] = [
  ...[0, 'MSTORE', 'GAS', 'SWAP1', 'SUB', 32, 'MSTORE'],
  ...['RETURNDATASIZE', 0, 64, 'RETURNDATACOPY', 'RETURNDATASIZE', 64, 'ADD', 0, 'RETURN'],
]
