import { plural } from '../../base/errors.ts'
import { isProofError } from '../../entry/index.ts'
import { formatOf } from '../audit/rows.ts'
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
import { verifyChain } from '../transition/chain.ts'
import { diffWriter } from '../transition/rows.ts'
import { DocumentError } from '../words/error.ts'
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
