/**
 * Writes ../<scheme>/generated.ts: the round constants, which would take 20 ms of cold keccak at run time, and the compiled
 * kernel as base64. With `--check`, compares instead. The compiler's output is the same on every machine.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BLS12377_ORDER } from '../../field/bls12377.ts'
import { KOALABEAR_ORDER } from '../../field/koalabear.ts'
import { roundConstants } from '../constants.ts'

const FLAGS = ['--runtime', 'stub', '--enable', 'simd', '-O3', '--noAssert', '--converge']
const folder = fileURLToPath(new URL('.', import.meta.url))
const compiler = fileURLToPath(new URL('../../../node_modules/assemblyscript/bin/asc.js', import.meta.url))
const isCheck = process.argv.includes('--check')

const schemes = {
  mimc: { seed: 'seed', order: BLS12377_ORDER, count: 62, suffix: 'n' },
  // 16 keys for each of 6 full rounds, one for each of 21 partial ones.
  poseidon2: {
    seed: 'Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]',
    order: BigInt(KOALABEAR_ORDER),
    count: 117,
    suffix: '',
  },
}

for (const [scheme, { seed, order, count, suffix }] of Object.entries(schemes)) {
  const target = join(folder, '..', scheme, 'generated.ts')
  const chain = roundConstants(seed, order)
  const constants = Array.from({ length: count }, () => `0x${chain.next().value.toString(16)}${suffix}`)
  const compiled = moduleOf(scheme, constants, compile(scheme))
  if (!isCheck) writeFileSync(target, compiled)
  else if (readFileSync(target, 'utf8') !== compiled) {
    console.error(`${scheme}/generated.ts is not what this script makes: run npm run generate`)
    process.exitCode = 1
  }
  console.log(`${scheme}: ${compiled.length} characters`)
}

function compile(scheme: string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'kernels-'))
  try {
    const binary = join(temporary, 'kernel.wasm')
    // Run in the folder, so that no path of this machine gets into the binary.
    execFileSync(process.execPath, [compiler, `${scheme}.ts`, '-o', binary, ...FLAGS], {
      cwd: folder,
      stdio: 'inherit',
    })
    return readFileSync(binary).toString('base64')
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

function moduleOf(scheme: string, constants: readonly string[], base64: string): string {
  return `// Written by \`npm run generate\`: do not edit.

/** The round constants, in the order of their use. */
export const ${scheme}Constants = [
${constants.map(constant => `  ${constant},`).join('\n')}
] as const

/** assembly/${scheme}.ts, compiled. */
export const ${scheme}Wasm =
  '${base64}'
`
}
