import { Contract, JsonRpcProvider } from 'ethers'

/** Two values through ethers with its default settings, which ask for both in one batch. */
export async function readWithEthers(url: string, token: string, holder: string): Promise<readonly bigint[]> {
  const provider = new JsonRpcProvider(url)
  try {
    const contract = new Contract(token, ['function balanceOf(address) view returns (uint256)'], provider)
    return await Promise.all([provider.getBalance(holder), contract.getFunction('balanceOf')(holder)])
  } finally {
    provider.destroy()
  }
}
