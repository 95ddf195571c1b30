import { parseNumber } from '../cli/words/evidence.ts'
import { attempt, decodeHex, toHex } from '../cli/words/layout.ts'
import { brief, fieldIn, fieldsOf, isGiven, itemsOf } from '../cli/words/value.ts'
import { bundleNotes, capitalized, count, type Row } from '../cli/words/wording.ts'
import { verifyEvidence } from '../entry/anchor.ts'
import { historyContract, historySlot, type LogsClaim, logsEvidence, type VerifiedLogs } from '../entry/blocks.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { drawLogs } from './chain.ts'
import { stateClaimOf } from './inputs.ts'
import { judgeAs } from './judging.ts'
import { MAX_DATA_CHARACTERS, MAX_LOGS_SHOWN } from './limits.ts'
import { isTrieOf } from './opened-file.ts'
import { evidenceSourcesOf, premiseSources } from './wording.ts'

/** Judges evidence of logs: of all that match, in a range of blocks. */
export const judgeLogs = judgeAs<VerifiedLogs>({
  // Of the state, they need one slot: it holds the hash of the newest block. L1 can hold that itself.
  ask({ answer, bundle }, { scheme, trustedKind }) {
    const isInState = isGiven(answer)
    if (!isInState && isTrieOf(scheme.value) && trustedKind.value !== 'l2StateRoot') return null
    const number = newestIn(bundle)
    const slot = number === null ? null : attempt(() => historySlot(number))
    return { address: isInState ? historyContract : '', storageKeys: isInState && slot !== null ? [slot] : [] }
  },
  verify(file, statement) {
    const asked = { fromBlock: 'fromBundle', toBlock: 'fromBundle', filter: 'fromBundle' } as const
    const claim = { kind: logsEvidence, ...stateClaimOf(file, statement), ...asked }
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
    return verifyEvidence(file.bundle, claim as unknown as LogsClaim)
  },
  tell(proven, statement) {
    const { trustedInput, l1Block, logs, blockCount } = proven
    const sources = { ...evidenceSourcesOf(statement), trusted: 'user', address: 'user', storageKeys: 'user' } as const
    const asked = 'Whoever made the bundle chose the blocks and the filter: check that this is what you asked for.'
    const have = `${blockCount === 1 ? 'has' : 'have'} exactly ${count(logs.length, 'log')}`
    return {
      sources: {
        ...{ ...premiseSources(statement), filter: 'bundle' as const },
        ...(trustedInput !== 'l2StateRoot' && { l2BlockNumber: sources.l2BlockNumber }),
      },
      headline: `${capitalized(rangeWords(proven))} ${have} that the filter selects: none is left out.`,
      notes: [asked, ...bundleNotes(sources, asEvidence(proven)).map(capitalized)],
      ...{
        l1Block,
        facts: factsOf(proven),
        logs: { count: logs.length, listed: logs.slice(0, MAX_LOGS_SHOWN).map(tellLog) },
      },
    }
  },
  draw(scene) {
    const { proven, file } = scene
    const words = proven && {
      newest: newestHash(file.bundle),
      blocks: count(proven.blockCount, 'block'),
      ruledOut: `${proven.ruledOutCount} of ${proven.blockCount} ruled out`,
      logs: count(proven.logs.length, 'log'),
      range: `all of ${rangeWords(proven)}`,
    }
    return drawLogs({ ...scene, proven: proven && asEvidence(proven) }, words)
  },
  state: ({ stateRoot }, { bundle }) => ({
    ...{ stateRoot, account: {}, storage: [{ exists: true, value: newestHash(bundle) }] },
  }),
})

/** Nothing is asked for that is missing here: an account and its slots. */
const asEvidence = (proven: VerifiedLogs) => ({ ...proven, storage: [] }) as unknown as AnyEvidence

/** The number of the first of the blocks, if there are as many as the range needs. */
function newestIn(bundle: unknown): bigint | null {
  const { fromBlock, blocks } = fieldsOf(bundle)
  const first = parseNumber(fromBlock, 64)
  return first === null ? null : first + BigInt(itemsOf(blocks).length) - 1n
}

const rangeWords = ({ fromBlock, toBlock }: VerifiedLogs): string =>
  fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`

function newestHash(bundle: unknown): string {
  const header = attempt(() => decodeHex(fieldIn(itemsOf(fieldIn(bundle, 'blocks'))[0], 'header')))
  return header ? toHex(keccak256(header)) : ''
}

function factsOf({ filter, fromBlock, toBlock, logs, ruledOutCount, receiptCount }: VerifiedLogs): Row[] {
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

/** What one log holds. */
function tellLog({ blockNumber, logIndex, address, topics, data, transactionHash }: VerifiedLogs['logs'][number]) {
  const rows: Row[] = [
    ['Contract', address],
    ...topics.map((topic, index): Row => [`Topic ${index}`, topic]),
    // In full: it is for the clipboard.
    ['Data', data.length > MAX_DATA_CHARACTERS ? brief(data) : data],
    ['Transaction', transactionHash],
  ]
  return { title: `Block ${blockNumber}, log ${logIndex}`, rows }
}
