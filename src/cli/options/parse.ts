import { parseArgs } from 'node:util'
import { UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { cut } from '../words/value.ts'
import type { Options, ValuesOf } from './declared.ts'
import { mappingKeyOf } from './read.ts'
import { didYouMean } from './suggest.ts'

/**
 * Like `parseArgs`, but refuses an option that is given twice, unless it is `multiple`: with two state roots, it would be
 * unclear on which one the verdict rests. Every `--mapping` becomes a `--storage-key`.
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
  const values = Object.entries(parsed.values).map(([name, value]) => {
    const read = (text: unknown) => options[name]?.read?.(String(text), `--${name}`) ?? text
    return [name, Array.isArray(value) ? value.map(read) : read(value)]
  })
  // The names and types of the values are those of the options.
  return { values: Object.fromEntries(values) as ValuesOf<T>, positionals: parsed.positionals }
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
