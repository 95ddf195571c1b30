import type { Hex } from '../bytes.ts'
import { type Admission, readOwn } from '../json/known-fields.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { admitAnswer, type PartialAnswer, readPartialAnswer, verifyAgreement } from './partial-answers.ts'
import type { Redact } from './redact.ts'

/** The answers for the first keys of a request, to resume an interrupted fetch. Plain JSON; untrusted once it was stored. */
export interface FetchCheckpoint {
  /** The block, a quantity. */
  block: string
  /** 20 bytes. */
  address: Hex
  /** All requested keys, 32 bytes each. */
  storageKeys: readonly Hex[]
  /** For a recording: the rollup contract on L1, 20 bytes. */
  rollup?: Hex
  /** For a recording: the hash scheme. */
  scheme?: Scheme['name']
  /** One per answered request, in order. */
  partialAnswers: readonly {
    /** How many of the keys it covers. */
    keyCount: number
    /** The known fields of the endpoint's answer. */
    answer: unknown
  }[]
}

/** What a checkpoint must be for. Hexadecimal is in lower case. */
export type ProgressOwner = Pick<FetchCheckpoint, 'address' | 'storageKeys'> &
  Partial<Pick<FetchCheckpoint, 'block' | 'rollup' | 'scheme'>>

/** Why a checkpoint is not for this request, for people; null if it is. The checkpoint may be any value. */
export function fetchedMismatch(checkpoint: unknown, owner: ProgressOwner): string | null {
  const read = (name: string) => readOwn(Object(checkpoint), name)
  const storageKeys = read('storageKeys')
  if (!Array.isArray(read('partialAnswers')) || !Array.isArray(storageKeys)) return 'it is not a checkpoint'
  for (const name of ['rollup', 'scheme', 'address', 'block'] as const) {
    if (owner[name] !== undefined && read(name) !== owner[name]) return `it is of another ${name}`
  }
  const isSame =
    storageKeys.length === owner.storageKeys.length &&
    owner.storageKeys.every((key, index) => key === storageKeys[index])
  return isSame ? null : 'it is of other storage keys'
}

/**
 * The partial answers of a checkpoint that can be reused, from the first on. They never cover all keys: this library makes no
 * such checkpoint, and at least one request must reach the endpoint.
 *
 * @param verify throws if the answer does not verify
 */
export function readFetched(
  checkpoint: unknown,
  owner: ProgressOwner,
  admission: Admission,
  redact: Redact,
  verify: (answer: unknown, keys: readonly Hex[]) => void,
): PartialAnswer[] {
  const answers: PartialAnswer[] = []
  if (checkpoint === undefined || fetchedMismatch(checkpoint, owner) !== null) return answers
  const { storageKeys } = owner
  try {
    let done = 0
    // They may be anything: a value of another shape throws, which ends the loop.
    for (const part of readOwn(Object(checkpoint), 'partialAnswers') as Iterable<unknown>) {
      const [keyCount, answer] = ['keyCount', 'answer'].map(name => readOwn(Object(part), name))
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
    // The rest is fetched again.
  }
  return answers
}
