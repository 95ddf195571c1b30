import { isArgumentError } from '../../base/errors.ts'
import { type TrustedBeaconBlock, trustBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import type { ChosenNetwork } from './network.ts'

/** The beacon block that the user trusts, of the network's L1. @throws UsageError */
export function trustedBlockOf(root: string, { beacon: network, name }: ChosenNetwork): TrustedBeaconBlock {
  if (network === undefined) throw new UsageError(`--checkpoint: the network ${name} has no beacon chain`)
  try {
    // Despite the type, the hexadecimal is unchecked: trustBeaconBlock refuses it with an ArgumentError.
    return trustBeaconBlock({ network, blockRoot: root as `0x${string}` })
  } catch (error) {
    if (!isArgumentError(error)) throw error
    throw argumentRefused(
      error,
      error.path.startsWith('network') ? `--network: beacon${error.path.slice(7)}` : '--checkpoint',
    )
  }
}
