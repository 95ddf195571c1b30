import { beforeEach, expect, expectTypeOf, it } from 'vitest'
import {
  type EvidenceBundle,
  type L1Account,
  type L1Block,
  type L1Slot,
  lineaRollup,
  type ProvenBeaconBlock,
  verifyAnchor,
  verifyEthProof,
  verifyEvidence,
} from '../../src/entry/anchor.ts'
import { mainnetBeacon, trustBeaconBlock } from '../../src/entry/beacon.ts'
import type { BlockHeader } from '../../src/entry/blocks.ts'
import {
  type ArgumentError,
  type ErrorAction,
  type Hex,
  isArgumentError,
  isProofError,
  meaningOf,
  type ProofError,
  type ProofErrorCode,
  type ProvenSlot,
  safely,
  type VerifiedState,
  verifyProof,
} from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { isProviderError, type VerifiedCall } from '../../src/entry/provider.ts'
import { type FollowEvent, isEndpointError, type Recorded } from '../../src/entry/rpc.ts'

/**
 * What the compiler knows about results. `tsc` judges this file: nothing in it runs, except `it`. A line after
 * `@ts-expect-error` must not compile.
 */
const hex: Hex = '0x'
const claim = { scheme: poseidon2, stateRoot: hex, address: hex }
const bundleClaim = { scheme: poseidon2, rollup: lineaRollup, address: hex, l2BlockNumber: 8n } as const

// The compiler is what fails.
beforeEach(() => expect.soft(true).toBe(true))

it('knows how many slots there are', () => {
  const one = () => verifyProof({}, { ...claim, storageKeys: [hex] }).storage
  expectTypeOf(one).returns.toEqualTypeOf<[ProvenSlot]>()
  // @ts-expect-error one key was asked for
  const _second = () => one()[1]
  const [a, b] = [() => verifyProof({}, { ...claim, storageKeys: [hex, hex] }).storage, [hex] as Hex[]]
  expectTypeOf(a).returns.toEqualTypeOf<[ProvenSlot, ProvenSlot]>()
  const many = () => verifyProof({}, { ...claim, storageKeys: b }).storage
  expectTypeOf(many).returns.toEqualTypeOf<ProvenSlot[]>()
  // @ts-expect-error the slot may be missing
  const _value = () => many()[0].value
  const none = () => verifyProof({}, claim).storage
  // @ts-expect-error no key was asked for
  const _none = () => none()[0].value
  const l1 = () => verifyEthProof({}, { l1StateRoot: hex, address: hex, storageKeys: [hex, hex] }).storage
  expectTypeOf(l1).returns.toHaveProperty('length').toEqualTypeOf<2>()
  const ofBundle = () =>
    verifyEvidence({}, { ...bundleClaim, storageKeys: [hex], trusted: { l1BlockHash: hex } }).storage
  expectTypeOf(ofBundle).returns.toEqualTypeOf<[ProvenSlot]>()
  // @ts-expect-error one key was asked for
  const _ofBundle = () => ofBundle()[1]
})

it('narrows a slot by its existence', () => {
  const inspect = (slot: ProvenSlot) => {
    if (slot.exists) expectTypeOf(slot.leafIndex).toEqualTypeOf<number>()
    else expectTypeOf(slot.leafIndex).toEqualTypeOf<null>()
    // @ts-expect-error it has no leaf if it does not exist
    const _index: number = slot.leafIndex
  }
  expectTypeOf(inspect).toBeFunction()
  const l1 = (proof: unknown) => {
    const [slot] = verifyEthProof(proof, { l1StateRoot: hex, address: hex, storageKeys: [hex] }).storage
    expectTypeOf(slot.exists).toEqualTypeOf<boolean>()
  }
  expectTypeOf(l1).toBeFunction()
})

it('knows what a bundle proves from the kind of state', () => {
  const trusted = { l1BlockHash: hex }
  const asked = { ...bundleClaim, storageKeys: [hex], trusted } as const
  const hashed = () => verifyEvidence({}, { ...asked, scheme: 'ethereum' })
  expectTypeOf(hashed).returns.toHaveProperty('l2Block').toEqualTypeOf<BlockHeader>()
  expectTypeOf(hashed).returns.toHaveProperty('account').toEqualTypeOf<L1Account | null>()
  expectTypeOf(hashed).returns.toHaveProperty('storage').toEqualTypeOf<[L1Slot]>()
  // @ts-expect-error there is no leaf in an Ethereum state
  const _leaf = () => hashed().account?.leafIndex
  // @ts-expect-error L1 holds a state root: there is no header
  const _header = () => verifyEvidence({}, asked).l2Block
  const root = () => verifyEvidence({}, { ...asked, scheme: 'ethereum', trusted: { l2StateRoot: hex } })
  expectTypeOf(root).returns.toHaveProperty('l2Block').toEqualTypeOf<undefined>()
  // @ts-expect-error no such kind of state
  const _kind = () => verifyEvidence({}, { ...asked, scheme: 'poseidon2' })
})

it('knows what the contract holds if the claim says so', () => {
  const claim = { l1StateRoot: hex, rollup: lineaRollup, l2BlockNumber: 8n }
  const either = () => verifyAnchor({}, claim)
  expectTypeOf(either).returns.toHaveProperty('stateRoot').toEqualTypeOf<Hex | undefined>()
  const root = () => verifyAnchor({}, { ...claim, holds: 'stateRoot' })
  expectTypeOf(root).returns.toHaveProperty('stateRoot').toEqualTypeOf<Hex>()
  const hash = () => verifyAnchor({}, { ...claim, holds: 'blockHash' })
  expectTypeOf(hash).returns.toHaveProperty('blockHash').toEqualTypeOf<Hex>()
  const inspect = () => {
    const { stateRoot, blockHash } = either()
    if (stateRoot === undefined) expectTypeOf(blockHash).toEqualTypeOf<Hex>()
  }
  expectTypeOf(inspect).toBeFunction()
})

it('knows what a bundle proves from what is trusted', () => {
  const keys = { ...bundleClaim, storageKeys: 'fromBundle' } as const
  const fromHash = () => verifyEvidence({}, { ...keys, trusted: { l1BlockHash: hex } })
  expectTypeOf(fromHash).returns.toHaveProperty('l2BlockNumber').toEqualTypeOf<bigint>()
  expectTypeOf(fromHash).returns.toHaveProperty('storage').toEqualTypeOf<ProvenSlot[]>()
  expectTypeOf(fromHash).returns.toHaveProperty('l1Block').toEqualTypeOf<L1Block>()
  // @ts-expect-error an L1 block hash proves no beacon block
  const _signers = () => fromHash().beaconBlock.signers
  const fromBeacon = () =>
    verifyEvidence({}, { ...keys, trusted: trustBeaconBlock({ network: mainnetBeacon, blockRoot: hex }) })
  expectTypeOf(fromBeacon).returns.toHaveProperty('l1Block').toEqualTypeOf<L1Block>()
  expectTypeOf(fromBeacon).returns.toHaveProperty('beaconBlock').toEqualTypeOf<ProvenBeaconBlock>()
  const fromL1Root = () => verifyEvidence({}, { ...keys, trusted: { l1StateRoot: hex } })
  // @ts-expect-error an L1 state root proves no L1 block
  const _l1Block = () => fromL1Root().l1Block.number
  expectTypeOf(fromL1Root).returns.toHaveProperty('currentL2BlockNumber').toEqualTypeOf<bigint | undefined>()
  const fromRoot = () => verifyEvidence({}, { ...keys, l2BlockNumber: 'fromBundle', trusted: { l2StateRoot: hex } })
  // @ts-expect-error nothing proves the block
  const _unproven: () => bigint = () => fromRoot().l2BlockNumber
})

it('narrows a call by its outcome', () => {
  const inspect = (call: VerifiedCall) => {
    if (call.outcome === 'returned') expectTypeOf(call.returnData).toEqualTypeOf<Hex>()
    else if (call.outcome === 'reverted') expectTypeOf(call.revertData).toEqualTypeOf<Hex>()
    else expectTypeOf(call.outcome).toEqualTypeOf<'failed'>()
    // @ts-expect-error a call may have failed
    const _data: Hex = call.returnData
  }
  expectTypeOf(inspect).toBeFunction()
})

it('narrows an event by its name', () => {
  const inspect = (event: FollowEvent) => {
    if (event.name === 'follow.retry') {
      expectTypeOf(event.attributes['retry.delay']).toEqualTypeOf<number>()
      // @ts-expect-error it is not about a block
      const _block = event.attributes['l2.block.number']
    }
    // @ts-expect-error not every event has an error
    const _code = event.error.code
  }
  expectTypeOf(inspect).toBeFunction()
})

it('narrows a recording by the kind of its state', () => {
  const inspect = (recorded: Recorded<[Hex]>) => {
    // What both have needs no distinction.
    expectTypeOf(recorded.verified.account?.balance).toEqualTypeOf<bigint | undefined>()
    expectTypeOf(recorded.verified.storage[0].value).toEqualTypeOf<Hex>()
    expectTypeOf(recorded.verified.l1Block.hash).toEqualTypeOf<Hex>()
    if (recorded.scheme === 'ethereum') {
      expectTypeOf(recorded.bundle.version).toEqualTypeOf<1>()
      expectTypeOf(recorded.verified.l2Block.timestamp).toEqualTypeOf<bigint>()
    } else {
      expectTypeOf(recorded.bundle).toEqualTypeOf<EvidenceBundle>()
      expectTypeOf(recorded.verified.account?.leafIndex).toEqualTypeOf<number | undefined>()
    }
  }
  expectTypeOf(inspect).toBeFunction()
})

it('narrows an outcome', () => {
  const outcome = safely(() => verifyProof({}, claim))
  if (outcome.ok) expectTypeOf(outcome.value).toExtend<VerifiedState>()
  else expectTypeOf(outcome.error).toEqualTypeOf<ProofError | ArgumentError>()
  // @ts-expect-error it may have been refused
  const _value = outcome.value
  const later = () => safely(async () => 5n)
  expectTypeOf(later).returns.resolves.toHaveProperty('ok').toEqualTypeOf<boolean>()
})

it('knows all codes', () => {
  const say = (error: unknown): string => {
    if (isProofError(error)) {
      expectTypeOf(error.code).toEqualTypeOf<ProofErrorCode>()
      // @ts-expect-error there is no such code
      if (error.code === 'BAD_HEXADECIMAL') return ''
      return meaningOf(error.code)
    }
    if (isArgumentError(error)) expectTypeOf(error.action).toEqualTypeOf<'fix'>()
    if (isEndpointError(error)) expectTypeOf(error.action).toEqualTypeOf<ErrorAction>()
    if (isProviderError(error)) expectTypeOf(error.reason).toExtend<string>()
    return ''
  }
  expectTypeOf(say).returns.toEqualTypeOf<string>()
})
