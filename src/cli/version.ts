import { readFileSync } from 'node:fs'

/** Two folders up is the package, from src/cli as from dist/cli. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String(version)
}
