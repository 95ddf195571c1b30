/** Keccak, which every kind of evidence uses, comes to workerd with either scheme: see `mimc.ts`. */
import { keccakWasm } from '../../verify/hash/keccak/generated.ts'
import { provideKernel } from '../../verify/hash/kernel.ts'
import module from './keccak.wasm'

provideKernel(keccakWasm, module)
