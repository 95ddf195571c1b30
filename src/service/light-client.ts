import { COMMITTEE_SIZE } from '../beacon/decode.ts'
import { periodOf } from '../beacon/network.ts'
import { signingRoot } from '../beacon/signature.ts'
import { byteAt, bytesToHex, type Hex } from '../bytes.ts'
import { type BeaconBlock, describeHeader } from './beacon-block.ts'
import type { BeaconChain } from './beacon-chain.ts'
import type { Committee } from './committee.ts'
import { MAX_REMEMBERED } from './limits.ts'
import { sparseBranch } from './ssz.ts'

/** The light-client part of the beacon API. Each answer is null if there is none. */
export function createLightClientApi(chain: BeaconChain) {
  const remember = createCache()

  /** The signed part of an update: the attested header, the finalized one, and the signature in the next slot. */
  function attest(attested: BeaconBlock, finalized: BeaconBlock) {
    const signatureSlot = attested.slot + 1n
    const committee = chain.committeeOf(periodOf(signatureSlot))
    const signs = participation(attested)
    const message = signingRoot(attested.root, attested.fork.version, chain.network.genesisValidatorsRoot)
    return {
      attested_header: describeHeader(attested),
      finalized_header: describeHeader(finalized),
      finality_branch: sparseBranch(attested.state, attested.fork.layout.finalizedRoot).map(bytesToHex),
      sync_aggregate: {
        sync_committee_bits: bytesToHex(bitsOf(signs)),
        sync_committee_signature: bytesToHex(committee.sign(message, signs)),
      },
      signature_slot: `${signatureSlot}`,
    }
  }

  return {
    /** The best update of a period: that of its newest attested block. Null if the finalized block is in another period. */
    update(period: number): object | null {
      const attested = chain.attestedIn(period)
      const finalized = attested && chain.finalizedIn(attested.l1Block)
      if (!attested || !finalized) return null
      if (periodOf(attested.slot) !== period || periodOf(finalized.slot) !== period) return null
      const { name, layout } = attested.fork
      return remember(`update ${bytesToHex(attested.root)}`, () => {
        const { attested_header, ...rest } = attest(attested, finalized)
        return {
          version: name,
          data: {
            attested_header,
            next_sync_committee: describeCommittee(chain.committeeOf(period + 1)),
            next_sync_committee_branch: sparseBranch(attested.state, layout.nextCommittee).map(bytesToHex),
            ...rest,
          },
        }
      })
    },
    finalityUpdate(): object | null {
      const attested = chain.preview()
      const finalized = chain.finalizedIn(attested.l1Block)
      if (!finalized) return null
      return remember(`finality ${bytesToHex(attested.root)}`, () => ({
        version: attested.fork.name,
        data: attest(attested, finalized),
      }))
    },
    bootstrap(root: Hex): object | null {
      const block = chain.at(chain.numberOf(root) ?? -1n)
      if (block === undefined || !chain.isFinal(block)) return null
      const { name, layout } = block.fork
      return {
        version: name,
        data: {
          header: describeHeader(block),
          current_sync_committee: describeCommittee(chain.committeeOf(periodOf(block.slot))),
          current_sync_committee_branch: sparseBranch(block.state, layout.currentCommittee).map(bytesToHex),
        },
      }
    },
  }
}

/** Which members sign a block. Some are absent, but never so many that the signature is invalid. */
function participation({ slot, l1Block }: BeaconBlock): (index: number) => boolean {
  const absent = Number((l1Block.number + 1n) % 40n)
  return index => index % 13 !== Number(slot % 13n) || Math.floor(index / 13) >= absent
}

function bitsOf(signs: (index: number) => boolean): Uint8Array {
  const bits = new Uint8Array(COMMITTEE_SIZE / 8)
  for (let index = 0; index < COMMITTEE_SIZE; index++) {
    if (signs(index)) bits[index >> 3] = byteAt(bits, index >> 3) | (1 << (index & 7))
  }
  return bits
}

const describeCommittee = ({ pubkeys, aggregate }: Committee) => ({
  pubkeys: pubkeys.map(bytesToHex),
  aggregate_pubkey: bytesToHex(aggregate),
})

/** A cache of answers that evicts the least recently used. */
function createCache(): (key: string, make: () => object) => object {
  const kept = new Map<string, object>()
  return (key, make) => {
    const answer = kept.get(key) ?? make()
    kept.delete(key)
    kept.set(key, answer)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_REMEMBERED) break
      kept.delete(oldest)
    }
    return answer
  }
}
