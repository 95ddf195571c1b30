import { bytesToHex, type Hex, hexToBytes } from '../../src/base/bytes.ts'
import type { HashScheme } from '../../src/verify/scheme/scheme.ts'
import { type BlockDiff, verifyTransition } from '../../src/verify/transition/verify.ts'
import { flipBit, zeros } from '../../vectors/forge.ts'
import { randomOf } from '../random.ts'
import { live } from '../verify/transition/histories.ts'
import { type Beside, digits, isBytes } from './beside.ts'
import { below, kinds, pick, randomBytes, toys } from './made.ts'

/** Traces of the state manager, beside `verifyTransition`. */

interface LooseLeaf {
  prevLeaf: number
  nextLeaf: number
  hkey: string
  hval: string
}
interface LoosePlace {
  leafIndex: number
  siblings: string[]
}
export type LooseTrace = { type: number; location: string; key: string } & Record<string, unknown>

export interface Asked {
  parentStateRoot: Hex
  stateRoot: Hex | undefined
  blocks: LooseTrace[][]
}

/** The fields of each type, in the order of the model. */
const FIELDS = [
  { start: ['subRoot', 'nextFreeNode'], leaves: ['leaf'], places: ['proof'], values: ['value'], result: [] },
  {
    start: ['subRoot', 'nextFreeNode'],
    leaves: ['leftLeaf', 'rightLeaf'],
    places: ['leftProof', 'rightProof'],
    values: [],
    result: [],
  },
  {
    ...{ start: ['oldSubRoot', 'newNextFreeNode'], leaves: ['priorLeftLeaf', 'priorRightLeaf'] },
    ...{ places: ['leftProof', 'rightProof', 'newProof'], values: ['value'], result: ['newSubRoot'] },
  },
  {
    ...{ start: ['oldSubRoot', 'newNextFreeNode'], leaves: ['priorUpdatedLeaf'], places: ['proof'] },
    ...{ values: ['oldValue', 'newValue'], result: ['newSubRoot'] },
  },
  {
    ...{ start: ['oldSubRoot', 'newNextFreeNode'], leaves: ['priorLeftLeaf', 'priorDeletedLeaf', 'priorRightLeaf'] },
    ...{ places: ['leftProof', 'deletedProof', 'rightProof'], values: ['deletedValue'], result: ['newSubRoot'] },
  },
] as const

const isInteger = (value: unknown): value is number => Number.isInteger(value)
const integer = (value: unknown) => `${BigInt(Number(value))}`

/** A trace in the words of the other program; null if it is not made of integers and whole bytes, where the model begins. */
function describe(source: LooseTrace | null): string[] | null {
  const trace: LooseTrace = Object(source)
  const fields = FIELDS[trace.type]
  const length = trace.location === '0x' ? 20 : 32
  if (fields === undefined || !isBytes(trace.key) || trace.key.length !== 2 + 2 * length) return null
  if (!isBytes(trace.location) || ![2, 42].includes(trace.location.length)) return null
  const [address, slot] = trace.location === '0x' ? [trace.key, null] : [trace.location, trace.key]
  const words: string[] = [digits(address), slot === null ? '-' : digits(slot), `${trace.type}`]
  const [root, free] = [trace[fields.start[0]], trace[fields.start[1]]]
  if (!isBytes(root) || !isInteger(free)) return null
  words.push(digits(root), integer(free))
  for (const name of fields.leaves) {
    const { prevLeaf, nextLeaf, hkey, hval } = Object(trace[name]) as Partial<LooseLeaf>
    if (!isInteger(prevLeaf) || !isInteger(nextLeaf) || !isBytes(hkey) || !isBytes(hval)) return null
    words.push(integer(prevLeaf), integer(nextLeaf), digits(hkey), digits(hval))
  }
  for (const name of fields.places) {
    const { leafIndex, siblings } = Object(trace[name]) as Partial<LoosePlace>
    if (!isInteger(leafIndex) || !Array.isArray(siblings) || !siblings.every(isBytes)) return null
    words.push(integer(leafIndex), ['', ...siblings.map(digits)].join(','))
  }
  for (const name of [...fields.values, ...fields.result]) {
    const value = trace[name]
    if (!isBytes(value)) return null
    words.push(digits(value))
  }
  return words
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')
type Fields = NonNullable<BlockDiff['accounts'][number]['before']>
const bytesOf = (fields: Fields | null) =>
  fields === null
    ? '-'
    : [
        word(fields.nonce),
        word(fields.balance),
        ...[fields.storageRoot, fields.snarkCodeHash, fields.codeHash].map(digits),
        word(fields.codeSize),
      ].join('')

/** Asks both verifiers; null if the model cannot express the traces. */
export function askTransition(
  beside: Beside,
  name: string,
  scheme: HashScheme,
  { parentStateRoot, stateRoot, blocks }: Asked,
) {
  const described = blocks.map(block => block.map(describe))
  if (described.some(block => block.some(words => words === null))) return null
  const words = described.flatMap(block => ['B', ...block.flatMap(trace => trace ?? [])])
  const roots = [
    digits(parentStateRoot),
    stateRoot === undefined ? '-' : digits(stateRoot),
    digits(scheme.emptyTreeRoot),
  ]
  return beside.ask(['X', name, ...roots, ...words], () => {
    const claim = stateRoot === undefined ? { scheme, parentStateRoot } : { scheme, parentStateRoot, stateRoot }
    const verified = verifyTransition({ zkStateMerkleProof: blocks }, claim)
    const spelt = verified.blocks.map(block => {
      const accounts = block.accounts.map(({ address, before, after, storage }) => {
        const slots = storage.map(slot => [slot.key, slot.before, slot.after].map(digits).join(':'))
        return [digits(address), bytesOf(before), bytesOf(after), slots.join()].join('/')
      })
      return [digits(block.stateRoot), ...accounts].join(' ')
    })
    return [`accepted ${digits(verified.stateRoot)}`, ...spelt].join(' ; ')
  })
}

// Lies.

const pickTrace = (blocks: LooseTrace[][]) => pick(blocks.flat())
const names = (trace: LooseTrace) => FIELDS[trace.type] ?? FIELDS[0]
const lengthOf = (hex: string) => hex.length / 2 - 1
const spoil = (hex: string) =>
  pick([
    () => flipBit(hex, below(lengthOf(hex))),
    () => hex.slice(0, -2),
    () => `0x${'ff'.repeat(lengthOf(hex))}`,
    () => zeros(lengthOf(hex)),
  ])()
const spoilIndex = (index: number) => pick([index + 1, index - 1, 0, 1, 2, -1, 2 ** 40, 2 ** 40 - 1, 2 ** 53])
const change = <K extends string>(target: Record<K, unknown>, name: K, how: (value: never) => unknown) => {
  // A trace whose type has changed lacks some fields.
  if (target?.[name] !== undefined) target[name] = how(target[name] as never)
}

const lies: ((blocks: LooseTrace[][], trace: LooseTrace, scheme: HashScheme) => void)[] = [
  // A neighbour is the key itself.
  (_, trace, scheme) => {
    if (!isBytes(trace.key)) return
    const { hashKey } = kinds[trace.location === '0x' ? 'account' : 'storage']
    const leaf = trace[pick(names(trace).leaves)] as Record<string, unknown> | undefined
    if (leaf) leaf['hkey'] = bytesToHex(hashKey(scheme, hexToBytes(trace.key, lengthOf(trace.key))))
  },
  (_, trace) =>
    change(trace, pick(names(trace).start), (value: string | number) =>
      typeof value === 'string' ? spoil(value) : spoilIndex(value),
    ),
  (_, trace) => {
    const leaf = trace[pick(names(trace).leaves)] as LooseLeaf
    const name = pick(['prevLeaf', 'nextLeaf', 'hkey', 'hval'] as const)
    change(leaf as unknown as Record<string, unknown>, name, (value: string | number) =>
      typeof value === 'string' ? spoil(value) : spoilIndex(value),
    )
  },
  (_, trace) => {
    const place = trace[pick(names(trace).places)] as LoosePlace | undefined
    if (place === undefined) return
    if (below(3) === 0) place.leafIndex = spoilIndex(place.leafIndex)
    else if (below(4) === 0) place.siblings.pop()
    else place.siblings[below(40)] = spoil(place.siblings[below(40)] ?? '0x00')
  },
  (_, trace) => {
    const name = pick([...names(trace).values, ...names(trace).result])
    if (name !== undefined) change(trace, name, spoil)
  },
  (blocks, trace) => Object.assign(trace, { key: pickTrace(blocks).key }),
  (blocks, trace) => Object.assign(trace, { location: pick(['0x', pickTrace(blocks).location]) }),
  blocks => pick(blocks).splice(below(6), 1),
  blocks => {
    const block = pick(blocks)
    block.splice(below(6), 0, structuredClone(pickTrace(blocks)))
  },
  blocks => {
    const block = pick(blocks)
    const at = below(block.length)
    block.splice(at, 2, ...block.slice(at, at + 2).reverse())
  },
  blocks => blocks.splice(below(blocks.length), 1),
  blocks => blocks.reverse(),
  (_, trace) => Object.assign(trace, { type: below(5) }),
  // A slot or account that was read says that it was written, with the value that it had.
  (_, trace) => {
    if (trace.type !== 0) return
    const { subRoot, nextFreeNode, leaf, value } = trace
    Object.assign(trace, { type: 3, oldSubRoot: subRoot, newSubRoot: subRoot, newNextFreeNode: nextFreeNode })
    Object.assign(trace, { priorUpdatedLeaf: leaf, oldValue: value, newValue: value })
  },
  // A nonce or code size that is too large, if it is an account.
  (_, trace) =>
    change(trace, pick(names(trace).values) ?? 'value', (value: string) =>
      flipBit(value, pick([0, 160]) % lengthOf(value)),
    ),
  (_, trace) => change((trace['newProof'] ?? {}) as Record<string, unknown>, 'leafIndex', () => below(4)),
]

/** A history, from one of its roots to another. */
function* madeTransitions(): Generator<Asked & { scheme: HashScheme }> {
  const random = randomOf(52)
  for (let round = 0; ; round++) {
    const scheme = toys[round % 2] as HashScheme
    // Mostly few accounts in a block, because the verifiers take as long for what is true.
    const lived = live(scheme, random, 6, pick([0.2, 0.2, 0.2, 0.2, 0.5]))
    const roots = [lived.parentStateRoot, ...lived.blocks.map(({ stateRoot }) => stateRoot)]
    const all = lived.blocks.map(({ traces }) => traces as unknown as LooseTrace[])
    for (let times = 0; times < 40; times++) {
      const from = below(6)
      const to = Math.min(6, from + pick([1, 1, 1, 2]))
      const blocks = structuredClone(all.slice(from, to))
      if (blocks.flat().length === 0 && below(20) > 0) continue
      const [honest = zeros(32), last] = [roots[from], roots[to]]
      for (let lying = below(4) === 0 ? 0 : 1 + below(2); lying > 0 && blocks.flat().length > 0; lying--) {
        pick(lies)(blocks, pickTrace(blocks), scheme)
      }
      const parentStateRoot = below(30) === 0 ? bytesToHex(randomBytes(32)) : honest
      yield { scheme, parentStateRoot, stateRoot: pick([undefined, last, below(6) === 0 ? honest : last]), blocks }
    }
  }
}

export function askMadeTransitions(beside: Beside, size: number): void {
  for (const asked of madeTransitions()) {
    askTransition(beside, `toy-${asked.scheme.name}`, asked.scheme, asked)
    if (beside.asked() >= size) return
  }
}
