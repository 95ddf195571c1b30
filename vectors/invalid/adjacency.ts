import type { Forgery, ForgeryClass } from './forgery.ts'
import { headAndTail, plantGap } from './planted.ts'

/** Neighbours that do not point at each other, which can hide leaves between them. */
export const adjacency: ForgeryClass = truth => {
  const { scheme, absent, otherAbsent } = truth
  const { leftProof, leftLeafIndex, rightProof, rightLeafIndex } = absent.answer.accountProof
  const other = otherAbsent.answer.accountProof
  const ends = headAndTail(truth)
  const neighbours = (name: string, description: string, replacement: object): Forgery => ({
    name,
    code: 'NOT_ADJACENT',
    description,
    from: absent,
    forge: ({ accountProof }) => {
      Object.assign(accountProof, replacement)
    },
  })
  const planted = (name: string, side: string, change: Parameters<typeof plantGap>[2]): Forgery => {
    const { root, answer } = plantGap(scheme, absent.address, change)
    const description = `Only one of the two pointers is right: the ${side} neighbour points elsewhere.`
    return { name, code: 'NOT_ADJACENT', description, from: absent, forge: () => answer, claim: { stateRoot: root } }
  }
  return [
    neighbours(
      'neighbours-not-adjacent',
      'HEAD and TAIL bracket every key, and both leaves are in the tree; those between them are hidden.',
      ends,
    ),
    neighbours('neighbours-of-two-gaps', 'The left neighbour of one gap, the right neighbour of another.', {
      rightProof: other.rightProof,
      rightLeafIndex: other.rightLeafIndex,
    }),
    neighbours('neighbours-swapped', 'Left and right exchanged.', {
      leftProof: rightProof,
      leftLeafIndex: rightLeafIndex,
      rightProof: leftProof,
      rightLeafIndex: leftLeafIndex,
    }),
    neighbours('same-leaf-twice-left', 'The left neighbour on both sides.', {
      rightProof: leftProof,
      rightLeafIndex: leftLeafIndex,
    }),
    neighbours('same-leaf-twice-right', 'The right neighbour on both sides.', {
      leftProof: rightProof,
      leftLeafIndex: rightLeafIndex,
    }),
    neighbours('head-twice', 'HEAD on both sides: one of its pointers points at itself.', {
      leftLeafIndex: 0,
      leftProof: ends.leftProof,
      rightLeafIndex: 0,
      rightProof: ends.leftProof,
    }),
    neighbours('tail-twice', 'TAIL on both sides: one of its pointers points at itself.', {
      leftLeafIndex: 1,
      leftProof: ends.rightProof,
      rightLeafIndex: 1,
      rightProof: ends.rightProof,
    }),
    planted('only-prev-pointer-right', 'left', { leftNext: 4 }),
    planted('only-next-pointer-right', 'right', { rightPrev: 4 }),
  ]
}
