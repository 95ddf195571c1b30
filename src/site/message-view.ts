import { isHexOf, type PathLevel, readBytes, toHex } from '../cli/words/layout.ts'
import { brief, fieldsOf, itemsOf, show } from '../cli/words/value.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { checksOf } from './checks.ts'
import { describeFault } from './fault.ts'
import type { OpenedFile } from './opened-file.ts'
import { emptyView, type PathView, type ProofView } from './proof-view.ts'
import type { Judgement } from './report.ts'

/** The way of a message from L2 to the root of its tree; null if it is none. */
export function viewMessage({ bundle }: OpenedFile, { report, checked, error }: Judgement): ProofView | null {
  const { messageProof: place } = fieldsOf(bundle)
  if (place === undefined) return null
  const hash = report.boxes.at(-1)?.value ?? ''
  const { root, leafIndex, proof } = fieldsOf(place)
  const isInPlace = error?.path.startsWith('messageProof') ?? false
  const fault =
    isInPlace && error ? describeFault({ ...error, group: 'place', found: error.found ?? '', served: place }) : null
  const { levels, root: computedRoot } = levelsOf(readBytes(32, hash), leafIndex, itemsOf(proof))
  const index = brief(show(leafIndex))
  const path: PathView = {
    ...{ part: 'proof', title: 'From the root of the tree to the message', leafIndex: index, levels, computedRoot },
    ...{ rootName: 'root of the tree', wantedRoot: isHexOf(32, root) ? root : null, valueHash: hash, fault },
    rootSource: 'as the file says; L1 keeps those of finalizations',
    ...{ nextFreeNode: null, statedSubRoot: null, computedSubRoot: null, bytes: [] },
  }
  return {
    ...{ ...emptyView, title: 'the message', claims: `leaf ${index}`, key: hash },
    ...{ checks: checksOf(checked, 'place'), paths: [path], fault },
  }
}

/** From the root down, as `readLevels` returns them. */
function levelsOf(hash: Uint8Array | null, leafIndex: unknown, proof: readonly unknown[]) {
  const index = typeof leafIndex === 'number' && Number.isSafeInteger(leafIndex) && leafIndex >= 0 ? leafIndex : null
  if (index === null || proof.length > 32) return { levels: [], root: null }
  let running = hash
  let empty: Uint8Array = new Uint8Array(32)
  const levels = proof
    .map((node, level): PathLevel => {
      const sibling = readBytes(32, node)
      const isRight = Math.floor(index / 2 ** level) % 2 === 1
      const text = sibling && toHex(sibling)
      const shown = {
        ...({ level, entry: level, siblingSide: isRight ? 'left' : 'right', sibling: text } as const),
        ...{ isEmpty: text === toHex(empty), running: running && toHex(running) },
        problem: sibling === null ? 'not 32 bytes' : null,
      }
      running = running && sibling && hashPair(isRight ? [sibling, running] : [running, sibling])
      empty = hashPair([empty, empty])
      return shown
    })
    .reverse()
  return { levels, root: running && toHex(running) }
}

const hashPair = ([left, right]: readonly [Uint8Array, Uint8Array]): Uint8Array =>
  keccak256(Uint8Array.of(...left, ...right))
