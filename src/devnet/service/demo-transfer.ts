import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToBigint, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { mappingSlot, slotKey } from '../../verify/anchor/contract.ts'
import type { RlpItem } from '../../verify/anchor/trie.ts'
import { encodeTyped, toRlp } from '../../verify/blocks/fields.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { World } from '../world/world.ts'
import { BASE_FEE } from './block.ts'
import type { ChainTransaction } from './content.ts'
import { tokenSlots } from './demo-contracts.generated.ts'

interface Signer {
  readonly address: Hex
  readonly key: Hex
}

/** The first two accounts of the development nodes anvil and Hardhat. Everybody knows these keys: use them for nothing else. */
export const DEMO_SIGNERS: readonly [Signer, Signer] = [
  {
    address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    key: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  },
  {
    address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    key: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  },
]

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const AMOUNT = 10n ** 18n
/** What such a transfer takes between two accounts that hold tokens. The demo has no EVM to count it. */
const GAS_USED = 34_229n
const GAS = 60_000n

/** Transfers a token from one signer to the other, in the state, and describes the transaction. @throws ArgumentError */
export function transferToken(
  { state, chainId, to: token }: Omit<Call, 'input' | 'gasUsed'>,
  [from, to]: readonly [Signer, Signer],
): ChainTransaction {
  const add = ({ address }: Signer, amount: bigint) => {
    const key = mappingSlot({ slot: tokenSlots.balanceOf, keys: [address] })
    state.setStorage(token, { key, value: slotKey(BigInt(state.getStorage(token, key)) + amount) })
  }
  add(from, -AMOUNT)
  add(to, AMOUNT)
  const [sender, recipient] = [slotKey(BigInt(from.address)), slotKey(BigInt(to.address))]
  const amount = slotKey(AMOUNT)
  const input: Hex = `0xa9059cbb${recipient.slice(2)}${amount.slice(2)}`
  return {
    transaction: signCall({ state, chainId, to: token, input, gasUsed: GAS_USED }, from),
    gasUsed: GAS_USED,
    logs: [{ address: token, topics: [TRANSFER_TOPIC, sender, recipient], data: amount }],
  }
}

interface Call {
  readonly state: World
  readonly chainId: bigint
  readonly to: Hex
  readonly input: Hex
  readonly gasUsed: bigint
}

/** Signs a call, and takes what it costs from the signer, in the state. */
export function signCall({ state, chainId, to, input, gasUsed }: Call, { address, key }: Signer): Hex {
  const { nonce = 0n, balance = 0n } = state.getAccount(address) ?? {}
  const cost = gasUsed * BASE_FEE
  state.setAccount(address, { nonce: nonce + 1n, balance: balance > cost ? balance - cost : 0n })
  return sign([chainId, nonce, 0n, 2n * BASE_FEE, GAS, to, 0n, input, []].map(toRlp), key)
}

function sign(payload: RlpItem[], key: Hex): Hex {
  const digest = keccak256(encodeTyped(2, payload))
  const signature = secp256k1.sign(digest, hexToBytes(key, 32), { prehash: false, format: 'recovered' })
  const numbers = [signature.subarray(0, 1), signature.subarray(1, 33), signature.subarray(33)].map(bytesToBigint)
  return bytesToHex(encodeTyped(2, [...payload, ...numbers.map(toRlp)]))
}
