import { stripVTControlCharacters } from 'node:util'
import type { Io, Output } from '../command.ts'

/** Begins a progress line: returns to the start of the current line and clears it. */
export const OVERWRITE = '\r\x1b[K'

/** Shows progress on a terminal, in place of the text before; nothing elsewhere. */
export function overwriteProgress({ stderr }: Io, text: string): void {
  if (stderr.isTTY) stderr.write(OVERWRITE + text)
}

/** On a narrower terminal, words would be broken anyway. */
const MIN_WIDTH = 20

/**
 * Fits what a command writes to the width of the terminal: breaks long lines between words, cuts a progress line to one line,
 * and clears it before anything else is written. Anything but a terminal gets every byte unchanged.
 */
export function fitToTerminal({ stdin, stdout, stderr }: Io): Io {
  let inProgress: Output | undefined
  const fitted = (stream: Output): Output => {
    if (!stream.isTTY) return stream
    const write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const width = widthOf(stream)
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      const isProgress = text.startsWith(OVERWRITE) && !text.includes('\n')
      const laidOut = isProgress ? text.slice(0, OVERWRITE.length + width - 1) : wrap(text, width)
      if (inProgress !== undefined && !isProgress) inProgress.write(OVERWRITE)
      inProgress = isProgress && text !== OVERWRITE ? stream : undefined
      return Reflect.apply(stream.write, stream, [laidOut, ...rest])
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

function widthOf({ columns }: Output): number {
  const { COLUMNS = '' } = process.env
  const stated = /^\d{1,4}$/.test(COLUMNS) ? Number(COLUMNS) : undefined
  return Math.max(MIN_WIDTH, stated || columns || Number.POSITIVE_INFINITY)
}

export const wrap = (text: string, width: number): string =>
  text
    .split('\n')
    .map(line => wrapLine(line, width))
    .join('\n')

/** A shorter line of a help text ends there on purpose. */
const MIN_BROKEN = 80

/** Joins each paragraph and description of a help text into one line, so that `wrap` can break it for any width. */
export function joinLines(help: string): string {
  const joined: string[] = []
  for (const line of help.split('\n')) {
    const before = joined.at(-1) ?? ''
    const isDescription = /^ {12,}\S/.test(line) && before.startsWith('  ')
    const isParagraph = /^\S/.test(line) && /^\S/.test(before) && before.length >= MIN_BROKEN
    if (before.endsWith(' \\')) joined.push(`${joined.pop()?.slice(0, -2)} ${line.trim()}`)
    else if (isDescription) joined.push(`${joined.pop()}${hasColumns(before) ? ' ' : '  '}${line.trim()}`)
    else if (isParagraph) joined.push(`${joined.pop()} ${line}`)
    else joined.push(line)
  }
  return joined.join('\n')
}

const hasColumns = (line: string): boolean => COLUMNS.test(line)
const COLUMNS = /^( *\S+(?: \S+)* {2,})\S/

/** Columns further to the right leave too little room beside them. */
const MAX_INDENT_SHARE = 0.45

/**
 * Breaks a line between words. Further lines start at the second column of a table, or are indented. A word that is too
 * long for a line, such as a hash, gets its own line.
 */
function wrapLine(line: string, width: number): string {
  // JSON stays on one line, so that it can be copied.
  if (length(line) <= width || line.startsWith('{')) return line
  const [start = ''] = line.match(/^ */) ?? []
  const text = line.slice(start.length)
  const isCommand = /^(npx |curl |rollup-state-proof )/.test(text)
  // Between quotes, a line break would be part of the argument.
  if (isCommand && /['"]/.test(line)) return line
  const column = COLUMNS.exec(line)?.[1]?.length ?? 0
  const isTable = column > 0 && column <= width * MAX_INDENT_SHARE
  const indent = ' '.repeat(isTable ? column : start.length + 2)
  const room = width - (isCommand ? 2 : 0)
  const lines: string[] = []
  let current = start
  let gap = ''
  // An option and its value stay together.
  const words = isCommand ? / +|--?[a-z][\w-]* [^ -][^ ]*|[^ ]+/g : / +|[^ ]+/g
  for (const match of text.matchAll(words)) {
    const [word] = match
    if (word.startsWith(' ')) {
      // A broken row no longer lines up with its neighbours, except in its first column.
      const isFurtherColumn = isTable && word.length > 1 && length(current) > column
      gap = lines.length > 0 || isFurtherColumn ? word.slice(0, 2) : word
      // A cell that fits on a line of its own is not broken.
      const [cell = ''] = isFurtherColumn ? text.slice(match.index + word.length).split('  ', 1) : []
      const isOwnLine = length(current + gap + cell) > room && indent.length + length(cell) <= room
      if (isFurtherColumn && isOwnLine) {
        lines.push(current)
        current = indent
      }
      continue
    }
    const isEmpty = current.trim() === ''
    if (isEmpty || length(current + gap + word) <= room) {
      current += isEmpty ? word : gap + word
      continue
    }
    lines.push(current.trimEnd())
    const isLong = indent.length + length(word) > room
    current = (isLong ? ' '.repeat(start.length + 2) : indent) + word
  }
  return [...lines, current].join(isCommand ? ' \\\n' : '\n')
}

/** Number of columns that a text takes. Colours take none. */
const length = (text: string): number => stripVTControlCharacters(text).length
