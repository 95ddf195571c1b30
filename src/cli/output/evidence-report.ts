import type { EvidenceClaim, SafeVerifiedEvidence, Trusted, VerifiedEvidence } from '../../anchor.ts'
import type { Source } from '../../document/claim.ts'
import { evidenceSources, type Link, linkOf, links, linksFrom } from '../../document/evidence.ts'
import { fieldsOf, printable, show } from '../../document/value.ts'
import { ageOf, bundleNotes, chainRows, sourceWords, trustedNames } from '../../document/wording.ts'
import type { ProofError } from '../../index.ts'
import type { Output } from '../command.ts'
import {
  describeError,
  describeSources,
  formatError,
  formatRows,
  formatState,
  formatTable,
  formatVerdict,
  paint,
} from './report.ts'

/** Where the claim came from: the user's options, or a vector. */
export type ClaimSource = Extract<Source, 'user' | 'file'>

/** A vector may have no trusted input, or two. What accompanies a root is not trusted by itself, and has no row. */
const trustedRows = (trusted: Trusted, source: ClaimSource): string[][] =>
  Object.entries(trusted ?? {}).flatMap(([name, value]) => {
    const words = fieldsOf(trustedNames)[name] ?? (typeof value === 'string' && name !== 'network' ? name : undefined)
    return words === undefined
      ? []
      : [['trusted', `${printable(show(words))} ${printable(show(value))}`, sourceWords[source]]]
  })

const formatRollup = ({ rollup }: EvidenceClaim): string =>
  `${show(rollup.address)}${rollup.name === undefined ? '' : ` (${show(rollup.name)})`}`

/** What `--json` prints. */
export function describeEvidence(claim: EvidenceClaim, source: ClaimSource, outcome: SafeVerifiedEvidence): object {
  const { scheme, rollup, trusted } = claim
  const { l2BlockNumber, address, storageKeys } = evidenceSources(claim, source)
  const sources = describeSources({ l2BlockNumber, address, storageKeys })
  const stated = { trusted, scheme: scheme.name, rollup, sources }
  if (!outcome.ok) {
    return { verified: false, ...stated, brokenLink: linkOf(outcome.error), error: describeError(outcome.error) }
  }
  const { ok: _, ...evidence } = outcome
  return { verified: true, ...stated, ...evidence, age: ageOf(evidence) }
}

export function formatProven(
  bundle: unknown,
  claim: EvidenceClaim,
  source: ClaimSource,
  evidence: VerifiedEvidence,
  stdout: Output,
): string {
  const { answer } = fieldsOf(bundle)
  const sources = evidenceSources(claim, source)
  const trusted = show(fieldsOf(claim.trusted)[evidence.reach])
  const chain = { sources, scheme: claim.scheme.name, rollup: formatRollup(claim), trusted }
  const lines = [
    formatVerdict(evidence, stdout),
    formatTable(trustedRows(claim.trusted, source)),
    paint(stdout, 'bold', 'Chain of evidence'),
    formatRows(chainRows(chain, evidence)),
    ...formatState(evidence, answer, stdout),
    ...bundleNotes(sources, evidence).map(note => paint(stdout, 'dim', `Note: ${note}`)),
  ]
  return `${lines.join('\n')}\n`
}

export function formatBroken(claim: EvidenceClaim, source: ClaimSource, error: ProofError, stderr: Output): string {
  const rows = [
    ...trustedRows(claim.trusted, source),
    ['scheme', claim.scheme.name, sourceWords[source]],
    ['rollup', printable(formatRollup(claim)), sourceWords[source]],
  ]
  const broken = linkOf(error)
  const chain = broken === null ? '' : `${paint(stderr, 'bold', 'Chain of evidence')}\n${formatChain(claim, broken)}\n`
  return `${formatError(error, rows, stderr)}${chain}`
}

/** Links are verified in order, so those before the broken one hold. */
function formatChain({ trusted }: EvidenceClaim, broken: Link): string {
  const chain = linksFrom(trusted)
  const at = chain.indexOf(broken)
  return formatTable(
    chain.map((link, index) => [index < at ? 'holds' : index === at ? 'BROKEN' : 'not reached', links[link]]),
  )
}
