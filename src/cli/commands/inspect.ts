import { bytesToBigint, bytesToHex } from '../../base/bytes.ts'
import { isRefusal } from '../../base/errors.ts'
import { FIELDS, openHeader } from '../../verify/anchor/header.ts'
import { decodeBeacon } from '../../verify/beacon/decode.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { accountTree } from '../../verify/tree/kind.ts'
import { decodeAccount } from '../../verify/verifier/leaf-api.ts'
import { exitCodes, type Output } from '../command.ts'
import { readAs, readJson } from '../files/input.ts'
import { optionsOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { toJson } from '../output/report.ts'
import { fitRow, roomOn } from '../output/table.ts'
import { paint } from '../output/verdict.ts'
import { formOf, guessSchemeOfPath, leafPaths } from '../words/answer.ts'
import { parseNumber } from '../words/evidence.ts'
import { evidenceNames, holdsTraces, OF_NO_KIND, readInputFile } from '../words/input-file.ts'
import { decodeHex, decodeLeafIndex, describeDetails, isHexOf, nameLeafIndex } from '../words/layout.ts'
import { MAX_LISTED_ITEMS, MAX_SHOWN_DEPTH } from '../words/limits.ts'
import { cut, DocumentError, fieldIn, fieldsOf, isGiven, isObject, printable, show } from '../words/value.ts'
import { formatTime } from '../words/wording.ts'

/** What a file says, part by part. No part is passed on whole, because deep nesting could break the code that prints it. */
export type UnverifiedField = string | number | bigint | boolean | null | UnverifiedFields
interface UnverifiedFields {
  [name: string]: UnverifiedField
}

/** Shows what the file says under its own names, decoded where it can be. @throws DocumentError if the kind of file is unknown */
export function inspectContent(content: unknown) {
  if (!isObject(content)) throw new DocumentError('it is not a JSON object')
  return { kind: kindOf(content), fields: fieldsIn(content, 0) }
}

function kindOf(content: unknown): string {
  if (holdsTraces(content)) return 'traces of the state manager'
  const file = readInputFile(content)
  if (file.kind === 'evidence') return evidenceNames[file.evidence].replace(/^an? /, '')
  if (file.kind === 'function vector') return 'evidence vector'
  if (file.kind !== 'unknown') return file.kind
  throw new DocumentError(OF_NO_KIND)
}

type Look = (value: unknown, depth: number) => UnverifiedField

/** Of a list or an object, only what it is. */
const size: Look = value => (value === null ? null : show(value))

/** Lists of longer texts, such as the nodes of a proof, are only counted. */
const HASH_CHARACTERS = 66

const look: Look = (value, depth) => {
  if (depth >= MAX_SHOWN_DEPTH) return size(value, depth)
  if (isObject(value)) return fieldsIn(value, depth)
  const isLong = (item: unknown) => typeof item === 'string' && item.length > HASH_CHARACTERS
  if (!Array.isArray(value) || value.some(isLong)) return size(value, depth)
  const more = value.length - MAX_LISTED_ITEMS
  const items = value.slice(0, MAX_LISTED_ITEMS).map((item, index) => [`[${index}]`, look(item, depth + 1)])
  return { ...Object.fromEntries(items), ...(more > 0 && { more }) }
}

/** The fields that are given, each as its name says, and what a leaf proof claims by its form. */
function fieldsIn(value: unknown, depth: number): UnverifiedFields {
  const given = Object.entries(fieldsOf(value)).filter(([, field]) => isGiven(field))
  const isLeafProof = leafPaths.some(({ index }) => isGiven(fieldIn(value, index)))
  return {
    ...(isLeafProof && { claims: formOf(value).replace('both', 'both existence and non-existence') }),
    ...Object.fromEntries(given.map(([name, field]) => [name, (looks.get(name) ?? look)(field, depth + 1)])),
  }
}

/** What `decode` makes of a value; of one that it refuses, why and its beginning. */
function decoded(value: unknown, decode: () => UnverifiedField): UnverifiedField {
  try {
    return decode()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return `malformed (${error.code}: ${describeDetails(error)}): ${cut(show(value), HASH_CHARACTERS)}`
  }
}

const number: Look = value => parseNumber(value, 256) ?? show(value)

const time: Look = (value, depth) => {
  const seconds = parseNumber(value, 64)
  return seconds === null ? size(value, depth) : `${seconds} (${formatTime(seconds)})`
}

/** Of an encoded header. That of a beacon block is an object. */
const header: Look = (value, depth) =>
  isObject(value)
    ? look(value, depth)
    : decoded(value, () => {
        // Verifying it against its own hash shows only that it is a header.
        const { hash, items } = openHeader(value, bytesToHex(keccak256(decodeHex(value))))
        const fields = FIELDS.slice(0, items.length).map(([name, [kind]], index) => {
          const item = items[index] ?? new Uint8Array()
          if (name === 'timestamp') return [name, formatTime(bytesToBigint(item))]
          return [name, kind === 'integer' ? bytesToBigint(item) : bytesToHex(item)]
        })
        return { hash, ...Object.fromEntries(fields) }
      })

/** The root of the first one is what `--checkpoint` states. */
const beacon: Look = (value, depth) => ({
  slot: size(fieldIn(value, 'slot'), depth),
  root: decoded(value, () => bytesToHex(decodeBeacon(value).root)),
})

const leafIndex: Look = value => decoded(value, () => nameLeafIndex(decodeLeafIndex(value)))

/** What a message or a call moves is an amount, as a fee is. */
const moving: Look = (value, depth) => {
  const { value: wei } = fieldsOf(value)
  const shown = look(value, depth)
  return isObject(shown) && isGiven(wei) ? { ...shown, value: number(wei, depth) } : shown
}

/** A leaf of a tree of messages. No index there has a name, and no form claims anything. */
const messageProof: Look = (value, depth) =>
  isObject(value) && depth < MAX_SHOWN_DEPTH
    ? Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, field]) => [name, look(field, depth + 1)]))
    : look(value, depth)

/** One path of a leaf proof. The length of its leaf tells the scheme, which tells how to read the value of an account. */
const path: Look = (value, depth) => {
  const { value: text } = fieldsOf(value)
  const scheme = guessSchemeOfPath(value)
  if (scheme === undefined) return look(value, depth)
  const account = isHexOf(accountTree.valueLength, text) && {
    value: decoded(text, () => ({ ...decodeAccount(scheme, text) })),
  }
  return { ...fieldsIn(value, depth), ...account, scheme: scheme.name }
}

/** What is more than a value, by the names that it has in files. */
const looks: ReadonlyMap<string, Look> = new Map([
  ...['header', 'l2Header'].map(name => [name, header] as const),
  ['beacon', beacon],
  ['timestamp', time],
  ['message', moving],
  ['call', moving],
  ['messageProof', messageProof],
  ...['l2BlockNumber', 'fromBlock', 'toBlock', 'fee', 'number', 'chainId', 'gas', 'balance', 'nonce'].map(
    name => [name, number] as const,
  ),
  ...['leafIndex', 'leftLeafIndex', 'rightLeafIndex'].map(name => [name, leafIndex] as const),
  ...['proof', 'leftProof', 'rightProof'].map(name => [name, path] as const),
  // Of each of many blocks, there is too much to say; what a vector expects is no claim.
  ...['blocks', 'zkStateMerkleProof', 'expected'].map(name => [name, size] as const),
])

const MARK = 'UNVERIFIED: this is what the file says. None of it was checked.'

export const command = defineCommand(
  {
    usage: 'inspect FILE [--json]',
    options: {},
    shared: optionsOf('json'),
    expected: 'expected one file or -',
    about: `
Prints what an evidence bundle, an answer, a JSON-RPC response, a recording or a
vector claims: account fields, leaf indices, neighbours, slots, header fields.
Nothing is verified: all of it can be forged. - is standard input.`,
    notes: `
Exit code: 0 printed, 2 wrong usage or unreadable input. None is a verdict.`,
    examples: 'rollup-state-proof inspect bundle.json',
  },
  async (values, io, [path]) => {
    const inspection = readAs(path, await readJson(path, io), inspectContent)
    if (values.json) io.stdout.write(toJson({ status: 'UNVERIFIED', ...inspection }))
    else io.stdout.write(format(inspection, io.stdout))
    return exitCodes.verified
  },
)

function format({ kind, fields }: ReturnType<typeof inspectContent>, stdout: Output): string {
  const mark = paint(stdout, 'red', MARK)
  return `${[mark, kind, ...formatFields(fields, '  ', roomOn(stdout)), mark].join('\n')}\n`
}

function formatFields(fields: UnverifiedFields, indent: string, room: number): string[] {
  const entries = Object.entries(fields).map(([name, field]) => [printable(cut(name, 66)), field] as const)
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.flatMap(([name, field]) =>
    typeof field === 'object' && field !== null
      ? [`${indent}${name}`, ...formatFields(field, `${indent}  `, room)]
      : fitRow([name, printable(cut(String(field), 200, 66))], width, room, indent),
  )
}
