/**
 * Writes what the compiler does not, as a part of `npm run build`: the kernels as WebAssembly modules, which only the files in
 * dist/entry/workerd import, and the bundles of the other two packages. And it mends what the compiler wrote.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { keccakWasm } from '../../src/verify/hash/keccak/generated.ts'
import { mimcWasm } from '../../src/verify/hash/mimc/generated.ts'
import { poseidon2Wasm } from '../../src/verify/hash/poseidon2/generated.ts'
import { bundleCommand, bundleDevnet } from '../package/bundle.ts'
import { readApi } from './api.ts'
import { importPublic, keepReachable, omitDefaults } from './declarations.ts'

const TYPES = 'src/devnet/dist/types'

writeFileSync('dist/entry/workerd/keccak.wasm', keccakWasm, 'base64')
writeFileSync('dist/entry/workerd/mimc.wasm', mimcWasm, 'base64')
writeFileSync('dist/entry/workerd/poseidon2.wasm', poseidon2Wasm, 'base64')
await bundleCommand('src/cli')
await bundleDevnet('src/devnet')

const entryPoints = readApi().entryPoints.filter(({ file }) => file.startsWith('src/entry/'))
const doors = entryPoints.map(({ specifier, exports }) => exports.map(({ name }) => [name, specifier] as const))
// The first entry point that exports a name comes last, and stays.
importPublic(`${TYPES}/devnet`, new Map(doors.flat().reverse()))
keepReachable(TYPES, ['devnet/index.d.ts'])
keepReachable(
  'dist',
  entryPoints.map(({ file }) => file.replace(/^src\/(.*)\.ts$/, '$1.d.ts')),
)

for (const folder of ['dist', TYPES]) omitDefaults(folder)

// The compiler wraps the import of a name in a helper, which would change `.ts` to `.js`. Bundlers warn of the helper, or follow it.
const FILE = 'dist/provider/evm-packages.js'
const plain = readFileSync(FILE, 'utf8')
  .replace(/^var __rewriteRelativeImportExtension = .*?^};$/ms, '')
  .replace(/__rewriteRelativeImportExtension\(([^()]*)\)/g, '$1')
if (plain.includes('__') || !/import\([^()]*EVM\)/.test(plain)) throw new Error(`${FILE} is not as expected`)
writeFileSync(FILE, plain)
