import type { StateScheme } from '../../entry/anchor.ts'
import { isProofError } from '../../entry/index.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import type { Output } from '../command.ts'
import type { Flags } from '../options/declared.ts'
import type { FilterFlags } from '../options/filter.ts'
import { describeSources, reportOnError, type VerdictReport } from '../output/report.ts'
import type { Source } from '../words/claim.ts'
import { type PartSources, type Verdict, verdictOf } from '../words/verdict.ts'
import { agesOf, type Row } from '../words/wording.ts'

/** What the user states about evidence. */
export interface EvidenceFlags extends Flags, Pick<FilterFlags, 'event' | 'topic'> {
  readonly addresses: readonly string[]
  readonly message?: string | undefined
  readonly timeout: string
}

/** @param found the kind of state that the form of the file shows @throws UsageError */
export type VerifyFile = (
  bundle: unknown,
  flags: EvidenceFlags,
  found: StateScheme | undefined,
) => Promise<VerdictReport>

/** Who states a part of a claim. */
export const statedBy = (value: unknown): Source => (value === 'fromBundle' ? 'bundle' : 'user')

/** How one kind of evidence is verified and reported. */
export interface Verification<T> {
  /** Who stated each part, beside what is trusted. */
  readonly parts: PartSources
  verify(): T | Promise<T>
  /** What was asked, if it is refused. */
  readonly asked: Row
  /** Who stated what no proof covers. */
  unproven?(verified: T): PartSources
  /** For `--json`. */
  more?(verified: T): object
  format(verdict: Verdict, verified: T, stream: Output): string
}

/** Verifies evidence of which the user states the trusted input and the rollup. @throws ArgumentError, UsageError */
export async function reportOnEvidence<T extends Pick<AnyEvidence, 'l1Block'>>({
  parts,
  asked,
  ...kind
}: Verification<T>): Promise<VerdictReport> {
  const sources = describeSources({ trusted: 'user', ...parts })
  try {
    const verified = await kind.verify()
    // Whoever names the file of a network stands for it.
    const verdict = verdictOf(true, { ...parts, network: 'user', ...kind.unproven?.(verified) })
    return {
      verdict,
      json: { sources, ...verified, ...agesOf(verified), ...kind.more?.(verified) },
      format: stream => `${kind.format(verdict, verified, stream)}\n`,
    }
  } catch (error) {
    if (!isProofError(error)) throw error
    return reportOnError(error, { sources }, [asked])
  }
}
