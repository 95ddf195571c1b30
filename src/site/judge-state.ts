import { resultIn, schemeNamed } from '../cli/words/answer.ts'
import type { ClaimField, Source } from '../cli/words/claim.ts'
import { fieldIn, fieldsOf, itemsOf } from '../cli/words/value.ts'
import { accountRows, answerNotes, bundleNotes, capitalized, type Row } from '../cli/words/wording.ts'
import { type EvidenceClaim, verifyEthProof, verifyEvidence } from '../entry/anchor.ts'
import { createVerifier, type Hex } from '../entry/index.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { drawState } from './chain.ts'
import { stateClaimOf } from './inputs.ts'
import { judgeAs } from './judging.ts'
import { isStated, keysIn, type Statement } from './statement.ts'
import { displayRows, evidenceSourcesOf, type ProvenState, premiseSources, stateWords } from './wording.ts'

/** Judges an answer of a server, against the root of its state. */
export const judgeAnswer = judgeAs<ProvenState>({
  ask: (_, statement) => ({ address: statement.address.value, storageKeys: keysIn(statement) }),
  verify({ answer }, statement, { address, storageKeys }) {
    // Despite its type, the hexadecimal is unchecked: the verifiers refuse an invalid claim with an ArgumentError.
    const asked = { address: address as Hex, storageKeys: storageKeys as Hex[] }
    const root = statement.trusted.value as Hex
    const scheme = schemeNamed(statement.scheme.value)
    return scheme === undefined
      ? verifyEthProof(resultIn(answer), { ...asked, l1StateRoot: root })
      : createVerifier(scheme).verifyProof(answer, { ...asked, stateRoot: root })
  },
  tell(proven, statement) {
    const { trusted, scheme, address } = statement
    const keyCount = keysIn(statement).length
    const sources: Record<ClaimField, Source> = {
      ...{ scheme: scheme.source, stateRoot: trusted.source, address: address.source },
      storageKeys: keyCount === 0 ? 'user' : statement.storageKeys.source,
    }
    const notes = answerNotes(sources, keyCount).map(capitalized)
    return { sources, headline: stateWords(proven), facts: factsOf(proven), notes }
  },
  draw: drawState,
  state: proven => proven,
})

/** Judges evidence of a state: from what is trusted of L1 to an account and its slots. */
export const judgeBundle = judgeAs<AnyEvidence>({
  ask({ bundle }, statement) {
    const { address, storageKeys } = claimOn(statement)
    const requested = fieldsOf(fieldIn(bundle, 'request'))
    return {
      address: address === 'fromBundle' ? textOf(requested['address']) : address,
      storageKeys: storageKeys === 'fromBundle' ? itemsOf(requested['storageKeys']).map(textOf) : storageKeys,
    }
  },
  verify(file, statement) {
    const claim = { ...stateClaimOf(file, statement), ...claimOn(statement) }
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
    return verifyEvidence(file.bundle, claim as unknown as EvidenceClaim)
  },
  tell(proven, statement) {
    const sources = evidenceSourcesOf(statement)
    const { l2BlockNumber, address, storageKeys } = sources
    return {
      sources: {
        ...{ ...premiseSources(statement), address },
        ...(proven.storage.length > 0 && { storageKeys }),
        ...(proven.trustedInput !== 'l2StateRoot' && { l2BlockNumber }),
      },
      ...{ headline: stateWords(proven), l1Block: proven.l1Block, facts: factsOf(proven) },
      notes: bundleNotes({ ...sources, trusted: 'user' }, proven).map(capitalized),
    }
  },
  draw: drawState,
  state: proven => proven,
})

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** What the user asks of the state. What came from the bundle itself is left to it. */
const claimOn = (statement: Statement) => ({
  address: isStated(statement, 'address') ? statement.address.value : 'fromBundle',
  storageKeys: isStated(statement, 'storageKeys') ? keysIn(statement) : ('fromBundle' as const),
})

const factsOf = ({ account }: ProvenState): Row[] => (account === null ? [] : displayRows(accountRows(account)))
