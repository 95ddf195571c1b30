import { plural } from '../base/errors.ts'
import { resultIn, schemeNamed } from '../cli/words/answer.ts'
import { parseNumber, rollupNamed } from '../cli/words/evidence.ts'
import { evidenceNames } from '../cli/words/input-file.ts'
import { attempt, decodeHex, toHex } from '../cli/words/layout.ts'
import { messageRows, messageStatements } from '../cli/words/message.ts'
import { brief, DocumentError, fieldIn, fieldsOf, hasFields, isGiven, itemsOf } from '../cli/words/value.ts'
import { accountRows, capitalized, notesOn, type Row } from '../cli/words/wording.ts'
import { type EvidenceClaim, verifyEthProof, verifyEvidence } from '../entry/anchor.ts'
import { historyContract, historySlot, type LogsClaim, logsEvidence, type VerifiedLogs } from '../entry/blocks.ts'
import { createVerifier, type Hex } from '../entry/index.ts'
import { type MessageEvidenceClaim, messageEvidence, type VerifiedMessage } from '../entry/messages.ts'
import { type VerifiedTransition, verifyTransition } from '../entry/transition.ts'
import type { AnyEvidence } from '../verify/evidence/kinds/state.ts'
import type { EvidenceName } from '../verify/evidence/verify.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import { changesOf, drawState, l2Trunk, linker, trunk, trustedBox } from './chain.ts'
import { isTrieOf, type OpenedFile, type Subject, slotsIn } from './file.ts'
import { rollupOf, stateClaimOf, trustedOf } from './inputs.ts'
import { MAX_DATA_CHARACTERS, MAX_LOGS_SHOWN } from './limits.ts'
import { type Judgement, judgeAs } from './report.ts'
import { ANSWER_FIELDS, EVIDENCE_FIELDS, isOwn, isStated, keysIn, STATE_FIELDS, type Statement } from './statement.ts'
import { amount, displayRows, evidenceSourcesOf, type ProvenState, premiseSources, stateWords } from './wording.ts'

// Despite their types, the claims are unchecked: the verifiers refuse an invalid one with an ArgumentError.

const answer = judgeAs<ProvenState>({
  fields: ANSWER_FIELDS,
  holds: ({ answer }) => plural(slotsIn(answer), 'storage proof'),
  ask: (_, statement) => ({ address: statement.address.value, storageKeys: keysIn(statement) }),
  verify({ answer }, statement, { address, storageKeys }) {
    const asked = { address: address as Hex, storageKeys: storageKeys as Hex[] }
    const root = statement.trusted.value as Hex
    const scheme = schemeNamed(statement.scheme.value)
    return scheme === undefined
      ? verifyEthProof(resultIn(answer), { ...asked, l1StateRoot: root })
      : createVerifier(scheme).verifyProof(answer, { ...asked, stateRoot: root })
  },
  tell(proven, statement) {
    const { trusted, address, storageKeys } = statement
    return {
      sources: {
        stateRoot: trusted.source,
        address: address.source,
        ...(keysIn(statement).length > 0 && { storageKeys: storageKeys.source }),
      },
      headline: stateWords(proven),
      facts: factsOf(proven),
    }
  },
  draw: drawState,
  state: proven => proven,
})

const state = judgeAs<AnyEvidence>({
  fields: [...STATE_FIELDS, 'address', 'storageKeys'],
  holds: ({ answer }) => plural(slotsIn(answer), 'storage proof'),
  ask({ bundle }, statement) {
    const { address, storageKeys } = claimOn(statement)
    const requested = fieldsOf(fieldIn(bundle, 'request'))
    return {
      address: address === 'fromBundle' ? textOf(requested['address']) : address,
      storageKeys: storageKeys === 'fromBundle' ? itemsOf(requested['storageKeys']).map(textOf) : storageKeys,
    }
  },
  verify(file, statement) {
    const claim = { ...stateClaimOf(file, statement), ...claimOn(statement) }
    return verifyEvidence(file.bundle, claim as unknown as EvidenceClaim)
  },
  tell(proven, statement) {
    const sources = evidenceSourcesOf(statement)
    const { l2BlockNumber, address, storageKeys } = sources
    return {
      sources: {
        ...premiseSources(statement),
        address,
        ...(proven.storage.length > 0 && { storageKeys }),
        ...(proven.trustedInput !== 'l2StateRoot' && { l2BlockNumber }),
      },
      headline: stateWords(proven),
      l1Block: proven.l1Block,
      facts: factsOf(proven),
      notes: notesOn(proven).map(capitalized),
    }
  },
  draw: drawState,
  state: proven => proven,
})

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** What the user asks of the state. What came from the bundle itself is left to it. */
const claimOn = (statement: Statement) => ({
  address: isStated(statement, 'address') ? statement.address.value : 'fromBundle',
  storageKeys: isStated(statement, 'storageKeys') ? keysIn(statement) : ('fromBundle' as const),
})

const factsOf = ({ account }: ProvenState): Row[] => (account === null ? [] : displayRows(accountRows(account)))

const logs = judgeAs<VerifiedLogs>({
  fields: STATE_FIELDS,
  holds: ({ bundle }) => `logs of ${plural(itemsOf(fieldIn(bundle, 'blocks')).length, 'block')}`,
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
    return verifyEvidence(file.bundle, claim as unknown as LogsClaim)
  },
  tell(proven, statement) {
    const { trustedInput, l1Block, logs, blockCount } = proven
    const { l2BlockNumber } = evidenceSourcesOf(statement)
    const have = `${blockCount === 1 ? 'has' : 'have'} exactly ${plural(logs.length, 'log')}`
    return {
      sources: {
        ...premiseSources(statement),
        fromBlock: 'bundle',
        toBlock: 'bundle',
        filter: 'bundle',
        ...(trustedInput !== 'l2StateRoot' && { l2BlockNumber }),
      },
      headline: `${capitalized(rangeWords(proven))} ${have} that the filter selects: none is left out.`,
      notes: notesOn(proven).map(capitalized),
      l1Block,
      facts: logsFacts(proven),
      logs: { count: logs.length, listed: logs.slice(0, MAX_LOGS_SHOWN).map(tellLog) },
    }
  },
  draw(scene) {
    const { proven, file, proofs } = scene
    const link = linker(scene)
    const newest = proven && newestHash(file.bundle)
    const blocks = proven && plural(proven.blockCount, 'block')
    const ruledOut = proven ? `${proven.ruledOutCount} of ${proven.blockCount} ruled out` : ''
    const logs = proven && plural(proven.logs.length, 'log')
    return [
      // No account and slots are asked for.
      ...l2Trunk({ ...scene, proven: proven && ({ ...proven, storage: [] } as unknown as AnyEvidence) }),
      // The state holds the hash of the newest block, unless L1 does.
      ...(proofs > 0 ? [link('Rollup', 'Block hash', ['answer', 1, 0], newest, 'kept in the state')] : []),
      link('Rollup', 'Blocks', ['history', 'blocks'], blocks, ruledOut),
      link('Rollup', 'Logs', ['history', 'blocks'], logs, proven ? `all of ${rangeWords(proven)}` : ''),
    ]
  },
  state({ stateRoot }, { bundle }) {
    return { stateRoot, account: {}, storage: [{ exists: true, value: newestHash(bundle) }] }
  },
})

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

function logsFacts({ filter, fromBlock, toBlock, logs, ruledOutCount, receiptCount }: VerifiedLogs): Row[] {
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

const statusWords: Readonly<Record<VerifiedMessage['status'], string>> = {
  claimable: 'can be claimed',
  claimed: 'claimed',
  notAnchored: 'not anchored yet',
  sent: 'sent',
  notSent: 'not sent yet',
  unknown: 'not known',
}

const message = judgeAs<VerifiedMessage>({
  fields: [...EVIDENCE_FIELDS, 'message'],
  holds: ({ bundle }) => `a message ${isGiven(fieldIn(bundle, 'messageProof')) ? 'from' : 'to'} L2`,
  verify(file, statement) {
    const { value } = statement.message
    const message = value === '' ? 'fromBundle' : value
    const claim = { kind: messageEvidence, rollup: rollupOf(statement), trusted: trustedOf(file, statement), message }
    return verifyEvidence(file.bundle, claim as MessageEvidenceClaim)
  },
  tell(proven, statement) {
    const { rollup, message } = statement
    const isAsked = message.value !== ''
    const contract = rollupNamed(rollup.value)?.address ?? rollup.value
    const rows = messageRows(proven, amount, contract).map(([name, value, ...basis]): Row => {
      // In full, if it is for the clipboard.
      const shown = name === 'claim it with' ? value : brief(value)
      return [capitalized(name), shown, ...basis]
    })
    return {
      sources: { ...premiseSources(statement), message: isAsked ? message.source : 'bundle' },
      headline: `${capitalized(messageStatements[proven.status])}.`,
      l1Block: proven.l1Block,
      facts: [['Hash', proven.messageHash], ...rows],
    }
  },
  draw(scene) {
    const { messageProof, messageHash, implementation, status } = scene.proven ?? {}
    const link = linker(scene)
    const [title, note, group] = hasFields(scene.file.bundle, 'messageProof')
      ? (['Tree', 'its root, kept by the contract', 'place'] as const)
      : (['Rolling hash', 'kept by the contract', 'rollupContract'] as const)
    const code = implementation !== undefined && (['Code behind the proxy', implementation] as const)
    return [
      ...trunk(scene),
      link('Ethereum', title, ['rollupContract'], messageProof?.root, note, [code]),
      link('Rollup', 'Message', [group], messageHash, status && statusWords[status]),
    ]
  },
})

const traces = judgeAs<VerifiedTransition>({
  fields: ['trusted', 'endRoot', 'scheme'],
  holds({ answer }) {
    const blocks = itemsOf(fieldIn(fieldIn(answer, 'result') ?? answer, 'zkStateMerkleProof'))
    const traces = blocks.reduce<number>((sum, block) => sum + itemsOf(block).length, 0)
    return `${plural(traces, 'trace')} in ${plural(blocks.length, 'block')}`
  },
  verify: ({ answer }, { scheme, trusted, endRoot }) =>
    verifyTransition(answer, {
      scheme: schemeNamed(scheme.value) as HashScheme,
      parentStateRoot: trusted.value as Hex,
      ...(endRoot.value !== '' && { stateRoot: endRoot.value as Hex }),
    }),
  tell({ blocks }, { trusted, endRoot }) {
    const changes = changesOf(blocks)
    const [accounts, slots] = [plural(changes.accounts, 'account'), plural(changes.slotChanges, 'slot')]
    const isEnded = endRoot.value !== ''
    return {
      sources: { rootBefore: trusted.source, rootAfter: isEnded ? endRoot.source : 'answer' },
      headline: `These changes, of ${accounts} and ${slots}, lead from one root to the other.`,
      changes,
    }
  },
  draw(scene) {
    const { proven, file, statement } = scene
    const link = linker(scene)
    return [
      trustedBox(scene, 'Rollup', 'State before'),
      link('Rollup', 'Traces', ['answer'], file.holds, 'every account and slot'),
      link('Rollup', 'State after', ['answer'], proven?.stateRoot, proven ? endWords(statement) : ''),
    ]
  },
})

const endWords = ({ endRoot }: Statement): string =>
  endRoot.value === '' ? 'as the traces lead' : isOwn(endRoot.source) ? 'the one you stated' : 'the one the file states'

/** Null for what this page does not verify. */
const kinds: Readonly<Record<Subject, typeof answer | null>> = { answer, traces, state, logs, message, call: null }

/** @throws DocumentError if the page does not verify it */
export function kindOf(subject: Subject) {
  const kind = kinds[subject]
  if (kind !== null) return kind
  const name = evidenceNames[subject as EvidenceName]
  throw new DocumentError(`This is ${name}: the command line verifies it, and this page does not.`)
}

/** Verifies the file with the published functions, and reports their verdict. */
export const judge = (file: OpenedFile, statement: Statement): Judgement => kindOf(file.subject).judge(file, statement)
