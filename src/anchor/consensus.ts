import { atPath, ProofError } from '../errors.ts'
import { readerOf } from './read.ts'

/** The consensus part of a bundle as a document: its shape alone. What it proves is for `./beacon` to say. */

/** What leads from a beacon block root to an L1 block hash: the answers of a beacon API, known fields only. */
export interface Consensus {
  /** A label for people, such as `mainnet`. It proves nothing. */
  network?: string
  /** `/eth/v1/beacon/light_client/bootstrap/{root}`. */
  bootstrap: unknown
  /** `/eth/v1/beacon/light_client/updates`: one per period since. About 50 kB each. */
  updates: unknown[]
  /** `/eth/v1/beacon/light_client/finality_update`; left out when the last update says what is finalized. */
  finality?: unknown
}

/** A {@link Consensus} whose parts have not been looked at. */
export interface DecodedConsensus {
  readonly network: string | undefined
  readonly bootstrap: unknown
  readonly updates: unknown
  readonly finality: unknown
}

const reader = readerOf('EVIDENCE_MALFORMED')

/** @throws ProofError `EVIDENCE_MALFORMED` when a part is missing */
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

/** A text, an array of texts, or an object of fields that have their own shapes. */
type Shape = 'text' | 'texts' | { readonly [name: string]: Shape }

const texts = (...names: string[]): { readonly [name: string]: Shape } =>
  Object.fromEntries(names.map(name => [name, 'text' as const]))

const committee: Shape = { pubkeys: 'texts', aggregate_pubkey: 'text' }

function headerShape(): Shape {
  return {
    beacon: texts('slot', 'proposer_index', 'parent_root', 'state_root', 'body_root'),
    // Of the forks from Capella to Fulu; in Gloas there is a hash in its place.
    execution: texts(
      ...['parent_hash', 'fee_recipient', 'state_root', 'receipts_root', 'logs_bloom', 'prev_randao', 'block_number'],
      ...['gas_limit', 'gas_used', 'timestamp', 'extra_data', 'base_fee_per_gas', 'block_hash', 'transactions_root'],
      ...['withdrawals_root', 'blob_gas_used', 'excess_blob_gas'],
    ),
    execution_block_hash: 'text',
    execution_branch: 'texts',
  }
}

const bootstrapData = (): Shape => ({
  header: headerShape(),
  current_sync_committee: committee,
  current_sync_committee_branch: 'texts',
})

const finalityData = () => ({
  attested_header: headerShape(),
  finalized_header: headerShape(),
  finality_branch: 'texts' as const,
  sync_aggregate: texts('sync_committee_bits', 'sync_committee_signature'),
  signature_slot: 'text' as const,
})

const updateData = (): Shape => ({
  ...finalityData(),
  next_sync_committee: committee,
  next_sync_committee_branch: 'texts',
})

const inEnvelope = (data: Shape): Shape => ({ version: 'text', data })

/** More than anything here has: bounds the work. */
const MAX_ITEMS = 512

function verifyCount(count: number): void {
  if (count > MAX_ITEMS) {
    throw new ProofError('EVIDENCE_MALFORMED', { expected: `at most ${MAX_ITEMS}`, found: `${count}` })
  }
}

/** A copy that has the fields of the shape, as far as they are there, and no others. */
function copy(source: unknown, shape: Shape): unknown {
  if (shape === 'text') return reader.string(source)
  if (shape === 'texts') return reader.items(source, verifyCount, item => reader.string(item))
  const names = Object.keys(shape)
  const fields = reader.fields(source, names)
  return Object.fromEntries(
    names.flatMap(name => {
      const [value, inner] = [fields[name], shape[name]]
      return value === undefined || inner === undefined ? [] : [[name, atPath(name, () => copy(value, inner))]]
    }),
  )
}

/** The canonical document of what a beacon API answered. @throws ProofError `EVIDENCE_MALFORMED` */
export function spellConsensus(source: unknown): Consensus {
  const { network, bootstrap, updates, finality } = decodeConsensus(source)
  return {
    ...(network !== undefined && { network }),
    bootstrap: atPath('bootstrap', () => copy(bootstrap, inEnvelope(bootstrapData()))),
    updates: atPath('updates', () =>
      reader.items(updates, verifyCount, update => copy(update, inEnvelope(updateData()))),
    ),
    ...(finality !== undefined && { finality: atPath('finality', () => copy(finality, inEnvelope(finalityData()))) }),
  }
}
