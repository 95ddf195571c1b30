import { encodeQuantity } from '../../hex.ts'
import type { CurrentView } from '../current-view.ts'
import { params } from '../params.ts'
import type { Methods } from './methods.ts'

/** Which chain, and which block of it. */
export const chainMethods = ({ chainId }: { readonly chainId: bigint }, { current }: CurrentView): Methods => ({
  eth_chainId: given => params.take(given, 0, 0) && encodeQuantity(chainId),
  net_version: given => params.take(given, 0, 0) && chainId.toString(),
  eth_blockNumber: async given => params.take(given, 0, 0) && encodeQuantity((await current()).blockNumber),
})
