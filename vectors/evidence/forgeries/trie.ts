import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeRlp, type RlpItem } from '../../../src/anchor/rlp.ts'
import type { FailureCode } from '../../../src/errors.ts'
import type { Flag } from '../../vector.ts'
import { integer, loneLeaf, loneProof, loneStorage, named } from '../l1.ts'
import { BLOCK, rollup, rootSlot, toBytes } from '../truth.ts'
import { type Forgery, type ForgeryClass, flipLast } from './forgery.ts'

/** The Merkle-Patricia proof, and the contents of the leaves. */
export const trie: ForgeryClass = ({ bundle, header, proof, judge }) => {
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
  const fields = [integer(1n), integer(0n), toBytes(named('root')), toBytes(named('code'))]
  const account = encodeRlp(fields)
  const path = Uint8Array.of(0x20, ...keccak_256(contract))
  const empty = new Uint8Array(0)
  const oneNode = (node: Uint8Array) => loneProof(node, [{ key: rootSlotProof.key, proof: [] }])
  const oneList = (...items: RlpItem[]) => oneNode(encodeRlp(items))
  const oneAccount = (...fields: RlpItem[]) => oneNode(loneLeaf(contract, encodeRlp(fields)))
  const oneSlot = (value: RlpItem) =>
    loneStorage(rollup.address, rootSlot(BLOCK), loneLeaf(toBytes(rootSlotProof.key), encodeRlp(value)))

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
      'node-branch-with-value',
      'MPT_NODE_MALFORMED',
      'Path',
      'The value stands in a branch.',
      oneList(...new Array<Uint8Array>(16).fill(empty), account),
    ),
    crafted(
      'node-long-embedded',
      'MPT_NODE_MALFORMED',
      'Canonicity',
      'A child of more than 31 bytes stands in its parent.',
      oneList([path, account], ...new Array<Uint8Array>(16).fill(empty)),
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
      'account-padded-nonce',
      'L1_ACCOUNT_MALFORMED',
      'Canonicity',
      'A nonce with a leading zero.',
      oneAccount(Uint8Array.of(0, 1), ...fields.slice(1)),
    ),
    crafted('slot-zero', 'L1_VALUE_MALFORMED', 'Value', 'A slot that holds a zero.', oneSlot(empty)),
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
