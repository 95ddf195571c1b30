import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Abi } from 'viem'
import type { Hex } from '../../src/index.ts'

/** A compiled contract. */
export interface Contract {
  readonly abi: Abi
  /** What is deployed. */
  readonly code: Hex
}

const FOLDER = 'test/provider/contracts'
const CACHE = 'node_modules/.cache/rollup-state-proof'

/** The contracts of a Solidity file, by name. Compiled once for each text of it. */
export async function compile(file: string): Promise<Record<string, Contract>> {
  const content = readFileSync(join(FOLDER, file), 'utf8')
  const cached = join(CACHE, `${createHash('sha256').update(content).digest('hex')}.json`)
  try {
    return JSON.parse(readFileSync(cached, 'utf8'))
  } catch {
    // Not compiled yet.
  }
  const { default: solc } = await import('solc')
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: {
      optimizer: { enabled: true },
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object'] } },
    },
  }
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)))
  const fatal = errors.find((error: { severity: string }) => error.severity === 'error')
  if (fatal) throw new Error(fatal.formattedMessage)
  const compiled = Object.fromEntries(
    Object.entries<{ abi: Abi; evm: { deployedBytecode: { object: string } } }>(contracts[file]).map(
      ([name, { abi, evm }]) => [name, { abi, code: `0x${evm.deployedBytecode.object}` as const }],
    ),
  )
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(cached, JSON.stringify(compiled))
  return compiled
}
