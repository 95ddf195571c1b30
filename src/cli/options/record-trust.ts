import { lowerCase } from '../../base/hex.ts'
import type { L1BlockTag } from '../../client/l1/l1.ts'
import type { Trusted } from '../../entry/anchor.ts'
import type { RecordOptions } from '../../entry/rpc.ts'
import { UsageError } from '../errors.ts'
import { statedBlockHash } from '../words/evidence.ts'
import { trustedBlockOf } from './checkpoint.ts'
import type { Connections } from './connections.ts'
import type { Flags } from './declared.ts'
import type { ChosenNetwork } from './network.ts'
import { integerOf, requireHex, toInteger } from './parse.ts'

/** What the user trusts while recording. */
export type RecordTrust = ReturnType<typeof readRecordTrust>

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
      maxAge: maxAgeOf(flags),
      l1BlockHash: undefined,
      l1Block: undefined,
    }
  }
  if (beacon !== undefined) {
    throw new UsageError('--checkpoint is needed with --beacon: the beacon block that you trust')
  }
  if (flags['checkpoint-max-age'] !== undefined) throw new UsageError('--checkpoint-max-age goes with --checkpoint')
  requireHex('--l1-block-hash', 32, l1BlockHash)
  const isTag = l1Block === undefined || l1Block === 'finalized' || l1Block === 'safe' || l1Block === 'latest'
  const block: bigint | L1BlockTag = isTag ? (l1Block ?? 'finalized') : toInteger('--l1-block', l1Block, 64)
  // The hash that the L1 block has to have, and which one to prove from.
  return { beacon: undefined, maxAge: undefined, l1BlockHash: l1BlockHash && lowerCase(l1BlockHash), l1Block: block }
}

/** How old a beacon block may be, in seconds. Default: what the library accepts. @throws UsageError */
export function maxAgeOf(flags: Flags): number | undefined {
  const age = integerOf(flags, 'checkpoint-max-age', 40)
  return age === undefined ? undefined : Number(age)
}

/** The options of the library for this. @throws UsageError if no beacon API is given to prove the L1 block */
export function trustOptionsOf(
  { beacon, maxAge, l1Block }: RecordTrust,
  urls: readonly string[] | undefined,
  { openBeacon }: Connections,
): Pick<RecordOptions, 'beacon' | 'l1BlockNumber'> {
  const apis = openBeacon(urls, beacon !== undefined)
  if (beacon !== undefined) return { beacon: { apis, trusted: beacon, maxTrustedAgeSeconds: maxAge } }
  return l1Block === undefined ? {} : { l1BlockNumber: l1Block }
}

/** What to verify an existing file from: the hash of its own header, if the user states nothing. */
export const trustedIn = (bundle: unknown, { beacon, l1BlockHash }: RecordTrust): Trusted =>
  beacon ?? { l1BlockHash: l1BlockHash ?? statedBlockHash(bundle) }
