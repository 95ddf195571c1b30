import type { Hex } from '../../base/bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { StateScheme } from '../state/kind.ts'
import type { LogsClaim, VerifiedLogs } from './kinds/logs.ts'
import type { MessageEvidenceClaim, TrustedL1, VerifiedMessage } from './kinds/message.ts'
import type { Trusted } from './trusted.ts'
import type { EvidenceClaim, VerifiedEvidence } from './types.ts'

/** The kinds of evidence that {@link verifyEvidence} takes: what is stated about each, and what it proves. */
export interface EvidenceKinds<
  Trust extends Trusted = Trusted,
  Block extends bigint | 'fromBundle' = bigint | 'fromBundle',
  Keys extends readonly Hex[] | 'fromBundle' = readonly Hex[] | 'fromBundle',
  Kind extends StateScheme = Scheme,
> {
  state: { claim: EvidenceClaim<Trust, Block, Keys, Kind>; verified: VerifiedEvidence<Trust, Block, Keys, Kind> }
  logs: { claim: LogsClaim<Trust, Kind>; verified: VerifiedLogs<Trust, Kind> }
  message: {
    claim: MessageEvidenceClaim<Extract<Trust, TrustedL1>>
    verified: VerifiedMessage<Extract<Trust, TrustedL1>>
  }
}

/** What a bundle says that it proves. A call has a function of its own, which executes it. */
export type EvidenceName = keyof EvidenceKinds | 'call'
