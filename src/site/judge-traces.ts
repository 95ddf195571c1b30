import { schemeNamed } from '../cli/words/answer.ts'
import { count } from '../cli/words/wording.ts'
import { type Hex, safely } from '../entry/index.ts'
import { type TransitionClaim, verifyTransition } from '../entry/transition.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import { drawTraces } from './chain.ts'
import { changesOf, totalsOf } from './changes.ts'
import { blameRule, listTraceSteps } from './checks.ts'
import type { OpenedFile } from './opened-file.ts'
import { established, type Judgement, refused, reportOf, type Said, withoutProofs } from './report.ts'
import { isOwn, type Statement } from './statement.ts'

/** @param said why nothing is verified; null if everything is stated */
export function judgeTraces(file: OpenedFile, statement: Statement, said: Said | null): Judgement {
  const { trusted, endRoot, scheme } = statement
  const hasEnd = endRoot.value !== ''
  const steps = listTraceSteps(hasEnd)
  const { holds, command } = file
  const end = !hasEnd ? 'as the traces lead' : isOwn(endRoot.source) ? 'the one you stated' : 'the one the file states'
  const drawn = (failed: number, stateRoot: string, listed = steps) =>
    drawTraces({ statement, steps: listed, failed, holds, endRoot: stateRoot, note: stateRoot === '' ? '' : end })
  if (said !== null) {
    const failed = said.inputErrors?.length ? 0 : -1
    return withoutProofs({ report: reportOf(file, { ...said, boxes: drawn(failed, '') }), steps, failed })
  }
  // Despite its type, the hexadecimal is unchecked: the verifier refuses an invalid claim with an ArgumentError. The form has
  // checked the scheme.
  const claim: TransitionClaim = {
    scheme: schemeNamed(scheme.value) as HashScheme,
    parentStateRoot: trusted.value as Hex,
    ...(hasEnd && { stateRoot: endRoot.value as Hex }),
  }
  const outcome = safely(() => verifyTransition(file.answer, claim))
  if (!outcome.ok) {
    const { error } = outcome
    const blamed = blameRule(
      steps,
      steps.findIndex(({ codes }) => codes.includes(error.code)),
    )
    const report = reportOf(file, { ...refused(error), boxes: drawn(blamed.failed, '', blamed.steps), command })
    return withoutProofs({ report, ...blamed, error })
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
  const failed = steps.length
  return withoutProofs({
    report: reportOf(file, {
      ...established(statement, sources, headline, { name }),
      ...{ boxes: drawn(failed, stateRoot), totals, notes },
    }),
    ...{ steps, failed, changes },
  })
}
