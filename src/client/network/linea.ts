import { lineaRollup, lineaSepoliaRollup } from '../../verify/anchor/rollup.ts'
import { mainnetBeacon, sepoliaBeacon } from '../../verify/beacon/network.ts'
import { lineaMessageService, lineaSepoliaMessageService } from '../../verify/messages/message.ts'
import { poseidon2 } from '../../verify/scheme/poseidon2.ts'
import type { KnownNetwork } from './network.ts'

// What this file exports, the package exports.

/**
 * Linea, which is finalized on Ethereum mainnet. Its state roots are of `poseidon2`; for those of blocks until spring 2026, which no
 * endpoint serves any longer, pass `{ ...lineaMainnet, scheme: mimc }`.
 *
 * @example
 * ```ts
 * import { lineaMainnet } from 'rollup-state-proof/networks'
 *
 * console.log(lineaMainnet.rollup.chainId, lineaMainnet.rollup.l1ChainId, lineaMainnet.beacon?.name) // 59144 1 mainnet
 * ```
 */
export const lineaMainnet: KnownNetwork = {
  name: 'linea',
  rollup: lineaRollup,
  scheme: poseidon2,
  messageService: lineaMessageService,
  beacon: mainnetBeacon,
}

/**
 * Linea Sepolia, which is finalized on Sepolia: otherwise like {@link lineaMainnet}.
 *
 * @example
 * ```ts
 * import { lineaSepolia } from 'rollup-state-proof/networks'
 *
 * console.log(lineaSepolia.rollup.chainId, lineaSepolia.rollup.l1ChainId, lineaSepolia.beacon?.name) // 59141 11155111 sepolia
 * ```
 */
export const lineaSepolia: KnownNetwork = {
  name: 'linea-sepolia',
  rollup: lineaSepoliaRollup,
  scheme: poseidon2,
  messageService: lineaSepoliaMessageService,
  beacon: sepoliaBeacon,
}

/**
 * All networks that the package knows: for a list to choose from.
 *
 * @example
 * ```ts
 * import { lineaNetworks } from 'rollup-state-proof/networks'
 *
 * console.log(lineaNetworks.map(({ name }) => name).join(', ')) // linea, linea-sepolia
 * ```
 */
export const lineaNetworks: readonly KnownNetwork[] = [lineaMainnet, lineaSepolia]
