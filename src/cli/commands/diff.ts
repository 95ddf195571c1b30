import { verifyEvidence } from '../../entry/anchor.ts'
import { type Hex, isArgumentError, isProofError, type ProofError, type Scheme } from '../../entry/index.ts'
import type { Command, Io, Output } from '../command.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { openInputs, readJson } from '../files/input.ts'
import { openSpool } from '../files/spool.ts'
import { flag, formatHelp, list, optionsOf, text, textOr } from '../options/declared.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import { schemeOf, trustedOf } from '../options/flags.ts'
import { networkOf } from '../options/network.ts'
import { parseOptions, requireHex, toInteger } from '../options/parse.ts'
import { describeError, formatError, formatNotes, REFUSED, toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { describeVerdict, exitCodeOf, formatVerdict, paintVerdict } from '../output/verdict.ts'
import { type TransitionInput, verifyChain } from '../transition/chain.ts'
import { changedSlots, headingOf, type RowFormat, rowsOf } from '../transition/rows.ts'
import { DocumentError } from '../words/error.ts'
import { type Verdict, verdictOf } from '../words/verdict.ts'

const options = {
  'parent-root': text('ROOT', 'the state root before the first block'),
  'parent-evidence': text('BUNDLE', 'or evidence of any account at that block'),
  'state-root': text('ROOT', 'the state root after the last block'),
  evidence: text('BUNDLE', 'or evidence of any account at that block'),
  'open-end': flag('compare the end with no root; the result is consistent only'),
  format: textOr('table', 'FORMAT', 'or ndjson, csv'),
  'first-block': text('N', 'the number of the first block, for the rows'),
} as const
const all = {
  ...options,
  ...optionsOf('network', 'implementation', 'output', 'force', 'json', 'checkpoint'),
  'l1-block-hash': list('HASH', 'of two, the first is for --parent-evidence'),
} as const

const FORMATS = ['table', 'ndjson', 'csv'] as const
const BLOCKS_PER_PROGRESS = 100

type Values = ReturnType<typeof parseOptions<typeof all>>['values']

/** A root at an end of the range, and where it is from. */
interface End {
  readonly root: Hex
  readonly source: 'stated by you' | 'proven by the evidence'
  /** Of evidence. */
  readonly l2BlockNumber?: bigint
}

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'diff FILE... [options]', options, all },
    about: `
Verifies traces of the operator's state manager, from \`fetch traces\`, and lists
every account and slot that a range of blocks changed. FILE has answers of
rollup_getZkEVMStateMerkleProofV0, one per line. - is standard input. Evidence
is what \`record state\` writes: of two --l1-block-hash, the first is for
--parent-evidence. Nothing is printed before everything is verified.`,
    notes: `
Verified: these changes lead from one root to the other. In between, no root is
known: what a block changes and a later one takes back is the sender's word.
Exit code: 0 verified, 1 refused, 2 wrong usage, 4 consistent only: with
--open-end, the sender of the files chooses the end.`,
    examples: `
rollup-state-proof diff traces.ndjson --parent-root 0x... --state-root 0x...
rollup-state-proof diff traces.ndjson --parent-evidence before.json \\
  --evidence after.json --checkpoint 0x... --format csv -o changes.csv`,
  }),
  async run(args, io) {
    const { values, positionals } = parseOptions(args, all, { allowPositionals: true })
    if (positionals.length === 0) throw new UsageError('expected files of traces, or -')
    const format = FORMATS.find(name => name === values.format)
    if (format === undefined) throw new UsageError(`--format: expected ${FORMATS.join(', ')}`)
    const scheme = schemeOf(networkOf(networkFlags(values)))
    const { inputs, share } = openInputs(positionals, io)
    try {
      const begin = await endOf('parent-root', 'parent-evidence', values, scheme, io)
      if (begin === null)
        throw new UsageError('--parent-root or --parent-evidence is needed: the state before the first block')
      const end = await endOf('state-root', 'evidence', values, scheme, io)
      if ((end === null) !== values['open-end'])
        throw new UsageError('state the end: one of --state-root, --evidence and --open-end')
      return await diff({ values, format, scheme, inputs, share, begin, end }, io)
    } catch (error) {
      if (!isProofError(error)) throw error
      return refuse(error, [], values, io)
    }
  },
}

interface Wanted {
  readonly values: Values
  readonly format: RowFormat
  readonly scheme: Scheme
  readonly inputs: readonly TransitionInput[]
  readonly share: () => number
  readonly begin: End
  readonly end: End | null
}

/** @returns the exit code */
async function diff({ values, format, scheme, inputs, share, begin, end }: Wanted, io: Io): Promise<number> {
  const { output = '-', force, json } = values
  const stated = values['first-block']
  const after = begin.l2BlockNumber === undefined ? 1n : begin.l2BlockNumber + 1n
  const first = stated === undefined ? after : toInteger('--first-block', stated, 64)
  const place = { input: '', answer: 0, block: 0 }
  const counts = { blocks: 0, traces: 0, accountChanges: 0, slotChanges: 0 }
  const spool = openSpool(output, force, io)
  let root = begin.root
  try {
    spool.write(headingOf(format))
    for await (const { diff, traces } of verifyChain(inputs, { scheme, parentStateRoot: begin.root }, place)) {
      spool.write(rowsOf(diff, first + BigInt(counts.blocks), format))
      const changed = diff.accounts.filter(account => account.changed)
      counts.blocks++
      counts.traces += traces
      counts.accountChanges += changed.length
      for (const account of changed) counts.slotChanges += changedSlots(account).length
      root = diff.stateRoot
      const { blocks } = counts
      if (blocks % BLOCKS_PER_PROGRESS === 0) showProgress(io, describe(blocks, counts.traces, share()))
    }
    endProgress(io)
    const wrong = wrongEnd(root, begin, end, counts.blocks)
    if (wrong !== undefined) return refuseEnd(wrong, values, io)
    if (!json || output !== '-') await spool.publish()
    const report = { begin, end, root, ...counts }
    const verdict = verdictOf(true, { rootBefore: 'user', rootAfter: end === null ? 'answer' : 'user' })
    const said = describeVerdict(verdict)
    const { stdout } = io
    if (json) stdout.write(toJson({ ...said, scheme: scheme.name, ...report, output: output === '-' ? null : output }))
    else reportStream(values, io).write(formatReport(verdict, report, output, reportStream(values, io)))
    return exitCodeOf(verdict)
  } catch (error) {
    endProgress(io)
    const at = [
      ['in', place.input] as const,
      ['answer', `${place.answer}`] as const,
      ['block', `${place.block}`] as const,
    ]
    if (isProofError(error)) return refuse(error, at, values, io)
    throw error instanceof DocumentError ? new UsageError(`${place.input}: ${error.message}`) : error
  } finally {
    spool.remove()
  }
}

/** Why the range does not end where it has to. */
function wrongEnd(root: Hex, begin: End, end: End | null, blocks: number): string | undefined {
  if (end === null) return undefined
  if (root !== end.root.toLowerCase()) return `The traces lead to the root ${root}, not to ${end.root}.`
  if (begin.l2BlockNumber === undefined || end.l2BlockNumber === undefined) return undefined
  const expected = end.l2BlockNumber - begin.l2BlockNumber
  return BigInt(blocks) === expected
    ? undefined
    : `The files hold ${blocks} blocks, but the evidence is ${expected} apart.`
}

const networkFlags = ({ network, implementation }: Values) => ({ network, implementation })

/** Rows on standard output are for another program, but a table is read with the report below it. */
const reportStream = ({ output = '-', format }: Values, io: Io): Output =>
  output === '-' && format !== 'table' ? io.stderr : io.stdout

function refuseEnd(reason: string, values: Values, io: Io): number {
  const stream = reportStream(values, io)
  if (values.json) io.stdout.write(toJson({ ...describeVerdict(REFUSED), reason }))
  else stream.write(`${paintVerdict(stream, REFUSED, 'Refused:')} ${reason}\n`)
  return exitCodeOf(REFUSED)
}

function refuse(error: ProofError, at: readonly (readonly [string, string])[], values: Values, io: Io): number {
  const stream = reportStream(values, io)
  const json = { ...describeVerdict(REFUSED), ...Object.fromEntries(at), error: describeError(error) }
  if (values.json) io.stdout.write(toJson(json))
  else stream.write(formatError(error, at, stream))
  return exitCodeOf(REFUSED)
}

interface Report {
  readonly begin: End
  readonly end: End | null
  readonly root: Hex
  readonly blocks: number
  readonly traces: number
  readonly accountChanges: number
  readonly slotChanges: number
}

function formatReport(
  verdict: Verdict,
  { begin, end, root, blocks, traces, accountChanges, slotChanges }: Report,
  output: string,
  stream: Output,
): string {
  return `${[
    formatVerdict(verdict, 'these changes, one after the other, lead from one root to the other', stream),
    formatTable(
      [
        ['parent root', begin.root, begin.source],
        ['state root', root, end?.source ?? 'chosen by the sender'],
        ['blocks', `${blocks}`, `${traces} traces`],
        ['changes', `${accountChanges} of accounts`, `${slotChanges} of slots`],
        ...(output === '-' ? [] : [['file', output, 'written']]),
      ],
      stream,
    ),
    ...formatNotes(end === null ? ['the sender chose the state root, and can have made up every change.'] : [], stream),
  ].join('\n')}\n`
}

const describe = (blocks: number, traces: number, share: number): string =>
  `${blocks} blocks, ${traces} traces${share > 0 ? `, ${Math.floor(100 * share)}%` : ''}`

/** The root at an end: stated, or proven by evidence. @returns null if neither is given @throws UsageError, ProofError */
async function endOf(
  rootName: 'parent-root' | 'state-root',
  evidenceName: 'parent-evidence' | 'evidence',
  values: Values,
  scheme: Scheme,
  io: Io,
): Promise<End | null> {
  const [root, path] = [values[rootName], values[evidenceName]]
  if (root !== undefined && path !== undefined)
    throw new UsageError(`--${rootName} and --${evidenceName}: state one of them`)
  requireHex(`--${rootName}`, 32, root)
  if (root !== undefined) return { root, source: 'stated by you' }
  if (path === undefined) return null
  const { 'l1-block-hash': hashes = [], checkpoint, network } = values
  const hash = evidenceName === 'evidence' ? hashes.at(-1) : hashes[0]
  requireHex('--l1-block-hash', 32, hash)
  const trusted = await trustedOf({ checkpoint, network, 'l1-block-hash': hash })
  const { rollup } = networkOf(networkFlags(values))
  const subject = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const
  const content = await readJson(path, io)
  try {
    const { stateRoot, l2BlockNumber } = verifyEvidence(content, { scheme, rollup, trusted, ...subject })
    return { root: stateRoot, source: 'proven by the evidence', ...(l2BlockNumber !== undefined && { l2BlockNumber }) }
  } catch (error) {
    throw isArgumentError(error) ? argumentRefused(error) : error
  }
}
