import type { Hex } from '../../base/bytes.ts'
import { ArgumentError, isArgumentError, isProofError } from '../../base/errors.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import { createWorld, type World } from '../world/world.ts'

/**
 * Creates a world from a genesis file: `{ "alloc": { ADDRESS: { "balance", "nonce", "code", "storage": { KEY: VALUE } } } }`.
 * `balance` and `nonce` are integers, or decimal or `0x` strings; all else is hexadecimal. The rollup's own code hash is not
 * specified, so accounts with code get the hash of empty code. If it matters, set `snarkCodeHash` in the account.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param genesis parsed from JSON
 * @throws ArgumentError
 */
export function readGenesis(scheme: Scheme, genesis: unknown): World {
  const world = createWorld(scheme)
  const { alloc } = objectOf('genesis', genesis)
  for (const [name, account] of Object.entries(objectOf('alloc', alloc))) {
    const place = `alloc.${name.slice(0, 42)}`
    const { balance, nonce, code, snarkCodeHash, storage = {} } = objectOf(place, account)
    const address: Hex = `0x${name.replace(/^0x/i, '')}`
    try {
      world.setAccount(address, {
        ...(balance !== undefined && { balance: numberOf(`${place}.balance`, balance) }),
        ...(nonce !== undefined && { nonce: numberOf(`${place}.nonce`, nonce) }),
        ...(code !== undefined && { code: hexOf(`${place}.code`, code) }),
        ...(snarkCodeHash !== undefined && { snarkCodeHash: hexOf(`${place}.snarkCodeHash`, snarkCodeHash) }),
      })
      for (const [key, value] of Object.entries(objectOf(`${place}.storage`, storage))) {
        world.setStorage(address, { key: wordOf(key), value: wordOf(hexOf(`${place}.storage`, value)) })
      }
    } catch (error) {
      if (!isProofError(error) && !isArgumentError(error)) throw error
      throw invalid(`${place}: ${error.message}`)
    }
  }
  return world
}

const invalid = (found: string) => new ArgumentError({ found })

function objectOf(place: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${place} is not an object`)
  return { ...value }
}

function numberOf(place: string, value: unknown): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(text))
    throw invalid(`${place} is not a number`)
  return BigInt(text)
}

function hexOf(place: string, value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) throw invalid(`${place} is not hexadecimal`)
  return `0x${value.slice(2)}`
}

/** A word with or without its leading zeros, as genesis files write slots. */
export const wordOf = (hex: string): Hex => `0x${hex.replace(/^0x/i, '').padStart(64, '0')}`
