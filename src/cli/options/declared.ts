import { lineaNetworks } from '../../client/network/linea.ts'
import type { Hex } from '../../entry/index.ts'
import { fill } from '../output/table.ts'

/** An option, as `parseArgs` takes it, with what `--help` says about it. */
interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  readonly default?: string | boolean | string[]
  /** What stands for the value in the help, such as `URL`. */
  readonly value?: string
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

export const text = (value: string, help: string) => ({ type: 'string', value, help }) as const

export const textOr = (fallback: string, value: string, help: string) =>
  ({ type: 'string', value, help, default: fallback }) as const

/** An option that may be given more than once. */
export const list = (value: string, help: string) => ({ type: 'string', multiple: true, value, help }) as const

export const flag = (help: string) => ({ type: 'boolean', default: false, help }) as const

const names = lineaNetworks.map(({ name }, index) => (index === 0 ? `${name} (default)` : name))

/** The options of more than one command. A command can say something else about one of them. */
const declared = {
  // Of most commands: `help options` has them, and no command repeats them.
  network: text('NETWORK', `${names.join(', ')}, or a file: see below`),
  l1: list('URL', 'Ethereum endpoint (or L1_URL)'),
  l2: list('URL', 'endpoint of the rollup (or L2_URL)'),
  beacon: list('URL', 'beacon API of L1 (or BEACON_URL), with --checkpoint'),
  implementation: text('ADDRESS', "the contract's code that you know: else nothing verifies"),
  timeout: textOr('30', 'SECONDS', 'time per request, or per call'),
  output: { ...text('FILE', 'file to write, or - for standard output'), short: 'o' },
  force: flag('start over, and overwrite the file'),
  json: flag('print JSON, one object per line'),
  'trust-file': flag('exit code 0 also for consistent'),
  // What everything rests on: `help trust` has them.
  'l1-block-hash': text('HASH', 'hash of a finalized L1 block'),
  'l1-state-root': text('ROOT', 'state root of an L1 block, for verify and audit'),
  checkpoint: text('ROOT', 'root of a finalized beacon block, two weeks old at most'),
  'checkpoint-max-age': text('SECONDS', 'accept one that is older'),
  'l1-block': text('BLOCK', 'record from this block, or finalized, safe, latest'),
  'l1-agree': list('URL', 'endpoints that have to agree on a finalized block'),
  quorum: text('N', 'how many of them (default: more than half)'),
  'l1-hash-module': text('FILE', 'a JavaScript module that exports l1BlockHash()'),
  'beacon-state': text('FILE', 'keeps the newest proven beacon block over restarts'),
  // The subject.
  address: text('ADDRESS', 'the account'),
  'storage-key': list('KEY', 'a storage key: 32 bytes, or the number of a slot'),
  // parseOptions replaces it by --storage-key.
  mapping: list('SLOT KEY', "a mapping's entry: its slot, and the entry's key"),
  'state-root': text('ROOT', 'the L2 state root that you trust'),
  'l2-block': text('NUMBER', 'the last L2 block of a finalization (default: newest)'),
  'keys-per-request': textOr('100', 'N', 'storage keys per request'),
  // parseOptions joins its two words.
  call: text('TO DATA', 'the call: contract and calldata'),
  sender: text('ADDRESS', 'who sends it (default: the zero address)'),
  value: text('WEI', 'the value sent (default: 0)'),
  gas: text('N', 'the gas limit, at most 50000000 (default)'),
  environment: list('NAME=VALUE', 'use this timestamp, base fee or other: nothing proves it'),
  'from-block': text('N', 'the first block'),
  'to-block': text('N', 'the last block (default: the newest)'),
  once: flag('end when there is nothing new'),
  poll: textOr('60', 'SECONDS', 'time between polls'),
  keep: text('FILE.gz', 'keep what the rows are proven from, for --check'),
  check: flag('verify the files of an earlier run, offline'),
  port: textOr('8545', 'PORT', 'port to listen on; 0 for any free port'),
  host: textOr('127.0.0.1', 'HOST', 'address to listen on'),
} as const satisfies Options

// parseOptions makes every storage key 32 bytes.
type ValueOf<Name, T extends Option> = T['type'] extends 'boolean'
  ? boolean
  : T extends { multiple: true }
    ? readonly (Name extends 'storage-key' ? Hex : string)[]
    : string

/** What the user states with these options: those with a default have a value. */
export type ValuesOf<T extends Options> = { readonly [Name in keyof T]?: ValueOf<Name, T[Name]> } & {
  readonly [Name in keyof T as T[Name] extends { default: unknown } ? Name : never]: ValueOf<Name, T[Name]>
}

/** What the user may state with these options. */
export type FlagsOf<T extends Options> = { readonly [Name in keyof T]?: ValueOf<Name, T[Name]> | undefined }

/** What the user may state with the options of more than one command. */
export type Flags = FlagsOf<typeof declared>

/** Some of the options above, in the order of the help. */
export const optionsOf = <Name extends keyof typeof declared>(...names: Name[]): Pick<typeof declared, Name> =>
  // The names are those of the type.
  Object.fromEntries(names.map(name => [name, declared[name]])) as Pick<typeof declared, Name>

/** Of most commands. */
export const sharedOptions = optionsOf(
  ...(['network', 'l1', 'l2', 'beacon', 'implementation', 'timeout', 'output', 'force', 'json', 'trust-file'] as const),
)
/** On what everything rests. */
export const trustOptions = optionsOf(
  ...(['l1-block-hash', 'l1-state-root', 'checkpoint', 'checkpoint-max-age', 'l1-block'] as const),
  ...(['l1-agree', 'quorum', 'l1-hash-module', 'beacon-state'] as const),
)
/** Those of every command that records. */
export const recordOptions = optionsOf(
  ...(['network', 'l1', 'l2', 'beacon', 'implementation', 'timeout', 'output', 'force', 'json'] as const),
  ...(['l1-block', 'l1-block-hash', 'checkpoint', 'checkpoint-max-age'] as const),
)
/** Those of every command that asks again and again for the L1 block hash on which everything rests. */
export const l1SourceOptions = optionsOf(
  ...(['l1-agree', 'quorum', 'l1-hash-module', 'checkpoint', 'checkpoint-max-age', 'beacon', 'beacon-state'] as const),
)
/** Those of every command that follows. */
export const followOptions = {
  ...optionsOf('network', 'l1', 'l2', 'implementation', 'timeout', 'output', 'json'),
  ...l1SourceOptions,
  'from-block': text('N', 'the first L2 block (default: the newest finalization)'),
  ...optionsOf('once', 'poll'),
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

/** What the help of a command consists of. */
export interface Help {
  /** After the program's name. */
  readonly usage: string
  readonly about: string
  /** Its own options. */
  readonly options?: Options
  /** All that it takes: those of `help options` and `help trust` are only named. */
  readonly all: Options
  readonly notes?: string
  readonly examples: string
}

/** The help of a command, which fits on one screen. */
export function formatHelp({ usage, about, options = {}, all, notes = '', examples }: Help): string {
  const named = (shared: Options) =>
    Object.keys(shared)
      .filter(name => name in all && !(name in options))
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
