import type { Committee } from '../beacon/committee.ts'
import type { BeaconNetwork } from '../beacon/network.ts'
import type { Checkpoint, VerifiedBootstrap, VerifiedFinality, VerifiedUpdate } from '../beacon/verify.ts'
import type { Hex } from '../bytes.ts'
import {
  countPeriods,
  describeFailures,
  fetchBootstrap,
  fetchFinality,
  fetchUpdates,
  periodOf,
  readClaimed,
  verifyApis,
} from './beacon.ts'
import { isFailure, RpcError } from './error.ts'
import type { BeaconApi } from './http.ts'
import { argumentInvalid, readOptions, verifyFunction, verifyWhole } from './options.ts'
import { inTime } from './waiting.ts'

/**
 * The functions of `rollup-state-proof/beacon` that verify: pass the whole module. The caller passes them, so that only
 * programs that follow a beacon chain carry its cryptography.
 */
export interface BeaconVerifier {
  /** `verifyBootstrap`. */
  verifyBootstrap: (bootstrap: unknown, checkpoint: Checkpoint) => VerifiedBootstrap
  /** `verifyUpdate`. */
  verifyUpdate: (update: unknown, committee: Committee) => VerifiedUpdate
  /** `verifyFinality`. */
  verifyFinality: (update: unknown, committee: Committee) => VerifiedFinality
}

/** The state of following a beacon chain: plain JSON, about 53 kB. Whoever can change it controls what is trusted next. */
export interface BeaconState {
  /** The version of this format. */
  version: 1
  /** The committee that signed for the finalized block, or that of the checkpoint. */
  committee: Committee
  /** The newest proven finalized block, or the checkpoint. */
  finalized: {
    /** Hash of the L1 block in it, 32 bytes. */
    l1BlockHash: Hex
    /** Root of the beacon block, 32 bytes. */
    blockRoot: Hex
    /** Decimal. */
    slot: string
    /** When the slot began, in seconds since 1970. Decimal. */
    slotTimestamp: string
  }
}

/** An endpoint that failed, lied or lags, and how. */
export interface BeaconFailure {
  /** Index of the endpoint. */
  index: number
  /** The code of the error. */
  code: string
}

/** Where to start, and what is too old. */
export interface FollowBeaconOptions {
  /** `mainnet`, `sepolia` or your own. */
  network: BeaconNetwork
  /** The beacon block that you trust, 32 bytes. Only used without `state`. */
  blockRoot: Hex
  /** The last state that `onState` received, to continue from there. Store it where nobody else can change it. */
  state?: BeaconState | undefined
  /** Called with every new state: store it. If it throws or rejects, so does the current call. */
  onState?: (state: BeaconState) => void | Promise<void>
  /** Called at each call with the endpoints that failed, lied or lag. */
  onFailure?: (failures: readonly BeaconFailure[]) => void
  /** Maximum age of the newest finalized block, in seconds. Default: 86,400, a day; `Infinity` for no limit. */
  maxAge?: number
  /** Maximum age of the checkpoint or stored state, in seconds. Default: 1,209,600, two weeks; `Infinity` for no limit. */
  maxCheckpointAge?: number
  /** How long an endpoint may take for one answer, in milliseconds. Default: 10,000. */
  timeout?: number
}

const OPTIONS = ['network', 'blockRoot', 'state', 'onState', 'onFailure', 'maxAge', 'maxCheckpointAge', 'timeout']
const DAY = 86_400

/** One request to an endpoint. */
type Ask = (api: BeaconApi, signal: AbortSignal) => Promise<unknown>

/** A proven block, and the committee to continue with. */
interface Known {
  readonly committee: Committee
  readonly l1BlockHash: Hex
  readonly blockRoot: Hex
  readonly slot: bigint
  readonly slotTimestamp: bigint
}

/**
 * Follows a beacon chain over several endpoints, none of which is trusted: a source of L1 block hashes for the verified
 * provider and for `verifyEvidence`. One honest endpoint suffices: the newest proven block counts, so an endpoint cannot hide
 * it. It never goes back to an older block.
 *
 * @param apis one or more beacon APIs
 * @param beacon the module `rollup-state-proof/beacon`, or its three functions
 * @param options where to start, and what is too old
 * @returns a function that asks the endpoints at each call and returns the hash of the newest finalized L1 block. It throws an
 * RpcError `BEACON_UNAVAILABLE` if nothing is proven, `BEACON_STALE` if the newest proven block is older than `maxAge`,
 * `BEACON_CHECKPOINT_OLD`; ProofError `CLAIM_INVALID`, or `BEACON_COMMITTEE_ROOT` if the stored state is damaged
 * @throws RpcError `ARGUMENT_INVALID`
 *
 * @example
 * ```ts
 * import * as beacon from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi, followBeacon } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { beaconUrl } = await service.listen()
 *
 * const { network } = service.beacon
 * const blockRoot = (await service.beacon.blockRoot(60n)) ?? '0x'
 * const apis = [createBeaconApi(beaconUrl), createBeaconApi('http://127.0.0.1:1')]
 * const any = { maxAge: Infinity, maxCheckpointAge: Infinity } // the clock of the demo stands still
 * const l1BlockHash = followBeacon(apis, beacon, { network, blockRoot, ...any })
 * console.log((await l1BlockHash()).length) // 66
 * await service.close()
 * ```
 */
export function followBeacon(
  apis: readonly BeaconApi[],
  beacon: BeaconVerifier,
  options: FollowBeaconOptions,
): () => Promise<Hex> {
  verifyApis(apis)
  for (const name of ['verifyBootstrap', 'verifyUpdate', 'verifyFinality'] as const) {
    if (typeof beacon?.[name] !== 'function') throw argumentInvalid(`beacon.${name}`, 'a function', beacon?.[name])
  }
  const own = readOptions('options', options, OPTIONS)
  const { network, blockRoot, onState, onFailure, maxAge = DAY, maxCheckpointAge = 14 * DAY, timeout = 10_000 } = own
  verifyWhole('timeout', timeout, 1, 2 ** 31 - 1)
  verifyFunction('onState', onState)
  verifyFunction('onFailure', onFailure)
  for (const [name, seconds] of Object.entries({ maxAge, maxCheckpointAge })) {
    if (typeof seconds !== 'number' || !(seconds >= 0)) throw argumentInvalid(name, 'a number of seconds', seconds)
  }
  let known: Known | undefined = own.state === undefined ? undefined : readState(own.state, network)
  /** Whether the age of the starting point was checked. What is proven from it later needs no such check. */
  let hasBegun = false
  let running: Promise<Hex> | undefined

  async function begin(): Promise<Known> {
    const begun = known ?? (await fromFirst((api, signal) => fetchBootstrap(api, blockRoot, signal), toKnown))
    if (ageOf(begun) > maxCheckpointAge) {
      throw new RpcError('BEACON_CHECKPOINT_OLD', { found: `${Math.round(ageOf(begun) / DAY)} days`, layer: 'beacon' })
    }
    hasBegun = true
    if (known === undefined) await keep(begun)
    return begun
  }

  const toKnown = (bootstrap: unknown): Known => beacon.verifyBootstrap(bootstrap, { network, blockRoot })

  async function keep(next: Known): Promise<void> {
    await onState?.(toState(next))
    known = next
  }

  /** The first answer that `verify` accepts. Asks one endpoint after another. */
  async function fromFirst<T>(ask: Ask, verify: (answer: unknown) => T): Promise<T> {
    const codes: string[] = []
    for (const api of apis) {
      try {
        return verify(await inTime(timeout, signal => ask(api, signal)))
      } catch (error) {
        codes.push(codeOf(error))
      }
    }
    throw new RpcError('BEACON_UNAVAILABLE', { found: describeFailures(codes), layer: 'beacon' })
  }

  /** Advances from committee to committee, with the updates of `first` or, if they fail, of any endpoint. */
  async function advance(from: Known, period: number, first: BeaconApi): Promise<Known> {
    let at = from
    countPeriods(at.committee.period, period)
    while (at.committee.period < period) {
      const { committee } = at
      const ask: Ask = async (api, signal) => (await fetchUpdates(api, committee.period, 1, signal))[0]
      const verify = (update: unknown) => beacon.verifyUpdate(update, committee)
      const update = await inTime(timeout, signal => ask(first, signal))
        .then(verify)
        .catch(error => {
          if (!isFailure(error)) throw error
          return fromFirst(ask, verify)
        })
      // The block of an update may be older than the newest known block.
      at = update.slot > at.slot ? update : { ...at, committee: update.committee }
    }
    return at
  }

  async function refresh(): Promise<Hex> {
    const begun = hasBegun && known !== undefined ? known : await begin()
    const failures: BeaconFailure[] = []
    const fail = (index: number, error: unknown) => failures.push({ index, code: codeOf(error) })
    const answers = await Promise.all(
      apis.map(async (api, index) => {
        try {
          const finality = await inTime(timeout, signal => fetchFinality(api, signal))
          const slot = readClaimed(finality, 'data', 'finalized_header', 'beacon', 'slot')
          const period = periodOf(readClaimed(finality, 'data', 'signature_slot'))
          return { api, index, finality, slot, period }
        } catch (error) {
          fail(index, error)
          return null
        }
      }),
    )
    const claims = answers
      .filter(answer => answer !== null)
      .sort((a, b) => (a.slot < b.slot ? 1 : a.slot > b.slot ? -1 : 0))
    let at = begun
    for (const { api, index, finality, slot, period } of claims) {
      // Claims are sorted: no later one is newer.
      if (slot < at.slot) failures.push({ index, code: 'BEACON_OLDER_THAN_CHECKPOINT' })
      if (slot <= at.slot) continue
      try {
        // Keep nothing unless finality is proven. Otherwise a lie about the period would make us leave the current
        // committee while it still signs.
        const next = await advance(at, period, api)
        const finalized = beacon.verifyFinality(finality, next.committee)
        at = finalized.slot > next.slot ? { ...finalized, committee: next.committee } : next
      } catch (error) {
        if (!isFailure(error)) throw error
        fail(index, error)
      }
    }
    if (at !== begun) await keep(at)
    if (failures.length > 0) onFailure?.(failures.sort((a, b) => a.index - b.index))
    if (failures.length === apis.length && at.slot === begun.slot) {
      const codes = failures.map(({ code }) => code)
      throw new RpcError('BEACON_UNAVAILABLE', { found: describeFailures(codes), layer: 'beacon' })
    }
    if (ageOf(at) > maxAge) {
      throw new RpcError('BEACON_STALE', { found: `${Math.round(ageOf(at))} seconds old`, layer: 'beacon' })
    }
    return at.l1BlockHash
  }

  // Concurrent calls share one refresh.
  return () => {
    running ??= refresh().finally(() => {
      running = undefined
    })
    return running
  }
}

function codeOf(error: unknown): string {
  if (isFailure(error)) return error.code
  throw error
}

const ageOf = ({ slotTimestamp }: Known): number => Date.now() / 1000 - Number(slotTimestamp)

function toState({ committee, l1BlockHash, blockRoot, slot, slotTimestamp }: Known): BeaconState {
  const finalized = { l1BlockHash, blockRoot, slot: `${slot}`, slotTimestamp: `${slotTimestamp}` }
  return { version: 1, committee, finalized }
}

/** Uses the caller's network, whose fork table may have grown since. The committee is verified when it is used. */
function readState(state: BeaconState, network: BeaconNetwork): Known {
  const { version, committee, finalized } = readOptions('state', state, ['version', 'committee', 'finalized'])
  if (version !== 1) throw argumentInvalid('state.version', '1', version)
  const { l1BlockHash, blockRoot, slot, slotTimestamp } = readOptions('state.finalized', finalized, [
    ...['l1BlockHash', 'blockRoot', 'slot', 'slotTimestamp'],
  ])
  for (const [name, hash] of Object.entries({ l1BlockHash, blockRoot })) {
    if (typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/.test(hash)) {
      throw argumentInvalid(`state.finalized.${name}`, 'hexadecimal of 32 bytes', hash)
    }
  }
  for (const [name, number] of Object.entries({ slot, slotTimestamp })) {
    if (typeof number !== 'string' || !/^\d{1,20}$/.test(number)) {
      throw argumentInvalid(`state.finalized.${name}`, 'a decimal number', number)
    }
  }
  const stored = readOptions('state.committee', committee, [
    ...['network', 'period', 'root', 'pubkeys', 'aggregatePubkey'],
  ])
  if (stored.network?.genesisValidatorsRoot?.toLowerCase?.() !== network?.genesisValidatorsRoot?.toLowerCase?.()) {
    throw argumentInvalid('state', 'one of the same network', state)
  }
  return {
    committee: { ...stored, network },
    l1BlockHash,
    blockRoot,
    slot: BigInt(slot),
    slotTimestamp: BigInt(slotTimestamp),
  }
}
