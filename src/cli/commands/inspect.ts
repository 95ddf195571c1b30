import { exitCodes, type Output } from '../command.ts'
import { readJson } from '../files/input.ts'
import { optionsOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { toJson } from '../output/report.ts'
import { fitRow, roomOn } from '../output/table.ts'
import { paint } from '../output/verdict.ts'
import { inspectContent, type UnverifiedFields } from '../words/unverified.ts'
import { cut, printable } from '../words/value.ts'

const MARK = 'UNVERIFIED: this is what the file says. None of it was checked.'

export const command = defineCommand(
  {
    usage: 'inspect FILE [--json]',
    options: {},
    shared: optionsOf('json'),
    expected: 'expected one file or -',
    about: `
Prints what an evidence bundle, an answer, a JSON-RPC response, a recording or a
vector claims: account fields, leaf indices, neighbours, slots, header fields.
Nothing is verified: all of it can be forged. - is standard input.`,
    notes: `
Exit code: 0 printed, 2 wrong usage or unreadable input. None is a verdict.`,
    examples: 'rollup-state-proof inspect bundle.json',
  },
  async (values, io, [path]) => {
    const inspection = inspectContent(await readJson(path, io))
    if (values.json) io.stdout.write(toJson({ status: 'UNVERIFIED', ...inspection }))
    else io.stdout.write(format(inspection, io.stdout))
    return exitCodes.verified
  },
)

function format({ kind, fields }: ReturnType<typeof inspectContent>, stdout: Output): string {
  const mark = paint(stdout, 'red', MARK)
  return `${[mark, kind, ...formatFields(fields, '  ', roomOn(stdout)), mark].join('\n')}\n`
}

function formatFields(fields: UnverifiedFields, indent: string, room: number): string[] {
  const entries = Object.entries(fields).map(([name, field]) => [printable(cut(name, 66)), field] as const)
  const width = Math.max(0, ...entries.map(([name]) => name.length))
  return entries.flatMap(([name, field]) =>
    typeof field === 'object' && field !== null
      ? [`${indent}${name}`, ...formatFields(field, `${indent}  `, room)]
      : fitRow([name, printable(cut(String(field), 200, 66))], width, room, indent),
  )
}
