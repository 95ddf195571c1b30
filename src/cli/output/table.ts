import type { Io, Output } from '../command.ts'
import { MAX_CELL_LENGTH, MAX_COLUMN_WIDTH } from '../limits.ts'
import { cut, printable } from '../words/value.ts'
import { formatAge, type Row } from '../words/wording.ts'

interface Screen {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** Rows of cells, in columns as wide as their widest one. On a narrow terminal, a cell without room begins a line: hashes stay whole. */
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

export function fitRow([first = '', ...cells]: readonly string[], width: number, room: number, indent = '  ') {
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

/** Begins a progress line: returns to the start of the current line and clears it. */
export const OVERWRITE = '\r\x1b[K'

/** Shows progress on a terminal, in place of the text before; nothing elsewhere. */
export function overwriteProgress({ stderr }: Io, text: string): void {
  if (stderr.isTTY) stderr.write(OVERWRITE + text)
}

/** How long the rest takes, in words, if this share took so many seconds; empty if nobody can tell. */
export const timeLeft = (seconds: number, share: number): string =>
  share > 0 && share < 1 ? `, about ${formatAge(BigInt(Math.ceil((seconds / share) * (1 - share))))} left` : ''

/** On a terminal, cuts a progress line to one line, and clears it before anything else is written. Others get every byte unchanged. */
export function fitToTerminal({ stdin, stdout, stderr }: Io): Io {
  let inProgress: Output | undefined
  const fitted = (stream: Output): Output => {
    if (!stream.isTTY) return stream
    const write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const text = typeof chunk === 'string' ? chunk : ''
      const isProgress = text.startsWith(OVERWRITE) && !text.includes('\n')
      if (inProgress !== undefined && !isProgress) inProgress.write(OVERWRITE)
      inProgress = isProgress && text !== OVERWRITE ? stream : undefined
      const room = OVERWRITE.length + (stream.columns || Number.POSITIVE_INFINITY) - 1
      return Reflect.apply(stream.write, stream, [isProgress ? text.slice(0, room) : chunk, ...rest])
    }
    return new Proxy(stream, {
      get(target, name) {
        if (name === 'write') return write
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  return { stdin, stdout: fitted(stdout), stderr: fitted(stderr) }
}
