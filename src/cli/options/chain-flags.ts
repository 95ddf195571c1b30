import type { Hex } from '../../entry/index.ts'
import { isProviderError } from '../../entry/provider.ts'
import type { Environment } from '../../provider/environment.ts'
import { CALL_GAS } from '../../provider/limits.ts'
import { UsageError } from '../errors.ts'
import { parseNumber } from '../words/evidence.ts'
import { isAddress } from './address.ts'
import type { Flags } from './declared.ts'
import { integerOf, requireHex, toInteger, wholeNumber } from './parse.ts'

/** What a transaction costs that does nothing. */
const LEAST_GAS = 21_000n

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
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(data))
    throw new UsageError('--call: expected hexadecimal data after the address, with 0x before it')
  return { to, data: data as Hex }
}

/** The call that the user asks for. @throws UsageError */
export function callRequestOf(flags: Flags) {
  const { call, sender } = flags
  const value = flags.value === undefined ? undefined : parseNumber(flags.value, 256)
  if (value === null) throw new UsageError('--value: expected a number of wei')
  requireHex('--sender', 20, sender)
  const gas = integerOf(flags, 'gas', 64)
  if (gas !== undefined && (gas < LEAST_GAS || gas > CALL_GAS)) {
    throw new UsageError(`--gas: expected ${LEAST_GAS} to ${CALL_GAS}, found ${gas}`)
  }
  return { ...(call === undefined ? {} : callOf(call)), from: sender, value, gas }
}

/** What the user states about a recorded call. The bundle does not decide the gas. @throws UsageError */
export function callClaimOf(flags: Flags) {
  const call = callRequestOf(flags)
  const { from = 'fromBundle', to = 'fromBundle', data = 'fromBundle', value = 'fromBundle', gas = CALL_GAS } = call
  return { from, to, data, value, gas } as const
}

/** How long executing a call may take. @throws UsageError */
export const timeoutOf = (timeout: string): { readonly timeoutMs: number } => ({
  timeoutMs: 1000 * wholeNumber('--timeout', timeout, 1, 86_400),
})

/** Turns errors that the user can fix into UsageErrors: a value to state, a call that cannot start. */
export function callFailed(error: unknown): never {
  if (!isProviderError(error)) throw error
  const hints: Readonly<Record<string, string>> = {
    VALUE_UNPROVEN: ' (--environment NAME=VALUE)',
    TIMEOUT: ' (--timeout SECONDS)',
  }
  throw new UsageError(`${error.message}${hints[error.reason] ?? ''}`)
}
