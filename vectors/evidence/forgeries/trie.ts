import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '../../../src/base/bytes.ts'
import type { FailureCode } from '../../../src/base/errors.ts'
import { slotKey } from '../../../src/verify/anchor/contract.ts'
import { encodeRlp, type RlpItem } from '../../../src/verify/anchor/trie.ts'
import type { Flag } from '../../vector.ts'
import { hashSlot } from '../ethereum.ts'
import { integer, loneLeaf, loneProof, loneStorage, named } from '../l1.ts'
import { BLOCK, CURRENT, rollup, rootSlot, toBytes } from '../truth.ts'
import { type Forgery, type ForgeryClass, flipLast } from './forgery.ts'

const named32 = (name: string): Uint8Array => toBytes(named(name))
const nibblesOf = (bytes: Uint8Array): number[] => Array.from(bytes).flatMap(byte => [byte >> 4, byte & 15])

/** A path in a node. @param flags 0 for an extension, 2 for a leaf */
function hexPrefix(nibbles: readonly number[], flags: number): Uint8Array {
  const all = nibbles.length % 2 === 0 ? [flags, 0, ...nibbles] : [flags + 1, ...nibbles]
  return Uint8Array.from(
    { length: all.length / 2 },
    (_, index) => 16 * (all[2 * index] ?? 0) + (all[2 * index + 1] ?? 0),
  )
}

/** The Merkle-Patricia proof, and the contents of the leaves. */
export const trie: ForgeryClass = ({ bundle, header, proof, judge, stateRoot }) => {
  const [rootSlotProof, currentProof] = proof.storageProof
  if (!rootSlotProof || !currentProof) throw new Error('two slots were asked for')
  const withProof = (forged: object) => judge({ ...bundle, l1: { header, proof: forged } })
  const nodes = (
    name: string,
    code: FailureCode,
    flag: Flag,
    description: string,
    change: (nodes: string[]) => string[],
  ): Forgery => {
    const input = withProof({ ...proof, accountProof: change(proof.accountProof) })
    return { name, code, flag, description, input }
  }

  /** L1 states that no client has. The hash of the node matches the root, so only the decoder can refuse it. */
  const crafted = (
    name: string,
    code: FailureCode,
    flag: Flag,
    description: string,
    { stateRoot, proof }: ReturnType<typeof loneProof>,
  ): Forgery => {
    const input = judge({ ...bundle, l1: { proof } }, { trusted: { l1StateRoot: stateRoot } })
    return { name, code, flag, description, input }
  }
  const contract = toBytes(rollup.address)
  // Behind the account is a storage that holds the true root and nothing else, so that the node alone is wrong.
  const slotLeaf = loneLeaf(toBytes(rootSlotProof.key), encodeRlp(toBytes(stateRoot)))
  const fields = [integer(1n), integer(0n), keccak_256(slotLeaf), toBytes(named('code'))]
  const account = encodeRlp(fields)
  const nibbles = nibblesOf(keccak_256(contract))
  const [first = 0] = nibbles
  const path = hexPrefix(nibbles, 0x2)
  const empty = new Uint8Array(0)
  const slotProofs = [{ key: rootSlotProof.key, proof: [bytesToHex(slotLeaf)] }]
  const oneNode = (node: Uint8Array, ...below: RlpItem[]) => {
    const { stateRoot, proof } = loneProof(node, slotProofs)
    return {
      stateRoot,
      proof: { ...proof, accountProof: [...proof.accountProof, ...below.map(item => bytesToHex(encodeRlp(item)))] },
    }
  }
  const oneList = (...items: RlpItem[]) => oneNode(encodeRlp(items))
  const oneAccount = (...fields: RlpItem[]) => oneNode(loneLeaf(contract, encodeRlp(fields)))
  const oneSlot = (value: RlpItem) =>
    loneStorage(rollup.address, rootSlot(BLOCK), loneLeaf(toBytes(rootSlotProof.key), encodeRlp(value)))
  /** A leaf with the account, below a node that its path begins with. */
  const leafBelow = (from: number): RlpItem => [hexPrefix(nibbles.slice(from), 0x2), account]
  const digest = (item: RlpItem) => keccak_256(encodeRlp(item))
  const branch = (child: RlpItem, at: number, value: RlpItem = empty, other: RlpItem = empty): RlpItem => {
    const children = new Array<RlpItem>(16).fill(empty)
    return [...children.with((at + 1) % 16, other).with(at, child), value]
  }
  /**
   * A storage with the true root, the number of the newest block, and nodes of the forger on the way to the block hash, which
   * the contract does not have: what they prove absent changes no verdict.
   */
  const threeSlots = (...below: RlpItem[]) => {
    const keys = [rootSlot(BLOCK), 281n, hashSlot(BLOCK)].map(slot => toBytes(slotKey(slot)))
    const paths = keys.map(key => nibblesOf(keccak_256(key)))
    const leaves = [toBytes(stateRoot), integer(CURRENT)].map(
      (value, index): RlpItem => [hexPrefix((paths[index] ?? []).slice(1), 0x2), encodeRlp(value)],
    )
    const nodes = [...leaves, ...below.slice(0, 1)]
    const children = nodes.reduce<RlpItem[]>(
      (children, node, index) => children.with(paths[index]?.[0] ?? 0, digest(node)),
      new Array<RlpItem>(16).fill(empty),
    )
    const root: RlpItem = [...children, empty]
    const spell = (items: readonly RlpItem[]) => items.map(item => bytesToHex(encodeRlp(item)))
    const storageProof = keys.map((key, index) => ({
      key: bytesToHex(key),
      proof: spell([root, ...(index < 2 ? leaves.slice(index, index + 1) : below)]),
    }))
    const holder = loneLeaf(contract, encodeRlp([...fields.slice(0, 2), digest(root), ...fields.slice(3)]))
    return loneProof(holder, storageProof)
  }
  /** The way to the block hash in {@link threeSlots}, below the root. */
  const absentPath = nibblesOf(keccak_256(toBytes(slotKey(hashSlot(BLOCK))))).slice(1)
  /** A branch for each nibble that is left, and one more. */
  const tooDeep = absentPath.reduceRight<RlpItem[]>(
    ([next = [], ...below], nibble) => [branch(digest(next), nibble), next, ...below],
    [branch(named32('child'), 0)],
  )

  return [
    nodes('node-altered', 'MPT_HASH_MISMATCH', 'Path', 'A node with its last bit changed.', nodes =>
      nodes.with(-1, flipLast(nodes.at(-1) ?? '')),
    ),
    nodes('nodes-reordered', 'MPT_HASH_MISMATCH', 'Path', 'The nodes from the leaf up.', nodes => nodes.toReversed()),
    {
      name: 'l1-state-root-wrong',
      code: 'MPT_HASH_MISMATCH',
      flag: 'Root',
      description: 'The proof is of another L1 state.',
      input: judge(bundle, { trusted: { l1StateRoot: named('another state') } }),
    },
    {
      name: 'slot-node-of-another-slot',
      code: 'MPT_NODES_MISSING',
      flag: 'Binding',
      description: 'The slot is proven by the way to another slot.',
      input: withProof({
        ...proof,
        storageProof: [{ ...rootSlotProof, proof: rootSlotProof.proof.slice(0, 1) }, currentProof],
      }),
    },
    nodes('node-missing', 'MPT_NODES_MISSING', 'Path', 'The proof lacks its last node.', nodes => nodes.slice(0, -1)),
    nodes('nodes-none', 'MPT_NODES_MISSING', 'Path', 'No nodes.', () => []),
    nodes('node-unused', 'MPT_NODES_UNUSED', 'Path', 'A node too many.', nodes => [...nodes, nodes[0] ?? '']),
    nodes('nodes-ten-thousand', 'MPT_NODES_UNUSED', 'Shape', 'Ten thousand nodes.', () =>
      new Array<string>(10_000).fill('0x80'),
    ),
    nodes('node-long', 'WRONG_LENGTH', 'Shape', 'A node of 600 bytes.', () => [`0x${'00'.repeat(600)}`]),
    nodes('node-not-hex', 'BAD_HEX', 'Encoding', 'A node that is not hexadecimal.', () => ['0x8']),

    crafted(
      'node-of-three-items',
      'MPT_NODE_MALFORMED',
      'Shape',
      'A node of three items.',
      oneList(path, account, account),
    ),
    crafted(
      'node-short-leaf',
      'MPT_NODE_MALFORMED',
      'Path',
      'A leaf that ends before the key does.',
      oneList(path.subarray(0, -1), account),
    ),
    crafted(
      'node-leaf-without-value',
      'MPT_NODE_MALFORMED',
      'Value',
      'A leaf that holds nothing.',
      oneList(path, empty),
    ),
    crafted(
      'node-extension-to-a-leaf',
      'MPT_NODE_MALFORMED',
      'Canonicity',
      'A leaf below an extension.',
      oneNode(encodeRlp([hexPrefix([first], 0x0), digest(leafBelow(1))]), leafBelow(1)),
    ),
    crafted(
      'node-child-of-31-bytes',
      'MPT_NODE_MALFORMED',
      'Shape',
      'A branch whose other child is neither a node nor a digest.',
      oneNode(encodeRlp(branch(digest(leafBelow(1)), first, empty, new Uint8Array(31))), leafBelow(1)),
    ),
    crafted(
      'node-empty-below-a-branch',
      'MPT_NODE_MALFORMED',
      'Path',
      'A branch with the digest of an empty node in place of no child.',
      threeSlots(empty),
    ),
    crafted(
      'node-extension-without-child',
      'MPT_NODE_MALFORMED',
      'Path',
      'An extension that leads nowhere.',
      threeSlots([hexPrefix(absentPath.slice(0, 2), 0x0), empty]),
    ),
    crafted(
      'node-extension-past-the-key',
      'MPT_NODE_MALFORMED',
      'Path',
      'An extension that is longer than the rest of the key.',
      threeSlots([hexPrefix([...absentPath, 0], 0x0), named32('child')]),
    ),
    crafted(
      'node-branch-past-the-key',
      'MPT_NODE_MALFORMED',
      'Path',
      'A branch where the key has no nibble left.',
      threeSlots(...tooDeep),
    ),
    crafted(
      'node-branch-with-value',
      'MPT_NODE_MALFORMED',
      'Path',
      'The value stands in a branch.',
      oneNode(encodeRlp(branch(digest(leafBelow(1)), first, account)), leafBelow(1)),
    ),
    crafted(
      'node-long-embedded',
      'MPT_NODE_MALFORMED',
      'Canonicity',
      'A child of more than 31 bytes stands in its parent.',
      oneNode(encodeRlp(branch(leafBelow(1), first))),
    ),
    crafted(
      'path-padded',
      'MPT_PATH_NON_CANONICAL',
      'Canonicity',
      'A path whose padding is not zero.',
      oneNode(loneLeaf(contract, account, 0x21)),
    ),
    crafted(
      'path-flagged',
      'MPT_PATH_NON_CANONICAL',
      'Canonicity',
      'A path with an unknown flag.',
      oneNode(loneLeaf(contract, account, 0x60)),
    ),
    crafted(
      'path-none',
      'MPT_PATH_NON_CANONICAL',
      'Canonicity',
      'An extension of no nibbles.',
      oneNode(
        encodeRlp([hexPrefix([], 0x0), digest(branch(digest(leafBelow(1)), first))]),
        branch(digest(leafBelow(1)), first),
        leafBelow(1),
      ),
    ),
    crafted(
      'node-trailing-byte',
      'RLP_NON_CANONICAL',
      'Canonicity',
      'A byte after a node.',
      oneNode(Uint8Array.of(...loneLeaf(contract, account), 0)),
    ),
    crafted(
      'account-three-fields',
      'L1_ACCOUNT_MALFORMED',
      'Value',
      'An account without a code hash.',
      oneAccount(...fields.slice(0, 3)),
    ),
    crafted(
      'account-short-code-hash',
      'L1_ACCOUNT_MALFORMED',
      'Value',
      'A code hash of 31 bytes.',
      oneAccount(...fields.slice(0, 3), new Uint8Array(31)),
    ),
    crafted(
      'account-padded-nonce',
      'L1_ACCOUNT_MALFORMED',
      'Canonicity',
      'A nonce with a leading zero.',
      oneAccount(Uint8Array.of(0, 1), ...fields.slice(1)),
    ),
    crafted('slot-zero', 'L1_VALUE_MALFORMED', 'Value', 'A slot that holds a zero.', oneSlot(empty)),
    crafted(
      'slot-zero-where-none-is-needed',
      'L1_VALUE_MALFORMED',
      'Value',
      'The block hash is a zero that is in the trie.',
      threeSlots([hexPrefix(absentPath, 0x2), encodeRlp(empty)]),
    ),
    crafted(
      'slot-padded',
      'L1_VALUE_MALFORMED',
      'Canonicity',
      'A value with a leading zero.',
      oneSlot(Uint8Array.of(0, 1)),
    ),
    crafted('slot-long', 'L1_VALUE_MALFORMED', 'Value', 'A value of 33 bytes.', oneSlot(new Uint8Array(33).fill(1))),
    crafted('slot-list', 'L1_VALUE_MALFORMED', 'Value', 'A list in place of a value.', oneSlot([Uint8Array.of(1)])),
  ]
}
