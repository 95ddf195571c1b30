import { parseArgs } from 'node:util'
import { errorMeanings, type SafeVerifiedState } from '../index.ts'
import {
  type Case,
  compareWithExpected,
  completeClaim,
  type Question,
  readCase,
  statedClaim,
  verifyCase,
} from './case.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'
import { isFolder, MAX_INPUT_MIB, readJson } from './input.ts'
import { countPaths, formatRefused, formatVerified, paint, printable, toJson } from './report.ts'
import { runVectors } from './vectors.ts'

const help = `Usage: rollup-state-proof verify FILE --scheme SCHEME --state-root ROOT [options]

Verifies a rollup_getProof / linea_getProof answer, offline. FILE is the result, the JSON-RPC response around it, a
recording (scheme, stateRoot, address, storageKeys, result), a test vector, or a folder of vectors and recordings.
- is standard input. At most ${MAX_INPUT_MIB} MiB.

Options:
  --scheme SCHEME      mimc or poseidon2: the one that the rollup used at the block of the proof
  --state-root ROOT    the root you trust, 32 bytes: stateRootHashes of the rollup contract on L1
  --address ADDRESS    the address you asked for, 20 bytes
  --storage-key KEY    a storage key you asked for, 32 bytes; repeat it, in the order of the request
  --json               one JSON object on standard output (one a line for a folder)

A vector or recording states all of these itself; an option wins over the file. Without --address or --storage-key a
plain answer is verified for the keys that it names itself, and the report says so.

Exit code: 0 verified, 1 not verified (for a vector: or not as it expects), 2 wrong usage or unreadable input.

Examples:
  rollup-state-proof verify answer.json --scheme poseidon2 --state-root 0x... --address 0x...
  curl -s ... | rollup-state-proof verify - --scheme poseidon2 --state-root 0x... --address 0x... --json
  rollup-state-proof verify recording.json
`

export const verify: Command = {
  summary: 'verify an answer, a recording or a vector against a trusted state root',
  help,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        scheme: { type: 'string' },
        'state-root': { type: 'string' },
        address: { type: 'string' },
        'storage-key': { type: 'string', multiple: true },
        json: { type: 'boolean', default: false },
      },
    })
    const { json, ...stated } = values
    const [path, ...more] = positionals
    if (path === undefined || more.length > 0) throw new UsageError('expected one file, folder or -')
    if (isFolder(path)) {
      if (Object.keys(stated).length > 0) {
        throw new UsageError(`${path} is a folder: each file in it states its own scheme, root, address and keys`)
      }
      return runVectors(path, json, io)
    }
    const given = readCase(await readJson(path, io))
    const { scheme, 'state-root': stateRoot, address, 'storage-key': storageKeys } = stated
    const question = completeClaim({ scheme, stateRoot, address, storageKeys }, given)
    const outcome = verifyCase(given, question)
    const surprises = compareWithExpected(given, outcome)
    if (json) io.stdout.write(toJson(describe(given, question, outcome, surprises)))
    else print(given, question, outcome, surprises, io)
    return outcome.ok && surprises.length === 0 ? exitCodes.verified : exitCodes.notVerified
  },
}

const isVector = ({ kind }: Case): boolean => kind === 'valid' || kind === 'invalid'

/** What `--json` prints. */
function describe(given: Case, { claim, sources }: Question, outcome: SafeVerifiedState, surprises: string[]): object {
  const expectation = isVector(given) && { asExpected: surprises.length === 0, surprises }
  if (outcome.ok) {
    const { account, storage } = outcome
    const recomputedPaths = countPaths(outcome, given.answer)
    const scheme = claim.scheme.name
    return { verified: true, ...claim, scheme, sources, account, storage, recomputedPaths, ...expectation }
  }
  const { code, path, expected, found } = outcome.error
  const error = { code, path, expected, found, meaning: errorMeanings[code] }
  return { verified: false, ...statedClaim({ claim, sources }), sources, error, ...expectation }
}

function print(given: Case, question: Question, outcome: SafeVerifiedState, surprises: string[], io: Io): void {
  const target = outcome.ok ? io.stdout : io.stderr
  target.write(
    outcome.ok ? formatVerified(outcome, given, question, target) : formatRefused(outcome.error, question, target),
  )
  if (!isVector(given)) return
  const verdict = surprises.length === 0 ? 'This is what the vector expects.' : 'This is not what the vector expects:'
  target.write(`${[paint(target, 'bold', verdict), ...surprises.map(line => `  ${printable(line)}`)].join('\n')}\n`)
}
