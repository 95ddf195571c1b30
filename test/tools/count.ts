/**
 * `npm run count`: prints the lists in docs/scrutiny.md, or writes them there with `-- --write`: the lines of code from the bytes of an answer to its verdict, without
 * comments and blank lines: the path as an auditor reads it, and what runs where there is WebAssembly.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The files in reading order for an auditor: each comes after the files it uses. The trees have no memory, the hashes are plain. */
export const TRUSTED_PATH = [
  'src/base/errors.ts',
  'src/base/bytes.ts',
  'src/base/json/reader.ts',
  'src/base/arguments.ts',
  'src/verify/field/bls12377.ts',
  'src/verify/field/koalabear.ts',
  'src/verify/hash/hasher.ts',
  'src/verify/hash/mimc/constants.ts',
  'src/verify/hash/mimc/plain.ts',
  'src/verify/hash/poseidon2/constants.ts',
  'src/verify/hash/poseidon2/diagonal.ts',
  'src/verify/hash/poseidon2/plain.ts',
  'src/verify/scheme/scheme.ts',
  'src/verify/scheme/mimc.ts',
  'src/verify/scheme/poseidon2.ts',
  'src/verify/tree/leaf.ts',
  'src/verify/tree/path.ts',
  'src/verify/tree/kind.ts',
  'src/verify/proof/claim.ts',
  'src/verify/proof/tree.ts',
  'src/verify/proof/decode.ts',
  'src/verify/proof/leaf-proof.ts',
  'src/verify/proof/verify.ts',
]

/** What runs in the place of the plain hashes, and around the plain trees. */
const INSTEAD_OF_PLAIN = [
  'src/verify/hash/kernel.ts',
  ...['mimc', 'poseidon2'].flatMap(scheme => [
    `src/verify/hash/assembly/${scheme}.ts`,
    `src/verify/hash/${scheme}/kernel.ts`,
  ]),
  'src/verify/verifier/shared-nodes.ts',
  'src/verify/verifier/empty-subtrees.ts',
  'src/base/options.ts',
  'src/verify/verifier/verify-proof.ts',
]

/** What `verifyProof` runs where there is WebAssembly. */
export const RUNNING_PATH = [...TRUSTED_PATH.filter(file => !file.endsWith('/plain.ts')), ...INSTEAD_OF_PLAIN]

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

export const countAll = (files: readonly string[]): number => files.reduce((sum, file) => sum + countLines(file), 0)

const countList = (files: readonly string[], ...totals: readonly string[]): string => {
  const rows = files.map(file => `- [${file}](../${file}), ${countLines(file)}`)
  return [...rows, ...totals].join('\n')
}

/** The lists in docs/scrutiny.md. */
export const countLists = (): string[] => [
  countList(TRUSTED_PATH, `- the path as read, ${countAll(TRUSTED_PATH)}`),
  countList(INSTEAD_OF_PLAIN, `- what runs: these, and the path without the plain hashes, ${countAll(RUNNING_PATH)}`),
]

const PAGE = 'docs/scrutiny.md'

/** The page with the lists as they are now. Each of its own begins and ends with the same lines, but for the numbers. */
function rewrite(page: string): string {
  const start = page.indexOf(`- [${TRUSTED_PATH[0]}]`)
  const [first, last] = countLists()
  const between = page.slice(page.indexOf('- the path as read')).replace(/^.*\n/, '')
  const [middle = ''] = between.split(`- [${INSTEAD_OF_PLAIN[0]}]`)
  const rest = page.slice(page.indexOf('- what runs:')).replace(/^.*\n/, '')
  return `${page.slice(0, start)}${first}\n${middle}${last}\n${rest}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--write')) writeFileSync(PAGE, rewrite(readFileSync(PAGE, 'utf8')))
  else console.log(countLists().join('\n\n'))
}
