import { lowerCase } from '../../base/hex.ts'
import type { Rollup, StateScheme, Trusted, TrustedBeaconBlock } from '../../entry/anchor.ts'
import { type BeaconNetwork, trustBeaconBlock } from '../../entry/beacon.ts'
import { type Hex, isArgumentError, type Outcome, type Scheme, safely } from '../../entry/index.ts'
import type { AnyClaim } from '../../verify/evidence/types.ts'
import { messageServiceOf } from '../../verify/messages/layout.ts'
import { createStateVerifier } from '../../verify/state/kind.ts'
import type { AnyState } from '../../verify/state/types.ts'
import type { Io } from '../command.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { readJson } from '../files/input.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { guessKind, kindNamed, kindNames } from '../words/answer.ts'
import { type ClaimWithSources, completeClaim, isProblem } from '../words/claim.ts'
import { forkOf, networkNamed, rollupNamed } from '../words/evidence.ts'
import type { AnswerFile, StatedClaim } from '../words/input-file.ts'
import { cut, fieldIn, messageOf, show } from '../words/value.ts'
import type { Flags } from './declared.ts'
import { integerOf, requireHex } from './parse.ts'
import { didYouMean } from './suggest.ts'

/** A hash scheme, for what knows no Ethereum state. @throws UsageError */
export function requireScheme(name: unknown): Scheme {
  const kind = requireKind(name)
  if (typeof kind !== 'string') return kind
  throw new UsageError(`the scheme is neither mimc nor poseidon2: ${kind}.`)
}

/** @throws UsageError */
export function requireKind(name: unknown): StateScheme {
  if (name === undefined) {
    throw new UsageError('--scheme is needed: poseidon2, or mimc for blocks of Linea before it changed')
  }
  const kind = kindNamed(name)
  if (kind === undefined) {
    const text = show(name)
    throw new UsageError(`the scheme is neither ${kindNames.join(' nor ')}: ${text}.${didYouMean(text, kindNames)}`)
  }
  return kind.scheme
}

/** The claim on an answer: from the options, the file and, last, the answer itself. @throws UsageError */
export function requireClaim(stated: StatedClaim, file: AnswerFile): ClaimWithSources {
  const isUnstated = stated.scheme === undefined && file.stated.scheme == null
  const guess = isUnstated ? guessKind(file.answer) : undefined
  const claim = completeClaim(guess ? { ...stated, scheme: guess.name } : stated, file)
  if (!isProblem(claim)) return guess ? { ...claim, sources: { ...claim.sources, scheme: 'lengths' } } : claim
  const { problem, found } = claim
  if (problem === 'scheme') requireKind(found)
  if (problem === 'storageKeys') {
    const advice = 'state the keys that you asked for with --storage-key'
    throw new UsageError(`storageProofs[${found}] names no storage key: ${advice}`)
  }
  throw new UsageError('--state-root is needed: the root you trust, 32 bytes, from the rollup contract on L1')
}

/** Verifies the answer. @throws UsageError if the claim itself is wrong, unless a vector states it */
export function verifyAnswer({ kind, answer }: AnswerFile, { claim, sources }: ClaimWithSources): Outcome<AnyState> {
  const { scheme, ...asked } = claim
  const outcome = safely(() => createStateVerifier(scheme)(answer, asked))
  if (outcome.ok || !isArgumentError(outcome.error)) return outcome
  const { path } = outcome.error
  if (Object.entries(sources).some(([name, source]) => source === 'user' && path.startsWith(name))) {
    throw argumentRefused(outcome.error)
  }
  if (kind === 'vector') return outcome
  throw argumentRefused(outcome.error, `${path} in the file`)
}

/** The rollup and its block, as the user asks for them. @throws UsageError */
export const blockRequestOf = (flags: Flags) => ({
  scheme: requireKind(flags.scheme),
  rollup: rollupOf(flags),
  l2BlockNumber: integerOf(flags, 'l2-block', 64),
})

/** What the user states about them, to verify a bundle. @throws UsageError */
export function blockClaimOf(flags: Flags) {
  const { l2BlockNumber = 'fromBundle', ...known } = blockRequestOf(flags)
  return { ...known, l2BlockNumber } as const
}

/** What the user states about a bundle, which says the rest. The report tells them apart. @throws UsageError */
export async function claimOfFlags(flags: Flags, io: Io): Promise<AnyClaim> {
  const { address, 'storage-key': storageKeys } = flags
  requireHex('--address', 20, address)
  return {
    ...blockClaimOf(flags),
    address: address ?? 'fromBundle',
    storageKeys: storageKeys ?? 'fromBundle',
    trusted: await trustedOf(flags, io),
  }
}

/** Exactly one: with two, it would be unclear on which one the verdict rests. */
export async function trustedOf(flags: Flags, io: Io): Promise<Trusted> {
  const given = Object.entries({
    beaconBlockRoot: flags.checkpoint,
    l1BlockHash: flags['l1-block-hash'],
    l1StateRoot: flags['l1-state-root'],
    l2StateRoot: flags['state-root'],
  }).filter(([, value]) => value !== undefined)
  if (given.length !== 1) {
    const names = '--checkpoint, --l1-block-hash, --l1-state-root and --state-root'
    throw new UsageError(`state what you trust, with exactly one of ${names}`)
  }
  if (flags.implementation !== undefined && flags['state-root'] !== undefined) {
    throw new UsageError('--implementation: with --state-root, nothing proves the code of the contract')
  }
  if (flags.checkpoint !== undefined) return trustedBlockOf(flags.checkpoint, flags, io)
  if (flags.network !== undefined) throw new UsageError('--network needs --checkpoint')
  // Of one entry, with a name from above.
  return Object.fromEntries(given) as Trusted
}

/** The beacon block that the user trusts, with its network: by default that of the rollup. @throws UsageError */
export const trustedBlockOf = async (root: string, flags: Flags, io: Io): Promise<TrustedBeaconBlock> =>
  trustedBlockIn(root, await networkOf(flags, io))

/** @throws UsageError also for a network that a file does not describe as one */
export function trustedBlockIn(root: string, network: BeaconNetwork): TrustedBeaconBlock {
  try {
    // Despite the type, the hexadecimal is unchecked: trustBeaconBlock refuses it with an ArgumentError.
    return trustBeaconBlock({ network, blockRoot: root as `0x${string}` })
  } catch (error) {
    if (!isArgumentError(error)) throw error
    throw argumentRefused(error, error.path.startsWith('network') ? `--network: ${error.path}` : '--checkpoint')
  }
}

/** The network of the trusted beacon block: by default that of the rollup. @throws UsageError */
export async function networkOf({ network, rollup = '' }: Flags, io: Io): Promise<BeaconNetwork> {
  const known = networkNamed(network ?? rollup)
  if (known !== undefined) return known
  if (network === undefined) {
    throw new UsageError(
      '--network is needed with --checkpoint: mainnet, sepolia, hoodi, or a file with your own network',
    )
  }
  const content = await readJson(network, io).catch((error: unknown) => {
    const suggestion = error instanceof UsageError ? didYouMean(network, [...NETWORKS, 'hoodi']) : ''
    throw suggestion === ''
      ? error
      : new UsageError(`--network: no such network, and ${messageOf(error)}.${suggestion}`)
  })
  // As `serve --json` prints it, or alone.
  return (fieldIn(content, 'network') ?? content) as BeaconNetwork
}

const NETWORKS: readonly string[] = ['mainnet', 'sepolia']

/** The message service on L2: as stated, or that of the rollup if it is one of Linea's. @throws UsageError */
export function messageServiceIn({ 'message-service': stated }: Flags, { address }: Rollup): Hex {
  requireHex('--message-service', 20, stated)
  const service = stated ?? messageServiceOf(address)
  if (service === undefined) throw new UsageError('--message-service is needed: its address on L2, 20 bytes')
  return service
}

/** @throws UsageError */
export function rollupOf(flags: Flags): Rollup {
  const { implementation } = flags
  requireHex('--implementation', 20, implementation)
  return { ...contractOf(flags), ...(implementation !== undefined && { implementation: lowerCase(implementation) }) }
}

function contractOf(flags: Flags): Rollup {
  const { rollup, 'layout-roots-slot': rootsSlot, 'layout-current-slot': currentSlot } = flags
  if (rollup === undefined) {
    throw new UsageError('--rollup is needed: mainnet, sepolia, or the address of the rollup contract on L1')
  }
  const known = rollupNamed(rollup)
  if (known === undefined && !rollup.startsWith('0x')) {
    const expected =
      'Expected mainnet (Linea), sepolia (Linea Sepolia), or the address of the contract on L1, 20 bytes.'
    const name = cut(rollup, MAX_SHOWN_LENGTH)
    throw new UsageError(`--rollup: no such network: ${name}.${didYouMean(rollup, NETWORKS)} ${expected}`)
  }
  if (rootsSlot === undefined && currentSlot === undefined) return known ?? { address: rollup as Rollup['address'] }
  if (known) throw new UsageError(`--layout-...: not with --rollup ${rollup}, whose layout is known`)
  return forkOf(rollup, integerOf(flags, 'layout-roots-slot', 256), integerOf(flags, 'layout-current-slot', 256))
}
