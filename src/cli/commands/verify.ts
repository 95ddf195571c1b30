import { DEFAULT_HARDFORK } from '../../client/network/hardfork.ts'
import { type StateScheme, type Trusted, verifyEvidence } from '../../entry/anchor.ts'
import { isArgumentError, isProofError, safely } from '../../entry/index.ts'
import { type CallClaim, verifyCallEvidence } from '../../entry/provider.ts'
import type { EvidenceName } from '../../verify/evidence/names.ts'
import { type Command, exitCodes, type Io, type Output } from '../command.ts'
import { UsageError } from '../errors.ts'
import { isFolder, readJson } from '../files/input.ts'
import { callClaimOf, callFailed, timeoutOf } from '../options/chain-flags.ts'
import { formatHelp, list, optionsOf } from '../options/declared.ts'
import { blockClaimOf, claimOfFlags, requireClaim, trustedOf, verifyAnswer } from '../options/flags.ts'
import { filterOptions, rangeOptions } from '../options/logs-options.ts'
import { networkOf } from '../options/network.ts'
import { parsePath } from '../options/parse.ts'
import { environmentSource, formatCall } from '../output/call-report.ts'
import { reportOnBundle } from '../output/evidence-report.ts'
import { paint } from '../output/paint.ts'
import { describeSources, reportOnAnswer, reportOnError, toJson, type VerdictReport } from '../output/report.ts'
import { acceptedWith, describeVerdict, exitCodeOf, TRUSTS_FILE } from '../output/verdict.ts'
import { guessKind, kindNamed, leafProofAt } from '../words/answer.ts'
import type { Source } from '../words/claim.ts'
import { claimOfVector, constantSources } from '../words/evidence.ts'
import { compare, spellState } from '../words/expected.ts'
import { holdsTraces, type InputFile, readExpected, readInputFile } from '../words/input-file.ts'
import { evidenceKinds } from '../words/kinds.ts'
import { fieldIn, fieldsOf, itemsOf, printable } from '../words/value.ts'
import { type PartSources, verdictOf } from '../words/verdict.ts'
import { agesOf } from '../words/wording.ts'
import { type EvidenceFlags, verifyLogsFile } from './verify-logs.ts'
import { messageOptions, verifyMessageFile } from './verify-message.ts'

const answerOptions = optionsOf('state-root', 'address', 'storage-key', 'mapping')
const trustedOptions = optionsOf('checkpoint', 'l1-block-hash', 'l1-state-root')
const blockOptions = optionsOf('l2-block')
const callOptions = optionsOf('call', 'sender', 'value', 'gas')
const { address: _, ...eventOptions } = filterOptions
const logsOptions = { ...eventOptions, ...rangeOptions }
const bundleOptions = { ...trustedOptions, ...blockOptions, ...optionsOf('network', 'implementation') }
const own = { ...answerOptions, ...blockOptions, ...callOptions, ...logsOptions, ...messageOptions }
const all = { ...own, ...bundleOptions, ...optionsOf('timeout', 'json', 'trust-file') }

/** Whether it is what an endpoint sent, or a recording of that. No damaged bundle is. */
const isAnswerAlone = (file: InputFile): boolean =>
  (file.kind === 'answer' || file.kind === 'JSON-RPC response' || file.kind === 'recording') &&
  leafProofAt(file.answer, 0) !== undefined

const options = { ...all, address: list('ADDRESS', answerOptions.address.help) }

/** @param found the kind of state that the form of the file shows @throws UsageError */
type VerifyFile = (
  bundle: unknown,
  flags: EvidenceFlags,
  found: StateScheme | undefined,
) => Promise<VerdictReport> | VerdictReport

/** How each kind of evidence is verified, and the options of it alone. */
const kinds: Readonly<Record<EvidenceName, { readonly options: object; readonly verify: VerifyFile }>> = {
  state: { options: {}, verify: verifyState },
  logs: { options: logsOptions, verify: verifyLogsFile },
  message: { options: messageOptions, verify: verifyMessageFile },
  call: { options: callOptions, verify: verifyCall },
}

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'verify FILE [options]', options: own, all },
    about: `
Verifies an answer, a recording, or evidence of state, a call, logs or a
message, offline. - is standard input. An answer needs --state-root; evidence,
exactly one of --l1-block-hash, --checkpoint, --l1-state-root and --state-root.
What you do not state, the file chooses, and the report says so.`,
    notes: `
Verified (exit code 0): it follows from what you state. Consistent (4): from a
root or hash that only the file states, which anyone can invent. Refused (1).`,
    examples: `
rollup-state-proof verify answer.json --state-root 0x... --address 0x...
rollup-state-proof verify bundle.json --l1-block-hash 0x... --address 0x...
rollup-state-proof verify call.json --checkpoint 0x... --call 0x... 0x...`,
  }),
  async run(args, io) {
    const { values, path } = parsePath(args, options, 'expected one file or -')
    const { json, timeout, 'trust-file': trustFile, address: addresses = [], ...rest } = values
    const how = { json, 'trust-file': trustFile }
    const [address, ...others] = addresses
    const stated = { ...rest, ...(address !== undefined && { address }) }
    if (isFolder(path)) throw new UsageError(`${path} is a folder: use the command vectors`)
    const { 'state-root': stateRoot, 'storage-key': storageKeys } = stated
    const content = await readJson(path, io)
    refuseTraces(path, content)
    const file = readInputFile(content)
    // Whoever chooses the form of the answer cannot choose a kind of state with which it leads to the trusted root.
    const found = kindIn(content)
    const has = (options: object) => Object.keys(stated).some(name => name in options)
    const ofBundles = Object.keys(stated).filter(name => name in bundleOptions)
    if (file.kind === 'evidence vector' || file.kind === 'function vector') {
      if (has(stated)) throw new UsageError(`${path} is a vector and states its own inputs: leave out the options`)
      if (file.kind === 'function vector' || file.evidence !== 'state') {
        throw new UsageError('this vector is not about a state: run it with the command vectors')
      }
      const claim = claimOfVector(file)
      const spell = (verified: object) => evidenceKinds.state.spell(fieldsOf(verified))
      const outcome = safely(() => verifyEvidence(file.bundle, claim))
      const mismatches = compare(readExpected(file.expected), outcome, spell)
      return print(reportOnBundle(outcome, file.bundle, claim, 'file'), how, io, mismatches)
    }
    if (ofBundles.length > 0 && isAnswerAlone(file)) {
      const [options, needed] = [ofBundles.map(name => `--${name}`).join(' and '), '--state-root and --address']
      throw new UsageError(`${path} is an answer alone, so leave out ${options}, for bundles: it needs ${needed}`)
    }
    // An option for evidence says that the file is some.
    const evidence = file.kind === 'evidence' ? file.evidence : ofBundles.length > 0 ? 'state' : null
    for (const [name, { options }] of Object.entries(kinds)) {
      const [option] = Object.keys(stated).filter(option => option in options)
      if (name === evidence || option === undefined) continue
      // The name is that of a kind.
      throw new UsageError(`${path} is not ${evidenceKinds[name as EvidenceName].name}: leave out --${option}`)
    }
    if (evidence !== 'logs' && others.length > 0) throw new UsageError('--address is given twice')
    if (evidence !== null || file.kind === 'evidence') {
      const kind = evidence ?? 'state'
      const flags = { ...stated, addresses, ...(kind === 'call' && { timeout }) }
      return print(await kinds[kind].verify(content, flags, found), how, io)
    }
    const claim = requireClaim({ stateRoot, address, storageKeys }, file)
    const outcome = verifyAnswer(file, claim)
    const report = reportOnAnswer(outcome, file, claim)
    if (file.kind !== 'vector' || file.expected === undefined) return print(report, how, io)
    return print(report, how, io, compare(readExpected(file.expected), outcome, spellState))
  },
}

function refuseTraces(path: string, content: unknown): void {
  if (holdsTraces(content))
    throw new UsageError(`${path} holds traces of the state manager: verify them with the command diff`)
}

/** How to print a verdict. */
interface Printing {
  readonly json: boolean
  readonly 'trust-file': boolean
}

/** @param mismatches how the outcome differs from what a vector expects; undefined if it is none @returns the exit code */
function print(report: VerdictReport, flags: Printing, { stdout }: Io, mismatches?: readonly string[]): number {
  const { verdict, isVector, json, format } = report
  const asExpected = mismatches === undefined || mismatches.length === 0
  const trustsFile = flags['trust-file'] && verdict.word === 'consistent'
  if (flags.json) {
    const trust = trustsFile && { trustFile: true }
    const expected = mismatches && { asExpected, mismatches }
    stdout.write(toJson({ ...describeVerdict(verdict, isVector), ...trust, ...json, ...expected }))
  } else {
    const said = asExpected ? 'This is what the vector expects.' : 'This is not what the vector expects:'
    const lines = [
      ...(mismatches ? [paint(stdout, 'bold', said), ...mismatches.map(line => `  ${printable(line)}`)] : []),
      ...(trustsFile ? [TRUSTS_FILE] : []),
    ]
    stdout.write(format(stdout) + lines.map(line => `${line}\n`).join(''))
  }
  return asExpected ? exitCodeOf(verdict, acceptedWith(flags['trust-file'])) : exitCodes.refused
}

/** The kind of state that a bundle says it is of, or that the form of its answer shows. */
function kindIn(bundle: unknown): StateScheme | undefined {
  const stated = kindNamed(fieldIn(bundle, 'scheme'))
  return (stated?.hashScheme === null ? stated : guessKind(answerIn(bundle)))?.scheme
}

/** The answer in a bundle; the first of a call as evidence. */
const answerIn = (bundle: unknown): unknown =>
  fieldIn(bundle, 'answer') ?? fieldIn(itemsOf(fieldIn(bundle, 'answers'))[0], 'answer')

/** Verifies evidence of an account and its slots. @throws UsageError */
function verifyState(
  bundle: unknown,
  { addresses: _, ...flags }: EvidenceFlags,
  found: StateScheme | undefined,
): VerdictReport {
  const claim = claimOfFlags(flags, found)
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok && isArgumentError(outcome.error)) throw outcome.error
  return reportOnBundle(outcome, bundle, claim, 'user', found === undefined ? 'user' : 'lengths')
}

/** Executes a call as evidence again. @throws UsageError */
async function verifyCall(
  bundle: unknown,
  { addresses, timeout = '30', ...flags }: EvidenceFlags,
  found: StateScheme | undefined,
): Promise<VerdictReport> {
  if (addresses.length > 0 || flags['storage-key'] !== undefined) {
    throw new UsageError('it is a call as evidence: --address and --storage-key are for answers')
  }
  const call = callClaimOf(flags)
  const { hardfork = DEFAULT_HARDFORK } = networkOf(flags)
  const claim: CallClaim<Trusted, StateScheme> = {
    ...blockClaimOf(flags, found),
    hardfork,
    call,
    trusted: trustedOf(flags),
  }
  const of = (value: unknown): Source => (value === 'fromBundle' ? 'bundle' : 'user')
  const parts: PartSources = {
    l2BlockNumber: of(claim.l2BlockNumber),
    ...constantSources(claim, 'user'),
    ...Object.fromEntries(Object.entries(call).map(([name, value]) => [name, of(value)])),
  }
  const scheme = found === undefined ? 'user' : 'lengths'
  const sources = describeSources({ ...{ trusted: 'user', scheme, rollup: 'user' }, ...parts })
  try {
    const verified = await verifyCallEvidence(bundle, claim, timeoutOf(timeout)).catch(callFailed)
    const verdict = verdictOf(true, { ...parts, network: 'user', ...environmentSource(verified, 'bundle') })
    const format = (stream: Output) => `${formatCall(verdict, verified, stream, call)}\n`
    return { verdict, json: { sources, ...verified, ...agesOf(verified) }, format }
  } catch (error) {
    if (!isProofError(error)) throw error
    return reportOnError(error, { sources }, [
      ['call', call.to === 'fromBundle' ? 'whatever the bundle is for' : call.to],
    ])
  }
}
