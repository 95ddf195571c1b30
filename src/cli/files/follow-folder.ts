import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs'
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
import { fieldIn, hasFields, otherVersion } from '../words/value.ts'
import { claim } from './growing-file.ts'
import { readRegularJson } from './input.ts'
import { type AskedFor, progressFile, refuseOverwrite, serialize, statRegular, writeWhole } from './output-file.ts'
import type { Warn } from './own-key.ts'

/** What all bundles of a folder are for. */
export type FollowedClaim = Required<Pick<AnyClaim, 'scheme' | 'rollup' | 'address' | 'storageKeys'>>

/** In bytes. Every line of the index is shorter. */
const MAX_LINE_LENGTH = 4096

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
  const indexPath = join(path, 'index.ndjson')
  const begun = await (async () => {
    const saved = await state.read()
    if (saved !== undefined && !hasFields(saved, 'progress'))
      throw refuseOverwrite(state.path, 'is not the progress of a run that follows', REMEDY)
    const line = fieldIn(saved, 'line')
    return { ...{ progress: fieldIn(saved, 'progress'), line }, ...mendIndex(indexPath, name, line) }
  })().catch(error => {
    claimed?.close()
    throw error
  })
  let { progress, line, indexed, length } = begun

  return {
    /** The progress of an earlier run; undefined if there was none. */
    progress: progress ?? undefined,
    progressPath: state.path,
    /** Writes the bundle and its line in the index, each once. @returns the path of the bundle */
    async write({ number, bundle, line: about, verifyExisting }: Entry): Promise<string> {
      const file = `${number}.json`
      const bundlePath = join(path, file)
      // A killed run had already written it. That bundle may rest on an older L1 block, and stays.
      if (statRegular(bundlePath) !== undefined) await verifyExisting(bundlePath)
      else writeWhole(bundlePath, serialize(bundlePath, bundle), false)
      if (indexed === null || number > indexed) {
        const text = toJson({ version: 1, ...about, file })
        // On systems where a folder cannot be claimed, this detects a second run.
        const isChanged = (statRegular(indexPath)?.size ?? 0) !== length
        if (isChanged) throw new UsageError(`${indexPath}: another program has changed it`)
        // Saved first: if the line is torn, the next run writes it again.
        line = text
        state.save({ progress: progress ?? null, line })
        orUsageError(`cannot write ${indexPath}`, () => appendFileSync(indexPath, text, { flush: true }))
        indexed = number
        length += Buffer.byteLength(text)
      }
      return bundlePath
    },
    /** Saves the progress, with which a later run continues. */
    save(made: unknown) {
      progress = made
      state.save({ progress: progress ?? null, line })
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

/**
 * Removes the incomplete last line that a killed run leaves, and writes the line that it was to be.
 *
 * @param saved the last line, as the progress has it
 * @returns the number of the last line, null if there is none; the length of the file
 */
function mendIndex(path: string, name: string, saved: unknown): { indexed: bigint | null; length: number } {
  const { indexed, length } = cutIndex(path, name)
  const line = typeof saved === 'string' && saved.endsWith('\n') ? saved : ''
  const number = parseNumber(fieldIn(parseLine(line), name), 64)
  if (number === null || (indexed !== null && number <= indexed)) return { indexed, length }
  orUsageError(`cannot write ${path}`, () => appendFileSync(path, line, { flush: true }))
  return { indexed: number, length: length + Buffer.byteLength(line) }
}

/** Removes the incomplete last line. @returns as {@link mendIndex} */
function cutIndex(path: string, name: string): { indexed: bigint | null; length: number } {
  if (statRegular(path) === undefined) return { indexed: null, length: 0 }
  return orUsageError(`cannot read ${path}`, () => {
    const bytes = readFileSync(path)
    const end = bytes.lastIndexOf('\n') + 1
    const last = bytes.toString('utf8', 0, end).trimEnd().split('\n').at(-1) ?? ''
    const line = parseLine(last)
    const indexed = parseNumber(fieldIn(line, name), 64)
    const isEmpty = last === '' && bytes.length <= MAX_LINE_LENGTH
    const other = indexed === null ? 'is not an index of this program' : otherVersion(line)
    if (other !== undefined && !isEmpty) throw refuseOverwrite(path, other, REMEDY)
    truncateSync(path, end)
    return { indexed, length: end }
  })
}

function parseLine(text: string): unknown {
  try {
    return text.length > MAX_LINE_LENGTH ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
