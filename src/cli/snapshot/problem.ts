import { printable } from '../words/value.ts'

/** What can be wrong with the files of an earlier run, in words. */
const WORDS = {
  heading: 'the first line is not their heading',
  different: 'differs from the proven row',
  'row missing': 'is missing',
  refused: 'is refused: no answer of the endpoint verified',
  'more rows': 'more of them follow the last one',
  /** Of what the rows are proven from. */
  missing: 'is not kept',
  unreadable: 'is not JSON, too long, or of another version',
  unverified: 'does not verify',
  more: 'more of them are kept than there have to be',
} as const

/** What is wrong with a row, with a piece of what the rows are proven from, or with a file as a whole. */
export interface RowProblem {
  readonly kind: keyof typeof WORDS
  /** Which it is, in words. */
  readonly place: string
  /** The row that is proven in its place. */
  readonly proven?: string
  /** Why it does not verify, and where. */
  readonly code?: string
  readonly path?: string
}

export function describeProblem({ kind, place, proven, code, path }: RowProblem): readonly string[] {
  const reason = code === undefined ? proven : `${code}${path ? ` at ${printable(path)}` : ''}`
  return [place, `${WORDS[kind]}${reason === undefined ? '' : `: ${reason}`}`]
}
