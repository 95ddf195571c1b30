import { decodeArgument, invalid, isArray, readItems } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { hasMethod, readOptions, verifyFunction } from '../../base/options.ts'
import type { BeaconBlock } from '../../verify/beacon/verify.ts'
import type { OnFailure } from '../sources/endpoints.ts'
import { EndpointError } from '../transport/error.ts'
import { createFlights, scoped, verifySignal } from '../transport/waiting.ts'
import { ageOf, allFailed, type BeaconSource, DAY, extendChain, openBeaconChain } from './beacon-chain.ts'

const FUNCTIONS = ['verifyBootstrap', 'verifyUpdate', 'verifyFinality'] as const

/** A copy. @param place of its fields in the caller's options @throws ArgumentError */
export const readBeaconSource = ({ apis, trusted, maxTrustedAgeSeconds }: BeaconSource, place = ''): BeaconSource =>
  atPath(place, () => {
    const isApi = (api: unknown) => hasMethod(api, 'get')
    const areApis = isArray(apis) && apis.length > 0 && readItems('apis', apis, isApi).every(Boolean)
    if (!areApis) throw invalid('apis', 'an array of one or more beacon APIs', apis)
    const expected = 'what trustBeaconBlock of rollup-state-proof/beacon returns'
    if (!hasMethod(trusted, 'verifyConsensus')) throw invalid('trusted', expected, trusted)
    const own = readOptions('trusted', trusted, ['beaconBlockRoot', 'network', 'verifyConsensus', 'lightClient'])
    decodeArgument('trusted.beaconBlockRoot', own.beaconBlockRoot, 32)
    const lightClient = readOptions('trusted.lightClient', own.lightClient, ['network', ...FUNCTIONS])
    for (const name of FUNCTIONS) {
      const verify = lightClient[name]
      if (typeof verify !== 'function') throw invalid(`trusted.lightClient.${name}`, 'a function', verify)
    }
    verifySeconds('maxTrustedAgeSeconds', maxTrustedAgeSeconds)
    return { apis: [...apis], trusted: { ...own, lightClient }, maxTrustedAgeSeconds }
  })

/** @throws ArgumentError */
function verifySeconds(name: string, seconds: unknown = 0): void {
  if (typeof seconds !== 'number' || !(seconds >= 0)) throw invalid(name, 'a number of seconds', seconds)
}

/**
 * Fetches what leads from a beacon block that is trusted to the newest finalized L1 block that any endpoint knows, and verifies it.
 * What a listener throws ends it.
 *
 * @param onUpdate told how many committee updates are verified, and how many are needed as far as is known
 * @throws EndpointError if the only endpoint fails, `BEACON_CHECKPOINT_OLD`, `CLOCK_BEHIND`, `ABORTED`; ProofError if its answer does
 * not verify; of several, `BEACON_UNAVAILABLE`, which lists each by its index
 */
export const fetchConsensus = (
  source: BeaconSource,
  { onFailure, onUpdate }: { onFailure?: OnFailure; onUpdate?: (done: number, periods: number) => void },
  whole: AbortSignal | undefined,
) =>
  scoped(whole, async ({ signal, stop }) => {
    const tell = (work: () => void) => {
      try {
        work()
      } catch (error) {
        // It is no failure of an endpoint.
        throw stop(error)
      }
    }
    const updates: unknown[] = []
    const chain = openBeaconChain(source, {
      failed: failures => (source.apis.length === 1 ? failures.get(0) : undefined) ?? allFailed(failures),
      onFailure: (index, error) => tell(() => onFailure?.('beacon', index, error)),
      onUpdate(left, update) {
        if (update !== undefined) updates.push(update)
        tell(() => onUpdate?.(updates.length, updates.length + left))
      },
    })
    const { proven, failures } = await extendChain(chain, signal, () => true)
    const { bootstrap, trusted, newest } = proven
    if (failures !== null || newest === undefined) throw chain.pool.failed(failures ?? new Map())
    const { l1BlockHash, blockRoot, slot, slotTimestamp, signers, period } = newest.verified
    const { slotTimestamp: trustedSlotTimestamp, committee } = trusted
    return {
      consensus: {
        network: source.trusted.network,
        bootstrap,
        updates: updates.slice(0, period - committee.period),
        finality: newest.finality,
      },
      proven: { l1BlockHash, blockRoot, slot, slotTimestamp, trustedSlotTimestamp, signers, period },
    }
  })

/** An endpoint that failed or lied, and how. */
export interface BeaconFailure {
  /** Index of the endpoint. */
  index: number
  /** The code of the error. */
  code: string
}

/** Where to start, and what is too old. */
export interface BeaconBlockHashOptions extends BeaconSource {
  /**
   * Called with the root of every newer finalized block that is proven. Store it where nobody else can change it, and trust that
   * block after a restart. If it throws or rejects, so does the current call.
   */
  onProgress?: ((beaconBlockRoot: Hex) => void | Promise<void>) | undefined
  /** Called at each call with the endpoints that failed or lied. */
  onFailure?: ((failures: readonly BeaconFailure[]) => void) | undefined
  /** Maximum age of the newest finalized block, in seconds. Default: 86,400, a day; `Infinity` for no limit. */
  maxAgeSeconds?: number | undefined
  /** Aborts the current call, and every later one. */
  signal?: AbortSignal | undefined
}

const OPTIONS = ['apis', 'trusted', 'onProgress', 'onFailure', 'maxAgeSeconds', 'maxTrustedAgeSeconds', 'signal']

/**
 * Follows a beacon chain over several endpoints, none of which is trusted: a source of L1 block hashes for the verified
 * provider and for `verifyEvidence`. One honest endpoint suffices: the newest proven block counts, so an endpoint cannot hide
 * it. It never goes back to an older block. An endpoint has 10 seconds for an answer.
 *
 * @param options the beacon APIs, where to start, and what is too old
 * @returns a function that asks the endpoints at each call and returns the hash of the newest finalized L1 block. It throws an
 * EndpointError `BEACON_UNAVAILABLE` if all endpoints fail and the newest proven block is older than `maxAgeSeconds`, `BEACON_STALE`
 * if none has a newer one, `BEACON_CHECKPOINT_OLD`, `CLOCK_BEHIND`, `ABORTED`
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { trustBeaconBlock } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi, beaconBlockHash } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { beaconUrl } = await service.listen()
 *
 * const { network } = service.beacon
 * const trusted = trustBeaconBlock({ network, blockRoot: (await service.beacon.blockRoot(60n)) ?? '0x' })
 * const apis = [createBeaconApi(beaconUrl), createBeaconApi('http://127.0.0.1:1')]
 * const any = { maxAgeSeconds: Infinity, maxTrustedAgeSeconds: Infinity } // the clock of the demo stands still
 * const l1BlockHash = beaconBlockHash({ apis, trusted, ...any })
 * console.log((await l1BlockHash()).length) // 66
 * await service.close()
 * ```
 */
export function beaconBlockHash(options: BeaconBlockHashOptions): () => Promise<Hex> {
  const own = readOptions('', options, OPTIONS)
  const { onProgress, onFailure, maxAgeSeconds = DAY, signal } = own
  const source = readBeaconSource(own)
  verifyFunction('onProgress', onProgress)
  verifyFunction('onFailure', onFailure)
  verifySeconds('maxAgeSeconds', maxAgeSeconds)
  verifySignal(signal)
  const chain = openBeaconChain(source, { failed: allFailed })
  let kept = source.trusted.beaconBlockRoot

  const isRecent = (best: BeaconBlock) => ageOf(best) <= maxAgeSeconds

  function report(): void {
    const found = [...chain.failing].map(([index, { code }]) => ({ index, code }))
    chain.failing.clear()
    if (found.length > 0) onFailure?.(found.sort((a, b) => a.index - b.index))
  }

  async function refresh(): Promise<Hex> {
    const { proven, failures } = await extendChain(chain, signal, isRecent).finally(report)
    const { best } = proven
    if (best.blockRoot !== kept) await onProgress?.(best.blockRoot)
    kept = best.blockRoot
    // A failure that passes does not matter while the known block is recent.
    if (isRecent(best)) return best.l1BlockHash
    if (failures !== null) throw allFailed(failures)
    throw new EndpointError('BEACON_STALE', { found: `${Math.round(ageOf(best))} seconds old`, layer: 'beacon' })
  }

  const { run: share } = createFlights<string>()
  return () => share('refresh', undefined, refresh)
}
