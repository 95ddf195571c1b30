import type { Hex } from '../../../base/bytes.ts'
import { encodeQuantity } from '../../../base/hex.ts'
import { params as read } from '../../../provider/requests.ts'
import type { World } from '../../world/world.ts'
import type { FullChain } from '../chain.ts'
import { blockNotFound, type Method, MethodError, type Methods, methodsOf, readBlock, rpcCodes } from '../json-rpc.ts'
import { MAX_KEYS } from '../limits.ts'
import { proveEthereum } from '../trie.ts'
import { transactionMethods } from './transactions.ts'

export function l2Methods(chain: FullChain, chainId: bigint): Methods {
  const numberOf = (block: unknown) => {
    const [latest, finalized] = [chain.latest(), chain.finalized()]
    return readBlock(block, { latest, earliest: 0n, pending: latest + 1n, finalized }, chain.blocks)
  }

  /** The state at a block. `pending` is the state of the next block. */
  function stateAt(block: unknown): World {
    const state = block === 'pending' ? chain.pending : chain.at(numberOf(block))
    if (state === undefined) throw blockNotFound()
    return state
  }

  /** A method whose parameters are an address and a block. */
  const accountMethod =
    (answer: (state: World, address: Hex) => unknown): Method =>
    params => {
      const [address, block = 'latest'] = read.take(params, 1, 2)
      return answer(stateAt(block), read.bytes('address', address, 20))
    }

  const getProof: Method = params => {
    const [address, keys, block] = read.take(params, 3, 3)
    const number = numberOf(block)
    const given = read.list('storage keys', keys, MAX_KEYS, (_, key) => key)
    const storageKeys = given.map((key, index) => read.bytes(`storage key ${index}`, key, 32))
    const account = read.bytes('address', address, 20)
    return provableState(chain, number, block === 'pending').getProof(account, storageKeys)
  }

  /** Of a block whose state is that of Ethereum. Without such blocks, there is no such method. */
  const getEthereumProof: Method = params => {
    if (chain.upgradedAt() === undefined) throw new MethodError(rpcCodes.methodNotFound, 'the method does not exist')
    const [address, keys, block] = read.take(params, 3, 3)
    const storageKeys = read.list('storage keys', keys, MAX_KEYS, read.slot)
    const account = read.bytes('address', address, 20)
    const stored = chain.blocks.at(numberOf(block))
    if (stored === undefined) throw blockNotFound()
    const { state, accounts } = stored
    if (accounts === undefined)
      throw new MethodError(rpcCodes.serverError, 'the state of this block is not that of Ethereum')
    return proveEthereum(state, accounts, account, storageKeys)
  }

  return methodsOf(chainId, chain.blocks, numberOf, {
    rollup_getProof: getProof,
    linea_getProof: getProof,
    eth_getProof: getEthereumProof,
    eth_getBalance: accountMethod((state, address) => encodeQuantity(state.getAccount(address)?.balance ?? 0n)),
    eth_getTransactionCount: accountMethod((state, address) => encodeQuantity(state.getAccount(address)?.nonce ?? 0n)),
    eth_getCode: accountMethod(getCode),
    eth_getStorageAt(params) {
      const [address, slot, block = 'latest'] = read.take(params, 2, 3)
      return stateAt(block).getStorage(read.bytes('address', address, 20), read.slot('slot', slot))
    },
    ...transactionMethods(chain, numberOf),
  })
}

/** The state at a block that has proofs. It refuses other blocks as the rollup's own endpoints do. */
function provableState(chain: FullChain, number: bigint, isPending: boolean): World {
  const state = chain.at(number)
  const missing = () => new MethodError(rpcCodes.invalidRequest, `BLOCK_MISSING_IN_CHAIN - block ${number} is missing`)
  if (state === undefined && !isPending) throw missing()
  if (state === undefined || number > chain.finalized()) {
    throw new MethodError(rpcCodes.serverError, `block ${number} is not finalized on L1`)
  }
  // A node of the Ethereum state has no other trees.
  if (number > chain.provable() || number >= (chain.upgradedAt() ?? number + 1n)) throw missing()
  return state
}

function getCode(state: World, address: Hex): Hex {
  const code = state.getCode(address)
  if (code === null) throw new MethodError(rpcCodes.serverError, `only the hash of the code at ${address} is known`)
  return code
}
