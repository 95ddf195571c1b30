import { lineaNetworks } from '../../client/network/linea.ts'
import { CALL_GAS } from '../../provider/limits.ts'
import { readNetwork } from './network.ts'
import {
  address,
  asText,
  blockValue,
  call,
  hex,
  integer,
  l1Block,
  mappingKeyOf,
  type Read,
  storageKey,
  whole,
} from './read.ts'

/** An option: how it is read, and what `--help` says about it. Without a `value`, it is a flag. */
export interface Option {
  readonly short?: string
  readonly multiple?: boolean
  readonly default?: string | boolean
  /** The words that stand for those of its value in the help, such as `URL` or `SLOT KEY`. */
  readonly value?: string
  /** The option to whose values its own are added. */
  readonly into?: string
  /** An option without which it means nothing, and one that it contradicts. */
  readonly needs?: string
  readonly excludes?: string
  readonly help: string
  readonly read?: Read<unknown>
}

export type Options = Readonly<Record<string, Option>>

export const typed = <T>(value: string, help: string, read: Read<T>) => ({ value, help, read }) as const

export const text = (value: string, help: string) => typed(value, help, asText)

export const list = <T>(value: string, help: string, read: Read<T>) =>
  ({ ...typed(value, help, read), multiple: true }) as const

export const or = <T extends Option>(fallback: string, option: T) => ({ ...option, default: fallback })

export const flag = (help: string) => ({ default: false, help }) as const

const names = lineaNetworks.map(({ name }, index) => (index === 0 ? `${name} (default)` : name))
const seconds = whole(1, 86_400)

/** Of most commands: `help options` has them, and no command repeats them. */
export const sharedOptions = {
  network: typed('NETWORK', `${names.join(', ')}, or a file: see below`, readNetwork),
  l1: list('URL', 'Ethereum endpoint (or L1_URL)', asText),
  l2: list('URL', 'endpoint of the rollup (or L2_URL)', asText),
  beacon: { ...list('URL', 'beacon API of L1 (or BEACON_URL), with --checkpoint', asText), needs: 'checkpoint' },
  implementation: typed('ADDRESS', "the contract's code that you know: else nothing verifies", address),
  timeout: or('30', typed('SECONDS', 'time per request, or per call', seconds)),
  output: { ...text('FILE', 'file to write, or - for standard output'), short: 'o' },
  force: flag('start over, and overwrite the file'),
  json: flag('print JSON, one object per line'),
  'trust-file': flag('exit code 0 also for consistent'),
} as const satisfies Options

const sourceOptions = {
  checkpoint: typed('ROOT', 'root of a finalized beacon block, two weeks old at most', hex(32)),
  'checkpoint-max-age': { ...typed('SECONDS', 'accept one that is older', whole(0, 10 ** 12)), needs: 'checkpoint' },
  'beacon-state': { ...text('FILE', 'keeps the newest proven beacon block over restarts'), needs: 'checkpoint' },
  'l1-agree': { ...list('URL', 'endpoints that have to agree on a finalized block', asText), excludes: 'checkpoint' },
  quorum: { ...typed('N', 'how many of them (default: more than half)', whole(1, 1000)), excludes: 'checkpoint' },
} as const satisfies Options

/** On what everything rests: `help trust` has them. */
export const trustOptions = {
  'l1-block-hash': { ...typed('HASH', 'hash of a finalized L1 block', hex(32)), excludes: 'checkpoint' },
  'l1-state-root': typed('ROOT', 'state root of an L1 block, for verify and audit', hex(32)),
  'l1-block': {
    ...typed('BLOCK', 'record from this block, or finalized, safe, latest', l1Block),
    excludes: 'checkpoint',
  },
  ...sourceOptions,
} as const satisfies Options

/** The options of more than one command. A command can say something else about one of them. */
const declared = {
  ...sharedOptions,
  ...trustOptions,
  address: typed('ADDRESS', 'the account', address),
  'storage-key': list('KEY', 'a storage key: 32 bytes, or the number of a slot', storageKey),
  mapping: {
    ...list('SLOT KEY', "a mapping's entry: its slot, and the entry's key", mappingKeyOf),
    into: 'storage-key',
  },
  'state-root': typed('ROOT', 'the L2 state root that you trust', hex(32)),
  'l2-block': typed('NUMBER', 'the last L2 block of a finalization (default: newest)', integer(64)),
  'keys-per-request': or('100', typed('N', 'storage keys per request', whole(1, 1_000_000))),
  call: typed('TO DATA', 'the call: contract and calldata', call),
  sender: typed('ADDRESS', 'who sends it (default: the zero address)', address),
  value: typed('WEI', 'the value sent (default: 0)', integer(256)),
  gas: typed('N', `the gas limit, at most ${CALL_GAS} (default)`, whole(21_000, Number(CALL_GAS))),
  environment: list('NAME=VALUE', 'use this timestamp, base fee or other: nothing proves it', blockValue),
  'from-block': typed('N', 'the first block', integer(64)),
  'to-block': typed('N', 'the last block (default: the newest)', integer(64)),
  once: flag('end when there is nothing new'),
  poll: or('60', typed('SECONDS', 'time between polls', seconds)),
  check: flag('verify the files of an earlier run, offline'),
  port: or('8545', typed('PORT', 'port to listen on; 0 for any free port', whole(0, 65_535))),
  host: or('127.0.0.1', text('HOST', 'address to listen on')),
} as const satisfies Options

type ValueOf<T extends Option> = T extends { read: Read<infer Value> }
  ? T extends { multiple: true }
    ? readonly Value[]
    : Value
  : boolean

/** What the user states with these options: those with a default have a value. */
export type ValuesOf<T extends Options> = { readonly [Name in keyof T]?: ValueOf<T[Name]> } & {
  readonly [Name in keyof T as T[Name] extends { default: unknown } ? Name : never]: ValueOf<T[Name]>
}

export type FlagsOf<T extends Options> = { readonly [Name in keyof T]?: ValueOf<T[Name]> | undefined }

export type Flags = FlagsOf<typeof declared>

/** Some of the options above, in the order of the help. */
export const optionsOf = <Name extends keyof typeof declared>(...names: Name[]): Pick<typeof declared, Name> =>
  // The names are those of the type.
  Object.fromEntries(names.map(name => [name, declared[name]])) as Pick<typeof declared, Name>

const { 'trust-file': _, ...sharedWithRecord } = sharedOptions
export const recordOptions = {
  ...sharedWithRecord,
  ...optionsOf('l1-block', 'l1-block-hash', 'checkpoint', 'checkpoint-max-age'),
}
/** Those of every command that asks again and again for the L1 block hash on which everything rests. */
export const l1SourceOptions = { ...sourceOptions, ...optionsOf('beacon') }
export const followOptions = {
  ...optionsOf('network', 'l1', 'l2', 'implementation', 'timeout', 'output', 'json', 'once', 'poll'),
  ...l1SourceOptions,
}
