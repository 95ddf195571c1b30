/** Writes the kernels as WebAssembly modules, which only the files in dist/workerd import: part of `npm run build`. */
import { writeFileSync } from 'node:fs'
import { mimcWasm } from '../../src/hash/mimc/generated.ts'
import { poseidon2Wasm } from '../../src/hash/poseidon2/generated.ts'

writeFileSync('dist/workerd/mimc.wasm', mimcWasm, 'base64')
writeFileSync('dist/workerd/poseidon2.wasm', poseidon2Wasm, 'base64')
