import { isArgumentError } from '../base/errors.ts'
import { type Command, exitCodes, type Io } from './command.ts'
import { argumentRefused, briefMessage, didYouMean, requireWritten, UsageError } from './errors.ts'
import { sharedOptions, trustOptions } from './options/declared.ts'
import { formatOptions } from './options/define.ts'
import { toJson } from './output/report.ts'
import { fitToTerminal } from './output/table.ts'
import manifest from './package.json' with { type: 'json' }
import { DocumentError } from './words/value.ts'

const commands: readonly (readonly [name: string, summary: string, load: () => Promise<{ command: Command }>])[] = [
  ['verify', 'verify an answer, or evidence, against what you trust', () => import('./commands/verify.ts')],
  ['record state', 'record an account and its slots', () => import('./commands/record-state.ts')],
  ['record call', 'record a call, and all that it reads', () => import('./commands/record-call.ts')],
  ['record logs', 'record all logs of a range of blocks', () => import('./commands/logs.ts')],
  ['record message', 'record a message of the bridge', () => import('./commands/record-message.ts')],
  ['follow state', 'record an account at every finalization', () => import('./commands/follow-state.ts')],
  ['follow messages', 'record every message that can be claimed', () => import('./commands/follow-messages.ts')],
  ['snapshot', 'fetch and verify many accounts at one block', () => import('./commands/snapshot.ts')],
  ['diff', 'list what changes over a range of blocks, from traces', () => import('./commands/diff.ts')],
  ['audit', 'verify many records, one per line, on all cores', () => import('./commands/audit.ts')],
  ['inspect', 'print what a file claims, unverified', () => import('./commands/inspect.ts')],
  ['serve', 'serve a network on this machine, in memory', () => import('./commands/serve.ts')],
  ['proxy', 'serve JSON-RPC with proven answers only', () => import('./commands/proxy.ts')],
]

const help = `Usage: rollup-state-proof COMMAND [options]

Verifies what a Linea-family rollup holds, offline, against a state root or an
L1 block hash that you trust.

${commands.map(([name, summary]) => `  ${name.padEnd(15)}  ${summary}`).join('\n')}

  COMMAND --help   its options; also \`help COMMAND\`
  help options     options of most commands: --network, --l1, --l2, --json ...
  help trust       what everything rests on: --l1-block-hash, --checkpoint ...
  --version        the version

Exit code: 0 verified, 1 refused, 2 wrong usage or unreadable input, 3 an
endpoint failed, 4 consistent only: it rests on the word of the file alone, 130
stopped by Ctrl-C.

Examples:
  rollup-state-proof verify answer.json --state-root 0x... --address 0x...
  rollup-state-proof record state --l1 URL --l2 URL --address 0x... -o a.json
  rollup-state-proof verify a.json --l1-block-hash 0x... --address 0x...
`

/** What several commands share, and each only names. */
const topics: Readonly<Record<string, string>> = {
  options: `Options of most commands. Those with ... may be repeated.

${formatOptions(sharedOptions)}

Pass URLs in the environment, with spaces between them: that keeps API keys out
of the history of your shell and out of the list of processes. URLs are never
printed. If an endpoint fails, the next one is asked. --timeout is also the time
for executing a call.

A file for --network is JSON, as \`serve --json\` prints it:
  { "name": "devnet", "scheme": "poseidon2", "messageService": "0x...",
    "rollup": { "address": "0x...", "chainId": 1337, "l1ChainId": 1338,
      "method": "rollup_getProof", "layout": { ... } },
    "hardfork": "prague", "beacon": { ... } }
Only the address of the rollup's contract on L1 is needed; calls take the chain
id, messages the service, and --checkpoint the beacon chain.

With --implementation, nothing verifies once the contract has other code.
--trust-file is for files that you have made yourself.
`,
  trust: `Everything rests on one of these, which you state. Each is 32 bytes.

${formatOptions(trustOptions)}

\`record\`: with --l1-block-hash or --checkpoint, the report says "verified"; by
the word of the L1 endpoint, "consistent". With --checkpoint and --beacon, the
L1 block is proven by the sync committees, and the bundle grows by 60 kB per 27
hours since the checkpoint. A checkpoint may be two weeks old, or one week since
the Gloas fork.

\`follow\` and \`proxy\` ask again and again for a hash. Choose --l1-agree or
--checkpoint. Otherwise, more than half of the --l1 endpoints have to agree.

The progress of a run and the file of --beacon-state are believed only if they
are signed with your key: rollup-state-proof/key in $XDG_STATE_HOME, or else in
~/.local/state.
`,
}

/** Runs the program. Does not throw. @param argv the arguments after the program's name @returns the exit code */
export async function run(argv: readonly string[], streams: Io): Promise<number> {
  const io = fitToTerminal(streams)
  try {
    const code = await dispatch(argv, io)
    // Clears what progress is left, if nothing else has: a report may go to a pipe.
    io.stderr.write('')
    await requireWritten(streams.stdout)
    return code
  } catch (thrown) {
    const error = isArgumentError(thrown) ? argumentRefused(thrown) : thrown
    const isUsage = error instanceof UsageError || error instanceof DocumentError
    const message = `${isUsage ? '' : 'unexpected: '}${briefMessage(error)}`
    const [word = ''] = argv
    const name = commandNamed(argv)?.[0] ?? (subjectsOf(word).length > 0 ? word : '')
    const help = ['rollup-state-proof', ...(name === '' ? [] : [name]), '--help'].join(' ')
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

const commandNamed = ([word = '', subject = '']: readonly string[]) =>
  commands.find(([known]) => known === word || known === `${word} ${subject}`)

/** The commands that begin with this word and need a second one. */
const subjectsOf = (word: string) => commands.filter(([known]) => known.startsWith(`${word} `))

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [name = ''] = argv
  const isHelp = name === 'help' || isAsked(argv, '--help', '-h')
  const words = name === 'help' ? argv.slice(1).filter(word => !word.startsWith('-')) : argv
  const found = commandNamed(words)
  const command = found && (await found[2]()).command
  if (!isHelp && command) return command.run(argv.slice(found[0].split(' ').length), io)
  const isVersion = name === '--version' || name === '-v'
  const text = isVersion ? `${manifest.version}\n` : isHelp ? (command?.help ?? helpOn(words)) : undefined
  if (text === undefined) throw noSuchCommand(words)
  io.stdout.write(text)
  return exitCodes.verified
}

/** The help on a topic, or on a word that needs a second one; undefined if there is none. */
function helpOn([word = '']: readonly string[]): string | undefined {
  if (word === '' || word.startsWith('-')) return help
  const lines = subjectsOf(word).map(([known, summary]) => `  rollup-state-proof ${known.padEnd(15)}  ${summary}`)
  if (lines.length === 0) return Object.hasOwn(topics, word) ? topics[word] : undefined
  return `Usage: rollup-state-proof ${word} SUBJECT [options]\n\n${lines.join('\n')}\n\nEach has its own --help.\n`
}

function noSuchCommand([word = '', subject = '']: readonly string[]): UsageError {
  if (word === '' || word === '--json') return new UsageError('no command')
  const subjects = subjectsOf(word).map(([known]) => known)
  if (subjects.length > 0) {
    const hint = didYouMean(`${word} ${subject}`, subjects)
    return new UsageError(`${word} what? Choose ${subjects.join(', ')}.${hint}`)
  }
  const names = [...new Set(commands.map(([known]) => known.split(' ')[0] ?? '')), 'help']
  return new UsageError(`no such command: ${word}.${didYouMean(word, names)}`)
}
