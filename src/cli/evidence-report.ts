import type { EvidenceClaim, Trusted, VerifiedEvidence } from '../anchor.ts'
import type { ProofError } from '../index.ts'
import type { Output } from './command.ts'
import { type EvidenceOutcome, type Link, linkOf, links, linksFrom } from './evidence.ts'
import {
  describeError,
  formatError,
  formatState,
  formatTable,
  formatTime,
  formatVerdict,
  paint,
  printable,
} from './report.ts'
import { isObject, show } from './value.ts'

/** Where the claim came from: the user's options, or a vector. */
export type ClaimSource = 'flag' | 'file'

const statedBy: Readonly<Record<ClaimSource, string>> = { flag: 'stated by you', file: 'from the file' }
const FROM_BUNDLE = 'from the bundle, not stated by you'

const trustedNames = {
  l1BlockHash: 'L1 block hash',
  l1StateRoot: 'L1 state root',
  l2StateRoot: 'L2 state root',
} as const

/** Of a vector it can be none, or two. */
const trustedRows = (trusted: Trusted, source: ClaimSource): string[][] =>
  Object.entries(trusted ?? {}).map(([name, value]) => [
    'trusted',
    `${Reflect.get(trustedNames, name) ?? printable(name)} ${printable(show(value))}`,
    statedBy[source],
  ])

const formatRollup = ({ rollup }: EvidenceClaim): string =>
  printable(`${show(rollup.address)}${rollup.name === undefined ? '' : ` (${show(rollup.name)})`}`)

/** Who stated the block, the address and the keys. */
function sourcesOf(claim: EvidenceClaim, source: ClaimSource) {
  const of = (value: unknown) => (value === undefined ? ('bundle' as const) : source)
  return { l2BlockNumber: of(claim.l2BlockNumber), address: of(claim.address), storageKeys: of(claim.storageKeys) }
}

/** What `--json` prints. */
export function describeEvidence(claim: EvidenceClaim, source: ClaimSource, outcome: EvidenceOutcome): object {
  const { scheme, rollup, trusted } = claim
  const stated = { trusted, scheme: scheme.name, rollup, sources: sourcesOf(claim, source) }
  if (outcome.ok) return { verified: true, ...stated, ...outcome.evidence }
  return { verified: false, ...stated, brokenLink: linkOf(outcome.error), error: describeError(outcome.error) }
}

export function formatProven(
  bundle: unknown,
  claim: EvidenceClaim,
  source: ClaimSource,
  evidence: VerifiedEvidence,
  stdout: Output,
): string {
  const lines = [
    formatVerdict(evidence, stdout),
    formatTable(trustedRows(claim.trusted, source)),
    paint(stdout, 'bold', 'Chain of evidence'),
    formatTable(chainRows(claim, source, evidence)),
    ...formatState(evidence, isObject(bundle) ? Reflect.get(bundle, 'answer') : undefined, stdout),
    ...notes(claim, source, evidence).map(note => paint(stdout, 'dim', `Note: ${note}`)),
  ]
  return `${lines.join('\n')}\n`
}

/** From the trusted input down: each row says what it rests on. */
function chainRows(claim: EvidenceClaim, source: ClaimSource, evidence: VerifiedEvidence): string[][] {
  const { l1Block, reach, l2BlockNumber, currentL2BlockNumber, stateRoot, address, storage } = evidence
  const sources = sourcesOf(claim, source)
  const words = (name: keyof typeof sources) => (sources[name] === 'bundle' ? FROM_BUNDLE : statedBy[source])
  const isAnchored = reach !== 'l2StateRoot'
  return [
    ...(l1Block === null
      ? []
      : [
          ['L1 block', `${l1Block.number}`, `of ${formatTime(l1Block.timestamp)}`],
          ['L1 block hash', l1Block.hash, 'trusted'],
          ['L1 state root', l1Block.stateRoot, 'proven by the header'],
        ]),
    ...(reach === 'l1StateRoot' ? [['L1 state root', Reflect.get(claim.trusted, reach), 'trusted']] : []),
    ['rollup', formatRollup(claim), `${statedBy[source]}${isAnchored ? '' : ', not proven'}`],
    ...(l2BlockNumber === null
      ? []
      : [['L2 block', `${l2BlockNumber}`, `${words('l2BlockNumber')}${isAnchored ? '' : ', not proven'}`]]),
    ...(currentL2BlockNumber === null
      ? []
      : [['last finalized', `${currentL2BlockNumber}`, 'proven by the rollup contract']]),
    ['L2 state root', stateRoot, isAnchored ? 'proven by the rollup contract' : 'trusted'],
    ['scheme', claim.scheme.name, statedBy[source]],
    ['address', address, words('address')],
    ['storage keys', `${storage.length}`, words('storageKeys')],
  ]
}

/** What the verdict does not say by itself. */
function notes(
  claim: EvidenceClaim,
  source: ClaimSource,
  { reach, l2BlockNumber, currentL2BlockNumber, storage }: VerifiedEvidence,
): string[] {
  const isAnchored = reach !== 'l2StateRoot'
  const taken = [
    isAnchored && claim.l2BlockNumber === undefined && 'L2 block',
    claim.address === undefined && 'address',
    claim.storageKeys === undefined && storage.length > 0 && 'storage keys',
  ].filter(name => name !== false)
  const isOld = l2BlockNumber !== null && currentL2BlockNumber !== null && l2BlockNumber < currentL2BlockNumber
  return [
    ...(source === 'file'
      ? [`the ${trustedNames[reach]} is what the file says: compare it with one that you trust.`]
      : []),
    ...(taken.length > 0
      ? [`whoever made the bundle chose the ${taken.join(', ')}: check that this is what you want.`]
      : []),
    ...(isOld ? [`the L2 had been finalized up to block ${currentL2BlockNumber}: this is an older state.`] : []),
    ...(isAnchored ? [] : ['nothing here proves that the state root is of this rollup, or of which block.']),
  ]
}

export function formatBroken(claim: EvidenceClaim, source: ClaimSource, error: ProofError, stderr: Output): string {
  const rows = [
    ...trustedRows(claim.trusted, source),
    ['scheme', claim.scheme.name, statedBy[source]],
    ['rollup', formatRollup(claim), statedBy[source]],
  ]
  const broken = linkOf(error)
  const chain = broken === null ? '' : `${paint(stderr, 'bold', 'Chain of evidence')}\n${formatChain(claim, broken)}\n`
  return `${formatError(error, rows, stderr)}${chain}`
}

/** The links are verified in their order: what stands before the broken one holds. */
function formatChain({ trusted }: EvidenceClaim, broken: Link): string {
  const chain = linksFrom(trusted)
  const at = chain.indexOf(broken)
  return formatTable(
    chain.map((link, index) => [index < at ? 'holds' : index === at ? 'BROKEN' : 'not reached', links[link]]),
  )
}
