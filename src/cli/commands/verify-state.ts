import { verifyEvidence } from '../../entry/anchor.ts'
import { isArgumentError, safely } from '../../entry/index.ts'
import { claimOfFlags } from '../options/flags.ts'
import { networkSource } from '../options/network.ts'
import { reportOnBundle } from '../output/evidence-report.ts'
import type { VerifyFile } from './verify-evidence.ts'

/** Verifies evidence of an account and its slots. */
export const verify: VerifyFile = async (bundle, flags, found) => {
  const claim = await claimOfFlags(flags, found)
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok && isArgumentError(outcome.error)) throw outcome.error
  const by = networkSource(flags)
  return reportOnBundle(outcome, bundle, claim, by, found === undefined ? by : 'lengths')
}
