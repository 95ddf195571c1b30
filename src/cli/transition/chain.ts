import type { Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { parseBounded } from '../../base/json/parse.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import { type BlockDiff, type VerifiedTransition, verifyTransition } from '../../verify/transition/verify.ts'
import { type Input, unpack } from '../audit/input.ts'
import { MAX_ANSWER_LENGTH } from '../audit/limits.ts'
import { readLines } from '../audit/lines.ts'
import { DocumentError } from '../words/error.ts'
import { holdsTraces } from '../words/input-file.ts'
import { hasFields, messageOf } from '../words/value.ts'

/** Where an answer is: from 1 in its input, and its block from 1 in the whole chain. */
export interface Place {
  input: string
  answer: number
  block: number
}

/** Verifies answers, one per line, each from the root that the one before it has come to. @throws ProofError, DocumentError */
export async function* verifyChain(
  inputs: readonly Input[],
  { scheme, parentStateRoot }: { readonly scheme: Scheme; readonly parentStateRoot: Hex },
  place: Place,
): AsyncGenerator<BlockDiff> {
  let root = parentStateRoot
  for (const { name, open } of inputs) {
    place.input = name
    place.answer = 0
    for await (const answer of answersIn(open())) {
      place.answer++
      const { blocks } = placed(place, () => verifyTransition(answer, { scheme, parentStateRoot: root }))
      for (const diff of blocks) {
        place.block++
        root = diff.stateRoot
        yield diff
      }
    }
    if (place.answer === 0) throw new DocumentError('it holds no answer')
  }
}

async function* answersIn(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<unknown> {
  try {
    for await (const line of readLines(unpack(chunks), MAX_ANSWER_LENGTH))
      if (line.trim() !== '') yield readAnswer(line.trim())
  } catch (error) {
    throw error instanceof DocumentError ? error : new DocumentError(`damaged: ${messageOf(error)}`)
  }
}

/** An answer, which may be an error. @throws DocumentError */
function readAnswer(text: string): unknown {
  let answer: unknown
  try {
    answer = parseBounded(text)
  } catch (error) {
    throw new DocumentError(`it has a line that is not JSON: write each answer in one line (${messageOf(error)})`)
  }
  if (holdsTraces(answer) || hasFields(answer, 'error')) return answer
  throw new DocumentError('it has a line that is no answer with traces, as the state manager sends it')
}

/** Notes the block at which an answer fails, which the path of the error names. */
function placed(place: { block: number }, verify: () => VerifiedTransition): VerifiedTransition {
  try {
    return verify()
  } catch (error) {
    const [, index] = /^(?:result\.)?zkStateMerkleProof\[(\d+)\]/.exec(isProofError(error) ? error.path : '') ?? []
    if (index !== undefined) place.block += Number(index) + 1
    throw error
  }
}
