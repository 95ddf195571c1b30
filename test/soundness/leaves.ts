import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import { decodeLeafProof } from '../../src/verify/proof/decode.ts'
import { verifyLeafProof } from '../../src/verify/proof/leaf-proof.ts'
import { plainTree } from '../../src/verify/proof/tree.ts'
import type { LooseLeafProof, LooseProof } from '../../vectors/forge.ts'
import { type Beside, digits, isBytes } from './beside.ts'
import { kinds, madeProofs, type Question } from './made.ts'

/** Single leaf proofs, beside `verifyLeafProof`. */

/** Asks both verifiers; null if the model cannot express the proof. */
export function askLeaf(beside: Beside, name: string, { scheme, kind, root, key, proof }: Question): string | null {
  const question = describe(proof)
  if (question === null) return null
  const tree = plainTree(scheme, kinds[kind])
  const claim = { root: hexToBytes(root, 32), key: hexToBytes(key, kinds[kind].keyLength) }
  return beside.ask(['C', name, kind, digits(root), digits(key), ...question], () => {
    const leaf = verifyLeafProof(tree, claim, decodeLeafProof(tree, proof))
    return leaf === null ? 'absent' : `present ${leaf.leafIndex} ${bytesToHex(leaf.value).slice(2)}`
  })
}

/** The proof in words of the other program; null if it is not made of integers and whole bytes, where the model begins. */
export function describe({ key, ...proof }: LooseLeafProof): string[] | null {
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

export function askMadeLeaves(beside: Beside, size: number): void {
  for (const question of madeProofs()) {
    askLeaf(beside, `toy-${question.scheme.name}`, question)
    if (beside.asked() >= size) return
  }
}
