import { plural } from '../../base/errors.ts'
import { parseBounded } from '../../base/json/parse.ts'
import { type Hex, isProofError } from '../../entry/index.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { AccountDiff } from '../../verify/transition/segment.ts'
import { type BlockDiff, type VerifiedTransition, verifyTransition } from '../../verify/transition/verify.ts'
import { type Input, unpack } from '../audit/input.ts'
import { MAX_ANSWER_LENGTH } from '../audit/limits.ts'
import { readLines } from '../audit/lines.ts'
import { formatOf, type RowFormat, rowWriter } from '../audit/rows.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { openInputs } from '../files/input.ts'
import { type StagedFile, stageFile } from '../files/output-file.ts'
import { formatEvidence } from '../kinds/evidence.ts'
import { optionsOf, typed, type ValuesOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { showProgress } from '../options/endpoint.ts'
import { networkOf, schemeOf } from '../options/network.ts'
import { hex, integer } from '../options/read.ts'
import { REFUSED, reportOnError, toJson, type VerdictReport } from '../output/report.ts'
import { describeVerdict, exitCodeOf, paintVerdict } from '../output/verdict.ts'
import { DocumentError } from '../words/error.ts'
import { holdsTraces } from '../words/input-file.ts'
import { hasFields, messageOf } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import { type Row, sourceWords } from '../words/wording.ts'

const options = {
  'parent-root': typed('ROOT', 'the state root before the first block', hex(32)),
  'state-root': typed('ROOT', 'the state root after the last block', hex(32)),
  'first-block': typed('N', 'the number of the first block, for the rows', integer(64)),
}
const shared = optionsOf('network', 'output', 'force', 'json')

const BLOCKS_PER_PROGRESS = 100

type Values = ValuesOf<typeof shared & typeof options>

export const command = defineCommand(
  {
    usage: 'diff FILE... --parent-root ROOT [options]',
    options,
    shared,
    expected: 'expected files of traces, or -',
    isMany: true,
    about: `
Verifies traces of the operator's state manager, and lists every account and
slot that a range of blocks changed. FILE has answers of its method
rollup_getZkEVMStateMerkleProofV0, one per line. - is standard input. Nothing is
printed before everything is verified. The file of --output gets a row per
change, as CSV if its name ends with .csv. L1 holds the roots at the ends of
finalizations: \`verify\` prints them, of what \`record state\` has recorded there.`,
    notes: `
Verified: these changes lead from one root to the other. In between, no root is
known: what a block changes and a later one takes back is the sender's word.
Exit code: 0 verified, 1 refused, 2 wrong usage, 4 consistent only: without
--state-root, the sender of the files chooses the end.`,
    examples: `
rollup-state-proof diff traces.ndjson --parent-root 0x... --state-root 0x...
rollup-state-proof diff traces.ndjson --parent-root 0x... --state-root 0x... \\
  --first-block N -o changes.csv`,
  },
  async (values, io, files) => {
    const { verdict, json, format } = await diff(values, openInputs(files, io), io)
    io.stdout.write(values.json ? toJson({ ...describeVerdict(verdict), ...json }) : format(io.stdout))
    return exitCodeOf(verdict)
  },
)

/** Verifies, and writes the rows if all is right. @throws UsageError */
async function diff(values: Values, { inputs, share }: Inputs, io: Io): Promise<VerdictReport> {
  const { output = '-', force, json, 'parent-root': parentStateRoot, 'state-root': end } = values
  const scheme = schemeOf(networkOf(values))
  if (parentStateRoot === undefined) throw new UsageError('--parent-root is needed: the state before the first block')
  const at = { input: '', answer: 0, block: 0 }
  let staged: StagedFile | undefined
  try {
    const writer = diffWriter(output === '-' ? 'table' : formatOf(output))
    let block = values['first-block'] ?? 1n
    const report = {
      scheme: scheme.name,
      parentStateRoot,
      stateRoot: parentStateRoot,
      blocks: 0,
      accountChanges: 0,
      slotChanges: 0,
    }
    staged = stageFile(output, force)
    staged.write(writer.heading)
    for await (const diff of verifyChain(inputs, { scheme, parentStateRoot }, at)) {
      const { lines, accountChanges, slotChanges } = writer.linesOf(diff, block++)
      staged.write(lines)
      report.stateRoot = diff.stateRoot
      report.blocks++
      report.accountChanges += accountChanges
      report.slotChanges += slotChanges
      if (report.blocks % BLOCKS_PER_PROGRESS === 0) showProgress(io, describe(report.blocks, share()))
    }
    if (end !== undefined && report.stateRoot.toLowerCase() !== end.toLowerCase()) {
      const reason = `The traces lead to the root ${report.stateRoot}, not to ${end}.`
      return {
        verdict: REFUSED,
        json: { reason },
        format: stream => `${paintVerdict(stream, REFUSED, 'Refused:')} ${reason}\n`,
      }
    }
    if (output !== '-') staged.publish()
    else if (!json) await staged.print(io)
    return reportOn(report, end !== undefined, output)
  } catch (error) {
    const { input, answer, block } = at
    if (error instanceof DocumentError) throw new UsageError(`${input}: ${error.message}`)
    if (!isProofError(error)) throw error
    const place = { in: input, answer: `${answer}`, block: `${block}` }
    return reportOnError(error, place, Object.entries(place))
  } finally {
    staged?.remove()
  }
}

type Inputs = ReturnType<typeof openInputs>

interface Report {
  readonly parentStateRoot: string
  readonly stateRoot: string
  readonly blocks: number
  readonly accountChanges: number
  readonly slotChanges: number
}

function reportOn(report: Report, isStated: boolean, output: string): VerdictReport {
  const { parentStateRoot, stateRoot, blocks, accountChanges, slotChanges } = report
  const verdict = verdictOf(true, { rootBefore: 'user', rootAfter: isStated ? 'user' : 'answer' })
  const rows: Row[] = [
    ['parent root', parentStateRoot, sourceWords.user],
    ['state root', stateRoot, isStated ? sourceWords.user : 'chosen by the sender'],
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

/** Where an answer is: from 1 in its input, and its block from 1 in the whole chain. */
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
    if (index !== undefined) place.block += Number(index) + 1
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
