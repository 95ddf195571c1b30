import { accessSync, constants } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Hex } from '../../base/bytes.ts'
import { EndpointError } from '../../client/transport/error.ts'
import { inTime } from '../../client/transport/waiting.ts'
import { isArgumentError } from '../../entry/index.ts'
import {
  agreeingBlockHash,
  type BeaconProgress,
  beaconBlockHash,
  type DissentingSource,
  finalizedBlockHash,
  isEndpointError,
  type RequestProvider,
} from '../../entry/rpc.ts'
import { argumentRefused, briefMessage, orUsageError, UsageError } from '../errors.ts'
import { progressFile } from '../files/output-file.ts'
import { printable } from '../words/value.ts'
import { trustedBlockOf } from './checkpoint.ts'
import type { Connections } from './connections.ts'
import type { Flags } from './declared.ts'
import { networkOf } from './network.ts'
import { wholeNumber } from './parse.ts'
import { maxAgeOf } from './record-trust.ts'

/** Where the L1 block hash comes from. */
export interface L1Source {
  readonly l1BlockHash: () => Promise<Hex> | Hex
  /** Who states the hash, in words. */
  readonly trust: string
  /** Whether it is the user, with a checkpoint or a program; or endpoints. */
  readonly source: 'user' | 'endpoint'
  /** Whether one endpoint alone could invent it. */
  readonly isAlone?: boolean
}

/**
 * Opens one kind of source, because with two, it would be unclear on which one everything rests.
 *
 * @param l1 the endpoints that are verified: without another source, more than half of them must agree
 * @param onDissent is told which sources failed or disagree, without their URLs, whenever this changes
 * @throws UsageError
 */
export async function openL1Source(
  flags: Flags,
  l1: readonly RequestProvider[],
  connections: Connections,
  onDissent: (text: string) => void,
): Promise<L1Source> {
  const { 'l1-agree': urls = [], 'l1-hash-module': file, quorum, checkpoint } = flags
  let before: string | undefined
  const tell = (failures: readonly string[]) => {
    const text = failures.join('; ')
    if (text !== before) onDissent(text)
    before = text
  }
  if ([urls.length > 0, file !== undefined, checkpoint !== undefined].filter(Boolean).length > 1) {
    throw new UsageError('--l1-agree, --l1-hash-module and --checkpoint exclude each other: choose one')
  }
  const isOne = file !== undefined || checkpoint !== undefined || (urls.length === 0 && l1.length === 1)
  if (quorum !== undefined && isOne) throw new UsageError('--quorum goes with --l1-agree')
  if (checkpoint !== undefined) return followCheckpoint(checkpoint, flags, connections, tell)
  for (const name of ['beacon', 'beacon-state', 'checkpoint-max-age'] as const) {
    if (flags[name] !== undefined) throw new UsageError(`--${name} goes with --checkpoint`)
  }
  if (file !== undefined)
    return {
      l1BlockHash: await importSource(file, connections),
      source: 'user',
      trust: `the function in ${printable(file)}`,
    }
  const [only] = l1
  if (isOne && only !== undefined) {
    return { l1BlockHash: finalizedBlockHash(only), source: 'endpoint', ...trustIn(1, 1) }
  }
  const flag = urls.length > 0 ? 'l1-agree' : 'l1'
  const providers = urls.length > 0 ? connections.open(flag, urls) : l1
  const count = providers.length
  if (quorum !== undefined && count === 1)
    throw new UsageError(`--quorum: there is one --${flag} only, so nothing to agree on`)
  const needed = quorum === undefined ? Math.floor(count / 2) + 1 : wholeNumber('--quorum', quorum, 1, count)
  const toldOf = (sources: readonly DissentingSource[]) =>
    tell(sources.map(({ index, found }) => `--${flag} number ${index + 1} ${found}`))
  try {
    const l1BlockHash = agreeingBlockHash(providers, { quorum: needed, onDissent: toldOf })
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
  const advice = count === 1 ? 'Add --l1-agree, --checkpoint or --l1-hash-module' : 'Raise --quorum'
  return { trust: `${who} could invent the hash. ${advice}`, isAlone: true }
}

/** Nobody waits for the module longer than for an endpoint, and what it throws is told. @throws UsageError */
async function importSource(
  file: string,
  { timeoutMs, signal, redactor }: Connections,
): Promise<L1Source['l1BlockHash']> {
  const within = <T>(work: () => Promise<T>) => inTime(timeoutMs, work, signal)
  const reasonOf = (error: unknown) =>
    isEndpointError(error) && error.code === 'TIMEOUT'
      ? `did not end within ${timeoutMs / 1000} seconds`
      : `threw: ${redactor()(briefMessage(error))}`
  orUsageError(`--l1-hash-module: cannot read ${file}`, () => accessSync(file, constants.R_OK))
  const module: unknown = await within(() => import(pathToFileURL(resolve(file)).href)).catch((error: unknown) => {
    throw new UsageError(`--l1-hash-module: ${file} ${reasonOf(error)}`, false)
  })
  const found: unknown = Reflect.get(Object(module), 'l1BlockHash')
  if (typeof found !== 'function') throw new UsageError(`--l1-hash-module: ${file} exports no function l1BlockHash`)
  return () =>
    within(async () => found()).catch((error: unknown) => {
      if (signal.aborted) throw error
      throw new EndpointError('L1_UNCONFIRMED', { found: `l1BlockHash() of ${file} ${reasonOf(error)}` })
    })
}

async function followCheckpoint(
  root: string,
  flags: Flags,
  { openBeacon }: Connections,
  tell: (failures: readonly string[]) => void,
): Promise<L1Source> {
  const apis = openBeacon(flags.beacon, true)
  const network = networkOf(flags)
  const trusted = trustedBlockOf(root, network)
  const { beaconBlockRoot: blockRoot } = trusted
  const path = flags['beacon-state']
  const maxAge = maxAgeOf(flags)
  const askedFor = {
    command: '--beacon-state',
    checkpoint: blockRoot,
    network: `${network.beacon?.genesisValidatorsRoot.toLowerCase()}`,
  }
  if (path !== undefined) orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  // What was proven before. Whoever writes the file chooses what is trusted, so it must be for this very block.
  const stored =
    path === undefined ? undefined : progressFile(path, askedFor, text => tell([text]), 'move it away to begin anew')
  // Unchecked, whatever the type says: beaconBlockHash refuses what it cannot use.
  const state = (await stored?.read()) as BeaconProgress | undefined
  try {
    const l1BlockHash = beaconBlockHash({
      ...{ apis, trusted, maxAgeSeconds: maxAge, maxTrustedAgeSeconds: maxAge },
      ...(stored && { resumeFrom: state, onProgress: proven => stored.save(proven) }),
      onFailure: failures => tell(failures.map(({ index, code }) => `--beacon number ${index + 1} ${code}`)),
    })
    const many = apis.length === 1 ? 'what one beacon API sends' : `what ${apis.length} beacon APIs send`
    return { l1BlockHash, source: 'user', trust: `the beacon block ${blockRoot}, from which ${many} is verified` }
  } catch (error) {
    const isStored = isArgumentError(error) && error.path.startsWith('resumeFrom')
    throw isStored ? argumentRefused(error, `--beacon-state: ${path}${error.path.slice('resumeFrom'.length)}`) : error
  }
}
