import { parseArgs } from 'node:util'
import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../entry/index.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { parseNumber } from '../words/evidence.ts'
import { isHexOf } from '../words/layout.ts'
import { cut } from '../words/value.ts'
import { isAddress } from './address.ts'
import type { Options, ValuesOf } from './declared.ts'
import { mappingKeyOf, storageKeyOf } from './storage-key.ts'
import { didYouMean } from './suggest.ts'

/** The options that may hold an address. */
const ADDRESSES = ['address', 'implementation', 'sender', 'recipient']

/**
 * Like `parseArgs`, but refuses an option that is given twice, unless it is `multiple`: with two state roots, it would be
 * unclear on which one the verdict rests. Every `--mapping` becomes a `--storage-key`, and all keys become 32 bytes.
 *
 * @throws UsageError
 */
export function parseOptions<const T extends Options>(
  given: readonly string[],
  options: T,
  { allowPositionals = false } = {},
): { readonly values: ValuesOf<T>; readonly positionals: readonly string[] } {
  const args = joinPairs(given, options)
  // Not strict: the words of `parseArgs` on what it refuses are for programmers.
  const parsed = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  const seen = new Set<string>()
  for (const token of parsed.tokens) {
    if (token.kind === 'positional') requirePath(token.value, allowPositionals)
    if (token.kind !== 'option') continue
    const { name, index } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) throw noSuchOption(args[index] ?? '', token.rawName, options)
    requireValue(option.type, token)
    if (seen.has(name) && option.multiple !== true) throw new UsageError(`--${name} is given twice`)
    seen.add(name)
  }
  const { positionals } = parsed
  const values: Record<string, unknown> = parsed.values
  for (const name of ADDRESSES) for (const text of [values[name]].flat()) isAddress(`--${name}`, String(text))
  const keys = values['storage-key']
  if (Array.isArray(keys)) values['storage-key'] = keys.map(key => storageKeyOf(String(key)))
  // The names and types of the values are those of the options.
  return { values: values as ValuesOf<T>, positionals }
}

/** @throws UsageError if it is unexpected, or a URL */
function requirePath(word: string, allowPositionals: boolean): void {
  if (!allowPositionals) throw new UsageError(`unexpected word: ${cut(word, MAX_SHOWN_LENGTH)}`)
  if (!/^https?:/i.test(word)) return
  throw new UsageError(
    'expected a file, not a URL: download it, or pass - and pipe it: curl URL | rollup-state-proof ...',
  )
}

function noSuchOption(arg: string, rawName: string, options: Options): UsageError {
  const names = [...Object.keys(options), 'help'].map(known => `--${known}`)
  // A word after one dash, which would be many options of one letter.
  const [word = ''] = /^-[a-z][\w-]+/.test(arg) ? arg.split('=', 1) : [rawName]
  return new UsageError(
    `no such option: ${cut(word, MAX_SHOWN_LENGTH)}.${didYouMean(word.replace(/^-+/, '--'), names)}`,
  )
}

/** @throws UsageError unless a value follows the option, or none if it takes none */
function requireValue(
  type: 'string' | 'boolean',
  { rawName, value, inlineValue }: { rawName: string; value?: string | undefined; inlineValue?: boolean | undefined },
): void {
  if (type === 'boolean' && value !== undefined) throw new UsageError(`${rawName} takes no value`)
  if (type === 'boolean') return
  if (value === undefined) throw new UsageError(`${rawName} needs a value`)
  if (value.trim() === '') throw new UsageError(`${rawName} is empty: is a variable of your shell not set?`)
  if (inlineValue && /^-\w$/.test(rawName) && value.startsWith('=')) {
    throw new UsageError(`${rawName}: write a space in place of =, or the long name of the option`)
  }
  if (inlineValue || value === '-' || !value.startsWith('-')) return
  throw new UsageError(
    /^-\.?\d/.test(value)
      ? `${rawName}: expected a number that is not negative, found ${cut(value, MAX_SHOWN_LENGTH)}`
      : `${rawName} needs a value, but an option follows: ${cut(value, MAX_SHOWN_LENGTH)}`,
  )
}

/** The key that stands for every address of a file. */
export const EACH = 'each'

/** What the two words of an option mean, and the argument that replaces them: `parseArgs` knows no such options. */
const PAIRS: Readonly<Record<string, readonly [meaning: string, join: (first: string, second: string) => string]>> = {
  '--mapping': [
    'the slot of the mapping and the key of the entry',
    (slot, key) => (key === EACH ? `--${EACH}=${slot}` : `--storage-key=${mappingKeyOf(slot, key)}`),
  ],
  '--call': ['the address of a contract, and the data', (to, data) => `--call=${to} ${data}`],
}

/** Replaces options of two words by options of one, in their place, so that storage keys keep their order. @throws UsageError */
function joinPairs(args: readonly string[], options: Options): string[] {
  const joined: string[] = []
  const end = args.includes('--') ? args.indexOf('--') : args.length
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    const [name = ''] = arg.split('=', 1)
    const [meaning, join] = (index < end && Object.hasOwn(options, name.slice(2)) && PAIRS[name]) || []
    if (join === undefined) {
      joined.push(arg)
      continue
    }
    const [first = '-', second = '-'] = args.slice(index + 1, Math.min(index + 3, end))
    if (arg !== name || first.startsWith('-') || second.startsWith('-')) {
      throw new UsageError(`${name} needs two words: ${meaning}`)
    }
    if (name === '--mapping' && second === EACH && !Object.hasOwn(options, EACH)) {
      throw new UsageError('--mapping SLOT each is for the command snapshot: here, name the key of one entry')
    }
    joined.push(join(first, second))
    index += 2
  }
  return joined
}

/** {@link parseOptions} for a command that takes one path. @throws UsageError */
export function parsePath<const T extends Options>(
  args: readonly string[],
  options: T,
  expectation: string,
): { values: ValuesOf<T>; path: string } {
  const { values, positionals } = parseOptions(args, options, { allowPositionals: true })
  const [path, ...more] = positionals
  if (path === undefined || more.length > 0) throw new UsageError(expectation)
  return { values, path }
}

/** Parses the number that an option gives. @throws UsageError */
export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : -1
  if (number < least || number > most)
    throw new UsageError(`${name}: expected ${least} to ${most}, found ${cut(text, MAX_SHOWN_LENGTH)}`)
  return number
}

/** Decimal, or hexadecimal after 0x. @throws UsageError */
export function toInteger(name: string, text: string, bits: number): bigint {
  const value = parseNumber(text, bits)
  if (value !== null) return value
  const found = /^\d+$/.test(text) ? 'a larger one' : `${cut(text, MAX_SHOWN_LENGTH)}: write it in digits only`
  throw new UsageError(`${name}: expected a number below 2^${bits}, found ${found}`)
}

/** {@link toInteger} of an option; undefined if it is not given. @throws UsageError */
export function integerOf<Name extends string>(
  flags: { readonly [Key in Name]?: string | undefined },
  name: Name,
  bits: number,
): bigint | undefined {
  const text = flags[name]
  return text === undefined ? undefined : toInteger(`--${name}`, text, bits)
}

/** @throws UsageError */
export function requireHex(flag: string, length: number, value: string | undefined): asserts value is Hex | undefined {
  if (value !== undefined && !isHexOf(length, value)) {
    throw argumentRefused(invalid(flag, `0x-prefixed hexadecimal of ${length} bytes`, value))
  }
}
