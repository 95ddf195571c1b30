/**
 * Compiles the contracts beside this file and writes their run-time code and storage layout, for the demo state of the service.
 * With `--check` compares instead. The compiler's output is the same on every machine.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import solc from 'solc'

const TARGET = 'src/service/demo-contracts.generated.ts'
const CONTRACTS = { token: 'Token', proxy: 'Proxy', multicall: 'Multicall' } as const

interface Compiled {
  readonly evm: { readonly deployedBytecode: { readonly object: string } }
  readonly storageLayout: { readonly storage: readonly { readonly label: string; readonly slot: string }[] }
}

function compileContracts(): string {
  const sources = Object.keys(CONTRACTS).map(name => [
    `${name}.sol`,
    { content: readFileSync(new URL(`${name}.sol`, import.meta.url), 'utf8') },
  ])
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'cancun',
    // The hash of the sources at the end of the code would change with every comment.
    metadata: { appendCBOR: false },
    outputSelection: { '*': { '*': ['evm.deployedBytecode.object', 'storageLayout'] } },
  }
  const input = { language: 'Solidity', sources: Object.fromEntries(sources), settings }
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input)))
  if (errors.length > 0)
    throw new Error(errors.map((error: { formattedMessage: string }) => error.formattedMessage).join())
  const compiledOf = (name: keyof typeof CONTRACTS): Compiled => contracts[`${name}.sol`][CONTRACTS[name]]
  const codes = (['token', 'proxy', 'multicall'] as const).map(name => {
    return `  ${name}: '0x${compiledOf(name).evm.deployedBytecode.object}',`
  })
  const slots = compiledOf('token').storageLayout.storage.map(({ label, slot }) => `  ${label}: ${slot}n,`)
  return `// Written by test/contracts/generate.ts from the sources beside it: do not edit.

/** The run-time code of each contract. */
export const demoCode = {
${codes.join('\n')}
} as const

/** The slots of the token's variables. */
export const tokenSlots = {
${slots.join('\n')}
} as const
`
}

const text = compileContracts()
if (!process.argv.includes('--check')) writeFileSync(TARGET, text)
else if (readFileSync(TARGET, 'utf8') !== text) {
  console.error(`${TARGET} is not what test/contracts/generate.ts makes`)
  process.exitCode = 1
}
console.log(`${TARGET}: ${text.length} characters`)
