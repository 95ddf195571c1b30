import { readdirSync, readFileSync } from 'node:fs'
import { bytesToHex, type Hex } from '../../src/base/bytes.ts'
import { hasherOf } from '../../src/verify/hash/hasher.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme } from '../../src/verify/scheme/scheme.ts'
import { askAnswer } from './answers.ts'
import { type Beside, besideOf, lengthOf } from './beside.ts'
import { askLeaf } from './leaves.ts'

/** The answers of the corpus, with the real hashes. */

const hashed = new Map<string, string>()

/** The schemes, which note each message that they hash, and its digest. */
export const recorded = [mimc, poseidon2].map(scheme => {
  const hash = (message: Uint8Array) => {
    const digest = scheme.hasher.hash(message)
    hashed.set(`${scheme.name} ${bytesToHex(message).slice(2)}`, bytesToHex(digest).slice(2))
    return digest
  }
  return createScheme({ ...scheme, hasher: hasherOf(hash) })
})

/** The model asks for a digest, and gets the one that was computed here: it must ask for no other message. */
export const besideCorpus = (program: string): Beside =>
  besideOf(program, () => [...hashed].map(([message, digest]) => `H ${message} ${digest}`))

interface Vector {
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: { result?: unknown }
  expected: { valid: boolean; code?: string }
}

/** The only vector with a rule of the model that the model cannot express. */
const INEXPRESSIBLE = 'index-fractional.json'

/**
 * All answers of the corpus. The verdict on one of the leaf proofs must be that of the vector, unless its code is that of another
 * layer.
 *
 * @param known the codes of the model
 */
export function askAnswerVectors(beside: Beside, known: readonly string[]): void {
  const judged = { valid: 0, invalid: 0, elsewhere: 0 }
  const count = (file: string, code: string | undefined, outcomes: readonly (string | null)[]) => {
    if (code === undefined) judged.valid += 1
    else if (outcomes.includes(code)) judged.invalid += 1
    else judged.elsewhere += 1
    const isRight = (outcome: string | null) => outcome === null || outcome === 'present' || outcome === 'absent'
    const isKnown = code !== undefined && known.includes(code) && file !== INEXPRESSIBLE
    if (code === undefined ? !outcomes.every(isRight) : isKnown && !outcomes.includes(code)) {
      throw new Error(`${file}: ${outcomes.join()}`)
    }
  }
  for (const scheme of recorded) {
    for (const folder of ['valid', 'invalid'] as const) {
      for (const file of readdirSync(`vectors/${scheme.name}/${folder}`)) {
        const vector: Vector = JSON.parse(readFileSync(`vectors/${scheme.name}/${folder}/${file}`, 'utf8'))
        count(file, vector.expected.code, askVector(beside, scheme, vector))
      }
    }
  }
  console.log(
    `vectors: ${judged.valid} valid, ${judged.invalid} invalid for a rule of the model, ${judged.elsewhere} for another`,
  )
}

/** The outcome of each leaf proof in the answer that the model can express. */
function askVector(
  beside: Beside,
  scheme: HashScheme,
  { answer, stateRoot, address, storageKeys }: Vector,
): (string | null)[] {
  if (lengthOf(stateRoot) !== 32 || lengthOf(address) !== 20 || storageKeys.some(key => lengthOf(key) !== 32)) return []
  const { accountProof, storageProofs } = Object(answer?.result ?? answer)
  const account = Object(accountProof)
  const outcomes = [
    askLeaf(beside, scheme.name, { scheme, kind: 'account', root: stateRoot, key: address, proof: account }),
  ]
  const value: unknown = account.proof?.value
  if (typeof value !== 'string' || lengthOf(value) !== 192 || !Array.isArray(storageProofs)) return outcomes
  const root: Hex = `0x${value.slice(2 + 128, 2 + 192)}`
  const asked = storageKeys.slice(0, storageProofs.length)
  askAnswer(beside, scheme.name, { scheme, stateRoot, address, storageKeys, answer: { accountProof, storageProofs } })
  return [
    ...outcomes,
    ...asked.map((key, index) =>
      askLeaf(beside, scheme.name, { scheme, kind: 'storage', root, key, proof: Object(storageProofs[index]) }),
    ),
  ]
}
