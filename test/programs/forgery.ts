import { type Hex, safely, verifyProof } from 'rollup-state-proof'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createWorld } from 'rollup-state-proof-devnet'

const address: Hex = `0x${'ab'.repeat(20)}`
const [honest, forger] = [createWorld(poseidon2), createWorld(poseidon2)]
honest.setAccount(address, { balance: 5n })
forger.setAccount(address, { balance: 5_000_000n })

/** What the verifier says to a proof from another state than the trusted one. */
export const outcome = safely(() =>
  verifyProof(forger.getProof(address), { scheme: poseidon2, stateRoot: honest.stateRoot(), address }),
)
