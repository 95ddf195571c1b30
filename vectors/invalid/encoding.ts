import type { FailureCode } from '../../src/base/errors.ts'
import { zeros } from '../forge.ts'
import { type Forgery, type ForgeryClass, slotProof } from './forgery.ts'

/** Sloppy decoding: the bytes that are checked are not the bytes that were sent. */
export const encoding: ForgeryClass = ({ contract }) => {
  const value = (name: string, code: FailureCode, description: string, change: (hex: string) => unknown): Forgery => ({
    name: `value-${name}`,
    code,
    description,
    forge: ({ accountProof: { proof } }) => {
      Object.assign(proof, { value: change(proof.value) })
    },
  })
  const node = (name: string, code: FailureCode, description: string, entry: unknown): Forgery => ({
    name: `node-${name}`,
    code,
    description,
    from: contract,
    forge: answer => {
      Object.assign(slotProof(answer).proof.proofRelatedNodes, { 17: entry })
    },
  })
  return [
    value('without-prefix', 'BAD_HEX', 'No 0x.', hex => hex.slice(2)),
    value('upper-prefix', 'BAD_HEX', '0X is no prefix.', hex => `0X${hex.slice(2)}`),
    value('odd', 'BAD_HEX', 'Half a byte.', hex => hex.slice(0, -1)),
    value('not-hex', 'BAD_HEX', 'A letter that is no digit.', hex => `${hex.slice(0, -1)}g`),
    value('letter-for-f', 'BAD_HEX', 'A letter that a decoder of four bits takes for f.', hex =>
      hex.replace(/^(0x(?:..)*?)f/, '$1g'),
    ),
    value('wide-digit', 'BAD_HEX', 'A digit of another script.', hex => `${hex.slice(0, -1)}１`),
    value('space', 'BAD_HEX', 'A blank.', hex => `${hex.slice(0, -1)} `),
    value('sign', 'BAD_HEX', 'A sign among the digits.', hex => `0x-${hex.slice(3)}`),
    value('short', 'WRONG_LENGTH', 'One byte short.', hex => hex.slice(0, -2)),
    value('long', 'WRONG_LENGTH', 'One byte long.', hex => `${hex}00`),
    value('minimal', 'WRONG_LENGTH', 'No bytes.', () => '0x'),
    value('empty', 'BAD_HEX', 'An empty string.', () => ''),
    value('number', 'MALFORMED_RESPONSE', 'A number.', () => 5),
    value('object', 'MALFORMED_RESPONSE', 'An object with a length.', () => ({ length: 386, toString: '0x' })),
    node('without-prefix', 'BAD_HEX', 'A node without 0x.', '00'.repeat(65)),
    node('not-hex', 'BAD_HEX', 'A node with other characters.', `0x${'zz'.repeat(64)}`),
    node('short', 'WRONG_LENGTH', 'A node of 63 bytes.', zeros(63)),
    node('long', 'WRONG_LENGTH', 'A node of 65 bytes.', zeros(65)),
    node('null', 'MALFORMED_RESPONSE', 'A node that is null.', null),
    node('array', 'MALFORMED_RESPONSE', 'A node in an array.', [zeros(64)]),
    {
      name: 'key-short',
      code: 'WRONG_LENGTH',
      description: 'A storage key as a number of one byte.',
      from: contract,
      forge: answer => {
        slotProof(answer).key = '0x01'
      },
    },
    {
      name: 'key-not-hex',
      code: 'BAD_HEX',
      description: 'An address with a checksum prefix.',
      forge: ({ accountProof }) => {
        accountProof.key = `XE${accountProof.key}`
      },
    },
  ]
}
