import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { bigintToBytes, hexToBytes } from '../../src/base/bytes.ts'
import { applyPatches } from '../../src/site/patches.ts'
import { MAX_NODE_COUNT, MAX_NODE_LENGTH } from '../../src/verify/anchor/limits.ts'
import { keccak256 } from '../../src/verify/hash/keccak/index.ts'
import type { HashScheme } from '../../src/verify/scheme/scheme.ts'
import type { InvalidTransition, TransitionInput, ValidTransition } from '../../vectors/transitions/generate.ts'
import { type Beside, isBytes, lengthOf } from './beside.ts'
import { askTransition, type LooseTrace } from './transitions.ts'
import { askEthProof } from './tries.ts'

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** All transitions of the corpus. Each must have the code of its vector, unless that is the code of another layer. */
export function askTransitionVectors(
  beside: Beside,
  schemes: readonly HashScheme[],
  known: ReadonlyMap<string, number>,
) {
  const folder = 'vectors/transitions'
  const judged = { valid: 0, invalid: 0, elsewhere: 0 }
  const ask = ({ scheme: name, answer, parentStateRoot, stateRoot }: TransitionInput) => {
    const scheme = schemes.find(scheme => scheme.name === name)
    const blocks: unknown = Object(Object(answer).result ?? answer).zkStateMerkleProof
    const isRoot = (root: unknown) => isBytes(root) && lengthOf(root) === 32
    const isMadeOfTraces =
      Array.isArray(blocks) &&
      blocks.every(block => Array.isArray(block) && block.every(trace => typeof trace === 'object'))
    if (!scheme || !isRoot(parentStateRoot) || !(stateRoot === undefined || isRoot(stateRoot)) || !isMadeOfTraces)
      return null
    return askTransition(beside, name, scheme, { parentStateRoot, stateRoot, blocks: blocks as LooseTrace[][] })
  }
  for (const file of readdirSync(`${folder}/valid`)) {
    const { input }: ValidTransition = read(`${folder}/valid/${file}`)
    if (ask(input) !== 'accepted') throw new Error(`${file} is not accepted`)
    judged.valid += 1
  }
  for (const file of readdirSync(`${folder}/invalid`)) {
    const vector: InvalidTransition = read(`${folder}/invalid/${file}`)
    const { input } = applyPatches(vector, read(`${folder}/valid/${vector.base}.json`))
    const outcome = ask(input as TransitionInput)
    if (outcome === vector.expected.code) judged.invalid += 1
    else if (outcome === null || outcome === 'accepted' || !known.has(vector.expected.code)) judged.elsewhere += 1
    else throw new Error(`${file}: ${outcome}`)
  }
  console.log(
    `transitions: ${judged.valid} valid, ${judged.invalid} invalid for a rule of the model, ${judged.elsewhere} for another`,
  )
}

/** Everything in these folders that looks like an `eth_getProof` answer, under the root that its first node has. */
export function askEthereumFiles(beside: Beside, folders: readonly string[]): void {
  for (const folder of folders) {
    if (!existsSync(folder)) {
      console.log(`${folder}: skipped, for it is not there`)
      continue
    }
    const before = beside.asked()
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${file}`
      if (path.endsWith('.json') && statSync(path).isFile())
        for (const answer of answersIn(read(path))) askAnswer(beside, answer)
    }
    console.log(`${folder}: ${beside.asked() - before} answers of eth_getProof`)
  }
}

interface Answer {
  address?: unknown
  accountProof?: unknown
  storageProof?: unknown
}

function* answersIn(value: unknown): Generator<Answer> {
  if (typeof value !== 'object' || value === null) return
  const fields: Answer = value
  if (Array.isArray(fields.accountProof) && Array.isArray(fields.storageProof)) yield fields
  for (const part of Object.values(fields)) yield* answersIn(part)
}

const toBytes = (hex: string) => hexToBytes(hex, lengthOf(hex))

function askAnswer(beside: Beside, { address, accountProof, storageProof }: Answer): void {
  const isNodes = (nodes: unknown): nodes is string[] =>
    Array.isArray(nodes) &&
    nodes.length <= MAX_NODE_COUNT &&
    nodes.every(node => isBytes(node) && lengthOf(node) <= MAX_NODE_LENGTH)
  const slots = (storageProof as unknown[]).map(slot => Object(slot) as { key?: unknown; proof?: unknown })
  const isKey = (key: unknown): key is string => typeof key === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(key)
  if (!isBytes(address) || lengthOf(address) !== 20 || !isNodes(accountProof) || accountProof.length === 0) return
  const parts = slots.flatMap(({ key, proof }) =>
    isKey(key) && isNodes(proof) ? [{ key: bigintToBytes(BigInt(key), 32), nodes: proof.map(toBytes) }] : [],
  )
  if (parts.length !== slots.length) return
  const nodes = accountProof.map(toBytes)
  askEthProof(beside, keccak256(nodes[0] ?? new Uint8Array(0)), toBytes(address), nodes, parts)
}
