/**
 * `npm run count`: prints the table in docs/README.md, the lines of code on the path from the bytes of an answer to its
 * verdict, without comments and blank lines.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The files in reading order for an auditor: each comes after the files it uses. */
export const TRUSTED_PATH = [
  'src/bytes.ts',
  'src/json/reader.ts',
  'src/field/bls12377.ts',
  'src/field/koalabear.ts',
  'src/hash/hasher.ts',
  'src/hash/mimc/plain.ts',
  'src/hash/poseidon2/plain.ts',
  'src/scheme/scheme.ts',
  'src/scheme/mimc.ts',
  'src/scheme/poseidon2.ts',
  'src/tree/leaf.ts',
  'src/tree/path.ts',
  'src/tree/kind.ts',
  'src/proof/claim.ts',
  'src/proof/decode.ts',
  'src/proof/leaf-proof.ts',
  'src/proof/verify.ts',
]

/** The number of lines that contain a token. */
export function countLines(file: string): number {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const lines = new Set<number>()
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source).filter(child => !ts.isJSDoc(child))
    if (children.length > 0) children.forEach(visit)
    else if (node.getText(source) !== '') {
      const [first, last] = [node.getStart(source), node.getEnd()].map(
        position => source.getLineAndCharacterOfPosition(position).line,
      )
      for (let line = first ?? 0; line <= (last ?? 0); line++) lines.add(line)
    }
  }
  visit(source)
  return lines.size
}

/** The table in docs/README.md. */
export function countTable(): string {
  const rows = TRUSTED_PATH.map(file => ({ file, lines: countLines(file) }))
  const total = rows.reduce((sum, { lines }) => sum + lines, 0)
  const table = [...rows.map(({ file, lines }) => `| [${file}](../${file}) | ${lines} |`), `| total | ${total} |`]
  return ['| file | lines |', '| --- | --: |', ...table].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(countTable())
