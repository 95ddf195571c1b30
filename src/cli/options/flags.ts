import type { Trusted } from '../../entry/anchor.ts'
import { isArgumentError, type Outcome, type Scheme, safely } from '../../entry/index.ts'
import { createStateVerifier } from '../../verify/state/kind.ts'
import type { AnyState } from '../../verify/state/types.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { type ClaimWithSources, completeClaim, isProblem } from '../words/claim.ts'
import type { AnswerFile, StatedClaim } from '../words/input-file.ts'
import type { Flags } from './declared.ts'
import { type ChosenNetwork, networkOf, requireKind } from './network.ts'

/** The hash scheme of the network, for what knows no Ethereum state. @throws UsageError */
export function schemeOf({ scheme, name }: ChosenNetwork): Scheme {
  if (typeof scheme !== 'string') return scheme
  throw new UsageError(`the network ${name} has an Ethereum state: its scheme is neither mimc nor poseidon2`)
}

/** The claim on an answer: from the options, the file and, last, the answer itself. @throws UsageError */
export function requireClaim(stated: StatedClaim, file: AnswerFile): ClaimWithSources {
  const claim = completeClaim(stated, file)
  if (!isProblem(claim)) return claim
  const { problem, found } = claim
  if (problem === 'scheme') {
    if (found !== undefined) requireKind(found)
    // Whatever it is, such as an error, it has the form of no answer: verifying it says so.
    return requireClaim({ ...stated, scheme: 'poseidon2' }, file)
  }
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

/** Exactly one: with two, it would be unclear on which one the verdict rests. @throws UsageError */
export async function trustedOf(flags: Flags, network?: ChosenNetwork): Promise<Trusted> {
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
  if (flags.checkpoint !== undefined) {
    // Only a checkpoint needs the signatures of the sync committees.
    const { trustedBlockOf } = await import('./checkpoint.ts')
    return trustedBlockOf(flags.checkpoint, network ?? networkOf(flags))
  }
  // Of one entry, with a name from above.
  return Object.fromEntries(given) as unknown as Trusted
}
