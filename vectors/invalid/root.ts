import { createWorld } from '../../src/devnet/index.ts'
import { changeInteger, slice } from '../forge.ts'
import { bytesFor } from '../vector.ts'
import { CONTRACT } from '../world.ts'
import { changeNode, type ForgeryClass, nodeOf } from './forgery.ts'

/** The proof is of another state, another tree or another account. */
export const root: ForgeryClass = truth => {
  const { scheme, layout, plain, contract, otherContract, contractLater, absent, absentLater, absentSlot, ask } = truth
  const other = createWorld(scheme)
  other.setAccount(CONTRACT)
  other.skipLeaves(3, CONTRACT)
  return [
    {
      name: 'neighbours-of-two-roots',
      code: 'STATE_ROOT_MISMATCH',
      description: 'The left neighbour of this state, the right neighbour of a later one.',
      from: absent,
      forge: ({ accountProof }) => {
        const { rightProof, rightLeafIndex } = absentLater.answer.accountProof
        Object.assign(accountProof, { rightProof, rightLeafIndex })
      },
    },
    {
      name: 'neighbours-of-two-next-free-nodes',
      code: 'STATE_ROOT_MISMATCH',
      description: 'The right neighbour’s entry 0 has another nextFreeNode.',
      from: absent,
      forge: ({ accountProof }) =>
        changeNode(accountProof.rightProof, 0, node => changeInteger(node, layout.word - 1, 1, x => x + 1n)),
    },
    {
      name: 'state-root-of-another-block',
      code: 'STATE_ROOT_MISMATCH',
      description: 'A true answer, of a later block.',
      from: contract,
      forge: () => contractLater.answer,
    },
    {
      name: 'state-root-wrong',
      code: 'STATE_ROOT_MISMATCH',
      description: 'A true answer, another trusted root.',
      claim: { stateRoot: bytesFor('some root', 32) },
    },
    {
      name: 'state-root-is-sub-root',
      code: 'STATE_ROOT_MISMATCH',
      description: 'The sub-root is not the root.',
      claim: { stateRoot: slice(nodeOf(plain.answer.accountProof.proof, 0), layout.word, 32) },
    },
    {
      name: 'storage-proof-of-another-block',
      code: 'STORAGE_ROOT_MISMATCH',
      description: 'The account of one block, the storage of another.',
      from: contract,
      forge: answer => {
        answer.storageProofs = contractLater.answer.storageProofs
      },
    },
    {
      name: 'slot-of-another-account',
      code: 'STORAGE_ROOT_MISMATCH',
      description: 'The same slot of another contract.',
      from: contract,
      forge: answer => {
        answer.storageProofs = otherContract.answer.storageProofs
      },
    },
    {
      name: 'absent-slot-of-another-account',
      code: 'STORAGE_ROOT_MISMATCH',
      description: 'A slot absent from another contract.',
      from: absentSlot,
      forge: answer => {
        answer.storageProofs = ask(other, CONTRACT, absentSlot.storageKeys).answer.storageProofs
      },
    },
  ]
}
