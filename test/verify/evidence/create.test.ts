import { expect, it } from 'vitest'
import {
  type BundleParts,
  createBundle,
  type EvidenceBundle,
  encodeHeader,
  type FinalizedState,
  verifyEvidence,
} from '../../../src/entry/anchor.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { toRollup } from '../../outcome.ts'
import { refusal, verdict } from '../../refusal.ts'
import { find } from './bundles.ts'

/** A bundle, and the parts from which it is created. The L1 header cannot be turned back into a block, so it is left out. */
function partsOf(name: string): { bundle: EvidenceBundle; parts: BundleParts } {
  const { bundle, raw } = find(name)
  const { l1, request, rollup, l2BlockNumber, answer, consensus } = bundle
  const numbers = l1?.finalizedState
  const finalizedState: FinalizedState | undefined = numbers && {
    messageNumber: BigInt(numbers.messageNumber),
    forcedTransactionNumber:
      numbers.forcedTransactionNumber === undefined ? undefined : BigInt(numbers.forcedTransactionNumber),
    timestamp: BigInt(numbers.timestamp),
  }
  const parts = {
    ...{ scheme: poseidon2, rollup: { ...toRollup(raw.rollup), ...rollup }, l2BlockNumber: BigInt(l2BlockNumber) },
    ...{ ...request, answer, consensus },
    ...(l1 && { l1: { proof: l1.proof, finalizedState } }),
  }
  const { header: _, ...rest } = l1 ?? { proof: undefined }
  return { bundle: { ...bundle, ...(l1 && { l1: rest }) }, parts }
}

const NAMES = ['block-hash', 'timestamp', 'timestamp-three-words', 'beacon-block-root', 'absent-account', 'l2-root']

it('keeps 128 KiB of each proof in an answer, and none of more', () => {
  const { parts } = partsOf('absent-account')
  const proofs = 1 + (parts.storageKeys?.length ?? 0)
  const withText = (length: number) => ({ ...parts, answer: { accountProof: { key: `0x${'0'.repeat(length)}` } } })
  const most = proofs * 2 ** 17
  expect(JSON.stringify(createBundle(withText(most - 100))).length).toBeGreaterThan(most)
  expect(verdict(() => createBundle(withText(most)))).toMatch(/^EVIDENCE_MALFORMED at answer/)
})

it('creates the same bundles as those of the vectors', () => {
  for (const name of NAMES) {
    const { bundle, parts } = partsOf(name)
    expect(createBundle(parts), name).toEqual(bundle)
  }
  const { l1 } = partsOf('timestamp').bundle
  expect(Object.keys(l1?.finalizedState ?? {})).toEqual(['messageNumber', 'forcedTransactionNumber', 'timestamp'])
  expect(partsOf('timestamp-three-words').bundle.l1?.finalizedState).not.toHaveProperty('forcedTransactionNumber')
})

it('writes hexadecimal in lower case, and needs neither a name nor keys', () => {
  const { bundle, parts } = partsOf('block-hash')
  const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`
  const { address, storageKeys = [], rollup } = parts
  const shouted = {
    ...parts,
    address: upper(address),
    storageKeys: storageKeys.map(upper),
    rollup: { ...rollup, address: upper(rollup.address) },
  }
  expect(createBundle(shouted)).toEqual(bundle)
  const { storageKeys: _, ...without } = { ...parts, rollup: { address: rollup.address } }
  expect(createBundle(without)).toMatchObject({
    rollup: { address: bundle.rollup.address },
    request: { storageKeys: [] },
  })
  expect(createBundle(without).rollup).not.toHaveProperty('name')
})

it('keeps only what it knows, and opens a JSON-RPC response', () => {
  const { bundle, parts } = partsOf('block-hash')
  const proof = { ...(parts.l1?.proof as object), url: 'https://example.org/key', nonce: 'https://example.org/key' }
  const answer = { jsonrpc: '2.0', id: 1, result: { ...(parts.answer as object), url: 'https://example.org/key' } }
  const made = createBundle({ ...parts, answer, l1: { proof } })
  expect(made).toEqual({ ...bundle, l1: { proof: { ...(bundle.l1?.proof as object), nonce: null } } })
  for (const nonce of ['https://example.org/0x12', '0x12?key', '12', '']) {
    const { proof } = createBundle({ ...parts, l1: { proof: { nonce } } }).l1 ?? {}
    expect(proof, nonce).toEqual({ nonce: null })
  }
})

it('encodes the header of an L1 block', () => {
  const { parts } = partsOf('block-hash')
  expect(refusal(() => createBundle({ ...parts, l1: { proof: {}, block: {} } }))).toMatchObject({
    code: 'HEADER_MALFORMED',
    path: 'parentHash',
  })
  expect(verdict(() => encodeHeader({}))).toBe('HEADER_MALFORMED at parentHash')
})

it('keeps decimal numbers and names of forks in the consensus part, and nothing longer', () => {
  const { parts } = partsOf('beacon-block-root')
  const bootstrapOf = (slot: string, version: string) => ({ version, data: { header: { beacon: { slot } } } })
  const made = (bootstrap: object) => createBundle({ ...parts, consensus: { bootstrap, updates: [] } }).consensus
  for (const [slot, version] of [
    ['9'.repeat(78), 'a'.repeat(32)],
    ['0xab', 'Electra'],
  ] as const) {
    const bootstrap = bootstrapOf(slot, version)
    expect(made(bootstrap)).toStrictEqual({ bootstrap, updates: [] })
  }
  const refused = [
    ['9'.repeat(79), 'a'.repeat(33)],
    ['-1', 'https://example.org'],
    ['1.5', 'fork 1'],
    ['0xabg', ''],
  ] as const
  for (const [slot, version] of refused) {
    expect(made(bootstrapOf(slot, version))).toEqual({
      bootstrap: { version: null, data: { header: { beacon: { slot: null } } } },
      updates: [],
    })
  }
})

it('refuses a consensus part without its parts', () => {
  const { parts } = partsOf('beacon-block-root')
  const consensusOf = (consensus: unknown) => () => createBundle({ ...parts, consensus: consensus as never })
  expect(refusal(consensusOf({ updates: [] }))).toMatchObject({
    code: 'EVIDENCE_MALFORMED',
    path: 'consensus.bootstrap',
    found: 'nothing',
  })
  expect(verdict(consensusOf({ bootstrap: {} }))).toBe('EVIDENCE_MALFORMED at consensus.updates')
  expect(verdict(consensusOf({ bootstrap: {}, updates: [], network: 7 }))).toBe(
    'EVIDENCE_MALFORMED at consensus.network',
  )
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  for (const updates of [proxy, {}, 'text', new Proxy([], { get: () => Number.NaN })]) {
    expect(verdict(consensusOf({ bootstrap: {}, updates }))).toBe('EVIDENCE_MALFORMED at consensus.updates')
  }
})

/** A list of `count` texts whose cost is `length` characters each. */
const texts = (count: number, length: number) => Array.from({ length: count }, () => `0x${'0'.repeat(length - 2)}`)

it('refuses answers that are larger than any for that many proofs can be', () => {
  const { parts } = partsOf('l2-root')
  const UNIT = 2 ** 17
  // Around the texts: an object, and a list.
  const room = (units: number) => units * UNIT - 16
  const storageKeys = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const
  const answerOf = (length: number) => ({ ...parts, storageKeys, answer: { accountProof: texts(1, length) } })
  expect(verdict(() => createBundle(answerOf(room(3))))).toBe('accepted')
  expect(refusal(() => createBundle(answerOf(room(3) + 1)))).toMatchObject({
    code: 'EVIDENCE_MALFORMED',
    path: 'answer',
    expected: `at most ${3 * UNIT} characters`,
    found: 'more',
  })
  const proofOf = (length: number) => ({ ...parts, l1: { proof: { accountProof: texts(1, length) } } })
  expect(verdict(() => createBundle(proofOf(room(4))))).toBe('accepted')
  expect(verdict(() => createBundle(proofOf(room(4) + 1)))).toBe('EVIDENCE_MALFORMED at l1.proof')
  // Each update by itself, however many the list says it has.
  const updatesOf = (count: number, length: number) => ({
    ...parts,
    consensus: {
      bootstrap: {},
      updates: [...Array(count - 1).fill(0), { data: { finality_branch: texts(1, length) } }],
    },
  })
  // Around the text: three objects.
  const inUpdate = UNIT - 3 * 8
  expect(verdict(() => createBundle(updatesOf(512, inUpdate)))).toBe('accepted')
  expect(verdict(() => createBundle(updatesOf(5, inUpdate + 1)))).toBe('EVIDENCE_MALFORMED at consensus.updates[4]')
  expect(verdict(() => createBundle(updatesOf(513, 2)))).toBe('EVIDENCE_MALFORMED at consensus.updates')
})

it('refuses arguments of its own', () => {
  const { parts } = partsOf('block-hash')
  const wrong: [object, string][] = [
    [{ scheme: undefined }, 'scheme'],
    [{ l2BlockNumber: -1n }, 'l2BlockNumber'],
    [{ rollup: { address: '0x' } }, 'rollup.address'],
    [{ address: '0x' }, 'address'],
    [{ storageKeys: ['0x'] }, 'storageKeys[0]'],
    [{ l1: { proof: {}, finalizedState: { messageNumber: 1n, timestamp: 1n << 64n } } }, 'l1.finalizedState.timestamp'],
    [{ l2blockNumber: 1n }, 'l2blockNumber'],
    [{ consensu: {} }, 'consensu'],
    [{ answer: undefined }, 'answer'],
    [{ rollup: { ...parts.rollup, layuot: {} } }, 'rollup.layuot'],
    [{ consensus: { bootstrap: {}, updates: [], finalty: {} } }, 'consensus.finalty'],
    [{ consensus: null }, 'consensus'],
    [{ l1: { proof: {}, header: '0x' } }, 'l1.header'],
    [{ l1: { block: {} } }, 'l1.proof'],
    [{ l1: { proof: {}, finalizedState: { messageNumber: 1n, timestamp: 1n, time: 1n } } }, 'l1.finalizedState.time'],
    [{ l1: null }, 'l1'],
  ]
  for (const [change, path] of wrong) {
    expect(verdict(() => createBundle({ ...parts, ...change } as BundleParts))).toBe(`ARGUMENT_INVALID at ${path}`)
  }
})

it('creates bundles that verify', () => {
  const { claim } = find('l2-root')
  expect(verifyEvidence(createBundle(partsOf('l2-root').parts), claim).trustedInput).toBe('l2StateRoot')
})
