import type { StateClaim } from '../../verify/state/kind.ts'
import { addressIn, guessKind, kindNamed, storageKeysIn } from './answer.ts'
import type { AnswerFile, StatedClaim } from './input-file.ts'

export type ClaimField = keyof StateClaim

/**
 * Who stated it: the user, who typed it or compared it with a source of their own; the vector or recording; the verified answer
 * or bundle itself; or an endpoint. A scheme that nobody states is found by the form of the answer: the lengths of its nodes.
 */
export type Source = 'user' | 'default' | 'confirmed' | 'file' | 'answer' | 'bundle' | 'endpoint' | 'lengths'

export interface ClaimWithSources {
  readonly claim: StateClaim
  readonly sources: Readonly<Record<ClaimField, Source>>
}

export interface ClaimProblem {
  readonly problem: ClaimField
  /** The unknown scheme, or the index of a storage proof that names no key. Undefined if nobody states anything. */
  readonly found?: unknown
}

export const isProblem = (claim: ClaimWithSources | ClaimProblem): claim is ClaimProblem => 'problem' in claim

/** Completes the claim: what the user states overrides the file, and the answer itself is the last resort. */
export function completeClaim(stated: StatedClaim, file: AnswerFile): ClaimWithSources | ClaimProblem {
  const pick = (name: ClaimField): { value: unknown; source: Source } => {
    if (stated[name] !== undefined) return { value: stated[name], source: 'user' }
    return { value: file.stated[name] ?? undefined, source: file.stated[name] == null ? 'answer' : 'file' }
  }
  const [stateRoot, address] = [pick('stateRoot'), pick('address')]
  const storageKeys = pick('storageKeys')
  const named = pick('scheme')
  const guess = named.value === undefined ? guessKind(file.answer) : undefined
  const scheme = guess === undefined ? named : { value: guess.name, source: 'lengths' as const }
  const known = kindNamed(scheme.value)
  if (known === undefined) return { problem: 'scheme', found: scheme.value }
  if (stateRoot.value === undefined) return { problem: 'stateRoot' }
  const servedKeys = storageKeys.value ?? storageKeysIn(file.answer)
  if (typeof servedKeys === 'number' && storageKeys.value === undefined)
    return { problem: 'storageKeys', found: servedKeys }
  return {
    claim: {
      scheme: known.scheme,
      stateRoot: stateRoot.value,
      // If the answer has no readable key, any address will do: decoding refuses it before the keys are compared.
      address: address.value ?? addressIn(file.answer) ?? `0x${'00'.repeat(20)}`,
      storageKeys: servedKeys,
      // Despite the type, this is unchecked: verifyProof refuses a malformed claim with an ArgumentError.
    } as unknown as StateClaim,
    sources: {
      scheme: scheme.source,
      stateRoot: stateRoot.source,
      address: address.source,
      storageKeys: storageKeys.source,
    },
  }
}
