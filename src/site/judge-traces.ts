import { schemeNamed } from '../cli/words/answer.ts'
import { count } from '../cli/words/wording.ts'
import type { Hex } from '../entry/index.ts'
import { type VerifiedTransition, verifyTransition } from '../entry/transition.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import { drawTraces } from './chain.ts'
import { changesOf } from './changes.ts'
import { judgeAs } from './judging.ts'
import { isOwn, type Statement } from './statement.ts'

/** Judges traces of the state manager: what changed from one state root to another. */
export const judgeTraces = judgeAs<VerifiedTransition>({
  verify: ({ answer }, { scheme, trusted, endRoot }) =>
    // Despite its type, the hexadecimal is unchecked: the verifier refuses an invalid claim with an ArgumentError. The form
    // has checked the scheme.
    verifyTransition(answer, {
      scheme: schemeNamed(scheme.value) as HashScheme,
      parentStateRoot: trusted.value as Hex,
      ...(endRoot.value !== '' && { stateRoot: endRoot.value as Hex }),
    }),
  tell({ blocks }, { trusted, endRoot }) {
    const changes = changesOf(blocks)
    const [accounts, slots] = [count(changes.accounts, 'account'), count(changes.slotChanges, 'slot')]
    const isEnded = endRoot.value !== ''
    return {
      sources: { rootBefore: trusted.source, rootAfter: isEnded ? endRoot.source : 'answer' },
      headline: `These changes, of ${accounts} and ${slots}, lead from one root to the other.`,
      changes,
      notes:
        isEnded && isOwn(endRoot.source)
          ? []
          : ['Nobody vouches for the state after the last block: the sender can have made up every change.'],
    }
  },
  draw: scene => drawTraces(scene, scene.proven === null ? '' : endWords(scene.statement)),
})

const endWords = ({ endRoot }: Statement): string =>
  endRoot.value === '' ? 'as the traces lead' : isOwn(endRoot.source) ? 'the one you stated' : 'the one the file states'
