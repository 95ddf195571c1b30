import { lowerCase } from '../../base/hex.ts'
import type { Trusted } from '../../entry/anchor.ts'
import { type Hex, isArgumentError } from '../../entry/index.ts'
import type { RecordOptions } from '../../entry/rpc.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { statedBlockHash } from '../words/evidence.ts'
import { listed } from '../words/verdict.ts'
import type { Flags } from './declared.ts'
import type { Connections } from './endpoint.ts'
import type { ChosenNetwork } from './network.ts'

export async function trustedBlockOf(blockRoot: Hex, { beacon: network, name }: ChosenNetwork) {
  if (network === undefined) throw new UsageError(`--checkpoint: the network ${name} has no beacon chain`)
  // Only a checkpoint needs the signatures of the sync committees.
  const { trustBeaconBlock } = await import('../../verify/beacon/trusted-block.ts')
  try {
    return trustBeaconBlock({ network, blockRoot })
  } catch (error) {
    // The root is hexadecimal.
    if (isArgumentError(error)) throw argumentRefused(error, `--network: beacon${error.path.slice('network'.length)}`)
    throw error
  }
}

const TRUSTED = {
  checkpoint: 'beaconBlockRoot',
  'l1-block-hash': 'l1BlockHash',
  'l1-state-root': 'l1StateRoot',
  'state-root': 'l2StateRoot',
} as const
type TrustOption = keyof typeof TRUSTED
// Its keys are those.
export const TRUST_OPTIONS = Object.keys(TRUSTED) as TrustOption[]

/**
 * Exactly one: with two, it would be unclear on which one the verdict rests. @param names those that the command has @throws UsageError
 */
export async function trustedOf(flags: Flags, network: ChosenNetwork, names: readonly TrustOption[]): Promise<Trusted> {
  const given = names.filter(name => flags[name] !== undefined).map(name => [TRUSTED[name], flags[name]])
  if (given.length !== 1) {
    throw new UsageError(`state what you trust, with exactly one of ${listed(names.map(name => `--${name}`))}`)
  }
  if (flags.implementation !== undefined && flags['state-root'] !== undefined) {
    throw new UsageError('--implementation: with --state-root, nothing proves the code of the contract')
  }
  if (flags.checkpoint !== undefined) return trustedBlockOf(flags.checkpoint, network)
  // Of one entry, with a name from above.
  return Object.fromEntries(given) as unknown as Trusted
}

export type TrustedL1Block = TrustedBeaconBlock | { readonly l1BlockHash: Hex }

export type RecordTrust = Awaited<ReturnType<typeof readRecordTrust>>

/** From which L1 block to record, and which hash it has to have. @throws UsageError before anything is fetched */
export async function readRecordTrust(flags: Flags, network: ChosenNetwork) {
  const { checkpoint, 'l1-block': l1Block = 'finalized', 'l1-block-hash': hash } = flags
  return {
    beacon: checkpoint && (await trustedBlockOf(checkpoint, network)),
    maxAge: flags['checkpoint-max-age'],
    l1BlockHash: hash && lowerCase(hash),
    l1Block,
  }
}

/** The options of the library for this. @throws UsageError if no beacon API is given to prove the L1 block */
export const trustOptionsOf = (
  { beacon, maxAge, l1Block }: RecordTrust,
  urls: readonly string[] | undefined,
  { openBeacon }: Connections,
): Pick<RecordOptions, 'beacon' | 'l1BlockNumber'> =>
  beacon
    ? { beacon: { apis: openBeacon(urls), trusted: beacon, maxTrustedAgeSeconds: maxAge } }
    : { l1BlockNumber: l1Block }

/** What to verify an existing file from: the hash of its own header, if the user states nothing. */
export const trustedIn = (bundle: unknown, { beacon, l1BlockHash }: RecordTrust): TrustedL1Block =>
  beacon ?? { l1BlockHash: l1BlockHash ?? statedBlockHash(bundle) }
