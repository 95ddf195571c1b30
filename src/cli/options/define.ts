import type { Command, Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { fill } from '../output/table.ts'
import { type Options, sharedOptions, trustOptions, type ValuesOf } from './declared.ts'
import { parseOptions } from './parse.ts'

interface About<Own extends Options, Shared extends Options> {
  readonly usage: string
  readonly about: string
  readonly options: Own
  /** Those that `help options` and `help trust` explain: its own help only names them. */
  readonly shared: Shared
  readonly notes?: string
  readonly examples: string
  /** What to say if no file is named, or several are. Without it, none may be. */
  readonly expected?: string
  /** Whether several may be. Without `expected`, standard input stands for none. */
  readonly isMany?: boolean
}

export function defineCommand<const Own extends Options, const Shared extends Options>(
  about: About<Own, Shared>,
  run: (values: ValuesOf<Shared & Own>, io: Io, files: readonly [string, ...string[]]) => Promise<number>,
): Command {
  const { options, shared, expected, isMany = false } = about
  const all: Shared & Own = { ...shared, ...options }
  return {
    help: formatHelp(about),
    run(args, io) {
      const { values, positionals } = parseOptions(args, all, expected !== undefined || isMany)
      const [first = '-', ...more] = positionals
      if (expected !== undefined && (positionals.length === 0 || (more.length > 0 && !isMany)))
        throw new UsageError(expected)
      return run(values, io, [first, ...more])
    },
  }
}

const MAX_LABEL = 26

/** The lines of `--help` on these options, of at most 80 columns. */
export function formatOptions(options: Options): string {
  const labels = Object.entries(options).map(
    ([name, { short, value, multiple }]) =>
      `  ${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}${multiple ? '...' : ''}`,
  )
  const width = Math.max(...labels.map(label => label.length).filter(length => length <= MAX_LABEL)) + 2
  return Object.values(options)
    .map(({ help, default: fallback }, index) => {
      const label = labels[index] ?? ''
      const words = `${help}${typeof fallback === 'string' ? ` (default: ${fallback})` : ''}`
      const start = label.length < width ? label.padEnd(width) : `${label}\n${' '.repeat(width)}`
      return start + fill(words, 80 - width).join(`\n${' '.repeat(width)}`)
    })
    .join('\n')
}

function formatHelp({ usage, about, options, shared, notes = '', examples }: About<Options, Options>): string {
  const named = (explained: Options) =>
    Object.keys(explained)
      .filter(name => name in shared && !(name in options))
      .map(name => `--${name}`)
      .join(' ')
  const also = [
    ['options', named(sharedOptions)],
    ['trust', named(trustOptions)],
  ].flatMap(([topic, names = '']) => (names === '' ? [] : [fill(`Also (help ${topic}): ${names}`, 78).join('\n    ')]))
  return [
    fill(`Usage: rollup-state-proof ${usage}`, 78).join('\n         '),
    about.trim(),
    [...(Object.keys(options).length > 0 ? ['Options:', formatOptions(options)] : []), ...also].join('\n'),
    ...(notes === '' ? [] : [notes.trim()]),
    `Examples:\n${examples.trim().replace(/^/gm, '  ')}\n`,
  ].join('\n\n')
}
