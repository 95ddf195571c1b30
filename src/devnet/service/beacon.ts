import type { Hex } from '../../base/bytes.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconAnswer, Consensus } from './consensus.ts'
import type { L1, L1Options } from './simulated-l1.ts'

/**
 * The consensus layer of the simulated L1. It has one beacon block per L1 block, many slots apart, so that sync committee
 * periods and forks pass quickly. It generates its sync committees on first use.
 */
export interface SimulatedBeacon {
  /** Its genesis and forks, as a verifier expects them. */
  readonly network: BeaconNetwork
  /**
   * The root of the beacon block that contains an L1 block, 32 bytes, to be trusted with `trustBeaconBlock`. Undefined if
   * there is no such L1 block.
   *
   * @param l1BlockNumber from 0
   */
  blockRoot(l1BlockNumber: bigint): Promise<Hex | undefined>
  /**
   * Answers a GET request of the beacon API.
   *
   * @param path the path, starting with `/eth/v1`
   * @param query the query parameters
   */
  answer(path: string, query?: URLSearchParams): Promise<BeaconAnswer>
}

const network: BeaconNetwork = {
  name: 'devnet',
  genesisValidatorsRoot: `0x${'5e'.repeat(32)}`,
  genesisTime: 0x69000000,
  // Each fork lasts one and a half sync committee periods. A period has 256 epochs, or 8192 slots.
  forks: ['capella', 'deneb', 'electra', 'fulu', 'gloas'].map((name, index) => {
    return { name, version: `0x${index + 3}0000001`, epoch: 384 * index }
  }),
}

/** Defers loading the curve and generating the committees until first use. */
export function lazyBeacon(l1: L1, { l1Unfinalized = 0 }: L1Options): SimulatedBeacon {
  let loaded: Promise<Consensus> | undefined
  const load = () => {
    loaded ??= import('./consensus.ts').then(({ createConsensus }) => createConsensus(l1, network, l1Unfinalized))
    return loaded
  }
  return {
    network,
    blockRoot: async l1BlockNumber => (await load()).blockRoot(l1BlockNumber),
    answer: async (path, query = new URLSearchParams()) => (await load()).answer(path, query),
  }
}
