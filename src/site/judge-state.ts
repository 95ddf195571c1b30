import type { Refusal } from '../base/errors.ts'
import { formOf, leafProofAt, schemeNamed, storageProofsIn } from '../cli/words/answer.ts'
import { brief, fieldIn, isGiven, isObject, itemsOf } from '../cli/words/value.ts'
import { type Row, timeRow } from '../cli/words/wording.ts'
import type { Hex } from '../entry/index.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { drawLogs, drawState, type L2Chain, type LogsChain, summarize } from './chain.ts'
import { blameRule, failedProof, listSteps, type Shape, statusesOf } from './checks.ts'
import { MAX_KEYS } from './limits.ts'
import { isTrieOf, type OpenedFile } from './opened-file.ts'
import { failedAt, type Judgement, reportOf, type Said } from './report.ts'
import { type FieldName, isStated, type Statement } from './statement.ts'
import { displayAccount, type Form, type ProvenState } from './wording.ts'

/** The file and the question, which every kind of verdict starts from. */
export interface Question extends Pick<Judgement, 'stateRoot' | 'address' | 'storageKeys'> {
  readonly file: OpenedFile
  readonly statement: Statement
}

/** What the verifier found; empty if it was not asked. */
interface Finding {
  readonly error?: Refusal
  readonly state?: ProvenState
  readonly chain?: Partial<Pick<L2Chain, 'l1Block' | 'beaconBlock' | 'l2'>>
  /** What is proven about logs. */
  readonly logs?: LogsChain['words']
}

/** @param isWrong whether the form is: that is the first check */
export function judgementOf(question: Question, said: Said, finding: Finding, isWrong = false): Judgement {
  const { file, statement, address, storageKeys, stateRoot } = question
  const { error = null, state, chain = {}, logs } = finding
  const shape = shapeOf(file, statement, storageKeys)
  const { forms, isEthereum, isOfLogs } = shape
  const listed = listSteps(shape)
  const at = isWrong ? 0 : failedAt(file, listed, error, (state ?? logs) !== undefined)
  const { steps, failed } = listed[at]?.group === 'blocks' ? blameRule(listed, at) : { steps: listed, failed: at }
  const statuses = statusesOf(steps, failed)
  // Of the state, logs need one slot: it holds the hash of the newest block.
  const shownState = logs ? { account: {}, storage: [{ exists: true, value: logs.newest }] } : (state ?? null)
  const proofs = forms.map((form, index) => {
    const key = index === 0 ? address : (storageKeys[index - 1] ?? '')
    return summarize(index, brief(key), form, shownState, statuses.get(index))
  })
  const existing = state?.storage.filter(({ exists }) => exists).length ?? 0
  const way = { statement, steps, failed, isBundle: shape.chain !== null, isEthereum, l2: null, ...chain }
  const slots = { count: storageKeys.length, existing }
  const boxes = isOfLogs
    ? drawLogs({ ...way, proof: forms.length, words: logs ?? NO_WORDS })
    : drawState({ ...way, address: brief(address), account: state?.account, slots })
  if (isOfLogs) {
    const status = statuses.get(forms.length) ?? 'not reached'
    proofs.push({ name: 'Blocks', key: '', status, outcome: logs?.ruledOut ?? 'claims all logs', value: '' })
  }
  const facts = state?.account ? displayAccount(state.account) : []
  const shown = error !== null ? Math.min(failedProof(steps, failed), proofs.length - 1) : isOfLogs ? forms.length : 0
  return {
    report: reportOf(file, { boxes, facts, proofs, shown, ...said }),
    ...{ scheme: schemeNamed(statement.scheme.value) ?? null, stateRoot, address, storageKeys },
    ...{ forms, steps, failed, error, changes: [] },
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

/** The properties of the answer and the question that determine the list of checks. */
function shapeOf(file: OpenedFile, statement: Statement, storageKeys: readonly string[]): Shape {
  const slots = storageProofsIn(file.answer)
  const l1 = fieldIn(file.bundle, 'l1')
  const storageProof = fieldIn(fieldIn(l1, 'proof'), 'storageProof')
  const finalizedState = fieldIn(l1, 'finalizedState')
  const states = (name: FieldName) => isStated(statement, name)
  const isEthereum = isTrieOf(statement.scheme.value)
  const isOfLogs = file.subject === 'logs'
  // Then L1 holds the hash of the newest block, not the state.
  const isOfL1 = isOfLogs && isEthereum && !isGiven(file.answer) && statement.trustedKind.value !== 'l2StateRoot'
  const formOfSlot = (_: string, index: number): Form =>
    isEthereum ? 'existence' : slots.length === 0 || slots[index] === null ? 'implied' : formOf(slots[index])
  const stated = !isObject(finalizedState) ? 0 : isGiven(fieldIn(finalizedState, 'forcedTransactionNumber')) ? 3 : 2
  return {
    forms: isOfL1
      ? []
      : [
          isEthereum ? 'existence' : formOf(leafProofAt(file.answer, 0)),
          ...storageKeys.slice(0, MAX_KEYS).map(formOfSlot),
        ],
    chain:
      file.subject !== 'answer'
        ? {
            trustedKind: statement.trustedKind.value,
            states: {
              ...{ block: states('l2Block'), address: states('address'), keys: states('storageKeys') },
              implementation: statement.implementation.value !== '',
            },
            ...{ l1SlotCount: itemsOf(storageProof).length, l1StatedCount: stated },
          }
        : null,
    ...{ isEthereum, isOfLogs },
  }
}
