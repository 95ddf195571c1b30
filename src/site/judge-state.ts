import type { Refusal } from '../base/errors.ts'
import { formOf, leafProofAt, schemeNamed, storageProofsIn } from '../cli/words/answer.ts'
import { brief, isGiven } from '../cli/words/value.ts'
import { type Row, timeRow } from '../cli/words/wording.ts'
import type { Hex } from '../entry/index.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { drawLogs, drawState, type L2Chain, type LogsChain, summarize } from './chain.ts'
import { type Checked, failedProof, statusOf, statusOfAll } from './checks.ts'
import { MAX_KEYS } from './limits.ts'
import { isTrieOf, type OpenedFile } from './opened-file.ts'
import { type Judgement, reportOf, type Said } from './report.ts'
import type { Statement } from './statement.ts'
import { displayAccount, type Form, type ProvenState } from './wording.ts'

/** The file and the question, which every kind of verdict starts from. */
export interface Question extends Pick<Judgement, 'stateRoot' | 'address' | 'storageKeys'> {
  readonly file: OpenedFile
  readonly statement: Statement
}

/** What the verifier found; no more than what it checked if it was not asked. */
interface Finding {
  readonly checked: Checked
  readonly error?: Refusal
  readonly state?: ProvenState
  readonly chain?: Partial<Pick<L2Chain, 'l1Block' | 'beaconBlock' | 'l2'>>
  /** What is proven about logs. */
  readonly logs?: LogsChain['words']
}

export function judgementOf(question: Question, said: Said, finding: Finding): Judgement {
  const { file, statement, address, storageKeys, stateRoot } = question
  const { checked, error = null, state, chain = {}, logs } = finding
  const isOfLogs = file.subject === 'logs'
  const isEthereum = isTrieOf(statement.scheme.value)
  const forms = formsOf(file, statement, storageKeys)
  // Of the state, logs need one slot: it holds the hash of the newest block.
  const shownState = logs ? { account: {}, storage: [{ exists: true, value: logs.newest }] } : (state ?? null)
  const proofs = forms.map((form, index) => {
    const key = index === 0 ? address : (storageKeys[index - 1] ?? '')
    return summarize(index, brief(key), form, shownState, statusOf(checked, index))
  })
  const existing = state?.storage.filter(({ exists }) => exists).length ?? 0
  const way = { statement, checked, isBundle: file.subject !== 'answer', isEthereum, l2: null, ...chain }
  const slots = { count: storageKeys.length, existing }
  const boxes = isOfLogs
    ? drawLogs({ ...way, proof: forms.length, words: logs ?? NO_WORDS })
    : drawState({ ...way, address: brief(address), account: state?.account, slots })
  if (isOfLogs) {
    const status = statusOfAll(checked, ['history', 'blocks'])
    proofs.push({ name: 'Blocks', key: '', status, outcome: logs?.ruledOut ?? 'claims all logs', value: '' })
  }
  const facts = state?.account ? displayAccount(state.account) : []
  // Blocks come after the proofs, and are what logs are about.
  const isBlocks = isOfLogs && typeof checked.failed?.group !== 'number'
  const shown = isBlocks ? forms.length : Math.min(failedProof(checked), proofs.length - 1)
  const more = storageKeys.length - MAX_KEYS
  const notes = [...(said.notes ?? []), ...(more > 0 ? [`${more} more slots are not listed.`] : [])]
  return {
    report: reportOf(file, { boxes, facts, proofs, shown, ...said, ...(notes.length > 0 && { notes }) }),
    ...{ scheme: schemeNamed(statement.scheme.value) ?? null, stateRoot, address, storageKeys },
    ...{ forms, checked, error, changes: [] },
  }
}

const NO_WORDS: LogsChain['words'] = { newest: '', blocks: '', ruledOut: '', logs: '', range: '' }

/** What a chain of evidence proves on its way to the L2 state, and to the block that it belongs to. */
export function provenChain(proven: AnyEvidence, contract: string): NonNullable<Finding['chain']> {
  const { l1Block, stateRoot, currentL2BlockNumber: newest, l2BlockNumber, implementation } = proven
  const { l2Block } = proven as { readonly l2Block?: { readonly hash: Hex } }
  const beaconBlock = proven.trustedInput === 'beaconBlockRoot' ? proven.beaconBlock : undefined
  const rows: (Row | false)[] = [
    l2BlockNumber !== undefined && ['L2 block', `${l2BlockNumber}`],
    ...(proven.trustedInput === 'l2StateRoot' ? [] : [timeRow(proven)]),
    newest !== undefined && ['Last finalized', `${newest}`],
    ['Contract', contract],
    implementation !== undefined && ['Code behind its proxy', implementation],
  ]
  const l2 = { stateRoot, blockHash: l2Block?.hash, rows: rows.filter(row => row !== false) }
  return { l1Block, beaconBlock, l2 }
}

/** What each leaf proof claims: the account's, and that of each requested key. */
function formsOf(file: OpenedFile, statement: Statement, storageKeys: readonly string[]): Form[] {
  const slots = storageProofsIn(file.answer)
  const isEthereum = isTrieOf(statement.scheme.value)
  // Then L1 holds the hash of the newest block, not the state.
  const isOfL1 = file.subject === 'logs' && isEthereum && !isGiven(file.answer)
  if (isOfL1 && statement.trustedKind.value !== 'l2StateRoot') return []
  const formOfSlot = (_: string, index: number): Form =>
    isEthereum ? 'existence' : slots.length === 0 || slots[index] === null ? 'implied' : formOf(slots[index])
  const account = isEthereum ? 'existence' : formOf(leafProofAt(file.answer, 0))
  return [account, ...storageKeys.slice(0, MAX_KEYS).map(formOfSlot)]
}
