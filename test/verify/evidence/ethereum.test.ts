import { createMerkleProof, createMPT } from '@ethereumjs/mpt'
import { expect, it } from 'vitest'
import { bigintToBytes, bytesToHex, hexToBytes } from '../../../src/base/bytes.ts'
import {
  type BundleParts,
  createBundle,
  type EvidenceClaim,
  type StateScheme,
  verifyEvidence,
} from '../../../src/entry/anchor.ts'
import { type Hex, safely } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { encodeRlp, type RlpItem } from '../../../src/verify/anchor/trie.ts'
import { implementation, makeEthereum, TIMESTAMP } from '../../../vectors/evidence/ethereum.ts'
import { integer } from '../../../vectors/evidence/l1.ts'
import { absent, address, BLOCK, CURRENT, present, rollup, value } from '../../../vectors/evidence/truth.ts'
import { randomOf } from '../../random.ts'
import { refusal, verdict } from '../../refusal.ts'
import { sized } from '../../size.ts'

type Claim = EvidenceClaim<{ l1BlockHash: Hex }, bigint, readonly Hex[], StateScheme>

const made = await makeEthereum()
const bundle = await made.bundleOf([present, absent], address, made.proof)
const claim = {
  scheme: 'ethereum',
  ...{ rollup, trusted: { l1BlockHash: made.l1BlockHash } },
  ...{ l2BlockNumber: BLOCK, address, storageKeys: [present, absent] },
} as const
const changed = (change: object) => () => verifyEvidence({ ...bundle, ...change }, claim)

it('proves the account, its slots and the L2 block', () => {
  const verified = verifyEvidence(bundle, claim)
  expect(verified).toMatchObject({
    ...{ trustedInput: 'l1BlockHash', address, stateRoot: made.l2.stateRoot, l2BlockNumber: BLOCK },
    ...{ currentL2BlockNumber: CURRENT, finalizedTimestamp: BigInt(TIMESTAMP) },
    storage: [
      { key: present, value, exists: true },
      { key: absent, value: `0x${'00'.repeat(32)}`, exists: false },
    ],
  })
  const { account, l2Block, storage } = verified
  expect(Object.keys(account ?? {})).toEqual(['nonce', 'balance', 'storageRoot', 'codeHash'])
  expect(storage[0]).not.toHaveProperty('leafIndex')
  // All that a call needs of its block.
  expect(l2Block).toMatchObject({ hash: made.blockHash, number: BLOCK, baseFeePerGas: 7n, gasLimit: 36_000_000n })
})

it('names the place of each lie', async () => {
  const other = await made.l2.getProof(address, [BigInt(present)])
  const answer = Object(bundle.answer)
  const [first] = answer.storageProof
  const cases: [change: object, verdict: string][] = [
    [{ l2Header: undefined }, 'EVIDENCE_L2_MISSING at l2Header'],
    [{ l2Header: '0xc0' }, 'HEADER_HASH_MISMATCH at l2Header'],
    [{ l2Header: 7 }, 'HEADER_MALFORMED at l2Header'],
    [{ l2BlockNumber: '0x1b5' }, 'EVIDENCE_BLOCK_MISMATCH at l2BlockNumber'],
    [{ answer: other }, 'L1_STORAGE_PROOF_COUNT at answer.storageProof'],
    [{ answer: { ...answer, nonce: '0x2' } }, 'L1_PROOF_DISAGREES at answer.nonce'],
    [{ answer: { ...answer, storageProof: [first, first] } }, 'L1_KEY_MISMATCH at answer.storageProof[1].key'],
    [{ answer: { ...answer, accountProof: ['0x80'] } }, 'MPT_HASH_MISMATCH at answer.accountProof[0]'],
    [{ answer: { jsonrpc: '2.0', result: answer } }, 'L1_PROOF_MALFORMED at answer.accountProof'],
    [{ answer: null }, 'L1_PROOF_MALFORMED at answer'],
    [{ scheme: 'mimc' }, 'EVIDENCE_SCHEME_MISMATCH at scheme'],
    [{ version: 3 }, 'EVIDENCE_VERSION at version'],
  ]
  for (const [change, expected] of cases) expect(verdict(changed(change)), expected).toBe(expected)
  expect(cases.length).toBe(12)
  // Nobody can pass one tree for the other, or one kind of trusted root.
  const sparse: Claim = { ...claim, scheme: poseidon2 }
  expect(refusal(() => verifyEvidence(bundle, sparse))).toMatchObject({
    ...{ code: 'EVIDENCE_SCHEME_MISMATCH', path: 'scheme', expected: 'poseidon2', found: 'ethereum' },
  })
  for (const scheme of ['keccak', { name: 'ethereum' }, Object('ethereum')]) {
    expect(verdict(() => verifyEvidence(bundle, { ...claim, scheme: scheme as never }))).toBe(
      'ARGUMENT_INVALID at scheme',
    )
  }
})

it('needs the slot of the block hashes only for what L1 proves', () => {
  const moved = { ...rollup, layout: { stateRootHashes: 282n, currentL2BlockNumber: 281n } }
  expect(verdict(() => verifyEvidence(bundle, { ...claim, rollup: moved }))).toBe(
    'ARGUMENT_INVALID at rollup.layout.blockHashes',
  )
  const trusted = { l2StateRoot: made.l2.stateRoot }
  const verified = verifyEvidence(bundle, { ...claim, rollup: moved, trusted })
  expect(verified).toMatchObject({ trustedInput: 'l2StateRoot', l2Block: undefined, implementation: undefined })
})

it('refuses a claim about code where nothing of L1 is proven', () => {
  const pinned = { ...claim, rollup: { ...rollup, implementation } }
  expect(verifyEvidence(bundle, pinned).implementation).toBe(implementation)
  const trusted = { l2StateRoot: made.l2.stateRoot }
  const judge = () => verifyEvidence(bundle, { ...pinned, trusted })
  expect(verdict(judge)).toBe('ARGUMENT_INVALID at rollup.implementation')
})

it('puts a bundle together, known fields only', () => {
  const { l1, answer } = bundle
  const { proof } = Object(l1)
  const parts = {
    scheme: 'ethereum',
    ...{ rollup, l2BlockNumber: BLOCK, address, storageKeys: [present, absent] },
    ...{ answer: { jsonrpc: '2.0', id: 1, result: { ...Object(answer), url: 'https://example.org/key' } } },
    ...{ l2Block: made.l2Block, l1: { block: made.l1.block, proof } },
  } as const
  expect(createBundle(parts)).toEqual(bundle)
  expect(Object.keys(createBundle(parts))).toEqual([
    ...['format', 'version', 'kind', 'rollup', 'scheme', 'l2BlockNumber', 'l1', 'l2Header', 'request', 'answer'],
  ])
  const { l2Block: _, ...headless } = parts
  expect(createBundle(headless)).not.toHaveProperty('l2Header')
  const wrong: [object, string][] = [
    [{ scheme: poseidon2 }, 'ARGUMENT_INVALID at l2Block'],
    [{ scheme: 'mimc' }, 'ARGUMENT_INVALID at scheme'],
    [{ l2Block: {} }, 'HEADER_MALFORMED at parentHash'],
    [{ answer: undefined }, 'ARGUMENT_INVALID at answer'],
  ]
  for (const [change, expected] of wrong) {
    expect(verdict(() => createBundle({ ...parts, ...change } as BundleParts))).toBe(expected)
  }
})

/** A state of up to 4 accounts with up to 4 slots each, in tries of another implementation. */
async function randomState(random: () => number) {
  const pick = (count: number) => Math.floor(random() * count)
  const bytes = (length: number) => Uint8Array.from({ length }, () => pick(256))
  const number = (most: number) => BigInt(bytesToHex(bytes(pick(most) + 1)))
  const accounts = await createMPT({ useKeyHashing: true })
  const full = await Promise.all(
    Array.from({ length: pick(5) }, async () => {
      const slots = new Map(Array.from({ length: pick(5) }, () => [bytesToHex(bytes(32)), number(32)]))
      const trie = await createMPT({ useKeyHashing: true })
      for (const [key, stored] of slots)
        if (stored !== 0n) await trie.put(hexToBytes(key, 32), encodeRlp(integer(stored)))
      const [nonce, balance, codeHash] = [number(8), number(32), bytes(32)]
      return { holder: bytes(20), slots, trie, nonce, balance, codeHash }
    }),
  )
  for (const { holder, trie, nonce, balance, codeHash } of full) {
    const fields: RlpItem = [integer(nonce), integer(balance), trie.root(), codeHash]
    await accounts.put(holder, encodeRlp(fields))
  }
  return { full, accounts, bytes, pick }
}

const RUNS = sized(600)

it('agrees with the whole state, over many random ones', async () => {
  const random = randomOf(34)
  const counts = { refused: 0, present: 0, absent: 0, slots: 0, empty: 0 }
  for (let run = 0; run < RUNS; run++) {
    const { full, accounts, bytes, pick } = await randomState(random)
    const found = full[pick(full.length + 1)]
    const holder = found?.holder ?? bytes(20)
    const keys = [...(found?.slots.keys() ?? []), bytesToHex(bytes(32))]
    const nodesOf = async (trie: typeof accounts, key: Uint8Array) =>
      (await createMerkleProof(trie, key)).map(bytesToHex)
    const answer = {
      accountProof: await nodesOf(accounts, holder),
      storageProof: await Promise.all(
        keys.map(async key => ({ key, proof: found ? await nodesOf(found.trie, hexToBytes(key, 32)) : [] })),
      ),
    }
    const [holderHex, stateRoot] = [bytesToHex(holder), bytesToHex(accounts.root())]
    const asked = { rollup, l2BlockNumber: BLOCK, address: holderHex, storageKeys: keys }
    const made = createBundle({ scheme: 'ethereum', ...asked, answer })
    const verified = verifyEvidence(made, { scheme: 'ethereum', ...asked, trusted: { l2StateRoot: stateRoot } })
    expect(verified.account).toEqual(
      found
        ? {
            ...{ nonce: found.nonce, balance: found.balance },
            ...{ storageRoot: bytesToHex(found.trie.root()), codeHash: bytesToHex(found.codeHash) },
          }
        : null,
    )
    for (const [index, key] of keys.entries()) {
      const stored = found?.slots.get(key) ?? 0n
      const word = bytesToHex(bigintToBytes(stored, 32))
      expect(verified.storage[index]).toEqual({ key, exists: stored !== 0n, value: word })
      counts[stored === 0n ? 'empty' : 'slots']++
    }
    counts[found ? 'present' : 'absent']++
    // The same answer for an account that does not exist proves nothing else than that, if anything.
    const stranger = { scheme: 'ethereum', ...asked, address: bytesToHex(bytes(20)) } as const
    const forged = { ...made, request: { ...made.request, address: stranger.address } }
    const outcome = safely(() => verifyEvidence(forged, { ...stranger, trusted: { l2StateRoot: stateRoot } }))
    if (outcome.ok)
      expect([outcome.value.account, outcome.value.storage.some(({ exists }) => exists)]).toEqual([null, false])
    else counts.refused++
  }
  expect(counts.present).toBeGreaterThan(RUNS / 2)
  expect(counts.refused).toBeGreaterThan(RUNS / 2)
  expect(counts.absent).toBeGreaterThan(RUNS / 10)
  expect(counts.slots).toBeGreaterThan(0.9 * RUNS)
  expect(counts.empty).toBeGreaterThan(0.9 * RUNS)
})
