import { logsEvidence } from '../../verify/evidence/kinds/logs.ts'
import { messageEvidence } from '../../verify/evidence/kinds/message.ts'
import { stateEvidence } from '../../verify/evidence/kinds/state.ts'
import type { EvidenceName, NamedEvidence } from '../../verify/evidence/names.ts'
import { spellEvidence, spellNumbers } from './spelling.ts'
import type { Fields } from './value.ts'

/** What is said and written about a kind of evidence. */
interface EvidenceWords {
  /** What it is called. */
  readonly name: string
  /** What its vectors are counted under, if that is not the scheme. */
  readonly vectors: string
  /** What a claim names. That of a call needs no name: it takes another function. */
  readonly kind: NamedEvidence | undefined
  /** What is proven, as vectors write it. */
  spell(verified: Fields): object
}

export const evidenceKinds: Readonly<Record<EvidenceName, EvidenceWords>> = {
  state: { name: 'an evidence bundle', vectors: 'state', kind: stateEvidence, spell: spellEvidence },
  logs: {
    ...{ name: 'logs as evidence', vectors: 'logs', kind: logsEvidence },
    spell: ({ logs, blockCount, ruledOutCount, receiptCount }) =>
      spellNumbers({ verified: { logs, blockCount, ruledOutCount, receiptCount } }),
  },
  message: {
    ...{ name: 'a message as evidence', vectors: 'message evidence', kind: messageEvidence },
    spell: verified => spellNumbers({ verified }),
  },
  call: {
    ...{ name: 'a call as evidence', vectors: 'call', kind: undefined },
    spell: ({ outcome, returnData, revertData, gasUsed, finalizedTimestamp }) =>
      spellNumbers({ outcome, returnData, revertData, gasUsed, finalizedTimestamp }),
  },
}
