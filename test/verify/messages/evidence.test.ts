import { readFileSync } from 'node:fs'
import { expect, expectTypeOf, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import type { L1Block, ProvenBeaconBlock } from '../../../src/entry/anchor.ts'
import { verifyEvidence } from '../../../src/entry/anchor.ts'
import type { TrustedBeaconBlock } from '../../../src/entry/beacon.ts'
import { trustBeaconBlock } from '../../../src/entry/beacon.ts'
import { type Hex, isProofError } from '../../../src/entry/index.ts'
import {
  createMessageBundle,
  encodeMessageClaim,
  hashMessage,
  type Message,
  type MessageEvidenceClaim,
  type MessageProof,
  messageEvidence,
  type VerifiedMessage,
} from '../../../src/entry/messages.ts'
import type { TrustedL1 } from '../../../src/verify/evidence/kinds/message.ts'
import { createTraps } from '../../traps.ts'
import { refusalOf, spell } from '../blocks/helpers.ts'
import { changedAt, placesOf } from '../evidence/places.ts'

const verifyMessageEvidence = <Trust extends TrustedL1>(
  bundle: unknown,
  claim: Omit<MessageEvidenceClaim<Trust>, 'kind'>,
): VerifiedMessage<Trust> =>
  // The compiler cannot tell the kind of a claim whose type is open.
  verifyEvidence(bundle, { kind: messageEvidence, ...claim } as MessageEvidenceClaim) as VerifiedMessage<Trust>

const read = (name: string) => {
  const { input, claim } = JSON.parse(readFileSync(`vectors/messages/valid/evidence-${name}.json`, 'utf8'))
  const { fee, value, number, ...rest } = claim.message
  const message: Message = { ...rest, fee: BigInt(fee), value: BigInt(value), number: BigInt(number) }
  return { bundle: input, claim: { ...claim, message } }
}

it('never accepts another statement from a bundle that is changed anywhere', () => {
  const changes: ((part: unknown) => unknown)[] = [
    part => (typeof part === 'string' ? `${part.slice(0, -1)}${part.endsWith('1') ? '2' : '1'}` : Number(part) + 1),
    ...[undefined, null, [], {}, 7, '0x', '', '0x0'].map(other => () => other),
  ]
  const counts = { refused: 0, same: 0 }
  for (const name of ['from-l2', 'to-l2']) {
    const { bundle, claim } = read(name)
    // Whoever makes the bundle may choose the message. Then nothing but its parts must bind it.
    for (const message of [claim.message, 'fromBundle']) {
      const honest = spell(verifyMessageEvidence(bundle, { ...claim, message }))
      for (const path of placesOf(bundle)) {
        for (const change of changes) {
          try {
            // Accepted changes: the label, convenience fields, and other spellings of the same value.
            const verified = verifyMessageEvidence(changedAt(bundle, path, change), { ...claim, message })
            expect(spell(verified), path.join('.')).toEqual(honest)
            counts.same++
          } catch (error) {
            expect(isProofError(error), `${path.join('.')}: ${error}`).toBe(true)
            counts.refused++
          }
        }
      }
    }
  }
  expect(counts.refused).toBeGreaterThan(1000)
  expect(counts.same).toBeGreaterThan(10)
  expect(counts.refused).toBeGreaterThan(counts.same * 10)
})

it('names the place of what it refuses', () => {
  const { bundle, claim } = read('from-l2')
  const at = (...path: string[]) =>
    refusalOf(() =>
      verifyMessageEvidence(
        changedAt(bundle, path, () => '0x0'),
        claim,
      ),
    )
  expect(at('message', 'value')).toBe('MESSAGE_MISMATCH message')
  expect(at('message', 'from')).toMatch(/ message\.from$/)
  expect(at('messageProof', 'proof', '2')).toMatch(/ messageProof\.proof\[2\]$/)
  expect(at('l1', 'header')).toMatch(/ l1\.header$/)
  const { proof: _, ...l1 } = bundle.l1
  expect(refusalOf(() => verifyMessageEvidence({ ...bundle, l1 }, claim))).toBe('EVIDENCE_L1_MISSING l1.proof')
  expect(at('l1', 'proof', 'storageProof', '1', 'key')).toMatch(/ l1\.proof\.storageProof\[1\]\.key$/)
})

it('takes the hash of a message in its place', () => {
  const { bundle, claim } = read('from-l2')
  const message = hashMessage(claim.message)
  expect(verifyMessageEvidence(bundle, { ...claim, message })).toEqual(verifyMessageEvidence(bundle, claim))
  const other = hashMessage({ ...claim.message, fee: 1n })
  expect(refusalOf(() => verifyMessageEvidence(bundle, { ...claim, message: other }))).toBe('MESSAGE_MISMATCH message')
  const short = message.slice(0, -2) as Hex
  expect(() => verifyMessageEvidence(bundle, { ...claim, message: short })).toThrow('ARGUMENT_INVALID at message')
})

it('keeps only known fields of the answers, and what was stated', () => {
  const { bundle, claim } = read('from-l2')
  const { rollup, message } = claim
  const { accountProof, storageProof } = bundle.l1.proof
  const noisy = { url: 'https://endpoint.example/secret', accountProof, storageProof, nonce: 'secret' }
  const messageProof: MessageProof = bundle.messageProof
  const made = createMessageBundle({ rollup, message, messageProof, l1: { proof: noisy } })
  expect(JSON.stringify(made)).not.toContain('secret')
  const { header: _, ...l1 } = bundle.l1
  expect(made).toMatchObject({ ...bundle, l1: { proof: { accountProof: l1.proof.accountProof } } })
  expect(made.l1.header).toBeUndefined()
  expect(Object.keys(made.rollup)).toEqual(['address'])
  const named = createMessageBundle({ rollup: { ...rollup, name: 'devnet' }, message, l1: { proof: noisy } })
  expect([named.rollup.name, named.messageProof]).toEqual(['devnet', undefined])
  const beacon = read('from-beacon-block')
  const consensus = { ...beacon.bundle.consensus, url: undefined }
  expect(() => createMessageBundle({ rollup, message, consensus, l1: { proof: noisy } })).toThrow('consensus.url')
  const { url: __, ...answers } = consensus
  expect(createMessageBundle({ rollup, message, consensus: answers, l1: { proof: noisy } }).consensus).toEqual(answers)
  // A message that is not in the tree is not put there.
  expect(refusalOf(() => createMessageBundle({ rollup, message: { ...message, fee: 1n }, messageProof, l1 }))).toBe(
    'MESSAGE_ROOT_MISMATCH messageProof',
  )
})

it('takes data of a megabyte, and no more', () => {
  const { bundle, claim } = read('to-l2')
  const withData = (length: number) => ({
    ...{ ...bundle, message: { ...bundle.message, data: bytesToHex(new Uint8Array(length)) } },
  })
  const verify = (length: number) =>
    refusalOf(() => verifyMessageEvidence(withData(length), { ...claim, message: 'fromBundle' }))
  expect(verify(2 ** 20)).toBe('MESSAGE_ROLLING_HASH_MISMATCH l1.proof.storageProof[1]')
  expect(verify(2 ** 20 + 1)).toBe('EVIDENCE_MALFORMED message.data')
})

it('leads to the claim', () => {
  const { bundle, claim } = read('from-l2')
  const verified = verifyMessageEvidence(bundle, { ...claim, message: 'fromBundle' })
  if (verified.messageProof === undefined) throw new Error('a message to L2')
  const { message, messageProof } = verified
  const stated = { message: claim.message, messageProof: bundle.messageProof }
  expect(encodeMessageClaim({ message, messageProof })).toBe(encodeMessageClaim(stated))
})

it('tells the directions and the trusted inputs apart', () => {
  const { bundle, claim } = read('from-beacon-block')
  const { beaconBlockRoot: blockRoot, network } = claim.trusted
  const trusted: TrustedBeaconBlock = trustBeaconBlock({ network, blockRoot })
  const { rollup, message } = claim
  const verified = verifyMessageEvidence(bundle, { rollup, trusted, message: message as Message })
  expectTypeOf(verified.l1Block).toEqualTypeOf<L1Block>()
  expectTypeOf(verified.beaconBlock).toEqualTypeOf<ProvenBeaconBlock>()
  expect(verified.beaconBlock.trustedBlockRoot).toBe(blockRoot)
  if (verified.status === 'sent') expectTypeOf(verified.messageProof).toEqualTypeOf<undefined>()
  if (verified.status === 'claimable') expectTypeOf(verified.messageProof).toEqualTypeOf<MessageProof>()
  const state = { l1StateRoot: verified.l1Block.stateRoot }
  const fromState = verifyMessageEvidence(bundle, { rollup, trusted: state, message: 'fromBundle' })
  expectTypeOf(fromState.l1Block).toEqualTypeOf<undefined>()
  expect([fromState.l1Block, fromState.beaconBlock, fromState.status]).toEqual([undefined, undefined, 'sent'])
})

it('throws only its own errors, whatever getters and proxies throw', () => {
  const { bundle, claim } = read('from-l2')
  const { hostile, sprung } = createTraps()
  for (const path of placesOf(bundle)) {
    const changed = changedAt(bundle, path, () => hostile)
    expect(
      refusalOf(() => verifyMessageEvidence(changed, claim)),
      path.join('.'),
    ).toMatch(/^[A-Z]\w+( |$)/)
  }
  expect(sprung()).toBeGreaterThan(5)
})
