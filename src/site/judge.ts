import { judgeLogs } from './judge-logs.ts'
import { judgeMessage } from './judge-message.ts'
import { judgeAnswer, judgeBundle } from './judge-state.ts'
import { judgeTraces } from './judge-traces.ts'
import type { OpenedFile } from './opened-file.ts'
import type { Judgement } from './report.ts'
import type { Statement, Subject } from './statement.ts'

/** Who judges files of each kind. */
const judges: Readonly<Record<Subject, (file: OpenedFile, statement: Statement) => Judgement>> = {
  answer: judgeAnswer,
  bundle: judgeBundle,
  logs: judgeLogs,
  message: judgeMessage,
  traces: judgeTraces,
}

/** Verifies the file with the published functions, and reports their verdict. */
export const judge = (file: OpenedFile, statement: Statement): Judgement => judges[file.subject](file, statement)
