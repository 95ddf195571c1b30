import type { Trusted } from '../../entry/anchor.ts'
import type { Outcome } from '../../entry/index.ts'
import type { AnyClaim, AnyEvidence } from '../../verify/evidence/types.ts'
import { kindName } from '../../verify/state/kind.ts'
import type { Output } from '../command.ts'
import type { Source } from '../words/claim.ts'
import {
  constantSources,
  evidenceSources,
  type Link,
  linkOf,
  linksFrom,
  linkWords,
  partSources,
} from '../words/evidence.ts'
import { fieldIn, fieldsOf, show } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import {
  agesOf,
  bundleNotes,
  chainRows,
  existenceOf,
  ifRight,
  type Row,
  sourceWords,
  trustedNames,
} from '../words/wording.ts'
import { paint } from './paint.ts'
import { describeSources, formatNotes, formatState, reportOnError, type VerdictReport } from './report.ts'
import { formatTable } from './table.ts'
import { formatVerdict } from './verdict.ts'

/** What accompanies a root is not trusted by itself, and has no row. */
const trustedRows = (trusted: Trusted): Row[] =>
  Object.entries(trusted).flatMap(([name, value]): Row[] => {
    const words = fieldsOf(trustedNames)[name]
    return words === undefined ? [] : [['trusted', `${show(words)} ${show(value)}`, sourceWords.user]]
  })

function constantRows({ rollup, trusted }: AnyClaim, sources: ReturnType<typeof constantSources>): Row[] {
  const { stateRootHashes, currentL2BlockNumber } = fieldsOf(rollup.layout)
  const layout = `roots in slot ${show(stateRootHashes)}, newest block in slot ${show(currentL2BlockNumber)}`
  const { network } = fieldsOf(trusted)
  return [
    ...(sources.network ? [['network', show(network), sourceWords[sources.network]] as const] : []),
    ...(sources.implementation
      ? [['implementation', show(rollup.implementation), sourceWords[sources.implementation]] as const]
      : []),
    ...(sources.layout ? [['storage layout', layout, sourceWords[sources.layout]] as const] : []),
  ]
}

const formatRollup = ({ rollup }: AnyClaim): string =>
  `${show(rollup.address)}${rollup.name === undefined ? '' : ` (${show(rollup.name)})`}`

/** What a bundle proves, or which link of its chain is broken. @param by who stated the network @param schemeSource who stated the kind of the state */
export function reportOnBundle(
  outcome: Outcome<AnyEvidence>,
  bundle: unknown,
  claim: AnyClaim,
  by: Source,
  schemeSource: Source,
): VerdictReport {
  const { scheme, rollup, trusted } = claim
  const sources = evidenceSources(claim, schemeSource, by)
  const constants = constantSources(claim, by)
  // A beacon block comes with what verifies from it, which the user has not stated.
  const { lightClient: _, ...shown } = fieldsOf(trusted)
  const stated = {
    trusted: shown,
    scheme: kindName(scheme),
    rollup,
    sources: describeSources({ ...sources, ...constants }),
  }
  const named = { scheme: kindName(scheme), rollup: formatRollup(claim) }
  const trustedRow = [...trustedRows(trusted), ...constantRows(claim, constants)]
  const heading = (stream: Output) => paint(stream, 'bold', 'Chain of evidence')
  if (!outcome.ok) {
    const brokenLink = linkOf(outcome.error)
    const rows: Row[] = [
      ['scheme', named.scheme, sourceWords[schemeSource]],
      ['rollup', named.rollup, sourceWords[by]],
    ]
    const chain = (stream: Output) =>
      brokenLink === null ? '' : `${heading(stream)}\n${formatChain(claim, brokenLink, stream)}\n`
    return reportOnError(outcome.error, { ...stated, brokenLink }, [...trustedRow, ...rows], chain)
  }
  const evidence = outcome.value
  const { implementation } = constants
  const about = { ...named, sources, trusted: show(fieldsOf(trusted)[evidence.trustedInput]), implementation }
  // Whoever names the file of a network stands for it.
  const verdict = verdictOf(true, partSources(sources, { ...constants, network: 'user' }, evidence))
  const chain = ifRight(verdict, chainRows(about, evidence))
  return {
    verdict,
    json: { ...stated, ...evidence, ...agesOf(evidence) },
    format: stream =>
      `${[
        formatVerdict(verdict, existenceOf(evidence), stream),
        ...[formatTable(trustedRow, stream), heading(stream), formatTable(chain, stream)],
        ...formatState(evidence, fieldIn(bundle, 'answer'), stream),
        ...formatNotes(bundleNotes(sources, evidence), stream),
      ].join('\n')}\n`,
  }
}

/** Links are verified in order, so those before the broken one hold. */
function formatChain({ trusted, scheme }: AnyClaim, broken: Link, stream: Output): string {
  const chain = linksFrom(trusted, scheme)
  const at = chain.indexOf(broken)
  return formatTable(
    chain.map((link, index) => [
      index < at ? 'holds' : index === at ? 'BROKEN' : 'not reached',
      linkWords(link, scheme),
    ]),
    stream,
  )
}
