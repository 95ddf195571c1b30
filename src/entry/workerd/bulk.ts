/** What `rollup-state-proof/bulk`, which finds the scheme by its name, is for workerd: see `mimc.ts`. */
import './mimc.ts'
import './poseidon2.ts'

export * from '../bulk.ts'
