import { createHash } from 'node:crypto'
import { accessSync, appendFileSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyEvidence } from '../../entry/anchor.ts'
import { safely } from '../../entry/index.ts'
import { messageEvidence } from '../../entry/messages.ts'
import type { ClaimableMessage, FollowedFinalization, FollowedMessages, Rollup } from '../../entry/rpc.ts'
import type { AnyClaim } from '../../verify/evidence/types.ts'
import { ETHEREUM } from '../../verify/state/types.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { toJson } from '../output/report.ts'
import { parseNumber, statedBlockHash } from '../words/evidence.ts'
import { fieldIn, fieldsOf, hasFields } from '../words/value.ts'
import { claim } from './growing-file.ts'
import { readRegularJson } from './input.ts'
import { type AskedFor, progressFile, refuseOverwrite, serialize, statRegular, writeWhole } from './output-file.ts'
import type { Warn } from './own-key.ts'

/** What all bundles of a folder are for. */
export type FollowedClaim = Required<Pick<AnyClaim, 'scheme' | 'rollup' | 'address' | 'storageKeys'>>

/** Of this command. It has no --force. */
const REMEDY = 'move it away'

/** What a folder keeps of a finalization or a message: a bundle, and a line in the index. */
export interface Entry {
  /** By which the entries are in order, and the bundle is named. */
  readonly number: bigint
  readonly bundle: unknown
  /** Has the number, and short values alone. */
  readonly line: object
  /** @throws UsageError if the existing file is not such a bundle */
  verifyExisting(path: string): Promise<void>
}

/**
 * Where `follow` writes: a bundle per entry, an index of them, and its progress. Creates the folder if missing.
 *
 * @param name of the number in a line of the index
 * @throws UsageError if it is not writable, an earlier run was for something else, or another run is writing to it
 */
export async function openFolder(path: string, askedFor: AskedFor, name: string, warn: Warn) {
  orUsageError(`cannot write to ${path}`, () => {
    if (!existsSync(path)) mkdirSync(path)
    if (!statSync(path).isDirectory()) throw new UsageError(`${path} is not a folder`)
    accessSync(path, constants.W_OK)
  })
  // Held until the process ends, or `close`.
  const claimed = await claim(path)
  const state = progressFile(join(path, 'state.json'), askedFor, warn, REMEDY)
  const begun = await (async () => {
    const saved = await state.read()
    if (saved !== undefined && !hasFields(saved, 'progress'))
      throw refuseOverwrite(state.path, 'is not the progress of a run that follows', REMEDY)
    const index = openIndex(join(path, 'index.ndjson'), fieldIn(saved, 'index'), name)
    return { progress: fieldIn(saved, 'progress') ?? null, index }
  })().catch(error => {
    claimed?.close()
    throw error
  })
  let { progress } = begun
  let { indexed, progress: index } = begun.index
  const save = () => state.save({ progress, index })

  return {
    /** The progress of an earlier run; undefined if there was none. */
    progress: progress ?? undefined,
    progressPath: state.path,
    /** Writes the bundle and its line in the index, each once. @returns the path of the bundle */
    async write({ number, bundle, line, verifyExisting }: Entry): Promise<string> {
      const file = `${number}.json`
      const bundlePath = join(path, file)
      // A killed run had already written it. That bundle may rest on an older L1 block, and stays.
      if (statRegular(bundlePath) !== undefined) await verifyExisting(bundlePath)
      else writeWhole(bundlePath, serialize(bundlePath, bundle), false)
      if (indexed === null || number > indexed) {
        begun.index.add(toJson({ version: 1, ...line, file }), made => {
          index = made
          save()
        })
        indexed = number
      }
      return bundlePath
    },
    /** Saves the progress, with which a later run continues. */
    save(made: unknown) {
      progress = made ?? null
      save()
    },
    /** Lets another run write to the folder. */
    close: () => void claimed?.close(),
  }
}

/** What a folder gets of a finalization. */
export function finalizationEntry(item: FollowedFinalization, request: FollowedClaim): Entry {
  const { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, l1Block, bundles } = item
  const l1 = { l1BlockNumber: l1Block.number, l1BlockHash: l1Block.hash }
  return {
    ...{ number: l2BlockNumber, bundle: bundles[0] },
    line: { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, ...l1 },
    verifyExisting: file => verifyExisting(file, item, request),
  }
}

/** What a folder gets of a message that can be claimed. */
export function messageEntry(
  { message, messageHash, bundle }: ClaimableMessage,
  { l1Block, l2BlockNumber }: FollowedMessages,
  rollup: Rollup,
): Entry {
  const { from, to, fee, value, number } = message
  const l1 = { l1BlockNumber: l1Block.number, l1BlockHash: l1Block.hash }
  return {
    ...{ number, bundle, line: { number, messageHash, from, to, fee, value, l2BlockNumber, ...l1 } },
    async verifyExisting(file) {
      const existing = await readRegularJson(file, { followLinks: false })
      const trusted = { l1BlockHash: statedBlockHash(existing) }
      const outcome = safely(() =>
        verifyEvidence(existing, { kind: messageEvidence, rollup, trusted, message: messageHash }),
      )
      if (!outcome.ok) throw refuseOverwrite(file, `is not a bundle of this message (${outcome.error.code})`, REMEDY)
    },
  }
}

/** @throws UsageError if the file is not a bundle of this finalization for this request */
async function verifyExisting(path: string, item: FollowedFinalization, request: FollowedClaim): Promise<void> {
  const bundle = await readRegularJson(path, { followLinks: false })
  const { l2BlockNumber, stateRoot, blockHash } = item
  const scheme = blockHash === undefined ? request.scheme : ETHEREUM
  // The root was proven with the code that is stated.
  const { implementation: _, ...rollup } = request.rollup
  const claim = { ...request, rollup, scheme, l2BlockNumber, trusted: { l2StateRoot: stateRoot } }
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok) throw refuseOverwrite(path, `is not a bundle of this finalization (${outcome.error.code})`, REMEDY)
}

/** How an index begins, and its last line, which is written after the progress. */
interface IndexProgress {
  readonly length: number
  readonly sha256: string
  readonly line: string
}

const NOTHING: IndexProgress = { length: 0, sha256: createHash('sha256').digest('hex'), line: '' }

/**
 * Opens the index, and completes the last line, which a killed run may have left out or torn.
 *
 * @param saved by the last run; undefined if there was none
 * @param name of the number in a line
 * @throws UsageError if it is not what was written
 */
function openIndex(path: string, saved: unknown, name: string) {
  const isMissing = statRegular(path) === undefined
  const bytes = isMissing ? Buffer.alloc(0) : orUsageError(`cannot read ${path}`, () => readFileSync(path))
  const { length: before, line, sha256 } = fieldsOf(saved ?? NOTHING)
  const hash = createHash('sha256').update(bytes.subarray(0, Number(before)))
  const progress = { length: Number(before), sha256: hash.copy().digest('hex'), line: String(line) }
  const [end, last] = [bytes.subarray(progress.length), Buffer.from(progress.line)]
  const isOwn = progress.sha256 === sha256 && end.equals(last.subarray(0, end.length))
  if (!isOwn) throw refuseOverwrite(path, 'holds something other than what was written', REMEDY)
  const append = (text: Uint8Array | string) =>
    orUsageError(`cannot write ${path}`, () => appendFileSync(path, text, { flush: true }))
  if (end.length < last.length) append(last.subarray(end.length))
  hash.update(last)
  let length = progress.length + last.length
  return {
    /** The number of its last line; null if there is none. */
    indexed: parseNumber(fieldIn(JSON.parse(progress.line || 'null'), name), 64),
    progress,
    /** @param save is told what it is before the line is written: if that is torn, the next run completes it */
    add(line: string, save: (progress: IndexProgress) => void) {
      // On systems where a folder cannot be claimed, this detects a second run.
      if ((statRegular(path)?.size ?? 0) !== length) throw new UsageError(`${path}: another program has changed it`)
      save({ length, sha256: hash.copy().digest('hex'), line })
      append(line)
      hash.update(line)
      length += Buffer.byteLength(line)
    },
  }
}
