import type { Timing } from '../../client/follow/follow.ts'
import { type Failure, isMissing } from '../../client/transport/error.ts'
import { sleep } from '../../client/transport/waiting.ts'
import { isArgumentError } from '../../entry/index.ts'
import { type FollowEvent, type FollowOptions, isEndpointError } from '../../entry/rpc.ts'
import { exitCodes, type Io } from '../command.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { type Entry, withFolder } from '../files/follow-folder.ts'
import { type AskedFor, warnOn } from '../files/progress-file.ts'
import type { Connections } from '../options/connections.ts'
import type { Flags } from '../options/declared.ts'
import { type EndpointFlags, showProgress, withEndpoints } from '../options/endpoint.ts'
import { openL1Source } from '../options/l1-source.ts'
import { type ChosenNetwork, networkOf } from '../options/network.ts'
import { toJson } from '../output/report.ts'
import { describeVerdict, paintVerdict } from '../output/verdict.ts'
import { printable } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import { capitalized } from '../words/wording.ts'

type FollowFlags = Flags & EndpointFlags & { readonly once: boolean; readonly poll: number }

export interface Following<Item> {
  readonly askedFor: AskedFor
  readonly nothing: string
  follow(how: Omit<FollowOptions, 'requests'>, timing: Timing): AsyncIterable<Item>
  /** What the folder gets of an item, and how each is reported: as JSON, and in words that follow the verdict. */
  entriesOf(
    item: Item,
  ): readonly (Entry & { readonly json: object; readonly heading: string; readonly words: string })[]
}

/** Follows into a folder, until it is stopped. @returns the exit code @throws UsageError */
export async function followTo<Item extends { readonly progress: unknown }>(
  values: FollowFlags,
  { askedFor, nothing, follow, entriesOf }: Following<Item>,
  io: Io,
): Promise<number> {
  const { output: path, once, json } = values
  if (!path) throw new UsageError('--output is needed: the folder to write to')
  const how = {
    network: networkOf(values),
    pollIntervalMs: 1000 * values.poll,
    fromL2BlockNumber: values['from-block'],
  }
  // The output is a folder, beside which nothing is written.
  return withEndpoints({ ...values, output: undefined }, io, async endpoints => {
    const { signal } = endpoints
    const { verdict, ...sources } = await openSources(values, how.network, endpoints, io)
    let count = 0
    await withFolder(path, askedFor, warnOn(io), async folder => {
      if (folder.progress !== undefined) showProgress(io, `continuing in ${printable(path)}`)
      const { onEvent, wait, ended, failed } = watch(once, io)
      const following = { ...sources, ...how, onEvent, signal: AbortSignal.any([signal, ended]) }
      const options = { ...following, resumeFrom: folder.progress }
      try {
        // Unchecked, whatever the type says: the library refuses what it did not make.
        for await (const item of follow(options as Omit<FollowOptions, 'requests'>, { wait, random: Math.random })) {
          const entries = entriesOf(item)
          const files = folder.write(entries, item.progress)
          for (const [index, { heading, words, json: about }] of entries.entries()) {
            const file = files[index] ?? ''
            const said = paintVerdict(io.stdout, verdict, `${capitalized(verdict.word)}: ${heading}`)
            const report = { ...describeVerdict(verdict), file, ...about }
            io.stdout.write(json ? toJson(report) : `${said}  ${words}  ${printable(file)}\n`)
            count++
          }
        }
      } catch (error) {
        // What is wrong in the progress is the file's fault.
        if (isArgumentError(error) && error.path === 'resumeFrom') throw argumentRefused(error, folder.progressPath)
        if (!isEndpointError(error) || error.code !== 'ABORTED') throw error
        const failure = failed()
        if (failure !== undefined) throw failure
      }
    })
    if (signal.aborted) io.stderr.write('stopped: run the same command again to continue\n')
    else if (count === 0) io.stderr.write(`${nothing}\n`)
    // With --once, 0 says that nothing was left to fetch.
    return signal.aborted && once ? exitCodes.noAnswer : exitCodes.verified
  })
}

async function openSources(flags: Flags, network: ChosenNetwork, endpoints: Connections, io: Io) {
  const [l1, l2] = [endpoints.open('l1', flags.l1), endpoints.open('l2', flags.l2)]
  const onDissent = (text: string) => showProgress(io, `L1 block hash: ${printable(text)}`)
  const { l1BlockHash, trust, source, isAlone } = await openL1Source(flags, network, l1, endpoints, onDissent)
  if (isAlone) showProgress(io, `the L1 block hash comes from ${trust}`)
  return { l1, l2, l1BlockHash, verdict: verdictOf(true, { l1BlockHash: source }) }
}

/** Shows what happens. With --once, ends the run instead of waiting. */
function watch(isOnce: boolean, io: Io) {
  const ended = new AbortController()
  let failure: Failure | undefined
  let described: unknown
  return {
    ended: ended.signal,
    /** Why a run with --once does not know whether something is left. */
    failed: () => failure,
    onEvent(event: FollowEvent): void {
      const isLast = event.name === 'follow.retry' && isOnce
      // Proofs that lag are no failure: the next run fetches them.
      if (isLast && !isMissing(event.error)) {
        failure = event.error
        return
      }
      const text = isLast ? printable(event.error.message) : describeEvent(event, described)
      if ('error' in event) described = event.error
      if (text !== null) showProgress(io, text)
    },
    async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
      if (isOnce) ended.abort()
      await sleep(milliseconds, signal)
    },
  }
}

/** The progress line for an event, if it needs one. @param described the error of an earlier line, which a later line only names */
function describeEvent(event: FollowEvent, described: unknown): string | null {
  switch (event.name) {
    case 'follow.request.failed': {
      const { layer, 'endpoint.index': index } = event.attributes
      // The retry that follows says this once, for all endpoints.
      if (layer === 'L2' && isMissing(event.error)) return null
      return `${layer} endpoint ${index}: ${printable(event.error.message)}`
    }
    case 'follow.retry': {
      const { 'retry.delay': delay, 'error.type': type } = event.attributes
      return `waiting ${Math.round(delay / 1000)} s: ${event.error === described ? type : printable(event.error.message)}`
    }
    case 'follow.implementation.changed': {
      const { 'implementation.old': old, 'implementation.new': now } = event.attributes
      return `the rollup contract has other code: ${now} in place of ${old}`
    }
    case 'follow.skipped':
      return `L2 block ${event.attributes['l2.block.number']}: skipped, its proofs are gone`
    case 'follow.l1.behind': {
      const { 'l1.block.number': number, 'l1.block.newest': newest } = event.attributes
      return `L1 block ${number} is older than L1 block ${newest}, seen before: its source lags, or is of another chain`
    }
  }
}
