// The verifier of traces: one list of leaves per path, hashed again for every question. One `demand` per rule.
import { type Scheme, type SchemeName, schemes, slice, ZERO } from './hash.ts'
import { emptyRoot, hashAccount, hashAddress, hashFull } from './world.ts'

type State = { subRoot: string; next: bigint }
type Fields = Partial<
  Record<
    | ('type' | 'location' | 'key' | 'value' | 'oldValue' | 'newValue' | 'deletedValue' | 'subRoot' | 'oldSubRoot')
    | ('newSubRoot' | 'nextFreeNode' | 'newNextFreeNode' | 'leaf' | 'leftLeaf' | 'rightLeaf' | 'priorLeftLeaf')
    | ('priorRightLeaf' | 'priorUpdatedLeaf' | 'priorDeletedLeaf' | 'proof' | 'leftProof' | 'rightProof' | 'newProof')
    | ('deletedProof' | 'leafIndex' | 'siblings' | 'prevLeaf' | 'nextLeaf' | 'hkey' | 'hval' | 'zkStateMerkleProof'),
    unknown
  >
>

function demand(holds: boolean): asserts holds {
  if (!holds) throw new Error('a rule does not hold')
}

const bare = (value: unknown, length: number): string => {
  demand(typeof value === 'string' && value.length === 2 + 2 * length && /^0x[0-9a-fA-F]*$/.test(value))
  return value.slice(2).toLowerCase()
}
const whole = (value: unknown): bigint => {
  demand(typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 2 ** 40)
  return BigInt(value)
}
const fields = (value: unknown): Fields => {
  demand(typeof value === 'object' && value !== null && !Array.isArray(value))
  return value as Fields
}
const list = (value: unknown): unknown[] => {
  demand(Array.isArray(value))
  return value
}

/** The state root after each block, or 'invalid'. */
export function verifyTraces(name: SchemeName, answer: unknown, parent: string): string[] | 'invalid' {
  const scheme = schemes[name]
  try {
    const world: { state: State | null } = { state: null }
    return list(fields(answer).zkStateMerkleProof).map(block => {
      replayBlock(scheme, world, bare(parent, 32), list(block).map(fields))
      return world.state ? `0x${top(scheme, world.state)}` : parent
    })
  } catch {
    return 'invalid'
  }
}

const top = (scheme: Scheme, { subRoot, next }: State): string => scheme.H(scheme.word(next) + subRoot)
const accountOf = ({ location, key }: Fields): string => (location === '0x' ? bare(key, 20) : bare(location, 20))

function replayBlock(scheme: Scheme, world: { state: State | null }, parent: string, traces: Fields[]): void {
  const accounts = traces.map(accountOf).filter((address, i, all) => address !== all[i - 1])
  const hashes = accounts.map(address => hashAddress(scheme, address))
  demand(hashes.every((hash, i) => i === 0 || (hashes[i - 1] ?? '') < hash))
  for (const address of accounts) {
    const own = traces.filter(trace => accountOf(trace) === address)
    // As a word: a lower-case letter for a trace of storage, an upper-case one for a trace of the account.
    const word = own
      .map(({ location, type }) => 'razud'.charAt(Number(type))[location === '0x' ? 'toUpperCase' : 'toLowerCase']())
      .join('')
    demand(/^(A|R[ra]*|[ra]*R|[razud]*U|[az]*Z|[ra]*D([az]*Z)?)$/.test(word))
    const rest = [...own]
    if (word.startsWith('R')) rest.push(rest.shift() as Fields)
    let storage: Fields[] = []
    for (const trace of rest) {
      if (trace.location !== '0x') {
        storage.push(trace)
        continue
      }
      const { before, after, state } = follow(scheme, 20, trace, world.state, parent)
      world.state = state
      const empty = emptyRoot(scheme)
      const rootBefore = before === null ? empty : slice(before, 64, 32)
      const rootAfter = after === null ? rootBefore : slice(after, 64, 32)
      let slots: State | null = null
      for (const slot of storage) slots = follow(scheme, 32, slot, slots, rootBefore).state
      demand((slots ? top(scheme, slots) : rootBefore) === rootAfter)
      storage = []
    }
  }
}

type Leaf = { prev: bigint; next: bigint; hKey: string; hVal: string }
type Opening = { index: bigint; siblings: string[] }

// Climbs from a leaf, or from nothing, to the sub-root.
function climb(scheme: Scheme, leaf: Leaf | null, { index, siblings }: Opening): string {
  let digest = leaf ? scheme.H(scheme.word(leaf.prev) + scheme.word(leaf.next) + leaf.hKey + leaf.hVal) : ZERO
  for (let level = 0n; level < 40n; level++) {
    const sibling = siblings[Number(level)] ?? ''
    digest = scheme.H((index >> level) & 1n ? sibling + digest : digest + sibling)
  }
  return digest
}

function follow(scheme: Scheme, keyLength: 20 | 32, trace: Fields, reached: State | null, root: string) {
  const type = Number(trace.type)
  const digest = (value: unknown) => {
    const bytes = bare(value, 32)
    demand(scheme.isCanonical(bytes))
    return bytes
  }
  const start: State = {
    subRoot: digest(type < 2 ? trace.subRoot : trace.oldSubRoot),
    next: whole(type < 2 ? trace.nextFreeNode : trace.newNextFreeNode) - (type === 2 ? 1n : 0n),
  }
  demand(reached ? reached.subRoot === start.subRoot && reached.next === start.next : top(scheme, start) === root)
  const leafOf = (value: unknown): Leaf => {
    const { prevLeaf, nextLeaf, hkey, hval } = fields(value)
    return { prev: whole(prevLeaf), next: whole(nextLeaf), hKey: digest(hkey), hVal: digest(hval) }
  }
  const openingOf = (value: unknown): Opening => {
    const { leafIndex, siblings } = fields(value)
    demand(list(siblings).length === 40)
    return { index: whole(leafIndex), siblings: list(siblings).map(digest) }
  }
  const readValue = (value: unknown): string => bare(value, keyLength === 20 ? 192 : 32)
  const hash = (value: string) => (keyLength === 20 ? hashAccount(scheme, value) : hashFull(scheme, value))
  const key = bare(trace.key, keyLength)
  const hKey = keyLength === 20 ? hashAddress(scheme, key) : hashFull(scheme, key)

  let now = start.subRoot
  const change = (from: Leaf | null, to: Leaf | null, opening: Opening) => {
    demand(climb(scheme, from, opening) === now)
    now = climb(scheme, to, opening)
  }
  const ends = (before: string | null, after: string | null, taken = 0n) => {
    if (type > 1) demand(now === digest(trace.newSubRoot))
    for (const value of [before, after]) demand(value === null || keyLength === 20 || value !== ZERO)
    return { before, after, state: { subRoot: now, next: start.next + taken } }
  }
  if (type === 0 || type === 3) {
    const leaf = leafOf(type === 0 ? trace.leaf : trace.priorUpdatedLeaf)
    const before = readValue(type === 0 ? trace.value : trace.oldValue)
    const after = type === 0 ? before : readValue(trace.newValue)
    demand(leaf.hKey === hKey && leaf.hVal === hash(before))
    change(leaf, { ...leaf, hVal: hash(after) }, openingOf(trace.proof))
    return ends(before, after)
  }
  const left = leafOf(type === 1 ? trace.leftLeaf : trace.priorLeftLeaf)
  const right = leafOf(type === 1 ? trace.rightLeaf : trace.priorRightLeaf)
  const [leftAt, rightAt] = [openingOf(trace.leftProof), openingOf(trace.rightProof)]
  if (type === 4) {
    const leaf = leafOf(trace.priorDeletedLeaf)
    const at = openingOf(trace.deletedProof)
    const before = readValue(trace.deletedValue)
    demand(leaf.hKey === hKey && leaf.hVal === hash(before))
    demand(
      left.next === at.index && leaf.prev === leftAt.index && leaf.next === rightAt.index && right.prev === at.index,
    )
    change(left, { ...left, next: rightAt.index }, leftAt)
    change(leaf, null, at)
    change(right, { ...right, prev: leftAt.index }, rightAt)
    return ends(before, null)
  }
  demand(left.next === rightAt.index && right.prev === leftAt.index && left.hKey < hKey && hKey < right.hKey)
  if (type === 1) {
    change(left, left, leftAt)
    change(right, right, rightAt)
    return ends(null, null)
  }
  demand(type === 2)
  const after = readValue(trace.value)
  const at = openingOf(trace.newProof)
  demand(at.index === start.next)
  change(left, { ...left, next: at.index }, leftAt)
  change(null, { prev: leftAt.index, next: rightAt.index, hKey, hVal: hash(after) }, at)
  change(right, { ...right, prev: at.index }, rightAt)
  return ends(null, after, 1n)
}
