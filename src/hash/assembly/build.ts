/**
 * Compiles the kernels beside this file to ../<scheme>.wasm.ts, as base64, or with `--check` compiles them and compares.
 * The compiler's output is the same on every machine.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FLAGS = ['--runtime', 'stub', '--enable', 'simd', '-O3', '--noAssert', '--converge']
const folder = fileURLToPath(new URL('.', import.meta.url))
const compiler = fileURLToPath(new URL('../../../node_modules/assemblyscript/bin/asc.js', import.meta.url))
const isCheck = process.argv.includes('--check')

for (const scheme of ['mimc', 'poseidon2']) {
  const target = join(folder, '..', `${scheme}.wasm.ts`)
  const compiled = moduleOf(scheme, compile(scheme))
  if (!isCheck) writeFileSync(target, compiled)
  else if (readFileSync(target, 'utf8') !== compiled) {
    console.error(`${scheme}.wasm.ts is not what assembly/${scheme}.ts compiles to: run npm run build:kernels`)
    process.exitCode = 1
  }
  console.log(`${scheme}: ${compiled.length} characters`)
}

function compile(scheme: string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'kernels-'))
  try {
    const binary = join(temporary, 'kernel.wasm')
    // In the folder, so that no path of this machine gets into the binary.
    execFileSync(process.execPath, [compiler, `${scheme}.ts`, '-o', binary, ...FLAGS], {
      cwd: folder,
      stdio: 'inherit',
    })
    return readFileSync(binary).toString('base64')
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

function moduleOf(scheme: string, base64: string): string {
  return `/** Compiled from assembly/${scheme}.ts by \`npm run build:kernels\`. */\nexport const ${scheme}Wasm =\n  '${base64}'\n`
}
