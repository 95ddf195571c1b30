import { rollupNamed } from '../cli/words/evidence.ts'
import { hasFields } from '../cli/words/value.ts'
import type { Row } from '../cli/words/wording.ts'
import { verifyEvidence } from '../entry/anchor.ts'
import {
  encodeMessageClaim,
  type MessageEvidenceClaim,
  messageEvidence,
  type VerifiedMessage,
} from '../entry/messages.ts'
import { drawMessage } from './chain.ts'
import { failedProof, MISASKED, UNCHECKED, watch } from './checks.ts'
import { rollupOf, trustedOf } from './inputs.ts'
import type { OpenedFile } from './opened-file.ts'
import {
  established,
  type Judgement,
  refused,
  reportOf,
  rowOf,
  type Said,
  type Station,
  withoutProofs,
} from './report.ts'
import type { Statement } from './statement.ts'
import { amount, premiseSources } from './wording.ts'

const headlines: Readonly<Record<VerifiedMessage['status'], string>> = {
  claimable: 'This message from L2 can be claimed on L1.',
  claimed: 'This message from L2 has been claimed on L1.',
  notAnchored: 'L1 does not know this message from L2 yet, at this block.',
  sent: 'L1 has sent this message to L2.',
  notSent: 'L1 has given this number to no message yet, at this block.',
  unknown: 'L1 gave this number away before it kept rolling hashes: nothing shows to which message.',
}

const statusWords: Readonly<Record<VerifiedMessage['status'], string>> = {
  ...{ claimable: 'can be claimed', claimed: 'claimed', notAnchored: 'not anchored yet' },
  ...{ sent: 'sent', notSent: 'not sent yet', unknown: 'not known' },
}

/** @param said why nothing is verified; null if everything is stated */
export function judgeMessage(file: OpenedFile, statement: Statement, said: Said | null): Judgement {
  const { bundle } = file
  const isFromL2 = hasFields(bundle, 'messageProof')
  const subject = { file, statement, isFromL2 }
  if (said !== null) return judgementOf(subject, said, { checked: said.inputErrors?.length ? MISASKED : UNCHECKED })
  const { value: message } = statement.message
  const claim = {
    kind: messageEvidence,
    ...{ rollup: rollupOf(statement), trusted: trustedOf(file, statement) },
    message: message === '' ? 'fromBundle' : message,
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
  } as MessageEvidenceClaim
  const { outcome, checked } = watch(file, () => verifyEvidence(bundle, claim))
  if (!outcome.ok) {
    const { error } = outcome
    return judgementOf(subject, refused(error), { checked, error })
  }
  const proven = outcome.value
  const { rollup, message: hash } = statement
  const parts = { ...premiseSources(statement), message: hash.value === '' ? 'bundle' : hash.source } as const
  const notes =
    hash.value === '' ? ['Whoever made the bundle chose the message: check that it is the one you mean.'] : []
  const isKnown = rollupNamed(rollup.value) !== undefined
  return judgementOf(
    subject,
    {
      ...established(statement, parts, headlines[proven.status], proven),
      ...{ notes, facts: factsOf(proven, isKnown ? claim.rollup.address : rollup.value), way: wayOf(proven) },
    },
    { checked, proven },
  )
}

interface Subject {
  readonly file: OpenedFile
  readonly statement: Statement
  readonly isFromL2: boolean
}

type Finding = Pick<Judgement, 'checked'> & Partial<Pick<Judgement, 'error'>> & { readonly proven?: VerifiedMessage }

function judgementOf({ file, statement, isFromL2 }: Subject, said: Said, finding: Finding): Judgement {
  const { checked, error = null, proven } = finding
  const { l1Block, beaconBlock, implementation } = proven ?? {}
  const boxes = drawMessage({
    ...{ statement, checked, isFromL2, l1Block, beaconBlock },
    root: proven?.messageProof?.root ?? '',
    messageHash: proven?.messageHash ?? '',
    status: proven ? statusWords[proven.status] : '',
    rows: implementation === undefined ? [] : [['Code behind the proxy', implementation]],
  })
  const report = reportOf(file, { boxes, shown: failedProof(checked), ...said })
  return withoutProofs({ report, checked, error })
}

function factsOf(proven: VerifiedMessage, contract: string): Row[] {
  const { message, messageHash, status, messageProof } = proven
  return [
    rowOf('From', message.from),
    rowOf('To', message.to),
    rowOf('Value', amount(message.value)),
    rowOf('Fee', amount(message.fee)),
    rowOf('Number', `${message.number}`),
    rowOf('Data', message.data),
    rowOf('Hash', messageHash),
    // In full: it is for the clipboard.
    ...(status === 'claimable'
      ? [
          [
            'Claim it with',
            encodeMessageClaim({ message, messageProof }),
            `data of a transaction to ${contract}`,
          ] as const,
        ]
      : []),
  ]
}

function wayOf(proven: VerifiedMessage): Station[] {
  const { status, message, messageProof, l1Block } = proven
  const at = l1Block === undefined ? '' : `, at L1 block ${l1Block.number}`
  if (messageProof === undefined) {
    const isSent = status === 'sent'
    const state = isSent ? 'done' : status === 'unknown' ? 'unknown' : 'next'
    return [
      { title: 'Sent on L1', state, note: isSent ? `as number ${message.number}${at}` : statusWords[status] },
      { title: 'Received on L2', state: 'unknown', note: 'a proof of the message service on L2 shows it' },
      { title: 'Claimed on L2', state: 'unknown', note: 'the same proof shows it' },
    ]
  }
  const isAnchored = status !== 'notAnchored'
  const { leafIndex, proof } = messageProof
  return [
    // The L2 contract alone puts messages in trees.
    { title: 'Sent on L2', state: isAnchored ? 'done' : 'unknown', note: `as number ${message.number}` },
    { title: 'In a tree', state: 'done', note: `leaf ${leafIndex} of ${2 ** proof.length}` },
    { title: 'Root on L1', state: isAnchored ? 'done' : 'next', note: isAnchored ? `anchored${at}` : 'not there yet' },
    {
      title: 'Claimed on L1',
      state: status === 'claimed' ? 'done' : 'next',
      note: status === 'claimed' ? 'done' : isAnchored ? 'it can be claimed now' : 'once the root is there',
    },
  ]
}
