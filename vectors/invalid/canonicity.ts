import { flipBit, lift, zeros } from '../forge.ts'
import { changeNode, type Forgery, type ForgeryClass, range, slotProof } from './forgery.ts'
import { plantSibling } from './planted.ts'

/** Two spellings of one value. */
export const canonicity: ForgeryClass = ({ scheme, layout, plain, contract, absent, absentSlot }) => {
  const liftAt = (offset: number) => (hex: string) => lift(scheme, hex, offset)
  const nodeFields: readonly (readonly [name: string, node: number, offset: number])[] = [
    ['next-free-node', 0, 0],
    ['sub-root', 0, layout.word],
    ['inner-first-left', 1, 0],
    ['inner-first-right', 1, 32],
    ['inner-middle', 20, 64 - layout.element],
    ['inner-last', 39, 0],
    ['sibling-prev', 40, layout.prev],
    ['sibling-key', 40, layout.hKey],
    ['sibling-value', 40, layout.opening - layout.element],
    ['leaf-prev', 41, layout.prev],
    ['leaf-next', 41, layout.next],
    ['leaf-key', 41, layout.hKey],
    ['leaf-value', 41, layout.hVal],
  ]
  const indexWords: readonly (readonly [name: string, node: number, offset: number])[] = [
    ['next-free-node', 0, 0],
    ['prev', 41, 0],
    ['next', 41, layout.word],
    ['sibling-prev', 40, 0],
  ]
  /** Words of the account value that hold field elements. */
  const valueWords: readonly (readonly [name: string, word: number])[] = [
    ['storage-root', 2],
    ['snark-code-hash', 3],
    ...(scheme.name === 'mimc'
      ? ([
          ['nonce', 0],
          ['balance', 1],
          ['code-size', 5],
        ] as const)
      : []),
  ]
  const planted = plantSibling(scheme, plain.address, zeros(32))
  changeNode(planted.answer.accountProof.proof, 39, liftAt(0))
  return [
    ...range(layout.elements).flatMap(element =>
      (['left', 'right'] as const).map(
        (side): Forgery => ({
          name: `neighbour-key-lifted-${side}-${element}`,
          code: 'NON_CANONICAL',
          description: `Element ${element} of a neighbour’s key hash raised by the modulus: it hashes the same and sorts differently.`,
          from: absent,
          forge: ({ accountProof }) =>
            changeNode(accountProof[`${side}Proof`], 41, liftAt(layout.hKey + element * layout.element)),
        }),
      ),
    ),
    {
      name: 'slot-neighbour-key-lifted',
      code: 'NON_CANONICAL',
      description: 'The same in a storage proof.',
      from: absentSlot,
      forge: answer => changeNode(slotProof(answer).leftProof, 41, liftAt(layout.hKey)),
    },
    ...nodeFields.map(
      ([name, node, offset]): Forgery => ({
        name: `element-lifted-${name}`,
        code: 'NON_CANONICAL',
        description: `An element of entry ${node} (offset ${offset}) raised by the modulus.`,
        forge: ({ accountProof }) => changeNode(accountProof.proof, node, liftAt(offset)),
      }),
    ),
    {
      name: 'zero-lifted-inner',
      code: 'NON_CANONICAL',
      description:
        'A zero of an inner node raised by the modulus. A hash that does not reduce what it reads takes it for zero all the same.',
      forge: () => planted.answer,
      claim: { stateRoot: planted.root },
    },
    {
      name: 'element-lifted-slot-node',
      code: 'NON_CANONICAL',
      description: 'An inner node of a storage proof.',
      from: contract,
      forge: answer => changeNode(slotProof(answer, 1).proof, 7, liftAt(32)),
    },
    ...valueWords.map(
      ([name, word]): Forgery => ({
        name: `account-value-lifted-${name}`,
        code: 'NON_CANONICAL',
        description: 'An element of the account value raised by the modulus: a second spelling of the same account.',
        forge: ({ accountProof: { proof } }) => {
          proof.value = lift(scheme, proof.value, 32 * word)
        },
      }),
    ),
    {
      name: 'neighbour-value-lifted',
      code: 'NON_CANONICAL',
      description: 'An element of a neighbour’s account value raised by the modulus.',
      from: absent,
      forge: ({ accountProof: { leftProof } }) => {
        leftProof.value = lift(scheme, leftProof.value, 64)
      },
    },
    ...indexWords.map(
      ([name, node, offset]): Forgery => ({
        name: `stray-byte-${name}`,
        code: scheme.name === 'mimc' ? 'INDEX_OUT_OF_RANGE' : 'NON_CANONICAL',
        description: 'A byte that an index word leaves zero is not: the word spells no index below 2^40.',
        forge: ({ accountProof }) => changeNode(accountProof.proof, node, hex => flipBit(hex, offset)),
      }),
    ),
  ]
}
