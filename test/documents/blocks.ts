import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One fenced block of a document, or of the doc comments of a source file. */
export interface Block {
  readonly language: string
  readonly text: string
}

export function blocksOf(file: string): Block[] {
  const text = readFileSync(file, 'utf8')
  const plain = file.endsWith('.ts') ? text.replace(/^ *\* ?/gm, '') : text
  return [...plain.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))
}

/** All documents in the repository, without generated ones. */
export function listDocuments(): string[] {
  const folders = [
    ...['.', 'docs', 'vectors', 'vectors/evidence', 'vectors/beacon', 'src/cli', 'src/devnet'],
    ...['test', 'test/soundness', 'test/tools/rules'],
  ]
  return folders.flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('.md'))
      .map(name => join(folder, name)),
  )
}
