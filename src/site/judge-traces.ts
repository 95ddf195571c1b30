import { schemeNamed } from '../cli/words/answer.ts'
import { count } from '../cli/words/wording.ts'
import type { Hex } from '../entry/index.ts'
import { type TransitionClaim, verifyTransition } from '../entry/transition.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import { drawTraces } from './chain.ts'
import { changesOf, totalsOf } from './changes.ts'
import { type Checked, MISASKED, UNCHECKED, watch } from './checks.ts'
import type { OpenedFile } from './opened-file.ts'
import { established, type Judgement, refused, reportOf, type Said, withoutProofs } from './report.ts'
import { isOwn, type Statement } from './statement.ts'

/** @param said why nothing is verified; null if everything is stated */
export function judgeTraces(file: OpenedFile, statement: Statement, said: Said | null): Judgement {
  const { trusted, endRoot, scheme } = statement
  const hasEnd = endRoot.value !== ''
  const { holds } = file
  const end = !hasEnd ? 'as the traces lead' : isOwn(endRoot.source) ? 'the one you stated' : 'the one the file states'
  const drawn = (checked: Checked, stateRoot: string) =>
    drawTraces({ statement, checked, holds, endRoot: stateRoot, note: stateRoot === '' ? '' : end })
  if (said !== null) {
    const checked = said.inputErrors?.length ? MISASKED : UNCHECKED
    return withoutProofs({ report: reportOf(file, { ...said, boxes: drawn(checked, '') }), checked })
  }
  // Despite its type, the hexadecimal is unchecked: the verifier refuses an invalid claim with an ArgumentError. The form has
  // checked the scheme.
  const claim: TransitionClaim = {
    scheme: schemeNamed(scheme.value) as HashScheme,
    parentStateRoot: trusted.value as Hex,
    ...(hasEnd && { stateRoot: endRoot.value as Hex }),
  }
  const { outcome, checked } = watch(file, () => verifyTransition(file.answer, claim))
  if (!outcome.ok) {
    const { error } = outcome
    const report = reportOf(file, { ...refused(error), boxes: drawn(checked, '') })
    return withoutProofs({ report, checked, error })
  }
  const { blocks, stateRoot } = outcome.value
  const changes = changesOf(blocks)
  const totals = totalsOf(changes, blocks.length)
  const isVouched = hasEnd && isOwn(endRoot.source)
  const headline = `From one root to the other, exactly ${count(totals.accounts, 'account')} and ${count(totals.slotChanges, 'slot')} changed.`
  const notes = isVouched
    ? []
    : ['Nobody vouches for the state after the last block: the sender can have made up every change.']
  const sources = { rootBefore: trusted.source, rootAfter: hasEnd ? endRoot.source : 'answer' } as const
  const name = 'state root before the first block'
  return withoutProofs({
    report: reportOf(file, {
      ...established(statement, sources, headline, { name }),
      ...{ boxes: drawn(checked, stateRoot), totals, notes },
    }),
    ...{ checked, changes },
  })
}
