import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Timing } from '../../client/follow/follow.ts'
import { type Failure, isMissing } from '../../client/transport/error.ts'
import { sleep } from '../../client/transport/waiting.ts'
import { isArgumentError } from '../../entry/index.ts'
import { type FollowEvent, type FollowOptions, isEndpointError } from '../../entry/rpc.ts'
import { exitCodes, type Io } from '../command.ts'
import { argumentRefused, orUsageError, UsageError } from '../errors.ts'
import { openGrowingFile } from '../files/growing-file.ts'
import { refuseOverwrite, serialize, statRegular, writeWhole } from '../files/output-file.ts'
import { type AskedFor, progressFile, type Warn, warnOn } from '../files/progress-file.ts'
import type { Flags } from '../options/declared.ts'
import { type Connections, type EndpointFlags, showProgress, withEndpoints } from '../options/endpoint.ts'
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
      const ignored = how.fromL2BlockNumber === undefined ? '' : ': --from-block is for a new folder'
      if (folder.progress !== undefined) showProgress(io, `Continuing in ${printable(path)}${ignored}`)
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
    if (signal.aborted) io.stderr.write('Stopped: run the same command again to continue.\n')
    else if (count === 0) io.stderr.write(`${nothing}\n`)
    // With --once, 0 says that nothing was left to fetch.
    return signal.aborted && once ? exitCodes.noAnswer : exitCodes.verified
  })
}

async function openSources(flags: Flags, network: ChosenNetwork, endpoints: Connections, io: Io) {
  const [l1, l2] = [endpoints.open('l1', flags.l1), endpoints.open('l2', flags.l2)]
  const onDissent = (text: string) => showProgress(io, `L1 block hash: ${printable(text)}`)
  const { l1BlockHash, trust, source, isAlone } = await openL1Source(flags, network, l1, endpoints, onDissent)
  if (isAlone) showProgress(io, `The L1 block hash comes from ${trust}`)
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
      return `${layer} endpoint ${index + 1}: ${printable(event.error.message)}`
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

/** Of this command. It has no --force. */
const REMEDY = 'move it away'

/** What a folder keeps of a finalization or a message: a bundle, and a line in the index. */
interface Entry {
  readonly number: bigint
  readonly bundle: unknown
  /** Has short values alone. */
  readonly line: object
}

interface FollowFolder {
  /** The progress of an earlier run; undefined if there was none. */
  readonly progress: unknown
  readonly progressPath: string
  /** Writes the bundles and their lines in the index, each once, and then notes the progress. @returns the paths of the bundles */
  write(entries: readonly Entry[], progress: unknown): string[]
}

/** What `state.json` holds. It is signed: a run of this user for this request saved it. */
interface Saved {
  readonly progress: unknown
  /** Of the index, in bytes. */
  readonly length: number
  /** The bundles that a run was writing. If it was killed, they may be there, and so may more lines of the index. */
  readonly writing: readonly string[]
}

/** Runs `work` with the folder where `follow` writes: a bundle per entry, an index of them, and its progress. */
async function withFolder<T>(path: string, askedFor: AskedFor, warn: Warn, work: (folder: FollowFolder) => Promise<T>) {
  orUsageError(`cannot write to ${path}`, () => {
    if (!existsSync(path)) mkdirSync(path)
    if (!statSync(path).isDirectory()) throw new UsageError(`${path} is not a folder`)
    accessSync(path, constants.W_OK)
  })
  const state = progressFile(join(path, 'state.json'), askedFor, warn, REMEDY)
  const indexPath = join(path, 'index.ndjson')
  const isBegun = state.read() !== undefined
  if (!isBegun && statRegular(indexPath) !== undefined) throw refuseOverwrite(indexPath, FOREIGN, REMEDY)
  const index = await openGrowingFile(indexPath)
  try {
    // Read again: only from here on can no other run change it.
    const before = isBegun ? (state.read() as Saved) : { progress: undefined, length: 0, writing: [] }
    const isOwn = before.writing.length > 0 ? index.length() >= before.length : index.length() === before.length
    if (!isOwn) throw refuseOverwrite(indexPath, 'holds something other than what was written', REMEDY)
    if (before.writing.length > 0) index.truncate(before.length)
    let { progress, writing } = before
    return await work({
      progress,
      progressPath: state.path,
      write(entries, made) {
        const names = entries.map(({ number }) => `${number}.json`)
        for (const name of names) {
          if (statRegular(join(path, name)) !== undefined && !writing.includes(name))
            throw refuseOverwrite(join(path, name), FOREIGN, REMEDY)
        }
        writing = names
        state.save({ progress, length: index.length(), writing })
        const paths = entries.map(({ number, bundle }) => {
          const file = join(path, `${number}.json`)
          writeWhole(file, serialize(file, bundle), true)
          return file
        })
        index.append(entries.map(({ line }, place) => toJson({ version: 1, ...line, file: names[place] })).join(''))
        index.sync()
        progress = made
        writing = []
        state.save({ progress, length: index.length(), writing })
        return paths
      },
    })
  } finally {
    index.close()
    // A run that wrote nothing leaves no file behind.
    if (!isBegun && index.length() === 0 && !state.exists()) rmSync(indexPath, { force: true })
  }
}

const FOREIGN = 'was not written by a run that follows'
