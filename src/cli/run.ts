import { DocumentError } from '../document/error.ts'
import { redactUrls } from '../rpc/redact.ts'
import { audit } from './audit.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'
import { fetch } from './fetch.ts'
import { follow } from './follow.ts'
import { messageOf } from './input.ts'
import { inspect } from './inspect.ts'
import { proxy } from './proxy.ts'
import { record } from './record.ts'
import { formatTable, printable } from './report.ts'
import { serve } from './serve.ts'
import { snapshot } from './snapshot.ts'
import { vectors } from './vectors.ts'
import { verify } from './verify.ts'
import { readVersion } from './version.ts'

// A map, for an object would also know a command named `constructor`.
const commands = new Map<string, Command>(
  Object.entries({ verify, record, follow, fetch, snapshot, audit, inspect, vectors, serve, proxy }),
)

const help = `Usage: rollup-state-proof COMMAND [options]

Verifies rollup_getProof / linea_getProof answers, offline, against a state root or an L1 block hash that you trust.

Commands:
${formatTable([...commands].map(([name, { summary }]) => [name, summary]))}

Options:
  --help       this text; after a command, its options
  --version    the version

Exit code: 0 verified, 1 not verified, 2 wrong usage or unreadable input, 3 an endpoint failed.

Examples:
  rollup-state-proof verify answer.json --scheme poseidon2 --state-root 0x... --address 0x...
  rollup-state-proof verify bundle.json --scheme poseidon2 --rollup mainnet --l1-block-hash 0x... --address 0x...
  rollup-state-proof record --l1 URL --l2 URL --scheme poseidon2 --rollup mainnet --address 0x... -o bundle.json
  rollup-state-proof vectors recordings/
`

const MAX_MESSAGE_LENGTH = 4096

/** Runs the program. Throws nothing. @param argv what follows the program's name @returns the exit code */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [name = '', ...args] = argv
  try {
    return await dispatch(name, args, io)
  } catch (error) {
    const isUsage = error instanceof UsageError || error instanceof DocumentError || isParseArgsError(error)
    // An option can be 128 kB long, and a message quotes it.
    const message = printable(redactUrls(messageOf(error).slice(0, MAX_MESSAGE_LENGTH)))
    io.stderr.write(`rollup-state-proof: ${isUsage ? '' : 'unexpected: '}${message}\n`)
    const hint = commands.has(name) ? `${name} ` : ''
    io.stderr.write(`Try: rollup-state-proof ${hint}--help\n`)
    return exitCodes.unusable
  }
}

async function dispatch(name: string, args: readonly string[], io: Io): Promise<number> {
  const command = commands.get(name)
  if ([name, ...args].some(arg => arg === '--help' || arg === '-h')) {
    io.stdout.write(command?.help ?? help)
    return exitCodes.verified
  }
  if (name === '--version') {
    io.stdout.write(`${readVersion()}\n`)
    return exitCodes.verified
  }
  if (command === undefined) throw new UsageError(name === '' ? 'no command' : `no such command: ${name}`)
  return command.run(args, io)
}

const isParseArgsError = (error: unknown): boolean =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
