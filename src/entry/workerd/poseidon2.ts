/** What `rollup-state-proof/poseidon2` is for workerd: see `mimc.ts`. */
import { provideKernel } from '../../verify/hash/kernel.ts'
import { poseidon2Wasm } from '../../verify/hash/poseidon2/generated.ts'
import module from './poseidon2.wasm'
import './keccak.ts'

provideKernel(poseidon2Wasm, module)

export { poseidon2 } from '../poseidon2.ts'
