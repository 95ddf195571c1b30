import { isProviderError } from '../../entry/provider.ts'
import type { Environment } from '../../provider/environment.ts'
import { CALL_GAS } from '../../provider/limits.ts'
import { UsageError } from '../errors.ts'
import type { Flags } from './declared.ts'

/** @throws UsageError if a value is given twice */
export function environmentOf({ environment = [] }: Flags): Environment {
  const names = environment.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new UsageError(`--environment: ${twice} is given twice`)
  return Object.fromEntries(environment)
}

export const callRequestOf = ({ call, sender, value, gas }: Flags) => ({
  ...{ ...call, from: sender, value, gas: gas === undefined ? undefined : BigInt(gas) },
})

/** What the user states about a recorded call. The bundle does not decide the gas. */
export function callClaimOf(flags: Flags) {
  const call = callRequestOf(flags)
  const { from = 'fromBundle', to = 'fromBundle', data = 'fromBundle', value = 'fromBundle', gas = CALL_GAS } = call
  return { from, to, data, value, gas } as const
}

/** Turns errors that the user can fix into UsageErrors: a value to state, a call that cannot start. */
export function callFailed(error: unknown): never {
  if (!isProviderError(error)) throw error
  const hints: Readonly<Record<string, string>> = {
    VALUE_UNPROVEN: ' (--environment NAME=VALUE)',
    TIMEOUT: ' (--timeout SECONDS)',
  }
  throw new UsageError(`${error.message}${hints[error.reason] ?? ''}`)
}
