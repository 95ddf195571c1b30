import { followWith } from '../../client/follow/follow.ts'
import type { FollowedFinalization, FollowOptions } from '../../entry/rpc.ts'
import type { Command, Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { openFollowFolder } from '../files/follow-folder.ts'
import { flag, followOptions, formatHelp, optionsOf, text, type ValuesOf } from '../options/declared.ts'
import {
  describeAccount,
  endProgress,
  keysPerRequestOf,
  requestOf,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { describeRollup, networkOf } from '../options/network.ts'
import { integerOf, parseOptions, wholeNumber } from '../options/parse.ts'
import { createMetrics, serveMetrics } from '../output/metrics.ts'
import { printable, toJson } from '../output/report.ts'
import { describeVerdict, paintVerdict } from '../output/verdict.ts'
import type { Verdict } from '../words/verdict.ts'
import { capitalized, formatAge, formatTime, secondsSince } from '../words/wording.ts'
import { openSources, sayEnd, unlessStopped, watch } from './follow-watch.ts'

const options = {
  ...optionsOf('address', 'storage-key', 'mapping', 'keys-per-request'),
  'from-block': text('N', 'begin at this L2 block (default: the newest)'),
  'newest-only': flag('skip finalizations that are no longer the newest'),
  'skip-unavailable': flag('skip those whose proofs are gone (default: exit code 3)'),
  ...optionsOf('once', 'poll'),
  metrics: text('PORT', 'serve Prometheus metrics on this machine'),
} as const
const all = { ...followOptions, ...options }

type Values = ValuesOf<typeof all>

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'follow state --address ADDRESS -o DIR [options]', options, all },
    about: `
Follows the finalizations of the network. For each one, it writes a verified
bundle to DIR and a line to DIR/index.ndjson, and waits for the next. Ctrl-C
ends it. Run the same command again to continue. When the rollup begins to hold
block hashes, it goes on; with --implementation, it stops.`,
    notes: `
Exit code: 0 ended by Ctrl-C or --once; 1 an answer does not verify; 2 wrong
usage; 3 an endpoint failed for good, or the sources of L1 disagree.`,
    examples: `
export L1_URL='https://... https://...' L2_URL=https://...
rollup-state-proof follow state --address 0x... -o bundles
rollup-state-proof follow state --address 0x... -o bundles --metrics 9464 \\
  --checkpoint 0x... --beacon-state beacon.json`,
  }),
  async run(args, io) {
    const { values } = parseOptions(args, all)
    const { request, path, metricsPort, askedFor, how } = readWanted(values)
    // The output is a folder, which has no .partial file beside it.
    return withEndpoints({ ...values, output: undefined }, io, async endpoints => {
      const { signal } = endpoints
      const { verdict, ...sources } = await openSources(values, endpoints, io)
      const folder = await openFollowFolder(path, request, askedFor)
      const metrics = createMetrics(verdict)
      const server =
        metricsPort === null
          ? null
          : await serveMetrics(metrics, metricsPort).catch(error => {
              folder.close()
              throw error
            })
      if (server) showProgress(io, `metrics at ${server.url}`)
      if (folder.progress !== undefined) showProgress(io, `continuing in ${printable(path)}`)

      const watcher = watch(metrics, values.once, io)
      let count = 0
      const following: FollowOptions = {
        ...{ ...sources, ...how, onEvent: watcher.onEvent, resumeFrom: folder.progress },
        signal: AbortSignal.any([signal, watcher.ended]),
      }
      try {
        for await (const item of followWith(following, { wait: watcher.wait, random: Math.random })) {
          const file = await folder.write(item)
          endProgress(io)
          io.stdout.write(
            values.json
              ? toJson({ ...describeVerdict(verdict), ...describe(item, file) })
              : `${format(item, verdict, file, io)}\n`,
          )
          folder.commit(item)
          count++
        }
      } catch (error) {
        unlessStopped(error, folder)
      } finally {
        server?.close()
        folder.close()
      }
      return sayEnd(signal, values.once, count === 0 ? 'no new finalization with proofs' : '', io)
    })
  },
}

/** What the options ask for. @throws UsageError */
function readWanted(values: Values) {
  const network = networkOf(values)
  const asked = requestOf(values)
  const { 'newest-only': newestOnly, output: path, metrics } = values
  if (!path) throw new UsageError('--output is needed: the folder to write to')
  const named = { command: 'follow state', ...describeRollup(network), ...describeAccount(asked) }
  return {
    request: { scheme: network.scheme, rollup: network.rollup, ...asked },
    ...{ path, askedFor: { ...named, 'newest only': `${newestOnly}` } },
    metricsPort: metrics === undefined ? null : wholeNumber('--metrics', metrics, 0, 65_535),
    how: {
      ...{ network, requests: [asked], newestOnly, skipUnavailable: values['skip-unavailable'] },
      maxKeysPerRequest: keysPerRequestOf(values),
      pollIntervalMs: 1000 * wholeNumber('--poll', values.poll, 1, 86_400),
      fromL2BlockNumber: integerOf(values, 'from-block', 64),
    },
  }
}

function describe(item: FollowedFinalization, file: string): object {
  const { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, currentL2BlockNumber, l1Block } = item
  const [{ address, account, storage } = { address: null, account: null, storage: [] }] = item.verified
  const block = { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, currentL2BlockNumber, l1Block }
  return { file, ...block, implementation: item.implementation, address, account, storage }
}

function format(item: FollowedFinalization, verdict: Verdict, file: string, { stdout }: Io): string {
  const { l2BlockNumber, finalizedTimestamp, verified: states } = item
  const [state] = states
  const time =
    finalizedTimestamp === undefined
      ? 'time not proven'
      : `of ${formatTime(finalizedTimestamp)}, ${formatAge(secondsSince(finalizedTimestamp))} old`
  const { storage = [] } = state ?? {}
  const existing = storage.filter(({ exists }) => exists).length
  const slots = storage.length === 0 ? '' : `, ${existing} of ${storage.length} slots exist`
  const kind = item.blockHash === undefined ? '' : '  Ethereum state'
  const account = `the account ${state?.account ? 'exists' : 'does not exist'}${slots}`
  return `${paintVerdict(stdout, verdict, `${capitalized(verdict.word)}: L2 block ${l2BlockNumber}`)}${kind}  ${time}  ${account}  ${printable(file)}`
}
