import type { Hex } from '../../base/bytes.ts'
import { lowerCase } from '../../base/hex.ts'
import type { RecordOptions } from '../../entry/rpc.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { UsageError } from '../errors.ts'
import { statedBlockHash } from '../words/evidence.ts'
import { trustedBlockOf } from './checkpoint.ts'
import type { Connections } from './connections.ts'
import type { Flags } from './declared.ts'
import type { ChosenNetwork } from './network.ts'

export type RecordTrust = ReturnType<typeof readRecordTrust>

/** What proves an L1 block. */
export type TrustedL1Block = TrustedBeaconBlock | { readonly l1BlockHash: Hex }

/** @throws UsageError before anything is fetched */
export function readRecordTrust(flags: Flags, network: ChosenNetwork) {
  const { checkpoint, beacon, 'l1-block': l1Block, 'l1-block-hash': l1BlockHash } = flags
  if (checkpoint !== undefined) {
    if (l1Block !== undefined || l1BlockHash !== undefined) {
      const refused = '--l1-block and --l1-block-hash cannot be combined with --checkpoint, which proves the L1 block'
      throw new UsageError(refused)
    }
    return {
      beacon: trustedBlockOf(checkpoint, network),
      maxAge: flags['checkpoint-max-age'],
      l1BlockHash: undefined,
      l1Block: undefined,
    }
  }
  if (beacon !== undefined) {
    throw new UsageError('--checkpoint is needed with --beacon: the beacon block that you trust')
  }
  if (flags['checkpoint-max-age'] !== undefined) throw new UsageError('--checkpoint-max-age goes with --checkpoint')
  // The hash that the L1 block has to have, and which one to prove from.
  const hash = l1BlockHash && lowerCase(l1BlockHash)
  return { beacon: undefined, maxAge: undefined, l1BlockHash: hash, l1Block: l1Block ?? 'finalized' }
}

/** The options of the library for this. @throws UsageError if no beacon API is given to prove the L1 block */
export function trustOptionsOf(
  { beacon, maxAge, l1Block }: RecordTrust,
  urls: readonly string[] | undefined,
  { openBeacon }: Connections,
): Pick<RecordOptions, 'beacon' | 'l1BlockNumber'> {
  if (beacon !== undefined) return { beacon: { apis: openBeacon(urls), trusted: beacon, maxTrustedAgeSeconds: maxAge } }
  return l1Block === undefined ? {} : { l1BlockNumber: l1Block }
}

/** What to verify an existing file from: the hash of its own header, if the user states nothing. */
export const trustedIn = (bundle: unknown, { beacon, l1BlockHash }: RecordTrust): TrustedL1Block =>
  beacon ?? { l1BlockHash: l1BlockHash ?? statedBlockHash(bundle) }
