import type { Hex } from '../../src/entry/index.ts'
import { hashStorageKey, hashStorageValue } from '../../src/verify/verifier/leaf-api.ts'
import { changeInteger, flipBit, plantSentinels, plantTree, zeros } from '../forge.ts'
import { keyFor, wordFor } from '../vector.ts'
import { type Forgery, type ForgeryClass, slotProof, type Truth } from './forgery.ts'
import { accountValueOf, plantAccount } from './planted.ts'

/** The value is not the one that the tree commits to, or is not allowed in a tree. */
export const value: ForgeryClass = truth => {
  const { scheme, plain, contract, absent, absentSlot } = truth
  const fields: readonly (readonly [name: string, offset: number])[] = [
    ['nonce', 31],
    ['balance', 63],
    ['code-hash', 159],
    ['code-size', 191],
  ]
  const tooLarge = (name: string, fields: Parameters<typeof accountValueOf>[1]): Forgery => {
    const { root, answer } = plantAccount(scheme, plain.address, { value: accountValueOf(scheme, fields) })
    return {
      name: `${name}-above-64-bits`,
      code: 'VALUE_OUT_OF_RANGE',
      description: `A ${name.replace('-', ' ')} of 2^64, and a tree that commits to it.`,
      forge: () => answer,
      claim: { stateRoot: root },
    }
  }
  return [
    {
      name: 'neighbour-value-altered',
      code: 'VALUE_MISMATCH',
      description: 'A neighbour’s value is not its own.',
      from: absent,
      forge: ({ accountProof: { leftProof } }) => {
        leftProof.value = flipBit(leftProof.value, 63)
      },
    },
    {
      name: 'neighbour-value-short',
      code: 'WRONG_LENGTH',
      description: 'A neighbour that is an account, served with 32 bytes.',
      from: absent,
      forge: ({ accountProof: { leftProof } }) => {
        leftProof.value = zeros(32)
      },
    },
    ...fields.map(
      ([name, offset]): Forgery => ({
        name: `account-${name}-altered`,
        code: 'VALUE_MISMATCH',
        description: `One bit of the account’s ${name.replace('-', ' ')}.`,
        forge: ({ accountProof: { proof } }) => {
          proof.value = flipBit(proof.value, offset)
        },
      }),
    ),
    {
      name: 'storage-root-replaced',
      code: 'VALUE_MISMATCH',
      description: 'The storage root of another contract.',
      from: contract,
      forge: ({ accountProof: { proof } }) => {
        proof.value = changeInteger(proof.value, 64, 32, () => BigInt(hashStorageKey(scheme, keyFor(1))))
      },
    },
    {
      name: 'slot-value-altered',
      code: 'VALUE_MISMATCH',
      description: 'One bit of a slot’s value.',
      from: contract,
      forge: answer => {
        const { proof } = slotProof(answer, 1)
        proof.value = flipBit(proof.value, 0)
      },
    },
    {
      name: 'slot-neighbour-value-altered',
      code: 'VALUE_MISMATCH',
      description: 'One bit of a neighbour’s value.',
      from: absentSlot,
      forge: answer => {
        const { rightProof } = slotProof(answer)
        rightProof.value = flipBit(rightProof.value, 31)
      },
    },
    tooLarge('nonce', { nonce: 2n ** 64n }),
    tooLarge('code-size', { codeSize: 2n ** 64n }),
    zeroSlot(truth),
  ]
}

/** No honest tree holds a slot of value zero, so both trees are planted. */
function zeroSlot({ scheme, plain }: Truth): Forgery {
  const [key, zero]: [Hex, Hex] = [keyFor(1), wordFor(0)]
  const [hKey, hVal] = [hashStorageKey(scheme, key), hashStorageValue(scheme, zero)]
  const slot = { index: 2, prev: 0, next: 1, hKey, hVal, value: zero }
  const storage = plantTree(scheme, [...plantSentinels(scheme, 2, 2), slot], 3)
  const account = plantAccount(scheme, plain.address, {
    value: changeInteger(accountValueOf(scheme, {}), 64, 32, () => BigInt(storage.root)),
  })
  return {
    name: 'slot-zero-present',
    code: 'ZERO_VALUE',
    description: 'A slot with value zero, and a tree that holds it: absent and present at once.',
    forge: () => ({ ...account.answer, storageProofs: [{ key, leafIndex: 2, proof: storage.prove(2) }] }),
    claim: { stateRoot: account.root, storageKeys: [key] },
  }
}
