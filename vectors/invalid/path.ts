import type { FailureCode } from '../../src/base/errors.ts'
import { changeInteger, digestOf, flipBit, slice, zeros } from '../forge.ts'
import { addressFor, wordFor } from '../vector.ts'
import { ACCOUNTS } from '../world.ts'
import { changeNode, type Forgery, type ForgeryClass, nodeOf } from './forgery.ts'
import { plantSibling } from './planted.ts'

/** The leaf is not in the tree, or not at this index. */
export const path: ForgeryClass = ({ scheme, layout, plain, later, world, ask }) => {
  const nodes = plain.answer.accountProof.proof
  const node = (
    name: string,
    code: FailureCode,
    index: number,
    description: string,
    change: (node: string) => string,
  ): Forgery => ({
    name,
    code,
    description,
    forge: ({ accountProof }) => changeNode(accountProof.proof, index, change),
  })
  const list = (
    name: string,
    code: FailureCode,
    description: string,
    change: (nodes: string[]) => string[],
  ): Forgery => ({
    name,
    code,
    description,
    forge: ({ accountProof: { proof } }) => {
      proof.proofRelatedNodes = change(proof.proofRelatedNodes)
    },
  })
  const lonely = ACCOUNTS.map(address => ask(world, address))
    .concat(ask(later, addressFor('newcomer')))
    .find(({ answer }) => nodeOf(answer.accountProof.proof, 40).length === 66)
  if (lonely === undefined) throw new Error('no account has a missing sibling leaf')
  const missingSibling = (name: string, code: FailureCode, description: string, written: string): Forgery => ({
    ...node(`missing-sibling-${name}`, code, 40, description, () => written),
    from: lonely,
  })
  const shortSibling = plantSibling(scheme, plain.address, wordFor(5))
  return [
    node('sub-root-altered', 'SUB_ROOT_MISMATCH', 0, 'The sub-root in entry 0.', hex => flipBit(hex, layout.word + 31)),
    node('next-free-node-altered', 'STATE_ROOT_MISMATCH', 0, 'nextFreeNode in entry 0.', hex =>
      changeInteger(hex, layout.word - 1, 1, x => x + 1n),
    ),
    node('inner-node-altered', 'SUB_ROOT_MISMATCH', 39, 'One bit of a sibling.', hex => flipBit(hex, 31)),
    node('sibling-leaf-altered', 'SUB_ROOT_MISMATCH', 40, 'One bit of the sibling leaf.', hex =>
      flipBit(hex, layout.opening - 1),
    ),
    node('leaf-altered', 'SUB_ROOT_MISMATCH', 41, 'One bit of the leaf’s value hash.', hex =>
      flipBit(hex, layout.opening - 1),
    ),
    node('children-swapped', 'SUB_ROOT_MISMATCH', 38, 'The two digests of an inner sibling exchanged.', hex => {
      return `${slice(hex, 32, 32)}${slice(hex, 0, 32).slice(2)}`
    }),
    node('sibling-replaced-by-missing', 'SUB_ROOT_MISMATCH', 40, 'The sibling leaf taken away.', () => zeros(32)),
    node('sibling-is-the-leaf', 'SUB_ROOT_MISMATCH', 40, 'The leaf as its own sibling.', () => nodeOf(nodes, 41)),
    node('leaf-missing', 'WRONG_LENGTH', 41, 'The opening of a missing leaf: 32 zero bytes.', () => zeros(32)),
    node('leaf-all-zero', 'SENTINEL_MISPLACED', 41, 'A leaf of zero bytes: the key of HEAD.', () =>
      zeros(layout.opening),
    ),
    node('sibling-digest', 'WRONG_LENGTH', 40, 'The digest of the sibling leaf in place of its opening.', hex =>
      digestOf(scheme, hex),
    ),
    node('inner-node-as-leaf', 'WRONG_LENGTH', 41, 'An inner node in place of the leaf.', () => nodeOf(nodes, 39)),
    node('leaf-as-inner-node', 'WRONG_LENGTH', 39, 'A leaf opening in place of an inner node.', () =>
      nodeOf(nodes, 40),
    ),
    node('inner-node-digest', 'WRONG_LENGTH', 5, 'The digest of an inner node in place of its preimage.', hex =>
      digestOf(scheme, hex),
    ),
    node('node-0-without-index', 'WRONG_LENGTH', 0, 'Entry 0 without nextFreeNode.', hex =>
      slice(hex, layout.word, 32),
    ),

    list('nodes-41', 'WRONG_NODE_COUNT', 'The last inner sibling dropped.', all => all.toSpliced(39, 1)),
    list('nodes-43', 'WRONG_NODE_COUNT', 'An inner sibling doubled.', all => [...all.slice(0, 39), ...all.slice(38)]),
    list('nodes-43-the-last-unread', 'WRONG_NODE_COUNT', 'A node behind the leaf.', all => [...all, ...all.slice(41)]),
    list('nodes-0', 'WRONG_NODE_COUNT', 'No nodes.', () => []),
    list('nodes-reversed', 'WRONG_LENGTH', 'Leaf first.', all => all.toReversed()),
    list('nodes-exchanged', 'SUB_ROOT_MISMATCH', 'Two inner siblings exchanged.', all => [
      ...all.slice(0, 38),
      ...all.slice(38, 40).toReversed(),
      ...all.slice(40),
    ]),

    {
      name: 'sibling-of-one-word',
      code: 'WRONG_LENGTH',
      description: 'A sibling leaf whose opening is one word of 32 bytes, in a tree that holds its digest.',
      forge: () => shortSibling.answer,
      claim: { stateRoot: shortSibling.root },
    },
    missingSibling('empty', 'WRONG_LENGTH', 'A missing leaf written as no bytes.', '0x'),
    missingSibling(
      'opening',
      'ZERO_OPENING',
      'A missing leaf written as an opening of zero bytes.',
      zeros(layout.opening),
    ),
    missingSibling(
      'other-length',
      'WRONG_LENGTH',
      'A missing leaf written as the other scheme’s opening.',
      zeros(layout.otherOpening),
    ),
    missingSibling('not-zero', 'WRONG_LENGTH', 'A missing leaf that is not zero.', wordFor(1)),
    missingSibling('preimage', 'WRONG_LENGTH', 'A missing leaf written as 64 zero bytes.', zeros(64)),
  ]
}
