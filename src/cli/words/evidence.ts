import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { lineaNetworks } from '../../client/network/linea.ts'
import type { Rollup } from '../../verify/anchor/rollup.ts'
import { type BeaconNetwork, hoodiBeacon } from '../../verify/beacon/network.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { decidedKind, type StateScheme } from '../../verify/state/kind.ts'
import { attempt, decodeHex } from './layout.ts'
import { fieldIn } from './value.ts'

// Functions, so that a bundle which needs none of them has no network.
const beaconNetworks = (): readonly BeaconNetwork[] => [...lineaNetworks.map(({ beacon }) => beacon), hoodiBeacon]
export const rollupNames = (): readonly string[] => lineaNetworks.map(({ name }) => name)
export const networkNames = (): readonly string[] => beaconNetworks().map(({ name }) => name)

/** `mainnet` names none: it holds the contracts of many. */
const lineaNamed = (text: string) => lineaNetworks.find(({ name }) => name === text.toLowerCase())

export const rollupNamed = (name: string): Rollup | undefined => lineaNamed(name)?.rollup
/** By its own name, or by that of a rollup on it. */
export const networkNamed = (name: string): BeaconNetwork | undefined =>
  beaconNetworks().find(network => network.name === name.toLowerCase()) ?? lineaNamed(name)?.beacon

/** The name of the rollup with this contract; undefined for any other contract, which anyone may have deployed. */
export function nameOfRollup(contract: unknown): string | undefined {
  const isSame = (address: string) => typeof contract === 'string' && contract.toLowerCase() === address.toLowerCase()
  return lineaNetworks.find(({ rollup }) => isSame(rollup.address))?.name
}

/** A number below 2^bits, decimal or hexadecimal after 0x; null for anything else. */
export function parseNumber(text: unknown, bits: number): bigint | null {
  if (typeof text !== 'string' || !/^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) return null
  const value = BigInt(text)
  return value < 1n << BigInt(bits) ? value : null
}

/** The kind of state for which to verify a bundle. One that says that it is of an Ethereum state has to prove that L1 holds its block's hash. */
export const kindOf = (bundle: unknown, scheme: StateScheme): StateScheme =>
  decidedKind(fieldIn(bundle, 'scheme'), scheme)

/** The hash of the L1 header in a bundle: what its author says is a block of L1. */
export function statedBlockHash(bundle: unknown): Hex {
  const header = attempt(() => decodeHex(fieldIn(fieldIn(bundle, 'l1'), 'header')))
  return bytesToHex(keccak256(header ?? new Uint8Array()))
}
