import {
  DIGEST_LENGTH,
  isHexOf,
  LEAF_NODE,
  MAX_LEAVES,
  nameLeafIndex,
  readBytes,
  readWord,
  SIBLING_LEAF_NODE,
  toHex,
  toNumber,
} from '../cli/words/layout.ts'
import { brief, show } from '../cli/words/value.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import type { Fault } from './fault.ts'

/** The byte layouts of the specification, each field with its meaning. */

/** Some bytes of the answer, and what each part of them means. */
export type Bytes = ReturnType<typeof planBytes>
/** One part. `end` is exclusive, both are in bytes. */
export type ByteField = Bytes['fields'][number]

/** Which part of a proof some bytes are: its value, or a node. */
export type Entry = 'value' | number

interface FieldPlan {
  readonly name: string
  readonly length: number
  readonly value: (bytes: Uint8Array) => string
  readonly note: string
  /** Whether the bytes of this field are valid by themselves. Default: always. */
  readonly isSound?: (bytes: Uint8Array) => boolean
}

/**
 * Splits bytes into the fields of a plan, if they have its length.
 *
 * @param isFault whether the failed check covers a field. If it covers several, only unsound ones are marked
 */
function planBytes(
  title: string,
  entry: Entry,
  hex: unknown,
  plan: readonly FieldPlan[],
  isFault: (name: string) => boolean,
) {
  const length = plan.reduce((sum, field) => sum + field.length, 0)
  const bytes = readBytes(length, hex)
  if (bytes === null) {
    const problem =
      typeof hex === 'string' ? `This is not hexadecimal of ${length} bytes.` : `This is ${brief(show(hex))}.`
    return { title, entry, hex: typeof hex === 'string' ? brief(hex) : '', fields: [], problem }
  }
  let end = 0
  const parts = plan.map(field => {
    const start = end
    end += field.length
    const part = bytes.subarray(start, end)
    return { field, start, end, part, isUnsound: isFault(field.name) && field.isSound?.(part) === false }
  })
  // If no covered field is unsound by itself, all of them are marked.
  const isBlamed = parts.some(({ isUnsound }) => isUnsound)
  const fields = parts.map(({ field: { name, value, note }, start, end, part, isUnsound }) => {
    const isMarked = isBlamed ? isUnsound : isFault(name)
    return { name, start, end, value: value(part), note, isFault: isMarked }
  })
  return { title, entry, hex: String(hex), fields, problem: null }
}

const plainField = (name: string, value: FieldPlan['value'], note: string): FieldPlan => ({
  name,
  length: DIGEST_LENGTH,
  value,
  note,
})

const digestField = (scheme: HashScheme, name: string, note: string): FieldPlan => ({
  ...plainField(name, toHex, note),
  isSound: bytes => scheme.isCanonical(bytes),
})

/** A word with the index of a leaf or, up to `limit`, the number of leaves. */
function wordField(
  scheme: HashScheme,
  name: string,
  note: string,
  what = 'an index',
  limit = MAX_LEAVES - 1,
): FieldPlan {
  const numberIn = (bytes: Uint8Array) => readWord(scheme, bytes)
  const value = (bytes: Uint8Array) => {
    const number = numberIn(bytes)
    if (number === null) return `stray bytes: not ${what}`
    return what === 'an index' ? nameLeafIndex(Number(number)) : `${number}`
  }
  const isSound = (bytes: Uint8Array) => scheme.isCanonical(bytes) && (numberIn(bytes) ?? Infinity) <= limit
  const layout =
    scheme.name === 'mimc'
      ? 'One field element: the number itself, 32 bytes.'
      : 'Each 2-byte piece of the 32-byte number takes 4 bytes, of which the first two are zero.'
  return { name, length: scheme.wordLength, value, note: `${note} ${layout}`, isSound }
}

const leafPlan = (scheme: HashScheme): FieldPlan[] => [
  wordField(scheme, 'prev', 'Index of the leaf with the next smaller key hash.'),
  wordField(scheme, 'next', 'Index of the leaf with the next larger key hash.'),
  digestField(scheme, 'hKey', 'Hash of the key: the leaves are sorted by it.'),
  digestField(scheme, 'hVal', 'Hash of the value. HEAD and TAIL have zeros here.'),
]

export function leafBytes(scheme: HashScheme, node: unknown, fault: Fault | null) {
  const isWhole = fault?.place === 'leaf' && fault.field === null
  return planBytes('The leaf (node 41)', LEAF_NODE, node, leafPlan(scheme), name => isWhole || fault?.field === name)
}

export function siblingBytes(scheme: HashScheme, node: unknown, fault: Fault | null) {
  const note = '32 zero bytes stand for a missing leaf: they are its digest, not its preimage.'
  const missing = plainField('missing leaf', () => 'there is no leaf here', note)
  const plan = isHexOf(DIGEST_LENGTH, node) ? [missing] : leafPlan(scheme)
  return planBytes('The sibling leaf (node 40)', SIBLING_LEAF_NODE, node, plan, () => fault?.place === 'level 0')
}

export function node0Bytes(scheme: HashScheme, node: unknown, fault: Fault | null) {
  const next = 'The index that the next new key will get. Every leaf index is below it.'
  const top = 'The top of the 40 levels. The root is the hash of these two fields together.'
  const plan = [wordField(scheme, 'nextFreeNode', next, 'a number', MAX_LEAVES), digestField(scheme, 'sub-root', top)]
  const isWhole = fault?.place === 'node 0' || fault?.place === 'root'
  return planBytes('Node 0', 0, node, plan, name => isWhole || (name === 'sub-root' && fault?.place === name))
}

function accountPlan(scheme: HashScheme, fault: Fault | null): FieldPlan[] {
  // What counts as sound depends on the failed check: range, or canonical form.
  const isSmall = (bytes: Uint8Array) => toNumber(bytes) < 2n ** 64n
  const isCanonical = (bytes: Uint8Array) => scheme.isCanonical(scheme.encodeWord(bytes))
  const number = (name: string, unit: string, note: string): FieldPlan => ({
    ...plainField(name, bytes => `${toNumber(bytes)}${unit}`, note),
    isSound: fault?.code === 'VALUE_OUT_OF_RANGE' && name !== 'balance' ? isSmall : isCanonical,
  })
  return [
    number('nonce', '', 'How many transactions the account has sent.'),
    number('balance', ' wei', 'In wei.'),
    digestField(scheme, 'storageRoot', "Root of the account's own tree of storage slots."),
    digestField(scheme, 'snarkCodeHash', "The rollup's own hash of the contract code."),
    plainField('keccakCodeHash', toHex, 'keccak256 of the contract code; without code, keccak256 of the empty string.'),
    number('codeSize', ' bytes', 'Length of the contract code.'),
  ]
}

export function valueBytes(scheme: HashScheme, index: number, value: unknown, fault: Fault | null) {
  const isRefused = () => fault?.place === 'value'
  if (index === 0 && !isHexOf(DIGEST_LENGTH, value)) {
    return planBytes('The account value', 'value', value, accountPlan(scheme, fault), isRefused)
  }
  const [title, note] =
    index === 0
      ? ['The value of HEAD or TAIL', 'HEAD and TAIL are not accounts: their value is 32 zero bytes.']
      : ['The slot value', 'What the storage slot holds, as a number.']
  return planBytes(title, 'value', value, [plainField('value', bytes => `${toNumber(bytes)}`, note)], isRefused)
}
