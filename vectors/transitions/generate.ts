import { compareBytes, hexToBytes } from '../../src/base/bytes.ts'
import type { FailureCode } from '../../src/base/errors.ts'
import { type BlockAccess, createWorld, type Trace } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type HashScheme, hashSchemeOf } from '../../src/verify/scheme/scheme.ts'
import { accountTree, storageTree } from '../../src/verify/tree/kind.ts'
import { lift } from '../forge.ts'
import { difference, type Patch } from '../patch.ts'
import { spellNumbers } from '../run/spelling.ts'
import { addressFor, type Flag, keyFor, wordFor } from '../vector.ts'
import { createLedger } from './ledger.ts'

/** The arguments of `verifyTransition`. */
export interface TransitionInput {
  scheme: 'mimc' | 'poseidon2'
  parentStateRoot: Hex
  stateRoot?: Hex
  answer: unknown
}

interface Described {
  description: string
  operation: 'verifyTransition'
}
/** A vector that verifies: with all that it proves, numbers as quantities. */
export interface ValidTransition extends Described {
  input: TransitionInput
  expected: { valid: true; stateRoot: Hex; blocks: unknown[] }
}
/** A vector that is refused: the input of a valid one, with changes. */
export interface InvalidTransition extends Described {
  flag: Flag
  base: string
  patches: Patch[]
  expected: { valid: false; code: FailureCode }
}

type Ledger = ReturnType<typeof createLedger>
// biome-ignore lint/suspicious/noExplicitAny: types do not constrain a forger
type Loose = any
/** A forged block, from the state of {@link startLedger}; or a change of the true history. */
interface Forgery {
  readonly name: string
  readonly code: FailureCode
  readonly flag: Flag
  readonly description: string
  readonly forge?: (ledger: Ledger) => Trace[] | Trace[][]
  readonly change?: (input: Loose, scheme: HashScheme) => void
}
type Head = readonly [name: string, code: FailureCode, flag: Flag, description: string]
const forge = ([name, code, flag, description]: Head, forge: Forgery['forge']): Forgery => ({
  ...{ name, code, flag, description },
  ...(forge && { forge }),
})
const change = ([name, code, flag, description]: Head, change: Forgery['change']): Forgery => ({
  ...{ name, code, flag, description },
  ...(change && { change }),
})

const [A, B, C, D, E] = ['a', 'b', 'c', 'd', 'e'].map(addressFor) as [Hex, Hex, Hex, Hex, Hex]
const KEYS = [0, 1, 2, 3].map(keyFor) as [Hex, Hex, Hex, Hex]
const [K, L, M, N] = KEYS
const [ZERO, ONE, TWO] = [0, 1, 2].map(wordFor) as [Hex, Hex, Hex]

/** Two accounts with storage and one without. D and E do not exist. */
function startLedger(scheme: HashScheme): Ledger {
  const ledger = createLedger(scheme)
  ledger.plant(A, { [K]: ONE, [L]: ONE, [M]: ONE })
  ledger.plant(B, {})
  ledger.plant(C, { [K]: ONE })
  return ledger
}

/** What a block does to an account, and the slots that this shows: key, value before, value after. */
interface Told extends BlockAccess {
  readonly reads?: readonly (readonly [key: Hex, value: Hex])[]
  readonly writes?: readonly (readonly [key: Hex, before: Hex, after: Hex])[]
}

const STORY: readonly (readonly Told[])[] = [
  [
    {
      address: A,
      reads: [
        [K, ONE],
        [N, ZERO],
      ],
    },
    { address: D },
    { address: B, account: { nonce: 1n } },
  ],
  [
    {
      address: A,
      reads: [[K, ONE]],
      writes: [
        [K, ONE, TWO],
        [L, ONE, ZERO],
        [N, ZERO, ONE],
      ],
    },
    {
      address: E,
      account: { balance: 9n },
      writes: [
        [K, ZERO, TWO],
        [L, ZERO, ZERO],
      ],
    },
  ],
  [],
  [
    { address: A, account: null, reads: [[M, ONE]] },
    { address: C, recreate: true, account: { nonce: 3n }, reads: [[K, ONE]], writes: [[K, ZERO, TWO]] },
  ],
]

/** A true history of every kind of trace, and what it did, as it was told. */
function trueHistory(scheme: HashScheme) {
  const world = createWorld(scheme)
  for (const address of [A, B, C]) world.setAccount(address, { balance: 5n })
  for (const key of [K, L, M]) world.setStorage(A, { key, value: ONE })
  world.setStorage(C, { key: K, value: ONE })
  const parentStateRoot = world.stateRoot()
  const byHash = (hash: (key: Hex) => Uint8Array) => (a: Hex, b: Hex) => compareBytes(hash(a), hash(b))
  const byAddress = byHash(address => accountTree.hashKey(scheme, hexToBytes(address, 20)))
  const byKey = byHash(key => storageTree.hashKey(scheme, hexToBytes(key, 32)))
  const fieldsOf = (address: Hex) => {
    const account = world.getAccount(address)
    return account && spellNumbers(account)
  }
  const blocks: Trace[][] = []
  const expected = STORY.map(told => {
    const order = told.toSorted((a, b) => byAddress(a.address, b.address))
    const before = order.map(({ address }) => fieldsOf(address))
    const accesses = told.map(({ reads = [], writes = [], ...access }) => ({
      ...access,
      storage: [...reads.map(([key]) => ({ key })), ...writes.map(([key, , value]) => ({ key, value }))],
    }))
    blocks.push(world.applyBlock(accesses))
    const accounts = order.flatMap(({ address, account, recreate = false, reads = [], writes = [] }, index) => {
      const [was, is] = [before[index] ?? null, fieldsOf(address)]
      const isGone = recreate || account === null
      const read = reads
        .toSorted(([a], [b]) => byKey(a, b))
        .map(([key, value]) => {
          return { key, before: value, after: isGone ? ZERO : value }
        })
      const written = writes.toSorted(([a], [b]) => byKey(a, b)).map(([key, before, after]) => ({ key, before, after }))
      // A slot that is read and then written is listed once, where it is read.
      const merged = read.map(slot => written.find(({ key }) => key === slot.key) ?? slot)
      const others = written.filter(({ key }) => !read.some(slot => slot.key === key))
      const changed = isGone || JSON.stringify(was) !== JSON.stringify(is)
      if (!recreate) return [{ address, before: was, after: is, changed, storage: [...merged, ...others] }]
      const ended = { address, before: was, after: null, changed, storage: read }
      return [ended, { address, before: null, after: is, changed, storage: written }]
    })
    return { stateRoot: world.stateRoot(), accounts }
  })
  return { parentStateRoot, blocks, expected }
}

const input = (
  scheme: HashScheme,
  parentStateRoot: Hex,
  zkStateMerkleProof: unknown,
  stateRoot?: Hex,
): TransitionInput => ({
  scheme: scheme.name,
  parentStateRoot,
  ...(stateRoot && { stateRoot }),
  answer: {
    zkParentStateRootHash: parentStateRoot,
    ...(stateRoot && { zkEndStateRootHash: stateRoot }),
    zkStateMerkleProof,
    zkStateManagerVersion: '2.3.0',
  },
})

/** The vectors of transitions: path below this folder -> content. */
export function generateTransitions(): Map<string, string> {
  const files = new Map<string, string>()
  const add = (path: string, content: ValidTransition | InvalidTransition) => {
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(content, null, 1)}\n`)
  }
  for (const genuine of [mimc, poseidon2]) {
    const scheme = hashSchemeOf(genuine)
    const valid = validCases(scheme)
    for (const { name, ...vector } of valid) add(`valid/${scheme.name}-${name}.json`, vector)
    for (const { name, code, flag, description, forge, change } of forgeries()) {
      const base = forge ? 'nothing' : 'history'
      const before = valid.find(vector => vector.name === base)?.input
      const patches = forge ? forgedPatches(scheme, forge) : patchesOf(before, input => change?.(input, scheme))
      add(`invalid/${scheme.name}-${name}.json`, {
        ...{ description, flag, operation: 'verifyTransition', base: `${scheme.name}-${base}`, patches },
        expected: { valid: false, code },
      })
    }
  }
  return files
}

function patchesOf(before: unknown, change: (input: Loose) => void): Patch[] {
  const after = structuredClone(before)
  change(after)
  return difference(before, after)
}

/** One forged block, or several, from the root of the ledger to the one that a verifier which misses the forgery comes to. */
function forgedPatches(scheme: HashScheme, forge: NonNullable<Forgery['forge']>): Patch[] {
  const ledger = startLedger(scheme)
  const traces = forge(ledger)
  const zkStateMerkleProof = Array.isArray(traces[0]) ? traces : [traces]
  return [
    { path: 'parentStateRoot', value: ledger.startRoot() },
    { path: 'stateRoot', value: ledger.stateRoot() },
    { path: 'answer', value: { zkStateMerkleProof } },
  ]
}

function validCases(scheme: HashScheme): (ValidTransition & { name: string })[] {
  const { parentStateRoot, blocks, expected: told } = trueHistory(scheme)
  const [first, stateRoot = parentStateRoot] = [told[0]?.stateRoot ?? parentStateRoot, told.at(-1)?.stateRoot]
  const expected = { valid: true, stateRoot, blocks: told } as const
  const operation = 'verifyTransition'
  const history = input(scheme, parentStateRoot, blocks, stateRoot)
  const start = startLedger(scheme).stateRoot()
  return [
    {
      ...{ name: 'history', operation, input: history, expected },
      description:
        'Four blocks: accounts and slots are read, created, updated, deleted and created again; one block does nothing.',
    },
    {
      ...{ name: 'nothing', operation, input: input(scheme, start, [[]], start) },
      description: 'A block without traces: the root stays.',
      expected: { valid: true, stateRoot: start, blocks: [{ stateRoot: start, accounts: [] }] },
    },
    {
      ...{ name: 'response', operation },
      description:
        'The first block alone, in a JSON-RPC response that does not state the roots, and without a root to come to.',
      input: {
        ...{ scheme: scheme.name, parentStateRoot },
        answer: { jsonrpc: '2.0', id: 1, result: { zkStateMerkleProof: blocks.slice(0, 1) } },
      },
      expected: { valid: true, stateRoot: first, blocks: told.slice(0, 1) },
    },
  ]
}

/** The first trace of the true history for which this holds. */
const find = (input: Loose, holds: (trace: Loose) => boolean): Loose =>
  input.answer.zkStateMerkleProof.flat().find(holds)
const ofType = (type: number, isAccount: boolean) => (trace: Loose) =>
  trace.type === type && (trace.location === '0x') === isAccount
const moved = (trace: Trace, name: string, by: number): Trace => ({ ...trace, [name]: Number(trace[name]) + by })
const blocksOf = (input: Loose): Loose[][] => input.answer.zkStateMerkleProof
const flip = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
/** All that a field of the answer may be, but not what it has to be. */
const unstate = (input: Loose) => {
  delete input.answer.zkParentStateRootHash
  delete input.answer.zkEndStateRootHash
}

const forgeries = (): Forgery[] => [...shapes(), ...roots(), ...segments(), ...places(), ...leaves(), ...links()]

/** What is not a list of traces, and what is not canonical. */
const shapes = (): Forgery[] => [
  change(['trace-null', 'TRANSITION_MALFORMED', 'Shape', 'The server has lost a trace.'], input => {
    blocksOf(input)[0]?.splice(1, 1, null)
  }),
  change(['trace-without-proof', 'TRANSITION_MALFORMED', 'Shape', 'A trace has no path.'], input => {
    find(input, ofType(0, true)).proof = null
  }),
  change(['blocks-missing', 'TRANSITION_MALFORMED', 'Shape', 'There is no list of blocks.'], input => {
    input.answer.zkStateMerkleProof = null
  }),
  change(['index-text', 'TRANSITION_MALFORMED', 'Shape', 'A next free node is text.'], input => {
    const trace = find(input, ofType(0, true))
    trace.nextFreeNode = `${trace.nextFreeNode}`
  }),
  change(['blocks-8193', 'TRANSITION_TOO_LARGE', 'Shape', 'There are more blocks than one answer may have.'], input => {
    input.answer.zkStateMerkleProof = Array.from({ length: 8193 }, () => 'not read')
  }),
  change(['error', 'ANSWER_IS_ERROR', 'Shape', 'The server answers with an error.'], input => {
    input.answer = { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'BLOCK_MISSING_IN_CHAIN' } }
  }),
  change(['claim-root-short', 'ARGUMENT_INVALID', 'Encoding', 'The trusted parent root has 31 bytes.'], input => {
    input.parentStateRoot = input.parentStateRoot.slice(0, -2)
  }),
  change(['type-5', 'TRACE_TYPE_UNKNOWN', 'Shape', 'A trace of type 5.'], input => {
    find(input, ofType(0, true)).type = 5
  }),
  change(['type-fractional', 'TRACE_TYPE_UNKNOWN', 'Shape', 'A trace of type 0.5.'], input => {
    find(input, ofType(0, true)).type = 0.5
  }),
  forge(['siblings-39', 'TRACE_SIBLING_COUNT', 'Path', 'A path of 39 levels, in a tree that has so many.'], ledger => [
    ledger.readOnOtherPath(B, siblings => siblings.slice(0, 39)),
  ]),
  forge(['siblings-41', 'TRACE_SIBLING_COUNT', 'Path', 'A path of 41 levels, in a tree that has so many.'], ledger => [
    ledger.readOnOtherPath(B, siblings => [...siblings, ...siblings.slice(39)]),
  ]),
  change(['value-not-hex', 'BAD_HEX', 'Encoding', 'A value has a letter that is no digit.'], input => {
    const trace = find(input, ofType(3, false))
    trace.newValue = `${trace.newValue.slice(0, -1)}g`
  }),
  change(
    ['address-of-32-bytes', 'WRONG_LENGTH', 'Encoding', 'The key of an account is as long as that of a slot.'],
    input => {
      find(input, ofType(1, true)).key = KEYS[0]
    },
  ),
  change(['location-short', 'WRONG_LENGTH', 'Encoding', 'A location is neither an address nor empty.'], input => {
    find(input, ofType(3, false)).location = '0x00'
  }),
  change(['sibling-lifted', 'NON_CANONICAL', 'Canonicity', 'A sibling in its other encoding.'], (input, scheme) => {
    const { siblings } = find(input, ofType(0, true)).proof
    siblings[3] = lift(scheme, siblings[3], 0)
  }),
  change(
    ['leaf-key-lifted', 'NON_CANONICAL', 'Canonicity', 'The key hash of a neighbour in its other encoding.'],
    (input, scheme) => {
      const { leftLeaf } = find(input, ofType(1, true))
      leftLeaf.hkey = lift(scheme, leftLeaf.hkey, 0)
    },
  ),
  change(['sub-root-lifted', 'NON_CANONICAL', 'Canonicity', 'A sub-root in its other encoding.'], (input, scheme) => {
    const trace = find(input, ofType(3, true))
    trace.newSubRoot = lift(scheme, trace.newSubRoot, 0)
  }),
  change(
    ['account-value-lifted', 'NON_CANONICAL', 'Canonicity', 'The storage root of an account in its other encoding.'],
    (input, scheme) => {
      const trace = find(input, ofType(0, true))
      trace.value = lift(scheme, trace.value, 64)
    },
  ),
  change(['index-plus-2-40', 'INDEX_OUT_OF_RANGE', 'Index', 'An index takes the path of its remainder.'], input => {
    find(input, ofType(0, true)).proof.leafIndex += 2 ** 40
  }),
  change(['index-negative', 'INDEX_OUT_OF_RANGE', 'Index', 'A neighbour at a negative index.'], input => {
    find(input, ofType(1, true)).leftLeaf.prevLeaf = -1
  }),
  change(['index-fractional', 'INDEX_OUT_OF_RANGE', 'Index', 'A next free node of 6.5.'], input => {
    find(input, ofType(0, true)).nextFreeNode = 6.5
  }),
]

/** Which state the blocks start from, and which one they come to. */
const roots = (): Forgery[] => [
  change(
    ['parent-stated-otherwise', 'TRANSITION_ROOT_CONTRADICTED', 'Root', 'The answer states another parent root.'],
    input => {
      input.answer.zkParentStateRootHash = input.stateRoot
    },
  ),
  change(
    ['end-stated-otherwise', 'TRANSITION_ROOT_CONTRADICTED', 'Root', 'The answer states another end root.'],
    input => {
      input.answer.zkEndStateRootHash = input.parentStateRoot
    },
  ),
  change(
    [
      'parent-of-another-block',
      'TRANSITION_PARENT_NOT_OPENED',
      'Root',
      'The traces start from another state than the trusted one.',
    ],
    input => {
      unstate(input)
      input.parentStateRoot = input.stateRoot
    },
  ),
  change(
    ['first-block-left-out', 'TRANSITION_PARENT_NOT_OPENED', 'Root', 'What the first block did is left out.'],
    input => {
      blocksOf(input).shift()
    },
  ),
  forge(
    [
      'first-next-free-node',
      'TRANSITION_PARENT_NOT_OPENED',
      'Root',
      'The first trace has another next free node than the parent root.',
    ],
    ledger => {
      return [moved(ledger.read(A), 'nextFreeNode', 1)]
    },
  ),
  change(['last-block-left-out', 'TRANSITION_END_MISMATCH', 'Root', 'What the last block did is left out.'], input => {
    unstate(input)
    blocksOf(input).pop()
  }),
  change(
    ['end-of-another-block', 'TRANSITION_END_MISMATCH', 'Root', 'The trusted end root is that of another block.'],
    input => {
      unstate(input)
      input.stateRoot = input.parentStateRoot
    },
  ),
]

/** Which traces an account has in a block. */
const segments = (): Forgery[] => [
  forge(
    ['accounts-out-of-order', 'SEGMENT_ORDER', 'Ordering', 'Two accounts in the reverse order of their key hashes.'],
    ledger => {
      return [A, B].toSorted((a, b) => ledger.compare(b, a)).map(ledger.read)
    },
  ),
  forge(
    [
      'account-twice',
      'SEGMENT_ORDER',
      'Ordering',
      'An account is written, another is read, and the first is written again.',
    ],
    ledger => [ledger.write(A, 2n), ledger.read(B), ledger.write(A, 3n)],
  ),
  forge(
    ['account-trace-missing', 'SEGMENT_INCOMPLETE', 'Binding', 'Slots are read, but their account is not.'],
    ledger => [ledger.slot(A, K)],
  ),
  forge(
    ['account-trace-of-another', 'SEGMENT_INCOMPLETE', 'Binding', 'Slots of one account, then the trace of another.'],
    ledger => {
      const [first = A, second = B] = [A, B].toSorted((a, b) => ledger.compare(a, b))
      return [ledger.slot(first, K), ledger.read(second)]
    },
  ),
  forge(
    ['storage-after-update', 'SEGMENT_INCOMPLETE', 'Binding', 'Slots are read after the account was updated.'],
    ledger => [ledger.write(A, 2n), ledger.slot(A, K)],
  ),
  forge(
    ['storage-of-another', 'SEGMENT_STORAGE_BEFORE', 'Binding', 'The slots of another account under this one’s name.'],
    ledger => [{ ...ledger.slot(C, K), location: A }, ledger.read(A)],
  ),
  forge(
    ['storage-of-another-after', 'SEGMENT_STORAGE_BEFORE', 'Binding', 'The same, after the trace of the account.'],
    ledger => [ledger.read(A), { ...ledger.slot(C, K), location: A }],
  ),
  forge(
    ['created-with-storage', 'SEGMENT_STORAGE_BEFORE', 'Value', 'An account is created with the storage of another.'],
    ledger => [{ ...ledger.slot(C, L, TWO), location: D }, ledger.write(D, 1n, ledger.storageRoot(C))],
  ),
  forge(
    [
      'recreated-with-old-storage',
      'SEGMENT_STORAGE_BEFORE',
      'Value',
      'An account is deleted, and created again with the storage that it had.',
    ],
    ledger => {
      const kept = ledger.slot(A, N, TWO)
      const root = ledger.storageRoot(A)
      return [ledger.remove(A), kept, ledger.write(A, 1n, root)]
    },
  ),
  forge(
    [
      'storage-root-kept',
      'SEGMENT_STORAGE_AFTER',
      'Value',
      'A slot is written, but the account keeps its storage root.',
    ],
    ledger => {
      const root = ledger.storageRoot(A)
      return [ledger.slot(A, K, TWO), ledger.write(A, 2n, root)]
    },
  ),
  forge(
    [
      'storage-root-alone',
      'SEGMENT_STORAGE_AFTER',
      'Value',
      'The storage root of an account changes without a trace of its storage.',
    ],
    ledger => [ledger.write(A, 2n, ledger.storageRoot(C))],
  ),
  forge(
    [
      'created-with-storage-root',
      'SEGMENT_STORAGE_AFTER',
      'Value',
      'An account is created with a storage root, and without a trace of its storage.',
    ],
    ledger => [ledger.write(D, 2n, ledger.storageRoot(C))],
  ),
  forge(
    [
      'read-account-storage-written',
      'TRACE_NOT_ALLOWED',
      'Binding',
      'The account is only read, but a slot is written, and written back.',
    ],
    ledger => [ledger.slot(A, K, TWO), ledger.slot(A, K, ONE), ledger.read(A)],
  ),
  forge(
    ['read-account-storage-written-after', 'TRACE_NOT_ALLOWED', 'Binding', 'The same, after the trace of the account.'],
    ledger => [ledger.read(A), ledger.slot(A, K, TWO), ledger.slot(A, K, ONE)],
  ),
  forge(
    [
      'absent-account-storage-read',
      'TRACE_NOT_ALLOWED',
      'Binding',
      'The account does not exist, but a slot is read in an empty storage.',
    ],
    ledger => [ledger.slot(D, K), ledger.read(D)],
  ),
  forge(
    [
      'created-account-slot-updated',
      'TRACE_NOT_ALLOWED',
      'Binding',
      'A slot of an account that is created is inserted, and then updated.',
    ],
    ledger => [ledger.slot(D, K, ONE), ledger.slot(D, K, TWO), ledger.write(D, 1n)],
  ),
  forge(
    [
      'created-account-slot-deleted',
      'TRACE_NOT_ALLOWED',
      'Binding',
      'A slot of an account that is created is inserted, and then deleted.',
    ],
    ledger => [ledger.slot(D, K, ONE), ledger.slot(D, K, ZERO), ledger.write(D, 1n)],
  ),
  forge(
    [
      'created-account-slot-read',
      'TRACE_NOT_ALLOWED',
      'Binding',
      'A slot of an account that is created is inserted, and then read.',
    ],
    ledger => [ledger.slot(D, K, ONE), ledger.slot(D, K), ledger.write(D, 1n)],
  ),
  forge(
    [
      'deleted-account-slot-written',
      'TRACE_NOT_ALLOWED',
      'Binding',
      'A slot of an account that is deleted is written, and written back.',
    ],
    ledger => [ledger.slot(A, K, TWO), ledger.slot(A, K, ONE), ledger.remove(A)],
  ),
  forge(['account-updated-twice', 'TRACE_NOT_ALLOWED', 'Binding', 'An account has two updates in a block.'], ledger => [
    ledger.write(A, 2n),
    ledger.write(A, 3n),
  ]),
  forge(
    ['account-read-and-updated', 'TRACE_NOT_ALLOWED', 'Binding', 'An account is read, and then updated.'],
    ledger => [ledger.read(B), ledger.write(B, 3n)],
  ),
  forge(
    ['account-created-and-deleted', 'TRACE_NOT_ALLOWED', 'Binding', 'An account is created and deleted in one block.'],
    ledger => [ledger.write(D, 2n), ledger.remove(D)],
  ),
  forge(
    ['account-recreated-twice', 'TRACE_NOT_ALLOWED', 'Binding', 'An account is deleted, created, and deleted again.'],
    ledger => [ledger.remove(A), ledger.write(A, 1n), ledger.remove(A)],
  ),
]

/** Where a trace starts, and what it leads to. */
const places = (): Forgery[] => [
  forge(['trace-left-out', 'TRACE_NOT_CONTINUOUS', 'Path', 'A write of a slot is left out.'], ledger => {
    const [first, , last] = [ledger.slot(A, K, TWO), ledger.slot(A, L, TWO), ledger.slot(A, M, TWO)]
    return [first, last, ledger.write(A, 2n)] as Trace[]
  }),
  forge(
    ['account-left-out', 'TRACE_NOT_CONTINUOUS', 'Path', 'A write of an account is left out, in another block.'],
    ledger => {
      const [first, , last] = [ledger.write(A, 2n), ledger.write(B, 2n), ledger.write(C, 2n)]
      return [[first], [last]] as Trace[][]
    },
  ),
  forge(['trace-twice', 'TRACE_NOT_CONTINUOUS', 'Path', 'An insertion is there twice.'], ledger => {
    const inserted = ledger.slot(A, N, TWO)
    return [inserted, inserted, ledger.write(A, 2n)]
  }),
  forge(
    [
      'next-free-node-back',
      'TRACE_NOT_CONTINUOUS',
      'Index',
      'After an insertion, a read has the next free node before it.',
    ],
    ledger => {
      const [inserted, read] = [ledger.slot(A, N, TWO), ledger.slot(A, K)]
      return [inserted, moved(read, 'nextFreeNode', -1), ledger.write(A, 2n)]
    },
  ),
  forge(
    ['deletion-frees-its-leaf', 'TRACE_NOT_CONTINUOUS', 'Index', 'A deletion gives the index of its leaf back.'],
    ledger => {
      const [read, deleted] = [ledger.slot(A, K), ledger.slot(A, M, ZERO)]
      return [read, moved(deleted, 'newNextFreeNode', -1), ledger.write(A, 2n)]
    },
  ),
  forge(
    ['inserted-past-the-next', 'INDEX_OUT_OF_RANGE', 'Index', 'A slot is inserted beyond the next free node.'],
    ledger => [ledger.insertAt(A, N, { ...ledger.gapOf(A, N), index: 9 }), ledger.write(A, 2n)],
  ),
  forge(
    ['inserted-at-a-freed-leaf', 'TRACE_INDEX_NOT_NEXT', 'Index', 'A slot is inserted where another was deleted.'],
    ledger => {
      const deleted = ledger.slot(A, K, ZERO)
      const { deletedProof } = deleted
      const { leafIndex: index } = Object(deletedProof)
      // Its neighbours point at the index that it should have, so that the place alone is wrong.
      const linked = ledger.nextFreeNode(A)
      return [deleted, ledger.insertAt(A, N, { ...ledger.gapOf(A, N), index, linked }), ledger.write(A, 2n)]
    },
  ),
  change(['sibling-altered', 'TRACE_PATH_MISMATCH', 'Path', 'A path leads elsewhere.'], input => {
    const { siblings } = find(input, ofType(0, true)).proof
    siblings[0] = siblings[1]
  }),
  change(
    ['index-of-the-sibling', 'TRACE_PATH_MISMATCH', 'Index', 'The path of a leaf under the index of its sibling.'],
    input => {
      const { proof } = find(input, ofType(0, true))
      proof.leafIndex ^= 1
    },
  ),
  change(
    ['absent-neighbour-altered', 'TRACE_PATH_MISMATCH', 'Path', 'A neighbour of an absent account is not in the tree.'],
    input => {
      const { leftLeaf } = find(input, ofType(1, true))
      leftLeaf.hval = leftLeaf.hkey
    },
  ),
  forge(
    [
      'insertion-opened-too-early',
      'TRACE_PATH_MISMATCH',
      'Path',
      'The place of a new leaf is opened before its neighbour has changed.',
    ],
    ledger => {
      const newProof = ledger.placeOf(A)
      return [{ ...ledger.slot(A, N, TWO), newProof }, ledger.write(A, 2n)]
    },
  ),
  change(
    ['new-value-altered', 'TRACE_RESULT_MISMATCH', 'Value', 'An account is said to be written with another value.'],
    input => {
      const trace = find(input, ofType(3, true))
      trace.newValue = flip(trace.newValue)
    },
  ),
  change(
    ['inserted-value-altered', 'TRACE_PATH_MISMATCH', 'Value', 'A slot is said to be inserted with another value.'],
    input => {
      const trace = find(input, ofType(2, false))
      trace.value = wordFor(3)
    },
  ),
  change(['new-sub-root-altered', 'TRACE_RESULT_MISMATCH', 'Path', 'A deletion is said to lead elsewhere.'], input => {
    const trace = find(input, ofType(4, false))
    trace.newSubRoot = trace.oldSubRoot
  }),
]

/** Which key and value a leaf holds. */
const leaves = (): Forgery[] => [
  forge(
    ['read-key-of-another', 'TRACE_KEY_MISMATCH', 'Binding', 'The slot of one key is read under the name of another.'],
    ledger => [{ ...ledger.slot(A, K), key: L }, ledger.read(A)],
  ),
  forge(
    ['updated-key-of-another', 'TRACE_KEY_MISMATCH', 'Binding', 'One slot is written under the name of another.'],
    ledger => [{ ...ledger.slot(A, K, TWO), key: L }, ledger.write(A, 2n)],
  ),
  forge(
    ['deleted-key-of-another', 'TRACE_KEY_MISMATCH', 'Binding', 'One account is deleted under the name of another.'],
    ledger => [{ ...ledger.remove(B), key: C }],
  ),
  change(['read-value-altered', 'TRACE_VALUE_MISMATCH', 'Value', 'A slot is read with another value.'], input => {
    const trace = find(input, ofType(0, false))
    trace.value = TWO
  }),
  change(
    ['old-value-altered', 'TRACE_VALUE_MISMATCH', 'Value', 'An account is said to have had another value.'],
    input => {
      const trace = find(input, ofType(3, true))
      trace.oldValue = flip(trace.oldValue)
    },
  ),
  change(
    ['deleted-value-altered', 'TRACE_VALUE_MISMATCH', 'Value', 'A deleted account is said to have had another value.'],
    input => {
      const trace = find(input, ofType(4, true))
      trace.deletedValue = flip(trace.deletedValue)
    },
  ),
  forge(['slot-zero-written', 'ZERO_VALUE', 'Value', 'A slot is written with zero, and not deleted.'], ledger => [
    ledger.slotZero(A, K),
    ledger.write(A, 2n),
  ]),
  forge(
    ['nonce-above-64-bits', 'VALUE_OUT_OF_RANGE', 'Value', 'An account is created with a nonce of 2^64.'],
    ledger => [ledger.write(D, 2n ** 64n)],
  ),
]

/** How leaves are linked. */
const links = (): Forgery[] => [
  forge(
    ['only-the-right-points-back', 'TRACE_NOT_NEIGHBOURS', 'Adjacency', 'The left neighbour points elsewhere.'],
    ledger => {
      const { left, right } = ledger.gapOf(A, N)
      ledger.plantLinks(A, left, { next: left })
      return [ledger.absentBetween(A, N, { left, right }), ledger.read(A)]
    },
  ),
  forge(
    ['only-the-left-points-forward', 'TRACE_NOT_NEIGHBOURS', 'Adjacency', 'The right neighbour points elsewhere.'],
    ledger => {
      const { left, right } = ledger.gapOf(A, N)
      ledger.plantLinks(A, right, { prev: right })
      return [ledger.absentBetween(A, N, { left, right }), ledger.read(A)]
    },
  ),
  forge(
    [
      'absent-between-strangers',
      'TRACE_NOT_NEIGHBOURS',
      'Adjacency',
      'A slot that exists is read as absent between HEAD and TAIL.',
    ],
    ledger => [ledger.absentBetween(A, K, { left: 0, right: 1 }), ledger.read(A)],
  ),
  forge(
    [
      'inserted-between-strangers',
      'TRACE_NOT_NEIGHBOURS',
      'Adjacency',
      'A slot is inserted between HEAD and TAIL, and all others leave the list.',
    ],
    ledger => [ledger.insertAt(A, N, { left: 0, right: 1 }), ledger.write(A, 2n)],
  ),
  forge(['inserted-twice', 'TRACE_NOT_NEIGHBOURS', 'Adjacency', 'A slot that exists is inserted again.'], ledger => {
    return [ledger.insertAt(A, K, ledger.leafOf(A, K)), ledger.write(A, 2n)]
  }),
  forge(
    [
      'deleted-with-strangers',
      'TRACE_NOT_NEIGHBOURS',
      'Adjacency',
      'A deletion links HEAD and TAIL, and the neighbours of the leaf stay as they are.',
    ],
    ledger => [ledger.deleteBetween(A, ledger.middleOf([K, L, M]), { left: 0, right: 1 }), ledger.write(A, 2n)],
  ),
  forge(
    [
      'absent-in-another-gap',
      'TRACE_KEY_NOT_BETWEEN',
      'Ordering',
      'A slot that exists is read as absent in a gap elsewhere.',
    ],
    ledger => [ledger.absentBetween(A, ledger.middleOf([K, L, M]), ledger.firstGap(A)), ledger.read(A)],
  ),
  forge(
    [
      'inserted-in-another-gap',
      'TRACE_KEY_NOT_BETWEEN',
      'Ordering',
      'A slot that exists is inserted again in a gap elsewhere.',
    ],
    ledger => [ledger.insertAt(A, ledger.middleOf([K, L, M]), ledger.firstGap(A)), ledger.write(A, 2n)],
  ),
  forge(
    ['absent-right-of-itself', 'TRACE_KEY_NOT_BETWEEN', 'Ordering', 'A slot that exists is its own left neighbour.'],
    ledger => [ledger.absentBetween(A, K, ledger.gapOf(A, K)), ledger.read(A)],
  ),
  forge(
    ['absent-left-of-itself', 'TRACE_KEY_NOT_BETWEEN', 'Ordering', 'A slot that exists is its own right neighbour.'],
    ledger => {
      const right = ledger.gapOf(A, K).left
      return [ledger.absentBetween(A, K, { left: ledger.leafOf(A, K).left, right }), ledger.read(A)]
    },
  ),
  forge(
    [
      'deleted-with-a-strange-left',
      'TRACE_NOT_NEIGHBOURS',
      'Adjacency',
      'The left leaf of a deletion is HEAD, and not the neighbour.',
    ],
    ledger => {
      const middle = ledger.middleOf([K, L, M])
      return [ledger.deleteBetween(A, middle, { ...ledger.leafOf(A, middle), left: 0 }), ledger.write(A, 2n)]
    },
  ),
  forge(
    [
      'deleted-with-a-strange-right',
      'TRACE_NOT_NEIGHBOURS',
      'Adjacency',
      'The right leaf of a deletion is TAIL, and not the neighbour.',
    ],
    ledger => {
      const middle = ledger.middleOf([K, L, M])
      return [ledger.deleteBetween(A, middle, { ...ledger.leafOf(A, middle), right: 1 }), ledger.write(A, 2n)]
    },
  ),
  change(
    [
      'absent-right-neighbour-altered',
      'TRACE_PATH_MISMATCH',
      'Path',
      'The right neighbour of an absent account is not in the tree.',
    ],
    input => {
      const { rightLeaf } = find(input, ofType(1, true))
      rightLeaf.hval = rightLeaf.hval === rightLeaf.hkey ? wordFor(1) : rightLeaf.hkey
    },
  ),
  forge(
    ['account-absent-and-created', 'TRACE_NOT_ALLOWED', 'Binding', 'An account is read as absent, and then created.'],
    ledger => [ledger.read(D), ledger.write(D, 1n)],
  ),
  forge(
    ['account-deleted-and-read', 'TRACE_NOT_ALLOWED', 'Binding', 'An account is deleted, and then read as absent.'],
    ledger => [ledger.remove(B), ledger.read(B)],
  ),
]
