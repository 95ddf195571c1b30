import { Common, Hardfork, Mainnet, type StateManagerInterface } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { type Account, Address, bytesToHex, createAccount, hexToBytes } from '@ethereumjs/util'
import type { Hex } from '../../../src/base/bytes.ts'
import type { World } from '../../../src/devnet/index.ts'

const toHex = (bytes: Uint8Array): Hex => bytesToHex(bytes)
const word = (key: Uint8Array): Hex => `0x${toHex(key).slice(2).padStart(64, '0')}`

/** Executes a call in an EVM that holds the full state. */
export async function executeCall(
  call: {
    readonly from: Hex
    readonly to: Hex | undefined
    readonly data: Hex
    readonly value: bigint
    readonly gas: bigint | undefined
  },
  state: World,
  { number, timestamp }: { readonly number: bigint; readonly timestamp: bigint },
): Promise<{ returnData: Hex; gasUsed: bigint; error: string | undefined }> {
  const evm = await createEVM({
    common: new Common({ chain: Mainnet, hardfork: Hardfork.Cancun }),
    stateManager: stateOf(state),
  })
  const { execResult } = await evm.runCall({
    caller: new Address(hexToBytes(call.from)),
    ...(call.to !== undefined && { to: new Address(hexToBytes(call.to)) }),
    data: hexToBytes(call.data),
    value: call.value,
    gasLimit: call.gas ?? 30_000_000n,
    skipBalance: true,
    block: { header: { ...emptyHeader, number, timestamp } },
  })
  const { returnValue, executionGasUsed, exceptionError } = execResult
  return { returnData: toHex(returnValue), gasUsed: executionGasUsed, error: exceptionError?.error }
}

/** The EVM's view of a state. Every checkpoint is a fork of it. */
function stateOf(initial: World): StateManagerInterface {
  const states = [initial.fork()]
  const current = (): World => states.at(-1) ?? initial
  const original = initial.fork()
  const read = (world: World, address: Address, key: Uint8Array): Uint8Array =>
    hexToBytes(world.getStorage(hexOf(address), word(key)))
  function put(address: Address, account: Account | undefined): void {
    if (account === undefined) return
    const { nonce, balance } = account
    current().setAccount(hexOf(address), { nonce, balance })
  }
  const manager: StateManagerInterface = {
    async getAccount(address) {
      const account = current().getAccount(hexOf(address))
      if (account === null) return undefined
      return createAccount({ nonce: account.nonce, balance: account.balance, codeHash: hexToBytes(account.codeHash) })
    },
    putAccount: async (address, account) => put(address, account),
    async deleteAccount(address) {
      if (current().getAccount(hexOf(address))) current().deleteAccount(hexOf(address))
    },
    async modifyAccountFields(address, { nonce, balance }) {
      current().setAccount(hexOf(address), {
        ...(nonce !== undefined && { nonce }),
        ...(balance !== undefined && { balance }),
      })
    },
    putCode: async (address, value) => current().setAccount(hexOf(address), { code: toHex(value) }),
    async getCode(address) {
      return hexToBytes(current().getCode(hexOf(address)) ?? '0x')
    },
    getCodeSize: async address => (await manager.getCode(address)).length,
    getStorage: async (address, key) => read(current(), address, key),
    putStorage: async (address, key, value) =>
      current().setStorage(hexOf(address), { key: word(key), value: word(value) }),
    // Called only for a new account, which has no storage.
    clearStorage: async () => {},
    checkpoint: async () => void states.push(current().fork()),
    async commit() {
      const newest = states.pop()
      if (newest) states[states.length - 1] = newest
    },
    revert: async () => void states.pop(),
    getStateRoot: async () => hexToBytes(current().stateRoot()),
    setStateRoot: async () => {},
    hasStateRoot: async () => true,
    originalStorageCache: { get: async (address, key) => read(original, address, key), clear: () => {} },
    clearCaches: () => {},
    shallowCopy: () => stateOf(current()),
  }
  return manager
}

const hexOf = (address: Address): Hex => toHex(address.bytes)

const emptyHeader = {
  coinbase: new Address(new Uint8Array(20)),
  difficulty: 0n,
  prevRandao: new Uint8Array(32),
  gasLimit: 30_000_000n,
  baseFeePerGas: 0n,
  getBlobGasPrice: () => 0n,
}
