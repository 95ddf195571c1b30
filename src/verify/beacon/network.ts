import { decodeArgument } from '../../base/arguments.ts'
import { type Hex, hexToBytes } from '../../base/bytes.ts'
import { ArgumentError, atPath, excerpt, refusal } from '../../base/errors.ts'
import { atMost, optional } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import { type BeaconPreset, MAINNET_PRESET } from './clock.ts'
import { MAX_FORKS } from './limits.ts'

/** A fork of a consensus network: its first epoch, and the version that its signatures commit to. */
interface BeaconFork {
  /** As the beacon API spells it, such as `capella`. Layouts are known from `capella` to `gloas`. */
  name: string
  /** 4 bytes. */
  version: Hex
  /** The first epoch of the fork. Left out while none is set. */
  epoch?: number | undefined
}

/** A consensus network as plain data. It cannot list future forks: replace the table if yours is newer than this release. */
export interface BeaconNetwork {
  /** A label for people, such as `mainnet`. It proves nothing. */
  name: string
  /** 32 bytes. Signatures commit to it, so those of another network do not count. */
  genesisValidatorsRoot: Hex
  /** When slot 0 began, in seconds since 1970. */
  genesisTime: number
  /** Ordered by epoch, from Capella on. Forks without an epoch come last. */
  forks: readonly BeaconFork[]
  /** Committee size and lengths of time. Left out where they are those of mainnet, as on its test networks. */
  preset?: BeaconPreset | undefined
}

/**
 * Ethereum mainnet. Its Gloas fork has no epoch yet.
 *
 * @example
 * ```ts
 * import { mainnetBeacon } from 'rollup-state-proof/beacon'
 *
 * // Once the epoch of a fork is known, and until a release of this package knows it:
 * const forks = mainnetBeacon.forks.map(fork => (fork.name === 'gloas' ? { ...fork, epoch: 1_000_000 } : fork))
 * const network = { ...mainnetBeacon, forks }
 * console.log(network.forks.at(-1)?.epoch) // 1000000
 * ```
 */
export const mainnetBeacon: BeaconNetwork = {
  name: 'mainnet',
  genesisValidatorsRoot: '0x4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95',
  genesisTime: 1606824023,
  forks: [
    { name: 'capella', version: '0x03000000', epoch: 194048 },
    { name: 'deneb', version: '0x04000000', epoch: 269568 },
    { name: 'electra', version: '0x05000000', epoch: 364032 },
    { name: 'fulu', version: '0x06000000', epoch: 411392 },
    { name: 'gloas', version: '0x07000000' },
  ],
}

/**
 * The Sepolia test network.
 *
 * @example
 * ```ts
 * import { sepoliaBeacon } from 'rollup-state-proof/beacon'
 *
 * console.log(sepoliaBeacon.forks.map(fork => fork.name).join()) // capella,deneb,electra,fulu,gloas
 * ```
 */
export const sepoliaBeacon: BeaconNetwork = {
  name: 'sepolia',
  genesisValidatorsRoot: '0xd8ea171f3c94aea21ebc42a1ed61052acf3f9209c00e4efbaaddac09ed9b8078',
  genesisTime: 1655733600,
  forks: [
    { name: 'capella', version: '0x90000072', epoch: 56832 },
    { name: 'deneb', version: '0x90000073', epoch: 132608 },
    { name: 'electra', version: '0x90000074', epoch: 222464 },
    { name: 'fulu', version: '0x90000075', epoch: 272640 },
    { name: 'gloas', version: '0x90000076', epoch: 353024 },
  ],
}

/**
 * The Hoodi test network. Its Gloas fork has no epoch yet.
 *
 * @example
 * ```ts
 * import { hoodiBeacon } from 'rollup-state-proof/beacon'
 *
 * console.log(hoodiBeacon.forks.map(fork => fork.name).join()) // capella,deneb,electra,fulu,gloas
 * ```
 */
export const hoodiBeacon: BeaconNetwork = {
  // https://github.com/eth-clients/hoodi, and `hoodi` in @lodestar/config
  name: 'hoodi',
  genesisValidatorsRoot: '0x212f13fc4df078b6cb7db228f1c8307566dcecf900867401a92023d7ba99cb5f',
  genesisTime: 1742213400,
  forks: [
    { name: 'capella', version: '0x40000910', epoch: 0 },
    { name: 'deneb', version: '0x50000910', epoch: 0 },
    { name: 'electra', version: '0x60000910', epoch: 2048 },
    { name: 'fulu', version: '0x70000910', epoch: 50688 },
    { name: 'gloas', version: '0x80000910' },
  ],
}

/** The layout of a fork: generalized indices in the beacon state and in the block body. */
export interface Layout {
  readonly finalizedRoot: number
  readonly currentCommittee: number
  readonly nextCommittee: number
  /** In the body: the execution payload, or in Gloas the hash of the parent execution block. */
  readonly execution: number
  readonly executionKind: 'capella' | 'deneb' | 'gloas'
}

const altairState = { finalizedRoot: 105, currentCommittee: 54, nextCommittee: 55 }
const electraState = { finalizedRoot: 169, currentCommittee: 86, nextCommittee: 87 }
const gloasState = { finalizedRoot: 735, currentCommittee: 2945, nextCommittee: 2946 }

/** In the body: the hash of the parent execution block. */
export const GLOAS_EXECUTION = 2856

/** Made by a function, so that bundlers leave it out where only the tables of networks are used. */
const layouts = /* @__PURE__ */ (() =>
  new Map<string, Layout>([
    ['capella', { ...altairState, execution: 25, executionKind: 'capella' }],
    ['deneb', { ...altairState, execution: 25, executionKind: 'deneb' }],
    ['electra', { ...electraState, execution: 25, executionKind: 'deneb' }],
    ['fulu', { ...electraState, execution: 25, executionKind: 'deneb' }],
    ['gloas', { ...gloasState, execution: GLOAS_EXECUTION, executionKind: 'gloas' }],
  ]))()

/** Forks without execution headers in light-client data. */
const EARLY_FORKS = ['phase0', 'altair', 'bellatrix']

/** A checked {@link BeaconNetwork}: a frozen copy of the known fields, and the root as bytes. */
export type DecodedNetwork = ReturnType<typeof decodeNetworkFields>

const reader = /* @__PURE__ */ readerOf('ARGUMENT_INVALID')

export const decodeNetwork = (network: unknown): DecodedNetwork => atPath('network', () => decodeNetworkFields(network))

export function decodeNetworkFields(network: unknown) {
  const field = fieldsOf(network, ['name', 'genesisValidatorsRoot', 'genesisTime', 'forks', 'preset'])
  const preset = field('preset', optional(decodePreset))
  const source: BeaconNetwork = Object.freeze({
    genesisValidatorsRoot: field('genesisValidatorsRoot', hexOf(32)),
    forks: field('forks', decodeForks),
    name: field('name', reader.string),
    genesisTime: field('genesisTime', decodeCount),
    ...(preset && { preset }),
  })
  const genesisValidatorsRoot = hexToBytes(source.genesisValidatorsRoot, 32)
  return { source, genesisValidatorsRoot, preset: preset ?? MAINNET_PRESET }
}

/** Like that of a reader, for an object of the caller: no other fields. @throws ArgumentError */
export const fieldsOf = <Name extends string>(source: unknown, names: readonly Name[]) =>
  // Despite the type, it need not be an object: then it is refused.
  reader.fieldsOf(readOptions('', source as object, names), names)

/** Hexadecimal of this length, as the caller spells it. */
const hexOf = (length: number) => (value: unknown) => {
  decodeArgument('', value, length)
  return value as Hex // decodeArgument has checked it
}

function decodeForks(value: unknown): readonly BeaconFork[] {
  const forks = reader.items(value, atMost('ARGUMENT_INVALID', MAX_FORKS), decodeFork)
  const epochs = forks.map(({ epoch }) => epoch ?? Number.POSITIVE_INFINITY)
  if (epochs.some((epoch, index) => epoch < (epochs[index - 1] ?? 0))) {
    throw new ArgumentError({ expected: 'the order of their epochs' })
  }
  return Object.freeze(forks)
}

function decodeFork(fork: unknown): BeaconFork {
  const field = fieldsOf(fork, ['name', 'version', 'epoch'])
  const version = field('version', hexOf(4))
  return Object.freeze({ version, name: field('name', reader.string), epoch: field('epoch', optional(decodeCount)) })
}

function decodePreset(preset: unknown): BeaconPreset {
  const field = fieldsOf(preset, ['committeeSize', 'slotsPerEpoch', 'epochsPerPeriod', 'secondsPerSlot'])
  return Object.freeze({
    committeeSize: field('committeeSize', size => decodeMultiple(size, 8)),
    slotsPerEpoch: field('slotsPerEpoch', decodeMultiple),
    epochsPerPeriod: field('epochsPerPeriod', decodeMultiple),
    secondsPerSlot: field('secondsPerSlot', decodeMultiple),
  })
}

function decodeMultiple(value: unknown, unit = 1): number {
  const count = decodeCount(value)
  if (count === 0 || count % unit !== 0) throw new ArgumentError({ expected: `a positive multiple of ${unit}` })
  return count
}

export function decodeCount(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new ArgumentError({ expected: 'an integer from 0 to 2^53 - 1' })
  }
  return value
}

export function forkAt(network: DecodedNetwork, slot: bigint) {
  const fork = network.source.forks.findLast(
    ({ epoch }) => epoch !== undefined && slot >= BigInt(epoch) * BigInt(network.preset.slotsPerEpoch),
  )
  const layout = layouts.get(fork?.name ?? '')
  if (fork === undefined || layout === undefined) {
    const found = `slot ${slot}, ${fork === undefined ? 'before Capella' : `in ${excerpt(fork.name)}`}`
    throw refusal('BEACON_FORK_UNKNOWN', 'a slot from Capella to Gloas', found)
  }
  return { name: fork.name, layout, version: hexToBytes(fork.version, 4) }
}

/**
 * The `version` next to the data proves nothing: the slot decides. But a name for which the table has no epoch shows that the
 * table is out of date. Then its last fork may not be the current one.
 */
export function verifyVersion({ source }: DecodedNetwork, version: string): void {
  const known = source.forks.filter(({ epoch }) => epoch !== undefined).map(({ name }) => name)
  if (![...EARLY_FORKS, ...known].includes(version)) {
    throw refusal('BEACON_FORK_UNKNOWN', 'a fork that the network has an epoch for', excerpt(version))
  }
}
