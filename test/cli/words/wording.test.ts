import { expect, it } from 'vitest'
import { partsOf } from '../../../src/cli/kinds/evidence.ts'
import { readInputFile } from '../../../src/cli/words/input-file.ts'
import {
  accountRows,
  ageOf,
  capitalized,
  chainRows,
  formatAge,
  formatTime,
  notesOn,
  timeRow,
  toEther,
} from '../../../src/cli/words/wording.ts'
import { type VerifiedEvidence, verifyEvidence } from '../../../src/entry/anchor.ts'
import { safely, verifyProof } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { claimOfVector } from '../../../vectors/run/claim.ts'
import { answer, claim, contract, read } from './files.ts'

const state = verifyProof(answer, { ...claim, scheme: poseidon2 })
/** Who stated each part of a claim on a bundle. */
const evidenceSources = (claim: object) =>
  ({ trusted: 'user', scheme: 'user', rollup: 'user', ...partsOf(claim) }) as const

function verified(name: string) {
  const file = readInputFile(read(`evidence/valid/${name}`))
  if (file.kind !== 'evidence vector') throw new Error(file.kind)
  const stated = claimOfVector(file)
  const outcome = safely(() => verifyEvidence(file.bundle, stated))
  if (!outcome.ok) throw outcome.error
  return { stated, evidence: outcome.value }
}

it('says what a verdict leaves open: old and unproven states', () => {
  const { evidence } = verified('poseidon2-block-hash')
  const newest = { ...evidence, currentL2BlockNumber: evidence.l2BlockNumber } as VerifiedEvidence
  expect(notesOn(newest)).toEqual([])
  expect(notesOn(evidence)).toEqual([
    `this is an older state: the rollup had already finalized L2 block ${evidence.currentL2BlockNumber}.`,
  ])
  const genesis = { ...newest, l2BlockNumber: 0n, currentL2BlockNumber: 0n } as VerifiedEvidence
  expect(notesOn(genesis)).toEqual([
    'L2 block 0 is the genesis. If the rollup is older than that, the storage layout of its network is wrong.',
  ])
  expect(notesOn(verified('poseidon2-l2-root').evidence)).toEqual([
    'nothing here proves that the state root belongs to this rollup, or to which block.',
  ])
})

it('lists the chain from the trusted input down, each row with what it rests on', () => {
  const names = (name: string, unstated = {}) => {
    const { stated, evidence } = verified(name)
    const sources = evidenceSources({ ...stated, ...unstated })
    const { rollup } = stated
    const chain = { sources, scheme: 'poseidon2', rollup, trusted: '0x11' }
    return chainRows(chain, evidence, 2_000_000_000n).map(([row, , basis]) => `${row}: ${basis ?? ''}`)
  }
  const rows = names('poseidon2-block-hash')
  expect(rows[0]).toBe('L1 block hash: trusted')
  expect(rows).toContain('L2 state root: proven by the rollup contract')
  expect(rows).toContain('scheme: stated by you')
  const unstated = names('poseidon2-block-hash', { l2BlockNumber: 'fromBundle' })
  expect(unstated).toContain('L2 block: from the bundle, not stated by you')
  const beacon = names('poseidon2-beacon-block-root')
  expect(beacon.slice(0, 7).map(row => row.split(':')[0])).toEqual([
    ...[
      'trusted beacon block',
      'age of that block',
      'sync committee',
      'signers',
      'beacon block',
      'beacon slot',
      'L1 block hash',
    ],
  ])
  expect(beacon).toContain('L1 block hash: proven by the finalized beacon block')
  const root = names('poseidon2-l2-root')
  expect(root).toContain('L2 state root: trusted')
  expect(root).toContain('rollup: stated by you, not proven')
  expect(root.some(row => row.startsWith('L2 block time') || row.startsWith('L1'))).toBe(false)
})

it('reports the age of a state, and what it is based on', () => {
  // Only the times count.
  const times = (finalizedTimestamp?: bigint, l1Time?: bigint) =>
    ({ finalizedTimestamp, l1Block: l1Time && { timestamp: l1Time } }) as unknown as VerifiedEvidence
  const proven = times(1_000n, 5_000n)
  expect(timeRow(proven, 8_200n)).toEqual([
    ...['L2 block time', '1970-01-01T00:16:40Z', '2 hours old, proven by the rollup contract'],
  ])
  const reference = times(undefined, 5_000n)
  expect(timeRow(reference, 8_200n)).toEqual([
    ...['L2 block time', 'not proven', 'the L1 block is 53 minutes old, and this block is older'],
  ])
  expect(timeRow(times(), 8_200n)).toEqual(['L2 block time', 'not proven'])
  // The local clock is behind.
  expect(ageOf(1_000n, 900n)).toBe('0 seconds')
})

it('words ages, times and amounts', () => {
  expect([0n, 1n, 119n, 120n, 7_199n, 7_200n, 172_799n, 172_800n].map(formatAge)).toEqual([
    ...['0 seconds', '1 second', '119 seconds', '2 minutes', '119 minutes', '2 hours', '47 hours', '2 days'],
  ])
  expect(formatTime(1_700_000_000n)).toBe('2023-11-14T22:13:20Z')
  expect(formatTime(2n ** 64n - 1n)).toBe('18446744073709551615 s after 1970')
  expect([10n ** 20n, 15n * 10n ** 17n, 10n ** 9n, 1n, 0n].map(toEther)).toEqual([
    ...['100', '1.5', '0.000000001', '0.000000000000000001', '0'],
  ])
  expect([capitalized('l2 block'), capitalized('')]).toEqual(['L2 block', ''])
})

it('lists every field of an account', () => {
  if (state.account === null) throw new Error('no account')
  const { nonce, balance, codeHash } = contract.expected.account
  const rows = accountRows(state.account)
  expect(rows).toHaveLength(Object.keys(state.account).length)
  expect(rows).toContainEqual(['nonce', `${BigInt(nonce)}`])
  expect(rows).toContainEqual(['balance', `${BigInt(balance)} wei`])
  expect(rows).toContainEqual(['code hash', codeHash])
})
