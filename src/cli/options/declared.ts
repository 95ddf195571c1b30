import { lineaLayout } from '../../entry/anchor.ts'
import type { Hex } from '../../entry/index.ts'

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

/** The options of more than one command. A command can say something else about one of them. */
const declared = {
  l1: list(
    'URL',
    'an Ethereum endpoint with eth_getProof (or L1_URL), used if those before it fail; for older blocks, an archive node',
  ),
  l2: list('URL', 'an endpoint of the rollup (or L2_URL), used if those before it fail'),
  scheme: text(
    'SCHEME',
    "mimc or poseidon2: the hash scheme of the rollup's state roots; or ethereum: L1 holds hashes of blocks, and the state is that of Ethereum",
  ),
  implementation: text(
    'ADDRESS',
    "the code behind the contract's proxy that you have looked at, 20 bytes: with any other, nothing verifies",
  ),
  rollup: text('ROLLUP', 'mainnet or sepolia (Linea), or the address of the rollup contract on L1'),
  address: text('ADDRESS', 'the account, 20 bytes'),
  'storage-key': list('KEY', 'a storage key of the account: 32 bytes, or the number of a slot'),
  // parseOptions replaces it by --storage-key.
  mapping: list(
    'SLOT KEY',
    "the storage key of a mapping's entry: the slot that declares the mapping, and the entry's key (an address, a number or 32 bytes)",
  ),
  'state-root': text(
    'ROOT',
    'the L2 state root that you trust, 32 bytes: stateRootHashes of the rollup contract on L1',
  ),
  'message-service': text('ADDRESS', "the message service on L2 (default: Linea's, for mainnet and sepolia)"),
  'l1-block-hash': text('HASH', 'the hash of a finalized L1 block, 32 bytes, from a source that you trust'),
  'l1-state-root': text('ROOT', 'the state root of an L1 block, 32 bytes'),
  checkpoint: text('ROOT', 'the root of a finalized beacon block, 32 bytes, at most two weeks old when you trusted it'),
  'checkpoint-max-age': text(
    'SECONDS',
    'refuse to begin with an older --checkpoint (default: 1209600, two weeks; one week since Gloas)',
  ),
  beacon: list('URL', "a beacon API of L1's consensus layer (or BEACON_URL), asked if those before it fail"),
  network: text(
    'NETWORK',
    "with --checkpoint: mainnet, sepolia, hoodi, or a file with your own (default: the rollup's)",
  ),
  'l2-block': text(
    'NUMBER',
    'the L2 block, which must be the last of a finalization (default: the newest with a proof)',
  ),
  'layout-roots-slot': text(
    'N',
    `the slot of stateRootHashes in a fork's contract (default: ${lineaLayout.stateRootHashes})`,
  ),
  'layout-current-slot': text(
    'N',
    `the slot of currentL2BlockNumber in a fork's contract (default: ${lineaLayout.currentL2BlockNumber})`,
  ),
  method: text('NAME', 'the JSON-RPC method (default: linea_getProof for mainnet and sepolia, else rollup_getProof)'),
  'keys-per-request': textOr('100', 'N', 'storage keys per request'),
  timeout: textOr('30', 'SECONDS', 'time per request, including retries'),
  output: {
    ...text('FILE', 'required: the file to write, whole or not at all; never an existing one. - is standard output'),
    short: 'o',
  },
  force: flag('start over, and overwrite the file'),
  json: flag('print one JSON object'),
  // parseOptions joins its two words.
  call: text('TO DATA', 'the call: the contract, 20 bytes, and the calldata'),
  from: text('ADDRESS', 'the sender (default: the zero address)'),
  value: text('WEI', 'the value sent (default: 0)'),
  gas: text('N', 'the gas limit of the transaction, at most 50000000 (default: 50000000)'),
  'chain-id': text('N', 'the chain id of the rollup (default: that of mainnet or sepolia)'),
  hardfork: text('NAME', 'the hard fork of the rollup at the L2 block (default: prague)'),
  deadline: text('SECONDS', 'the time for executing the call (default: 10)'),
  environment: list(
    'NAME=VALUE',
    'a block value that no proof covers: timestamp, baseFee, blobBaseFee, gasLimit, coinbase or prevRandao',
  ),
  port: textOr('8545', 'PORT', 'the port to listen on; 0 for any free port'),
  host: textOr('127.0.0.1', 'HOST', 'the address to listen on'),
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

const [LABEL_WIDTH, TEXT_WIDTH] = [28, 52]

/** The lines of `--help` on these options, of at most 80 columns. */
export const formatOptions = (options: Options): string =>
  Object.entries(options)
    .map(([name, { short, value, multiple, help, default: fallback }]) => {
      const label = `  ${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`
      const more = multiple ? '; repeat it for more' : ''
      const words = `${help}${more}${typeof fallback === 'string' ? ` (default: ${fallback})` : ''}`
      const lines = words.match(new RegExp(`\\S.{0,${TEXT_WIDTH - 1}}(?= |$)`, 'g')) ?? []
      const start = label.length < LABEL_WIDTH - 1 ? label.padEnd(LABEL_WIDTH) : `${label}\n${' '.repeat(LABEL_WIDTH)}`
      return start + lines.join(`\n${' '.repeat(LABEL_WIDTH)}`)
    })
    .join('\n')

export const hiddenUrls = `Pass URLs in the environment variables L1_URL, L2_URL and BEACON_URL, with
spaces between URLs, to keep API keys out of the history of your shell and out
of the process list. URLs are never printed.`

export const resumable = `An interrupted run keeps its progress in FILE.partial: run the same command
again to continue.`
