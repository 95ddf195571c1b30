import { isArgumentError } from '../base/errors.ts'
import { type Command, exitCodes, type Io } from './command.ts'
import { argumentRefused, briefMessage, codeOf, UsageError } from './errors.ts'
import { didYouMean } from './options/suggest.ts'
import { toJson } from './output/report.ts'
import { fitToTerminal } from './output/terminal.ts'
import { readVersion } from './version.ts'
import { DocumentError } from './words/error.ts'

/** The commands, each with its help and what loads it alone. */
const commands: readonly (readonly [name: string, summary: string, load: () => Promise<{ command: Command }>])[] = [
  ['verify', 'verify an answer, or an evidence bundle, against what you trust', () => import('./commands/verify.ts')],
  ['record', 'record an evidence bundle from an L1 and an L2 endpoint', () => import('./commands/record.ts')],
  ['follow', 'record an evidence bundle for every finalization, as it happens', () => import('./commands/follow.ts')],
  ['fetch', 'fetch an answer from an L2 endpoint', () => import('./commands/fetch.ts')],
  ['snapshot', 'fetch and verify many accounts, or a mapping, at one block', () => import('./commands/snapshot.ts')],
  ['logs', 'fetch and verify all logs of a range of blocks', () => import('./commands/logs.ts')],
  ['diff', 'list all that a range of blocks changed, from verified traces', () => import('./commands/diff.ts')],
  ['audit', 'verify many records, one per line, on all cores', () => import('./commands/audit.ts')],
  ['inspect', 'print what a bundle, an answer or a vector claims, unverified', () => import('./commands/inspect.ts')],
  ['vectors', 'run a folder of test vectors, and compare the outcomes', () => import('./commands/vectors.ts')],
  ['serve', 'serve rollup_getProof over states in memory, with a simulated L1', () => import('./commands/serve.ts')],
  ['proxy', 'serve JSON-RPC with proven answers only, for wallets and programs', () => import('./commands/proxy.ts')],
]

const help = `Usage: rollup-state-proof COMMAND [options]

Verifies rollup_getProof / linea_getProof answers offline, against a state root
or an L1 block hash that you trust.

Commands:
${commands.map(([name, summary]) => `  ${name.padEnd(8)}  ${summary}`).join('\n')}

Options:
  -h, --help       print this help; after a command, print its options, like
                   \`help COMMAND\`
  -v, --version    print the version

Exit code: 0 verified, 1 refused, 2 wrong usage or unreadable input, 3 an
endpoint failed, 4 consistent only: it rests on the word of the file alone.

Examples:
  rollup-state-proof verify answer.json --scheme poseidon2 --state-root 0x... \\
    --address 0x...
  rollup-state-proof verify bundle.json --scheme poseidon2 --rollup mainnet \\
    --l1-block-hash 0x... --address 0x...
  rollup-state-proof record --l1 URL --l2 URL --scheme poseidon2 \\
    --rollup mainnet --address 0x... -o bundle.json
  rollup-state-proof vectors recordings/
`

/** Runs the program. Does not throw. @param argv the arguments after the program's name @returns the exit code */
export async function run(argv: readonly string[], streams: Io): Promise<number> {
  const [name = '', ...args] = argv
  const io = fitToTerminal(streams)
  try {
    return await dispatch(name, args, io)
  } catch (thrown) {
    const error = isArgumentError(thrown) ? argumentRefused(thrown) : thrown
    const isRefused = codeOf(error)?.startsWith('ERR_PARSE_ARGS')
    const isUsage = isRefused || error instanceof UsageError || error instanceof DocumentError
    const message = `${isUsage ? '' : 'unexpected: '}${briefMessage(error)}`
    const help = `rollup-state-proof ${commands.some(([known]) => known === name) ? `${name} ` : ''}--help`
    if (isAsked(argv, '--json')) {
      io.stdout.write(toJson({ error: { code: isUsage ? 'USAGE' : 'UNEXPECTED', message, help } }))
    }
    const hint = error instanceof UsageError && !error.isUsage ? '' : `Try: ${help}\n`
    io.stderr.write(`rollup-state-proof: ${message}\n${hint}`)
    return exitCodes.unusable
  }
}

/** Whether one of the options is given, even if the rest cannot be parsed. */
function isAsked(argv: readonly string[], ...options: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).some(arg => options.includes(arg))
}

async function dispatch(name: string, args: readonly string[], io: Io): Promise<number> {
  const isHelp = name === 'help' || isAsked([name, ...args], '--help', '-h')
  const wanted = name === 'help' ? (args.find(arg => !arg.startsWith('-')) ?? '') : name
  const [, , load] = commands.find(([known]) => known === wanted) ?? []
  if (isHelp && (load !== undefined || wanted === '' || wanted.startsWith('-'))) {
    io.stdout.write(load === undefined ? help : (await load()).command.help)
    return exitCodes.verified
  }
  if (name === '--version' || name === '-v') {
    io.stdout.write(`${readVersion()}\n`)
    return exitCodes.verified
  }
  if (load === undefined) {
    if (wanted === '' || wanted === '--json') throw new UsageError('no command')
    throw new UsageError(
      `no such command: ${wanted}.${didYouMean(wanted, [...commands.map(([known]) => known), 'help'])}`,
    )
  }
  return (await load()).command.run(args, io)
}
