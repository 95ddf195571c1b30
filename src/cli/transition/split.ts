import { MAX_BLOCK_LENGTH } from '../audit/limits.ts'
import { DocumentError } from '../words/error.ts'

/** What a stream of answers consists of, in its order. Each answer begins, and ends. */
export type Part =
  | { readonly kind: 'begin' | 'end' }
  /** A root that the answer states, or its error, as JSON. */
  | { readonly kind: 'field'; readonly name: string; readonly text: string }
  /** The traces of a block, as JSON. */
  | { readonly kind: 'block'; readonly text: string }

/** What a container holds: answers, the fields of one, or its blocks. */
type Role = 'stream' | 'list' | 'answer' | 'result' | 'blocks'

/** A value that is read to its end. */
interface Value {
  /** Undefined if it is skipped. */
  readonly part: 'block' | string | undefined
  readonly pieces: Uint8Array[]
  length: number
  depth: number
  inString: boolean
  isEscaped: boolean
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d]
const FIELDS: readonly string[] = ['zkParentStateRootHash', 'zkEndStateRootHash', 'error']
/** Longer names are none of those that are looked for. */
const MAX_NAME = 64

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const notAnswer = (reason: string) =>
  new DocumentError(`it is not a list of traces, as the state manager sends it: ${reason}`)

/**
 * Splits a stream of JSON into its answers and their blocks: one answer, a list of answers, or one after the other, as NDJSON.
 * Holds no more than one block.
 *
 * @throws DocumentError
 */
export async function* splitAnswers(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Part> {
  const splitter = createSplitter()
  for await (const chunk of chunks) yield* splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  splitter.finish()
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state, which every function reads or changes.
function createSplitter() {
  const roles: Role[] = ['stream']
  let name: number[] | null = null
  let field = ''
  /** Whether the colon after a name was read. */
  let isNamed = false
  let value: Value | null = null
  /** Whether the answer has had its blocks. */
  let isWhole = false

  const top = (): Role => roles.at(-1) ?? 'stream'
  const holdsFields = () => top() === 'answer' || top() === 'result'

  function* open(role: Role, isBegun = false): Generator<Part> {
    roles.push(role)
    if (isBegun) {
      isWhole = false
      yield { kind: 'begin' }
    }
  }

  function* close(byte: number): Generator<Part> {
    const role = roles.pop()
    const isList = role === 'list' || role === 'blocks'
    if (role === undefined || role === 'stream' || isList !== (byte === CLOSE_LIST))
      throw notAnswer('a bracket is wrong')
    if (role !== 'answer') return
    if (!isWhole) throw notAnswer('zkStateMerkleProof is missing')
    yield { kind: 'end' }
  }

  /** Begins a value. Of most, only the end is looked for. */
  function* begin(byte: number): Generator<Part> {
    const role = top()
    if (role === 'stream' || role === 'list') {
      if (byte === OPEN) return yield* open('answer', true)
      if (byte === OPEN_LIST && role === 'stream') return yield* open('list')
      throw notAnswer('an object is missing')
    }
    if (role === 'answer' && field === 'result' && byte === OPEN) return yield* open('result')
    if (holdsFields() && field === 'zkStateMerkleProof') {
      if (byte !== OPEN_LIST) throw notAnswer('zkStateMerkleProof is no list')
      if (isWhole) throw notAnswer('zkStateMerkleProof is there twice')
      isWhole = true
      return yield* open('blocks')
    }
    const part = role === 'blocks' ? 'block' : FIELDS.includes(field) ? field : undefined
    value = { part, pieces: [], length: 0, depth: 0, inString: false, isEscaped: false }
  }

  /** Reads on in a value. @returns where it ends; the end of the chunk if it goes on */
  function readOn(current: Value, chunk: Uint8Array, from: number): { end: number; isOver: boolean } {
    for (let index = from; index < chunk.length; index++) {
      const byte = chunk[index] as number
      if (current.inString) {
        if (current.isEscaped) current.isEscaped = false
        else if (byte === BACKSLASH) current.isEscaped = true
        else if (byte === QUOTE) {
          current.inString = false
          if (current.depth === 0) return { end: index + 1, isOver: true }
        }
      } else if (byte === QUOTE) current.inString = true
      else if (byte === OPEN || byte === OPEN_LIST) current.depth++
      else if (byte === CLOSE || byte === CLOSE_LIST) {
        // A number or a word ends with the container that it is in.
        if (current.depth === 0) return { end: index, isOver: true }
        if (--current.depth === 0) return { end: index + 1, isOver: true }
      } else if (current.depth === 0 && (byte === COMMA || isSpace(byte))) return { end: index, isOver: true }
    }
    return { end: chunk.length, isOver: false }
  }

  function* end({ part, pieces }: Value): Generator<Part> {
    value = null
    if (part === undefined) return
    const text = Buffer.concat(pieces).toString()
    yield part === 'block' ? { kind: 'block', text } : { kind: 'field', name: part, text }
  }

  return {
    *push(chunk: Uint8Array): Generator<Part> {
      let index = 0
      while (index < chunk.length) {
        const byte = chunk[index] as number
        if (value !== null) {
          const current: Value = value
          const read = readOn(current, chunk, index)
          current.length += read.end - index
          if (current.length > MAX_BLOCK_LENGTH) throw notAnswer('a block is too long')
          // A copy: whoever reads the file uses its memory again.
          if (current.part !== undefined) current.pieces.push(chunk.slice(index, read.end))
          index = read.end
          if (read.isOver) yield* end(current)
          continue
        }
        if (name !== null) {
          if (byte !== QUOTE) name.push(byte)
          else {
            field = Buffer.from(name).toString()
            name = null
          }
          if (name !== null && name.length > MAX_NAME) throw notAnswer('a name is too long')
          index++
        } else if (isSpace(byte) || byte === COMMA || byte === COLON) {
          // After the colon comes a value; after the comma, another name.
          if (byte === COLON && holdsFields()) isNamed = true
          if (byte === COMMA) isNamed = false
          index++
        } else if (byte === CLOSE || byte === CLOSE_LIST) {
          yield* close(byte)
          isNamed = false
          index++
        } else if (holdsFields() && !isNamed) {
          if (byte !== QUOTE) throw notAnswer('a name is missing')
          name = []
          index++
        } else {
          const depth = roles.length
          yield* begin(byte)
          isNamed = false
          // A container was opened, or a value begins with this byte.
          if (roles.length > depth) index++
        }
      }
    },
    finish(): void {
      if (value !== null || name !== null || roles.length > 1) throw notAnswer('it ends too early')
    },
  }
}
