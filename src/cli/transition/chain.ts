import type { Hex } from '../../base/bytes.ts'
import { isProofError, ProofError } from '../../base/errors.ts'
import { parseBounded } from '../../base/json/parse.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import { type BlockDiff, verifyTransition } from '../../verify/transition/verify.ts'
import { DocumentError } from '../words/error.ts'
import { type Part, splitAnswers } from './split.ts'

/** Where answers are read from. */
export interface TransitionInput {
  readonly name: string
  open(): AsyncIterable<string | Uint8Array>
}

/** A verified block, and where it is from. */
export interface ChainBlock {
  readonly diff: BlockDiff
  readonly traces: number
}

/** Where the chain broke. */
export interface Place {
  readonly input: string
  /** From 1, in its input. */
  readonly answer: number
  /** From 1, in the whole chain. */
  readonly block: number
}

/**
 * Verifies answers, each from the root that the one before it has come to, block by block. Holds no more than one block.
 *
 * @param place is kept up to date, so that a failure can be placed
 * @throws ProofError; DocumentError if an input holds something else
 */
export async function* verifyChain(
  inputs: readonly TransitionInput[],
  { scheme, parentStateRoot }: { readonly scheme: Scheme; readonly parentStateRoot: Hex },
  place: { -readonly [Name in keyof Place]: Place[Name] },
): AsyncGenerator<ChainBlock> {
  let root = parentStateRoot
  /** What one answer states or lists, from a root. */
  const verify = (answer: object, from: Hex) => verifyTransition(answer, { scheme, parentStateRoot: from })
  for (const { name, open } of inputs) {
    place.input = name
    place.answer = 0
    let [begun, index] = [root, 0]
    let stated: [name: string, value: unknown][] = []
    for await (const part of splitAnswers(open())) {
      if (part.kind === 'begin') {
        place.answer++
        ;[begun, index, stated] = [root, 0, []]
      } else if (part.kind === 'field') {
        const value = parsePart(part)
        if (part.name === 'error' && value !== null) verify({ error: value }, root)
        stated.push([part.name, value])
      } else if (part.kind === 'block') {
        place.block++
        const traces = parsePart(part)
        const count = Array.isArray(traces) ? traces.length : -1
        const verified = () => atBlock(index, () => verify({ zkStateMerkleProof: [traces] }, root)).blocks
        // An empty block is three bytes: whoever sends millions of them must not make us verify each.
        const [diff] = count === 0 ? [{ stateRoot: root, accounts: [] }] : verified()
        index++
        if (diff === undefined) continue
        root = diff.stateRoot
        yield { diff, traces: Math.max(0, count) }
      } else {
        for (const [field, value] of stated) {
          if (field !== 'error')
            verify({ [field]: value, zkStateMerkleProof: [] }, field.startsWith('zkEnd') ? root : begun)
        }
      }
    }
    if (place.answer === 0) throw new DocumentError('it holds no answer')
  }
}

function parsePart({ text }: Exclude<Part, { kind: 'begin' | 'end' }>): unknown {
  try {
    return parseBounded(text)
  } catch (error) {
    throw new DocumentError(`it is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}

/** The traces of each block are verified alone: the path of an error gets the index of the block. */
function atBlock<T>(index: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isProofError(error)) throw error
    const { code, path, expected, found } = error
    throw new ProofError(code, {
      path: path.replace('zkStateMerkleProof[0]', `zkStateMerkleProof[${index}]`),
      expected,
      found,
    })
  }
}
