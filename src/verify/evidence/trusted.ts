import type { Hex } from '../../base/bytes.ts'
import { ArgumentError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { readHex, readOptions } from '../../base/options.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../beacon/trusted-block.ts'

/** The beacon block that a bundle proves final, and the beacon block that you trust. */
export interface ProvenBeaconBlock extends Omit<ProvenConsensus, 'l1BlockHash'> {
  /** Root of the beacon block that you trust, 32 bytes. */
  trustedBlockRoot: Hex
}

/** The one thing that you trust. The higher in this list, the more is proven and the less you have to believe. */
export type Trusted =
  | TrustedBeaconBlock
  | {
      /** keccak256 of an L1 block header, 32 bytes. */
      l1BlockHash: Hex
    }
  | {
      /** Root of the L1 state, 32 bytes. */
      l1StateRoot: Hex
    }
  | {
      /** Root of the L2 state, 32 bytes. Nothing about L1 is read or proven then. */
      l2StateRoot: Hex
    }

const BEACON_FIELDS = ['network', 'verifyConsensus', 'lightClient']
const KINDS = ['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot'] as const

/** Which kind of trusted input a verdict rests on. */
export type Reach = (typeof KINDS)[number]

/** Requires exactly one. Given two, a caller could think that both were checked. @throws ArgumentError */
export function decodeTrusted(trusted: Trusted) {
  const own = readOptions('trusted', trusted, [...KINDS, ...BEACON_FIELDS])
  const [kind, ...others] = KINDS.filter(name => Object.hasOwn(own, name))
  if (kind === undefined || others.length > 0) {
    throw new ArgumentError({ path: 'trusted', expected: `exactly one of ${KINDS.join(', ')}` })
  }
  const root = readHex(`trusted.${kind}`, readOwn(own, kind), 32)
  if (kind !== 'beaconBlockRoot') {
    // Whoever states a network thinks that consensus is verified.
    readOptions('trusted', trusted, KINDS)
    return { kind, root, beaconBlock: null }
  }
  const [network, verifyConsensus] = [readOwn(own, 'network'), readOwn(own, 'verifyConsensus')]
  if (typeof verifyConsensus !== 'function' || typeof network !== 'string') {
    throw new ArgumentError({ path: 'trusted', expected: 'what trustBeaconBlock of rollup-state-proof/beacon returns' })
  }
  // The function is the caller's own, and so is the type of what it returns.
  const beaconBlock = { network, verifyConsensus } as Pick<TrustedBeaconBlock, 'network' | 'verifyConsensus'>
  return { kind, root, beaconBlock }
}
