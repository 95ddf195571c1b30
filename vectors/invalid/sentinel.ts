import { createWorld } from '../../src/devnet/index.ts'
import { type PlantedLeaf, plantSentinels, plantTree, zeros } from '../forge.ts'
import { wordFor } from '../vector.ts'
import { type Forgery, type ForgeryClass, slotProof } from './forgery.ts'
import { headAndTail, plantAccount } from './planted.ts'

/** HEAD or TAIL is misused, or another leaf takes its role. */
export const sentinel: ForgeryClass = truth => {
  const { scheme, plain, absent, absentSlot, ask } = truth
  const [head, tail] = plantSentinels(scheme, 2, 2)
  const planted = (name: string, description: string, change: Partial<Omit<PlantedLeaf, 'value'>>): Forgery => {
    const { root, answer } = plantAccount(scheme, plain.address, change)
    return { name, code: 'SENTINEL_MISPLACED', description, forge: () => answer, claim: { stateRoot: root } }
  }
  const misplaced = (end: 'head' | 'tail', index: number): Forgery[] => {
    const description = `The leaf index of a neighbour changed to that of ${end.toUpperCase()}.`
    return [
      {
        name: `neighbour-index-of-${end}`,
        code: 'SENTINEL_MISPLACED',
        description,
        from: absent,
        forge: ({ accountProof }) => {
          accountProof.leftLeafIndex = index
        },
      },
      {
        name: `slot-neighbour-index-of-${end}`,
        code: 'SENTINEL_MISPLACED',
        description,
        from: absentSlot,
        forge: answer => {
          slotProof(answer).rightLeafIndex = index
        },
      },
    ]
  }
  const ends = headAndTail(truth)
  const empty = ask(createWorld(scheme), plain.address)
  const [bareHead, bareTail] = plantSentinels(scheme, 1, 0)
  const valued = plantTree(scheme, [{ ...bareHead, hVal: wordFor(1) }, bareTail], 2)
  const zeroSibling = plantAccount(scheme, plain.address, {}, [
    { index: 3, prev: 0, next: 0, hKey: zeros(32), hVal: zeros(32), value: zeros(32) },
  ])
  return [
    {
      name: 'sibling-opening-zero',
      code: 'ZERO_OPENING',
      description: 'A sibling leaf whose opening is all zeros, in a tree that holds it.',
      forge: () => zeroSibling.answer,
      claim: { stateRoot: zeroSibling.root },
    },
    planted('head-key-elsewhere', 'The key of HEAD at index 2.', { hKey: head.hKey }),
    planted('tail-key-elsewhere', 'The key of TAIL at index 2.', { hKey: tail.hKey }),
    planted('key-at-head-index', 'An account at index 0.', { index: 0 }),
    planted('key-at-tail-index', 'An account at index 1.', { index: 1 }),
    ...misplaced('head', 0),
    ...misplaced('tail', 1),
    {
      name: 'head-as-account',
      code: 'WRONG_LENGTH',
      description: 'HEAD presented as the account.',
      forge: ({ accountProof }) => {
        Object.assign(accountProof, { leafIndex: 0, proof: ends.leftProof })
      },
    },
    {
      name: 'head-value-not-zero',
      code: 'VALUE_MISMATCH',
      description: 'HEAD served with a value.',
      from: empty,
      forge: ({ accountProof }) => {
        accountProof.leftProof.value = wordFor(1)
      },
    },
    {
      name: 'tail-value-long',
      code: 'WRONG_LENGTH',
      description: 'TAIL served with 192 zero bytes.',
      from: empty,
      forge: ({ accountProof }) => {
        accountProof.rightProof.value = zeros(192)
      },
    },
    {
      name: 'head-value-hash-not-zero',
      code: 'VALUE_MISMATCH',
      description: 'A HEAD whose leaf has a value hash.',
      from: empty,
      forge: ({ accountProof }) => {
        accountProof.leftProof = valued.prove(0)
        accountProof.rightProof = valued.prove(1)
      },
      claim: { stateRoot: valued.root },
    },
  ]
}
