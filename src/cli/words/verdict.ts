import type { Source } from './answer.ts'

/** What every command, report and page may say of a state, and on whose word. This is the only place that decides it. */

/**
 * Verified: it follows from what the user stated. Consistent: it follows from what only the file or an endpoint states, which
 * anyone can invent. Refused: it does not follow.
 */
export type Word = 'verified' | 'consistent' | 'refused'

export interface Verdict {
  readonly word: Word
  /** Whose word it rests on. */
  readonly restsOn: 'user' | 'endpoint' | 'file'
  /** The premises that the user has not confirmed, by name. Empty if everything rests on the user's word. */
  readonly unconfirmed: readonly Premise[]
  /** What somebody else chose, and who: whatever is verified is verified of that. Empty if the user asked for all of it. */
  readonly chosen: string
}

/** What makes a statement true or false: whoever can choose one of these can choose the verdict. */
const premises = {
  beaconBlockRoot: 'beacon block root',
  l1BlockHash: 'L1 block hash',
  l1StateRoot: 'L1 state root',
  l2StateRoot: 'L2 state root',
  stateRoot: 'state root',
  rootBefore: 'state root before the first block',
  rootAfter: 'state root after the last block',
  rollup: 'rollup contract',
  layout: 'storage layout of the contract',
  network: 'consensus network',
  environment: 'block values that no proof covers',
} as const
export type Premise = keyof typeof premises

/** What a statement is about: whoever chooses one of these chooses the question, but not the answer. */
const subjects = {
  rollupName: 'rollup',
  l2BlockNumber: 'L2 block',
  address: 'address',
  storageKeys: 'storage keys',
  fromBlock: 'first block',
  toBlock: 'last block',
  filter: 'filter',
  message: 'message',
  to: 'contract',
  data: 'data',
  from: 'sender',
  value: 'value',
} as const

export const premiseWords = (premise: Premise): string => premises[premise]

/** Who stated each premise and subject. Other parts, such as the scheme, cannot make anything true. */
export type PartSources = Readonly<Partial<Record<string, Source>>>

/** @param holds whether the checks pass */
export function verdictOf(holds: boolean, sources: PartSources): Verdict {
  const stated = (name: string) => [undefined, 'user', 'default', 'confirmed'].includes(sources[name])
  const unconfirmed = (Object.keys(premises) as Premise[]).filter(name => !stated(name))
  const others = Object.entries(subjects).filter(([name]) => !stated(name))
  const makers = [...new Set(others.map(([name]) => sources[name]))]
  const maker = makers.length > 1 || makers[0] === 'lengths' ? 'file' : makers[0]
  const isOfEndpoint = unconfirmed.every(name => sources[name] === 'endpoint')
  return {
    word: !holds ? 'refused' : unconfirmed.length > 0 ? 'consistent' : 'verified',
    restsOn: unconfirmed.length === 0 ? 'user' : isOfEndpoint ? 'endpoint' : 'file',
    unconfirmed,
    chosen: others.length === 0 ? '' : `the ${listed(others.map(([, words]) => words))} that the ${maker} names`,
  }
}

/** What nobody has confirmed, as a clause. */
export const premiseOf = ({ unconfirmed }: Pick<Verdict, 'unconfirmed'>): string =>
  `nobody has confirmed the ${listed(unconfirmed.map(premiseWords))}`

/** The condition under which a consistent verdict holds, before what follows from it. */
export function conditionOf({ unconfirmed, chosen }: Verdict): string {
  const isOne = unconfirmed.length === 1 && unconfirmed[0] !== 'environment'
  return `If ${isOne ? 'it is' : 'they are'} right,${chosen === '' ? '' : ` for ${chosen}:`}`
}

/** The verdict in a sentence or two. @param what is verified, as a clause that begins in lower case and has no full stop */
export function sentenceOf(verdict: Verdict, what: string): string {
  const { word, chosen } = verdict
  if (word === 'refused') return `Refused: ${what}.`
  if (word === 'verified') return `Verified${chosen === '' ? '' : `, for ${chosen}`}: ${what}.`
  return `Consistent: ${premiseOf(verdict)}. ${conditionOf(verdict)} ${what}.`
}

export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
