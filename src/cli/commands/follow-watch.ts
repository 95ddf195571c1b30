import { isMissing } from '../../client/transport/error.ts'
import { sleep } from '../../client/transport/waiting.ts'
import { isArgumentError } from '../../entry/index.ts'
import { type FollowEvent, isEndpointError } from '../../entry/rpc.ts'
import { exitCodes, type Io } from '../command.ts'
import { argumentRefused } from '../errors.ts'
import type { Connections } from '../options/connections.ts'
import type { Flags } from '../options/declared.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import { openL1Source } from '../options/l1-source.ts'
import type { Metrics } from '../output/metrics.ts'
import { printable } from '../output/report.ts'
import { verdictOf } from '../words/verdict.ts'

/** The endpoints and the source of the L1 block hash that the flags name, and what its bundles amount to. Says so if only one endpoint vouches for the hash. */
export async function openSources(flags: Flags, endpoints: Connections, io: Io) {
  const [l1, l2] = [endpoints.open('l1', flags.l1), endpoints.open('l2', flags.l2)]
  const onDissent = (text: string) => showProgress(io, `L1 block hash: ${printable(text)}`)
  const { l1BlockHash, trust, source, isAlone } = await openL1Source(flags, l1, endpoints, onDissent)
  if (isAlone) showProgress(io, `the L1 block hash comes from ${trust}`)
  return { l1, l2, l1BlockHash, verdict: verdictOf(true, { l1BlockHash: source }) }
}

/** For `catch`: nothing if the run was stopped. Throws anything else, and blames the file of the progress for what is wrong in it. */
export function unlessStopped(error: unknown, { progressPath }: { readonly progressPath: string }): void {
  if (isArgumentError(error) && error.path === 'resumeFrom') throw argumentRefused(error, progressPath)
  if (!isEndpointError(error) || error.code !== 'ABORTED') throw error
}

/** Says how a run ended. @param nothing what to say if nothing was written; otherwise empty @returns the exit code */
export function sayEnd(signal: AbortSignal, isOnce: boolean, nothing: string, io: Io): number {
  endProgress(io)
  if (signal.aborted) io.stderr.write('stopped: run the same command again to continue\n')
  else if (nothing !== '') io.stderr.write(`${nothing}\n`)
  // With --once, 0 says that nothing was left to fetch.
  return signal.aborted && isOnce ? exitCodes.noAnswer : exitCodes.verified
}

/** What happens, shown; and how to wait. */
interface Watcher {
  /** Aborted when there is nothing new, with --once. */
  readonly ended: AbortSignal
  onEvent(event: FollowEvent): void
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** Shows what happens. With --once, ends the run instead of waiting for something new. */
export function watch(metrics: Metrics, isOnce: boolean, io: Io): Watcher {
  const ended = new AbortController()
  let isRetry = false
  let described: unknown
  return {
    ended: ended.signal,
    onEvent(event: FollowEvent) {
      metrics.count(event)
      // Proofs that lag are not a reason to wait: with --once, the next run fetches them.
      isRetry = event.name === 'follow.retry' && !isMissing(event.error)
      if (event.name === 'follow.retry' && isOnce && !isRetry) return
      const text = describeEvent(event, described)
      if ('error' in event) described = event.error
      if (text !== null) showProgress(io, text)
    },
    async wait(milliseconds: number, signal: AbortSignal) {
      if (isOnce && !isRetry) ended.abort()
      await sleep(milliseconds, signal)
    },
  }
}

/**
 * The progress line for an event; null if it needs none.
 *
 * @param described the error of an earlier line, which a later line only names
 */
function describeEvent(event: FollowEvent, described: unknown): string | null {
  switch (event.name) {
    case 'follow.request.failed': {
      const { layer, 'endpoint.index': index } = event.attributes
      // follow.proof.unavailable reports this once, for all endpoints.
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
    case 'follow.proof.unavailable':
      return `L2 block ${event.attributes['l2.block.number']}: no L2 endpoint has its proofs`
    case 'follow.skipped':
      return `L2 block ${event.attributes['l2.block.number']}: skipped, its proofs are gone`
    case 'follow.hint.refused':
      return `L2 block ${event.attributes['l2.block.number']}: an L1 endpoint invented this finalization`
    case 'follow.logs.unusable':
      return `L1 endpoint ${event.attributes['endpoint.index']}: its logs lack the newest finalization`
    default:
      return null
  }
}
