import type { EvidenceClaim, SafeVerifiedEvidence, Trusted } from '../../anchor.ts'
import type { Source } from '../../document/claim.ts'
import { evidenceSources, type Link, linkOf, links, linksFrom } from '../../document/evidence.ts'
import { fieldIn, fieldsOf, show } from '../../document/value.ts'
import { ageOf, bundleNotes, chainRows, type Row, sourceWords, trustedNames } from '../../document/wording.ts'
import type { Output } from '../command.ts'
import {
  describeError,
  describeSources,
  formatError,
  formatNotes,
  formatState,
  formatTable,
  formatVerdict,
  paint,
} from './report.ts'

/** Where the claim came from: the user's options, or a vector. */
export type ClaimSource = Extract<Source, 'user' | 'file'>

/** A vector may have no trusted input, or two. What accompanies a root is not trusted by itself, and has no row. */
const trustedRows = (trusted: Trusted, source: ClaimSource): Row[] =>
  Object.entries(trusted ?? {}).flatMap(([name, value]): Row[] => {
    const words = fieldsOf(trustedNames)[name] ?? (typeof value === 'string' && name !== 'network' ? name : undefined)
    return words === undefined ? [] : [['trusted', `${show(words)} ${show(value)}`, sourceWords[source]]]
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

/** The report on a bundle: what it proves, or which link of its chain is broken. */
export function formatEvidence(
  bundle: unknown,
  claim: EvidenceClaim,
  source: ClaimSource,
  outcome: SafeVerifiedEvidence,
  stream: Output,
): string {
  const trusted = trustedRows(claim.trusted, source)
  const [scheme, rollup] = [claim.scheme.name, formatRollup(claim)]
  const heading = paint(stream, 'bold', 'Chain of evidence')
  if (!outcome.ok) {
    const words = sourceWords[source]
    const broken = linkOf(outcome.error)
    const chain = broken === null ? '' : `${heading}\n${formatChain(claim, broken)}\n`
    return (
      formatError(outcome.error, [...trusted, ['scheme', scheme, words], ['rollup', rollup, words]], stream) + chain
    )
  }
  const sources = evidenceSources(claim, source)
  const chain = { sources, scheme, rollup, trusted: show(fieldsOf(claim.trusted)[outcome.reach]) }
  return `${[
    ...[formatVerdict(outcome, stream), formatTable(trusted), heading, formatTable(chainRows(chain, outcome))],
    ...formatState(outcome, fieldIn(bundle, 'answer'), stream),
    ...formatNotes(bundleNotes(sources, outcome), stream),
  ].join('\n')}\n`
}

/** Links are verified in order, so those before the broken one hold. */
function formatChain({ trusted }: EvidenceClaim, broken: Link): string {
  const chain = linksFrom(trusted)
  const at = chain.indexOf(broken)
  return formatTable(
    chain.map((link, index) => [index < at ? 'holds' : index === at ? 'BROKEN' : 'not reached', links[link]]),
  )
}
