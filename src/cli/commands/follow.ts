import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { followWith } from '../../client/follow/follow.ts'
import type { FollowedFinalization, FollowOptions } from '../../entry/rpc.ts'
import { type Command, exitCodes, type Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { openFollowFolder } from '../files/follow-folder.ts'
import { methodOf } from '../options/chain-flags.ts'
import { flag, formatOptions, hiddenUrls, optionsOf, text, textOr, type ValuesOf } from '../options/declared.ts'
import {
  describeAccount,
  describeRollup,
  endProgress,
  keysPerRequestOf,
  requestOf,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { requireKind, rollupOf } from '../options/flags.ts'
import { l1SourceOptions } from '../options/l1-source.ts'
import { integerOf, parseOptions, wholeNumber } from '../options/parse.ts'
import { createMetrics, serveMetrics } from '../output/metrics.ts'
import { paint } from '../output/paint.ts'
import { printable, toJson } from '../output/report.ts'
import { describeVerdict, paintVerdict } from '../output/verdict.ts'
import { messageOf } from '../words/value.ts'
import type { Verdict } from '../words/verdict.ts'
import { capitalized, formatAge, formatTime, secondsSince } from '../words/wording.ts'
import { followMessagesTo, messageFollowOptions } from './follow-messages.ts'
import { openSources, sayEnd, unlessStopped, watch } from './follow-watch.ts'

const options = {
  ...optionsOf('l1', 'l2', 'rollup', 'implementation', 'scheme', 'address', 'storage-key', 'mapping'),
  output: { ...text('DIR', 'required: the folder to write to; created if missing'), short: 'o' },
  from: text('NUMBER', 'start with the first finalization at or above this L2 block (default: the newest)'),
  'newest-only': flag('skip finalizations that are no longer the newest'),
  'skip-unavailable': flag('skip finalizations whose proofs no L2 endpoint has any longer (default: exit code 3)'),
  once: flag('end when there is nothing new, or no proofs yet for it; wait and try again while an endpoint fails'),
  poll: textOr('60', 'SECONDS', 'time between polls'),
  exec: text(
    'PROGRAM',
    'run this program for each bundle, one at a time, without arguments and without a shell. Its environment has FOLLOW_FILE, FOLLOW_L2_BLOCK, FOLLOW_STATE_ROOT, FOLLOW_BLOCK_HASH (empty if L1 holds the state root), FOLLOW_TIMESTAMP (empty if unproven), FOLLOW_L1_BLOCK, FOLLOW_L1_BLOCK_HASH and FOLLOW_ADDRESS',
  ),
  'exec-failure': textOr('stop', 'POLICY', 'if it fails: stop, so that the next run repeats this bundle, or continue'),
  metrics: text('PORT', 'serve Prometheus metrics at http://127.0.0.1:PORT/metrics; 0 for any free port'),
  ...optionsOf('layout-roots-slot', 'layout-current-slot', 'method', 'keys-per-request', 'timeout'),
  json: flag('print one JSON object per bundle, on a line of its own'),
} as const

const help = `Usage: rollup-state-proof follow --l1 URL --l2 URL --rollup ROLLUP
         --scheme SCHEME --address ADDRESS -o DIR [options]

Follows the finalizations of a rollup. For each one, it writes a verified
evidence bundle to DIR and one line to DIR/index.ndjson, and then waits for the
next. Ctrl-C ends it. Run the same command again to continue.

When the rollup upgrades its contract to hold block hashes, it goes on with the
same options: the bundles are of the Ethereum state then. It says when the code
of the contract has changed; with --implementation, it stops.

Options:
${formatOptions(options)}

With --messages in place of --address, it follows the messages of the bridge
that can be claimed on L1. DIR gets a bundle per message, with which verify
prints the data of the claim, and an index of them. --from then names a
finalization after which to start:
${formatOptions(messageFollowOptions)}

Everything rests on an L1 block hash. Where it comes from (default: more than
half of the --l1 endpoints must agree). With --checkpoint or --l1-hash-module,
the bundles are verified; by the word of endpoints, they are consistent:
${formatOptions(l1SourceOptions)}

${hiddenUrls}
After a crash, the program of --exec may run again for the same bundle.

Exit code: 0 ended by Ctrl-C or --once; 1 an answer does not verify; 2 wrong
usage, or a file cannot be written; 3 an endpoint failed for good, or the L1
sources disagree; 5 the program of --exec failed. If Ctrl-C came before --once,
the signal ends it.

Examples:
  export L1_URL='https://... https://...' L2_URL=https://...
  export BEACON_URL=https://...
  rollup-state-proof follow --rollup mainnet --scheme poseidon2 \\
    --address 0x... -o bundles
  rollup-state-proof follow --rollup mainnet --scheme poseidon2 \\
    --address 0x... --storage-key 0x... -o bundles --exec ./submit \\
    --metrics 9464 --checkpoint 0x... --beacon-state beacon.json
`

const all = { ...options, ...l1SourceOptions }

type Values = ValuesOf<typeof all>

export const command: Command = {
  help,
  async run(args, io) {
    if (args.includes('--messages')) return followMessagesTo(args, io)
    const { values } = parseOptions(args, all)
    const { request, path, metricsPort, policy, askedFor, how } = readWanted(values)
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
          if (values.exec !== undefined) {
            const failure = await runProgram(values.exec, item, file, signal, io)
            if (signal.aborted) break
            metrics.countProgram(failure !== null)
            if (failure !== null) {
              const text = `--exec: the program ${failure}, for L2 block ${item.l2BlockNumber}`
              io.stderr.write(`${paint(io.stderr, 'red', text)}\n`)
              if (policy === 'stop') return exitCodes.programFailed
            }
          }
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
  const request = { scheme: requireKind(values.scheme), rollup: rollupOf(values), ...requestOf(values) }
  const { scheme, rollup, address, storageKeys } = request
  const { 'exec-failure': policy, 'newest-only': newestOnly, output: path, metrics } = values
  if (policy !== 'stop' && policy !== 'continue') throw new UsageError('--exec-failure: expected stop or continue')
  if (!path) throw new UsageError('--output is needed: the folder to write to')
  const named = { command: 'follow', ...describeRollup(request), ...describeAccount(request) }
  return {
    ...{ request, path, policy, askedFor: { ...named, 'newest only': `${newestOnly}` } },
    metricsPort: metrics === undefined ? null : wholeNumber('--metrics', metrics, 0, 65_535),
    how: {
      ...{ scheme, rollup, requests: [{ address, storageKeys }] },
      ...{ newestOnly, skipUnavailable: values['skip-unavailable'] },
      ...{ method: methodOf(values), maxKeysPerRequest: keysPerRequestOf(values) },
      pollIntervalMs: 1000 * wholeNumber('--poll', values.poll, 1, 86_400),
      fromL2BlockNumber: integerOf(values, 'from', 64),
    },
  }
}

/**
 * Runs the user's program for a bundle. Its output goes to standard error.
 *
 * @returns how it failed, as text; null if it did not
 */
function runProgram(program: string, item: FollowedFinalization, file: string, signal: AbortSignal, io: Io) {
  const env = {
    ...process.env,
    FOLLOW_FILE: resolve(file),
    FOLLOW_L2_BLOCK: `${item.l2BlockNumber}`,
    FOLLOW_STATE_ROOT: item.stateRoot,
    FOLLOW_BLOCK_HASH: item.blockHash ?? '',
    FOLLOW_TIMESTAMP: `${item.finalizedTimestamp ?? ''}`,
    FOLLOW_L1_BLOCK: `${item.l1Block.number}`,
    FOLLOW_L1_BLOCK_HASH: item.l1Block.hash,
    FOLLOW_ADDRESS: item.verified[0]?.address ?? '',
  }
  return new Promise<string | null>((done, refuse) => {
    const child = spawn(program, [], { env, stdio: ['ignore', 'pipe', 'pipe'], signal })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => io.stderr.write(chunk))
    child.on('error', error => {
      if (signal.aborted) done(null)
      else refuse(new UsageError(`--exec: cannot run ${program}: ${messageOf(error)}`))
    })
    child.on('close', (code, killedBy) => {
      done(code === 0 ? null : killedBy === null ? `ended with exit code ${code}` : `was ended by ${killedBy}`)
    })
  })
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
