/**
 * Writes the evidence vectors: `npm run vectors`. The L1 tries are grown by an independent
 * implementation, the L2 answers by the world; every run writes the same bytes, and a test compares.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/anchor/rlp.ts'
import { mappingSlot } from '../../src/anchor/slots.ts'
import { createEvidence, encodeHeader } from '../../src/anchor.ts'
import { bytesToHex, hexToBytes } from '../../src/bytes.ts'
import type { ErrorCode, Hex, Scheme } from '../../src/index.ts'
import { mimc } from '../../src/mimc.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { createWorld } from '../../src/world.ts'
import type { Flag } from '../vector.ts'
import { createL1, integer, type LooseEthProof, loneLeaf, loneProof, loneStorage, named } from './l1.ts'
import type { Accepted, EvidenceVector, VectorClaim } from './vector.ts'

const toBytes = (hex: string) => hexToBytes(hex, hex.length / 2 - 1)
const keccakOf = (hex: Hex): Hex => bytesToHex(keccak_256(toBytes(hex)))
const rollup = { name: 'devnet', address: named('rollup contract', 20) }
const BLOCK = 0x1b4n
const CURRENT = 0x1c0n
const rootSlot = (l2BlockNumber: bigint) => BigInt(mappingSlot(282n, l2BlockNumber))
const address = named('holder', 20)
const [present, absent] = [named('slot'), named('empty slot')]
const value: Hex = `0x${'00'.repeat(31)}2a`

/** A bundle as a forger sees it. */
interface LooseBundle {
  [field: string]: unknown
  rollup: { name?: unknown; address: unknown }
  l1?: { header?: unknown; proof?: unknown }
  request: { address: unknown; storageKeys: unknown }
  answer?: unknown
}

/** The honest bundle and all that can be known of it. */
async function honest(scheme: Scheme) {
  const world = createWorld(scheme)
  for (let index = 0; index < 3; index++) world.setAccount(named(`L2 account ${index}`, 20), { nonce: BigInt(index) })
  world.setAccount(address, { nonce: 3n, balance: 5n })
  world.setStorage(address, present, value)
  const stateRoot = world.stateRoot()
  const storage = new Map([
    [281n, CURRENT],
    [rootSlot(BLOCK), BigInt(stateRoot)],
    ...Array.from({ length: 12 }, (_, index) => [rootSlot(BigInt(index)), BigInt(named(`root ${index}`))] as const),
  ])
  const l1 = await createL1(rollup.address, storage)
  const proofOf = (l2BlockNumber: bigint) => l1.getProof(rollup.address, [rootSlot(l2BlockNumber), 281n])
  const header = encodeHeader(l1.block)
  const bundleOf = (storageKeys: Hex[], holder: Hex, proof: LooseEthProof): LooseBundle => ({
    ...createEvidence({
      scheme,
      rollup,
      l2BlockNumber: BLOCK,
      address: holder,
      storageKeys,
      answer: world.getProof(holder, storageKeys),
      l1: { block: l1.block, proof },
    }),
  })
  return { stateRoot, l1, header, storage, proofOf, bundleOf, blockHash: keccakOf(header), proof: await proofOf(BLOCK) }
}

type Files = Map<string, string>

function adder(files: Files) {
  return (name: string, vector: EvidenceVector) => {
    const path = `${vector.expected.valid ? 'valid' : 'invalid'}/${name}.json`
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(vector, null, 1)}\n`)
  }
}

async function addValid(files: Files, scheme: Scheme): Promise<void> {
  const { bundleOf, proof, blockHash, stateRoot, l1 } = await honest(scheme)
  const storageKeys = [present, absent]
  const accepted: Accepted = {
    valid: true,
    reach: 'l1BlockHash',
    address,
    stateRoot,
    l2BlockNumber: `0x${BLOCK.toString(16)}`,
    currentL2BlockNumber: `0x${CURRENT.toString(16)}`,
    l1Block: { number: '0x16e3600', timestamp: '0x69000000', hash: blockHash, stateRoot: l1.stateRoot },
    account: { nonce: '0x3', balance: '0x5' },
    storage: [
      { key: present, value, exists: true },
      { key: absent, value: `0x${'00'.repeat(32)}`, exists: false },
    ],
  }
  const all = { l2BlockNumber: accepted.l2BlockNumber as Hex, address, storageKeys }
  const add = adder(files)
  const accept = (
    name: string,
    description: string,
    claim: Omit<VectorClaim, 'rollup'> & Partial<VectorClaim>,
    bundle: LooseBundle,
    expected: Partial<Accepted> = {},
  ) =>
    add(`${scheme.name}-${name}`, {
      description,
      operation: 'verifyEvidence',
      scheme: scheme.name,
      claim: { rollup, ...claim },
      bundle,
      expected: { ...accepted, ...expected },
    })

  const bundle = bundleOf(storageKeys, address, proof)
  const trusted = { l1BlockHash: blockHash }
  accept('block-hash', 'From an L1 block hash, with everything stated.', { trusted, ...all }, bundle)
  accept('nothing-stated', 'Block, address and keys are what the bundle says.', { trusted }, bundle)
  const withoutHeader = { ...bundle, l1: { proof } }
  accept(
    'state-root',
    'From an L1 state root; no header.',
    { trusted: { l1StateRoot: l1.stateRoot }, ...all },
    withoutHeader,
    {
      reach: 'l1StateRoot',
      l1Block: null,
    },
  )
  const { l1: _, ...withoutL1 } = bundle
  const l2 = { reach: 'l2StateRoot', l1Block: null, currentL2BlockNumber: null }
  accept(
    'l2-root',
    'From an L2 state root; no L1 part.',
    { trusted: { l2StateRoot: stateRoot }, ...all },
    withoutL1,
    l2,
  )
  accept(
    'l2-root-nothing-stated',
    'From an L2 state root: the block that the bundle names is not proven, and not returned.',
    { trusted: { l2StateRoot: stateRoot } },
    bundle,
    { ...l2, l2BlockNumber: null },
  )
  const [rootProof] = proof.storageProof
  const rootAlone = { ...proof, storageProof: rootProof ? [rootProof] : [] }
  accept(
    'root-alone',
    'Without currentL2BlockNumber.',
    { trusted, ...all },
    bundleOf(storageKeys, address, rootAlone),
    {
      currentL2BlockNumber: null,
    },
  )
  const bare = {
    accountProof: proof.accountProof,
    storageProof: proof.storageProof.map(({ key, proof }) => ({ key, proof })),
  }
  accept('nothing-beside', 'Without the convenience fields.', { trusted, ...all }, bundleOf(storageKeys, address, bare))
  const stranger = named('nobody', 20)
  accept(
    'absent-account',
    'An account that does not exist.',
    { trusted, address: stranger },
    bundleOf([absent], stranger, proof),
    {
      address: stranger,
      account: null,
      storage: [{ key: absent, value: `0x${'00'.repeat(32)}`, exists: false }],
    },
  )
  const elsewhere = await createL1(
    rollup.address,
    new Map([
      [7n, CURRENT],
      [BigInt(mappingSlot(5n, BLOCK)), BigInt(stateRoot)],
    ]),
  )
  const movedProof = await elsewhere.getProof(rollup.address, [BigInt(mappingSlot(5n, BLOCK)), 7n])
  accept(
    'own-layout',
    'A contract with another storage layout.',
    {
      rollup: { ...rollup, layout: { stateRootHashes: '0x5', currentL2BlockNumber: '0x7' } },
      trusted: { l1StateRoot: elsewhere.stateRoot },
    },
    { ...bundleOf(storageKeys, address, movedProof), l1: { proof: movedProof } },
    { reach: 'l1StateRoot', l1Block: null },
  )
}

async function addInvalid(files: Files): Promise<void> {
  const scheme = poseidon2
  const { bundleOf, proof, proofOf, blockHash, header, l1, storage } = await honest(scheme)
  const bundle = bundleOf([], address, proof)
  const add = adder(files)
  const refuse = (
    name: string,
    code: ErrorCode,
    flag: Flag,
    description: string,
    forged: unknown,
    claim: Partial<VectorClaim> = {},
  ) =>
    add(name, {
      description,
      flag,
      operation: 'verifyEvidence',
      scheme: scheme.name,
      claim: { rollup, trusted: { l1BlockHash: blockHash }, ...claim },
      bundle: forged,
      expected: { valid: false, code },
    })
  const withHeader = (forged: unknown) => ({ ...bundle, l1: { header: forged, proof } })
  const withProof = (forged: unknown) => ({ ...bundle, l1: { header, proof: forged } })

  // The header.
  const items = decodeRlp(toBytes(header)) as RlpItem[]
  const otherRoot = bytesToHex(encodeRlp(items.with(3, toBytes(named('forged state')))))
  refuse(
    'header-forged-state',
    'HEADER_HASH_MISMATCH',
    'Root',
    'A header with a state root of the forger.',
    withHeader(otherRoot),
  )
  refuse('header-of-another-block', 'HEADER_HASH_MISMATCH', 'Root', 'The trusted hash is of another block.', bundle, {
    trusted: { l1BlockHash: named('another block') },
  })
  /** What the trusted hash stands for is not what a header should be: only the decoder stands in the way. */
  const vouched = (name: string, code: ErrorCode, flag: Flag, description: string, rlp: Uint8Array) => {
    const forged = bytesToHex(rlp)
    refuse(name, code, flag, description, withHeader(forged), { trusted: { l1BlockHash: keccakOf(forged) } })
  }
  vouched(
    'header-trailing-byte',
    'RLP_NON_CANONICAL',
    'Canonicity',
    'A byte after the header.',
    Uint8Array.of(...toBytes(header), 0),
  )
  vouched(
    'header-cut',
    'RLP_NON_CANONICAL',
    'Canonicity',
    'The header lacks its last byte.',
    toBytes(header).subarray(0, -1),
  )
  vouched('header-14-fields', 'HEADER_MALFORMED', 'Shape', 'A field too few.', encodeRlp(items.slice(0, 14)))
  vouched(
    'header-24-fields',
    'HEADER_MALFORMED',
    'Shape',
    'More fields than any fork has.',
    encodeRlp([...items, ...items.slice(0, 3)]),
  )
  vouched(
    'header-short-root',
    'HEADER_MALFORMED',
    'Shape',
    'A state root of 31 bytes.',
    encodeRlp(items.with(3, new Uint8Array(31))),
  )
  vouched('header-nested', 'HEADER_MALFORMED', 'Shape', 'A list in place of a string.', encodeRlp(items.with(3, [])))
  vouched(
    'header-padded-number',
    'HEADER_QUANTITY',
    'Canonicity',
    'A number with a leading zero.',
    encodeRlp(items.with(8, Uint8Array.of(0, 1))),
  )
  refuse('header-long', 'WRONG_LENGTH', 'Shape', 'A header of 7000 bytes.', withHeader(`0x${'00'.repeat(7000)}`))
  refuse('header-not-hex', 'BAD_HEX', 'Encoding', 'A header that is not hexadecimal.', withHeader('0xzz'))
  const encode = (name: string, code: ErrorCode, flag: Flag, description: string, change: object) =>
    add(name, {
      description,
      flag,
      operation: 'encodeHeader',
      block: { ...l1.block, ...change },
      expected: { valid: false, code },
    })
  encode('block-fork-skipped', 'HEADER_FIELD_ORDER', 'Shape', 'Prague without the fields of Shanghai.', {
    withdrawalsRoot: null,
  })
  encode('block-later-fork-skipped', 'HEADER_FIELD_ORDER', 'Shape', 'slotNumber without blockAccessListHash.', {
    slotNumber: '0x1',
  })
  encode('block-padded-quantity', 'HEADER_QUANTITY', 'Canonicity', 'A quantity with a leading zero.', {
    number: '0x01',
  })
  encode('block-wide-quantity', 'HEADER_QUANTITY', 'Canonicity', 'A gas limit of 9 bytes.', {
    gasLimit: `0x1${'00'.repeat(8)}`,
  })
  encode('block-no-state-root', 'HEADER_MALFORMED', 'Shape', 'No state root.', { stateRoot: null })

  // The Merkle-Patricia proof.
  const changeNodes = (change: (nodes: string[]) => string[]) => ({
    ...proof,
    accountProof: change([...proof.accountProof]),
  })
  const flipLast = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
  refuse(
    'node-altered',
    'MPT_HASH_MISMATCH',
    'Path',
    'A node with its last bit changed.',
    withProof(changeNodes(nodes => nodes.with(-1, flipLast(nodes.at(-1) ?? '')))),
  )
  refuse(
    'nodes-reordered',
    'MPT_HASH_MISMATCH',
    'Path',
    'The nodes from the leaf up.',
    withProof(changeNodes(nodes => nodes.reverse())),
  )
  refuse('l1-state-root-wrong', 'MPT_HASH_MISMATCH', 'Root', 'The proof is of another L1 state.', bundle, {
    trusted: { l1StateRoot: named('another state') },
  })
  const [rootSlotProof, currentProof] = proof.storageProof
  if (!rootSlotProof || !currentProof) throw new Error('two slots were asked for')
  refuse(
    'slot-node-of-another-slot',
    'MPT_NODES_MISSING',
    'Binding',
    'The slot is proven by the way to another slot.',
    withProof({
      ...proof,
      storageProof: [{ ...rootSlotProof, proof: rootSlotProof.proof.slice(0, 1) }, currentProof],
    }),
  )
  refuse(
    'node-missing',
    'MPT_NODES_MISSING',
    'Path',
    'The proof lacks its last node.',
    withProof(changeNodes(nodes => nodes.slice(0, -1))),
  )
  refuse('nodes-none', 'MPT_NODES_MISSING', 'Path', 'No nodes.', withProof(changeNodes(() => [])))
  refuse(
    'node-unused',
    'MPT_NODES_UNUSED',
    'Path',
    'A node too many.',
    withProof(changeNodes(nodes => [...nodes, nodes[0] ?? ''])),
  )
  refuse(
    'nodes-ten-thousand',
    'MPT_NODES_UNUSED',
    'Shape',
    'Ten thousand nodes.',
    withProof(changeNodes(() => new Array<string>(10_000).fill('0x80'))),
  )
  refuse(
    'node-long',
    'WRONG_LENGTH',
    'Shape',
    'A node of 600 bytes.',
    withProof(changeNodes(() => [`0x${'00'.repeat(600)}`])),
  )
  refuse(
    'node-not-hex',
    'BAD_HEX',
    'Encoding',
    'A node that is not hexadecimal.',
    withProof(changeNodes(() => ['0x8'])),
  )
  /** L1 states that no client has: their roots vouch for a node that only the decoder can refuse. */
  const crafted = (
    name: string,
    code: ErrorCode,
    flag: Flag,
    description: string,
    state: { stateRoot: Hex; proof: object },
  ) =>
    refuse(
      name,
      code,
      flag,
      description,
      { ...bundle, l1: { proof: state.proof } },
      { trusted: { l1StateRoot: state.stateRoot } },
    )
  const contract = toBytes(rollup.address)
  const noSlots = [{ key: rootSlotProof.key, proof: [] }]
  const account = encodeRlp([integer(1n), integer(0n), toBytes(named('root')), toBytes(named('code'))])
  const path = Uint8Array.of(0x20, ...keccak_256(contract))
  crafted(
    'node-of-three-items',
    'MPT_NODE_MALFORMED',
    'Shape',
    'A node of three items.',
    loneProof(encodeRlp([path, account, account]), noSlots),
  )
  crafted(
    'node-short-leaf',
    'MPT_NODE_MALFORMED',
    'Path',
    'A leaf that ends before the key does.',
    loneProof(encodeRlp([path.subarray(0, -1), account]), noSlots),
  )
  crafted(
    'node-branch-with-value',
    'MPT_NODE_MALFORMED',
    'Path',
    'The value stands in a branch.',
    loneProof(encodeRlp([...new Array<Uint8Array>(16).fill(new Uint8Array(0)), account]), noSlots),
  )
  crafted(
    'node-long-embedded',
    'MPT_NODE_MALFORMED',
    'Canonicity',
    'A child of more than 31 bytes stands in its parent.',
    loneProof(encodeRlp(new Array<RlpItem>(17).fill(new Uint8Array(0)).with(0, [path, account])), noSlots),
  )
  crafted(
    'path-padded',
    'MPT_PATH_NON_CANONICAL',
    'Canonicity',
    'A path whose padding is not zero.',
    loneProof(loneLeaf(contract, account, 0x21), noSlots),
  )
  crafted(
    'path-flagged',
    'MPT_PATH_NON_CANONICAL',
    'Canonicity',
    'A path with an unknown flag.',
    loneProof(loneLeaf(contract, account, 0x60), noSlots),
  )
  crafted(
    'node-trailing-byte',
    'RLP_NON_CANONICAL',
    'Canonicity',
    'A byte after a node.',
    loneProof(Uint8Array.of(...loneLeaf(contract, account), 0), noSlots),
  )
  crafted(
    'account-three-fields',
    'L1_ACCOUNT_MALFORMED',
    'Value',
    'An account without a code hash.',
    loneProof(loneLeaf(contract, encodeRlp((decodeRlp(account) as RlpItem[]).slice(0, 3))), noSlots),
  )
  crafted(
    'account-padded-nonce',
    'L1_ACCOUNT_MALFORMED',
    'Canonicity',
    'A nonce with a leading zero.',
    loneProof(loneLeaf(contract, encodeRlp((decodeRlp(account) as RlpItem[]).with(0, Uint8Array.of(0, 1)))), noSlots),
  )
  const slot = rootSlot(BLOCK)
  const lone = (encoded: Uint8Array) => loneStorage(rollup.address, slot, loneLeaf(toBytes(rootSlotProof.key), encoded))
  crafted('slot-zero', 'L1_VALUE_MALFORMED', 'Value', 'A slot that holds a zero.', lone(encodeRlp(new Uint8Array(0))))
  crafted(
    'slot-padded',
    'L1_VALUE_MALFORMED',
    'Canonicity',
    'A value with a leading zero.',
    lone(encodeRlp(Uint8Array.of(0, 1))),
  )
  crafted(
    'slot-long',
    'L1_VALUE_MALFORMED',
    'Value',
    'A value of 33 bytes.',
    lone(encodeRlp(new Uint8Array(33).fill(1))),
  )
  crafted(
    'slot-list',
    'L1_VALUE_MALFORMED',
    'Value',
    'A list in place of a value.',
    lone(encodeRlp([Uint8Array.of(1)])),
  )

  // What stands around it.
  refuse('l1-proof-array', 'L1_PROOF_MALFORMED', 'Shape', 'An array in place of the result.', withProof([]))
  refuse(
    'l1-proof-no-slots',
    'L1_PROOF_MALFORMED',
    'Shape',
    'No storageProof.',
    withProof({ accountProof: proof.accountProof }),
  )
  refuse(
    'l1-address-of-another',
    'L1_KEY_MISMATCH',
    'Binding',
    'The answer names another contract.',
    withProof({ ...proof, address: named('other', 20) }),
  )
  refuse(
    'l1-slots-reordered',
    'L1_KEY_MISMATCH',
    'Binding',
    'The two slots in the other order.',
    withProof({ ...proof, storageProof: [...proof.storageProof].reverse() }),
  )
  refuse(
    'l1-slot-of-another-block',
    'L1_KEY_MISMATCH',
    'Binding',
    'The entry of another L2 block.',
    withProof(await proofOf(3n)),
  )
  refuse(
    'l1-slots-none',
    'L1_STORAGE_PROOF_COUNT',
    'Shape',
    'No storage proofs.',
    withProof({ ...proof, storageProof: [] }),
  )
  refuse(
    'l1-slots-three',
    'L1_STORAGE_PROOF_COUNT',
    'Shape',
    'A storage proof too many.',
    withProof({ ...proof, storageProof: [...proof.storageProof, currentProof] }),
  )
  for (const [field, lie] of Object.entries({
    balance: '0x1',
    nonce: '0x2',
    storageHash: named('x'),
    codeHash: named('y'),
  })) {
    refuse(
      `l1-${field.toLowerCase()}-lie`,
      'L1_PROOF_DISAGREES',
      'Value',
      `${field} is not what is proven.`,
      withProof({ ...proof, [field]: lie }),
    )
  }
  refuse(
    'l1-value-lie',
    'L1_PROOF_DISAGREES',
    'Value',
    'The value of a slot is not what is proven.',
    withProof({
      ...proof,
      storageProof: [{ ...rootSlotProof, value: named('forged root') }, currentProof],
    }),
  )

  // The contract.
  const empty = await createL1(named('other contract', 20), new Map([[1n, 1n]]))
  refuse(
    'no-contract',
    'ANCHOR_NO_CONTRACT',
    'Root',
    'There is no such contract on this L1.',
    { ...bundle, l1: { proof: await empty.getProof(rollup.address, [slot, 281n]) } },
    { trusted: { l1StateRoot: empty.stateRoot } },
  )
  refuse('no-root', 'ANCHOR_NO_ROOT', 'Root', 'A block inside a finalization: the contract has no root for it.', {
    ...withProof(await proofOf(BLOCK - 1n)),
    l2BlockNumber: '0x1b3',
  })
  const early = await createL1(rollup.address, new Map([...storage, [281n, BLOCK - 1n]]))
  refuse(
    'block-ahead',
    'ANCHOR_BLOCK_AHEAD',
    'Root',
    'The contract says that an earlier block is the last finalized one.',
    { ...bundle, l1: { proof: await early.getProof(rollup.address, [slot, 281n]) } },
    { trusted: { l1StateRoot: early.stateRoot } },
  )

  // The bundle.
  for (const [name, forged] of Object.entries({
    'bundle-null': null,
    'bundle-array': [bundle],
    'bundle-no-version': { ...bundle, version: undefined },
    'bundle-scheme-unknown': { ...bundle, scheme: 'keccak' },
    'bundle-number-padded': { ...bundle, l2BlockNumber: '0x01b4' },
    'bundle-number-json': { ...bundle, l2BlockNumber: 436 },
    'bundle-no-request': { ...bundle, request: null },
    'bundle-no-keys': { ...bundle, request: { address } },
    'bundle-l1-string': { ...bundle, l1: 'x' },
    'bundle-name-number': { ...bundle, rollup: { ...rollup, name: 1 } },
  })) {
    refuse(name, 'EVIDENCE_MALFORMED', 'Shape', 'Not the shape of a bundle.', forged)
  }
  refuse('bundle-version-2', 'EVIDENCE_VERSION', 'Shape', 'A version that is not known.', { ...bundle, version: 2 })
  refuse('bundle-version-string', 'EVIDENCE_VERSION', 'Shape', 'The version as a string.', { ...bundle, version: '1' })
  refuse('scheme-of-another', 'EVIDENCE_SCHEME_MISMATCH', 'Binding', 'A bundle of the other scheme.', {
    ...bundle,
    scheme: 'mimc',
  })
  refuse('rollup-of-another', 'EVIDENCE_ROLLUP_MISMATCH', 'Binding', 'A bundle of another rollup.', bundle, {
    rollup: { address: named('other rollup', 20) },
  })
  refuse('rollup-name-of-another', 'EVIDENCE_ROLLUP_MISMATCH', 'Binding', 'The label is of another rollup.', bundle, {
    rollup: { ...rollup, name: 'mainnet' },
  })
  refuse('block-of-another', 'EVIDENCE_BLOCK_MISMATCH', 'Binding', 'A bundle of an older block.', bundle, {
    l2BlockNumber: '0x1b5',
  })
  refuse('address-of-another', 'EVIDENCE_ADDRESS_MISMATCH', 'Binding', 'A true bundle of another account.', bundle, {
    address: named('victim', 20),
  })
  const keyed = bundleOf([present, absent], address, proof)
  refuse('keys-reordered', 'EVIDENCE_KEYS_MISMATCH', 'Binding', 'The keys in another order.', keyed, {
    storageKeys: [absent, present],
  })
  refuse('keys-more', 'EVIDENCE_KEYS_MISMATCH', 'Binding', 'More keys than expected.', keyed, {
    storageKeys: [present],
  })
  refuse('keys-fewer', 'EVIDENCE_KEYS_MISMATCH', 'Binding', 'Fewer keys than expected.', bundle, {
    storageKeys: [present],
  })
  refuse('l1-missing', 'EVIDENCE_L1_MISSING', 'Shape', 'No L1 part.', { ...bundle, l1: undefined })
  refuse('l1-header-missing', 'EVIDENCE_L1_MISSING', 'Shape', 'No header, and a block hash to start from.', {
    ...bundle,
    l1: { proof },
  })
  refuse('l1-proof-missing', 'EVIDENCE_L1_MISSING', 'Shape', 'No proof of the contract.', { ...bundle, l1: { header } })
  const otherAccount = bundleOf([], named('L2 account 1', 20), proof)
  refuse('answer-of-another', 'KEY_MISMATCH', 'Binding', 'The answer is for another account than the request.', {
    ...bundle,
    answer: otherAccount.answer,
  })
  const otherWorld = createWorld(scheme)
  otherWorld.setAccount(address, { balance: 10n ** 24n })
  refuse('answer-of-another-state', 'STATE_ROOT_MISMATCH', 'Root', 'An answer from a state of the forger.', {
    ...bundle,
    answer: otherWorld.getProof(address, []),
  })
  refuse('trusted-nothing', 'CLAIM_INVALID', 'Root', 'The caller trusts nothing.', bundle, { trusted: {} })
  refuse('trusted-two', 'CLAIM_INVALID', 'Root', 'The caller names two trusted inputs.', bundle, {
    trusted: { l1BlockHash: blockHash, l1StateRoot: l1.stateRoot },
  })

  const code = named('some code')
  const forgedCode = (name: string, description: string, forged: string) =>
    add(name, {
      description,
      flag: 'Value',
      operation: 'verifyCode',
      code: forged,
      codeHash: keccakOf(code),
      expected: { valid: false, code: 'CODE_HASH_MISMATCH' },
    })
  forgedCode('code-altered', 'Code with its last bit changed.', flipLast(code))
  forgedCode('code-empty', 'No code.', '0x')
}

/** The vectors: path below this folder -> content. */
export async function generateEvidence(): Promise<Files> {
  const files: Files = new Map()
  for (const scheme of [mimc, poseidon2]) await addValid(files, scheme)
  await addInvalid(files)
  return files
}

/** Replaces the vectors on disk. */
async function write(folder: string): Promise<void> {
  const files = await generateEvidence()
  for (const kind of ['valid', 'invalid']) {
    rmSync(join(folder, kind), { recursive: true, force: true })
    mkdirSync(join(folder, kind), { recursive: true })
  }
  for (const [path, content] of files) writeFileSync(join(folder, path), content)
  console.log(`${files.size} evidence vectors`)
}

const here = fileURLToPath(import.meta.url)
if (process.argv[1] === here) await write(dirname(here))
