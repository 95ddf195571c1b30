import type { Claim } from '../proof/claim.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { addressIn, schemeNamed, storageKeysIn } from './answer.ts'
import type { AnswerFile, StatedClaim } from './input-file.ts'

export type ClaimField = keyof Claim

/** Who said it: the user; the vector or recording; or, for want of both, the very answer or bundle that is verified. */
export type Source = 'user' | 'file' | 'answer' | 'bundle'

/** A claim, and who stated each part of it. */
export interface ClaimWithSources {
  readonly claim: Claim
  readonly sources: Readonly<Record<ClaimField, Source>>
}

/** Why there is no claim to verify. */
export type ClaimProblem =
  | { readonly missing: 'scheme' | 'stateRoot' }
  | { readonly unknownScheme: unknown }
  /** The place of a storage proof that names no key, where the keys are to come from the answer. */
  | { readonly unnamedSlot: number }

/** Puts the claim together: what the user states wins over the file, and the answer itself is asked last. */
export function completeClaim(stated: StatedClaim, file: AnswerFile): ClaimWithSources | ClaimProblem {
  const pick = (name: ClaimField): { value: unknown; source: Source } => {
    if (stated[name] !== undefined) return { value: stated[name], source: 'user' }
    return { value: file.stated[name] ?? undefined, source: file.stated[name] == null ? 'answer' : 'file' }
  }
  const [name, stateRoot, address, storageKeys] = [
    pick('scheme'),
    pick('stateRoot'),
    pick('address'),
    pick('storageKeys'),
  ]
  const scheme = schemeNamed(name.value)
  if (scheme === undefined) return name.value === undefined ? { missing: 'scheme' } : { unknownScheme: name.value }
  if (stateRoot.value === undefined) return { missing: 'stateRoot' }
  const servedKeys = storageKeys.value ?? storageKeysIn(file.answer)
  if (typeof servedKeys === 'number' && storageKeys.value === undefined) return { unnamedSlot: servedKeys }
  return {
    claim: {
      scheme,
      stateRoot: stateRoot.value,
      // Without a readable key any address will do: the answer is decoded, and refused, before the keys are compared.
      address: address.value ?? addressIn(file.answer) ?? `0x${'00'.repeat(20)}`,
      storageKeys: servedKeys,
      // Unchecked, whatever the type says: verifyProof refuses a wrong claim with CLAIM_INVALID.
    } as Claim,
    sources: {
      scheme: name.source,
      stateRoot: stateRoot.source,
      address: address.source,
      storageKeys: storageKeys.source,
    },
  }
}

/** The claim without what came from the answer: nothing in a refused answer is worth repeating. */
export function statedClaim({ claim, sources }: ClaimWithSources): StatedClaim & { readonly scheme: Scheme['name'] } {
  const { scheme, stateRoot, address, storageKeys } = claim
  return {
    scheme: scheme.name,
    stateRoot,
    ...(sources.address !== 'answer' && { address }),
    ...(sources.storageKeys !== 'answer' && { storageKeys }),
  }
}
