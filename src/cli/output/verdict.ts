import { styleText } from 'node:util'
import { exitCodes, type Output } from '../command.ts'
import { type Premise, sentenceOf, type Verdict } from '../words/verdict.ts'

/** Adds colour for a terminal, but not for a pipe or under NO_COLOR. */
export const paint = (stream: Output, format: 'bold' | 'green' | 'yellow' | 'red' | 'dim', text: string): string =>
  styleText(format, text, { stream })

/** Those who run a command that asks endpoints want what these say. It is consistent, but the command has done its work. */
export const ASKED_ENDPOINTS = ['user', 'endpoint'] as const

/** @param accepted on whose word the user wants exit code 0 */
export function exitCodeOf(
  { word, restsOn }: Pick<Verdict, 'word' | 'restsOn'>,
  accepted: readonly Verdict['restsOn'][] = ['user'],
): number {
  if (word === 'refused') return exitCodes.refused
  return word === 'verified' || accepted.includes(restsOn) ? exitCodes.verified : exitCodes.consistent
}

export const acceptedWith = (trustsFile: boolean): readonly Verdict['restsOn'][] =>
  trustsFile ? ['user', 'file'] : ['user']

const tones = { verified: 'green', consistent: 'yellow', refused: 'red' } as const

/** A text in the colour of the verdict: green on the word of the user alone. @param isGood whether to celebrate it */
export const paintVerdict = (stream: Output, { word }: Pick<Verdict, 'word'>, text: string, isGood = true): string =>
  paint(stream, isGood || word !== 'verified' ? tones[word] : 'bold', text)

/** How to confirm what no option states. The value is left out: whoever copies it from here has compared it with nothing. */
const ways: Readonly<Partial<Record<Premise, string>>> = {
  stateRoot:
    'look up the state root of this L2 block on L1 (stateRootHashes of the rollup contract), and state with --state-root what you find there',
  rootAfter: 'state that root with --state-root, or pass evidence at that block with --evidence',
  environment: 'compare these values with the header of the L2 block: no option can confirm them',
}

/** What to do to confirm a verdict; empty if there is nothing, or if the command says it in another way. */
function howToConfirm({ unconfirmed: [first] }: Verdict): string {
  const way = first && ways[first]
  return way === undefined ? '' : `To confirm it, ${way}.`
}

export function formatVerdict(verdict: Verdict, what: string, stream: Output, isGood = true) {
  const sentence = paintVerdict(stream, verdict, sentenceOf(verdict, what), isGood)
  return [sentence, howToConfirm(verdict)].filter(Boolean).join('\n')
}

export const describeVerdict = (verdict: Verdict): object => {
  const { word, unconfirmed } = verdict
  const confirm = howToConfirm(verdict)
  return { verdict: word, ...(word === 'consistent' && { unconfirmed }), ...(confirm !== '' && { confirm }) }
}

export const TRUSTS_FILE = 'Exit code 0 because of --trust-file: it rests on the word of the file alone.'
