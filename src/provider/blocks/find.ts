import type { Hex } from '../../base/bytes.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { EndpointError, isFailure } from '../../client/transport/error.ts'
import { callProvider, parseQuantity } from '../../client/transport/provider.ts'
import { isProviderError } from '../error.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'

/** What an endpoint says about a hash: a hint. */
export interface Hint {
  /** As it was sent. */
  readonly sent: object
  /** Of the block. */
  readonly number: bigint
}

const METHODS = {
  block: { method: 'eth_getBlockByHash', field: 'number', more: [false] },
  transaction: { method: 'eth_getTransactionByHash', field: 'blockNumber', more: [] },
} as const

/**
 * What has a hash: the number of its block is an endpoint's hint, from which `prove` starts. The next endpoint is asked if one
 * has nothing, or what it says leads nowhere. No proof shows that a hash is of nothing.
 *
 * @param prove null if it leads nowhere; throws a failure of an endpoint if the hint is wrong
 * @returns null if an endpoint has nothing, and no other one has what can be proven
 */
export async function findByHash<T extends object>(
  { l2 }: Pick<VerifiedOptions, 'l2'>,
  kind: keyof typeof METHODS,
  hash: Hex,
  pace: Pace,
  prove: (hint: Hint, signal: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  await pace.beSlow()
  const { method, field, more } = METHODS[kind]
  let [isUnknown, unproven]: [boolean, unknown] = [false, undefined]
  try {
    return await l2.run(async (provider, { signal, heard }) => {
      const sent = Object(await callProvider(provider, method, [hash, ...more], signal))
      heard()
      // A transaction that no block has yet has no number.
      const stated = readOwn(sent, field) ?? null
      const proving = stated === null ? null : prove({ sent, number: parseQuantity(stated) }, signal)
      const found = await proving?.catch(keepUnproven)
      if (found) return found
      isUnknown = true
      throw new EndpointError('BLOCK_MISSING', { found: `no ${kind} ${hash}`, layer: 'L2' })
    }, pace.signal)
  } catch (error) {
    if (unproven !== undefined) throw unproven
    if (isUnknown && isFailure(error)) return null
    throw error
  }

  /** Another endpoint may say that it is in a block that is proven. */
  function keepUnproven(error: unknown): null {
    if (!isProviderError(error) || error.reason !== 'BLOCK_UNPROVEN') throw error
    unproven = error
    return null
  }
}
