import { atPath, ProofError } from '../errors.ts'
import type { Shape } from '../json/known-fields.ts'
import { readerOf } from '../json/reader.ts'

/** The consensus part of a bundle as a document: only its shape. `./beacon` verifies what it proves. */

/** Proves an L1 block hash from a beacon block root: the answers of a beacon API, known fields only. */
export interface Consensus {
  /** A label for people, such as `mainnet`. It proves nothing. */
  network?: string
  /** `/eth/v1/beacon/light_client/bootstrap/{root}`. */
  bootstrap: unknown
  /** `/eth/v1/beacon/light_client/updates`: one per period since the checkpoint. About 57 kB each. */
  updates: unknown[]
  /** `/eth/v1/beacon/light_client/finality_update`; omitted if the last update proves the finalized block. */
  finality?: unknown
}

/** A {@link Consensus} whose parts have not been checked. */
export interface DecodedConsensus {
  readonly network: string | undefined
  readonly bootstrap: unknown
  readonly updates: unknown
  readonly finality: unknown
}

const reader = readerOf('EVIDENCE_MALFORMED')

/** @throws ProofError `EVIDENCE_MALFORMED` if a part is missing */
export function decodeConsensus(source: unknown): DecodedConsensus {
  const { network, bootstrap, updates, finality } = reader.fields(source, [
    'network',
    'bootstrap',
    'updates',
    'finality',
  ])
  const label = network === undefined ? undefined : atPath('network', () => reader.string(network))
  for (const [path, part] of Object.entries({ bootstrap, updates })) {
    if (part === undefined) throw new ProofError('EVIDENCE_MALFORMED', { path, found: 'nothing' })
  }
  return { network: label, bootstrap, updates, finality }
}

const TEXTS = { items: 'scalar' } as const
const COMMITTEE = { fields: { pubkeys: TEXTS, aggregate_pubkey: 'scalar' } } as const
const HEADER = {
  fields: {
    beacon: {
      fields: {
        slot: 'scalar',
        proposer_index: 'scalar',
        parent_root: 'scalar',
        state_root: 'scalar',
        body_root: 'scalar',
      },
    },
    // From Capella to Fulu. In Gloas, `execution_block_hash` takes its place.
    execution: {
      fields: {
        parent_hash: 'scalar',
        fee_recipient: 'scalar',
        state_root: 'scalar',
        receipts_root: 'scalar',
        logs_bloom: 'scalar',
        prev_randao: 'scalar',
        block_number: 'scalar',
        gas_limit: 'scalar',
        gas_used: 'scalar',
        timestamp: 'scalar',
        extra_data: 'scalar',
        base_fee_per_gas: 'scalar',
        block_hash: 'scalar',
        transactions_root: 'scalar',
        withdrawals_root: 'scalar',
        blob_gas_used: 'scalar',
        excess_blob_gas: 'scalar',
      },
    },
    execution_block_hash: 'scalar',
    execution_branch: TEXTS,
  },
} as const
const SIGNED = {
  attested_header: HEADER,
  finalized_header: HEADER,
  finality_branch: TEXTS,
  sync_aggregate: { fields: { sync_committee_bits: 'scalar', sync_committee_signature: 'scalar' } },
  signature_slot: 'scalar',
} as const
const UPDATE = { ...SIGNED, next_sync_committee: COMMITTEE, next_sync_committee_branch: TEXTS } as const

const BOOTSTRAP = { header: HEADER, current_sync_committee: COMMITTEE, current_sync_committee_branch: TEXTS } as const

/** The known fields of a beacon API's answers. */
export const BOOTSTRAP_SHAPE: Shape = { fields: { version: 'scalar', data: { fields: BOOTSTRAP } } }
export const UPDATES_SHAPE: Shape = { items: { fields: { version: 'scalar', data: { fields: UPDATE } } } }
export const FINALITY_SHAPE: Shape = { fields: { version: 'scalar', data: { fields: SIGNED } } }
export const CONSENSUS_SHAPE: Shape = {
  fields: { bootstrap: BOOTSTRAP_SHAPE, updates: UPDATES_SHAPE, finality: FINALITY_SHAPE },
}
