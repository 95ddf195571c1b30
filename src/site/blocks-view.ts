import { meaningOf } from '../base/error-meanings.ts'
import { parseNumber } from '../cli/words/evidence.ts'
import { fieldIn, isGiven, itemsOf } from '../cli/words/value.ts'
import { count } from '../cli/words/wording.ts'
import { checksOf, type Status } from './checks.ts'
import { newestIn } from './judge-logs.ts'
import { MAX_BLOCKS_SHOWN } from './limits.ts'
import type { OpenedFile } from './opened-file.ts'
import { type BlockRow, emptyView, type ProofView } from './proof-view.ts'
import { holds, type Judgement } from './report.ts'

/** The blocks of a bundle of logs, as far as they were verified. */
export function viewBlocks({ bundle }: OpenedFile, { report, forms, checked, error }: Judgement): ProofView {
  const newest = newestIn(bundle)
  const last = parseNumber(fieldIn(bundle, 'toBlock'), 64)
  const [, broken] = /^blocks\[(\d+)\]/.exec(error?.path ?? '') ?? []
  // Newest first: those before the broken one are verified.
  const end = holds(report) ? Number.POSITIVE_INFINITY : Number(broken ?? -1)
  const blocks = itemsOf(fieldIn(bundle, 'blocks')).slice(0, MAX_BLOCKS_SHOWN)
  return {
    ...{ ...emptyView, index: forms.length, count: forms.length + 1, title: 'the blocks' },
    checks: checksOf(checked, 'history', 'blocks'),
    blocks: blocks.map((block, index): BlockRow => {
      const number = newest === null ? null : newest - BigInt(index)
      const status = index < end ? 'passed' : index === end ? 'failed' : 'not reached'
      const isAfter = number !== null && last !== null && number > last
      const words = contentWords(fieldIn(block, 'receipts'), isAfter, status)
      const text = status === 'failed' && error ? `${error.code}: ${meaningOf(error.code)}` : words
      return { name: number === null ? `Block at ${index}` : `Block ${number}`, status, text }
    }),
  }
}

function contentWords(receipts: unknown, isAfter: boolean, status: Status): string {
  if (isGiven(receipts)) {
    return `${count(itemsOf(receipts).length, 'receipt')}${status === 'passed' ? ', all verified' : ''}`
  }
  if (isAfter) return 'after the range: only leads to it'
  return status === 'passed' ? 'ruled out by the bloom filter in its header' : 'its header alone'
}
