import { own } from '../../base/errors.ts'

/** The constants of a consensus network: how many sign, and how its time is divided. */
export interface BeaconPreset {
  /** Members of a sync committee, a multiple of 8. */
  committeeSize: number
  /** A fork begins with an epoch. */
  slotsPerEpoch: number
  /** A sync committee signs for one period. */
  epochsPerPeriod: number
  /** The length of a slot. */
  secondsPerSlot: number
}

/** That of Ethereum mainnet and its test networks. */
export const MAINNET_PRESET: Readonly<BeaconPreset> = {
  committeeSize: 512,
  slotsPerEpoch: 32,
  epochsPerPeriod: 256,
  secondsPerSlot: 12,
}

/** A network, as far as its time is concerned. */
interface Clocked {
  readonly preset?: BeaconPreset | undefined
}

/** The preset of a network, with the number of slots in a period. */
export function clockOf(network: Clocked) {
  const { preset = MAINNET_PRESET } = own(network)
  return { ...preset, slotsPerPeriod: preset.slotsPerEpoch * preset.epochsPerPeriod }
}

/** The sync-committee period of a slot. */
export const periodOf = (network: Clocked, slot: bigint): number =>
  Number(slot / BigInt(clockOf(network).slotsPerPeriod))
