import { meaningOf } from '../base/error-meanings.ts'
import { brief } from '../cli/words/value.ts'
import { safely, verifyProof } from '../entry/index.ts'
import { poseidon2 } from '../entry/poseidon2.ts'
import { logsKind } from './judge-logs.ts'
import { messageKind } from './judge-message.ts'
import { answerKind, bundleKind } from './judge-state.ts'
import { tracesKind } from './judge-traces.ts'
import { judgeAs, unjudged } from './judging.ts'
import type { OpenedFile } from './opened-file.ts'
import type { Judgement } from './report.ts'
import type { Statement, Subject } from './statement.ts'

/** Who judges files of each kind. */
const judges: Readonly<Record<Subject, (file: OpenedFile, statement: Statement) => Judgement>> = {
  answer(file, statement) {
    const judgement = judgeAs(answerKind, file, statement)
    return (judgement.report.verdict === 'unjudged' && noProof(file)) || judgement
  },
  bundle: (file, statement) => judgeAs(bundleKind, file, statement),
  logs: (file, statement) => judgeAs(logsKind, file, statement),
  message: (file, statement) => judgeAs(messageKind, file, statement),
  traces: (file, statement) => judgeAs(tracesKind, file, statement),
  call: file =>
    elsewhere(file, 'the command line verifies it', 'Verifying it takes an EVM, which this page does not have.'),
  vector: file => elsewhere(file, 'the tests run it', 'This page does not verify it.'),
}

/** Verifies the file with the published functions, and reports their verdict. */
export const judge = (file: OpenedFile, statement: Statement): Judgement => judges[file.subject](file, statement)

/** Recognizes an answer that is no proof, whatever was requested: an endpoint's error. */
function noProof(file: OpenedFile): Judgement | null {
  if (file.isTrie) return null
  const zeros = (length: number) => `0x${'00'.repeat(length)}` as const
  const claim = { scheme: poseidon2, stateRoot: zeros(32), address: zeros(20) }
  const outcome = safely(() => verifyProof(file.answer, claim))
  if (outcome.ok || outcome.error.code !== 'ANSWER_IS_ERROR') return null
  const { code, found = '' } = outcome.error
  return unjudged(file, {
    ...{ verdict: 'unjudged', badge: `No proof to verify: ${code}`, headline: meaningOf(code), text: brief(found) },
    failure: { code, rows: [] },
  })
}

const elsewhere = (file: OpenedFile, how: string, why: string): Judgement =>
  unjudged(file, {
    ...{ verdict: 'unjudged', badge: 'Not verified here', headline: `This is a ${file.kind}: ${how}.` },
    text: `${why} Whatever the view of the file shows is only what it says.`,
  })
