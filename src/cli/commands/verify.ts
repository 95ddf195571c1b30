import { type EvidenceClaim, safeVerifyEvidence } from '../../anchor.ts'
import { claimOfVector } from '../../document/evidence.ts'
import { compareEvidence, compareState } from '../../document/expected.ts'
import {
  type Expected,
  isBundleFile,
  isCallEvidence,
  isFunctionVector,
  readExpected,
  readInputFile,
} from '../../document/input-file.ts'
import { printable } from '../../document/value.ts'
import { ageOf } from '../../document/wording.ts'
import { ProofError } from '../../index.ts'
import { type CallClaim, verifyCallEvidence } from '../../provider.ts'
import { type Command, exitCodes, type Io, type Output } from '../command.ts'
import { UsageError } from '../errors.ts'
import { isFolder, readJson } from '../files/input.ts'
import { MAX_INPUT_MIB } from '../limits.ts'
import { callClaimOf, callFailed } from '../options/chain-flags.ts'
import { type Flags, formatOptions, optionsOf, text } from '../options/declared.ts'
import {
  blockClaimOf,
  claimOfFlags,
  refuseWrongFlags,
  requireClaim,
  trustedOf,
  verifyAnswer,
} from '../options/flags.ts'
import { parsePath } from '../options/parse.ts'
import { formatCall } from '../output/call-report.ts'
import { describeEvidence, formatEvidence } from '../output/evidence-report.ts'
import { describeAnswer, describeError, formatAnswer, formatError, paint, toJson } from '../output/report.ts'

const answerOptions = optionsOf('scheme', 'state-root', 'address', 'storage-key', 'mapping', 'json')
const trustedOptions = optionsOf('checkpoint', 'l1-block-hash', 'l1-state-root')
const subjectOptions = {
  ...optionsOf('rollup'),
  'l2-block': text('NUMBER', 'the L2 block'),
  ...optionsOf('network', 'layout-roots-slot', 'layout-current-slot'),
}
const callOptions = optionsOf('call', 'from', 'value', 'gas', 'hardfork', 'chain-id')

const help = `Usage: rollup-state-proof verify FILE [options]

Verifies a rollup_getProof / linea_getProof answer offline. FILE is the result,
the JSON-RPC response around it, a recording (scheme, stateRoot, address,
storageKeys, result), a test vector, an evidence bundle (an answer with the
proofs that lead to it from L1), or a call as evidence. - is standard input.
Files have at most ${MAX_INPUT_MIB} MiB.

Options. An answer needs --scheme and --state-root. State the storage keys in
the order of the request:
${formatOptions(answerOptions)}

For a bundle, state exactly one of these, or --state-root: then the L1 part of
the bundle is ignored. Everything else is proven from it:
${formatOptions(trustedOptions)}

Also state what the bundle must be for. --rollup is required:
${formatOptions(subjectOptions)}

A call as evidence, which \`record --call\` writes, is executed again, offline.
This needs the packages @ethereumjs/evm, @ethereumjs/common and
@ethereumjs/util. In addition to --rollup and what you trust, state:
${formatOptions(callOptions)}

Vectors and recordings state their own inputs. For recordings and vectors of
answers, options override the file. If you omit --address, --storage-key or
--l2-block, verify takes them from the answer or bundle, and the report says so.
For a folder of files, use the command vectors.

Exit code: 0 verified, 1 not verified (for a vector: or not as it expects), 2
wrong usage or unreadable input.

Examples:
  rollup-state-proof verify answer.json --scheme poseidon2 --state-root 0x... \\
    --address 0x...
  curl -s ... | rollup-state-proof verify - --scheme poseidon2 \\
    --state-root 0x... --address 0x... --json
  rollup-state-proof verify recording.json
  rollup-state-proof verify bundle.json --scheme poseidon2 --rollup mainnet \\
    --l1-block-hash 0x... --address 0x...
  rollup-state-proof verify bundle.json --scheme poseidon2 --rollup mainnet \\
    --checkpoint 0x... --address 0x...
  rollup-state-proof verify call.json --scheme poseidon2 --rollup mainnet \\
    --l1-block-hash 0x... --call 0x... 0x...
`

export const verify: Command = {
  help,
  async run(args, io) {
    const options = { ...answerOptions, ...trustedOptions, ...subjectOptions, ...callOptions }
    const { values, path } = parsePath(args, options, 'expected one file or -')
    const { json, ...stated } = values
    if (isFolder(path)) throw new UsageError(`${path} is a folder: use the command vectors`)
    const { scheme, 'state-root': stateRoot, address, 'storage-key': storageKeys } = stated
    const content = await readJson(path, io)
    const file = readInputFile(content)
    const has = (options: object) => Object.keys(stated).some(name => name in options)
    if (isCallEvidence(file)) {
      if (address !== undefined || storageKeys !== undefined) {
        throw new UsageError(`${path} is a call as evidence: --address and --storage-key are for answers`)
      }
      return verifyCall(content, stated, json, io)
    }
    if (has(callOptions)) {
      throw new UsageError(
        `${path} is not a call as evidence: --call, --from, --value, --gas, --hardfork and --chain-id are for calls`,
      )
    }
    if (isFunctionVector(file) || file.kind === 'evidence vector') {
      if (has(stated)) throw new UsageError(`${path} is a vector and states its own inputs: leave out the options`)
      if (isFunctionVector(file)) throw new UsageError('this vector has no bundle: run it with the command vectors')
      return verifyBundle(file.bundle, claimOfVector(file), readExpected(file.expected), json, io)
    }
    // An option for bundles says that the file is one, so that a damaged bundle is not taken for an answer.
    if (isBundleFile(file) || has({ ...trustedOptions, ...subjectOptions })) {
      return verifyBundle(content, await claimOfFlags(stated, io), undefined, json, io)
    }
    const claim = requireClaim({ scheme, stateRoot, address, storageKeys }, file)
    const expected = file.expected === undefined ? undefined : readExpected(file.expected)
    const outcome = verifyAnswer(file, claim)
    const mismatches = expected && file.kind === 'vector' ? compareState(expected, outcome) : undefined
    const format = (stream: Output) => formatAnswer(outcome, file, claim, stream)
    return report(outcome.ok, json ? describeAnswer(file, claim, outcome) : format, mismatches, io)
  },
}

/**
 * Prints the report on a verification.
 *
 * @param content one object for `--json`, or text
 * @param mismatches how the outcome differs from what a vector expects; undefined if the file is none
 * @returns the exit code
 */
function report(
  ok: boolean,
  content: object | ((stream: Output) => string),
  mismatches: string[] | undefined,
  io: Io,
): number {
  const asExpected = mismatches === undefined || mismatches.length === 0
  if (typeof content === 'function') {
    const stream = ok ? io.stdout : io.stderr
    stream.write(content(stream))
    const verdict = asExpected ? 'This is what the vector expects.' : 'This is not what the vector expects:'
    const lines = mismatches && [paint(stream, 'bold', verdict), ...mismatches.map(line => `  ${printable(line)}`)]
    if (lines) stream.write(`${lines.join('\n')}\n`)
  } else io.stdout.write(toJson({ ...content, ...(mismatches && { asExpected, mismatches }) }))
  return ok && asExpected ? exitCodes.verified : exitCodes.notVerified
}

/** @param expected what the vector with the bundle and the claim expects; undefined if the user states the claim */
function verifyBundle(
  bundle: unknown,
  claim: EvidenceClaim,
  expected: Expected | undefined,
  json: boolean,
  io: Io,
): number {
  const outcome = safeVerifyEvidence(bundle, claim)
  const source = expected === undefined ? 'user' : 'file'
  if (!outcome.ok && source === 'user') refuseWrongFlags(outcome.error)
  const format = (stream: Output) => formatEvidence(bundle, claim, source, outcome, stream)
  const mismatches = expected && compareEvidence(expected, outcome)
  return report(outcome.ok, json ? describeEvidence(claim, source, outcome) : format, mismatches, io)
}

/** Executes a call as evidence again. */
async function verifyCall(bundle: unknown, flags: Flags, json: boolean, io: Io): Promise<number> {
  const trusted = await trustedOf(flags, io)
  const claim: CallClaim = { ...blockClaimOf(flags), ...callClaimOf(flags), trusted }
  const { call = {} } = claim
  try {
    const verified = await verifyCallEvidence(bundle, claim).catch(callFailed)
    const format = (stream: Output) => `${formatCall(verified, stream, call)}\n`
    return report(true, json ? { verified: true, ...verified, age: ageOf(verified) } : format, undefined, io)
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    refuseWrongFlags(error)
    const format = (stream: Output) => formatError(error, [['call', call.to ?? 'whatever the bundle is for']], stream)
    return report(false, json ? { verified: false, error: describeError(error) } : format, undefined, io)
  }
}
