import type { EvidenceName } from '../../verify/evidence/names.ts'
import { spellEvidence, spellNumbers } from './spelling.ts'
import type { Fields } from './value.ts'

/** What is said and written about a kind of evidence. */
interface EvidenceWords {
  /** What it is called. */
  readonly name: string
  /** What its vectors are counted under, if that is not the scheme. */
  readonly vectors?: string
  /** What is proven, as vectors write it. */
  spell(verified: Fields): object
}

export const evidenceKinds: Readonly<Record<EvidenceName, EvidenceWords>> = {
  state: { name: 'an evidence bundle', spell: spellEvidence },
  logs: {
    ...{ name: 'logs as evidence', vectors: 'logs' },
    spell: ({ logs, blockCount, ruledOutCount, receiptCount }) =>
      spellNumbers({ verified: { logs, blockCount, ruledOutCount, receiptCount } }),
  },
  message: {
    ...{ name: 'a message as evidence', vectors: 'message evidence' },
    spell: verified => spellNumbers({ verified }),
  },
  call: {
    ...{ name: 'a call as evidence', vectors: 'call' },
    spell: ({ outcome, returnData, revertData, gasUsed, finalizedTimestamp }) =>
      spellNumbers({ outcome, returnData, revertData, gasUsed, finalizedTimestamp }),
  },
}
