/**
 * Writes the run-time code and storage layout of the contracts in this folder, for the demo state of the service.
 * With `--check`, compares them with the existing file instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { compileContracts } from './compile.ts'

const TARGET = 'src/devnet/service/demo-contracts.generated.ts'
const CONTRACTS = { token: 'Token', proxy: 'Proxy', multicall: 'Multicall' } as const

const compiled = await compileContracts()
const codes = Object.entries(CONTRACTS).map(([name, contract]) => `  ${name}: '${compiled[contract]?.code}',`)
const slots = Object.entries(compiled[CONTRACTS.token]?.slots ?? {}).map(([name, slot]) => `  ${name}: ${slot}n,`)
const text = `// Written by test/contracts/generate.ts from the sources beside it: do not edit.

/** The run-time code of each contract. */
export const demoCode = {
${codes.join('\n')}
} as const

/** The slots of the token's variables. */
export const tokenSlots = {
${slots.join('\n')}
} as const
`
if (!process.argv.includes('--check')) writeFileSync(TARGET, text)
else if (readFileSync(TARGET, 'utf8') !== text) {
  console.error(`${TARGET} is not what test/contracts/generate.ts makes`)
  process.exitCode = 1
}
console.log(`${TARGET}: ${text.length} characters`)
