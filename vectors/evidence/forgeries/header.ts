import { bytesToHex } from '../../../src/base/bytes.ts'
import type { FailureCode } from '../../../src/base/errors.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../../src/verify/anchor/trie.ts'
import type { Flag } from '../../vector.ts'
import { named } from '../l1.ts'
import { keccakOf, toBytes } from '../truth.ts'
import type { Forgery, ForgeryClass } from './forgery.ts'

/** The L1 header, and the block that it is encoded from. */
export const header: ForgeryClass = ({ bundle, header, proof, l1, judge }) => {
  const bytes = toBytes(header)
  const items = decodeRlp(bytes) as RlpItem[]
  const withHeader = (forged: unknown) => ({ ...bundle, l1: { header: forged, proof } })
  /** The bytes match the trusted hash but are not a valid header, so only the decoder can refuse them. */
  const vouched = (name: string, code: FailureCode, flag: Flag, description: string, rlp: Uint8Array): Forgery => {
    const forged = bytesToHex(rlp)
    const input = judge(withHeader(forged), { trusted: { l1BlockHash: keccakOf(forged) } })
    return { name: `header-${name}`, code, flag, description, input }
  }
  const block = (name: string, code: FailureCode, flag: Flag, description: string, change: object): Forgery => ({
    name: `block-${name}`,
    code,
    flag,
    description,
    input: { operation: 'encodeHeader', block: { ...l1.block, ...change } },
  })
  return [
    {
      name: 'header-forged-state',
      code: 'HEADER_HASH_MISMATCH',
      flag: 'Root',
      description: 'A header with a state root of the forger.',
      input: judge(withHeader(bytesToHex(encodeRlp(items.with(3, toBytes(named('forged state'))))))),
    },
    {
      name: 'header-of-another-block',
      code: 'HEADER_HASH_MISMATCH',
      flag: 'Root',
      description: 'The trusted hash is of another block.',
      input: judge(bundle, { trusted: { l1BlockHash: named('another block') } }),
    },
    vouched('trailing-byte', 'RLP_NON_CANONICAL', 'Canonicity', 'A byte after the header.', Uint8Array.of(...bytes, 0)),
    vouched('cut', 'RLP_NON_CANONICAL', 'Canonicity', 'The header lacks its last byte.', bytes.subarray(0, -1)),
    vouched('14-fields', 'HEADER_MALFORMED', 'Shape', 'A field too few.', encodeRlp(items.slice(0, 14))),
    vouched(
      '24-fields',
      'HEADER_MALFORMED',
      'Shape',
      'More fields than any fork has.',
      encodeRlp([...items, ...items.slice(0, 3)]),
    ),
    vouched(
      'short-root',
      'HEADER_MALFORMED',
      'Shape',
      'A state root of 31 bytes.',
      encodeRlp(items.with(3, new Uint8Array(31))),
    ),
    vouched(
      'short-parent',
      'HEADER_MALFORMED',
      'Shape',
      'The hash of the parent has 31 bytes.',
      encodeRlp(items.with(0, new Uint8Array(31))),
    ),
    vouched(
      'nested-extra-data',
      'HEADER_MALFORMED',
      'Shape',
      'A list in place of the extra data.',
      encodeRlp(items.with(12, [])),
    ),
    vouched('nested', 'HEADER_MALFORMED', 'Shape', 'A list in place of a string.', encodeRlp(items.with(3, []))),
    vouched(
      'padded-number',
      'HEADER_QUANTITY',
      'Canonicity',
      'A number with a leading zero.',
      encodeRlp(items.with(8, Uint8Array.of(0, 1))),
    ),
    {
      name: 'header-long',
      code: 'WRONG_LENGTH',
      flag: 'Shape',
      description: 'A header of 7000 bytes.',
      input: judge(withHeader(`0x${'00'.repeat(7000)}`)),
    },
    {
      name: 'header-not-hex',
      code: 'BAD_HEX',
      flag: 'Encoding',
      description: 'A header that is not hexadecimal.',
      input: judge(withHeader('0xzz')),
    },
    block('fork-skipped', 'HEADER_FIELD_ORDER', 'Shape', 'Prague without the fields of Shanghai.', {
      withdrawalsRoot: null,
    }),
    block('later-fork-skipped', 'HEADER_FIELD_ORDER', 'Shape', 'slotNumber without blockAccessListHash.', {
      slotNumber: '0x1',
    }),
    block('padded-quantity', 'HEADER_QUANTITY', 'Canonicity', 'A quantity with a leading zero.', { number: '0x01' }),
    block('wide-quantity', 'HEADER_QUANTITY', 'Canonicity', 'A gas limit of 9 bytes.', {
      gasLimit: `0x1${'00'.repeat(8)}`,
    }),
    block('no-state-root', 'HEADER_MALFORMED', 'Shape', 'No state root.', { stateRoot: null }),
  ]
}
