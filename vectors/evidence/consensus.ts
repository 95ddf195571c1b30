import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import type { Hex } from '../../src/entry/index.ts'
import { createCommittee, createHeader, firstPeriodOf, forgetStates, network, sign } from '../beacon/chain.ts'

const fork = 'fulu'
const start = firstPeriodOf(fork) * 8192
const CHECKPOINT = start + 320
const SLOT = start + 928

/** The consensus part of a bundle, and what it proves. Made once, because creating a committee is slow. */
export interface MadeConsensus {
  readonly trusted: { beaconBlockRoot: Hex; network: typeof network }
  readonly consensus: { network: string; bootstrap: unknown; updates: unknown[]; finality: unknown }
  readonly beaconBlock: object
}

let made: { key: string; result: MadeConsensus } | undefined

/**
 * A checkpoint, and a finalized beacon block of the same period that holds this L1 block.
 *
 * @param validators how many the committee is drawn from, with replacement; left out: each member is another one
 */
export function makeConsensus(l1BlockHash: Hex, validators?: number): MadeConsensus {
  const key = `${l1BlockHash} ${validators}`
  if (made?.key === key) return structuredClone(made.result)
  forgetStates()
  const signers = createCommittee('a', 512, validators)
  const checkpoint = createHeader(fork, CHECKPOINT, { current: signers.keys })
  const finalized = createHeader(fork, SLOT, { l1BlockHash: hexToBytes(l1BlockHash, 32) })
  const attested = createHeader(fork, start + 1000, { finalizedRoot: finalized.root })
  const root = bytesToHex(checkpoint.root)
  const bootstrap = {
    header: checkpoint.json,
    current_sync_committee: signers.keys,
    current_sync_committee_branch: checkpoint.branches.current,
  }
  const finality = {
    attested_header: attested.json,
    finalized_header: finalized.json,
    finality_branch: attested.branches.finality,
    ...sign(attested, signers, { fork, slot: start + 1001, absent: [7] }),
  }
  const quantity = (value: number) => `0x${value.toString(16)}`
  const result: MadeConsensus = {
    trusted: { beaconBlockRoot: root, network },
    consensus: {
      network: network.name,
      bootstrap: { version: fork, data: bootstrap },
      updates: [],
      finality: { version: fork, data: finality },
    },
    beaconBlock: {
      trustedBlockRoot: root,
      trustedSlotTimestamp: quantity(network.genesisTime + 12 * CHECKPOINT),
      blockRoot: bytesToHex(finalized.root),
      slot: quantity(SLOT),
      slotTimestamp: quantity(network.genesisTime + 12 * SLOT),
      signers: 511,
      period: firstPeriodOf(fork),
    },
  }
  made = { key, result: structuredClone(result) }
  return result
}
