import { FORMAT } from '../../verify/evidence/head.ts'
import type { EvidenceName } from '../../verify/evidence/verify.ts'
import type { Claim } from '../../verify/proof/claim.ts'
import { brief, DocumentError, type Fields, fieldIn, fieldsOf, hasFields, show } from './value.ts'

/** What was asked, as a file or the user states it, unchecked. */
export type StatedClaim = { readonly [Name in keyof Claim]?: unknown }

interface Described {
  /** What a vector expects, unchecked. */
  readonly expected: unknown
}

/** A `rollup_getProof` answer, and what its file says was asked. One line of NDJSON holds the same. */
export interface AnswerFile extends Described {
  /**
   * An answer or a response is only what an endpoint sent. A recording also states its claim, and is expected to verify. A
   * vector also states what it expects. Anything else is unknown, and its whole content is taken as the answer.
   */
  readonly kind: 'answer' | 'JSON-RPC response' | 'recording' | 'vector' | 'unknown'
  readonly stated: StatedClaim
  readonly answer: unknown
}

/** Evidence, which says what it is for but states no claim. */
export interface EvidenceFile extends Described {
  readonly kind: 'evidence'
  /** What it says that it is evidence of. */
  readonly evidence: EvidenceName
  readonly bundle: unknown
}

export interface EvidenceVector extends Described {
  readonly kind: 'evidence vector'
  readonly evidence: EvidenceName
  readonly bundle: unknown
  readonly scheme: unknown
  readonly claim: unknown
}

/** A vector for a function other than those that verify answers and bundles. `operation` names the function. */
export interface FunctionVector extends Described {
  readonly kind: 'function vector'
  readonly operation: unknown
  readonly fields: Fields
}

export type InputFile = AnswerFile | EvidenceFile | EvidenceVector | FunctionVector

export const evidenceNames: Readonly<Record<EvidenceName, string>> = {
  state: 'an evidence bundle',
  logs: 'logs as evidence',
  message: 'a message as evidence',
  call: 'a call as evidence',
}

export const OF_NO_KIND = 'it is no answer, JSON-RPC response, recording, evidence, vector or traces'

function evidenceNamed(name: unknown): EvidenceName {
  if (typeof name === 'string' && Object.hasOwn(evidenceNames, name)) return name as EvidenceName
  throw new DocumentError(`it is evidence of an unknown kind: ${brief(show(name))}`)
}

/** Tells what a JSON text is: evidence says so, and anything else is known by the names of its fields. @throws DocumentError */
export function readInputFile(content: unknown): InputFile {
  const has = (...names: string[]) => hasFields(content, ...names)
  const fields = fieldsOf(content)
  const { operation, scheme, claim, answer, result, expected } = fields
  const bare = { expected: undefined }
  // Evidence says what it is, and is judged as that.
  if (fields['format'] === FORMAT) {
    return { kind: 'evidence', ...bare, evidence: evidenceNamed(fields['kind']), bundle: content }
  }
  if (operation === 'verifyEvidence') {
    const evidence = evidenceNamed(fields['kind'])
    const bundle = fields['bundle'] ?? fields['input']
    return { kind: 'evidence vector', evidence, bundle, scheme, claim, expected }
  }
  if (has('operation')) return { kind: 'function vector', operation, fields, expected }
  // Anything that calls itself a JSON-RPC response came from an endpoint, so the user stated nothing in it.
  const isResponse = has('jsonrpc')
  if (!isResponse && has('scheme')) {
    const { stateRoot, address, storageKeys, version = 1 } = fields
    const stated = { scheme, stateRoot, address, storageKeys }
    if (has('answer')) return { kind: 'vector', stated, answer, expected }
    // Recordings of other programs say none.
    if (version !== 1) throw new DocumentError('it is not version 1')
    if (has('result')) return { kind: 'recording', stated, answer: result, expected: { valid: true } }
    throw new DocumentError('it has a scheme, but neither an answer nor a result')
  }
  const isAnswer = ['accountProof', 'storageProofs', 'storageProof'].some(name => has(name))
  const kind = isResponse || has('result') || has('error') ? 'JSON-RPC response' : isAnswer ? 'answer' : 'unknown'
  return { kind, ...bare, stated: {}, answer: content }
}

/** Whether it is what the state manager sends about a range of blocks, which is no answer about an account. */
export const holdsTraces = (content: unknown): boolean =>
  [content, fieldIn(content, 'result')].some(value => hasFields(value, 'zkStateMerkleProof'))
