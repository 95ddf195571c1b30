import { bytesToHex, compareBytes, equalBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { atPath, refusal } from '../../base/errors.ts'
import { atMost } from '../../base/json/decoders.ts'
import type { Trees } from '../proof/tree.ts'
import { type AccountFields, accountFieldsOf, storageRootOf } from '../tree/kind.ts'
import { mismatch } from '../tree/path.ts'
import { MAX_TRACES } from './limits.ts'
import {
  applyTrace,
  type Change,
  DELETE,
  decodeKind,
  decodeLocation,
  INSERT,
  READ,
  READ_ABSENT,
  reader,
  readHead,
  readTrace,
  rootOf,
  startOf,
  type Trace,
  type TraceKind,
  type TreeState,
  UPDATE,
} from './trace.ts'

// Each check of this file is a rule of test/soundness/Transition.v.

/** A slot that was read or written. Zero stands for a slot that does not exist. */
export interface SlotDiff {
  /** 32 bytes, lower case. */
  key: Hex
  /** Its value before, 32 bytes. */
  before: Hex
  /** Its value after, 32 bytes: the same if it was only read. */
  after: Hex
}

/** An account that was read or written in a block. */
export interface AccountDiff {
  /** 20 bytes, lower case. */
  address: Hex
  /** The account before; null if it did not exist. */
  before: AccountFields | null
  /** The account after; null if it does not exist. If so, none of its slots does, whether listed or not. */
  after: AccountFields | null
  /** Whether anything is different after: a field of the account, and so its storage root. */
  changed: boolean
  /** Its slots that were read or written, in the order of their first traces. */
  storage: SlotDiff[]
}

type Entry = ReturnType<typeof readEntry>['entry']

type SlotEntry = Entry & { readonly slot: Uint8Array }
const isOfSlot = (entry: Entry): entry is SlotEntry => entry.slot !== null

interface Segment {
  readonly address: Uint8Array
  readonly hKey: Uint8Array
  readonly place: () => string
  readonly entries: Entry[]
}

/** How far the tree of accounts has come. Before its first trace, only its root is known. */
export interface Accounts {
  readonly trees: Trees
  readonly parentRoot: Uint8Array
  state: TreeState | null
}

/** Which traces the storage of an account may have before a trace of the account itself, by the kind of that trace. */
const STORAGE_KINDS: Readonly<Record<TraceKind, readonly TraceKind[]>> = {
  [READ]: [READ, READ_ABSENT],
  [READ_ABSENT]: [],
  [INSERT]: [READ_ABSENT, INSERT],
  [UPDATE]: [READ, READ_ABSENT, INSERT, UPDATE, DELETE],
  [DELETE]: [READ, READ_ABSENT],
}

/** Verifies the traces of one block, as soon as all of an account are read. @throws ProofError */
export function verifyBlockTraces(accounts: Accounts, list: unknown): AccountDiff[] {
  const { scheme, kind } = accounts.trees.account
  const diffs: AccountDiff[] = []
  let [index, last, segment]: [number, Segment | null, Segment | null] = [0, null, null]
  /** Why the segment before the trace that is being read was refused: `items` would add the place of that trace to the path. */
  let refused: unknown = null
  const finish = () => {
    if (segment === null) return
    const verified = segment
    atPath(verified.place, () => verifyOrder(last, verified))
    for (const diff of verifySegment(accounts, verified)) diffs.push(diff)
    last = verified
  }
  const add = (trace: unknown) => {
    const { address, entry } = readEntry(trace, index++)
    if (segment !== null && equalBytes(segment.address, address)) return void segment.entries.push(entry)
    try {
      finish()
    } catch (error) {
      refused = error
      throw error
    }
    segment = { address, hKey: kind.hashKey(scheme, address), place: entry.place, entries: [entry] }
  }
  try {
    reader.items(list, atMost('TRANSITION_TOO_LARGE', MAX_TRACES, ' traces in a block'), add)
  } catch (error) {
    throw refused ?? error
  }
  finish()
  return diffs
}

/** Reads what tells traces apart. The rest is read when the trace is verified, so that a list of many takes little memory. */
function readEntry(trace: unknown, index: number) {
  const field = readHead(trace)
  const kind = field('type', decodeKind)
  const location = field('location', decodeLocation)
  const key = field('key', reader.bytesOf(location === null ? 20 : 32))
  const [address, slot] = location === null ? [key, null] : [location, key]
  return { address, entry: { place: () => `[${index}]`, trace, kind, slot } }
}

/** The accounts of a block come in the order of their key hashes, each once. */
function verifyOrder(last: Segment | null, { hKey }: Segment): void {
  if (last !== null && compareBytes(last.hKey, hKey) >= 0)
    throw refusal('SEGMENT_ORDER', `an address with a hash above ${bytesToHex(last.hKey)}`, bytesToHex(hKey))
}

/** Traces of storage, then that of the account. An account that is deleted may be created again, with new storage. */
function verifySegment(accounts: Accounts, segment: Segment): AccountDiff[] {
  const { entries } = segment
  const [first] = entries
  // Servers write the trace of an account that was only read in front of those of its storage.
  const isReadFirst = first?.slot === null && first.kind === READ
  const ordered = isReadFirst ? [...entries.slice(1), first] : entries
  const diffs: AccountDiff[] = []
  let slots: SlotEntry[] = []
  let lastKind: TraceKind | null = null
  for (const entry of ordered) {
    if (isOfSlot(entry)) {
      slots.push(entry)
      continue
    }
    const { kind, place } = entry
    const isAllowed = lastKind === null || (lastKind === DELETE && kind === INSERT)
    atPath(place, () => verifyAllowed(isAllowed, kind, 'only an insertion, after a deletion'))
    diffs.push(verifyAccount(accounts, segment, entry, slots))
    slots = []
    lastKind = kind
  }
  const [orphan] = slots
  if (orphan) {
    atPath(orphan.place, () => {
      throw refusal('SEGMENT_INCOMPLETE', 'a trace of the account after those of its storage', 'none')
    })
  }
  return diffs
}

function verifyAllowed(isAllowed: boolean, kind: TraceKind, expected: string): void {
  if (!isAllowed) throw refusal('TRACE_NOT_ALLOWED', expected, `type ${kind}`)
}

/** Verifies a trace of an account, and the traces of its storage that belong to it. */
function verifyAccount(accounts: Accounts, segment: Segment, entry: Entry, slots: readonly SlotEntry[]): AccountDiff {
  const { trees, parentRoot } = accounts
  const { kind, place } = entry
  for (const slot of slots) {
    const isAllowed = STORAGE_KINDS[kind].includes(slot.kind)
    const expected = `before type ${kind} of the account, one of ${STORAGE_KINDS[kind].join(', ') || 'none'}`
    atPath(slot.place, () => verifyAllowed(isAllowed, slot.kind, expected))
  }
  const read = () => ({ tree: trees.account, kind, hKey: segment.hKey, field: readTrace(entry.trace) })
  const change = atPath(place, () => step(read(), accounts.state, parentRoot, 'TRANSITION_PARENT_NOT_OPENED'))
  accounts.state = change.state
  const { before, after } = change
  // Before an account exists, its storage is empty. While it is deleted, its storage is only read.
  const rootBefore = before === null ? hexToBytes(trees.storage.scheme.emptyTreeRoot, 32) : storageRootOf(before)
  const rootAfter = after === null ? rootBefore : storageRootOf(after)
  const storage = verifyStorage(trees, slots, rootBefore)
  atPath(place, () => {
    if (!equalBytes(storage.root, rootAfter)) throw mismatch('SEGMENT_STORAGE_AFTER', rootAfter, storage.root)
  })
  return {
    address: bytesToHex(segment.address),
    before: before && accountFieldsOf(before, {}),
    after: after && accountFieldsOf(after, {}),
    changed: before === null || after === null ? before !== after : !equalBytes(before, after),
    // With the account, all its slots are gone.
    storage: after === null ? storage.slots.map(slot => ({ ...slot, after: ZERO })) : storage.slots,
  }
}

const ZERO: Hex = `0x${'00'.repeat(32)}`

/** Verifies the traces of a storage tree. @returns the root that they lead to, and each slot once */
function verifyStorage({ storage: tree }: Trees, entries: readonly SlotEntry[], rootBefore: Uint8Array) {
  const slots = new Map<Hex, SlotDiff>()
  let state: TreeState | null = null
  for (const { slot, kind, trace, place } of entries) {
    const read = () => ({ tree, kind, hKey: tree.kind.hashKey(tree.scheme, slot), field: readTrace(trace) })
    const change: Change = atPath(place, () => step(read(), state, rootBefore, 'SEGMENT_STORAGE_BEFORE'))
    state = change.state
    const [key, before, after] = [bytesToHex(slot), spell(change.before), spell(change.after)]
    const known = slots.get(key)
    if (known) known.after = after
    else slots.set(key, { key, before, after })
  }
  return { root: state === null ? rootBefore : rootOf(tree.scheme, state), slots: [...slots.values()] }
}

const spell = (value: Uint8Array | null): Hex => (value === null ? ZERO : bytesToHex(value))

/** Verifies a trace where its tree has come to. The first trace of a tree opens its root. */
function step(trace: Trace, reached: TreeState | null, root: Uint8Array, code: ProofErrorCode): Change {
  const start = startOf(trace, reached)
  if (reached === null) {
    const opened = rootOf(trace.tree.scheme, start)
    if (!equalBytes(opened, root)) throw mismatch(code, root, opened)
  }
  return applyTrace(trace, start)
}
