import type { FailureCode } from '../../../src/base/errors.ts'
import type { Flag } from '../../vector.ts'
import { named } from '../l1.ts'
import type { Forgery, ForgeryClass } from './forgery.ts'

/** The fields of an `eth_getProof` answer apart from the nodes. */
export const ethProof: ForgeryClass = async ({ bundle, header, proof, proofOf, judge }) => {
  const [rootSlotProof, currentProof] = proof.storageProof
  const served = (name: string, code: FailureCode, flag: Flag, description: string, forged: unknown): Forgery => ({
    name: `l1-${name}`,
    code,
    flag,
    description,
    input: judge({ ...bundle, l1: { header, proof: forged } }),
  })
  const lies = { balance: '0x1', nonce: '0x2', storageHash: named('x'), codeHash: named('y') }
  return [
    served('proof-array', 'L1_PROOF_MALFORMED', 'Shape', 'An array in place of the result.', []),
    served('proof-no-slots', 'L1_PROOF_MALFORMED', 'Shape', 'No storageProof.', { accountProof: proof.accountProof }),
    served('address-of-another', 'L1_KEY_MISMATCH', 'Binding', 'The answer names another contract.', {
      ...proof,
      address: named('other', 20),
    }),
    served('slots-reordered', 'L1_KEY_MISMATCH', 'Binding', 'The two slots in the other order.', {
      ...proof,
      storageProof: proof.storageProof.toReversed(),
    }),
    served('slot-of-another-block', 'L1_KEY_MISMATCH', 'Binding', 'The entry of another L2 block.', await proofOf(3n)),
    served('slot-twice', 'L1_KEY_MISMATCH', 'Binding', 'A slot stands in the place of another.', {
      ...proof,
      storageProof: [...proof.storageProof, currentProof],
    }),
    served('slot-key-misstated', 'L1_KEY_MISMATCH', 'Binding', 'The key of a slot is not the one that is proven.', {
      ...proof,
      storageProof: [rootSlotProof, { ...currentProof, key: named('another key') }],
    }),
    served('nonce-of-33-bytes', 'BAD_HEX', 'Encoding', 'A number with more digits than any value has.', {
      ...proof,
      nonce: `0x${'0'.repeat(65)}1`,
    }),
    served('slots-none', 'L1_STORAGE_PROOF_COUNT', 'Shape', 'No storage proofs.', { ...proof, storageProof: [] }),
    served('slots-five', 'L1_STORAGE_PROOF_COUNT', 'Shape', 'A storage proof too many.', {
      ...proof,
      storageProof: [...proof.storageProof, currentProof, currentProof, currentProof],
    }),
    ...Object.entries(lies).map(([field, lie]) =>
      served(`${field.toLowerCase()}-lie`, 'L1_PROOF_DISAGREES', 'Value', `${field} is not what is proven.`, {
        ...proof,
        [field]: lie,
      }),
    ),
    served('value-lie', 'L1_PROOF_DISAGREES', 'Value', 'The value of a slot is not what is proven.', {
      ...proof,
      storageProof: [{ ...rootSlotProof, value: named('forged root') }, currentProof],
    }),
  ]
}
