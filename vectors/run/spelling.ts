import { encodeQuantity } from '../../src/base/hex.ts'
import { type Fields, fieldIn } from '../../src/cli/words/value.ts'
import type { NamedEvidence } from '../../src/verify/evidence/kind.ts'
import { logsEvidence } from '../../src/verify/evidence/kinds/logs.ts'
import { messageEvidence } from '../../src/verify/evidence/kinds/message.ts'
import { stateEvidence } from '../../src/verify/evidence/kinds/state.ts'
import type { EvidenceName } from '../../src/verify/evidence/verify.ts'

/** What is proven, as vectors write it. */

/** What the vectors of a kind of evidence state. */
interface EvidenceVectors {
  /** What they are counted under, if that is not the scheme. */
  readonly group?: string
  /** What their claims name. That of a call needs no name: it takes another function. */
  readonly kind?: NamedEvidence
  spell(verified: Fields): object
}

export const evidenceVectors: Readonly<Record<EvidenceName, EvidenceVectors>> = {
  state: {
    kind: stateEvidence,
    // Only the nonce and the balance of the account.
    spell: ({ account, ...rest }) =>
      spellNumbers({
        ...rest,
        account: account && { nonce: fieldIn(account, 'nonce'), balance: fieldIn(account, 'balance') },
      }),
  },
  logs: {
    group: 'logs',
    kind: logsEvidence,
    spell: ({ logs, blockCount, ruledOutCount, receiptCount }) =>
      spellNumbers({ verified: { logs, blockCount, ruledOutCount, receiptCount } }),
  },
  message: { group: 'message evidence', kind: messageEvidence, spell: verified => spellNumbers({ verified }) },
  call: {
    group: 'call',
    spell: ({ outcome, returnData, revertData, gasUsed, finalizedTimestamp }) =>
      spellNumbers({ outcome, returnData, revertData, gasUsed, finalizedTimestamp }),
  },
}

/** The fields, with hexadecimal quantities for all bigints. */
export const spellNumbers = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, spellNumber(value)]))

const spellNumber = (value: unknown): unknown => {
  if (typeof value === 'bigint') return encodeQuantity(value)
  return typeof value === 'object' && value !== null ? spellNumbers(value) : value
}
