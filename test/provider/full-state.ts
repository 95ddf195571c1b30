import { createCustomCommon, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { Address, createAccount } from '@ethereumjs/util'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import { createWorld, type World } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'

/** A whole state in memory. */
export type FullState = ReadonlyMap<Hex, FullAccount>

export interface FullAccount {
  readonly nonce?: bigint
  readonly balance?: bigint
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}

export interface FullCall {
  readonly from: Hex
  readonly to?: Hex
  readonly data: Hex
  readonly value?: bigint
  readonly gas?: bigint
}

export const bytesOf = (hex: Hex): Uint8Array => hexToBytes(hex, hex.length / 2 - 1)
const addressOf = (hex: Hex) => new Address(bytesOf(hex))
export const CHAIN_ID = 1337n

/** Builds the rollup's trees over the state. */
export function worldOf(state: FullState): World {
  const world = createWorld(poseidon2)
  writeState(world, state)
  return world
}

/** Gives the accounts of `state` its values, whatever they had. */
export function writeState(world: Pick<World, 'setAccount' | 'setStorage'>, state: FullState): void {
  for (const [address, { nonce = 0n, balance = 0n, code = '0x', storage = {} }] of state) {
    const codeHash = bytesToHex(keccak_256(bytesOf(code)))
    world.setAccount(address, { nonce, balance, codeHash, codeSize: BigInt(code.length / 2 - 1) })
    for (const [key, value] of Object.entries(storage)) world.setStorage(address, { key: key as Hex, value })
  }
}

/**
 * What a node would do: the EVM with its own state manager, holding the whole state, so that nothing is ever missing. The
 * result does not include the intrinsic gas of the transaction.
 */
export async function runFull(state: FullState, call: FullCall, blockNumber: bigint, gas: bigint) {
  const common = createCustomCommon({ chainId: Number(CHAIN_ID) }, Mainnet, { hardfork: 'prague' })
  const evm = await createEVM({ common })
  const manager = evm.stateManager
  for (const [hex, { nonce = 0n, balance = 0n, code = '0x', storage = {} }] of state) {
    const address = addressOf(hex)
    await manager.putAccount(address, createAccount({ nonce, balance }))
    if (code !== '0x') await manager.putCode(address, bytesOf(code))
    const root = Object.keys(storage).length > 0 ? new Uint8Array(32) : undefined
    if (root) await manager.modifyAccountFields(address, { storageRoot: root })
    for (const [key, value] of Object.entries(storage)) {
      const bytes = bytesOf(value)
      const start = bytes.findIndex(byte => byte !== 0)
      await manager.putStorage(address, bytesOf(key as Hex), start < 0 ? new Uint8Array(0) : bytes.slice(start))
    }
  }
  // Values before the call. The cache loads them on first access.
  const before = new Map<string, Uint8Array>()
  for (const [hex, { storage = {} }] of state) {
    for (const key of Object.keys(storage)) {
      before.set(hex + key, await manager.getStorage(addressOf(hex), bytesOf(key as Hex)))
    }
  }
  manager.originalStorageCache = {
    get: async (address, key) => before.get(bytesToHex(address.bytes) + bytesToHex(key)) ?? new Uint8Array(0),
    clear: () => {},
  }
  const precompiles = [...evm.precompiles.keys()].map(hex => `0x${hex}`)
  for (const warm of [call.from, ...(call.to ? [call.to] : []), ...precompiles]) evm.journal.addAlwaysWarmAddress(warm)
  evm.journal.startReportingAccessList()
  const { header } = { header: fixedHeader(blockNumber) }
  const { execResult } = await evm.runCall({
    caller: addressOf(call.from),
    origin: addressOf(call.from),
    ...(call.to && { to: addressOf(call.to) }),
    data: bytesOf(call.data),
    value: call.value ?? 0n,
    gasLimit: gas,
    block: { header },
  })
  return {
    gas: execResult.executionGasUsed,
    accessList: [...(evm.journal.accessList ?? [])].map(([address, keys]) => ({
      address: `0x${address}` as Hex,
      storageKeys: [...keys].map(key => `0x${key}` as Hex),
    })),
  }
}

const fixedHeader = (number: bigint) => ({
  number,
  coinbase: addressOf(`0x${'00'.repeat(20)}`),
  timestamp: 0n,
  difficulty: 0n,
  prevRandao: new Uint8Array(32),
  gasLimit: 0n,
  baseFeePerGas: 0n,
  getBlobGasPrice: () => 0n,
})
