/** A vector that the page offers as an example. */
export interface ExampleSource {
  readonly group: string
  readonly title: string
  /** Relative to `vectors/`. A vector that is a list of changes needs its base among the examples. */
  readonly path: string
  /** The proof to show: 0 is the account's, 1 the first slot's. */
  readonly proof?: number
  readonly isStart?: boolean
}

const answers = 'An answer of a server'
const bundles = 'From L1 down to a slot'
const others = 'More than a state'
const refused = 'Forged or wrong: refused'

export const exampleSources: readonly ExampleSource[] = [
  { group: bundles, title: 'From an L1 block hash', path: 'evidence/valid/poseidon2-block-hash.json', isStart: true },
  {
    group: bundles,
    title: 'From a beacon checkpoint',
    path: 'evidence/valid/poseidon2-beacon-repeated-validators.json',
  },
  { group: bundles, title: 'Block hashes on L1', path: 'evidence/valid/ethereum-block-hash.json' },
  { group: bundles, title: 'mimc: from an L2 state root', path: 'evidence/valid/mimc-l2-root.json' },
  { group: answers, title: 'Contract with slots', path: 'poseidon2/valid/contract-slots-mixed.json' },
  { group: answers, title: 'Absent slot', path: 'poseidon2/valid/contract-slot-absent-between.json', proof: 1 },
  { group: answers, title: 'Absent account', path: 'poseidon2/valid/absent-account-between.json' },
  { group: answers, title: 'Leaf index above 2^32', path: 'poseidon2/valid/leaf-index-above-2-32.json' },
  { group: others, title: 'Logs of a range of blocks', path: 'logs/valid/transfers-poseidon2.json' },
  { group: others, title: 'Message from L2', path: 'messages/valid/evidence-from-l2.json' },
  { group: others, title: 'Message to L2', path: 'messages/valid/evidence-to-l2.json' },
  { group: others, title: 'State diff of a range of blocks', path: 'transitions/valid/poseidon2-history.json' },
  { group: refused, title: 'Inner node altered', path: 'poseidon2/invalid/inner-node-altered.json' },
  { group: refused, title: 'Root of another block', path: 'poseidon2/invalid/state-root-of-another-block.json' },
  { group: refused, title: 'Key raised by the modulus', path: 'poseidon2/invalid/neighbour-key-lifted-left-0.json' },
  { group: refused, title: 'Neighbours with a leaf between', path: 'poseidon2/invalid/neighbours-not-adjacent.json' },
  { group: refused, title: 'Key in another gap', path: 'poseidon2/invalid/key-in-another-gap.json' },
  { group: refused, title: 'eth_getProof answer', path: 'poseidon2/invalid/eth-get-proof.json' },
  { group: refused, title: 'Forged L1 header', path: 'evidence/invalid/header-forged-state.json' },
  { group: refused, title: 'Log left out', path: 'logs/invalid/log-left-out.json' },
  { group: refused, title: 'Message of another tree', path: 'messages/invalid/evidence-place-of-another.json' },
]
