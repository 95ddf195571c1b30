import type { Scheme } from '../../src/entry/index.ts'
import { mappingSlot } from '../../src/verify/anchor/contract.ts'
import { makeConsensus } from './consensus.ts'
import { implementation, makeEthereum, TIMESTAMP } from './ethereum.ts'
import { makeFinalized, type Numbers, stated } from './finalized.ts'
import { createL1, named } from './l1.ts'
import {
  absent,
  address,
  BLOCK,
  CURRENT,
  type LooseBundle,
  makeTruth,
  present,
  rollup,
  rootSlot,
  value,
} from './truth.ts'
import type { Accepted, VectorClaim, VectorInput } from './vector.ts'

const ZERO = `0x${'00'.repeat(32)}` as const

/** A bundle that must be accepted, before it becomes a file. */
interface ValidRow {
  name: string
  description: string
  claim: Partial<VectorClaim>
  bundle: LooseBundle
  /** Differences from what the first bundle proves. */
  expected?: Partial<Accepted>
}

/** A valid case, before it becomes a file. */
export interface ValidCase {
  name: string
  description: string
  input: VectorInput
  expected: Accepted
}

export async function validCases(scheme: Scheme): Promise<ValidCase[]> {
  const truth = await makeTruth(scheme)
  const { bundleOf, proof, blockHash, stateRoot, l1, judge } = truth
  const storageKeys = [present, absent]
  const accepted: Accepted = {
    valid: true,
    trustedInput: 'l1BlockHash',
    address,
    stateRoot,
    l2BlockNumber: `0x${BLOCK.toString(16)}`,
    currentL2BlockNumber: `0x${CURRENT.toString(16)}`,
    l1Block: { number: '0x16e3600', timestamp: '0x69000000', hash: blockHash, stateRoot: l1.stateRoot },
    account: { nonce: '0x3', balance: '0x5' },
    storage: [
      { key: present, value, exists: true, leafIndex: 2 },
      { key: absent, value: ZERO, exists: false, leafIndex: null },
    ],
  }
  const bundle = bundleOf(storageKeys, address, proof)
  const { l1: _, ...withoutL1 } = bundle
  const trusted = { l1BlockHash: blockHash }
  const all = { l2BlockNumber: `0x${BLOCK.toString(16)}`, address, storageKeys } as const
  const fromL2Root = { trustedInput: 'l2StateRoot', l1Block: undefined, currentL2BlockNumber: undefined }
  const bare = {
    accountProof: proof.accountProof,
    storageProof: proof.storageProof.map(({ key, proof }) => ({ key, proof })),
  }
  const stranger = named('nobody', 20)
  const movedRoot = BigInt(mappingSlot({ slot: 5n, keys: [BLOCK] }))
  const moved = await createL1(
    rollup.address,
    new Map([
      [7n, CURRENT],
      [movedRoot, BigInt(stateRoot)],
    ]),
  )
  const movedProof = await moved.getProof(rollup.address, [movedRoot, 7n])

  /** A bundle from an L1 whose contract keeps these numbers for its newest finalization. */
  const timed = async (name: string, description: string, numbers: Numbers, current = BLOCK): Promise<ValidRow> => {
    const { header, blockHash, stateRoot, prove } = await makeFinalized(truth, numbers, current)
    return {
      name,
      description,
      claim: { trusted: { l1BlockHash: blockHash }, ...all },
      bundle: { ...bundle, l1: { header, proof: await prove(), finalizedState: stated(numbers) } },
      expected: {
        currentL2BlockNumber: `0x${current.toString(16)}`,
        finalizedTimestamp: current === BLOCK ? `0x${numbers.timestamp.toString(16)}` : undefined,
        l1Block: { number: '0x16e3600', timestamp: '0x69000000', hash: blockHash, stateRoot },
      },
    }
  }
  const timestamp = 0x68ffff00n

  const fromBeacon = (name: string, description: string, validators?: number): ValidRow => {
    const { consensus, trusted, beaconBlock } = makeConsensus(blockHash, validators)
    return {
      ...{ name, description, claim: { trusted, ...all }, bundle: { ...bundle, consensus } },
      expected: { trustedInput: 'beaconBlockRoot', beaconBlock },
    }
  }

  const rows: ValidRow[] = [
    // For one scheme only, because a committee takes 50 kB.
    ...(scheme.name === 'poseidon2'
      ? [
          fromBeacon(
            'beacon-repeated-validators',
            'The same, by a committee drawn from sixteen validators: each of them signs for many members.',
            16,
          ),
          fromBeacon('beacon-block-root', 'From a beacon block root: a committee signs for the L1 block.'),
        ]
      : []),
    {
      name: 'block-hash',
      description: 'From an L1 block hash, with everything stated.',
      claim: { trusted, ...all },
      bundle,
    },
    {
      name: 'nothing-stated',
      description: 'Block, address and keys are left to the bundle.',
      claim: { trusted },
      bundle,
    },
    {
      name: 'state-root',
      description: 'From an L1 state root; no header.',
      claim: { trusted: { l1StateRoot: l1.stateRoot }, ...all },
      bundle: { ...bundle, l1: { proof } },
      expected: { trustedInput: 'l1StateRoot', l1Block: undefined },
    },
    {
      name: 'l2-root',
      description: 'From an L2 state root; no L1 part.',
      claim: { trusted: { l2StateRoot: stateRoot }, ...all },
      bundle: withoutL1,
      expected: fromL2Root,
    },
    {
      name: 'l2-root-nothing-stated',
      description: 'From an L2 state root: the block that the bundle names is not proven, and not returned.',
      claim: { trusted: { l2StateRoot: stateRoot } },
      bundle,
      expected: { ...fromL2Root, l2BlockNumber: undefined },
    },
    {
      name: 'root-alone',
      description: 'Without currentL2BlockNumber.',
      claim: { trusted, ...all },
      bundle: bundleOf(storageKeys, address, { ...proof, storageProof: proof.storageProof.slice(0, 1) }),
      expected: { currentL2BlockNumber: undefined },
    },
    {
      name: 'nothing-beside',
      description: 'Without the convenience fields.',
      claim: { trusted, ...all },
      bundle: bundleOf(storageKeys, address, bare),
    },
    {
      name: 'absent-account',
      description: 'An account that does not exist.',
      claim: { trusted, address: stranger },
      bundle: bundleOf([absent], stranger, proof),
      expected: {
        address: stranger,
        account: null,
        storage: [{ key: absent, value: ZERO, exists: false, leafIndex: null }],
      },
    },
    {
      name: 'own-layout',
      description: 'A contract with another storage layout.',
      claim: {
        rollup: { ...rollup, layout: { stateRootHashes: '0x5', currentL2BlockNumber: '0x7' } },
        trusted: { l1StateRoot: moved.stateRoot },
      },
      bundle: { ...bundleOf(storageKeys, address, movedProof), l1: { proof: movedProof } },
      expected: { trustedInput: 'l1StateRoot', l1Block: undefined },
    },
    await timed('timestamp', 'With the timestamp of the newest finalization.', { message: 12n, forced: 3n, timestamp }),
    await timed('timestamp-three-words', 'The same of a contract before version 8.', { message: 12n, timestamp }),
    await timed('timestamp-no-messages', 'No message and no forced transaction yet: neither has a rolling hash.', {
      message: 0n,
      forced: 0n,
      timestamp,
    }),
    await timed(
      'timestamp-of-older-block',
      'The numbers are right, and of a later block: they prove no timestamp of this one.',
      { message: 12n, forced: 3n, timestamp },
      CURRENT,
    ),
  ]
  return rows.map(({ name, description, claim, bundle, expected }) => ({
    name: `${scheme.name}-${name}`,
    description,
    input: judge(bundle, claim),
    expected: { ...accepted, ...expected },
  }))
}

/** Bundles of a rollup whose state is that of Ethereum. */
export async function validEthereumCases(): Promise<ValidCase[]> {
  const { l1, l2Block, blockHash, l1BlockHash, proof, bundleOf, judge, anchoredIn } = await makeEthereum()
  const storageKeys = [present, absent]
  const all = { l2BlockNumber: `0x${BLOCK.toString(16)}`, address, storageKeys } as const
  const bundle = await bundleOf(storageKeys, address, proof)
  const accepted: Accepted = {
    valid: true,
    trustedInput: 'l1BlockHash',
    address,
    stateRoot: l2Block.stateRoot,
    l2BlockNumber: `0x${BLOCK.toString(16)}`,
    currentL2BlockNumber: `0x${CURRENT.toString(16)}`,
    finalizedTimestamp: TIMESTAMP,
    implementation,
    l1Block: { number: '0x16e3600', timestamp: '0x69000000', hash: l1BlockHash, stateRoot: l1.stateRoot },
    l2Block: { hash: blockHash, ...l2Block },
    account: { nonce: '0x1', balance: '0x0' },
    storage: [
      { key: present, value, exists: true },
      { key: absent, value: ZERO, exists: false },
    ],
  }
  const fromL1Root = { trustedInput: 'l1StateRoot', l1Block: undefined }
  const row = (
    name: string,
    description: string,
    claim: Partial<VectorClaim>,
    expected: Partial<Accepted> = {},
    given: LooseBundle = bundle,
  ): ValidCase => ({
    name: `ethereum-${name}`,
    description,
    input: judge(given, claim),
    expected: { ...accepted, ...expected },
  })
  const { l1: _, l2Header: __, ...withoutL1 } = bundle
  const stranger = named('nobody', 20)
  const both = await anchoredIn(bundle, [[rootSlot(BLOCK), BigInt(named('root'))]])
  const short = { ...proof, storageProof: proof.storageProof.slice(0, -1) }
  return [
    row('block-hash', 'From an L1 block hash, with everything stated.', all),
    row('nothing-stated', 'Block, address and keys are left to the bundle.', {}),
    row(
      'state-root',
      'From an L1 state root; no L1 header.',
      { ...all, trusted: { l1StateRoot: l1.stateRoot } },
      fromL1Root,
      {
        ...bundle,
        l1: { proof },
      },
    ),
    row(
      'l2-root',
      'From an L2 state root; no L1 part and no L2 header.',
      { ...all, trusted: { l2StateRoot: l2Block.stateRoot } },
      {
        ...{ trustedInput: 'l2StateRoot', l1Block: undefined, l2Block: undefined, implementation: undefined },
        ...{ currentL2BlockNumber: undefined, finalizedTimestamp: undefined },
      },
      withoutL1,
    ),
    row(
      'absent-account',
      'An account that does not exist.',
      { address: stranger },
      { address: stranger, account: null, storage: [{ key: absent, value: ZERO, exists: false }] },
      await bundleOf([absent], stranger, proof),
    ),
    row('pinned', 'The caller states the code behind the proxy.', { ...all, rollup: { ...rollup, implementation } }),
    row(
      'implementation-unproven',
      'The code behind the proxy is neither stated nor proven.',
      all,
      { implementation: undefined },
      {
        ...bundle,
        l1: { ...bundle.l1, proof: short },
      },
    ),
    row(
      'both-held',
      'The contract holds a state root, too: the claim decides.',
      { ...all, trusted: both.trusted },
      fromL1Root,
      both.bundle,
    ),
  ]
}
