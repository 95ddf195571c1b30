import type { Hex } from '../../entry/index.ts'
import { type Environment, isProviderError } from '../../entry/provider.ts'
import { DEFAULT_HARDFORK, type Hardfork } from '../../provider/environment.ts'
import { CALL_GAS } from '../../provider/limits.ts'
import { UsageError } from '../errors.ts'
import { parseNumber } from '../words/evidence.ts'
import { isAddress } from './address.ts'
import type { Flags } from './declared.ts'
import { rollupOf } from './flags.ts'
import { integerOf, requireHex, toInteger, wholeNumber } from './parse.ts'

/** @throws UsageError */
export const methodOf = (flags: Flags): string =>
  flags.method ?? (flags.rollup && rollupOf(flags).method) ?? 'rollup_getProof'

const QUANTITIES = ['timestamp', 'baseFee', 'blobBaseFee', 'gasLimit']
const HASHES = ['coinbase', 'prevRandao']

/** Parses the values of `--environment NAME=VALUE`. @throws UsageError */
export function environmentOf({ environment: stated = [] }: Flags): Environment {
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

/** The values of `--call TO DATA`, joined. @throws UsageError */
function callOf(text: string): { readonly to?: Hex; readonly data?: Hex } {
  const [to = '', data = ''] = text.split(' ')
  if (!isAddress('--call', to)) throw new UsageError('--call: expected the address of a contract, then the data')
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(data)) throw new UsageError('--call: expected hexadecimal data after the address')
  return { to, data: data as Hex }
}

/** The call that the user asks for. @throws UsageError */
export function callRequestOf(flags: Flags) {
  const { call, from, hardfork } = flags
  const value = flags.value === undefined ? undefined : parseNumber(flags.value, 256)
  if (value === null) throw new UsageError('--value: expected a number of wei')
  requireHex('--from', 20, from)
  return {
    chainId: integerOf(flags, 'chain-id', 256),
    call: { ...(call === undefined ? {} : callOf(call)), from, value, gas: integerOf(flags, 'gas', 64) },
    // Despite the type, it is unchecked: the library refuses an unknown one.
    hardfork: hardfork as Hardfork | undefined,
  }
}

/** What the user states about a recorded call. The bundle decides neither the gas nor the hard fork. @throws UsageError */
export function callClaimOf(flags: Flags) {
  const { call, hardfork = DEFAULT_HARDFORK, chainId } = callRequestOf(flags)
  const { from = 'fromBundle', to = 'fromBundle', data = 'fromBundle', value = 'fromBundle', gas = CALL_GAS } = call
  return { chainId, hardfork, call: { from, to, data, value, gas } } as const
}

/** How long executing a call may take. @throws UsageError */
export function deadlineOf({ deadline }: Flags): { readonly timeoutMs?: number } {
  return deadline === undefined ? {} : { timeoutMs: 1000 * wholeNumber('--deadline', deadline, 1, 86_400) }
}

/** Turns errors that the user can fix into UsageErrors: a value to state, a package to install, a call that cannot start. */
export function callFailed(error: unknown): never {
  if (!isProviderError(error)) throw error
  const hints: Readonly<Record<string, string>> = {
    VALUE_UNPROVEN: ' (--environment NAME=VALUE)',
    TIMEOUT: ' (--deadline SECONDS)',
  }
  throw new UsageError(`${error.message}${hints[error.reason] ?? ''}`)
}
