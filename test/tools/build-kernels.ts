/**
 * Writes src/verify/hash/<scheme>/constants.ts, the round constants, which would take 20 ms of cold keccak at run time, and
 * src/verify/hash/<hash>/generated.ts, the compiled kernel as base64. With `--check`, compares instead. The compiler's output is the same on
 * every machine.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BLS12377_ORDER } from '../../src/verify/field/bls12377.ts'
import { KOALABEAR_ORDER } from '../../src/verify/field/koalabear.ts'
import { roundConstants } from './round-constants.ts'

const FLAGS = ['--runtime', 'stub', '--enable', 'simd', '-O3', '--noAssert', '--converge']
const folder = fileURLToPath(new URL('../../src/verify/hash/', import.meta.url))
const compiler = fileURLToPath(new URL('../upkeep/node_modules/assemblyscript/bin/asc.js', import.meta.url))
const isCheck = process.argv.includes('--check')

const schemes = {
  mimc: { seed: 'seed', order: BLS12377_ORDER, count: 62, digits: 64, suffix: 'n', inRow: 2 },
  // 16 keys for each of 6 full rounds, one for each of 21 partial ones.
  poseidon2: {
    seed: 'Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]',
    order: BigInt(KOALABEAR_ORDER),
    count: 117,
    ...{ digits: 8, suffix: '', inRow: 9 },
  },
}

for (const [scheme, { seed, order, count, digits, suffix, inRow }] of Object.entries(schemes)) {
  const chain = roundConstants(seed, order)
  const constants = Array.from(
    { length: count },
    () => `0x${chain.next().value.toString(16).padStart(digits, '0')}${suffix}`,
  )
  const rows = constants.flatMap((_, index) => (index % inRow === 0 ? [constants.slice(index, index + inRow)] : []))
  write(
    scheme,
    'constants.ts',
    '/** The round constants, in the order of their use. */',
    `${scheme}Constants = [
${rows.map(row => `  ${row.join(', ')},`).join('\n')}
] as const`,
  )
}

for (const hash of ['keccak', ...Object.keys(schemes)]) {
  write(
    hash,
    'generated.ts',
    `/** assembly/${hash}.ts, compiled. */`,
    `${hash}Wasm =
  '${compile(hash)}'`,
  )
}

function write(hash: string, file: string, comment: string, declaration: string): void {
  const target = join(folder, hash, file)
  const text = `// Written by \`npm run generate\`: do not edit.

${comment}
export const ${declaration}
`
  if (!isCheck) writeFileSync(target, text)
  else if (readFileSync(target, 'utf8') !== text) {
    console.error(`${hash}/${file} is not what this script makes: run npm run generate`)
    process.exitCode = 1
  }
  console.log(`${hash}/${file}: ${text.length} characters`)
}

function compile(hash: string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'kernels-'))
  try {
    const binary = join(temporary, 'kernel.wasm')
    // Run in the folder, so that no path of this machine gets into the binary.
    execFileSync(process.execPath, [compiler, `${hash}.ts`, '-o', binary, ...FLAGS], {
      cwd: join(folder, 'assembly'),
      stdio: 'inherit',
    })
    return readFileSync(binary).toString('base64')
  } finally {
    rmSync(temporary, { recursive: true })
  }
}
