import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createVerifiedProvider } from 'rollup-state-proof/provider'
import { finalizedBlockHash, type Rollup } from 'rollup-state-proof/rpc'
import { type Address, createPublicClient, custom, erc20Abi } from 'viem'

/** An ERC-20 balance through viem: the call runs here, over proven state. */
export function readWithViem(l1: string, l2: string, rollup: Rollup, token: Address, holder: Address): Promise<bigint> {
  const l1BlockHash = finalizedBlockHash(l1)
  const provider = createVerifiedProvider({ l1, l2, rollup, scheme: poseidon2, l1BlockHash })
  const client = createPublicClient({ transport: custom(provider) })
  return client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
}
