import { readFileSync } from 'node:fs'

/** The package is two folders up, both from src/cli and from dist/cli. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String(version)
}
