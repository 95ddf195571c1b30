import type { Network } from 'rollup-state-proof/networks'
import { createVerifiedProvider } from 'rollup-state-proof/provider'
import { finalizedBlockHash } from 'rollup-state-proof/rpc'
import { type Address, createPublicClient, custom, erc20Abi } from 'viem'

/** An ERC-20 balance through viem: the call runs here, over proven state. */
export async function readWithViem(l1: string, l2: string, network: Network, token: Address, holder: Address) {
  const l1BlockHash = finalizedBlockHash(l1)
  const provider = createVerifiedProvider({ l1, l2, network, l1BlockHash })
  const client = createPublicClient({ transport: custom(provider) })
  return client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
}
