import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { bundle } from './forgeries/bundle.ts'
import { code } from './forgeries/code.ts'
import { consensus } from './forgeries/consensus.ts'
import { contract } from './forgeries/contract.ts'
import { ethProof } from './forgeries/eth-proof.ts'
import { ethereum } from './forgeries/ethereum.ts'
import { finalizedState } from './forgeries/finalized-state.ts'
import type { ForgeryClass } from './forgeries/forgery.ts'
import { header } from './forgeries/header.ts'
import { trie } from './forgeries/trie.ts'
import { makeTruth } from './truth.ts'
import { validCases, validEthereumCases } from './valid.ts'
import type { EvidenceVector } from './vector.ts'

/** One file of forgeries per link of the chain from L1 to the answer. */
const CLASSES: readonly ForgeryClass[] = [
  header,
  trie,
  ethProof,
  contract,
  finalizedState,
  bundle,
  consensus,
  ethereum,
  code,
]

/**
 * The evidence vectors: path below this folder -> content. An independent implementation builds the L1 tries, and the world
 * the L2 answers.
 */
export async function generateEvidence(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const add = (kind: 'valid' | 'invalid', name: string, vector: EvidenceVector) => {
    const path = `${kind}/${name}.json`
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(vector, null, 1)}\n`)
  }
  for (const scheme of [mimc, poseidon2]) {
    for (const { name, description, input, expected } of await validCases(scheme)) {
      add('valid', name, { description, ...input, expected })
    }
  }
  for (const { name, description, input, expected } of await validEthereumCases()) {
    add('valid', name, { description, ...input, expected })
  }
  // One scheme is enough, because no forgery here depends on it.
  const truth = await makeTruth(poseidon2)
  for (const forgeriesOf of CLASSES) {
    for (const { name, code, flag, description, input } of await forgeriesOf(truth)) {
      add('invalid', name, { description, flag, ...input, expected: { valid: false, code } })
    }
  }
  return files
}
