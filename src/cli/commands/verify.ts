import { type EvidenceClaim, type SafeVerifiedEvidence, safeVerifyEvidence } from '../../anchor.ts'
import type { ClaimWithSources } from '../../document/claim.ts'
import { claimOfVector } from '../../document/evidence.ts'
import { compareEvidence, compareState } from '../../document/expected.ts'
import {
  type AnswerFile,
  type BundleFile,
  isBundleFile,
  isCallEvidence,
  isFunctionVector,
  readExpected,
  readInputFile,
} from '../../document/input-file.ts'
import { printable } from '../../document/value.ts'
import type { SafeVerifiedState } from '../../index.ts'
import { type Command, exitCodes, type Io, type Output, UsageError } from '../command.ts'
import { isFolder, MAX_INPUT_MIB, readJson } from '../files/input.ts'
import { formatOptions, optionsOf, text } from '../options/declared.ts'
import { claimOfFlags, refuseWrongFlags, requireClaim, verifyAnswer } from '../options/flags.ts'
import { onePath, parseOptions } from '../options/parse.ts'
import { type ClaimSource, describeEvidence, formatBroken, formatProven } from '../output/evidence-report.ts'
import { formatRefused, formatVerified, paint, toJson } from '../output/report.ts'
import { verifyCallFile } from './call.ts'
import { describeAnswer } from './vectors.ts'

const answerOptions = optionsOf('scheme', 'state-root', 'address', 'storage-key', 'mapping', 'json')
const trustedOptions = optionsOf('checkpoint', 'l1-block-hash', 'l1-state-root')
const subjectOptions = {
  ...optionsOf('rollup'),
  'l2-block': text('NUMBER', 'the L2 block'),
  ...optionsOf('network', 'layout-roots-slot', 'layout-current-slot'),
}
const callOptions = optionsOf('call', 'from', 'value', 'gas', 'hardfork', 'chain-id')

const help = `Usage: rollup-state-proof verify FILE --scheme SCHEME --state-root ROOT
         [options]
       rollup-state-proof verify BUNDLE --scheme SCHEME --rollup ROLLUP
         --l1-block-hash HASH [options]
       rollup-state-proof verify BUNDLE --scheme SCHEME --rollup ROLLUP
         --checkpoint ROOT [options]
       rollup-state-proof verify CALL --scheme SCHEME --rollup ROLLUP
         --l1-block-hash HASH --call TO DATA [options]

Verifies a rollup_getProof / linea_getProof answer offline. FILE is the result,
the JSON-RPC response around it, a recording (scheme, stateRoot, address,
storageKeys, result), or a test vector. BUNDLE is an evidence bundle: an answer
with the proofs that lead to it from L1. - is standard input. Files have at most
${MAX_INPUT_MIB} MiB.

Options. State the storage keys in the order of the request:
${formatOptions(answerOptions)}

For a bundle, state exactly one of these, or --state-root: then the L1 part of
the bundle is ignored. Everything else is proven from it:
${formatOptions(trustedOptions)}

Also state what the bundle must be for. --rollup is required:
${formatOptions(subjectOptions)}

CALL is a call as evidence, written by \`record --call\`. verify executes it
again, offline; this needs the packages @ethereumjs/evm, @ethereumjs/common and
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
`

export const verify: Command = {
  help,
  async run(args, io) {
    const options = { ...answerOptions, ...trustedOptions, ...subjectOptions, ...callOptions }
    const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options })
    const { json, ...stated } = values
    const path = onePath(positionals, 'expected one file or -')
    if (isFolder(path)) throw new UsageError(`${path} is a folder: use the command vectors`)
    const { scheme, 'state-root': stateRoot, address, 'storage-key': storageKeys } = stated
    const content = await readJson(path, io)
    const file = readInputFile(content)
    const isCallOption = Object.keys(stated).some(name => name in callOptions)
    if (isCallEvidence(file)) {
      if (address !== undefined || storageKeys !== undefined) {
        throw new UsageError(`${path} is a call as evidence: --address and --storage-key are for answers`)
      }
      return verifyCallFile(content, stated, json, io)
    }
    if (isCallOption)
      throw new UsageError(
        `${path} is not a call as evidence: --call, --from, --value, --gas, --hardfork and --chain-id are for calls`,
      )
    if (isFunctionVector(file) || file.kind === 'evidence vector') {
      if (Object.keys(stated).length > 0)
        throw new UsageError(`${path} is a vector and states its own inputs: leave out the options`)
      if (isFunctionVector(file)) {
        throw new UsageError('this vector has no bundle: run it with the command vectors')
      }
      return reportVector(file, json, io)
    }
    // An option for bundles says that the file is one, so that a damaged bundle is not taken for an answer.
    if (isBundleFile(file) || Object.keys(stated).some(name => name in trustedOptions || name in subjectOptions)) {
      return reportBundle(content, await claimOfFlags(stated, io), json, io)
    }
    const claim = requireClaim({ scheme, stateRoot, address, storageKeys }, file)
    const expected = file.expected === undefined ? undefined : readExpected(file.expected)
    const outcome = verifyAnswer(file, claim)
    const mismatches = expected === undefined || file.kind !== 'vector' ? [] : compareState(expected, outcome)
    if (json) {
      const expectation = file.kind === 'vector' && { asExpected: mismatches.length === 0, mismatches }
      io.stdout.write(toJson({ ...describeAnswer(file, claim, outcome), ...expectation }))
    } else print(file, claim, outcome, mismatches, io)
    return outcome.ok && mismatches.length === 0 ? exitCodes.verified : exitCodes.notVerified
  },
}

function print(
  file: AnswerFile,
  claim: ClaimWithSources,
  outcome: SafeVerifiedState,
  mismatches: string[],
  io: Io,
): void {
  const target = outcome.ok ? io.stdout : io.stderr
  target.write(outcome.ok ? formatVerified(outcome, file, claim, target) : formatRefused(outcome.error, claim, target))
  if (file.kind === 'vector') printMismatches(mismatches, target)
}

function printMismatches(mismatches: string[], target: Output): void {
  const verdict = mismatches.length === 0 ? 'This is what the vector expects.' : 'This is not what the vector expects:'
  target.write(`${[paint(target, 'bold', verdict), ...mismatches.map(line => `  ${printable(line)}`)].join('\n')}\n`)
}

function reportBundle(bundle: unknown, claim: EvidenceClaim, json: boolean, io: Io): number {
  const outcome = safeVerifyEvidence(bundle, claim)
  if (!outcome.ok) refuseWrongFlags(outcome.error)
  if (json) io.stdout.write(toJson(describeEvidence(claim, 'user', outcome)))
  else printEvidence(bundle, claim, 'user', outcome, io)
  return outcome.ok ? exitCodes.verified : exitCodes.notVerified
}

function reportVector(file: BundleFile, json: boolean, io: Io): number {
  const expected = readExpected(file.expected)
  const { bundle } = file
  const claim = claimOfVector(file)
  const outcome = safeVerifyEvidence(bundle, claim)
  const mismatches = compareEvidence(expected, outcome)
  const asExpected = mismatches.length === 0
  if (json) io.stdout.write(toJson({ ...describeEvidence(claim, 'file', outcome), asExpected, mismatches }))
  else printMismatches(mismatches, printEvidence(bundle, claim, 'file', outcome, io))
  return outcome.ok && asExpected ? exitCodes.verified : exitCodes.notVerified
}

/** @returns the stream that it printed to */
function printEvidence(
  bundle: unknown,
  claim: EvidenceClaim,
  source: ClaimSource,
  outcome: SafeVerifiedEvidence,
  io: Io,
): Output {
  const target = outcome.ok ? io.stdout : io.stderr
  target.write(
    outcome.ok
      ? formatProven(bundle, claim, source, outcome, target)
      : formatBroken(claim, source, outcome.error, target),
  )
  return target
}
