import { byteAt, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { createCache } from '../../provider/cache.ts'
import { MAINNET_PRESET, periodOf } from '../../verify/beacon/clock.ts'
import { signingRoot } from '../../verify/beacon/signature.ts'
import { type BeaconBlock, type BeaconChain, sparseBranch } from './beacon-chain.ts'
import { committeeOf } from './committee.ts'
import { MAX_REMEMBERED } from './limits.ts'

/** The light-client part of the beacon API. Each answer is null if there is none. */
export function createLightClientApi(chain: BeaconChain) {
  const kept = createCache<string, object>(MAX_REMEMBERED)
  /** The least recently used are evicted. */
  function remember(key: string, make: () => object): object {
    const answer = kept.get(key) ?? make()
    kept.delete(key)
    kept.set(key, answer, 1)
    return answer
  }

  /** The committee of the period of a block or of the next period, with its proof from the state of the block. */
  function describeCommittee({ slot, fork, state }: BeaconBlock, which: 'current' | 'next') {
    const { pubkeys, aggregate } = committeeOf(periodOf(chain.network, slot) + (which === 'next' ? 1 : 0))
    return {
      [`${which}_sync_committee`]: { pubkeys: pubkeys.map(bytesToHex), aggregate_pubkey: bytesToHex(aggregate) },
      [`${which}_sync_committee_branch`]: sparseBranch(state, fork.layout[`${which}Committee`]),
    }
  }

  /** An update: the attested header, the finalized one, and the signature in the next slot. */
  function attest(attested: BeaconBlock, finalized: BeaconBlock, isFinality: boolean): object {
    const { version, layout, name } = attested.fork
    const signatureSlot = attested.slot + 1n
    const signs = participation(attested)
    const message = signingRoot(hexToBytes(attested.root, 32), version, chain.network.genesisValidatorsRoot)
    const data = {
      attested_header: attested.lightHeader,
      ...(!isFinality && describeCommittee(attested, 'next')),
      finalized_header: finalized.lightHeader,
      finality_branch: sparseBranch(attested.state, layout.finalizedRoot),
      sync_aggregate: {
        sync_committee_bits: bytesToHex(bitsOf(signs)),
        sync_committee_signature: bytesToHex(committeeOf(periodOf(chain.network, signatureSlot)).sign(message, signs)),
      },
      signature_slot: `${signatureSlot}`,
    }
    return { version: name, data }
  }

  function newestOf(period?: number) {
    const attested = chain.attestedIn(period)
    return [attested, attested && chain.finalizedIn(attested.l1Block)] as const
  }

  return {
    /** The best update of a period: that of its newest attested block. Null if the finalized block is in another period. */
    update(period: number): object | null {
      const [attested, finalized] = newestOf(period)
      if (!attested || !finalized) return null
      if (periodOf(chain.network, attested.slot) !== period || periodOf(chain.network, finalized.slot) !== period)
        return null
      return remember(`update ${attested.root}`, () => attest(attested, finalized, false))
    },
    finalityUpdate(): object | null {
      const [attested, finalized] = newestOf()
      if (!attested || !finalized) return null
      return remember(`finality ${attested.root}`, () => attest(attested, finalized, true))
    },
    bootstrap(root: Hex): object | null {
      const block = chain.withRoot(root)
      if (block === undefined || !chain.isFinal(block)) return null
      return { version: block.fork.name, data: { header: block.lightHeader, ...describeCommittee(block, 'current') } }
    },
  }
}

/** Which members sign a block. Some are absent, but never so many that the signature is invalid. */
function participation({ slot, l1Block }: BeaconBlock): (index: number) => boolean {
  const absent = Number((l1Block.number + 1n) % 40n)
  return index => index % 13 !== Number(slot % 13n) || Math.floor(index / 13) >= absent
}

function bitsOf(signs: (index: number) => boolean): Uint8Array {
  const bits = new Uint8Array(MAINNET_PRESET.committeeSize / 8)
  for (let index = 0; index < MAINNET_PRESET.committeeSize; index++) {
    if (signs(index)) bits[index >> 3] = byteAt(bits, index >> 3) | (1 << (index & 7))
  }
  return bits
}
