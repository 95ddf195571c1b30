import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { headerOf, type ProvenBlock } from '../../verify/evidence/chain.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { StateKind } from '../../verify/state/kind.ts'
import { type Environment, environmentIn, onlyGiven } from '../environment.ts'
import type { Execution } from '../execute.ts'
import type { Pace } from '../pace.ts'
import { createStateReader, type HeldAccount, isProven, type StateReader, toProvenAccount } from '../state-reader.ts'
import type { CallBundle } from './types.ts'

interface Parts {
  readonly answers: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[]; readonly answer: unknown }[]
  readonly codes: readonly Uint8Array[]
}

/** The state that a bundle proves. The reader throws `CALL_STATE_MISSING` for anything else. */
export async function openState(
  { answers, codes }: Parts,
  state: StateKind,
  stateRoot: Hex,
  { pause }: Pace,
): Promise<StateReader> {
  const missing = (path: string, expected: string) => new ProofError('CALL_STATE_MISSING', { path, expected })
  const accounts = new Map<Hex, HeldAccount>()
  for (const [index, { address, storageKeys, answer }] of answers.entries()) {
    await pause()
    if (accounts.has(address)) throw unused(`answers[${index}]`, `a second answer for ${address}`)
    const verify = () => state.verify(answer, { stateRoot, address, storageKeys })
    accounts.set(address, toProvenAccount(atPath(`answers[${index}].answer`, verify), state.scheme))
  }
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

/** Refuses whatever the execution did not read, or need not be stated: a bundle must not contain anything of unknown purpose. */
export function verifyUsed(
  { answers, codes, environment }: Parts & { readonly environment: Environment },
  proven: Environment,
  reads: Execution['reads'],
): void {
  for (const [index, { address, storageKeys }] of answers.entries()) {
    const slots = reads.slots.get(address)
    if (slots === undefined) throw unused(`answers[${index}]`, `account ${address}`)
    if (slots.size < storageKeys.length) {
      throw unused(`answers[${index}].storageKeys`, 'a slot that is not read, or is there twice')
    }
  }
  if (reads.codes.size < codes.length) throw unused('codes', 'a code that is not read, or is there twice')
  for (const name of Object.keys(environment)) {
    if (name in proven) throw unused(`environment.${name}`, 'a value beside the one that is proven')
    if (!reads.values.has(name)) throw unused(`environment.${name}`, 'a value that is not read')
  }
}

const unused = (path: string, found: string) => new ProofError('CALL_STATE_UNUSED', { path, found })

/** The values that the anchor of a call proves: those of the header, if L1 holds its hash, and otherwise the timestamp at most. */
export function provenIn(anchor: Anchored): Environment {
  const header = headerOf(anchor)
  return onlyGiven(header ? environmentIn(header) : { timestamp: anchor.finalizedTimestamp })
}

type Anchored = Pick<ProvenBlock, 'stateRoot' | 'finalizedTimestamp' | 'l2Block'>

/** The values that the execution read and nothing proves, as a bundle states them. */
export function encodeEnvironment(
  stated: Environment,
  read: ReadonlySet<string>,
  proven: Environment,
): CallBundle['environment'] {
  const entries = Object.entries(stated).filter(([name]) => read.has(name) && !(name in proven))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'bigint' ? encodeQuantity(value) : value]),
  )
}
