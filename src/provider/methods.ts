import { bytesToHex, type Hex, hexLength, hexToBytes } from '../base/bytes.ts'
import { encodeQuantity } from '../base/hex.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { stateKind } from '../verify/state/kind.ts'
import { invalidParams } from './error.ts'
import { MAX_DATA_BYTES, MAX_LISTED } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import type { KnownState, ProvenState } from './proven-state.ts'
import { ANSWERED, type AnsweredMethod, type BlockMethod, isOfBlocks, type Method, params } from './requests.ts'
import { type CurrentView, newestIn } from './view.ts'

/** Answers each method. What others do not need is imported on first use: bundlers put it into chunks of its own. */
export function createMethods(settings: VerifiedOptions, known: KnownState, { current, heldAt }: CurrentView) {
  const { chainId, l2 } = settings
  const sources = { settings, known, heldAt, current }
  // They carry the EVM.
  const calls = () => import('./call.ts')
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  const ofAccount =
    (answer: (state: ProvenState, address: Hex) => Promise<Hex>): Method =>
    async ([address, block], pace) => {
      const account = addressOf(address)
      return answer((await heldAt(block, pace)).state, account)
    }
  const numberOf = (name: 'balance' | 'nonce') =>
    ofAccount(async (state, address) => encodeQuantity((await state.getAccount(address))?.[name] ?? 0n))
  const getProof =
    (method: string): Method =>
    async ([address, keys, block], pace) => {
      const account = addressOf(address)
      const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
      const { state, l2BlockNumber } = await heldAt(block, pace)
      const { method: served } = stateKind(state.scheme)
      // All other methods are names of the one for trees.
      if (served === null ? method !== 'eth_getProof' : method === served) {
        return state.getProof(method, account, storageKeys)
      }
      const kind = served === null ? "a tree of the rollup's own" : 'one of Ethereum'
      throw invalidParams(`The state after block ${l2BlockNumber} is ${kind}: ask ${served ?? 'rollup_getProof'}.`)
    }
  let blockMethods: Promise<Readonly<Record<BlockMethod, Method>>> | undefined
  const own: Readonly<Record<Exclude<AnsweredMethod, BlockMethod>, Method>> = {
    // Compared with what an endpoint says, as before every request to it.
    eth_chainId: () => l2.run(async () => encodeQuantity(chainId)),
    net_version: () => l2.run(async () => `${chainId}`),
    web3_clientVersion: () => 'rollup-state-proof',
    web3_sha3([given]) {
      const data = params.data('data', given, MAX_DATA_BYTES)
      return bytesToHex(keccak256(hexToBytes(data, hexLength(data))))
    },
    net_listening: () => true,
    eth_accounts: () => [],
    eth_syncing: () => false,
    eth_blockNumber: async () => encodeQuantity(newestIn(await current())),
    eth_getBalance: numberOf('balance'),
    eth_getTransactionCount: numberOf('nonce'),
    eth_getCode: ofAccount(async (state, address) => bytesToHex(await state.getCode(address))),
    async eth_getStorageAt([address, slot, block], pace) {
      const [account, key] = [addressOf(address), params.slot('slot', slot)]
      return (await heldAt(block, pace)).state.getStorage(account, key)
    },
    rollup_getProof: getProof('rollup_getProof'),
    linea_getProof: getProof('linea_getProof'),
    eth_getProof: getProof('eth_getProof'),
    eth_call: async (given, pace) => (await calls()).runCall(sources, given, pace),
    eth_estimateGas: async (given, pace) => encodeQuantity(await (await calls()).estimateGas(sources, given, pace)),
    eth_createAccessList: async (given, pace) => (await calls()).createAccessList(sources, given, pace),
  }

  return async (method: AnsweredMethod, given: unknown, pace: Pace, client: string): Promise<unknown> => {
    const [least, most] = ANSWERED[method]
    const taken = params.take(given, least, most)
    if (!isOfBlocks(method)) return own[method](taken, pace, client)
    // They carry the curve of signatures.
    blockMethods ??= import('./blocks/methods.ts').then(module => module.createBlockMethods(settings, current))
    return (await blockMethods)[method](taken, pace, client)
  }
}
