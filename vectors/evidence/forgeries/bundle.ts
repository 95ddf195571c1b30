import type { FailureCode } from '../../../src/base/errors.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { named } from '../l1.ts'
import { absent, address, present, rollup } from '../truth.ts'
import type { VectorClaim } from '../vector.ts'
import type { Forgery, ForgeryClass } from './forgery.ts'

/** The bundle itself: its shape, its purpose, and whether its parts belong together. */
export const bundle: ForgeryClass = ({ scheme, bundle, bundleOf, header, proof, blockHash, l1, judge }) => {
  const malformed = (name: string, forged: unknown): Forgery => ({
    name: `bundle-${name}`,
    code: 'EVIDENCE_MALFORMED',
    flag: 'Shape',
    description: 'Not the shape of a bundle.',
    input: judge(forged),
  })
  const unknownVersion = (name: string, description: string, version: unknown): Forgery => ({
    name: `bundle-version-${name}`,
    code: 'EVIDENCE_VERSION',
    flag: 'Shape',
    description,
    input: judge({ ...bundle, version }),
  })
  /** A true bundle for something other than what the caller states. */
  const unexpected = (
    name: string,
    code: FailureCode,
    description: string,
    claim: Partial<VectorClaim>,
    honest = bundle,
  ): Forgery => ({ name, code, flag: 'Binding', description, input: judge(honest, claim) })
  const incomplete = (name: string, description: string, l1: object | undefined): Forgery => ({
    name,
    code: 'EVIDENCE_L1_MISSING',
    flag: 'Shape',
    description,
    input: judge({ ...bundle, l1 }),
  })
  /** A true bundle, and a claim that says nothing about it. */
  const invalid = (name: string, description: string, claim: object): Forgery => ({
    ...{ name, code: 'ARGUMENT_INVALID', flag: 'Binding', description },
    input: judge(bundle, claim),
  })
  const keyed = bundleOf([present, absent], address, proof)
  const otherWorld = createWorld(scheme)
  otherWorld.setAccount(address, { balance: 10n ** 24n })
  return [
    malformed('null', null),
    malformed('array', [bundle]),
    malformed('no-format', { ...bundle, format: undefined }),
    malformed('format-of-another', { ...bundle, format: 'rollup-state-proof/recording' }),
    malformed('no-version', { ...bundle, version: undefined }),
    malformed('no-kind', { ...bundle, kind: undefined }),
    malformed('kind-call', { ...bundle, kind: 'call' }),
    malformed('scheme-unknown', { ...bundle, scheme: 'keccak' }),
    malformed('number-padded', { ...bundle, l2BlockNumber: '0x01b4' }),
    malformed('number-json', { ...bundle, l2BlockNumber: 436 }),
    malformed('no-request', { ...bundle, request: null }),
    malformed('no-keys', { ...bundle, request: { address } }),
    malformed('l1-string', { ...bundle, l1: 'x' }),
    malformed('name-number', { ...bundle, rollup: { ...rollup, name: 1 } }),
    unknownVersion('3', 'A version that is not known.', 3),
    unknownVersion('string', 'The version as a string.', '1'),
    {
      name: 'scheme-of-another',
      code: 'EVIDENCE_SCHEME_MISMATCH',
      flag: 'Binding',
      description: 'A bundle of the other scheme.',
      input: judge({ ...bundle, scheme: 'mimc' }),
    },
    unexpected('rollup-of-another', 'EVIDENCE_ROLLUP_MISMATCH', 'A bundle of another rollup.', {
      rollup: { address: named('other rollup', 20) },
    }),
    {
      ...{ name: 'rollup-misstated', code: 'EVIDENCE_ROLLUP_MISMATCH', flag: 'Binding' },
      description: 'A true proof of the contract, but the bundle names another.',
      input: judge({ ...bundle, rollup: { ...rollup, address: named('other rollup', 20) } }),
    },
    {
      ...{ name: 'keys-misstated', code: 'EVIDENCE_KEYS_MISMATCH', flag: 'Binding' },
      description: 'A true answer for the keys, but the bundle names others.',
      input: judge(
        { ...keyed, request: { address, storageKeys: [absent, present] } },
        { storageKeys: [present, absent] },
      ),
    },
    unexpected('rollup-name-of-another', 'EVIDENCE_ROLLUP_MISMATCH', 'The label is of another rollup.', {
      rollup: { ...rollup, name: 'mainnet' },
    }),
    unexpected('block-of-another', 'EVIDENCE_BLOCK_MISMATCH', 'A bundle of an older block.', {
      l2BlockNumber: '0x1b5',
    }),
    unexpected('address-of-another', 'EVIDENCE_ADDRESS_MISMATCH', 'A true bundle of another account.', {
      address: named('victim', 20),
    }),
    unexpected(
      'keys-reordered',
      'EVIDENCE_KEYS_MISMATCH',
      'The keys in another order.',
      { storageKeys: [absent, present] },
      keyed,
    ),
    unexpected('keys-more', 'EVIDENCE_KEYS_MISMATCH', 'More keys than expected.', { storageKeys: [present] }, keyed),
    unexpected('keys-fewer', 'EVIDENCE_KEYS_MISMATCH', 'Fewer keys than expected.', { storageKeys: [present] }),
    incomplete('l1-missing', 'No L1 part.', undefined),
    incomplete('l1-header-missing', 'No header, and a block hash to start from.', { proof }),
    incomplete('l1-proof-missing', 'No proof of the contract.', { header }),
    {
      name: 'answer-of-another',
      code: 'KEY_MISMATCH',
      flag: 'Binding',
      description: 'The answer is for another account than the request.',
      input: judge({ ...bundle, answer: bundleOf([], named('L2 account 1', 20), proof).answer }),
    },
    {
      name: 'answer-of-another-state',
      code: 'STATE_ROOT_MISMATCH',
      flag: 'Root',
      description: 'An answer from a state of the forger.',
      input: judge({ ...bundle, answer: otherWorld.getProof(address, []) }),
    },
    invalid('claim-no-address', 'The caller leaves out the address.', { address: undefined }),
    invalid('claim-misspelt', 'The caller misspells the address of another account.', { adress: named('victim', 20) }),
    invalid('claim-rollup-misspelt', 'The caller misspells the layout of the contract.', {
      rollup: { ...rollup, layuot: { stateRootHashes: '0x5', currentL2BlockNumber: '0x7' } },
    }),
    {
      name: 'trusted-nothing',
      code: 'ARGUMENT_INVALID',
      flag: 'Root',
      description: 'The caller trusts nothing.',
      input: judge(bundle, { trusted: {} }),
    },
    {
      name: 'trusted-two',
      code: 'ARGUMENT_INVALID',
      flag: 'Root',
      description: 'The caller names two trusted inputs.',
      input: judge(bundle, { trusted: { l1BlockHash: blockHash, l1StateRoot: l1.stateRoot } }),
    },
  ]
}
