import type { BeaconNetwork } from '../beacon/network.ts'
import type { Hex } from '../bytes.ts'
import type { Consensus } from './consensus.ts'
import type { L1, L1Options } from './simulated-l1.ts'

/** What the beacon API answers. */
export interface BeaconAnswer {
  /** Of HTTP. */
  readonly status: number
  /** To be sent as JSON. */
  readonly body: object
}

/**
 * A consensus layer over the simulated L1: one beacon block per L1 block, many slots apart, so that sync-committee periods and
 * forks pass quickly. Its committees are made when they are first asked for.
 */
export interface Beacon {
  /** Its forks and its genesis, as a verifier wants them. */
  readonly network: BeaconNetwork
  /**
   * The root of the beacon block that has an L1 block, 32 bytes: a checkpoint. Null when there is no such L1 block.
   *
   * @param l1BlockNumber from 0
   */
  blockRoot(l1BlockNumber: bigint): Promise<Hex | null>
  /**
   * Answers a GET request of the beacon API.
   *
   * @param path from `/eth/v1` on
   * @param query its parameters
   */
  answer(path: string, query?: URLSearchParams): Promise<BeaconAnswer>
}

const network: BeaconNetwork = {
  name: 'devnet',
  genesisValidatorsRoot: `0x${'5e'.repeat(32)}`,
  genesisTime: 0x69000000,
  // Half a period each: 8192 slots are a period, 256 epochs.
  forks: [
    { name: 'capella', version: '0x30000001', epoch: 0 },
    { name: 'deneb', version: '0x40000001', epoch: 384 },
    { name: 'electra', version: '0x50000001', epoch: 768 },
    { name: 'fulu', version: '0x60000001', epoch: 1152 },
    { name: 'gloas', version: '0x70000001', epoch: 1536 },
  ],
}

/** Loads the curve and makes the committees only when somebody asks. */
export function lazyBeacon(l1: L1, { l1Unfinalized = 0 }: L1Options): Beacon {
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
