import {
  type ErrorCode,
  type Hex,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
  type Scheme,
} from '../src/index.ts'
import { mimc } from '../src/mimc.ts'
import { poseidon2 } from '../src/poseidon2.ts'
import { createWorld, type World } from '../src/world.ts'
import {
  changeInteger,
  digestOf,
  flipBit,
  type LooseAnswer,
  type LooseLeafProof,
  type LooseProof,
  layoutOf,
  lift,
  type PlantedLeaf,
  plantSentinels,
  plantTree,
  slice,
  zeros,
} from './forge.ts'
import { addressFor, bytesFor, type Flag, keyFor, wordFor } from './vector.ts'

/** An invalid case, before it becomes a file. */
export interface InvalidCase {
  name: string
  description: string
  flag: Flag
  code: ErrorCode
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: unknown
}

/** A true answer that forgeries start from. */
interface Base {
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: LooseAnswer
}

type Make = (
  name: string,
  flag: Flag,
  code: ErrorCode,
  description: string,
  base: Base,
  forge: (answer: LooseAnswer) => unknown,
  claim?: { stateRoot?: Hex; address?: Hex; storageKeys?: Hex[] },
) => void

/** Accounts of {@link makeWorld}: two contracts of nine slots each, and one without code. */
export const [CONTRACT, OTHER_CONTRACT, PLAIN] = [
  addressFor('contract'),
  addressFor('other contract'),
  addressFor('account 3'),
]

export function invalidCases(scheme: Scheme): InvalidCase[] {
  const cases: InvalidCase[] = []
  /** Adds the case in which `forge` changed a copy of the base's answer in place, or returned something else. */
  const make: Make = (name, flag, code, description, base, forge, claim = {}) => {
    const { stateRoot, address, storageKeys } = { ...base, ...claim }
    const forged = structuredClone(base.answer)
    const answer = forge(forged) ?? forged
    cases.push({ name, description, flag, code, stateRoot, address, storageKeys, answer })
  }
  const bases = makeBases(scheme)
  canonicity(scheme, bases, make)
  nonExistence(scheme, bases, make)
  sentinels(scheme, bases, make)
  paths(scheme, bases, make)
  indices(bases, make)
  binding(scheme, bases, make)
  values(scheme, bases, make)
  encoding(bases, make)
  shapes(bases, make)
  return cases
}

type Bases = ReturnType<typeof makeBases>

function makeBases(scheme: Scheme) {
  const world = makeWorld(scheme)
  const later = world.fork()
  later.setAccount(addressFor('newcomer'), { balance: 1n })
  later.setStorage(CONTRACT, keyFor('new'), wordFor(1))

  const baseOf = (state: World, address: Hex, storageKeys: Hex[] = []): Base => ({
    stateRoot: state.stateRoot(),
    address,
    storageKeys,
    // A forger treats both forms of a leaf proof alike; each case knows which one it has.
    answer: state.getProof(address, storageKeys) as unknown as LooseAnswer,
  })
  const isInner = ({ leftLeafIndex, rightLeafIndex }: LooseLeafProof) => leftLeafIndex > 1 && rightLeafIndex > 1
  const absentAddresses = names(addressFor).filter(address => isInner(baseOf(world, address).answer.accountProof))
  const absentKeys = names(keyFor).filter(key => {
    const [proof] = baseOf(world, CONTRACT, [key]).answer.storageProofs
    return proof !== undefined && isInner(proof)
  })
  const [absent = '0x', otherAbsent = '0x'] = distinctGaps(
    absentAddresses,
    address => baseOf(world, address).answer.accountProof,
  )
  const [absentKey = '0x', otherAbsentKey = '0x'] = distinctGaps(absentKeys, key =>
    proofOf(baseOf(world, CONTRACT, [key]), 0),
  )
  return {
    world,
    later,
    /** An account without storage, present. */
    plain: baseOf(world, PLAIN),
    /** A contract with two slots, present. */
    contract: baseOf(world, CONTRACT, [keyFor(1), keyFor(2)]),
    otherContract: baseOf(world, OTHER_CONTRACT, [keyFor(1), keyFor(2)]),
    /** Accounts absent between two others, in two different gaps. */
    absent: baseOf(world, absent),
    otherAbsent: baseOf(world, otherAbsent),
    /** Slots absent between two others, in two different gaps. */
    absentSlot: baseOf(world, CONTRACT, [absentKey]),
    otherAbsentSlot: baseOf(world, CONTRACT, [otherAbsentKey]),
    /** The answer of {@link Bases.contract}, {@link Bases.absent} one block later. */
    contractLater: baseOf(later, CONTRACT, [keyFor(1), keyFor(2)]),
    absentLater: baseOf(later, absent),
    absentAddresses,
    baseOf,
  }
}

const names = (make: (name: string) => Hex): Hex[] => Array.from({ length: 300 }, (_, index) => make(`absent ${index}`))

/** The first key, and the first that lies in another gap and shares no neighbour with it. */
function distinctGaps(keys: Hex[], prove: (key: Hex) => LooseLeafProof): Hex[] {
  const [first] = keys
  if (first === undefined) throw new Error('no absent key lies between two others')
  const gap = (key: Hex) => [prove(key).leftLeafIndex, prove(key).rightLeafIndex]
  const taken = gap(first)
  return [first, ...keys.filter(key => gap(key).every(index => !taken.includes(index))).slice(0, 1)]
}

/** Fourteen accounts. The two contracts differ in the value of one slot. */
export function makeWorld(scheme: Scheme): World {
  const world = createWorld(scheme)
  for (let index = 0; index < 12; index++) world.setAccount(addressFor(`account ${index}`), { balance: BigInt(index) })
  for (const contract of [CONTRACT, OTHER_CONTRACT]) {
    world.setAccount(contract, { nonce: 1n, balance: 5n, codeSize: 9n, codeHash: keyFor('code') })
    for (let index = 0; index < 9; index++) world.setStorage(contract, keyFor(index), wordFor(index + 1))
  }
  world.setStorage(OTHER_CONTRACT, keyFor(1), wordFor(1000))
  return world
}

function proofOf({ answer }: { answer: LooseAnswer }, index: number): LooseLeafProof {
  const proof = answer.storageProofs[index]
  if (proof === undefined) throw new Error(`there is no storage proof ${index}`)
  return proof
}

/** Changes entry `index` of `proofRelatedNodes`. */
function changeNode({ proofRelatedNodes }: LooseProof, index: number, change: (node: string) => string): void {
  proofRelatedNodes[index] = change(nodeOf({ proofRelatedNodes }, index))
}

const nodeOf = ({ proofRelatedNodes }: Pick<LooseProof, 'proofRelatedNodes'>, index: number): string =>
  proofRelatedNodes[index] ?? ''

const range = (length: number): number[] => Array.from({ length }, (_, index) => index)

function canonicity(scheme: Scheme, { plain, contract, absent, absentSlot }: Bases, make: Make): void {
  const layout = layoutOf(scheme)
  for (const limb of range(layout.elements)) {
    const offset = layout.hKey + limb * layout.element
    for (const side of ['leftProof', 'rightProof'] as const) {
      make(
        `neighbour-key-lifted-${side === 'leftProof' ? 'left' : 'right'}-${limb}`,
        'Canonicity',
        'NON_CANONICAL',
        `Element ${limb} of a neighbour’s key hash raised by the modulus: it hashes the same and sorts differently.`,
        absent,
        ({ accountProof }) => changeNode(accountProof[side], 41, node => lift(scheme, node, offset)),
      )
    }
  }
  make('slot-neighbour-key-lifted', 'Canonicity', 'NON_CANONICAL', 'The same in a storage proof.', absentSlot, answer =>
    changeNode(proofOf({ answer }, 0).leftProof, 41, node => lift(scheme, node, layout.hKey)),
  )
  const places: [name: string, node: number, offset: number][] = [
    ['next-free-node', 0, 0],
    ['sub-root', 0, layout.word],
    ['inner-first-left', 1, 0],
    ['inner-first-right', 1, 32],
    ['inner-middle', 20, 64 - layout.element],
    ['inner-last', 39, 0],
    ['sibling-prev', 40, layout.prev],
    ['sibling-key', 40, layout.hKey],
    ['sibling-value', 40, layout.opening - layout.element],
    ['leaf-prev', 41, layout.prev],
    ['leaf-next', 41, layout.next],
    ['leaf-key', 41, layout.hKey],
    ['leaf-value', 41, layout.hVal],
  ]
  for (const [name, index, offset] of places) {
    const description = `An element of entry ${index} (offset ${offset}) raised by the modulus.`
    make(`element-lifted-${name}`, 'Canonicity', 'NON_CANONICAL', description, plain, ({ accountProof }) =>
      changeNode(accountProof.proof, index, node => lift(scheme, node, offset)),
    )
  }
  make(
    'element-lifted-slot-node',
    'Canonicity',
    'NON_CANONICAL',
    'An inner node of a storage proof.',
    contract,
    answer => changeNode(proofOf({ answer }, 1).proof, 7, node => lift(scheme, node, 32)),
  )
  const fields = [
    ['storage-root', 2],
    ['snark-code-hash', 3],
    ...(scheme.name === 'mimc'
      ? ([
          ['nonce', 0],
          ['balance', 1],
          ['code-size', 5],
        ] as const)
      : []),
  ] as const
  for (const [name, word] of fields) {
    const description = 'An element of the account value raised by the modulus: a second spelling of the same account.'
    make(`account-value-lifted-${name}`, 'Canonicity', 'NON_CANONICAL', description, plain, ({ accountProof }) => {
      accountProof.proof.value = lift(scheme, accountProof.proof.value, 32 * word)
    })
  }
  make(
    'neighbour-value-lifted',
    'Canonicity',
    'NON_CANONICAL',
    'An element of a neighbour’s account value raised by the modulus.',
    absent,
    ({ accountProof: { leftProof } }) => {
      leftProof.value = lift(scheme, leftProof.value, 64)
    },
  )
  const strayCode = scheme.name === 'mimc' ? 'INDEX_OUT_OF_RANGE' : 'NON_CANONICAL'
  for (const [name, node, offset] of [
    ['next-free-node', 0, 0],
    ['prev', 41, 0],
    ['next', 41, layout.word],
    ['sibling-prev', 40, 0],
  ] as const) {
    const description = 'A byte that an index word leaves zero is not: the word spells no index below 2^40.'
    make(`stray-byte-${name}`, 'Canonicity', strayCode, description, plain, ({ accountProof }) =>
      changeNode(accountProof.proof, node, hex => flipBit(hex, offset)),
    )
  }
}

function nonExistence(scheme: Scheme, bases: Bases, make: Make): void {
  const { absent, otherAbsent, absentLater, absentSlot, otherAbsentSlot, world, baseOf } = bases
  const truth = absent.answer.accountProof
  make(
    'neighbours-not-adjacent',
    'Adjacency',
    'NOT_ADJACENT',
    'HEAD and TAIL bracket every key, and both leaves are in the tree; those between them are hidden.',
    absent,
    ({ accountProof }) => {
      Object.assign(accountProof, headAndTail(scheme, bases))
    },
  )
  make(
    'neighbours-of-two-gaps',
    'Adjacency',
    'NOT_ADJACENT',
    'The left neighbour of one gap, the right neighbour of another.',
    absent,
    ({ accountProof }) => {
      const { rightProof, rightLeafIndex } = otherAbsent.answer.accountProof
      Object.assign(accountProof, { rightProof, rightLeafIndex })
    },
  )
  make('neighbours-swapped', 'Adjacency', 'NOT_ADJACENT', 'Left and right exchanged.', absent, ({ accountProof }) => {
    const { leftProof, leftLeafIndex, rightProof, rightLeafIndex } = truth
    Object.assign(accountProof, {
      leftProof: rightProof,
      leftLeafIndex: rightLeafIndex,
      rightProof: leftProof,
      rightLeafIndex: leftLeafIndex,
    })
  })
  make('same-leaf-twice-left', 'Adjacency', 'NOT_ADJACENT', 'The left neighbour on both sides.', absent, answer => {
    const { leftProof, leftLeafIndex } = truth
    Object.assign(answer.accountProof, { rightProof: leftProof, rightLeafIndex: leftLeafIndex })
  })
  make('same-leaf-twice-right', 'Adjacency', 'NOT_ADJACENT', 'The right neighbour on both sides.', absent, answer => {
    const { rightProof, rightLeafIndex } = truth
    Object.assign(answer.accountProof, { leftProof: rightProof, leftLeafIndex: rightLeafIndex })
  })
  for (const side of ['HEAD', 'TAIL'] as const) {
    const name = `${side.toLowerCase()}-twice`
    const description = `${side} on both sides: one of its pointers points at itself.`
    make(name, 'Adjacency', 'NOT_ADJACENT', description, absent, ({ accountProof }) => {
      const ends = headAndTail(scheme, bases)
      const [index, proof] = side === 'HEAD' ? [0, ends.leftProof] : [1, ends.rightProof]
      Object.assign(accountProof, { leftLeafIndex: index, leftProof: proof, rightLeafIndex: index, rightProof: proof })
    })
  }
  for (const side of ['left', 'right'] as const) {
    const description = `Only one of the two pointers is right: the ${side} neighbour points elsewhere.`
    const tree = plantGap(scheme, absent.address, side === 'left' ? { leftNext: 4 } : { rightPrev: 4 })
    make(
      `only-${side === 'left' ? 'prev' : 'next'}-pointer-right`,
      'Adjacency',
      'NOT_ADJACENT',
      description,
      absent,
      () => tree.answer,
      {
        stateRoot: tree.root,
      },
    )
  }
  for (const side of ['left', 'right'] as const) {
    const description = `The key of the ${side} neighbour itself: the interval is open at both ends.`
    const found = bases.absentAddresses.map(address => ({ address, answer: baseOf(world, address).answer }))
    const owners = new Map(
      range(12)
        .map(index => addressFor(`account ${index}`))
        .map(address => [hashAccountKey(scheme, address), address]),
    )
    const layout = layoutOf(scheme)
    const neighbourOf = (answer: LooseAnswer) =>
      owners.get(slice(nodeOf(answer.accountProof[`${side}Proof`], 41), layout.hKey, 32))
    const gap = found.find(({ answer }) => neighbourOf(answer) !== undefined)
    const address = gap && neighbourOf(gap.answer)
    if (gap === undefined || address === undefined) throw new Error('no gap next to a known account')
    make(
      `key-equals-${side}-neighbour`,
      'Ordering',
      'KEY_NOT_BETWEEN',
      description,
      { ...absent, answer: gap.answer },
      ({ accountProof }) => {
        accountProof.key = address
      },
      { address },
    )
  }
  make(
    'key-in-another-gap',
    'Ordering',
    'KEY_NOT_BETWEEN',
    'True neighbours, but of another key.',
    otherAbsent,
    ({ accountProof }) => {
      accountProof.key = absent.address
    },
    { address: absent.address },
  )
  make(
    'slot-key-in-another-gap',
    'Ordering',
    'KEY_NOT_BETWEEN',
    'True neighbours of another absent slot.',
    otherAbsentSlot,
    answer => {
      proofOf({ answer }, 0).key = absentSlot.storageKeys[0] ?? ''
    },
    { storageKeys: absentSlot.storageKeys },
  )
  const reversed = plantGap(scheme, absent.address, { reversed: true })
  make(
    'interval-reversed',
    'Ordering',
    'KEY_NOT_BETWEEN',
    'Two leaves that point at each other, the larger on the left: no key lies between.',
    absent,
    () => reversed.answer,
    { stateRoot: reversed.root },
  )
  make(
    'neighbours-of-two-roots',
    'Root',
    'STATE_ROOT_MISMATCH',
    'The left neighbour of this state, the right neighbour of a later one.',
    absent,
    ({ accountProof }) => {
      accountProof.rightProof = absentLater.answer.accountProof.rightProof
      accountProof.rightLeafIndex = absentLater.answer.accountProof.rightLeafIndex
    },
  )
  make(
    'neighbours-of-two-next-free-nodes',
    'Root',
    'STATE_ROOT_MISMATCH',
    'The right neighbour’s entry 0 has another nextFreeNode.',
    absent,
    ({ accountProof }) =>
      changeNode(accountProof.rightProof, 0, node => changeInteger(node, layoutOf(scheme).word - 1, 1, x => x + 1n)),
  )
  make('neighbour-value-altered', 'Value', 'VALUE_MISMATCH', 'A neighbour’s value is not its own.', absent, answer => {
    const { leftProof } = answer.accountProof
    leftProof.value = flipBit(leftProof.value, 63)
  })
  make(
    'neighbour-value-short',
    'Value',
    'WRONG_LENGTH',
    'A neighbour that is an account, served with 32 bytes.',
    absent,
    answer => {
      answer.accountProof.leftProof.value = zeros(32)
    },
  )
}

/** True proofs of HEAD and TAIL. */
function headAndTail(scheme: Scheme, { world }: Bases) {
  const first = names(addressFor).map(address => world.getProof(address).accountProof as unknown as LooseLeafProof)
  const left = first.find(proof => proof.leftLeafIndex === 0)
  const right = first.find(proof => proof.rightLeafIndex === 1)
  if (left === undefined || right === undefined) throw new Error(`no gap at the ends of the ${scheme.name} list`)
  return { leftLeafIndex: 0, leftProof: left.leftProof, rightLeafIndex: 1, rightProof: right.rightProof }
}

/** A tree of two accounts around the hash of `address`, wrong in one respect. */
function plantGap(
  scheme: Scheme,
  address: Hex,
  { leftNext = 3, rightPrev = 2, reversed = false }: { leftNext?: number; rightPrev?: number; reversed?: boolean },
) {
  const value = accountValueOf(scheme, {})
  const hVal = hashAccountValue(scheme, value)
  const keyHash = hashAccountKey(scheme, address)
  const shift = (by: bigint) => changeInteger(keyHash, 28, 4, x => x + by)
  const [below, above] = [shift(-1n), shift(1n)]
  const tree = plantTree(
    scheme,
    [
      ...plantSentinels(scheme, 2, 3),
      { index: 2, prev: 0, next: leftNext, hKey: reversed ? above : below, hVal, value },
      { index: 3, prev: rightPrev, next: 1, hKey: reversed ? below : above, hVal, value },
    ],
    5,
  )
  const accountProof = {
    key: address,
    leftLeafIndex: 2,
    leftProof: tree.prove(2),
    rightLeafIndex: 3,
    rightProof: tree.prove(3),
  }
  return { root: tree.root, answer: { accountProof, storageProofs: [] } }
}

/** An account value with these fields, 192 bytes. */
function accountValueOf(scheme: Scheme, fields: { nonce?: bigint; codeSize?: bigint }): Hex {
  const world = createWorld(scheme)
  world.setAccount(PLAIN)
  const { accountProof } = world.getProof(PLAIN)
  const value = 'proof' in accountProof ? accountProof.proof.value : '0x'
  const withNonce = changeInteger(value, 0, 32, () => fields.nonce ?? 0n)
  return changeInteger(withNonce, 160, 32, () => fields.codeSize ?? 0n)
}

/** An account alone between HEAD and TAIL, at `index`, with what the forger changes. */
function plantAccount(scheme: Scheme, address: Hex, change: Partial<Omit<PlantedLeaf, 'value'>> & { value?: Hex }) {
  const value = change.value ?? accountValueOf(scheme, {})
  const planted = { index: 2, prev: 0, next: 1, hKey: hashAccountKey(scheme, address), value, ...change }
  const leaf = { hVal: hashAccountValue(scheme, value), ...planted }
  const tree = plantTree(scheme, [...plantSentinels(scheme, 2, 2).filter(({ index }) => index !== leaf.index), leaf], 4)
  const accountProof = { key: address, leafIndex: leaf.index, proof: tree.prove(leaf.index) }
  return { root: tree.root, answer: { accountProof, storageProofs: [] } }
}

function sentinels(scheme: Scheme, bases: Bases, make: Make): void {
  const { plain, absent, absentSlot } = bases
  const [head, tail] = plantSentinels(scheme, 2, 2)
  const planted = (name: string, description: string, change: Partial<Omit<PlantedLeaf, 'value'>>) => {
    const tree = plantAccount(scheme, plain.address, change)
    make(name, 'Sentinel', 'SENTINEL_MISPLACED', description, plain, () => tree.answer, { stateRoot: tree.root })
  }
  planted('head-key-elsewhere', 'The key of HEAD at index 2.', { hKey: head.hKey })
  planted('tail-key-elsewhere', 'The key of TAIL at index 2.', { hKey: tail.hKey })
  planted('key-at-head-index', 'An account at index 0.', { index: 0 })
  planted('key-at-tail-index', 'An account at index 1.', { index: 1 })
  for (const [name, index] of [
    ['head', 0],
    ['tail', 1],
  ] as const) {
    const description = `The leaf index of a neighbour changed to that of ${name.toUpperCase()}.`
    make(`neighbour-index-of-${name}`, 'Sentinel', 'SENTINEL_MISPLACED', description, absent, ({ accountProof }) => {
      accountProof.leftLeafIndex = index
    })
    make(`slot-neighbour-index-of-${name}`, 'Sentinel', 'SENTINEL_MISPLACED', description, absentSlot, answer => {
      proofOf({ answer }, 0).rightLeafIndex = index
    })
  }
  const ends = headAndTail(scheme, bases)
  make('head-as-account', 'Sentinel', 'WRONG_LENGTH', 'HEAD presented as the account.', plain, ({ accountProof }) => {
    Object.assign(accountProof, { leafIndex: 0, proof: ends.leftProof })
  })
  const empty = createWorld(scheme)
  const emptyBase = bases.baseOf(empty, plain.address)
  make(
    'head-value-not-zero',
    'Sentinel',
    'VALUE_MISMATCH',
    'HEAD served with a value.',
    emptyBase,
    ({ accountProof }) => {
      accountProof.leftProof.value = wordFor(1)
    },
  )
  make(
    'tail-value-long',
    'Sentinel',
    'WRONG_LENGTH',
    'TAIL served with 192 zero bytes.',
    emptyBase,
    ({ accountProof }) => {
      accountProof.rightProof.value = zeros(192)
    },
  )
  const [plantedHead, plantedTail] = plantSentinels(scheme, 1, 0)
  const tree = plantTree(scheme, [{ ...plantedHead, hVal: wordFor(1) }, plantedTail], 2)
  make(
    'head-value-hash-not-zero',
    'Sentinel',
    'VALUE_MISMATCH',
    'A HEAD whose leaf has a value hash.',
    emptyBase,
    ({ accountProof }) => {
      accountProof.leftProof = tree.prove(0)
      accountProof.rightProof = tree.prove(1)
    },
    { stateRoot: tree.root },
  )
}

function paths(scheme: Scheme, bases: Bases, make: Make): void {
  const { plain, contract, contractLater, world, baseOf } = bases
  const layout = layoutOf(scheme)
  const alter = (name: string, code: ErrorCode, description: string, index: number, change: (node: string) => string) =>
    make(name, 'Path', code, description, plain, ({ accountProof }) => changeNode(accountProof.proof, index, change))
  const nodes = plain.answer.accountProof.proof

  alter('sub-root-altered', 'SUB_ROOT_MISMATCH', 'The sub-root in entry 0.', 0, node => flipBit(node, layout.word + 31))
  alter('next-free-node-altered', 'STATE_ROOT_MISMATCH', 'nextFreeNode in entry 0.', 0, node =>
    changeInteger(node, layout.word - 1, 1, x => x + 1n),
  )
  alter('inner-node-altered', 'SUB_ROOT_MISMATCH', 'One bit of a sibling.', 39, node => flipBit(node, 31))
  alter('sibling-leaf-altered', 'SUB_ROOT_MISMATCH', 'One bit of the sibling leaf.', 40, node =>
    flipBit(node, layout.opening - 1),
  )
  alter('leaf-altered', 'SUB_ROOT_MISMATCH', 'One bit of the leaf’s value hash.', 41, node =>
    flipBit(node, layout.opening - 1),
  )
  alter('children-swapped', 'SUB_ROOT_MISMATCH', 'The two digests of an inner sibling exchanged.', 38, node => {
    return `${slice(node, 32, 32)}${slice(node, 0, 32).slice(2)}`
  })
  alter('sibling-replaced-by-missing', 'SUB_ROOT_MISMATCH', 'The sibling leaf taken away.', 40, () => zeros(32))
  alter('sibling-is-the-leaf', 'SUB_ROOT_MISMATCH', 'The leaf as its own sibling.', 40, () => nodeOf(nodes, 41))
  alter('leaf-missing', 'WRONG_LENGTH', 'The opening of a missing leaf: 32 zero bytes.', 41, () => zeros(32))
  alter('leaf-all-zero', 'SENTINEL_MISPLACED', 'A leaf of zero bytes: the key of HEAD.', 41, () =>
    zeros(layout.opening),
  )
  alter('sibling-digest', 'WRONG_LENGTH', 'The digest of the sibling leaf in place of its opening.', 40, node =>
    digestOf(scheme, node),
  )
  alter('inner-node-as-leaf', 'WRONG_LENGTH', 'An inner node in place of the leaf.', 41, () => nodeOf(nodes, 39))
  alter('leaf-as-inner-node', 'WRONG_LENGTH', 'A leaf opening in place of an inner node.', 39, () => nodeOf(nodes, 40))
  alter('inner-node-digest', 'WRONG_LENGTH', 'The digest of an inner node in place of its preimage.', 5, node =>
    digestOf(scheme, node),
  )
  alter('node-0-without-index', 'WRONG_LENGTH', 'Entry 0 without nextFreeNode.', 0, node =>
    slice(node, layout.word, 32),
  )

  const reorder = (name: string, description: string, code: ErrorCode, change: (nodes: string[]) => string[]) =>
    make(name, 'Path', code, description, plain, ({ accountProof: { proof } }) => {
      proof.proofRelatedNodes = change(proof.proofRelatedNodes)
    })
  reorder('nodes-41', 'The last inner sibling dropped.', 'WRONG_NODE_COUNT', list =>
    list.filter((_, index) => index !== 39),
  )
  reorder('nodes-43', 'An inner sibling doubled.', 'WRONG_NODE_COUNT', list => [
    ...list.slice(0, 39),
    ...list.slice(38),
  ])
  reorder('nodes-0', 'No nodes.', 'WRONG_NODE_COUNT', () => [])
  reorder('nodes-reversed', 'Leaf first.', 'WRONG_LENGTH', list => [...list].reverse())
  reorder('nodes-exchanged', 'Two inner siblings exchanged.', 'SUB_ROOT_MISMATCH', list => {
    const [a = '', b = ''] = list.slice(38, 40)
    return [...list.slice(0, 38), b, a, ...list.slice(40)]
  })

  const lonely = range(12)
    .map(index => baseOf(world, addressFor(`account ${index}`)))
    .concat(baseOf(bases.later, addressFor('newcomer')))
    .find(({ answer }) => nodeOf(answer.accountProof.proof, 40).length === 66)
  if (lonely === undefined) throw new Error('no account has a missing sibling leaf')
  const missing = (name: string, code: ErrorCode, description: string, node: Hex) =>
    make(name, 'Path', code, description, lonely, ({ accountProof }) => changeNode(accountProof.proof, 40, () => node))
  missing('missing-sibling-empty', 'WRONG_LENGTH', 'A missing leaf written as no bytes.', '0x')
  missing(
    'missing-sibling-opening',
    'SUB_ROOT_MISMATCH',
    'A missing leaf written as an opening of zero bytes.',
    zeros(layout.opening),
  )
  missing(
    'missing-sibling-other-length',
    'WRONG_LENGTH',
    'A missing leaf written as the other scheme’s opening.',
    zeros(layout.otherOpening),
  )
  missing('missing-sibling-not-zero', 'WRONG_LENGTH', 'A missing leaf that is not zero.', wordFor(1))
  missing('missing-sibling-preimage', 'WRONG_LENGTH', 'A missing leaf written as 64 zero bytes.', zeros(64))

  make(
    'state-root-of-another-block',
    'Root',
    'STATE_ROOT_MISMATCH',
    'A true answer, of a later block.',
    contract,
    () => contractLater.answer,
  )
  make(
    'state-root-wrong',
    'Root',
    'STATE_ROOT_MISMATCH',
    'A true answer, another trusted root.',
    plain,
    () => undefined,
    {
      stateRoot: bytesFor('some root', 32),
    },
  )
  make(
    'state-root-is-sub-root',
    'Root',
    'STATE_ROOT_MISMATCH',
    'The sub-root is not the root.',
    plain,
    () => undefined,
    {
      stateRoot: slice(nodeOf(nodes, 0), layout.word, 32),
    },
  )
  make(
    'storage-proof-of-another-block',
    'Root',
    'STORAGE_ROOT_MISMATCH',
    'The account of one block, the storage of another.',
    contract,
    answer => {
      answer.storageProofs = contractLater.answer.storageProofs
    },
  )
}

function indices({ plain, contract, absent, later, baseOf, world }: Bases, make: Make): void {
  const index = (name: string, code: ErrorCode, description: string, change: (leafIndex: number) => unknown) =>
    make(`index-${name}`, 'Index', code, description, plain, ({ accountProof }) => {
      Object.assign(accountProof, { leafIndex: change(accountProof.leafIndex) })
    })
  index('plus-2-40', 'INDEX_OUT_OF_RANGE', 'The same path bits, 40 levels further.', x => x + 2 ** 40)
  index('plus-2-32', 'INDEX_OUT_OF_RANGE', 'The same index to 32-bit operators; past nextFreeNode.', x => x + 2 ** 32)
  index('plus-2-53', 'INDEX_OUT_OF_RANGE', 'Above what a number can count.', x => x + 2 ** 53)
  index('negative', 'INDEX_OUT_OF_RANGE', 'A negative index.', x => -x)
  index('fractional', 'INDEX_OUT_OF_RANGE', 'An index between two leaves.', x => x + 0.5)
  index('huge', 'INDEX_OUT_OF_RANGE', 'A number with an exponent.', () => 1e300)
  index('string', 'MALFORMED_RESPONSE', 'An index as a string.', x => `${x}`)
  index('hex', 'MALFORMED_RESPONSE', 'An index as a hex string.', x => `0x${x.toString(16)}`)
  index('missing', 'MALFORMED_RESPONSE', 'No index.', () => undefined)
  index('array', 'MALFORMED_RESPONSE', 'An index in an array.', x => [x])
  index('next', 'SUB_ROOT_MISMATCH', 'The index of another leaf.', x => x + (x % 2 === 0 ? 1 : -1))
  const nextFreeNode = 2 + 14
  index('next-free-node', 'INDEX_OUT_OF_RANGE', 'The first index that no leaf has taken.', () => nextFreeNode)
  const wide = world.fork()
  wide.skipLeaves(2 ** 40)
  make(
    'index-plus-2-32-in-a-wide-tree',
    'Index',
    'SUB_ROOT_MISMATCH',
    'The same index to 32-bit operators, below nextFreeNode.',
    baseOf(wide, plain.address),
    ({ accountProof }) => {
      accountProof.leafIndex += 2 ** 32
    },
  )
  make('index-of-neighbour-altered', 'Index', 'SUB_ROOT_MISMATCH', 'A neighbour at another index.', absent, answer => {
    const { leftLeafIndex } = answer.accountProof
    answer.accountProof.leftLeafIndex = leftLeafIndex === 2 ? 3 : 2
  })
  make('slot-index-altered', 'Index', 'INDEX_OUT_OF_RANGE', 'A slot’s leaf index past its tree.', contract, answer => {
    proofOf({ answer }, 0).leafIndex = later.getProof(CONTRACT).storageProofs.length + 2 ** 31
  })
}

function binding(scheme: Scheme, bases: Bases, make: Make): void {
  const { plain, contract, otherContract, absent, absentSlot, world, baseOf } = bases
  make(
    'key-of-another-account',
    'Binding',
    'KEY_MISMATCH',
    'The true answer for another address.',
    plain,
    () => contract.answer,
    {
      storageKeys: contract.storageKeys,
    },
  )
  make('key-rewritten', 'Binding', 'LEAF_KEY_MISMATCH', 'The same with the key field rewritten.', plain, () => {
    const { answer } = baseOf(world, addressFor('account 4'))
    answer.accountProof.key = plain.address
    return answer
  })
  make('slot-key-of-another-slot', 'Binding', 'KEY_MISMATCH', 'The true proof of another slot.', contract, answer => {
    answer.storageProofs[0] = proofOf(baseOf(world, CONTRACT, [keyFor(7)]), 0)
  })
  make(
    'slot-key-rewritten',
    'Binding',
    'LEAF_KEY_MISMATCH',
    'The same with the key field rewritten.',
    contract,
    answer => {
      const key = proofOf({ answer }, 0).key
      answer.storageProofs[0] = { ...proofOf(baseOf(world, CONTRACT, [keyFor(7)]), 0), key }
    },
  )
  make(
    'storage-proofs-reordered',
    'Binding',
    'KEY_MISMATCH',
    'The storage proofs in another order.',
    contract,
    answer => {
      answer.storageProofs.reverse()
    },
  )
  make(
    'storage-proof-doubled',
    'Binding',
    'KEY_MISMATCH',
    'One storage proof in the place of two.',
    contract,
    answer => {
      answer.storageProofs[1] = proofOf({ answer }, 0)
    },
  )
  make('storage-proof-missing', 'Binding', 'STORAGE_PROOF_MISSING', 'One storage proof fewer.', contract, answer => {
    answer.storageProofs.pop()
  })
  make(
    'storage-proofs-empty',
    'Binding',
    'STORAGE_PROOF_MISSING',
    'An empty list against a contract with storage.',
    contract,
    answer => {
      answer.storageProofs = []
    },
  )
  make(
    'storage-proofs-null',
    'Binding',
    'STORAGE_PROOF_MISSING',
    'null against a contract with storage.',
    contract,
    answer => ({
      ...answer,
      storageProofs: [null, null],
    }),
  )
  make(
    'storage-proof-one-null',
    'Binding',
    'STORAGE_PROOF_MISSING',
    'null for one of two slots.',
    contract,
    answer => ({
      ...answer,
      storageProofs: [proofOf({ answer }, 0), null],
    }),
  )
  make('storage-proof-extra', 'Binding', 'STORAGE_PROOF_UNEXPECTED', 'One storage proof more.', contract, answer => {
    answer.storageProofs.push(proofOf({ answer }, 0))
  })
  make(
    'storage-proof-unasked',
    'Binding',
    'STORAGE_PROOF_UNEXPECTED',
    'A storage proof, though no key was asked for.',
    plain,
    answer => {
      answer.storageProofs = [proofOf(contract, 0)]
    },
  )
  make(
    'storage-proof-for-absent-account',
    'Binding',
    'STORAGE_PROOF_UNEXPECTED',
    'A slot of an account that is proven absent.',
    absent,
    answer => {
      answer.storageProofs = [proofOf(contract, 0)]
    },
    { storageKeys: [keyFor(1)] },
  )
  make(
    'slot-of-another-account',
    'Root',
    'STORAGE_ROOT_MISMATCH',
    'The same slot of another contract.',
    contract,
    answer => {
      answer.storageProofs = otherContract.answer.storageProofs
    },
  )
  make(
    'absent-slot-of-another-account',
    'Root',
    'STORAGE_ROOT_MISMATCH',
    'A slot absent from another contract.',
    absentSlot,
    answer => {
      const other = createWorld(scheme)
      other.setAccount(CONTRACT)
      other.skipLeaves(3, CONTRACT)
      answer.storageProofs = baseOf(other, CONTRACT, absentSlot.storageKeys).answer.storageProofs
    },
  )
  make(
    'account-proof-as-storage-proof',
    'Binding',
    'WRONG_LENGTH',
    'An account proof in the place of a storage proof.',
    contract,
    answer => {
      answer.storageProofs[0] = answer.accountProof
    },
  )
  make(
    'storage-proof-as-account-proof',
    'Binding',
    'WRONG_LENGTH',
    'A storage proof in the place of the account proof.',
    contract,
    answer => {
      answer.accountProof = proofOf({ answer }, 0)
    },
  )
  const otherScheme = scheme.name === 'mimc' ? poseidon2 : mimc
  make('other-scheme', 'Binding', 'WRONG_LENGTH', 'The true answer of the other hash scheme.', plain, () => {
    return baseOf(makeWorld(otherScheme), plain.address).answer
  })
}

function values(scheme: Scheme, { plain, contract, absentSlot }: Bases, make: Make): void {
  for (const [name, offset] of [
    ['nonce', 31],
    ['balance', 63],
    ['code-hash', 159],
    ['code-size', 191],
  ] as const) {
    const description = `One bit of the account’s ${name.replace('-', ' ')}.`
    make(`account-${name}-altered`, 'Value', 'VALUE_MISMATCH', description, plain, ({ accountProof: { proof } }) => {
      proof.value = flipBit(proof.value, offset)
    })
  }
  make(
    'storage-root-replaced',
    'Value',
    'VALUE_MISMATCH',
    'The storage root of another contract.',
    contract,
    ({ accountProof: { proof } }) => {
      proof.value = changeInteger(proof.value, 64, 32, () => BigInt(hashStorageKey(scheme, keyFor(1))))
    },
  )
  make('slot-value-altered', 'Value', 'VALUE_MISMATCH', 'One bit of a slot’s value.', contract, answer => {
    const { proof } = proofOf({ answer }, 1)
    proof.value = flipBit(proof.value, 0)
  })
  make(
    'slot-neighbour-value-altered',
    'Value',
    'VALUE_MISMATCH',
    'One bit of a neighbour’s value.',
    absentSlot,
    answer => {
      const { rightProof } = proofOf({ answer }, 0)
      rightProof.value = flipBit(rightProof.value, 31)
    },
  )
  for (const [name, fields] of [
    ['nonce', { nonce: 2n ** 64n }],
    ['code-size', { codeSize: 2n ** 64n }],
  ] as const) {
    const { root, answer } = plantAccount(scheme, plain.address, { value: accountValueOf(scheme, fields) })
    const description = `A ${name.replace('-', ' ')} of 2^64, and a tree that commits to it.`
    make(`${name}-above-64-bits`, 'Value', 'VALUE_OUT_OF_RANGE', description, plain, () => answer, { stateRoot: root })
  }
  const [key, value] = [keyFor(1), wordFor(0)]
  const slot = {
    index: 2,
    prev: 0,
    next: 1,
    hKey: hashStorageKey(scheme, key),
    hVal: hashStorageValue(scheme, value),
    value,
  }
  const storage = plantTree(scheme, [...plantSentinels(scheme, 2, 2), slot], 3)
  const account = plantAccount(scheme, plain.address, {
    value: changeInteger(accountValueOf(scheme, {}), 64, 32, () => BigInt(storage.root)),
  })
  make(
    'slot-zero-present',
    'Value',
    'ZERO_VALUE',
    'A slot with value zero, and a tree that holds it: absent and present at once.',
    plain,
    () => ({ ...account.answer, storageProofs: [{ key, leafIndex: 2, proof: storage.prove(2) }] }),
    { stateRoot: account.root, storageKeys: [key] },
  )
}

function encoding({ plain, contract }: Bases, make: Make): void {
  const value = (name: string, code: ErrorCode, description: string, change: (hex: string) => unknown) =>
    make(`value-${name}`, 'Encoding', code, description, plain, ({ accountProof: { proof } }) => {
      Object.assign(proof, { value: change(proof.value) })
    })
  value('without-prefix', 'BAD_HEX', 'No 0x.', hex => hex.slice(2))
  value('upper-prefix', 'BAD_HEX', '0X is no prefix.', hex => `0X${hex.slice(2)}`)
  value('odd', 'BAD_HEX', 'Half a byte.', hex => hex.slice(0, -1))
  value('not-hex', 'BAD_HEX', 'A letter that is no digit.', hex => `${hex.slice(0, -1)}g`)
  value('wide-digit', 'BAD_HEX', 'A digit of another script.', hex => `${hex.slice(0, -1)}１`)
  value('space', 'BAD_HEX', 'A blank.', hex => `${hex.slice(0, -1)} `)
  value('sign', 'BAD_HEX', 'A sign among the digits.', hex => `0x-${hex.slice(3)}`)
  value('short', 'WRONG_LENGTH', 'One byte short.', hex => hex.slice(0, -2))
  value('long', 'WRONG_LENGTH', 'One byte long.', hex => `${hex}00`)
  value('minimal', 'WRONG_LENGTH', 'No bytes.', () => '0x')
  value('empty', 'BAD_HEX', 'An empty string.', () => '')
  value('number', 'MALFORMED_RESPONSE', 'A number.', () => 5)
  value('object', 'MALFORMED_RESPONSE', 'An object with a length.', () => ({ length: 386, toString: '0x' }))
  const node = (name: string, code: ErrorCode, description: string, entry: unknown) =>
    make(`node-${name}`, 'Encoding', code, description, contract, answer => {
      Object.assign(proofOf({ answer }, 0).proof.proofRelatedNodes, { 17: entry })
    })
  node('without-prefix', 'BAD_HEX', 'A node without 0x.', '00'.repeat(65))
  node('not-hex', 'BAD_HEX', 'A node with other characters.', `0x${'zz'.repeat(64)}`)
  node('short', 'WRONG_LENGTH', 'A node of 63 bytes.', zeros(63))
  node('long', 'WRONG_LENGTH', 'A node of 65 bytes.', zeros(65))
  node('null', 'MALFORMED_RESPONSE', 'A node that is null.', null)
  node('array', 'MALFORMED_RESPONSE', 'A node in an array.', [zeros(64)])
  make('key-short', 'Encoding', 'WRONG_LENGTH', 'A storage key as a number of one byte.', contract, answer => {
    proofOf({ answer }, 0).key = '0x01'
  })
  make('key-not-hex', 'Encoding', 'BAD_HEX', 'An address with a checksum prefix.', plain, ({ accountProof }) => {
    accountProof.key = `XE${accountProof.key}`
  })
}

function shapes({ plain, contract, absent }: Bases, make: Make): void {
  const shape = (name: string, description: string, forge: (answer: LooseAnswer) => unknown, base = plain) =>
    make(name, 'Shape', 'MALFORMED_RESPONSE', description, base, forge)
  for (const [name, answer] of Object.entries({ string: 'proof', number: 1, true: true, array: [], object: {} })) {
    shape(`answer-${name}`, 'No answer at all.', () => answer)
  }
  shape('batch', 'The answer to a batch.', answer => [{ jsonrpc: '2.0', id: 1, result: answer }])
  shape('response-without-result', 'A response with neither result nor error.', () => ({ jsonrpc: '2.0', id: 1 }))
  shape('response-null-result', 'The result is null: the endpoint does not know the block.', () => ({
    jsonrpc: '2.0',
    id: 1,
    result: null,
  }))
  shape('response-in-response', 'A response inside a response.', result => ({
    jsonrpc: '2.0',
    id: 1,
    result: { jsonrpc: '2.0', id: 1, result },
  }))
  shape('no-account-proof', 'No accountProof.', ({ storageProofs }) => ({ storageProofs }))
  shape('account-proof-null', 'accountProof is null.', ({ storageProofs }) => ({ accountProof: null, storageProofs }))
  shape('no-storage-proofs', 'No storageProofs.', ({ accountProof }) => ({ accountProof }))
  shape(
    'storage-proof-singular',
    'storageProof, as one description of the method calls it.',
    ({ accountProof, storageProofs }) => ({
      accountProof,
      storageProof: storageProofs,
    }),
  )
  shape(
    'storage-proofs-object',
    'storageProofs as an object.',
    answer => ({ ...answer, storageProofs: { ...answer.storageProofs, length: 2 } }),
    contract,
  )
  shape(
    'storage-proof-string',
    'A storage proof that is a string.',
    answer => ({ ...answer, storageProofs: ['0x', '0x'] }),
    contract,
  )
  shape('neither-form', 'A leaf proof of neither form.', ({ accountProof: { key } }) => ({
    accountProof: { key },
    storageProofs: [],
  }))
  shape('both-forms', 'A leaf proof of both forms.', ({ accountProof }) => ({
    accountProof: { ...absent.answer.accountProof, ...accountProof },
    storageProofs: [],
  }))
  shape('both-forms-in-part', 'An existence proof with one field of the other form.', answer => {
    answer.accountProof.rightLeafIndex = 1
  })
  shape(
    'half-a-form',
    'No right neighbour.',
    ({ accountProof: { key, leftLeafIndex, leftProof } }) => ({
      accountProof: { key, leftLeafIndex, leftProof },
      storageProofs: [],
    }),
    absent,
  )
  shape('no-key', 'No key.', ({ accountProof: { leafIndex, proof } }) => ({
    accountProof: { leafIndex, proof },
    storageProofs: [],
  }))
  shape('proof-is-node-list', 'The nodes alone in place of the proof.', ({ accountProof }) => {
    Object.assign(accountProof, { proof: accountProof.proof.proofRelatedNodes })
  })
  shape('nodes-object', 'The nodes as an object.', ({ accountProof: { proof } }) => {
    Object.assign(proof, { proofRelatedNodes: { ...proof.proofRelatedNodes, length: 42 } })
  })
  shape('nodes-string', 'The nodes as one string of 42 characters.', ({ accountProof: { proof } }) => {
    Object.assign(proof, { proofRelatedNodes: '0'.repeat(42) })
  })
  shape('prototype-key', 'The fields inside a __proto__ key.', answer => {
    return JSON.parse(`{"__proto__":${JSON.stringify(answer)},"constructor":{"prototype":{}}}`)
  })
  shape('nested-deep', 'Arrays inside arrays.', answer => ({
    ...answer,
    accountProof: JSON.parse('['.repeat(500) + ']'.repeat(500)),
  }))
  make(
    'nodes-ten-thousand',
    'Shape',
    'WRONG_NODE_COUNT',
    'A long list of nodes.',
    plain,
    ({ accountProof: { proof } }) => {
      proof.proofRelatedNodes = new Array(10_000).fill('0x')
    },
  )
  make('node-huge', 'Shape', 'WRONG_LENGTH', 'A node of 50,000 bytes.', plain, ({ accountProof: { proof } }) => {
    changeNode(proof, 3, () => zeros(50_000))
  })
  make('rpc-error', 'Shape', 'RPC_ERROR', 'The endpoint does not hold the block.', plain, () => ({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32600, message: 'BLOCK_MISSING_IN_CHAIN - block is missing in the chain' },
  }))
  make('rpc-error-and-result', 'Shape', 'RPC_ERROR', 'A response with an error and a result.', plain, result => ({
    jsonrpc: '2.0',
    id: 1,
    result,
    error: { code: 0, message: '' },
  }))
  make('rpc-error-odd', 'Shape', 'RPC_ERROR', 'An error that is a string.', plain, () => ({ error: 'rate limited' }))
  make('eth-get-proof', 'Shape', 'FOREIGN_PROOF', 'An eth_getProof answer.', contract, () => ({
    address: contract.address,
    accountProof: [`0xf90211${'a0'.repeat(100)}`],
    balance: '0x5',
    codeHash: keyFor('code'),
    nonce: '0x1',
    storageHash: keyFor('storage hash'),
    storageProof: [{ key: '0x1', value: '0x1', proof: [] }],
  }))
  make('eth-get-proof-response', 'Shape', 'FOREIGN_PROOF', 'The same in its response.', plain, () => ({
    jsonrpc: '2.0',
    id: 1,
    result: { address: plain.address, accountProof: [], storageProof: [] },
  }))
  const claim = (name: string, description: string, change: { stateRoot?: Hex; address?: Hex; storageKeys?: Hex[] }) =>
    make(`claim-${name}`, 'Shape', 'CLAIM_INVALID', description, plain, () => undefined, change)
  claim('root-short', 'The trusted root has 31 bytes.', { stateRoot: zeros(31) })
  claim('root-empty', 'There is no trusted root.', { stateRoot: '0x' })
  claim('address-long', 'The address has 32 bytes.', { address: zeros(32) })
  claim('key-short', 'A storage key has one byte.', { storageKeys: ['0x01'] })
}
