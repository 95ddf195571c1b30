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
