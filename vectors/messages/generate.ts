import type { FailureCode } from '../../src/base/errors.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { createMessageBundle } from '../../src/entry/messages.ts'
import { makeConsensus } from '../evidence/consensus.ts'
import { flipLast } from '../evidence/forgeries/forgery.ts'
import { type LooseEthProof, named } from '../evidence/l1.ts'
import { keccakOf } from '../evidence/truth.ts'
import type { Flag } from '../vector.ts'
import { hashOf, type Place, type Sent, slots } from './bridge.ts'
import { at, contentOf, inboxSlot, makeTruth, rollup, type Sealed, seal, spellMessage, type Truth } from './truth.ts'

type Operation = 'verifyMessageFromL2' | 'verifyMessageToL2' | 'readMessageArrival' | 'verifyEvidence'

/** A vector of a function of `rollup-state-proof/messages`. Numbers of messages are quantities. */
export interface MessagesVector {
  description: string
  /** The class of mistakes that an invalid vector detects. */
  flag?: Flag
  operation: Operation
  /** Of evidence. */
  kind?: 'message'
  /** The first argument. */
  input: unknown
  /** The second argument. */
  claim: Readonly<Record<string, unknown>>
  expected: { valid: true; verified: unknown } | { valid: false; code: FailureCode }
}

type Input = Pick<MessagesVector, 'operation' | 'kind' | 'input' | 'claim'>
/** What a row of a table states, in this order, and the input. */
type Row = readonly [name: string, code: FailureCode, flag: Flag, description: string, input: Input]

/** The vectors of messages: path below this folder -> content. */
export async function generateMessages(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const add = (kind: 'valid' | 'invalid', name: string, vector: MessagesVector) => {
    const path = `${kind}/${name}.json`
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(vector, null, 1)}\n`)
  }
  const truth = await makeTruth()
  for (const [name, description, verified, input] of await validCases(truth)) {
    add('valid', name, { description, ...input, expected: { valid: true, verified } })
  }
  for (const [name, description, verified, input] of await validEvidence(truth)) {
    add('valid', name, { description, ...input, expected: { valid: true, verified } })
  }
  const tables = [
    await evidenceForgeries(truth),
    await placeForgeries(truth),
    await l1Forgeries(truth),
    await toL2Forgeries(truth),
    arrivalForgeries(),
  ]
  for (const [name, code, flag, description, input] of tables.flat()) {
    add('invalid', name, { description, flag, ...input, expected: { valid: false, code } })
  }
  return files
}

interface Placed {
  sent: Sent
  place: Place
}

const claimOf = ({ l1StateRoot }: Pick<Sealed, 'l1StateRoot'>, message: Sent) => ({
  ...{ l1StateRoot, rollup, message: spellMessage(message) },
})

/** The question about a message from L2, and the true answer. */
async function fromL2({ sent, place }: Placed, state: Sealed): Promise<Input> {
  const l1Proof = await state.ofTree(sent, place.root)
  return { operation: 'verifyMessageFromL2', input: { messageProof: place, l1Proof }, claim: claimOf(state, sent) }
}

/** The question about a message to L2, and the true answer. */
const toL2 = async (sent: Sent, state: Sealed): Promise<Input> => ({
  ...{ operation: 'verifyMessageToL2', input: await state.ofSent(sent), claim: claimOf(state, sent) },
})

/** The code behind the proxy. */
const CODE = named('code behind the proxy', 20)
const PINNED = { rollup: { ...rollup, implementation: CODE } }

/** The same questions with the code behind the proxy, which the caller states. */
async function pinnedFromL2({ sent, place }: Placed, state: Sealed): Promise<Input> {
  const l1Proof = await state.ofTree(sent, place.root, slots.implementation)
  const claim = { ...claimOf(state, sent), ...PINNED }
  return { operation: 'verifyMessageFromL2', input: { messageProof: place, l1Proof }, claim }
}

const pinnedToL2 = async (sent: Sent, state: Sealed): Promise<Input> => ({
  operation: 'verifyMessageToL2',
  input: await state.ofSent(sent, slots.implementation),
  claim: { ...claimOf(state, sent), ...PINNED },
})

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** The question of a message to L2 to the message service. */
const arrival = (message: Sent, status: bigint, account: object | null = {}): Input => ({
  operation: 'readMessageArrival',
  input: { account, storage: [{ key: inboxSlot(message), value: word(status) }] },
  claim: { message: spellMessage(message) },
})

const ARRIVING: Sent = { ...contentOf('arriving', 4), number: 7n }

/** The truth with the storage of the contract changed. */
const sealWith = (truth: Truth, ...changes: (readonly [bigint, bigint])[]) =>
  seal(new Map([...truth.storage, ...changes]))

async function validCases(truth: Truth) {
  const { state, anchored, shallow, pending, bridge } = truth
  const inTree = async (name: string, description: string, status: string, placed: Placed) =>
    [name, description, { status, messageHash: hashOf(placed.sent) }, await fromL2(placed, state)] as const
  const sent = async (name: string, description: string, status: string, message: Sent, from = state) =>
    [name, description, { status, messageHash: hashOf(message) }, await toL2(message, from)] as const
  const arrived = (name: string, description: string, status: string, value: bigint) =>
    [name, description, status, arrival(ARRIVING, value)] as const
  const [first, second] = [at(bridge.toL2, 0), at(bridge.toL2, 1)]
  const early = await sealWith(truth, [slots.rollingHash(first.number), 0n])
  const proxied = await sealWith(truth, [slots.implementation, BigInt(CODE)])
  const pinned = async (name: string, description: string, status: string, message: Sent, input: Promise<Input>) => {
    const verified = { status, messageHash: hashOf(message), implementation: CODE }
    return [name, description, verified, await input] as const
  }
  return [
    await inTree('claimable', 'The last leaf of the first tree.', 'claimable', at(anchored, 31)),
    await inTree('claimable-second-tree', 'The first leaf of the second tree.', 'claimable', at(anchored, 32)),
    await inTree('claimable-last-tree', 'A leaf of the tree that is not full.', 'claimable', at(anchored, 68)),
    await inTree(
      'claimable-number-256',
      'Number 256, between 255 and 257, which are claimed.',
      'claimable',
      at(anchored, 26),
    ),
    await inTree('claimable-depth-1', 'A tree of depth 1; neither fee, value nor data.', 'claimable', shallow),
    await inTree('claimed', 'The first leaf of the first tree.', 'claimed', at(anchored, 0)),
    await inTree('claimed-number-255', 'Number 255, the last bit of a word.', 'claimed', at(anchored, 25)),
    await inTree('claimed-number-257', 'Number 257, the second bit of a word.', 'claimed', at(anchored, 27)),
    await inTree('claimed-last', 'The last leaf of the last tree.', 'claimed', at(anchored, 69)),
    await inTree('not-anchored', 'A message whose finalization is yet to come.', 'notAnchored', pending),
    await sent('sent-first', 'The first message, before which there was none.', 'sent', first),
    await sent('sent', 'A later message.', 'sent', second),
    await sent('not-sent', 'The number of the next message.', 'notSent', { ...second, number: 234n }),
    await sent('unknown', 'A number that was given before there were rolling hashes.', 'unknown', first, early),
    await pinned(
      'claimable-known-code',
      'The caller states the code behind the proxy.',
      'claimable',
      at(anchored, 31).sent,
      pinnedFromL2(at(anchored, 31), proxied),
    ),
    await pinned(
      'sent-known-code',
      'The caller states the code behind the proxy.',
      'sent',
      second,
      pinnedToL2(second, proxied),
    ),
    arrived('not-received', 'The message has not arrived on L2.', 'notReceived', 0n),
    arrived('received', 'The message has arrived on L2.', 'received', 1n),
    arrived('arrived-and-claimed', 'The message is claimed on L2.', 'claimed', 2n),
  ] as const
}

/** The place of a message from L2 in its tree. */
async function placeForgeries(truth: Truth): Promise<Row[]> {
  const { state, anchored, pending } = truth
  const own = at(anchored, 40)
  const bare = { ...pending, place: { root: hashOf(pending.sent), leafIndex: 0, proof: [] } }
  const proof = Array<Hex>(33).fill(own.place.root)
  const root = proof.reduce((left, right) => keccakOf(`${left}${right.slice(2)}`), hashOf(own.sent))
  const deep = { ...own, place: { root, leafIndex: 0, proof } }
  const deepState = await sealWith(truth, [slots.depth(root), 33n])
  const honest = await fromL2(own, state)
  const { place, sent } = own
  const parts = Object(honest.input)
  const placed = (change: object): Input => ({
    ...{ ...honest, input: { ...parts, messageProof: { ...place, ...change } } },
  })
  const malformed = (name: string, description: string, input: unknown): Row => [
    `place-${name}`,
    'MESSAGE_MALFORMED',
    'Shape',
    description,
    { ...honest, input },
  ]
  const index = (name: string, description: string, leafIndex: number): Row => [
    `place-index-${name}`,
    'MESSAGE_INDEX',
    'Index',
    description,
    placed({ leafIndex }),
  ]
  const mismatch = (name: string, description: string, input: Input): Row => [
    name,
    'MESSAGE_ROOT_MISMATCH',
    'Path',
    description,
    input,
  ]
  const altered = (name: keyof Sent, value: unknown): Row =>
    mismatch(`message-${name}-altered`, 'A message that differs in one field.', {
      ...{ ...honest, claim: { ...honest.claim, message: { ...spellMessage(sent), [name]: value } } },
    })
  const [first, second, ...others] = place.proof
  return [
    malformed('null', 'No place.', { ...parts, messageProof: null }),
    malformed('array', 'A list in the place of the parts.', [parts]),
    malformed('no-proof', 'No path.', { ...parts, messageProof: { root: place.root, leafIndex: 8 } }),
    malformed('index-string', 'The index as a string.', { ...parts, messageProof: { ...place, leafIndex: '8' } }),
    ['place-path-empty', 'MESSAGE_MALFORMED', 'Shape', 'A message that is its own root.', await fromL2(bare, state)],
    [
      'place-path-33',
      'MESSAGE_MALFORMED',
      'Shape',
      'A tree that is deeper than any, and L1 holds it.',
      await fromL2(deep, deepState),
    ],
    [
      'place-node-short',
      'WRONG_LENGTH',
      'Encoding',
      'A node of 31 bytes.',
      placed({ proof: [`${first?.slice(0, -2)}`] }),
    ],
    ['place-root-decimal', 'BAD_HEX', 'Encoding', 'A root that is not hexadecimal.', placed({ root: '1'.repeat(66) })],
    index('plus-32', 'The leaf of the next tree, which is on the same path.', place.leafIndex + 32),
    index('plus-2-32', 'An index of more than 32 bits.', place.leafIndex + 2 ** 32),
    index('negative', 'A negative index.', place.leafIndex - 32),
    index('fraction', 'An index between two leaves.', place.leafIndex + 0.5),
    mismatch('place-index-next', 'The index of the neighbour.', placed({ leafIndex: place.leafIndex + 1 })),
    mismatch('place-of-another', 'The place of another message.', placed(at(anchored, 41).place)),
    mismatch('place-root-of-another', 'The root of another tree.', placed({ root: at(anchored, 0).place.root })),
    mismatch(
      'path-node-altered',
      'A node with one bit changed.',
      placed({ proof: [flipLast(`${first}`), second, ...others] }),
    ),
    mismatch('path-nodes-swapped', 'Two nodes in each other’s place.', placed({ proof: [second, first, ...others] })),
    mismatch('path-cut', 'A path without its first node.', placed({ proof: [second, ...others] })),
    altered('from', named('thief', 20)),
    altered('to', named('thief', 20)),
    altered('fee', '0x0'),
    altered('value', '0xffffffffffffffffffff'),
    altered('number', '0xe6'),
    altered('data', `${sent.data}00`),
  ]
}

/** What L1 holds about a message from L2. */
async function l1Forgeries(truth: Truth): Promise<Row[]> {
  const { state, anchored, pending, storage } = truth
  const own = at(anchored, 40)
  const honest = await fromL2(own, state)
  const { messageProof, l1Proof } = Object(honest.input) as { messageProof: Place; l1Proof: LooseEthProof }
  const proven = (l1Proof: unknown): Input => ({ ...honest, input: { messageProof, l1Proof } })
  const deeper = await sealWith(truth, [slots.depth(own.place.root), 6n])
  const shallower = await sealWith(truth, [slots.depth(own.place.root), 4n])
  const claimed = await sealWith(truth, [
    slots.claimed(pending.sent.number),
    (storage.get(slots.claimed(pending.sent.number)) ?? 0n) | (1n << (pending.sent.number & 255n)),
  ])
  const upgraded = await sealWith(truth, [slots.implementation, BigInt(named('another code', 20))])
  const ofPending = { ...own.sent, number: pending.sent.number }
  const { accountProof, storageProof } = l1Proof
  const [depth, bitmap] = storageProof
  return [
    [
      'depth-6',
      'MESSAGE_DEPTH_MISMATCH',
      'Path',
      'L1 holds a tree that is deeper than the path.',
      await fromL2(own, deeper),
    ],
    [
      'depth-4',
      'MESSAGE_DEPTH_MISMATCH',
      'Path',
      'L1 holds a tree that is less deep than the path.',
      await fromL2(own, shallower),
    ],
    [
      'number-claimed',
      'MESSAGE_NUMBER_CLAIMED',
      'Binding',
      'Another message of that number is claimed.',
      await fromL2(pending, claimed),
    ],
    [
      'l1-state-of-another',
      'MPT_HASH_MISMATCH',
      'Root',
      'A proof from another state, in which the message is claimed.',
      { ...(await fromL2(pending, claimed)), claim: claimOf(state, pending.sent) },
    ],
    [
      'l1-contract-absent',
      'ANCHOR_NO_CONTRACT',
      'Binding',
      'No contract at the address that the caller states.',
      await absentContract(own, honest),
    ],
    [
      'l1-code-of-another',
      'ANCHOR_IMPLEMENTATION_MISMATCH',
      'Binding',
      'Other code behind the proxy than the caller states.',
      await pinnedFromL2(own, upgraded),
    ],
    [
      'l1-code-unproven',
      'L1_STORAGE_PROOF_COUNT',
      'Shape',
      'The caller states the code behind the proxy, and nothing shows it.',
      { ...honest, claim: { ...honest.claim, ...PINNED } },
    ],
    [
      'l1-slots-swapped',
      'L1_KEY_MISMATCH',
      'Binding',
      'The slots in each other’s place.',
      proven({ ...l1Proof, storageProof: [bitmap, depth] }),
    ],
    [
      'l1-word-of-another',
      'L1_KEY_MISMATCH',
      'Binding',
      'The word of the bitmap for other numbers.',
      proven(await state.ofTree(ofPending.number > 255n ? at(anchored, 0).sent : ofPending, own.place.root)),
    ],
    [
      'l1-slot-missing',
      'L1_STORAGE_PROOF_COUNT',
      'Shape',
      'No proof of the bitmap.',
      proven({ ...l1Proof, storageProof: [depth] }),
    ],
    [
      'l1-slot-unproven',
      'MPT_NODES_MISSING',
      'Root',
      'The bitmap without its proof.',
      proven({ accountProof, storageProof: [depth, { ...bitmap, proof: [] }] }),
    ],
    [
      'l1-slot-altered',
      'L1_PROOF_DISAGREES',
      'Value',
      'A depth beside the proof that contradicts it.',
      proven({ ...l1Proof, storageProof: [{ ...depth, value: '0x0' }, bitmap] }),
    ],
    ['l1-proof-none', 'L1_PROOF_MALFORMED', 'Shape', 'No answer of L1.', proven(undefined)],
    ...(
      [
        ['claim-number-0', { number: '0x0' }, 'Numbers begin at 1.'],
        ['claim-from-long', { from: `${own.sent.from}00` }, 'The sender has 21 bytes.'],
        ['claim-value-wide', { value: `0x1${'0'.repeat(64)}` }, 'A value of 33 bytes.'],
        ['claim-misspelt', { form: own.sent.from }, 'A misspelt field.'],
      ] as const
    ).map(
      ([name, change, description]): Row => [
        name,
        'ARGUMENT_INVALID',
        'Binding',
        description,
        { ...honest, claim: { ...honest.claim, message: { ...spellMessage(own.sent), ...change } } },
      ],
    ),
  ]
}

/** The honest question to a contract that does not exist. */
async function absentContract({ sent, place }: Placed, honest: Input): Promise<Input> {
  const empty = await seal(new Map([[slots.next, 1n]]))
  const other = { address: named('another contract', 20) }
  const { accountProof } = await empty.ofAbsent(other.address)
  const storageProof = [slots.depth(place.root), slots.claimed(sent.number)].map(key => ({ key: word(key), proof: [] }))
  return {
    ...honest,
    input: { ...Object(honest.input), l1Proof: { accountProof, storageProof } },
    claim: { ...claimOf(empty, sent), rollup: other },
  }
}

/** Messages to L2. */
async function toL2Forgeries({ state, bridge }: Truth): Promise<Row[]> {
  const [first, second, third] = [at(bridge.toL2, 0), at(bridge.toL2, 1), at(bridge.toL2, 2)]
  const another = async (name: string, description: string, message: Sent): Promise<Row> => [
    name,
    'MESSAGE_ROLLING_HASH_MISMATCH',
    'Binding',
    description,
    await toL2(message, state),
  ]
  const upgraded = await seal(new Map([...bridge.l1, [slots.implementation, BigInt(named('another code', 20))]]))
  return [
    [
      'sent-code-of-another',
      'ANCHOR_IMPLEMENTATION_MISMATCH',
      'Binding',
      'Other code behind the proxy than the caller states.',
      await pinnedToL2(second, upgraded),
    ],
    await another('sent-recipient-altered', 'A message to somebody else.', { ...second, to: named('thief', 20) }),
    await another('sent-value-altered', 'A message with a higher value.', { ...second, value: second.value + 1n }),
    await another('sent-number-of-another', 'The number of the next message.', { ...second, number: third.number }),
    await another('sent-first-altered', 'Another first message.', { ...first, fee: first.fee + 1n }),
    [
      'sent-slots-of-another',
      'L1_KEY_MISMATCH',
      'Binding',
      'The rolling hashes of another message.',
      { ...(await toL2(second, state)), input: await state.ofSent(third) },
    ],
  ]
}

/** How far a message has come on L2. */
function arrivalForgeries(): Row[] {
  const honest = arrival(ARRIVING, 1n)
  const { number, ...content } = ARRIVING
  return [
    ['arrival-absent', 'MESSAGE_NO_SERVICE', 'Binding', 'No contract at the address.', arrival(ARRIVING, 1n, null)],
    ['arrival-3', 'MESSAGE_STATUS', 'Value', 'A status that there is not.', arrival(ARRIVING, 3n)],
    ['arrival-wide', 'MESSAGE_STATUS', 'Value', 'A status of 256 bits.', arrival(ARRIVING, 2n ** 255n + 1n)],
    [
      'arrival-of-another',
      'ARGUMENT_INVALID',
      'Binding',
      'The slot of another message.',
      { ...honest, claim: { message: spellMessage({ ...content, number: number + 1n }) } },
    ],
  ]
}

/** The bundle of a message, and a claim that states it and trusts the L1 block. */
async function bundleOf(sent: Sent, state: Sealed, place?: Place) {
  const proof = place === undefined ? await state.ofSent(sent) : await state.ofTree(sent, place.root)
  const messageProof = place === undefined ? {} : { messageProof: place }
  const bundle = createMessageBundle({ rollup, message: sent, ...messageProof, l1: { block: state.block, proof } })
  const trusted = { l1BlockHash: keccakOf(bundle.l1.header ?? '0x') }
  return { bundle, claim: { rollup, trusted, message: spellMessage(sent) } }
}

const inBundle = (input: unknown, claim: Input['claim']): Input => ({
  ...{ operation: 'verifyEvidence', kind: 'message' },
  input,
  claim,
})

const L1_BLOCK = { number: '0x16e3600', timestamp: '0x69000000' }

async function validEvidence({ state, anchored, bridge }: Truth) {
  const [{ sent, place }, toL2] = [at(anchored, 40), at(bridge.toL2, 1)]
  const fromL2 = await bundleOf(sent, state, place)
  const ofSent = await bundleOf(toL2, state)
  const hash = fromL2.claim.trusted.l1BlockHash
  const l1Block = { ...L1_BLOCK, hash, stateRoot: state.l1StateRoot }
  const claimable = {
    ...{ status: 'claimable', messageHash: hashOf(sent), messageProof: place, message: spellMessage(sent) },
    ...{ trustedInput: 'l1BlockHash', l1Block },
  }
  const isSent = { status: 'sent', messageHash: hashOf(toL2), message: spellMessage(toL2) }
  const { trusted, consensus, beaconBlock } = makeConsensus(hash)
  const { l1Block: _, ...withoutBlock } = claimable
  return [
    ['evidence-from-l2', 'A message from L2, from an L1 block hash.', claimable, inBundle(fromL2.bundle, fromL2.claim)],
    [
      'evidence-from-l1-state',
      'The same from an L1 state root. The bundle says which message it is.',
      { ...withoutBlock, trustedInput: 'l1StateRoot' },
      inBundle(
        { ...fromL2.bundle, l1: { proof: fromL2.bundle.l1.proof } },
        { rollup, trusted: { l1StateRoot: state.l1StateRoot }, message: 'fromBundle' },
      ),
    ],
    [
      'evidence-to-l2',
      'A message to L2, from an L1 block hash.',
      { ...isSent, trustedInput: 'l1BlockHash', l1Block },
      inBundle(ofSent.bundle, ofSent.claim),
    ],
    [
      'evidence-from-beacon-block',
      'A message to L2, from a beacon block root.',
      { ...isSent, trustedInput: 'beaconBlockRoot', l1Block, beaconBlock },
      inBundle({ ...ofSent.bundle, consensus }, { ...ofSent.claim, trusted }),
    ],
  ] as const
}

/** The bundle itself: its shape, its purpose, and whether its parts belong together. */
async function evidenceForgeries({ state, anchored, bridge }: Truth): Promise<Row[]> {
  const { sent, place } = at(anchored, 40)
  const { bundle, claim } = await bundleOf(sent, state, place)
  const toL2 = await bundleOf(at(bridge.toL2, 1), state)
  const { header, proof } = bundle.l1
  const forged = (change: object, stated: object = {}): Input =>
    inBundle({ ...bundle, ...change }, { ...claim, ...stated })
  const malformed = (name: string, description: string, change: object): Row => [
    `evidence-${name}`,
    'EVIDENCE_MALFORMED',
    'Shape',
    description,
    forged(change),
  ]
  const message = (change: object) => ({ message: { ...bundle.message, ...change } })
  const left = { message: 'fromBundle' }
  const otherHeader = encodeHeader({ ...state.block, timestamp: '0x69000001' })
  return [
    ['evidence-null', 'EVIDENCE_MALFORMED', 'Shape', 'Not the shape of a bundle.', inBundle(null, claim)],
    malformed('no-version', 'No version.', { version: undefined }),
    malformed('kind-state', 'A bundle of another kind.', { kind: 'state' }),
    malformed('no-message', 'No message.', { message: undefined }),
    malformed('no-l1', 'No answers of L1.', { l1: 'x' }),
    malformed('number-0', 'Numbers begin at 1.', message({ number: '0x0' })),
    malformed('fee-padded', 'A number with two spellings.', message({ fee: '0x01' })),
    malformed('value-json', 'A number of JSON.', message({ value: 1 })),
    ['evidence-version-2', 'EVIDENCE_VERSION', 'Shape', 'A version that is not known.', forged({ version: 2 })],
    [
      'evidence-from-short',
      'WRONG_LENGTH',
      'Encoding',
      'A sender of 19 bytes.',
      forged(message({ from: '0x'.padEnd(40, '1') })),
    ],
    ['evidence-data-odd', 'BAD_HEX', 'Encoding', 'Half a byte of data.', forged(message({ data: '0x1' }))],
    [
      'evidence-rollup-of-another',
      'EVIDENCE_ROLLUP_MISMATCH',
      'Binding',
      'A bundle of another contract.',
      forged({}, { rollup: { address: named('another contract', 20) } }),
    ],
    [
      'evidence-rollup-misstated',
      'EVIDENCE_ROLLUP_MISMATCH',
      'Binding',
      'A true proof of the contract, but the bundle names another.',
      forged({ rollup: { ...rollup, address: named('another contract', 20) } }),
    ],
    [
      'evidence-rollup-name-of-another',
      'EVIDENCE_ROLLUP_MISMATCH',
      'Binding',
      'The label is of another rollup.',
      forged({ rollup: { ...rollup, name: 'mainnet' } }, { rollup: { ...rollup, name: 'devnet' } }),
    ],
    [
      'evidence-message-of-another',
      'MESSAGE_MISMATCH',
      'Binding',
      'True evidence of another message.',
      forged({}, { message: spellMessage(at(anchored, 41).sent) }),
    ],
    [
      'evidence-message-altered',
      'MESSAGE_ROOT_MISMATCH',
      'Path',
      'A message that nobody sent, which the caller leaves to the bundle.',
      forged(message({ to: named('thief', 20) }), left),
    ],
    [
      'evidence-sent-altered',
      'MESSAGE_ROLLING_HASH_MISMATCH',
      'Binding',
      'A message to L2 that nobody sent, which the caller leaves to the bundle.',
      inBundle({ ...toL2.bundle, message: { ...toL2.bundle.message, value: '0x1' } }, { ...toL2.claim, ...left }),
    ],
    [
      'evidence-place-string',
      'MESSAGE_MALFORMED',
      'Shape',
      'A place that is empty text.',
      forged({ messageProof: '' }),
    ],
    [
      'evidence-place-of-another',
      'MESSAGE_ROOT_MISMATCH',
      'Path',
      'The place of another message.',
      forged({ messageProof: at(anchored, 41).place }),
    ],
    [
      'evidence-place-left-out',
      'L1_STORAGE_PROOF_COUNT',
      'Shape',
      'Without its place, the message counts as one to L2.',
      forged({ messageProof: undefined }),
    ],
    ['evidence-header-missing', 'EVIDENCE_L1_MISSING', 'Shape', 'No header.', forged({ l1: { proof } })],
    ['evidence-proof-missing', 'EVIDENCE_L1_MISSING', 'Shape', 'No proof of the contract.', forged({ l1: { header } })],
    [
      'evidence-header-of-another',
      'HEADER_HASH_MISMATCH',
      'Root',
      'The header of another block.',
      forged({ l1: { header: otherHeader, proof } }),
    ],
    [
      'evidence-state-of-another',
      'MPT_HASH_MISMATCH',
      'Root',
      'A proof from another state.',
      forged({}, { trusted: { l1StateRoot: named('another state') } }),
    ],
    [
      'evidence-consensus-missing',
      'EVIDENCE_CONSENSUS_MISSING',
      'Shape',
      'No consensus part, and a beacon block to start from.',
      forged({}, { trusted: makeConsensus(claim.trusted.l1BlockHash).trusted }),
    ],
    [
      'evidence-trusted-l2-state',
      'ARGUMENT_INVALID',
      'Root',
      'The caller trusts an L2 state root, which says nothing about L1.',
      forged({}, { trusted: { l2StateRoot: state.l1StateRoot } }),
    ],
    [
      'evidence-claim-no-message',
      'ARGUMENT_INVALID',
      'Binding',
      'The caller leaves out the message.',
      forged({}, { message: undefined }),
    ],
  ]
}
