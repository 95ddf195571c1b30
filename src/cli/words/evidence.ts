import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { Refusal } from '../../base/errors.ts'
import { lineaNetworks } from '../../client/network/linea.ts'
import { lineaLayout, type Rollup } from '../../verify/anchor/rollup.ts'
import { type BeaconNetwork, decodeNetwork, hoodiBeacon } from '../../verify/beacon/network.ts'
import type { EvidenceClaim, Trusted } from '../../verify/evidence/types.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { decidedKind, stateKind } from '../../verify/state/kind.ts'
import type { StateScheme } from '../../verify/state/types.ts'
import type { Source } from './claim.ts'
import { attempt, decodeHex } from './layout.ts'
import { fieldIn, fieldsOf, isObject } from './value.ts'

/** The claim against which a bundle is verified, and the links of its chain. */

const networks = new Map(
  [...lineaNetworks.map(({ beacon }) => beacon), hoodiBeacon].map(network => [network.name, network]),
)
export const rollupNames: readonly string[] = lineaNetworks.map(({ name }) => name)
export const networkNames: readonly string[] = [...networks.keys()]

/** By the name that `--network` takes, or the whole one, which reports print. `mainnet` names none: it holds the contracts of many. */
const lineaNamed = (named: string) =>
  lineaNetworks.find(({ name, rollup }) => [name, rollup.name].includes(named.toLowerCase()))

export const rollupNamed = (name: string): Rollup | undefined => lineaNamed(name)?.rollup
/** By its own name, or by that of a rollup on it. */
export const networkNamed = (name: string): BeaconNetwork | undefined =>
  networks.get(name.toLowerCase()) ?? lineaNamed(name)?.beacon

/** The name of the rollup with this contract; undefined for any other contract, which anyone may have deployed. */
export function nameOfRollup(contract: unknown): string | undefined {
  const isSame = (address: string) => typeof contract === 'string' && contract.toLowerCase() === address.toLowerCase()
  return lineaNetworks.find(({ rollup }) => isSame(rollup.address))?.name
}

/** The contract of a fork, with the slots that differ from Linea's. */
export function forkOf(address: string, rootsSlot: bigint | undefined, currentSlot: bigint | undefined): Rollup {
  const { stateRootHashes, currentL2BlockNumber } = lineaLayout
  const layout = {
    ...lineaLayout,
    stateRootHashes: rootsSlot ?? stateRootHashes,
    currentL2BlockNumber: currentSlot ?? currentL2BlockNumber,
  }
  // Despite the type, the address is unchecked: verifyEvidence refuses a malformed one with an ArgumentError.
  return { address, layout } as Rollup
}

/** The fields of a message that are quantities. */
export const MESSAGE_NUMBERS = ['fee', 'value', 'number']

/** A number below 2^bits, decimal or hexadecimal after 0x; null for anything else. */
export function parseNumber(text: unknown, bits: number): bigint | null {
  if (typeof text !== 'string' || !/^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) return null
  const value = BigInt(text)
  return value < 1n << BigInt(bits) ? value : null
}

/** The source of each part of a bundle's claim. */
export type EvidenceSources = Readonly<
  Record<'trusted' | 'scheme' | 'rollup' | 'l2BlockNumber' | 'address' | 'storageKeys', Source>
>

/**
 * Who stated the constants that a verdict also rests on: the code of the rollup contract, a layout other than Linea's, and the
 * network of a beacon block.
 *
 * @param by who states the network of the rollup
 */
export function constantSources({ rollup, trusted }: Pick<EvidenceClaim, 'rollup' | 'trusted'>, by: Source = 'user') {
  const { lightClient } = fieldsOf(trusted)
  const network = fieldIn(lightClient, 'network')
  const known = networkNamed(String(fieldIn(network, 'name')))
  // The user can only name one. Any other is the content of a file.
  const isNamed = known !== undefined && JSON.stringify(decodeNetwork(known).source) === JSON.stringify(network)
  const [user, ofNetwork]: [Source, Source] = ['user', isNamed ? by : 'file']
  return {
    ...(rollup.implementation !== undefined && { implementation: user }),
    ...(rollup.layout !== undefined && rollup.layout !== lineaLayout && { layout: user }),
    ...(network !== undefined && { network: ofNetwork }),
  }
}

/**
 * The kind of state for which to verify a bundle if L1 decides: a bundle that says that it is of an Ethereum state has to prove that
 * L1 holds the hash of its block, whatever the hash scheme of state roots is.
 */
export const kindOf = (bundle: unknown, scheme: StateScheme): StateScheme =>
  decidedKind(fieldIn(bundle, 'scheme'), scheme)

/** The links of the chain of evidence, in the order in which they are verified. */
export const links = {
  bundle: 'the bundle is for what you stated',
  consensus: 'trusted beacon block -> sync committees -> finalized L1 block hash',
  l1Header: 'L1 block hash -> L1 header',
  rollupContract: 'L1 state root -> rollup contract -> L2 state root',
  l2Header: 'L2 block hash -> L2 header -> L2 state root',
  answer: 'L2 state root -> account and slots',
} as const

export type Link = keyof typeof links

/** What a link proves, in a chain that leads to a state of this kind. */
export const linkWords = (link: Link, scheme: StateScheme): string =>
  link === 'rollupContract' && stateKind(scheme).held === 'blockHash'
    ? 'L1 state root -> rollup contract -> L2 block hash'
    : links[link]

/** The links of the chain that starts at this trusted input and leads to a state of this kind. */
export function linksFrom(trusted: Trusted, scheme: StateScheme): Link[] {
  const has = (name: string) => isObject(trusted) && Object.hasOwn(trusted, name)
  const rest: Link[] = [
    'rollupContract',
    ...(stateKind(scheme).held === 'blockHash' ? (['l2Header'] as const) : []),
    'answer',
  ]
  if (has('beaconBlockRoot')) return ['bundle', 'consensus', 'l1Header', ...rest]
  if (has('l1BlockHash')) return ['bundle', 'l1Header', ...rest]
  return has('l1StateRoot') ? ['bundle', ...rest] : ['bundle', 'answer']
}

/** The broken link; null if the claim itself is wrong. */
export function linkOf({ code, path }: Pick<Refusal, 'code' | 'path'>): Link | null {
  if (code === 'ARGUMENT_INVALID') return null
  if (path.startsWith('consensus')) return 'consensus'
  if (path.startsWith('l1.header')) return 'l1Header'
  if (path.startsWith('l1.proof')) return 'rollupContract'
  if (path.startsWith('l2Header')) return 'l2Header'
  return path.startsWith('answer') ? 'answer' : 'bundle'
}

/** The hash of the L1 header in a bundle: what its author says is a block of L1. */
export function statedBlockHash(bundle: unknown): Hex {
  const header = attempt(() => decodeHex(fieldIn(fieldIn(bundle, 'l1'), 'header')))
  return bytesToHex(keccak256(header ?? new Uint8Array()))
}
