import { plural } from '../../base/errors.ts'
import { parseBounded } from '../../base/json/parse.ts'
import { verifyEvidence } from '../../entry/anchor.ts'
import { type Hex, isArgumentError, isProofError } from '../../entry/index.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { AccountDiff } from '../../verify/transition/segment.ts'
import { type BlockDiff, type VerifiedTransition, verifyTransition } from '../../verify/transition/verify.ts'
import { type Input, unpack } from '../audit/input.ts'
import { MAX_ANSWER_LENGTH } from '../audit/limits.ts'
import { formatOf, type RowFormat, readLines, rowWriter } from '../audit/lines.ts'
import type { Io } from '../command.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { openInputs, readJson } from '../files/input.ts'
import { type StagedFile, stageFile } from '../files/output-file.ts'
import { formatEvidence } from '../kinds/evidence.ts'
import { list, optionsOf, text, typed, type ValuesOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { showProgress } from '../options/endpoint.ts'
import { networkOf, schemeOf } from '../options/network.ts'
import { hex, integer } from '../options/read.ts'
import { trustedOf } from '../options/trust.ts'
import { REFUSED, reportOnError, toJson, type VerdictReport } from '../output/report.ts'
import { describeVerdict, exitCodeOf, paintVerdict } from '../output/verdict.ts'
import { holdsTraces, readInputFile } from '../words/input-file.ts'
import { DocumentError, hasFields, messageOf } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import type { Row } from '../words/wording.ts'

const options = {
  'parent-root': typed('ROOT', 'the state root before the first block', hex(32)),
  'parent-evidence': text('BUNDLE', 'or evidence of any account at that block'),
  'state-root': typed('ROOT', 'the state root after the last block', hex(32)),
  evidence: text('BUNDLE', 'or evidence of any account at that block'),
  'first-block': typed('N', 'the number of the first block, for the rows', integer(64)),
}
const shared = {
  ...optionsOf('network', 'implementation', 'output', 'force', 'json', 'checkpoint'),
  'l1-block-hash': list('HASH', 'of two, the first is for --parent-evidence', hex(32)),
}

const BLOCKS_PER_PROGRESS = 100

type Values = ValuesOf<typeof shared & typeof options>

interface End {
  readonly root: Hex
  readonly source: 'stated by you' | 'proven by the evidence'
  /** Of evidence. */
  readonly l2BlockNumber?: bigint
}

export const command = defineCommand(
  {
    usage: 'diff FILE... [options]',
    options,
    shared,
    expected: 'expected files of traces, or -',
    isMany: true,
    about: `
Verifies traces of the operator's state manager, and lists every account and
slot that a range of blocks changed. FILE has answers of its method
rollup_getZkEVMStateMerkleProofV0, one per line. - is standard input. Evidence
is what \`record state\` writes: of two --l1-block-hash, the first is for
--parent-evidence. Nothing is printed before everything is verified. The file of
--output gets a row per change, as CSV if its name ends with .csv.`,
    notes: `
Verified: these changes lead from one root to the other. In between, no root is
known: what a block changes and a later one takes back is the sender's word.
Exit code: 0 verified, 1 refused, 2 wrong usage, 4 consistent only: without
--state-root or --evidence, the sender of the files chooses the end.`,
    examples: `
rollup-state-proof diff traces.ndjson --parent-root 0x... --state-root 0x...
rollup-state-proof diff traces.ndjson --parent-evidence before.json \\
  --evidence after.json --checkpoint 0x... -o changes.csv`,
  },
  async (values, io, files) => {
    const { verdict, json, format } = await diff(values, openInputs(files, io), io)
    io.stdout.write(values.json ? toJson({ ...describeVerdict(verdict), ...json }) : format(io.stdout))
    return exitCodeOf(verdict)
  },
)

/** Verifies, and writes the rows if all is right. @throws UsageError */
async function diff(values: Values, { inputs, share }: ReturnType<typeof openInputs>, io: Io): Promise<VerdictReport> {
  const { output = '-', force, json } = values
  const scheme = schemeOf(networkOf(values))
  const at = { input: '', answer: 0, block: 0 }
  let staged: StagedFile | undefined
  try {
    const begin = await endOf('parent-root', 'parent-evidence', values, at, io)
    if (begin === null)
      throw new UsageError('--parent-root or --parent-evidence is needed: the state before the first block')
    const end = await endOf('state-root', 'evidence', values, at, io)
    if (Number(end?.l2BlockNumber) < Number(begin.l2BlockNumber))
      throw new UsageError(
        `--evidence is of L2 block ${end?.l2BlockNumber}, before ${begin.l2BlockNumber}, that of --parent-evidence: are they swapped?`,
      )
    const writer = diffWriter(output === '-' ? 'table' : formatOf(output))
    let block = values['first-block'] ?? (begin.l2BlockNumber ?? 0n) + 1n
    const counts = { blocks: 0, accountChanges: 0, slotChanges: 0 }
    const report = { scheme: scheme.name, begin, end, root: begin.root, ...counts }
    staged = stageFile(output, force)
    staged.write(writer.heading)
    for await (const diff of verifyChain(inputs, { scheme, parentStateRoot: begin.root }, at)) {
      const { lines, accountChanges, slotChanges } = writer.linesOf(diff, block++)
      staged.write(lines)
      report.root = diff.stateRoot
      report.blocks++
      report.accountChanges += accountChanges
      report.slotChanges += slotChanges
      if (report.blocks % BLOCKS_PER_PROGRESS === 0) showProgress(io, describe(report.blocks, share()))
    }
    const reason = wrongEnd(report)
    if (reason !== undefined)
      return {
        verdict: REFUSED,
        json: { reason },
        format: stream => `${paintVerdict(stream, REFUSED, 'Refused:')} ${reason}\n`,
      }
    if (output !== '-') staged.publish()
    else if (!json) await staged.print(io)
    return reportOn(report, output)
  } catch (error) {
    const { input, answer, block } = at
    if (error instanceof DocumentError) throw new UsageError(`${input}: ${error.message}`)
    if (!isProofError(error)) throw error
    // Of evidence, there is no answer, and not every error is in a block.
    const place = { in: input, ...(answer > 0 && { answer: `${answer}` }), ...(block > 0 && { block: `${block}` }) }
    return reportOnError(error, place, Object.entries(place))
  } finally {
    staged?.remove()
  }
}

interface Report {
  readonly begin: End
  readonly end: End | null
  readonly root: Hex
  readonly blocks: number
  readonly accountChanges: number
  readonly slotChanges: number
}

function wrongEnd({ root, begin, end, blocks }: Report): string | undefined {
  if (end === null) return undefined
  if (root !== end.root.toLowerCase()) return `The traces lead to the root ${root}, not to ${end.root}.`
  if (begin.l2BlockNumber === undefined || end.l2BlockNumber === undefined) return undefined
  const expected = end.l2BlockNumber - begin.l2BlockNumber
  return BigInt(blocks) === expected
    ? undefined
    : `The files hold ${plural(blocks, 'block')}, but the evidence is ${expected} apart.`
}

function reportOn(report: Report, output: string): VerdictReport {
  const { begin, end, root, blocks, accountChanges, slotChanges } = report
  const verdict = verdictOf(true, { rootBefore: 'user', rootAfter: end === null ? 'answer' : 'user' })
  const rows: Row[] = [
    ['parent root', begin.root, begin.source],
    ['state root', root, end?.source ?? 'chosen by the sender'],
    ['blocks', `${blocks}`],
    ['net changes', `${accountChanges} of accounts`, `${slotChanges} of slots`],
    ...(output === '-' ? [] : [['file', output, 'written'] as const]),
  ]
  const what = 'these net changes of blocks, one after the other, lead from one root to the other'
  return {
    verdict,
    json: { ...report, output: output === '-' ? null : output },
    format: stream => `${formatEvidence(verdict, { what }, rows, stream)}\n`,
  }
}

const describe = (blocks: number, share: number): string =>
  `${plural(blocks, 'block')}${share > 0 ? `, ${Math.floor(100 * share)}%` : ''}`

/** The root at an end: stated, or proven by evidence. @param at is told its file @returns null if neither is given @throws UsageError, ProofError */
async function endOf(
  rootName: 'parent-root' | 'state-root',
  evidenceName: 'parent-evidence' | 'evidence',
  values: Values,
  at: { input: string },
  io: Io,
): Promise<End | null> {
  const [root, path] = [values[rootName], values[evidenceName]]
  if (root !== undefined && path !== undefined)
    throw new UsageError(`--${rootName} and --${evidenceName}: state one of them`)
  if (root !== undefined) return { root, source: 'stated by you' }
  if (path === undefined) return null
  const { 'l1-block-hash': hashes = [], checkpoint } = values
  const hash = evidenceName === 'evidence' ? hashes.at(-1) : hashes[0]
  const chosen = networkOf(values)
  const { rollup, scheme } = chosen
  const trusted = await trustedOf({ checkpoint, 'l1-block-hash': hash }, chosen, ['checkpoint', 'l1-block-hash'])
  const subject = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const
  const content = await readJson(path, io)
  at.input = path
  const { kind } = readInputFile(content)
  if (kind !== 'evidence' && kind !== 'unknown')
    throw new UsageError(`--${evidenceName}: ${path} is no evidence, as \`record state\` writes it`)
  try {
    const { stateRoot, l2BlockNumber } = verifyEvidence(content, { scheme, rollup, trusted, ...subject })
    return { root: stateRoot, source: 'proven by the evidence', ...(l2BlockNumber !== undefined && { l2BlockNumber }) }
  } catch (error) {
    throw isArgumentError(error) ? argumentRefused(error) : error
  }
}

/** Where an answer is: from 1 in its input, and its block from 1 in the whole chain; 0 if it is in none. */
interface Place {
  input: string
  answer: number
  block: number
}

/** Verifies answers, one per line, each from the root that the one before it has come to. @throws ProofError, DocumentError */
export async function* verifyChain(
  inputs: readonly Input[],
  { scheme, parentStateRoot }: { readonly scheme: Scheme; readonly parentStateRoot: Hex },
  place: Place,
): AsyncGenerator<BlockDiff> {
  let root = parentStateRoot
  for (const { name, open } of inputs) {
    place.input = name
    place.answer = 0
    for await (const answer of answersIn(open())) {
      place.answer++
      const { blocks } = placed(place, () => verifyTransition(answer, { scheme, parentStateRoot: root }))
      for (const diff of blocks) {
        place.block++
        root = diff.stateRoot
        yield diff
      }
    }
    if (place.answer === 0) throw new DocumentError('it holds no answer')
  }
}

async function* answersIn(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<unknown> {
  try {
    for await (const line of readLines(unpack(chunks), MAX_ANSWER_LENGTH))
      if (line.trim() !== '') yield readAnswer(line.trim())
  } catch (error) {
    throw error instanceof DocumentError ? error : new DocumentError(`damaged: ${messageOf(error)}`)
  }
}

function readAnswer(text: string): unknown {
  let answer: unknown
  try {
    answer = parseBounded(text)
  } catch (error) {
    throw new DocumentError(`it has a line that is not JSON: write each answer in one line (${messageOf(error)})`)
  }
  if (holdsTraces(answer) || hasFields(answer, 'error')) return answer
  throw new DocumentError('it has a line that is no answer with traces, as the state manager sends it')
}

/** Notes the block at which an answer fails, which the path of the error names. */
function placed(place: { block: number }, verify: () => VerifiedTransition): VerifiedTransition {
  try {
    return verify()
  } catch (error) {
    const [, index] = /^(?:result\.)?zkStateMerkleProof\[(\d+)\]/.exec(isProofError(error) ? error.path : '') ?? []
    place.block = index === undefined ? 0 : place.block + Number(index) + 1
    throw error
  }
}

type DiffFormat = 'table' | RowFormat

/** What a block changed, from its end to that of the block before. What it changed and took back again is no row. */
const COLUMNS = ['block', 'address', 'what', 'key', 'beforeBlock', 'afterBlock'] as const
type Change = Partial<Readonly<Record<(typeof COLUMNS)[number], string>>>

const HEADING = 'Net changes of each block. Only what they come to is proven: the way from one root to the other.\n'

function diffWriter(format: DiffFormat) {
  const { heading, lineOf } = format === 'table' ? { heading: HEADING, lineOf: toText } : rowWriter(COLUMNS, format)
  return {
    heading,
    /** The lines for a block, and how many accounts and slots it changed. */
    linesOf({ accounts }: BlockDiff, block: bigint) {
      const changed = accounts.filter(account => account.changed)
      const changes = changed.flatMap(changesOf)
      return {
        lines: changes.map(change => lineOf({ block: `${block}`, ...change })).join(''),
        accountChanges: changed.length,
        slotChanges: changes.filter(({ what }) => what === 'slot').length,
      }
    },
  }
}

/** The fields of an account that are different, and its slots. What was only read is left out. */
function changesOf({ address, before, after, storage }: AccountDiff): Change[] {
  const fields = Object.keys(before ?? after ?? {}).map(what => {
    const spell = (account: object | null) => account && `${Reflect.get(account, what)}`
    return { what, before: spell(before), after: spell(after) }
  })
  return [...fields, ...storage.map(slot => ({ what: 'slot', ...slot }))].flatMap(({ before, after, ...of }) =>
    before === after
      ? []
      : [
          {
            address,
            ...of,
            ...(before !== null && { beforeBlock: before }),
            ...(after !== null && { afterBlock: after }),
          },
        ],
  )
}

function toText({ block, address, what = '', key, beforeBlock = '-', afterBlock = '-' }: Change): string {
  const place = key === undefined ? what.padEnd(13) : `${what} ${key}\n   `
  return `block ${block}  ${address}  ${place} ${beforeBlock} -> ${afterBlock}\n`
}
