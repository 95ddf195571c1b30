import type { FailureCode } from '../../src/base/errors.ts'
import { CONTRACT } from '../world.ts'
import { type Forgery, type ForgeryClass, slotProof } from './forgery.ts'
import { plantAccount } from './planted.ts'

/** An index that wraps around, is rounded, or points beyond the existing leaves. */
export const leafIndex: ForgeryClass = ({ scheme, plain, contract, absent, later, world, ask }) => {
  const index = (
    name: string,
    code: FailureCode,
    description: string,
    change: (index: number) => unknown,
  ): Forgery => ({
    name: `index-${name}`,
    code,
    description,
    forge: ({ accountProof }) => {
      Object.assign(accountProof, { leafIndex: change(accountProof.leafIndex) })
    },
  })
  const nextFreeNode = 2 + 14
  const wide = world.fork()
  wide.skipLeaves(2 ** 40)
  const outside = plantAccount(scheme, plain.address, { index: 4 })
  const far = plantAccount(scheme, plain.address, { prev: 2 ** 40 })
  return [
    {
      name: 'leaf-at-next-free-node',
      code: 'INDEX_OUT_OF_RANGE',
      description: 'A leaf at nextFreeNode, in a tree that holds it.',
      forge: () => outside.answer,
      claim: { stateRoot: outside.root },
    },
    {
      name: 'link-to-2-40',
      code: 'INDEX_OUT_OF_RANGE',
      description: 'A leaf that points at index 2^40, in a tree that holds it.',
      forge: () => far.answer,
      claim: { stateRoot: far.root },
    },
    index('plus-2-40', 'INDEX_OUT_OF_RANGE', 'The same path bits, 40 levels further.', x => x + 2 ** 40),
    index(
      'plus-2-32',
      'INDEX_OUT_OF_RANGE',
      'The same index to 32-bit operators; past nextFreeNode.',
      x => x + 2 ** 32,
    ),
    index('plus-2-53', 'INDEX_OUT_OF_RANGE', 'Above what a number can count.', x => x + 2 ** 53),
    index('negative', 'INDEX_OUT_OF_RANGE', 'A negative index.', x => -x),
    index('minus-2-40', 'INDEX_OUT_OF_RANGE', 'The same path bits, and below nextFreeNode.', x => x - 2 ** 40),
    index('fractional', 'INDEX_OUT_OF_RANGE', 'An index between two leaves.', x => x + 0.5),
    index('huge', 'INDEX_OUT_OF_RANGE', 'A number with an exponent.', () => 1e300),
    index('string', 'MALFORMED_RESPONSE', 'An index as a string.', x => `${x}`),
    index('hex', 'MALFORMED_RESPONSE', 'An index as a hex string.', x => `0x${x.toString(16)}`),
    index('missing', 'MALFORMED_RESPONSE', 'No index.', () => undefined),
    index('array', 'MALFORMED_RESPONSE', 'An index in an array.', x => [x]),
    index('next', 'SUB_ROOT_MISMATCH', 'The index of another leaf.', x => x + (x % 2 === 0 ? 1 : -1)),
    index('next-free-node', 'INDEX_OUT_OF_RANGE', 'The first index that no leaf has taken.', () => nextFreeNode),
    {
      name: 'index-plus-2-32-in-a-wide-tree',
      code: 'SUB_ROOT_MISMATCH',
      description: 'The same index to 32-bit operators, below nextFreeNode.',
      from: ask(wide, plain.address),
      forge: ({ accountProof }) => {
        accountProof.leafIndex += 2 ** 32
      },
    },
    {
      name: 'index-of-neighbour-altered',
      code: 'SUB_ROOT_MISMATCH',
      description: 'A neighbour at another index.',
      from: absent,
      forge: ({ accountProof }) => {
        accountProof.leftLeafIndex = accountProof.leftLeafIndex === 2 ? 3 : 2
      },
    },
    {
      name: 'slot-index-altered',
      code: 'INDEX_OUT_OF_RANGE',
      description: 'A slot’s leaf index past its tree.',
      from: contract,
      forge: answer => {
        slotProof(answer).leafIndex = later.getProof(CONTRACT).storageProofs.length + 2 ** 31
      },
    },
  ]
}
