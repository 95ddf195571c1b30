import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { bytesToHex, type Hex, hexToBytes } from '../../src/bytes.ts'
import { isProofError } from '../../src/errors.ts'
import { hasherOf } from '../../src/hash/hasher.ts'
import { decodeLeafProof } from '../../src/proof/decode.ts'
import { verifyLeafProof } from '../../src/proof/leaf-proof.ts'
import { plainTree } from '../../src/proof/tree.ts'
import { createScheme } from '../../src/scheme/genuine.ts'
import { mimc } from '../../src/scheme/mimc.ts'
import { poseidon2 } from '../../src/scheme/poseidon2.ts'
import type { HashScheme } from '../../src/scheme/scheme.ts'
import type { LooseLeafProof, LooseProof } from '../../vectors/forge.ts'
import { kinds, madeProofs, type Question } from './made.ts'

/** Runs the rules extracted from Coq beside `verifyLeafProof`, on made proofs under toy schemes and on the corpus. */
const [, , program = '', size = '20000'] = process.argv

/** What both verifiers are asked, and the answer of this one. */
const questions: string[] = []
const answers: string[] = []
const counts = new Map<string, number>()

const digits = (hex: string) => hex.slice(2).toLowerCase()
const lengthOf = (hex: string) => hex.length / 2 - 1

function ask(name: string, { scheme, kind, root, key, proof }: Question): string | null {
  const question = describe(proof)
  if (question === null) return null
  const tree = plainTree(scheme, kinds[kind])
  const claim = { root: hexToBytes(root, 32), key: hexToBytes(key, kinds[kind].keyLength) }
  const verdict = judge(() => {
    const leaf = verifyLeafProof(tree, claim, decodeLeafProof(tree, proof))
    return leaf === null ? 'absent' : `present ${leaf.leafIndex} ${bytesToHex(leaf.value).slice(2)}`
  })
  questions.push(['C', name, kind, digits(root), digits(key), ...question].join(' '))
  answers.push(verdict)
  const [outcome = ''] = verdict.split(' ')
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return outcome
}

function judge(verify: () => string): string {
  try {
    return verify()
  } catch (error) {
    if (isProofError(error)) return error.code
    throw error
  }
}

/** The proof in words of the other program; null if it is not made of integers and whole bytes, where the model begins. */
function describe({ key, ...proof }: LooseLeafProof): string[] | null {
  const isBytes = (text: unknown): text is string => typeof text === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(text)
  const part = (index: unknown, path: Partial<LooseProof> | null | undefined): string[] | null => {
    const { value, proofRelatedNodes: nodes } = path ?? {}
    if (!Number.isInteger(index) || !isBytes(value) || !Array.isArray(nodes) || !nodes.every(isBytes)) return null
    return [`${BigInt(Number(index))}`, digits(value), ['', ...nodes.map(digits)].join(',')]
  }
  const { leafIndex, leftLeafIndex, rightLeafIndex } = proof
  const names = Object.keys(proof).sort().join()
  const existing = names === 'leafIndex,proof' ? part(leafIndex, proof.proof) : null
  const isAbsence = names === 'leftLeafIndex,leftProof,rightLeafIndex,rightProof'
  const [left, right] = isAbsence ? [part(leftLeafIndex, proof.leftProof), part(rightLeafIndex, proof.rightProof)] : []
  if (!isBytes(key)) return null
  if (existing) return ['E', digits(key), ...existing]
  return left && right ? ['N', digits(key), ...left, ...right] : null
}

for (const question of madeProofs()) {
  ask(`toy-${question.scheme.name}`, question)
  if (answers.length >= Number(size)) break
}
const made = answers.length
const outcomes = [...counts].sort(([, a], [, b]) => b - a)

// The corpus, with the real hashes. The model asks for a digest, and gets the one that was computed here: it must ask for no
// other message.

const hashed = new Map<string, string>()
const recorded = [mimc, poseidon2].map(scheme => {
  const hash = (message: Uint8Array) => {
    const digest = scheme.hasher.hash(message)
    hashed.set(`${scheme.name} ${bytesToHex(message).slice(2)}`, bytesToHex(digest).slice(2))
    return digest
  }
  return createScheme({ ...scheme, hasher: hasherOf(hash) })
})

interface Vector {
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: { result?: unknown }
  expected: { valid: boolean; code?: string }
}

/** The only vector with a rule of the model that the model cannot express. */
const INEXPRESSIBLE = 'index-fractional.json'
const judged = { valid: 0, invalid: 0, elsewhere: 0 }
for (const scheme of recorded) {
  for (const folder of ['valid', 'invalid'] as const) {
    for (const file of readdirSync(`vectors/${scheme.name}/${folder}`)) {
      const vector: Vector = JSON.parse(readFileSync(`vectors/${scheme.name}/${folder}/${file}`, 'utf8'))
      count(file, vector.expected.code, askVector(scheme, vector))
    }
  }
}

/** The verdict on one of the leaf proofs must be that of the vector, unless its code is that of another layer. */
function count(file: string, code: string | undefined, outcomes: readonly (string | null)[]): void {
  if (code === undefined) judged.valid += 1
  else if (outcomes.includes(code)) judged.invalid += 1
  else judged.elsewhere += 1
  const isRight = (outcome: string | null) => outcome === null || outcome === 'present' || outcome === 'absent'
  const isKnown = code !== undefined && counts.has(code) && file !== INEXPRESSIBLE
  if (code === undefined ? !outcomes.every(isRight) : isKnown && !outcomes.includes(code)) {
    throw new Error(`${file}: ${outcomes.join()}`)
  }
}

/** The outcome of each leaf proof in the answer that the model can express. */
function askVector(scheme: HashScheme, { answer, stateRoot, address, storageKeys }: Vector): (string | null)[] {
  if (lengthOf(stateRoot) !== 32 || lengthOf(address) !== 20 || storageKeys.some(key => lengthOf(key) !== 32)) return []
  const { accountProof, storageProofs } = Object(answer?.result ?? answer)
  const account = Object(accountProof)
  const outcomes = [ask(scheme.name, { scheme, kind: 'account', root: stateRoot, key: address, proof: account })]
  const value: unknown = account.proof?.value
  if (typeof value !== 'string' || lengthOf(value) !== 192 || !Array.isArray(storageProofs)) return outcomes
  const root: Hex = `0x${value.slice(2 + 128, 2 + 192)}`
  const asked = storageKeys.slice(0, storageProofs.length)
  return [
    ...outcomes,
    ...asked.map((key, index) =>
      ask(scheme.name, { scheme, kind: 'storage', root, key, proof: Object(storageProofs[index]) }),
    ),
  ]
}

// The other program.

const digests = [...hashed].map(([message, digest]) => `H ${message} ${digest}`)
const input = `${[...digests, ...questions].join('\n')}\n`
const { stdout, stderr, status } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 2 ** 30 })
if (status !== 0) throw new Error(stderr)
const others = stdout.trimEnd().split('\n')
const different = answers.flatMap((answer, index) => (answer === others[index] ? [] : [index]))
for (const index of different.slice(0, 3)) {
  console.log(`${answers[index]} here, ${others[index]} there: ${questions[index]?.slice(0, 2000)}`)
}
for (const [outcome, times] of outcomes) console.log(`${String(times).padStart(6)} ${outcome}`)
console.log(`${made} made proofs, ${answers.length - made} of the corpus, ${different.length} verdicts differ`)
console.log(
  `vectors: ${judged.valid} valid, ${judged.invalid} invalid for a rule of the model, ${judged.elsewhere} for another`,
)
// Two verdicts and 17 codes: each has to be among the made proofs, and not by chance.
const isRare = outcomes.length !== 19 || outcomes.some(([, times]) => times < made / 1000)
if (isRare || different.length > 0 || others.length !== answers.length) process.exit(1)
