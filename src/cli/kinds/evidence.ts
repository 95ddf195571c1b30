import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { type Hex, isProofError } from '../../entry/index.ts'
import { kindName } from '../../verify/state/kind.ts'
import type { Output } from '../command.ts'
import type { Flags, FlagsOf } from '../options/declared.ts'
import type { filterOptions } from '../options/filter.ts'
import { trustedOf } from '../options/flags.ts'
import { type ChosenNetwork, networkSource } from '../options/network.ts'
import { paint } from '../output/paint.ts'
import { describeSources, reportOnError, type VerdictReport } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { formatVerdict } from '../output/verdict.ts'
import type { Source } from '../words/claim.ts'
import { constantSources } from '../words/evidence.ts'
import { fieldsOf, show } from '../words/value.ts'
import { type PartSources, type Verdict, verdictOf } from '../words/verdict.ts'
import { agesOf, chainRows, ifRight, type ProvenChain, type Row, sourceWords, trustedNames } from '../words/wording.ts'

interface EvidenceFlags extends Flags, Omit<FlagsOf<typeof filterOptions>, 'address'> {
  readonly addresses: readonly Hex[]
  readonly message?: Hex | undefined
  readonly timeout: number
}

/** @param found the kind of state that the form of the file shows @throws UsageError */
export type VerifyFile = (
  bundle: unknown,
  flags: EvidenceFlags,
  found: StateScheme | undefined,
) => Promise<VerdictReport>

/** Who states each part of a claim: the user, or whoever else chose it. */
export const partsOf = <Claim extends object>(claim: Claim, other: Source = 'bundle') =>
  Object.fromEntries(
    Object.entries(claim).map(([name, value]) => [name, value === 'fromBundle' ? other : 'user']),
    // Of the same names.
  ) as Readonly<Record<keyof Claim, Source>>

/** What everything is verified from, and the kind of state to which it leads. */
interface Head {
  readonly trusted: Trusted
  readonly scheme: StateScheme
}

/** What somebody states of evidence of one kind. */
export interface Stated<T extends ProvenChain> {
  readonly network: ChosenNetwork
  /** Who stated each part, beside the network and what is trusted. @param other who chose what the user does not state */
  parts(other: Source): Readonly<Record<string, Source>>
  /** What was asked, if it is refused. */
  readonly asked?: Row
  verify(bundle: unknown, head: Head): T | Promise<T>
  /** Who stated what no proof covers, or which parts do not matter. */
  adjust?(verified: T, by: Source): PartSources
  /** @param other who chose what the user does not state */
  tell(verified: T, other: Source): Told
}

/** What there is to say of what is proven, beside the way from what is trusted to the block. */
export interface Told {
  readonly what: string
  /** Whether to celebrate it. Default: true. */
  readonly isGood?: boolean
  readonly rows: readonly Row[]
  readonly more?: (stream: Output) => readonly string[]
  readonly json?: object
}

/** The verdict, and the rows from which it follows. @param first what comes before the rows */
export function formatEvidence(
  verdict: Verdict,
  { what, isGood, more = () => [] }: Omit<Told, 'rows'>,
  rows: readonly Row[],
  stream: Output,
  first: readonly string[] = [],
): string {
  const lines = [formatVerdict(verdict, what, stream, isGood), ...first, formatTable(ifRight(verdict, rows), stream)]
  return [...lines, ...more(stream)].join('\n')
}

/** Verifies evidence of which the user states the trusted input and the network. @throws ArgumentError, UsageError */
export async function reportOnEvidence<T extends ProvenChain>(
  bundle: unknown,
  flags: EvidenceFlags,
  found: StateScheme | undefined,
  { network, asked, tell, ...kind }: Stated<T>,
): Promise<VerdictReport> {
  const { rollup } = network
  const by = networkSource(flags)
  const parts = kind.parts('bundle')
  const head = { trusted: await trustedOf(flags, network), scheme: found ?? network.scheme }
  const constants = constantSources({ rollup, trusted: head.trusted }, by)
  const schemeBy: Source = found === undefined ? by : 'lengths'
  // A message is in no state.
  const scheme = 'l2BlockNumber' in parts ? kindName(head.scheme) : undefined
  const schemeSource = scheme && { scheme: schemeBy }
  const sources = { trusted: 'user', ...schemeSource, rollup: by, ...parts, ...constants } as const
  // A beacon block comes with what verifies from it, which the user has not stated.
  const { lightClient: _, ...trusted } = fieldsOf(head.trusted)
  const stated = { trusted, ...(scheme && { scheme }), rollup, sources: describeSources(sources) }
  const contract = `${rollup.address}${rollup.name === undefined ? '' : ` (${show(rollup.name)})`}`
  const heading = (stream: Output) => paint(stream, 'bold', 'Chain of evidence')
  const basis = [...trustedRows(head.trusted), ...constantRows(network, head, constants)]
  try {
    const verified = await kind.verify(bundle, head)
    // Whoever names the file of a network stands for it.
    const verdict = verdictOf(true, { ...sources, network: 'user', ...kind.adjust?.(verified, 'bundle') })
    const told = tell(verified, 'bundle')
    const words = { sources, rollup: contract, scheme, trusted: show(Object.values(trusted)[0]) }
    const rows = [...chainRows(words, verified), ...told.rows]
    return {
      verdict,
      json: { ...stated, ...verified, ...agesOf(verified), ...told.json },
      format: stream =>
        `${formatEvidence(verdict, told, rows, stream, [formatTable(basis, stream), heading(stream)])}\n`,
    }
  } catch (error) {
    if (!isProofError(error)) throw error
    const rows: Row[] = [
      ...basis,
      ...(scheme === undefined ? [] : [['scheme', scheme, sourceWords[schemeBy]] as const]),
      ['rollup', contract, sourceWords[by]],
      ...(asked ? [asked] : []),
    ]
    return reportOnError(error, stated, rows)
  }
}

/** What accompanies a root is not trusted by itself, and has no row. */
const trustedRows = (trusted: Trusted): Row[] =>
  Object.entries(trusted).flatMap(([name, value]): Row[] => {
    const words = fieldsOf(trustedNames)[name]
    return words === undefined ? [] : [['trusted', `${show(words)} ${show(value)}`, sourceWords.user]]
  })

function constantRows(
  { rollup }: ChosenNetwork,
  { trusted }: Head,
  sources: ReturnType<typeof constantSources>,
): Row[] {
  const { stateRootHashes, currentL2BlockNumber } = fieldsOf(rollup.layout)
  const rows = {
    network: ['network', show(fieldsOf(trusted)['network'])],
    implementation: ['implementation', show(rollup.implementation)],
    layout: [
      'storage layout',
      `roots in slot ${show(stateRootHashes)}, newest block in slot ${show(currentL2BlockNumber)}`,
    ],
  } as const
  return (['network', 'implementation', 'layout'] as const).flatMap((name): Row[] => {
    const source = sources[name]
    return source === undefined ? [] : [[...rows[name], sourceWords[source]]]
  })
}
