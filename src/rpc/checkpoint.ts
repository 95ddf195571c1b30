import type { Admission } from '../anchor/known-fields.ts'
import type { Hex } from '../bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { admitAnswer, type PartialAnswer, readPartialAnswer, verifyAgreement } from './partial-answers.ts'
import type { Redact } from './redact.ts'

/** The answers for some of the keys, from the first, to resume an interrupted fetch. Plain JSON; untrusted once it was in a file. */
export interface FetchCheckpoint {
  /** A quantity. */
  block: string
  /** 20 bytes. */
  address: Hex
  /** All requested keys, 32 bytes each. */
  storageKeys: readonly Hex[]
  /** Of a recording: the rollup contract on L1, 20 bytes. */
  rollup?: Hex
  /** Of a recording. */
  scheme?: Scheme['name']
  /** One per request that was answered, in order. */
  partialAnswers: readonly {
    /** For how many of the keys. */
    keyCount: number
    /** The known fields of the endpoint's answer. */
    answer: unknown
  }[]
}

/** What a checkpoint has to be of: lower case. */
export type CheckpointOwner = Pick<FetchCheckpoint, 'address' | 'storageKeys'> &
  Partial<Pick<FetchCheckpoint, 'block' | 'rollup' | 'scheme'>>

/** How a checkpoint is not of this request, for people; null when it is. It may be anything. */
export function checkpointMismatch(checkpoint: unknown, owner: CheckpointOwner): string | null {
  const { partialAnswers, storageKeys, ...found } = ownFields(checkpoint)
  if (!Array.isArray(partialAnswers) || !Array.isArray(storageKeys)) return 'it is not a checkpoint'
  for (const name of ['rollup', 'scheme', 'address', 'block'] as const) {
    if (owner[name] !== undefined && found[name] !== owner[name]) return `it is of another ${name}`
  }
  const isSame =
    storageKeys.length === owner.storageKeys.length &&
    owner.storageKeys.every((key, index) => key === storageKeys[index])
  return isSame ? null : 'it is of other storage keys'
}

/**
 * The partial answers of a checkpoint that can be used again, from the first. Never all that there are to ask for: no
 * checkpoint that this library made holds them, and somebody has to be asked.
 *
 * @param verify throws when the answer does not hold
 */
export function readCheckpoint(
  checkpoint: unknown,
  owner: CheckpointOwner,
  admission: Admission,
  redact: Redact,
  verify: (answer: unknown, keys: readonly Hex[]) => void,
): PartialAnswer[] {
  const answers: PartialAnswer[] = []
  if (checkpoint === undefined || checkpointMismatch(checkpoint, owner) !== null) return answers
  const { storageKeys } = owner
  try {
    let done = 0
    const { partialAnswers } = ownFields(checkpoint)
    // Whatever they are: what is not so throws, and ends the reading.
    for (const part of partialAnswers as Iterable<unknown>) {
      const { keyCount, answer } = ownFields(part)
      if (typeof keyCount !== 'number' || !Number.isSafeInteger(keyCount) || keyCount < 1) break
      if (done + keyCount >= storageKeys.length) break
      const known = admitAnswer(answer, admission, redact)
      verify(known, storageKeys.slice(done, done + keyCount))
      const next = readPartialAnswer(known, keyCount)
      verifyAgreement([...answers.slice(0, 1), next])
      answers.push(next)
      done += keyCount
    }
  } catch {
    // It is asked for again.
  }
  return answers
}

/** @returns without a prototype, so that what is missing does not turn up on a polluted Object.prototype */
function ownFields(source: unknown): Readonly<Record<string, unknown>> {
  try {
    return Object.assign(Object.create(null), typeof source === 'object' ? source : undefined)
  } catch {
    return Object.create(null)
  }
}
