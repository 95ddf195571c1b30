import { MAX_CELL_LENGTH, MAX_COLUMN_WIDTH } from '../limits.ts'
import { cut, printable } from '../words/value.ts'
import type { Row } from '../words/wording.ts'

interface Screen {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/**
 * Rows of cells, in columns as wide as their widest cell. On a terminal that is too narrow for them, a cell for which a line has no
 * room begins another: words and hashes stay whole. Values may come from a file.
 */
export function formatTable(table: readonly Row[] | readonly (readonly string[])[], screen: Screen = {}): string {
  const rows = table.map(row => row.map((cell = '') => printable(clip(cell))))
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.min(MAX_COLUMN_WIDTH, Math.max(widths[column] ?? 0, cell.length))
    }
  }
  const lines = rows.map(row => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
  const room = roomOn(screen)
  if (lines.every(line => line.length <= room)) return lines.join('\n')
  return rows.flatMap(row => fitRow(row, widths[0] ?? 0, room)).join('\n')
}

/** How many characters fit on a line: whatever reads a pipe takes all. */
export const roomOn = ({ isTTY = false, columns = 0 }: Screen): number =>
  isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY

export function fitRow(
  [first = '', ...cells]: readonly string[],
  width: number,
  room: number,
  indent = '  ',
): string[] {
  const lines = [`${indent}${first.padEnd(width)}`]
  for (const cell of cells.filter(text => text !== '')) {
    const line = `${lines.at(-1)}  ${cell}`
    if (line.length <= room) lines[lines.length - 1] = line
    else lines.push(...fill(cell, room - indent.length - 2).map(piece => indentWithin(room, indent.length + 2, piece)))
  }
  return lines.map(line => line.trimEnd())
}

/** Indented, but by no more than there is room for. */
const indentWithin = (room: number, spaces: number, text: string): string =>
  text.padStart(text.length + Math.max(0, Math.min(spaces, room - text.length)))

export function fill(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

/** Cuts what one cell must not make others as wide as, or fill the terminal with. */
export const clip = (cell: string): string => cut(cell, MAX_CELL_LENGTH, MAX_COLUMN_WIDTH)
