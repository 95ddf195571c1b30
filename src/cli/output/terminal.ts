import type { Io, Output } from '../command.ts'
import { formatAge } from '../words/wording.ts'

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
