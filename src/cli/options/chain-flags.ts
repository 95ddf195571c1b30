import { parseNumber } from '../../document/evidence.ts'
import type { Environment } from '../../provider.ts'
import { UsageError } from '../command.ts'
import { toInteger } from './flags.ts'

/** The options of the commands that execute calls. */
export interface ChainFlags {
  readonly rollup?: string | undefined
  readonly 'chain-id'?: string | undefined
  readonly method?: string | undefined
}

const CHAIN_IDS = new Map([
  ['mainnet', 59_144n],
  ['sepolia', 59_141n],
])

/** @throws UsageError */
export function chainIdOf({ 'chain-id': text, rollup = '' }: ChainFlags): bigint {
  if (text !== undefined) return toInteger('--chain-id', text, 256)
  const known = CHAIN_IDS.get(rollup)
  if (known === undefined) throw new UsageError('--chain-id is needed: that of the rollup')
  return known
}

export const methodOf = ({ method, rollup = '' }: ChainFlags): string =>
  method ?? (CHAIN_IDS.has(rollup) ? 'linea_getProof' : 'rollup_getProof')

const QUANTITIES = ['timestamp', 'baseFee', 'blobBaseFee', 'gasLimit']
const HASHES = ['coinbase', 'prevRandao']

/** Parses the values of `--environment NAME=VALUE`. @throws UsageError */
export function environmentOf(stated: readonly string[]): Environment {
  const environment = new Map<string, unknown>()
  for (const text of stated) {
    const [, name = '', value = ''] = /^([a-zA-Z]+)=(.*)$/s.exec(text) ?? []
    if (![...QUANTITIES, ...HASHES].includes(name)) {
      throw new UsageError(`--environment: expected NAME=VALUE, with one of ${[...QUANTITIES, ...HASHES].join(', ')}`)
    }
    if (environment.has(name)) throw new UsageError(`--environment: ${name} is given twice`)
    environment.set(name, HASHES.includes(name) ? value : toInteger(`--environment ${name}`, value, 256))
  }
  // Despite the types, the hexadecimal is unchecked: the provider refuses malformed values.
  return Object.fromEntries(environment) as Environment
}

/** The values of `--call TO DATA`. */
export interface CallFlag {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
}

/** Takes `--call TO DATA` out of the arguments: `parseArgs` does not support options with two values. @throws UsageError */
export function takeCall(args: readonly string[]): { readonly call: CallFlag | undefined; readonly rest: string[] } {
  const at = args.indexOf('--call')
  if (at === -1) return { call: undefined, rest: [...args] }
  const [to = '', data = ''] = args.slice(at + 1, at + 3)
  const rest = [...args.slice(0, at), ...args.slice(at + 3)]
  if (!/^0x[0-9a-f]{40}$/i.test(to)) throw new UsageError('--call: expected the address of a contract, then the data')
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(data)) throw new UsageError('--call: expected hexadecimal data after the address')
  if (rest.includes('--call')) throw new UsageError('--call is given twice')
  return { call: { to: to as CallFlag['to'], data: data as CallFlag['data'] }, rest }
}

/** @throws UsageError */
export function weiOf(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  const value = parseNumber(text, 256)
  if (value === null) throw new UsageError('--value: expected a number of wei')
  return value
}
