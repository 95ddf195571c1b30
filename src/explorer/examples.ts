/** A vector that the page offers as an example. */
export interface ExampleSource {
  readonly group: string
  readonly title: string
  /** Relative to `vectors/`. */
  readonly path: string
  /** The proof to show: 0 is the account's, 1 the first slot's. */
  readonly proof?: number
  /** Whether the page opens with it. */
  readonly isStart?: boolean
}

const verified = 'Verified'
const refused = 'Forged or wrong: refused'
const bundles = 'Evidence bundles'

export const exampleSources: readonly ExampleSource[] = [
  { group: verified, title: 'Contract with slots', path: 'poseidon2/valid/contract-slots-mixed.json' },
  { group: verified, title: 'Absent slot', path: 'poseidon2/valid/contract-slot-absent-between.json', proof: 1 },
  { group: verified, title: 'Absent account', path: 'poseidon2/valid/absent-account-between.json' },
  { group: verified, title: 'Absent account after HEAD', path: 'poseidon2/valid/absent-account-after-head.json' },
  { group: verified, title: 'Leaf index above 2^32', path: 'poseidon2/valid/leaf-index-above-2-32.json' },
  { group: verified, title: 'mimc: contract', path: 'mimc/valid/contract-one-slot.json' },
  { group: verified, title: 'mimc: absent account before TAIL', path: 'mimc/valid/absent-account-before-tail.json' },
  { group: refused, title: 'Inner node altered', path: 'poseidon2/invalid/inner-node-altered.json' },
  { group: refused, title: 'Root of another block', path: 'poseidon2/invalid/state-root-of-another-block.json' },
  { group: refused, title: 'Key raised by the modulus', path: 'poseidon2/invalid/neighbour-key-lifted-left-0.json' },
  { group: refused, title: 'Neighbours with a leaf between', path: 'poseidon2/invalid/neighbours-not-adjacent.json' },
  { group: refused, title: 'Key in another gap', path: 'poseidon2/invalid/key-in-another-gap.json' },
  { group: refused, title: 'Node not canonical', path: 'poseidon2/invalid/element-lifted-inner-middle.json' },
  { group: refused, title: 'Slot missing', path: 'poseidon2/invalid/storage-proof-one-null.json' },
  { group: refused, title: 'eth_getProof answer', path: 'poseidon2/invalid/eth-get-proof.json' },
  { group: refused, title: 'mimc: slot value altered', path: 'mimc/invalid/slot-value-altered.json' },
  { group: refused, title: 'mimc: slot of another account', path: 'mimc/invalid/slot-of-another-account.json' },
  { group: bundles, title: 'From an L1 block hash', path: 'evidence/valid/poseidon2-block-hash.json', isStart: true },
  { group: bundles, title: 'mimc: from an L2 state root', path: 'evidence/valid/mimc-l2-root.json' },
  { group: bundles, title: 'Forged L1 header', path: 'evidence/invalid/header-forged-state.json' },
  { group: bundles, title: 'L1 node altered', path: 'evidence/invalid/node-altered.json' },
]
