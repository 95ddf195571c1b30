/**
 * Writes what the compiler does not, as a part of `npm run build`: the kernels as WebAssembly modules, which only the files in
 * dist/entry/workerd import, and the command. And it mends one file.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { keccakWasm } from '../../src/verify/hash/keccak/generated.ts'
import { mimcWasm } from '../../src/verify/hash/mimc/generated.ts'
import { poseidon2Wasm } from '../../src/verify/hash/poseidon2/generated.ts'
import { bundleCommand } from '../package/command.ts'

writeFileSync('dist/entry/workerd/keccak.wasm', keccakWasm, 'base64')
writeFileSync('dist/entry/workerd/mimc.wasm', mimcWasm, 'base64')
writeFileSync('dist/entry/workerd/poseidon2.wasm', poseidon2Wasm, 'base64')
await bundleCommand('dist')

// The compiler wraps the import of a name in a helper, which would change `.ts` to `.js`. Bundlers warn of the helper, or follow it.
const FILE = 'dist/provider/evm-packages.js'
const plain = readFileSync(FILE, 'utf8')
  // The map of the file counts lines.
  .replace(/^var __rewriteRelativeImportExtension = .*?^};$/ms, helper => helper.replace(/./g, ''))
  .replace(/__rewriteRelativeImportExtension\(([^()]*)\)/g, '$1')
if (plain.includes('__') || !/import\([^()]*EVM\)/.test(plain)) throw new Error(`${FILE} is not as expected`)
writeFileSync(FILE, plain)
