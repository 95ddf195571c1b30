import type { StateScheme } from '../../entry/anchor.ts'
import type { EvidenceName } from '../../verify/evidence/verify.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { nameOf, readAs, readJson } from '../files/input.ts'
import { reportOnAnswer } from '../kinds/answer.ts'
import { type EvidenceFlags, reportOnEvidence, type Stated } from '../kinds/evidence.ts'
import { list, type Options, optionsOf, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { filterOptions, rangeOptions } from '../options/filter.ts'
import { address, hex } from '../options/read.ts'
import { toJson, type VerdictReport } from '../output/report.ts'
import { acceptedWith, describeVerdict, exitCodeOf, TRUSTS_FILE } from '../output/verdict.ts'
import { guessKind, kindNamed, leafProofAt } from '../words/answer.ts'
import { type AnswerFile, evidenceNames, holdsTraces, OF_NO_KIND, readInputFile } from '../words/input-file.ts'
import { fieldIn, itemsOf } from '../words/value.ts'
import type { ProvenChain } from '../words/wording.ts'

const answerOptions = optionsOf('state-root', 'address', 'storage-key', 'mapping')
const callOptions = optionsOf('call', 'sender', 'value', 'gas')
const { address: _, ...eventOptions } = filterOptions
const messageOptions = { message: typed('HASH', 'the hash of the message', hex(32)) }
const headOptions = optionsOf('network', 'implementation', 'checkpoint', 'l1-block-hash', 'l1-state-root')
/** Of evidence from a block of L2. */
const blockOptions = { ...headOptions, ...optionsOf('l2-block', 'state-root') }
const options = {
  ...optionsOf('state-root'),
  // Of logs, there may be several.
  address: list('ADDRESS', answerOptions.address.help, address),
  ...optionsOf('storage-key', 'mapping', 'l2-block'),
  ...callOptions,
  ...eventOptions,
  ...rangeOptions,
  ...messageOptions,
}

interface Kind {
  readonly options: Options
  /** Loads what verifies it: no other kind needs that. */
  load(): Promise<{ statedIn(flags: EvidenceFlags): Stated<ProvenChain> }>
}

const kinds: Readonly<Record<EvidenceName, Kind>> = {
  state: { options: { ...blockOptions, ...answerOptions }, load: () => import('../kinds/state.ts') },
  logs: { options: { ...blockOptions, ...filterOptions, ...rangeOptions }, load: () => import('../kinds/logs.ts') },
  message: { options: { ...headOptions, ...messageOptions }, load: () => import('../kinds/message.ts') },
  call: { options: { ...blockOptions, ...callOptions }, load: () => import('../kinds/call.ts') },
}

export const command = defineCommand(
  {
    usage: 'verify FILE [options]',
    options,
    expected: 'expected one file or -',
    shared: { ...headOptions, ...optionsOf('timeout', 'json', 'trust-file') },
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
  },
  async (values, io, [path]) => {
    const { json, timeout, 'trust-file': trustFile, address: addresses = [], ...rest } = values
    const [address] = addresses
    const stated = { ...rest, ...(address !== undefined && { address }) }
    const content = await readJson(path, io)
    const name = nameOf(path)
    if (holdsTraces(content))
      throw new UsageError(`${name} holds traces of the state manager: verify them with the command diff`)
    const file = readAs(path, content, readInputFile)
    const isVector = file.kind === 'evidence vector' || file.kind === 'function vector'
    const evidence =
      file.kind === 'evidence' ? file.evidence : !isVector && isForEvidence(file, stated) ? 'state' : null
    if (isVector || (file.kind === 'vector' && evidence === null))
      throw new UsageError(`${name} is a vector, which states its own inputs: verify what is in it`)
    requireOptions(name, evidence, stated)
    if (addresses.length > 1 && evidence !== 'logs') throw new UsageError('--address is given twice')
    const print = (report: VerdictReport) => printReport(report, { json, trustFile }, io)
    if (file.kind === 'evidence' || evidence !== null) {
      const { statedIn } = await kinds[evidence ?? 'state'].load()
      const flags = { ...stated, addresses, timeout }
      // Whoever chooses the form of the answer cannot choose a kind of state with which it leads to the trusted root.
      return print(await reportOnEvidence(content, flags, schemeIn(content), statedIn(flags)))
    }
    const { 'state-root': stateRoot, 'storage-key': storageKeys } = stated
    if (file.kind === 'unknown' && stateRoot === undefined) throw new UsageError(`${name}: ${OF_NO_KIND}`)
    return print(reportOnAnswer({ stateRoot, address, storageKeys }, file))
  },
)

/** Whether an option for evidence says that the file is some. What an endpoint sent is none, nor is a recording of that. */
function isForEvidence({ kind, answer }: AnswerFile, stated: object): boolean {
  const isAnswer = kind !== 'unknown' && kind !== 'vector' && leafProofAt(answer, 0) !== undefined
  return !isAnswer && Object.keys(stated).some(name => name in blockOptions && !(name in answerOptions))
}

/** An option that has no effect on the verdict must not seem to have one. @throws UsageError */
function requireOptions(file: string, evidence: EvidenceName | null, stated: object): void {
  const allowed = evidence === null ? answerOptions : kinds[evidence].options
  const others = Object.keys(stated).filter(name => !(name in allowed))
  if (others.length === 0) return
  const what = evidence === null ? 'an answer alone' : evidenceNames[evidence]
  const needed = evidence === null ? '. It needs --state-root and --address' : ''
  throw new UsageError(`${file} is ${what}: leave out ${others.map(name => `--${name}`).join(' and ')}${needed}`)
}

function printReport(
  { verdict, json, format }: VerdictReport,
  how: { readonly json: boolean; readonly trustFile: boolean },
  { stdout }: Io,
): number {
  const trustsFile = how.trustFile && verdict.word === 'consistent'
  if (how.json) stdout.write(toJson({ ...describeVerdict(verdict), ...(trustsFile && { trustFile: true }), ...json }))
  else stdout.write(format(stdout) + (trustsFile ? `${TRUSTS_FILE}\n` : ''))
  return exitCodeOf(verdict, acceptedWith(how.trustFile))
}

/** The kind of state that a bundle says it is of, or that the form of its answer shows. */
function schemeIn(bundle: unknown): StateScheme | undefined {
  const stated = kindNamed(fieldIn(bundle, 'scheme'))
  const answer = fieldIn(bundle, 'answer') ?? fieldIn(itemsOf(fieldIn(bundle, 'answers'))[0], 'answer')
  return (stated?.hashScheme === null ? stated : guessKind(answer))?.scheme
}
