import { readdirSync } from 'node:fs'

/** The TypeScript files in `src`, without it in their paths, and without what the build writes there. */
export const sourceFiles = (): string[] =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map(file => file.replaceAll('\\', '/'))
    .filter(file => file.endsWith('.ts') && !/^\w+\/dist\//.test(file))
