import type { Committee } from '../beacon/committee.ts'
import type { BeaconNetwork } from '../beacon/network.ts'
import type { Hex } from '../bytes.ts'
import { argumentInvalid, readOptions } from './options.ts'

/** The state of following a beacon chain: plain JSON, about 53 kB. Whoever can change it controls what is trusted next. */
export interface BeaconState {
  /** The version of this format. */
  version: 1
  /** The committee that signed for the finalized block, or that of the checkpoint. */
  committee: Committee
  /** The newest proven finalized block, or the checkpoint. */
  finalized: {
    /** Hash of the L1 block in it, 32 bytes. */
    l1BlockHash: Hex
    /** Root of the beacon block, 32 bytes. */
    blockRoot: Hex
    /** Decimal. */
    slot: string
    /** When the slot began, in seconds since 1970. Decimal. */
    slotTimestamp: string
  }
}

/** A proven block, and the committee to continue with. */
export interface KnownBlock {
  readonly committee: Committee
  readonly l1BlockHash: Hex
  readonly blockRoot: Hex
  readonly slot: bigint
  readonly slotTimestamp: bigint
}

export function writeBeaconState({ committee, l1BlockHash, blockRoot, slot, slotTimestamp }: KnownBlock): BeaconState {
  const finalized = { l1BlockHash, blockRoot, slot: `${slot}`, slotTimestamp: `${slotTimestamp}` }
  return { version: 1, committee, finalized }
}

/** Uses the caller's network, whose fork table may have grown since. The committee is verified when it is used. */
export function readBeaconState(state: BeaconState, network: BeaconNetwork): KnownBlock {
  const { version, committee, finalized } = readOptions('state', state, ['version', 'committee', 'finalized'])
  if (version !== 1) throw argumentInvalid('state.version', '1', version)
  const names = ['l1BlockHash', 'blockRoot', 'slot', 'slotTimestamp'] as const
  const { l1BlockHash, blockRoot, slot, slotTimestamp } = readOptions('state.finalized', finalized, names)
  const verify = (name: string, text: string, form: RegExp, expected: string) => {
    if (typeof text !== 'string' || !form.test(text)) throw argumentInvalid(`state.finalized.${name}`, expected, text)
  }
  for (const [name, hash] of Object.entries({ l1BlockHash, blockRoot })) {
    verify(name, hash, /^0x[0-9a-f]{64}$/, 'hexadecimal of 32 bytes')
  }
  for (const [name, number] of Object.entries({ slot, slotTimestamp })) {
    verify(name, number, /^\d{1,20}$/, 'a decimal number')
  }
  const fields = ['network', 'period', 'root', 'pubkeys', 'aggregatePubkey']
  const stored = { ...readOptions('state.committee', committee, fields), network }
  if (!isSame(committee.network, network)) throw argumentInvalid('state', 'one of the same network', state)
  return { committee: stored, l1BlockHash, blockRoot, slot: BigInt(slot), slotTimestamp: BigInt(slotTimestamp) }
}

const isSame = (a: BeaconNetwork, b: BeaconNetwork): boolean =>
  a?.genesisValidatorsRoot?.toLowerCase?.() === b?.genesisValidatorsRoot?.toLowerCase?.()
