import { atPath, ProofError } from '../../base/errors.ts'
import { atMost, optional, unread } from '../../base/json/decoders.ts'
import { type Shape, scalars } from '../../base/json/known-fields.ts'
import { readOptions } from '../../base/options.ts'
import { BEACON_FIELDS, EXECUTION_FIELDS } from '../beacon/fields.ts'
import { MAX_UPDATES } from '../beacon/limits.ts'
import type { ConsensusAnswers } from '../beacon/verify.ts'
import { knownFields, reader } from './fields.ts'

/** Proves an L1 block hash from a beacon block root: the answers of a beacon API, known fields only. */
export interface BundleConsensus {
  /** A label for people, such as `mainnet`. It proves nothing. */
  network?: string | undefined
  /** `/eth/v1/beacon/light_client/bootstrap/{root}`. */
  bootstrap: unknown
  /** `/eth/v1/beacon/light_client/updates`: one per period since the trusted block. About 57 kB each. */
  updates: unknown[]
  /** `/eth/v1/beacon/light_client/finality_update`; omitted if the last update proves the finalized block. */
  finality?: unknown
}

const CONSENSUS_FIELDS = ['network', 'bootstrap', 'updates', 'finality'] as const

/** Reads the parts, of which none has been checked but the label. @throws ProofError `EVIDENCE_MALFORMED` if one is missing */
export function decodeConsensus(source: unknown) {
  const field = reader.fieldsOf(source, CONSENSUS_FIELDS)
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
export const UPDATE_SHAPE: Shape = /* @__PURE__ */ answer({
  ...SIGNED,
  next_sync_committee: COMMITTEE,
  next_sync_committee_branch: TEXTS,
})
export const FINALITY_SHAPE: Shape = /* @__PURE__ */ answer(SIGNED)

/** Keeps the known fields of what a beacon API answered. @throws ArgumentError; ProofError `EVIDENCE_MALFORMED` */
export function encodeConsensus(source: ConsensusAnswers & Pick<BundleConsensus, 'network'>): BundleConsensus {
  const own = readOptions('consensus', source, CONSENSUS_FIELDS)
  const { network, bootstrap, updates, finality } = atPath('consensus', () => decodeConsensus(own))
  // Here numbers are decimal, and forks have names.
  const copy = (path: string, answer: unknown, shape: Shape) =>
    knownFields(path, answer, shape, 1, /^(0x[0-9a-f]*|\d{1,78}|[a-z]{1,32})$/i)
  const copyUpdates = () =>
    reader.items(updates, atMost('EVIDENCE_MALFORMED', MAX_UPDATES), update => copy('', update, UPDATE_SHAPE))
  return {
    ...(network !== undefined && { network }),
    bootstrap: copy('consensus.bootstrap', bootstrap, BOOTSTRAP_SHAPE),
    updates: atPath('consensus.updates', copyUpdates),
    ...(finality !== undefined && { finality: copy('consensus.finality', finality, FINALITY_SHAPE) }),
  }
}
