import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { type Hex, isHex } from '../../base/bytes.ts'
import { isArgumentError } from '../../entry/index.ts'
import { beaconBlockHash, type DissentingSource, finalizedBlockHash, type RequestProvider } from '../../entry/rpc.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { progressFile } from '../files/progress-file.ts'
import type { Flags } from './declared.ts'
import type { Connections } from './endpoint.ts'
import type { ChosenNetwork } from './network.ts'
import { trustedBlockOf } from './trust.ts'

export interface L1Source {
  readonly l1BlockHash: () => Promise<Hex> | Hex
  readonly trust: string
  /** Whether it is the user, with a checkpoint; or endpoints. */
  readonly source: 'user' | 'endpoint'
  readonly isAlone?: boolean
}

/**
 * Opens one kind of source, because with two, it would be unclear on which one everything rests. Without `--l1-agree` and a checkpoint,
 * more than half of the `l1` must agree. @param onDissent is told which sources failed or disagree, whenever this changes
 */
export async function openL1Source(
  flags: Flags,
  network: ChosenNetwork,
  l1: readonly RequestProvider[],
  connections: Connections,
  onDissent: (text: string) => void,
): Promise<L1Source> {
  const { 'l1-agree': urls, quorum, checkpoint } = flags
  let before: string | undefined
  const tell = (failures: readonly string[]) => {
    const text = failures.join('; ')
    if (text !== before) onDissent(text)
    before = text
  }
  if (checkpoint !== undefined) return followCheckpoint(checkpoint, flags, network, connections, tell)
  const flag = urls === undefined ? 'l1' : 'l1-agree'
  const providers = urls === undefined ? l1 : connections.open(flag, urls)
  const count = providers.length
  const needed = quorum ?? Math.floor(count / 2) + 1
  if (needed > count)
    throw new UsageError(`--quorum: expected at most ${count}, the number of --${flag} endpoints, found ${needed}`)
  const onDissenting = (sources: readonly DissentingSource[]) =>
    tell(sources.map(({ index, found }) => `--${flag} number ${index + 1}: ${found}`))
  try {
    const l1BlockHash = finalizedBlockHash(providers, { quorum: needed, onDissent: onDissenting })
    return { l1BlockHash, source: 'endpoint', ...trustIn(needed, count) }
  } catch (error) {
    // Nothing else of it can be wrong.
    throw isArgumentError(error) ? new UsageError(`--${flag}: the same URL twice is one source`) : error
  }
}

/** Who states the hash: as many of the L1 endpoints as have to agree. */
function trustIn(needed: number, count: number): Pick<L1Source, 'trust' | 'isAlone'> {
  if (needed > 1) return { trust: `${needed} of ${count} L1 endpoints that must agree` }
  const who = count === 1 ? 'one endpoint only, which' : `any one of ${count} endpoints, each of which`
  const advice = count === 1 ? 'Add --l1-agree or --checkpoint.' : 'Raise --quorum.'
  return { trust: `${who} could invent the hash. ${advice}`, isAlone: true }
}

async function followCheckpoint(
  root: Hex,
  { beacon, 'beacon-state': path, 'checkpoint-max-age': maxAge }: Flags,
  network: ChosenNetwork,
  { openBeacon }: Connections,
  tell: (failures: readonly string[]) => void,
): Promise<L1Source> {
  const apis = openBeacon(beacon)
  const { beaconBlockRoot: blockRoot } = await trustedBlockOf(root, network)
  const askedFor = {
    command: '--beacon-state',
    checkpoint: blockRoot,
    network: `${network.beacon?.genesisValidatorsRoot.toLowerCase()}`,
  }
  if (path !== undefined) orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  // What was proven before. Whoever writes the file chooses what is trusted, so it must be for this very block.
  const stored =
    path === undefined ? undefined : progressFile(path, askedFor, text => tell([text]), 'move it away to begin anew')
  const proven = stored?.read() ?? blockRoot
  if (!isHex(proven, 32)) throw new UsageError(`--beacon-state: ${path}: expected the root of a beacon block`)
  const l1BlockHash = beaconBlockHash({
    apis,
    trusted: await trustedBlockOf(proven, network),
    maxAgeSeconds: maxAge,
    maxTrustedAgeSeconds: maxAge,
    onProgress: newer => stored?.save(newer),
    onFailure: failures => tell(failures.map(({ index, code }) => `--beacon number ${index + 1}: ${code}`)),
  })
  const many = apis.length === 1 ? 'what one beacon API sends' : `what ${apis.length} beacon APIs send`
  return { l1BlockHash, source: 'user', trust: `the beacon block ${blockRoot}, from which ${many} is verified` }
}
