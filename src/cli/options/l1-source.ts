import { accessSync, constants } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Hex } from '../../base/bytes.ts'
import { isArgumentError } from '../../entry/index.ts'
import {
  agreeingBlockHash,
  type BeaconProgress,
  beaconBlockHash,
  type DissentingSource,
  finalizedBlockHash,
  type RequestProvider,
} from '../../entry/rpc.ts'
import type { Io } from '../command.ts'
import { argumentRefused, orUsageError, UsageError } from '../errors.ts'
import { progressFile } from '../files/output-file.ts'
import { printable } from '../output/report.ts'
import type { Connections } from './connections.ts'
import { type Flags, type FlagsOf, list, optionsOf, text } from './declared.ts'
import { networkOf, trustedBlockIn } from './flags.ts'
import { integerOf, wholeNumber } from './parse.ts'

/** The options of every command that asks again and again for the L1 block hash on which everything rests. */
export const l1SourceOptions = {
  'l1-agree': list('URL', 'an Ethereum endpoint; these endpoints must agree on a finalized block'),
  quorum: text('N', 'how many of them must agree (default: more than half)'),
  'l1-hash-module': text('FILE', 'a JavaScript module whose l1BlockHash() returns the hash of a finalized L1 block'),
  checkpoint: text(
    'ROOT',
    "the root of a finalized beacon block that you trust, 32 bytes, at most two weeks old: every L1 block hash is proven from it, by the signatures of L1's sync committees",
  ),
  beacon: list('URL', 'with --checkpoint: a beacon API; one honest API is enough'),
  'beacon-state': text(
    'FILE',
    'keep the newest proven beacon block in FILE, and go on from it after a restart. Without it, each start begins at ROOT. Nobody else may be able to write to FILE',
  ),
  ...optionsOf('network', 'checkpoint-max-age'),
  'beacon-max-age': text('SECONDS', 'refuse to use an older beacon block (default: 86400, a day)'),
}

export type L1SourceFlags = FlagsOf<typeof l1SourceOptions> & Flags

/** Where the L1 block hash comes from. */
export interface L1Source {
  readonly l1BlockHash: () => Promise<Hex> | Hex
  /** Who states the hash, in words. */
  readonly trust: string
  /** Whether it is the user, with a checkpoint or a program; or endpoints. */
  readonly source: 'user' | 'endpoint'
  /** Whether it is only the endpoint that is also to be verified. */
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
  flags: L1SourceFlags,
  l1: readonly RequestProvider[],
  connections: Connections,
  io: Io,
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
  if (checkpoint !== undefined) return followCheckpoint(checkpoint, flags, connections, io, tell)
  for (const name of ['beacon', 'network', 'beacon-state', 'beacon-max-age', 'checkpoint-max-age'] as const) {
    if (flags[name] !== undefined) throw new UsageError(`--${name} goes with --checkpoint`)
  }
  if (file !== undefined)
    return { l1BlockHash: await importSource(file), source: 'user', trust: `the function in ${printable(file)}` }
  const [only] = l1
  if (isOne && only !== undefined) {
    const trust = 'one endpoint only, which could invent the hash. Add --l1-agree, --checkpoint or --l1-hash-module'
    return { l1BlockHash: finalizedBlockHash(only), source: 'endpoint', trust, isAlone: true }
  }
  const flag = urls.length > 0 ? 'l1-agree' : 'l1'
  const providers = urls.length > 0 ? connections.open(flag, urls) : l1
  const count = providers.length
  const needed = quorum === undefined ? Math.floor(count / 2) + 1 : wholeNumber('--quorum', quorum, 1, count)
  const toldOf = (sources: readonly DissentingSource[]) =>
    tell(sources.map(({ index, found }) => `--${flag} number ${index + 1} ${found}`))
  try {
    const l1BlockHash = agreeingBlockHash(providers, { quorum: needed, onDissent: toldOf })
    return { l1BlockHash, source: 'endpoint', trust: `${needed} of ${count} L1 endpoints that must agree` }
  } catch (error) {
    // Nothing else of it can be wrong.
    throw isArgumentError(error) ? new UsageError(`--${flag}: the same URL twice is one source`) : error
  }
}

async function importSource(file: string): Promise<L1Source['l1BlockHash']> {
  const module: unknown = await orUsageError('--l1-hash-module', () => import(pathToFileURL(resolve(file)).href))
  const found: unknown = Reflect.get(Object(module), 'l1BlockHash')
  if (typeof found !== 'function') throw new UsageError(`--l1-hash-module: ${file} exports no function l1BlockHash`)
  return () => found()
}

async function followCheckpoint(
  root: string,
  flags: L1SourceFlags,
  { openBeacon }: Connections,
  io: Io,
  tell: (failures: readonly string[]) => void,
): Promise<L1Source> {
  const apis = openBeacon(flags.beacon, true)
  const network = await networkOf(flags, io)
  const trusted = trustedBlockIn(root, network)
  const { beaconBlockRoot: blockRoot } = trusted
  const path = flags['beacon-state']
  const askedFor = { checkpoint: blockRoot, network: network.genesisValidatorsRoot.toLowerCase() }
  const seconds = (name: 'beacon-max-age' | 'checkpoint-max-age') => {
    const age = integerOf(flags, name, 40)
    return age === undefined ? undefined : Number(age)
  }
  const ages = { maxAgeSeconds: seconds('beacon-max-age'), maxTrustedAgeSeconds: seconds('checkpoint-max-age') }
  if (path !== undefined) orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  // What was proven before. Whoever writes the file chooses what is trusted, so it must be for this very block.
  const stored = path === undefined ? undefined : progressFile(path, askedFor, 'move it away to begin anew')
  // Unchecked, whatever the type says: beaconBlockHash refuses what it cannot use.
  const state = (await stored?.read()) as BeaconProgress | undefined
  try {
    const l1BlockHash = beaconBlockHash({
      ...{ apis, trusted, ...ages },
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
