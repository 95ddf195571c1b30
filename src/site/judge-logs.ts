import { parseNumber } from '../cli/words/evidence.ts'
import { attempt, decodeHex, toHex } from '../cli/words/layout.ts'
import { brief, fieldIn, fieldsOf, isGiven, itemsOf } from '../cli/words/value.ts'
import { bundleNotes, capitalized, count, type Row } from '../cli/words/wording.ts'
import { verifyEvidence } from '../entry/anchor.ts'
import { historyContract, historySlot, type LogsClaim, logsEvidence, type VerifiedLogs } from '../entry/blocks.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { drawLogs, type LogsWords } from './chain.ts'
import { logsClaimOf, stateClaimOf } from './inputs.ts'
import type { Kind } from './judging.ts'
import { MAX_DATA_CHARACTERS, MAX_LOGS_SHOWN } from './limits.ts'
import { isTrieOf } from './opened-file.ts'
import type { ProvenLogs } from './report.ts'
import { isStated } from './statement.ts'
import { evidenceSourcesOf, premiseSources } from './wording.ts'

/** Evidence of logs: of all that match, in a range of blocks. */
export const logsKind: Kind<VerifiedLogs> = {
  // Of the state, they need one slot: it holds the hash of the newest block. L1 can hold that itself.
  ask({ answer, bundle }, { scheme, trustedKind }) {
    const isInState = isGiven(answer)
    if (!isInState && isTrieOf(scheme.value) && trustedKind.value !== 'l2StateRoot') return null
    const number = newestIn(bundle)
    const slot = number === null ? null : attempt(() => historySlot(number))
    return { address: isInState ? historyContract : '', storageKeys: isInState && slot !== null ? [slot] : [] }
  },
  verify(file, statement) {
    const claim = { kind: logsEvidence, ...stateClaimOf(file, statement), ...logsClaimOf(statement) }
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
    return verifyEvidence(file.bundle, claim as unknown as LogsClaim)
  },
  tell(proven, statement) {
    const sources = { ...evidenceSourcesOf(statement), trusted: 'user', address: 'user', storageKeys: 'user' } as const
    const filter = isStated(statement, 'logs') ? statement.logs.source : 'bundle'
    const isFromL1 = statement.trustedKind.value !== 'l2StateRoot'
    const notes = [
      ...(filter === 'user' ? [] : [askedNotes[filter === 'file' ? 'file' : 'bundle']]),
      ...bundleNotes(sources, asEvidence(proven)).map(capitalized),
    ]
    return {
      sources: {
        ...{ ...premiseSources(statement), filter },
        ...(isFromL1 && { l2BlockNumber: sources.l2BlockNumber }),
      },
      ...{ headline: headlineOf(proven), l1Block: proven.l1Block, notes },
      ...{ facts: factsOf(proven), logs: listed(proven) },
    }
  },
  draw: scene => drawLogs({ ...scene, proven: scene.proven && asEvidence(scene.proven) }, wordsOf(scene)),
  state: ({ stateRoot }, { bundle }) => ({
    ...{ stateRoot, account: {}, storage: [{ exists: true, value: newestHash(bundle) }] },
  }),
}

/** Nothing is asked for that is missing here: an account and its slots. */
const asEvidence = (proven: VerifiedLogs) => ({ ...proven, storage: [] }) as unknown as AnyEvidence

const askedNotes = {
  file: 'The file states the blocks and the filter: check that this is what you asked for.',
  bundle: 'Whoever made the bundle chose the blocks and the filter: check that this is what you asked for.',
} as const

/** The number of the first of the blocks, if there are as many as the range needs. */
function newestIn(bundle: unknown): bigint | null {
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

function newestHash(bundle: unknown): string {
  const header = attempt(() => decodeHex(fieldIn(itemsOf(fieldIn(bundle, 'blocks'))[0], 'header')))
  return header ? toHex(keccak256(header)) : ''
}

function wordsOf({ file, proven }: Parameters<typeof logsKind.draw>[0]): LogsWords | null {
  if (proven === null) return null
  const { logs, blockCount, ruledOutCount } = proven
  return {
    newest: newestHash(file.bundle),
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
