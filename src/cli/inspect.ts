import { type Command, exitCodes } from './command.ts'
import { type Facts, type Inspection, inspectContent } from './facts.ts'
import { parsePath, readJson } from './input.ts'
import { formatTable, paint, printable, toJson } from './report.ts'

const help = `Usage: rollup-state-proof inspect FILE [--json]

Prints what an evidence bundle, an answer, a JSON-RPC response, a recording or a vector says: account fields, leaf
indices, neighbours, slots, header fields. Nothing is verified: all of it can be made up. - is standard input.

Options:
  --json    one JSON object on standard output

Exit code: 0 printed, 1 printed but parts of it are malformed, 2 wrong usage or unreadable input. None means verified.

Example:
  rollup-state-proof inspect bundle.json
`

const MARK = 'UNVERIFIED: this is what the file says. Nothing of it was checked.'

export const inspect: Command = {
  summary: 'print what a bundle, an answer or a vector says, unverified',
  help,
  async run(args, io) {
    const { path, json } = parsePath(args, 'expected one file or -')
    const inspection = inspectContent(await readJson(path, io))
    if (json) io.stdout.write(toJson({ status: 'UNVERIFIED', ...inspection }))
    else io.stdout.write(format(inspection, paint(io.stdout, 'red', MARK)))
    return inspection.problems.length === 0 ? exitCodes.verified : exitCodes.notVerified
  },
}

function format({ kind, facts, problems }: Inspection, mark: string): string {
  const rows = problems.map(({ path, message }) => [printable(path), printable(message)])
  const lines = [mark, kind, ...formatFacts(facts, '')]
  if (rows.length > 0) lines.push('malformed', formatTable(rows))
  return `${[...lines, mark].join('\n')}\n`
}

/** A name and what it stands for a line; what has parts is followed by them, indented. */
function formatFacts(facts: Facts, indent: string): string[] {
  const entries = Object.entries(facts)
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.flatMap(([name, fact]) =>
    typeof fact === 'object' && fact !== null
      ? [`${indent}  ${name}`, ...formatFacts(fact, `${indent}  `)]
      : [`${indent}  ${name.padEnd(width)}  ${printable(abbreviate(String(fact)))}`],
  )
}

const abbreviate = (text: string): string =>
  text.length <= 200 ? text : `${text.slice(0, 66)}... (${text.length} characters)`
