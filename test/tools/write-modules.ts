/**
 * Writes what the compiler does not, as a part of `npm run build`: the kernels as WebAssembly modules, which only the files in
 * dist/workerd import, and the command.
 */
import { writeFileSync } from 'node:fs'
import { mimcWasm } from '../../src/hash/mimc/generated.ts'
import { poseidon2Wasm } from '../../src/hash/poseidon2/generated.ts'
import { bundleCommand } from '../package/command.ts'

writeFileSync('dist/workerd/mimc.wasm', mimcWasm, 'base64')
writeFileSync('dist/workerd/poseidon2.wasm', poseidon2Wasm, 'base64')
await bundleCommand('dist')
