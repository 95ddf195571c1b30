import { readdirSync } from 'node:fs'
import { isRefusal } from '../../src/base/errors.ts'
import { kindNamed } from '../../src/cli/words/answer.ts'
import { readInputFile } from '../../src/cli/words/input-file.ts'
import { type Fields, fieldsOf } from '../../src/cli/words/value.ts'
import type { StateScheme, Trusted } from '../../src/entry/anchor.ts'
import { verifyProof } from '../../src/entry/index.ts'
import { type CallClaim, verifyCallEvidence } from '../../src/entry/provider.ts'
import { verifyEvidence } from '../../src/verify/evidence/verify.ts'
import { VECTOR_FOLDERS } from '../../vectors/folders.ts'
import { claimOfVector } from '../../vectors/run/claim.ts'
import { functionNamed } from '../../vectors/run/functions.ts'
import { readVector } from '../../vectors/run/read.ts'

/** A vector of the corpus, read and parsed. */
export interface CorpusCase {
  readonly path: string
  /** The whole vector, with the input of its base. */
  readonly content: Fields
}

/** The vectors in these folders. */
export const corpusIn = (
  kinds: readonly ('valid' | 'invalid')[],
  folders: readonly string[] = VECTOR_FOLDERS,
): CorpusCase[] =>
  folders.flatMap(folder =>
    kinds.flatMap(kind =>
      readdirSync(`vectors/${folder}/${kind}`).map(name => {
        const path = `vectors/${folder}/${kind}/${name}`
        return { path, content: readVector(path) }
      }),
    ),
  )

/** Where a vector holds what strangers send. */
export const SENT = ['answer', 'bundle', 'proof', 'block', 'code', 'input'] as const

/** Verifies what a vector holds against what it states. @returns what is proven */
function verifyCase(content: Fields): unknown {
  if (content['operation'] === 'verifyEvidence' && content['kind'] === 'call') return verifyCall(content)
  const file = readInputFile(content)
  if (file.kind === 'function vector') return functionNamed(file.operation).run(file.fields)
  if (file.kind === 'evidence vector') return verifyEvidence(file.bundle, claimOfVector(file))
  if (file.kind !== 'vector') throw new Error(`no vector: ${file.kind}`)
  const stated: unknown = { ...file.stated, scheme: kindNamed(file.stated.scheme)?.scheme }
  return verifyProof(file.answer, stated as Parameters<typeof verifyProof>[1])
}

/** The claim is unchecked: a vector may state any. */
function verifyCall({ scheme, claim, bundle }: Fields): Promise<unknown> {
  const number = (text: unknown) => (typeof text === 'string' && text.startsWith('0x') ? BigInt(text) : text)
  const { chainId, l2BlockNumber, call, ...rest } = fieldsOf(claim)
  const { value, gas, ...others } = fieldsOf(call)
  const stated: unknown = {
    ...{ ...rest, scheme: kindNamed(scheme)?.scheme, chainId: number(chainId), l2BlockNumber: number(l2BlockNumber) },
    call: typeof call === 'string' ? call : { ...others, value: number(value), gas: number(gas) },
  }
  return verifyCallEvidence(bundle, stated as CallClaim<Trusted, StateScheme>)
}

/** What became of it: what is proven, or the code and the place of the refusal. */
export type CaseOutcome = { readonly proven: unknown } | { readonly refused: string } | { readonly untyped: string }

export async function outcomeOf(content: Fields): Promise<CaseOutcome> {
  try {
    const result = verifyCase(content)
    return { proven: result instanceof Promise ? await result : result }
  } catch (error) {
    return isRefusal(error) ? { refused: `${error.code} at ${error.path}` } : { untyped: String(error) }
  }
}
