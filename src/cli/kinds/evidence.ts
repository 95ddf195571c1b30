import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { type Hex, isProofError } from '../../entry/index.ts'
import { kindName } from '../../verify/state/kind.ts'
import type { Output } from '../command.ts'
import type { Flags, FlagsOf } from '../options/declared.ts'
import type { filterOptions } from '../options/filter.ts'
import { type ChosenNetwork, networkSource } from '../options/network.ts'
import { TRUST_OPTIONS, trustedOf } from '../options/trust.ts'
import { reportOnError, type VerdictReport } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { formatVerdict } from '../output/verdict.ts'
import type { Source } from '../words/answer.ts'
import { fieldsOf, show } from '../words/value.ts'
import { type PartSources, type Verdict, verdictOf } from '../words/verdict.ts'
import {
  chainRows,
  contractWords,
  ifRight,
  type ProvenChain,
  type Row,
  sourceWords,
  trustedNames,
} from '../words/wording.ts'

export interface EvidenceFlags extends Flags, Omit<FlagsOf<typeof filterOptions>, 'address'> {
  readonly addresses: readonly Hex[]
  readonly message?: Hex | undefined
  readonly timeout: number
}

/** Who states each part of a claim: the user, or whoever else chose it. */
export const partsOf = <Claim extends object>(claim: Claim, other: Source = 'bundle') =>
  Object.fromEntries(
    Object.entries(claim).map(([name, value]) => [name, value === 'fromBundle' ? other : 'user']),
    // Of the same names.
  ) as Readonly<Record<keyof Claim, Source>>

export interface Stated<T extends ProvenChain> {
  readonly network: ChosenNetwork
  /** Who stated each part, beside the network and what is trusted. @param other who chose what the user does not state */
  parts(other: Source): Readonly<Record<string, Source>>
  readonly asked?: Row
  verify(bundle: unknown, head: { readonly trusted: Trusted; readonly scheme: StateScheme }): T | Promise<T>
  /** Who stated what no proof covers, or which parts do not matter. */
  adjust?(verified: T, by: Source): PartSources
  /** @param other who chose what the user does not state */
  tell(verified: T, other: Source): Told
}

/** What there is to say of what is proven, beside the way from what is trusted to the block. */
export interface Told {
  readonly what: string
  readonly isGood?: boolean
  readonly rows: readonly Row[]
  readonly more?: (stream: Output) => readonly string[]
  readonly json?: object
}

export function formatEvidence(
  verdict: Verdict,
  { what, isGood, more = () => [] }: Omit<Told, 'rows'>,
  rows: readonly Row[],
  stream: Output,
): string {
  const lines = [formatVerdict(verdict, what, stream, isGood), formatTable(ifRight(verdict, rows), stream)]
  return [...lines, ...more(stream)].join('\n')
}

/** Verifies evidence. @param found the kind of state that the form of the file shows @throws ArgumentError, UsageError */
export async function reportOnEvidence(
  bundle: unknown,
  flags: EvidenceFlags,
  found: StateScheme | undefined,
  { network, asked, ...kind }: Stated<ProvenChain>,
): Promise<VerdictReport> {
  const { rollup } = network
  const by = networkSource(flags)
  const parts = kind.parts('bundle')
  // A message is in no state.
  const isOfState = 'l2BlockNumber' in parts
  const names = TRUST_OPTIONS.filter(name => isOfState || name !== 'state-root')
  const head = { trusted: await trustedOf(flags, network, names), scheme: found ?? network.scheme }
  const scheme = isOfState ? kindName(head.scheme) : undefined
  const schemeSource = scheme && { scheme: found === undefined ? by : ('lengths' as const) }
  const sources = { trusted: 'user', ...schemeSource, rollup: by, ...parts } as const
  // A beacon block comes with what verifies from it, which the user has not stated.
  const { lightClient: _, ...trusted } = fieldsOf(head.trusted)
  const [[name = '', root] = []] = Object.entries(trusted)
  const stated = { trusted, ...(scheme && { scheme }), rollup, sources }
  try {
    const verified = await kind.verify(bundle, head)
    const verdict = verdictOf(true, { ...sources, ...kind.adjust?.(verified, 'bundle') })
    const told = kind.tell(verified, 'bundle')
    const rows = [...chainRows({ sources, rollup, scheme, trusted: show(root) }, verified), ...told.rows]
    return {
      verdict,
      json: { ...stated, ...verified, ...told.json },
      format: stream => `${formatEvidence(verdict, told, rows, stream)}\n`,
    }
  } catch (error) {
    if (!isProofError(error)) throw error
    const rows: Row[] = [
      ['trusted', `${show(fieldsOf(trustedNames)[name])} ${show(root)}`, sourceWords.user],
      ...(scheme && schemeSource ? [['scheme', scheme, sourceWords[schemeSource.scheme]] as const] : []),
      ['rollup', contractWords(rollup), sourceWords[by]],
      ...(asked ? [asked] : []),
    ]
    return reportOnError(error, stated, rows)
  }
}
