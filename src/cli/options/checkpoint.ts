import { isArgumentError } from '../../base/errors.ts'
import type { Hex } from '../../entry/index.ts'
import { type TrustedBeaconBlock, trustBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import type { ChosenNetwork } from './network.ts'

/** The beacon block that the user trusts, of the network's L1. @throws UsageError */
export function trustedBlockOf(blockRoot: Hex, { beacon: network, name }: ChosenNetwork): TrustedBeaconBlock {
  if (network === undefined) throw new UsageError(`--checkpoint: the network ${name} has no beacon chain`)
  try {
    return trustBeaconBlock({ network, blockRoot })
  } catch (error) {
    // The root is hexadecimal.
    if (isArgumentError(error)) throw argumentRefused(error, `--network: beacon${error.path.slice('network'.length)}`)
    throw error
  }
}
