import { createCustomCommon, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { Address, createAccount } from '@ethereumjs/util'
import { decodeErrorResult, encodeFunctionData } from 'viem'
import { bigintToBytes, bytesToBigint, bytesToHex, hexToBytes } from '../../../src/base/bytes.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { rollup } from '../../../vectors/messages/truth.ts'
import { compiledContracts } from '../../contracts/compile.ts'

type Compiled = Awaited<ReturnType<typeof compiledContracts>>[string]

/** The contract with the rules of the bridge. In an EVM, `send` returns the name of the error with which it refuses the call. */
export async function openBridge() {
  const { Bridge } = await compiledContracts()
  if (!Bridge) throw new Error('no contract')
  return { deploy: () => deployWith(Bridge), variables: Bridge.slots }
}

const bytesOf = (hex: Hex) => hexToBytes(hex, hex.length / 2 - 1)
const address = new Address(bytesOf(rollup.address))

async function deployWith({ abi, code }: Pick<Compiled, 'abi' | 'code'>) {
  const evm = await createEVM({ common: createCustomCommon({ chainId: 1 }, Mainnet, { hardfork: 'cancun' }) })
  const state = evm.stateManager
  await state.putAccount(address, createAccount({ nonce: 1n }))
  await state.putCode(address, bytesOf(code))
  return {
    async send(data: Hex): Promise<string> {
      const { execResult } = await evm.runCall({ to: address, data: bytesOf(data), gasLimit: 1_000_000n })
      if (execResult.exceptionError === undefined) return 'accepted'
      return decodeErrorResult({ abi, data: bytesToHex(execResult.returnValue) }).errorName
    },
    call(functionName: string, ...args: unknown[]) {
      return this.send(encodeFunctionData({ abi, functionName, args }))
    },
    /** The contract's own storage, in these slots. */
    async read(keys: Iterable<bigint>): Promise<Map<bigint, bigint>> {
      const storage = new Map<bigint, bigint>()
      for (const key of keys) storage.set(key, bytesToBigint(await state.getStorage(address, bigintToBytes(key, 32))))
      return storage
    },
  }
}
