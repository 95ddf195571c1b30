import { styleText } from 'node:util'
import type { Output } from '../command.ts'

/** Adds colour for a terminal, but not for a pipe or under NO_COLOR. */
export const paint = (stream: Output, format: 'bold' | 'green' | 'yellow' | 'red' | 'dim', text: string): string =>
  styleText(format, text, { stream })
