import { expect, expectTypeOf, it } from 'vitest'
import {
  type BundleParts,
  createBundle,
  type EthProofClaim,
  type EvidenceBundle,
  type EvidenceClaim,
  type L1Block,
  type ProvenBeaconBlock,
  type Trusted,
  type TrustedBeaconBlock,
  type VerifiedEthProof,
  type VerifiedEvidence,
  verifyEthProof,
  verifyEvidence,
} from '../../src/anchor.ts'
import { type BeaconLightClient, trustBeaconBlock } from '../../src/beacon.ts'
import type { Hex, ProvenSlot } from '../../src/index.ts'
import { readValid, trustedIn } from '../beacon/vectors.ts'
import { find } from './bundles.ts'

/** What the compiler knows of a result, beside that the program runs. */

const { bundle, claim } = find('block-hash')
const { scheme, rollup } = claim
const [first, second] = bundle.request.storageKeys as [Hex, Hex]
const { address } = bundle.request
const l1BlockHash = Reflect.get(claim.trusted, 'l1BlockHash')
const known = { scheme, rollup, l2BlockNumber: 436n, address }

it('knows the block of L1 from what is trusted, and the slots from the keys', () => {
  const verified = verifyEvidence(bundle, { ...known, trusted: { l1BlockHash }, storageKeys: [first, second] })
  expectTypeOf(verified.trustedInput).toEqualTypeOf<'l1BlockHash'>()
  expectTypeOf(verified.l1Block).toEqualTypeOf<L1Block>()
  expectTypeOf(verified.l2BlockNumber).toEqualTypeOf<bigint>()
  expectTypeOf(verified.finalizedTimestamp).toEqualTypeOf<bigint | undefined>()
  expectTypeOf(verified.storage).toEqualTypeOf<[ProvenSlot, ProvenSlot]>()
  // @ts-expect-error: there is no third key
  expect(verified.storage[2]).toBe(undefined)
  const [present] = verified.storage
  if (present.exists) expectTypeOf(present.leafIndex).toEqualTypeOf<number>()
  expect(verified.l1Block.number).toBe(24_000_000n)

  const some: readonly Hex[] = [first, second]
  const { storage } = verifyEvidence(bundle, { ...known, trusted: { l1BlockHash }, storageKeys: some })
  expectTypeOf(storage[0]).toEqualTypeOf<ProvenSlot | undefined>()
  const left = verifyEvidence(bundle, { ...known, trusted: { l1BlockHash }, storageKeys: 'fromBundle' })
  expectTypeOf(left.storage[0]).toEqualTypeOf<ProvenSlot | undefined>()
  expect(left.storage).toEqual(verified.storage)
})

it('knows what no L2 state root proves', () => {
  const { stateRoot: l2StateRoot } = verifyEvidence(bundle, claim)
  const stated = { ...known, trusted: { l2StateRoot }, storageKeys: [first, second] } as const
  const verified = verifyEvidence(bundle, stated)
  expectTypeOf(verified.l2BlockNumber).toEqualTypeOf<bigint>()
  expectTypeOf(verified.l1Block).toEqualTypeOf<undefined>()
  expectTypeOf(verified.storage).toEqualTypeOf<[ProvenSlot, ProvenSlot]>()
  const unstated = verifyEvidence(bundle, { ...stated, l2BlockNumber: 'fromBundle' })
  expectTypeOf(unstated.l2BlockNumber).toEqualTypeOf<undefined>()
  expect([verified.l2BlockNumber, unstated.l2BlockNumber]).toEqual([436n, undefined])
})

it('narrows by the trusted input where the compiler does not know it', () => {
  const verified = verifyEvidence(bundle, claim)
  expectTypeOf(verified).toEqualTypeOf<VerifiedEvidence>()
  expectTypeOf(verified.l1Block).toEqualTypeOf<L1Block | undefined>()
  if (verified.trustedInput === 'beaconBlockRoot') {
    expectTypeOf(verified.beaconBlock).toEqualTypeOf<ProvenBeaconBlock>()
  }
  if (verified.trustedInput === 'l1BlockHash') expectTypeOf(verified.l1Block).toEqualTypeOf<L1Block>()
  expect(verified.trustedInput).toBe('l1BlockHash')
  expectTypeOf<VerifiedEvidence<TrustedBeaconBlock>['beaconBlock']>().toEqualTypeOf<ProvenBeaconBlock>()
  expectTypeOf<VerifiedEvidence<{ l1StateRoot: Hex }>['l1Block']>().toEqualTypeOf<undefined>()
  expectTypeOf<EvidenceClaim['trusted']>().toEqualTypeOf<Trusted>()
  const { lightClient } = trustBeaconBlock(trustedIn(readValid('fulu').input))
  expectTypeOf(lightClient).toEqualTypeOf<BeaconLightClient>()
})

it('knows the slots of an eth_getProof answer from the keys', () => {
  const { proof } = bundle.l1 ?? {}
  const { storageProof } = proof as { storageProof: { key: string }[] }
  const [root, current] = storageProof.map(({ key }): Hex => `0x${key.slice(2).padStart(64, '0')}`) as [Hex, Hex]
  const { l1Block } = verifyEvidence(bundle, { ...known, trusted: { l1BlockHash }, storageKeys: 'fromBundle' })
  const asked = { l1StateRoot: l1Block.stateRoot, address: rollup.address }
  const [slot] = verifyEthProof(proof, { ...asked, storageKeys: [root, current] }).storage
  if (!slot.exists) throw new Error('absent')
  expectTypeOf(slot.exists).toEqualTypeOf<true>()
  expectTypeOf<VerifiedEthProof<readonly [Hex]>['storage']['length']>().toEqualTypeOf<1>()
  expectTypeOf<EthProofClaim['storageKeys']>().toEqualTypeOf<readonly Hex[] | undefined>()
  expect(slot.value).toBe(verifyEvidence(bundle, claim).stateRoot)
})

it('does not compile what is misspelt, missing or of another type', () => {
  const trusted = { l1BlockHash }
  const wrong = [
    // @ts-expect-error: a misspelt field, and a missing one
    () => verifyEvidence(bundle, { scheme, rollup, trusted, l2BlockNumber: 436n, adress: address, storageKeys: [] }),
    // @ts-expect-error: no storage keys
    () => verifyEvidence(bundle, { ...known, trusted }),
    // @ts-expect-error: keys of the bundle, misspelt
    () => verifyEvidence(bundle, { ...known, trusted, storageKeys: 'frombundle' }),
    // @ts-expect-error: a number
    () => verifyEvidence(bundle, { ...known, trusted, storageKeys: [], l2BlockNumber: 436 }),
    // @ts-expect-error: not a trusted input
    () => verifyEvidence(bundle, { ...known, trusted: { l1Blockhash: l1BlockHash }, storageKeys: [] }),
    // @ts-expect-error: no block root
    () => trustBeaconBlock({ network: readValid('fulu').input.network }),
    // @ts-expect-error: no answer
    () => createBundle({ ...known, storageKeys: [] }),
    // @ts-expect-error: no proof
    () => createBundle({ ...known, answer: bundle.answer, l1: { block: {} } } satisfies BundleParts),
    // @ts-expect-error: the root of another state
    () => verifyEthProof({}, { stateRoot: l1BlockHash, address }),
  ]
  for (const work of wrong) expect(work).toThrow('ARGUMENT_INVALID')
  // @ts-expect-error: a bundle of a call
  expectTypeOf<{ kind: 'call' }>().toExtend<Pick<EvidenceBundle, 'kind'>>()
  expect(wrong.length).toBe(9)
})
