import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError } from '../../base/errors.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { StateKind } from '../../verify/state/kind.ts'
import type { Pace } from '../pace.ts'
import {
  createStateReader,
  type HeldAccount,
  isProven,
  type noteReads,
  type StateReader,
  toProvenAccount,
} from '../state-reader.ts'
import type { DecodedCallEvidence } from './decode.ts'

type Pause = Pace['pause']
type Answers = DecodedCallEvidence['answers']

/** Verifies the answers of a bundle. @param pause called before each answer */
export async function verifyAnswers(
  answers: Answers,
  state: StateKind,
  stateRoot: Hex,
  pause: Pause,
): Promise<ReadonlyMap<Hex, HeldAccount>> {
  const accounts = new Map<Hex, HeldAccount>()
  for (const [index, { address, storageKeys, answer }] of answers.entries()) {
    await pause()
    if (accounts.has(address)) throw unused(`answers[${index}]`, `a second answer for ${address}`)
    const verify = () => state.verify(answer, { stateRoot, address, storageKeys })
    accounts.set(address, toProvenAccount(atPath(`answers[${index}].answer`, verify), state.scheme))
  }
  return accounts
}

/**
 * The state in a bundle: its verified answers, and its codes.
 *
 * @param pause called before each code, and before each account or slot that is read
 */
export async function readBundle(
  accounts: ReadonlyMap<Hex, HeldAccount>,
  codes: readonly Uint8Array[],
  pause: Pause,
): Promise<StateReader> {
  const missing = (path: string, expected: string) => new ProofError('CALL_STATE_MISSING', { path, expected })
  const codesByHash = new Map<Hex, Uint8Array>()
  for (const code of codes) {
    await pause()
    codesByHash.set(bytesToHex(keccak256(code)), code)
  }
  return createStateReader({
    async read(address, key) {
      await pause()
      const known = accounts.get(address)
      if (known === undefined) throw missing('answers', `account ${address}`)
      if (!isProven(known, key))
        throw missing(`answers[${[...accounts.keys()].indexOf(address)}]`, `slot ${key} of ${address}`)
      return known
    },
    async readCode(codeHash) {
      const code = codesByHash.get(codeHash)
      if (code === undefined) throw missing('codes', `code with the hash ${codeHash}`)
      return code
    },
  })
}

/** Refuses whatever the execution did not read, because a bundle must not contain anything of unknown purpose. */
export function verifyStateUsed(
  { answers, codes }: Pick<DecodedCallEvidence, 'answers' | 'codes'>,
  read: Pick<ReturnType<typeof noteReads>, 'touched' | 'codes'>,
): void {
  for (const [index, { address, storageKeys }] of answers.entries()) {
    const slots = read.touched.get(address)
    if (slots === undefined) throw unused(`answers[${index}]`, `account ${address}`)
    if (slots.size < storageKeys.length) {
      throw unused(`answers[${index}].storageKeys`, 'a slot that is not read, or is there twice')
    }
  }
  if (read.codes.size < codes.length) throw unused('codes', 'a code that is not read, or is there twice')
}

/** Part of a bundle that no verdict rests on. */
export const unused = (path: string, found: string) => new ProofError('CALL_STATE_UNUSED', { path, found })
