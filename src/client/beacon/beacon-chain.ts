import { ProofError } from '../../base/errors.ts'
import { clockOf } from '../../verify/beacon/clock.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconLightClient } from '../../verify/beacon/trusted-block.ts'
import type { VerifiedBootstrap, VerifiedFinality, VerifiedUpdate } from '../../verify/beacon/verify.ts'
import { EndpointError } from '../transport/error.ts'
import { MAX_UPDATES_AT_ONCE } from '../transport/limits.ts'
import { claimedPeriod, countPeriods, fetchFinality, fetchUpdates, readClaimed } from './beacon-api.ts'
import type { Session } from './beacon-session.ts'

/** A proven block, and the committee that signed for it, or that of its period. */
export type KnownBlock = Omit<VerifiedBootstrap, 'l1BlockNumber' | 'l1Timestamp'>

/**
 * What is proven of a beacon chain. The newest committee is remembered apart from the newest block: it may not sign yet, and
 * then the one before it does.
 */
export interface Chain {
  best: KnownBlock
  /** The newest slot of a finality update that was verified. */
  newestSlot: bigint
  /** The newest committee, and the one before it. */
  committees: readonly Committee[]
}

/** Told of every step. What they throw ends the call. */
export interface Steps {
  readonly onClaim?: (period: number) => void
  readonly onUpdate?: (update: unknown, verified: VerifiedUpdate) => void
  readonly onFinality?: (finality: unknown, verified: VerifiedFinality, committee: Committee) => void
}

/** The newest committee of a chain, which has at least one. */
const newestOf = ({ best, committees }: Chain): Committee => committees.at(-1) ?? best.committee

/**
 * Asks all endpoints for their newest finalized block, and proves the newest of them that it can. What is proven stays in
 * `chain`, even if it is not enough.
 *
 * @param isEnough whether there is no need to wait long for endpoints that may know more
 */
export async function extendChain(
  session: Session,
  chain: Chain,
  beacon: BeaconLightClient,
  isEnough: () => boolean,
  steps: Steps = {},
): Promise<void> {
  const { network } = beacon
  const start = chain.best.slot
  let stepping: Promise<void> | undefined

  function improve(verified: VerifiedFinality, committee: Committee, source: unknown): void {
    verifyClock(network, verified, readClaimed(source, 'data', 'signature_slot'))
    if (verified.slot > chain.best.slot) chain.best = { ...verified, committee }
  }

  /** Takes as many of these updates as verify. @throws if not even the first does */
  async function take(updates: readonly unknown[]): Promise<void> {
    for (const [index, update] of updates.entries()) {
      const signing = newestOf(chain)
      await session.turn()
      try {
        const verified = beacon.verifyUpdate(update, signing)
        chain.committees = [signing, verified.committee]
        improve(verified, signing, update)
        session.progress()
        session.tell(() => steps.onUpdate?.(update, verified))
      } catch (error) {
        if (index === 0) throw error
        return
      }
    }
  }

  async function step(period: number): Promise<void> {
    const first = newestOf(chain).period
    const count = Math.min(period - first, MAX_UPDATES_AT_ONCE)
    await session.race((api, signal) => fetchUpdates(api, first, count, signal), take, false)
  }

  const claims = new Map<number, bigint>()
  await session.each(fetchFinality, isEnough, async (finality, index) => {
    const slot = readClaimed(finality, 'data', 'finalized_header', 'beacon', 'slot')
    const period = claimedPeriod(network, readClaimed(finality, 'data', 'signature_slot'))
    if (slot < start) throw new ProofError('BEACON_OLDER_THAN_CHECKPOINT')
    countPeriods(newestOf(chain).period, period)
    session.tell(() => steps.onClaim?.(period))
    while (newestOf(chain).period < period) {
      stepping ??= step(period).finally(() => {
        stepping = undefined
      })
      await stepping
    }
    claims.set(index, slot)
    await session.turn()
    // Another endpoint may have proven it meanwhile.
    if (slot <= chain.newestSlot) return
    const committee = chain.committees.find(committee => committee.period === period) ?? newestOf(chain)
    const verified = beacon.verifyFinality(finality, committee)
    chain.newestSlot = verified.slot
    improve(verified, committee, finality)
    session.tell(() => steps.onFinality?.(finality, verified, committee))
  })
  for (const [index, slot] of claims) if (slot < chain.newestSlot) session.lag(index)
}

/** Checks that the time of a signature is not after that of this machine. @throws EndpointError `CLOCK_BEHIND` */
function verifyClock(network: BeaconNetwork, { slot, slotTimestamp }: VerifiedFinality, signatureSlot: bigint): void {
  const { secondsPerSlot } = clockOf(network)
  const ahead = Number(slotTimestamp + (signatureSlot - slot) * BigInt(secondsPerSlot)) - Date.now() / 1000
  if (ahead > secondsPerSlot) {
    throw new EndpointError('CLOCK_BEHIND', { found: `${Math.round(ahead)} seconds` })
  }
}
