import { parseNumber } from '../cli/words/evidence.ts'
import { attempt, decodeHex, toHex } from '../cli/words/layout.ts'
import { brief, fieldIn, fieldsOf, isGiven, itemsOf } from '../cli/words/value.ts'
import { bundleNotes, capitalized, count, type Row } from '../cli/words/wording.ts'
import { verifyEvidence } from '../entry/anchor.ts'
import { historyContract, historySlot, type LogsClaim, logsEvidence, type VerifiedLogs } from '../entry/blocks.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import type { LogsChain } from './chain.ts'
import { MISASKED, UNCHECKED, watch } from './checks.ts'
import { logsClaimOf, stateClaimOf } from './inputs.ts'
import { judgementOf, provenChain } from './judge-state.ts'
import { MAX_DATA_CHARACTERS, MAX_LOGS_SHOWN } from './limits.ts'
import type { OpenedFile } from './opened-file.ts'
import { established, type Judgement, type ProvenLogs, refused, type Said } from './report.ts'
import { isStated, type Statement } from './statement.ts'
import { evidenceSourcesOf, premiseSources, rootWords, trustedName } from './wording.ts'

/** @param unasked why nothing is verified; null if everything is stated */
export function judgeLogs(file: OpenedFile, statement: Statement, unasked: Said | null): Judgement {
  const { trusted } = statement
  const isTrusted = statement.trustedKind.value === 'l2StateRoot'
  const number = newestIn(file.bundle)
  const slot = number === null ? null : attempt(() => historySlot(number))
  const isInState = isGiven(file.answer)
  const question = {
    ...{ file, statement, address: isInState ? historyContract : '' },
    storageKeys: isInState && slot !== null ? [slot] : [],
    stateRoot: isTrusted ? { value: trusted.value, source: rootWords(trusted) } : null,
  }
  if (unasked !== null) {
    return judgementOf(question, unasked, { checked: unasked.inputErrors === undefined ? UNCHECKED : MISASKED })
  }
  const claim = {
    kind: logsEvidence,
    ...stateClaimOf(file, statement),
    ...logsClaimOf(statement),
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
  } as unknown as LogsClaim
  const { outcome, checked } = watch(file, () => verifyEvidence(file.bundle, claim))
  if (!outcome.ok) return judgementOf(question, refused(outcome.error), { error: outcome.error, checked })
  const proven = outcome.value
  const sources = { ...evidenceSourcesOf(statement), trusted: 'user', address: 'user', storageKeys: 'user' } as const
  // Nothing is asked for that is missing here: an account and its slots.
  const evidence = { ...proven, storage: [] } as unknown as AnyEvidence
  const asked = isStated(statement, 'logs') ? statement.logs.source : 'bundle'
  const isFromL1 = !isTrusted
  const parts = {
    ...{ ...premiseSources(statement), filter: asked },
    ...(isFromL1 && { l2BlockNumber: sources.l2BlockNumber }),
  }
  const said = established(statement, parts, headlineOf(proven), evidence)
  const notes = [
    ...(asked === 'user' ? [] : [askedNotes[asked === 'file' ? 'file' : 'bundle']]),
    ...bundleNotes(sources, evidence).map(capitalized),
  ]
  const { stateRoot } = proven
  const follows = `follows from the ${trustedName(statement.trustedKind.value)}`
  const ofRoot = said.verdict === 'verified' ? 'proven from L1' : follows
  return judgementOf(
    { ...question, stateRoot: question.stateRoot ?? { value: stateRoot, source: ofRoot } },
    {
      ...said,
      ...{ notes, facts: factsOf(proven), logs: listed(proven) },
    },
    { chain: provenChain(evidence, claim.rollup.address), logs: wordsOf(file, proven), checked },
  )
}

const askedNotes = {
  file: 'The file states the blocks and the filter: check that this is what you asked for.',
  bundle: 'Whoever made the bundle chose the blocks and the filter: check that this is what you asked for.',
} as const

/** The number of the first of the blocks, if there are as many as the range needs. */
export function newestIn(bundle: unknown): bigint | null {
  const { fromBlock, blocks } = fieldsOf(bundle)
  const first = parseNumber(fromBlock, 64)
  return first === null ? null : first + BigInt(itemsOf(blocks).length) - 1n
}

const rangeWords = ({ fromBlock, toBlock }: VerifiedLogs): string =>
  fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`

function headlineOf(proven: VerifiedLogs): string {
  const { logs, filter, blockCount } = proven
  const isAny = filter.address.length + filter.topics.flat().length === 0
  const have = blockCount === 1 ? 'has' : 'have'
  const number = logs.length === 0 ? 'no logs' : `exactly ${count(logs.length, 'log')}`
  const those = isAny ? '' : ` that ${logs.length === 1 ? 'matches' : 'match'} the filter`
  return `${capitalized(rangeWords(proven))} ${have} ${number}${those}: none is left out.`
}

function wordsOf({ bundle }: OpenedFile, proven: VerifiedLogs): LogsChain['words'] {
  const { logs, blockCount, ruledOutCount } = proven
  const header = attempt(() => decodeHex(fieldIn(itemsOf(fieldIn(bundle, 'blocks'))[0], 'header')))
  return {
    newest: header ? toHex(keccak256(header)) : '',
    blocks: count(blockCount, 'block'),
    ruledOut: `${ruledOutCount} of ${blockCount} ruled out`,
    logs: count(logs.length, 'log'),
    range: `all of ${rangeWords(proven)}`,
  }
}

function factsOf(proven: VerifiedLogs): Row[] {
  const { filter, fromBlock, toBlock, logs, ruledOutCount, receiptCount } = proven
  const choice = (name: string, values: readonly string[]): Row => [name, brief(values.join(' or ')) || 'any']
  return [
    ['Logs', `${logs.length}`],
    ['Blocks', fromBlock === toBlock ? `${fromBlock}` : `${fromBlock} to ${toBlock}`],
    ['Blocks ruled out by headers', `${ruledOutCount}`],
    ['Receipts verified', `${receiptCount}`],
    choice('Filter: contract', filter.address),
    ...filter.topics.map((topic, index) => choice(`Filter: topic ${index}`, topic)),
  ]
}

/** What the filter leaves no choice of is the same in all. */
function listed({ logs, filter }: VerifiedLogs): ProvenLogs {
  const isFixed = (choices: readonly string[] | undefined) => choices?.length === 1
  const fixed = [
    ...(isFixed(filter.address) ? ['Contract'] : []),
    ...filter.topics.flatMap((choices, index) => (isFixed(choices) ? [`Topic ${index}`] : [])),
  ]
  return {
    count: logs.length,
    fixed,
    listed: logs.slice(0, MAX_LOGS_SHOWN).map(({ blockNumber, logIndex, address, topics, data, transactionHash }) => ({
      title: `Block ${blockNumber}, log ${logIndex}`,
      rows: [
        ['Contract', address],
        ...topics.map((topic, index): Row => [`Topic ${index}`, topic]),
        // In full: it is for the clipboard.
        ['Data', data.length > MAX_DATA_CHARACTERS ? brief(data) : data],
        ['Transaction', transactionHash],
      ].filter(([name = '']) => !fixed.includes(name)) as Row[],
    })),
  }
}
