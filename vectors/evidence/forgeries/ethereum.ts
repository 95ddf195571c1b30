import { bytesToHex } from '../../../src/base/bytes.ts'
import type { FailureCode } from '../../../src/base/errors.ts'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { encodeRlp } from '../../../src/verify/anchor/trie.ts'
import type { Flag } from '../../vector.ts'
import { hashSlot, implementation, makeEthereum } from '../ethereum.ts'
import { createL1, named } from '../l1.ts'
import { absent, address, BLOCK, keccakOf, present, rollup, rootSlot, toBytes } from '../truth.ts'
import type { VectorInput } from '../vector.ts'
import type { Forgery, ForgeryClass } from './forgery.ts'

/** Everything about a state of Ethereum: what the contract holds, the L2 header, and the answer. */
export const ethereum: ForgeryClass = async truth => {
  const made = await makeEthereum()
  const { judge, bundleOf, anchoredIn, blockHash, l2, l2Block, l1, proof } = made
  const bundle = await bundleOf([present, absent], address, proof)
  const sparse = truth.bundle
  const refused = (name: string, code: FailureCode, flag: Flag, description: string, input: VectorInput): Forgery => ({
    ...{ name: `ethereum-${name}`, code, flag, description, input },
  })
  const changed = (name: string, code: FailureCode, flag: Flag, description: string, change: object): Forgery =>
    refused(name, code, flag, description, judge({ ...bundle, ...change }))
  /** The header of the L2 block is another one, and the contract vouches for it. */
  const vouched = async (block: object) => {
    const l2Header = encodeHeader(block)
    const { bundle: anchored, trusted } = await anchoredIn(bundle, [[hashSlot(BLOCK), BigInt(keccakOf(l2Header))]])
    return judge({ ...anchored, l2Header }, { trusted })
  }
  /** The state is one node, and the answer is proven in it. */
  const vouchedFor = async (node: Uint8Array, answerWith: (nodes: Hex[]) => object) => {
    const l2Header = encodeHeader({ ...l2Block, stateRoot: keccakOf(bytesToHex(node)) })
    const { bundle: anchored, trusted } = await anchoredIn(bundle, [[hashSlot(BLOCK), BigInt(keccakOf(l2Header))]])
    return judge({ ...anchored, l2Header, answer: answerWith([bytesToHex(node)]) }, { trusted })
  }
  const asRoot = await anchoredIn(bundle, [
    [hashSlot(BLOCK), 0n],
    [rootSlot(BLOCK), BigInt(blockHash)],
  ])
  const neither = await anchoredIn(bundle, [[hashSlot(BLOCK), 0n]])
  const both = await anchoredIn(bundle, [[rootSlot(BLOCK), BigInt(named('root'))]])
  const asHash = await anchoredIn(sparse, [[hashSlot(BLOCK), BigInt(truth.stateRoot)]])
  const other = await createL1(address, new Map([[BigInt(present), 43n]]))
  const pinned = (code: Hex) => ({ rollup: { ...rollup, implementation: code } })
  const withoutLast = { ...proof, storageProof: proof.storageProof.slice(0, -1) }
  const { layout, ...old } = { ...rollup, layout: { stateRootHashes: '0x11a', currentL2BlockNumber: '0x119' } as const }
  const moved = (answer: unknown) =>
    changed('answer-moved', 'L1_KEY_MISMATCH', 'Binding', 'The slots in another order.', { answer })
  const answer = await l2.getProof(address, [BigInt(present), BigInt(absent)])
  return [
    // What L1 holds.
    refused(
      'held-as-root',
      'ANCHOR_NO_ROOT',
      'Root',
      'The block hash is in the mapping of state roots.',
      judge(asRoot.bundle, { trusted: asRoot.trusted }),
    ),
    refused(
      'held-nothing',
      'ANCHOR_NO_ROOT',
      'Root',
      'A block inside a finalization: no hash.',
      judge(neither.bundle, { trusted: neither.trusted }),
    ),
    {
      ...{ name: 'root-held-as-hash', code: 'ANCHOR_NO_ROOT', flag: 'Root' },
      description: 'The root of a state with a hash scheme is in the mapping of block hashes.',
      input: truth.judge(asHash.bundle, { trusted: asHash.trusted }),
    },
    {
      ...{ name: 'anchor-both-held', code: 'ANCHOR_AMBIGUOUS', flag: 'Root' },
      description: 'The contract holds a root and a hash for the block, and the claim says nothing.',
      input: {
        operation: 'verifyAnchor',
        claim: { l1StateRoot: both.trusted.l1StateRoot, rollup, l2BlockNumber: '0x1b4' },
        proof: both.proof,
      },
    },
    changed('hash-unproven', 'L1_STORAGE_PROOF_COUNT', 'Binding', 'Without the slot of the block hash.', {
      l1: { ...bundle.l1, proof: { ...proof, storageProof: proof.storageProof.slice(0, 2) } },
    }),
    // The code behind the proxy.
    refused(
      'implementation-of-another',
      'ANCHOR_IMPLEMENTATION_MISMATCH',
      'Binding',
      'The contract was upgraded.',
      judge(bundle, pinned(named('version 8', 20))),
    ),
    refused(
      'implementation-unproven',
      'L1_STORAGE_PROOF_COUNT',
      'Binding',
      'Without the slot of the code.',
      judge({ ...bundle, l1: { ...bundle.l1, proof: withoutLast } }, pinned(implementation)),
    ),
    // The L2 header.
    changed('header-missing', 'EVIDENCE_L2_MISSING', 'Shape', 'No L2 header.', { l2Header: undefined }),
    changed('header-forged-state', 'HEADER_HASH_MISMATCH', 'Root', 'A header with a state root of the forger.', {
      l2Header: encodeHeader({ ...l2Block, stateRoot: other.stateRoot }),
      answer: await other.getProof(address, [BigInt(present), BigInt(absent)]),
    }),
    changed('header-of-l1', 'HEADER_HASH_MISMATCH', 'Root', 'The header of the L1 block.', {
      l2Header: encodeHeader(l1.block),
    }),
    changed('header-number', 'HEADER_MALFORMED', 'Shape', 'A number in place of the header.', { l2Header: 7 }),
    refused(
      'header-of-another-number',
      'BLOCK_NUMBER_MISMATCH',
      'Binding',
      'The contract holds the hash of a block with another number.',
      await vouched({ ...l2Block, number: '0x1b5' }),
    ),
    refused(
      'state-is-a-text',
      'MPT_NODE_MALFORMED',
      'Path',
      'The state root is the digest of a text in place of a node, which would prove every account absent.',
      await vouchedFor(encodeRlp(toBytes(named('text'))), nodes => ({
        address,
        accountProof: nodes,
        storageProof: [present, absent].map(key => ({ key, proof: [] })),
      })),
    ),
    refused(
      'header-with-a-sparse-root',
      'MPT_HASH_MISMATCH',
      'Root',
      'The root in the header is that of the rollup’s own tree.',
      await vouched({ ...l2Block, stateRoot: truth.stateRoot }),
    ),
    // The answer.
    changed('answer-of-another-state', 'MPT_HASH_MISMATCH', 'Root', 'An answer from a state of the forger.', {
      answer: await other.getProof(address, [BigInt(present), BigInt(absent)]),
    }),
    changed(
      'answer-of-another',
      'MPT_HASH_MISMATCH',
      'Binding',
      'The answer is for another account than the request.',
      {
        answer: await l2.getProof(named('L1 account 1', 20), [BigInt(present), BigInt(absent)]),
      },
    ),
    changed('answer-address', 'L1_KEY_MISMATCH', 'Binding', 'The answer names another account.', {
      answer: { ...answer, address: named('L1 account 1', 20) },
    }),
    moved({ ...answer, storageProof: answer.storageProof.toReversed() }),
    changed('answer-slot-left-out', 'L1_STORAGE_PROOF_COUNT', 'Shape', 'A slot is left out.', {
      answer: { ...answer, storageProof: answer.storageProof.slice(1) },
    }),
    changed('answer-node-missing', 'MPT_NODES_MISSING', 'Path', 'The proof lacks its last node.', {
      answer: { ...answer, accountProof: answer.accountProof.slice(0, -1) },
    }),
    changed('answer-balance-lie', 'L1_PROOF_DISAGREES', 'Value', 'The balance is not what is proven.', {
      answer: { ...answer, balance: '0x1' },
    }),
    changed('answer-sparse', 'L1_PROOF_MALFORMED', 'Shape', 'An answer from the rollup’s own tree.', {
      request: sparse.request,
      answer: sparse.answer,
    }),
    {
      ...{ name: 'answer-of-ethereum', code: 'FOREIGN_PROOF', flag: 'Shape' },
      description: 'An answer from a state of Ethereum, where the rollup has a tree of its own.',
      input: truth.judge({ ...sparse, answer: await l2.getProof(address, []) }),
    },
    // The claim and the envelope.
    refused('scheme-of-another', 'EVIDENCE_SCHEME_MISMATCH', 'Binding', 'A bundle with a hash scheme.', judge(sparse)),
    {
      ...{ name: 'scheme-is-ethereum', code: 'EVIDENCE_SCHEME_MISMATCH', flag: 'Binding' },
      description: 'A bundle of a state of Ethereum, where the claim names a hash scheme.',
      input: truth.judge(bundle),
    },
    changed('version-2', 'EVIDENCE_VERSION', 'Shape', 'A version that is not known.', { version: 2 }),
    changed('scheme-number', 'EVIDENCE_MALFORMED', 'Shape', 'A number in place of the scheme.', { scheme: 7 }),
    refused(
      'layout-without-hashes',
      'ARGUMENT_INVALID',
      'Root',
      'The layout of the caller has no block hashes.',
      judge(bundle, { rollup: { ...old, layout } }),
    ),
  ]
}
