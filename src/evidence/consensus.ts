import { ProofError } from '../errors.ts'
import { optional, unread } from '../json/decoders.ts'
import type { Shape } from '../json/known-fields.ts'
import { readerOf } from '../json/reader.ts'

/** The consensus part of a bundle as a document: only its shape. `./beacon` verifies what it proves. */

/** Proves an L1 block hash from a beacon block root: the answers of a beacon API, known fields only. */
export interface BundleConsensus {
  /** A label for people, such as `mainnet`. It proves nothing. */
  network?: string
  /** `/eth/v1/beacon/light_client/bootstrap/{root}`. */
  bootstrap: unknown
  /** `/eth/v1/beacon/light_client/updates`: one per period since the checkpoint. About 57 kB each. */
  updates: unknown[]
  /** `/eth/v1/beacon/light_client/finality_update`; omitted if the last update proves the finalized block. */
  finality?: unknown
}

const reader = readerOf('EVIDENCE_MALFORMED')

/** Reads the parts, of which none has been checked but the label. @throws ProofError `EVIDENCE_MALFORMED` if one is missing */
export function decodeConsensus(source: unknown) {
  const field = reader.fieldsOf(source, ['network', 'bootstrap', 'updates', 'finality'])
  return {
    network: field('network', optional(reader.string)),
    bootstrap: field('bootstrap', verifyGiven),
    updates: field('updates', verifyGiven),
    finality: field('finality', unread),
  }
}

function verifyGiven(part: unknown): unknown {
  if (part === undefined) throw new ProofError('EVIDENCE_MALFORMED', { found: 'nothing' })
  return part
}

/** The fields of an execution payload header in their order, with the lengths or types of their values. From Capella to Fulu. */
export const EXECUTION_FIELDS = [
  ['parent_hash', 32],
  ['fee_recipient', 20],
  ['state_root', 32],
  ['receipts_root', 32],
  ['logs_bloom', 256],
  ['prev_randao', 32],
  ['block_number', 'uint64'],
  ['gas_limit', 'uint64'],
  ['gas_used', 'uint64'],
  ['timestamp', 'uint64'],
  ['extra_data', 'extra'],
  ['base_fee_per_gas', 'uint256'],
  ['block_hash', 32],
  ['transactions_root', 32],
  ['withdrawals_root', 32],
  // Since Deneb.
  ['blob_gas_used', 'uint64'],
  ['excess_blob_gas', 'uint64'],
] as const
/** The fields of a beacon block header, in their order. */
export const BEACON_FIELDS = ['slot', 'proposer_index', 'parent_root', 'state_root', 'body_root'] as const

const scalars = (names: readonly string[]): Shape => ({
  fields: Object.fromEntries(names.map(name => [name, 'scalar'] as const)),
})
const answer = (data: Readonly<Record<string, Shape>>): Shape => ({
  fields: { version: 'scalar', data: { fields: data } },
})

const TEXTS: Shape = { items: 'scalar' }
const COMMITTEE: Shape = { fields: { pubkeys: TEXTS, aggregate_pubkey: 'scalar' } }
const HEADER: Shape = {
  fields: {
    beacon: /* @__PURE__ */ scalars(BEACON_FIELDS),
    // In Gloas, `execution_block_hash` takes its place.
    execution: /* @__PURE__ */ scalars(/* @__PURE__ */ EXECUTION_FIELDS.map(([name]) => name)),
    execution_block_hash: 'scalar',
    execution_branch: TEXTS,
  },
}
const SIGNED: Readonly<Record<string, Shape>> = {
  attested_header: HEADER,
  finalized_header: HEADER,
  finality_branch: TEXTS,
  sync_aggregate: /* @__PURE__ */ scalars(['sync_committee_bits', 'sync_committee_signature']),
  signature_slot: 'scalar',
}

/** The known fields of a beacon API's answers. */
export const BOOTSTRAP_SHAPE: Shape = /* @__PURE__ */ answer({
  header: HEADER,
  current_sync_committee: COMMITTEE,
  current_sync_committee_branch: TEXTS,
})
export const UPDATES_SHAPE: Shape = {
  items: /* @__PURE__ */ answer({ ...SIGNED, next_sync_committee: COMMITTEE, next_sync_committee_branch: TEXTS }),
}
export const FINALITY_SHAPE: Shape = /* @__PURE__ */ answer(SIGNED)
export const CONSENSUS_SHAPE: Shape = {
  fields: { bootstrap: BOOTSTRAP_SHAPE, updates: UPDATES_SHAPE, finality: FINALITY_SHAPE },
}
