import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi } from 'viem'
import type { Hex } from '../../src/entry/index.ts'

/** A compiled contract. */
export interface Contract {
  readonly abi: Abi
  /** The deployed code. */
  readonly code: Hex
  /** The code that deploys it, before the arguments. */
  readonly init: Hex
  /** The slots of its variables, by name. */
  readonly slots: Readonly<Record<string, string>>
}

interface Compiled {
  readonly abi: Abi
  readonly evm: Readonly<Record<'bytecode' | 'deployedBytecode', { readonly object: string }>>
  readonly storageLayout: { readonly storage: readonly { readonly label: string; readonly slot: string }[] }
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const CACHE = 'node_modules/.cache/contracts'
const SETTINGS = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'cancun',
  // Metadata would append a hash of the sources, which changes with every comment.
  metadata: { appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object', 'storageLayout'] } },
}

/** Compiles the contracts in this folder, by name. The output is the same on every machine. */
export async function compileContracts(): Promise<Readonly<Record<string, Contract>>> {
  const files = readdirSync(FOLDER).filter(file => file.endsWith('.sol'))
  const sources = Object.fromEntries(files.map(file => [file, { content: readFileSync(join(FOLDER, file), 'utf8') }]))
  const { default: solc } = await import('solc')
  const { errors = [], contracts } = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS })),
  )
  if (errors.length > 0) {
    throw new Error(errors.map((error: { formattedMessage: string }) => error.formattedMessage).join())
  }
  return Object.fromEntries(
    Object.values<Record<string, Compiled>>(contracts).flatMap(file =>
      Object.entries(file).map(([name, { abi, evm, storageLayout }]): [string, Contract] => [
        name,
        {
          abi,
          code: `0x${evm.deployedBytecode.object}`,
          init: `0x${evm.bytecode.object}`,
          slots: Object.fromEntries(storageLayout.storage.map(({ label, slot }) => [label, slot])),
        },
      ]),
    ),
  )
}

/** {@link compileContracts} with a cache by source text, because the compiler takes seconds to load. */
export async function compiledContracts(): Promise<Readonly<Record<string, Contract>>> {
  const texts = readdirSync(FOLDER).map(file => `${file}\n${readFileSync(join(FOLDER, file), 'utf8')}`)
  const cached = join(
    CACHE,
    `${createHash('sha256')
      .update([JSON.stringify(SETTINGS), ...texts].join())
      .digest('hex')}.json`,
  )
  try {
    return JSON.parse(readFileSync(cached, 'utf8'))
  } catch {
    // Not in the cache yet.
  }
  const compiled = await compileContracts()
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(cached, JSON.stringify(compiled))
  return compiled
}
