import { didYouMean, UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { cut } from '../words/value.ts'
import type { Option, Options, ValuesOf } from './declared.ts'

/** An option given twice is refused: the verdict could rest on either. Node's `parseArgs` has no options of two words, and loses their order. */
export function parseOptions<const T extends Options>(args: readonly string[], options: T, takesWords = false) {
  const values = new Map<string, unknown[]>()
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const words: string[] = []
  for (let index = 0, arg = args[0] ?? ''; index < end; index++, arg = args[index] ?? '') {
    if (arg === '-' || !arg.startsWith('-')) {
      words.push(arg)
      continue
    }
    const [, rawName = arg, inline] = /^([^=]*)=(.*)$/s.exec(arg) ?? []
    const [name, option] = optionNamed(rawName, options)
    const value = wordsOf(rawName, option, inline, args.slice(index + 1, Math.min(index + 3, end)))
    if (inline === undefined) index += value.length
    const [first = '', second] = value
    const into = option.into ?? name
    const all = values.get(into) ?? []
    if (all.length > 0 && option.multiple !== true) throw new UsageError(`--${name} is given twice`)
    all.push(option.read?.(first, `--${name}`, second) ?? true)
    values.set(into, all)
  }
  const positionals = [...words, ...args.slice(end + 1)]
  for (const word of positionals) requirePath(word, takesWords)
  for (const name of values.keys()) requireOthers(name, options[name] ?? {}, values)
  const read = Object.entries(options).flatMap(([name, { multiple, default: fallback, read }]) => {
    const given = values.get(name)
    if (given !== undefined) return [[name, multiple ? given : given[0]]]
    return fallback === undefined ? [] : [[name, read?.(String(fallback), `--${name}`) ?? fallback]]
  })
  // The names and types of the values are those of the options.
  return { values: Object.fromEntries(read) as ValuesOf<T>, positionals }
}

function optionNamed(rawName: string, options: Options): readonly [name: string, option: Option] {
  const found = Object.entries(options).find(([name, { short }]) =>
    [`--${name}`, ...(short ? [`-${short}`] : [])].includes(rawName),
  )
  if (found !== undefined) return found
  const names = [...Object.keys(options), 'help'].map(name => `--${name}`)
  const hint = didYouMean(rawName.replace(/^-+/, '--'), names)
  throw new UsageError(`no such option: ${cut(rawName, MAX_SHOWN_LENGTH)}.${hint}`)
}

/** The words of an option's value. @param next those that follow it @throws UsageError unless there are as many as it takes */
function wordsOf(name: string, { value }: Option, inline: string | undefined, next: readonly string[]) {
  if (value === undefined && inline !== undefined) throw new UsageError(`${name} takes no value`)
  const count = value?.split(' ').length ?? 0
  const words = inline === undefined ? next.slice(0, count) : [inline]
  const option = inline === undefined ? words.find(word => word.startsWith('-') && word !== '-') : undefined
  const found = cut(option ?? '', MAX_SHOWN_LENGTH)
  if (/^-\.?\d/.test(found)) throw new UsageError(`${name}: expected a number that is not negative, found ${found}`)
  if (option !== undefined || words.length < count) {
    const needed = count === 1 ? 'a value' : `two words, ${value}`
    throw new UsageError(`${name} needs ${needed}${found === '' ? '' : `, but an option follows: ${found}`}`)
  }
  if (words.some(word => word.trim() === ''))
    throw new UsageError(`${name} is empty: is a variable of your shell not set?`)
  return words
}

function requirePath(word: string, isTaken: boolean): void {
  if (!isTaken) throw new UsageError(`unexpected word: ${cut(word, MAX_SHOWN_LENGTH)}`)
  if (!/^https?:/i.test(word)) return
  throw new UsageError(
    'expected a file, not a URL: download it, or pass - and pipe it: curl URL | rollup-state-proof ...',
  )
}

function requireOthers(name: string, { needs, excludes }: Partial<Option>, given: ReadonlyMap<string, unknown>): void {
  if (needs !== undefined && !given.has(needs)) throw new UsageError(`--${name} goes with --${needs}`)
  if (excludes !== undefined && given.has(excludes))
    throw new UsageError(`--${name} and --${excludes} exclude each other: choose one`)
}
