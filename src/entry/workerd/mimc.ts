/**
 * What `rollup-state-proof/mimc` is for workerd, which compiles WebAssembly only while it loads a program: the kernel is a
 * module of the program, which the build writes next to this file.
 */
import { provideKernel } from '../../verify/hash/kernel.ts'
import { mimcWasm } from '../../verify/hash/mimc/generated.ts'
import module from './mimc.wasm'
import './keccak.ts'

provideKernel(mimcWasm, module)

export { mimc } from '../mimc.ts'
