import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { addressFor, keyFor } from '../vector.ts'
import { CONTRACT, makeWorld } from '../world.ts'
import { type ForgeryClass, slotProof } from './forgery.ts'

/** A proof of something else is given as the answer to the question. */
export const binding: ForgeryClass = ({ scheme, plain, contract, absent, world, ask }) => {
  const seventhSlot = slotProof(ask(world, CONTRACT, [keyFor(7)]).answer)
  const otherScheme = scheme.name === 'mimc' ? poseidon2 : mimc
  return [
    {
      name: 'key-of-another-account',
      code: 'KEY_MISMATCH',
      description: 'The true answer for another address.',
      forge: () => contract.answer,
      claim: { storageKeys: contract.storageKeys },
    },
    {
      name: 'key-rewritten',
      code: 'LEAF_KEY_MISMATCH',
      description: 'The same with the key field rewritten.',
      forge: () => {
        const { answer } = ask(world, addressFor('account 4'))
        answer.accountProof.key = plain.address
        return answer
      },
    },
    {
      name: 'slot-key-of-another-slot',
      code: 'KEY_MISMATCH',
      description: 'The true proof of another slot.',
      from: contract,
      forge: answer => {
        answer.storageProofs[0] = seventhSlot
      },
    },
    {
      name: 'slot-key-rewritten',
      code: 'LEAF_KEY_MISMATCH',
      description: 'The same with the key field rewritten.',
      from: contract,
      forge: answer => {
        answer.storageProofs[0] = { ...seventhSlot, key: slotProof(answer).key }
      },
    },
    {
      name: 'storage-proofs-reordered',
      code: 'KEY_MISMATCH',
      description: 'The storage proofs in another order.',
      from: contract,
      forge: answer => {
        answer.storageProofs.reverse()
      },
    },
    {
      name: 'storage-proof-doubled',
      code: 'KEY_MISMATCH',
      description: 'One storage proof in the place of two.',
      from: contract,
      forge: answer => {
        answer.storageProofs[1] = slotProof(answer)
      },
    },
    {
      name: 'key-misstated',
      code: 'KEY_MISMATCH',
      description: 'The true answer, but the key in it is another.',
      forge: ({ accountProof }) => {
        accountProof.key = contract.address
      },
    },
    {
      name: 'slot-key-misstated',
      code: 'KEY_MISMATCH',
      description: 'The true proof of a slot, but the key in it is another.',
      from: contract,
      forge: answer => {
        slotProof(answer).key = seventhSlot.key
      },
    },
    {
      name: 'storage-proofs-fewer-without-storage',
      code: 'STORAGE_PROOF_MISSING',
      description: 'One null for two slots of an account without storage.',
      forge: answer => ({ ...answer, storageProofs: [null] }),
      claim: { storageKeys: contract.storageKeys },
    },
    {
      name: 'storage-proof-missing',
      code: 'STORAGE_PROOF_MISSING',
      description: 'One storage proof fewer.',
      from: contract,
      forge: answer => {
        answer.storageProofs.pop()
      },
    },
    {
      name: 'storage-proofs-empty',
      code: 'STORAGE_PROOF_MISSING',
      description: 'An empty list against a contract with storage.',
      from: contract,
      forge: answer => {
        answer.storageProofs = []
      },
    },
    {
      name: 'storage-proofs-null',
      code: 'STORAGE_PROOF_MISSING',
      description: 'null against a contract with storage.',
      from: contract,
      forge: answer => ({ ...answer, storageProofs: [null, null] }),
    },
    {
      name: 'storage-proof-one-null',
      code: 'STORAGE_PROOF_MISSING',
      description: 'null for one of two slots.',
      from: contract,
      forge: answer => ({ ...answer, storageProofs: [slotProof(answer), null] }),
    },
    {
      name: 'storage-proof-extra',
      code: 'STORAGE_PROOF_UNEXPECTED',
      description: 'One storage proof more.',
      from: contract,
      forge: answer => {
        answer.storageProofs.push(slotProof(answer))
      },
    },
    {
      name: 'storage-proof-unasked',
      code: 'STORAGE_PROOF_UNEXPECTED',
      description: 'A storage proof, though no key was asked for.',
      forge: answer => {
        answer.storageProofs = [slotProof(contract.answer)]
      },
    },
    {
      name: 'storage-proof-for-absent-account',
      code: 'STORAGE_PROOF_UNEXPECTED',
      description: 'A slot of an account that is proven absent.',
      from: absent,
      forge: answer => {
        answer.storageProofs = [slotProof(contract.answer)]
      },
      claim: { storageKeys: [keyFor(1)] },
    },
    {
      name: 'account-proof-as-storage-proof',
      code: 'WRONG_LENGTH',
      description: 'An account proof in the place of a storage proof.',
      from: contract,
      forge: answer => {
        answer.storageProofs[0] = answer.accountProof
      },
    },
    {
      name: 'storage-proof-as-account-proof',
      code: 'WRONG_LENGTH',
      description: 'A storage proof in the place of the account proof.',
      from: contract,
      forge: answer => {
        answer.accountProof = slotProof(answer)
      },
    },
    {
      name: 'other-scheme',
      code: 'SCHEME_MISMATCH',
      description: 'The true answer of the other hash scheme.',
      forge: () => ask(makeWorld(otherScheme), plain.address).answer,
    },
  ]
}
