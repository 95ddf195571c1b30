import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { allCodes } from '../../src/base/error-meanings.ts'
import { nameOf } from '../../src/site/address.ts'
import { exampleSources } from '../../src/site/examples.ts'
import { VECTOR_FOLDERS } from '../../vectors/folders.ts'
import { sourceFiles } from '../sources.ts'

/** Checks that `docs/checks.md`, the source and the invalid vectors name the same checks. */
const ROW = /^- `([A-Z0-9_]+)`: (.+[.)]) \[(\w+)\]\(\.\.\/([\w/.-]+)\), (.+)$/gm
const rows = [...readFileSync('docs/checks.md', 'utf8').matchAll(ROW)].map(
  ([, code = '', why = '', place = '', file = '', vectors = '']) => ({ code, why, place, file, vectors }),
)
const namesIn = (vectors: string) => [...vectors.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)

const codes = allCodes().sort()
/** The codes of the chain from L1, which only evidence vectors can raise. */
const isAnchorCode = (code: string) => /^(RLP|HEADER|MPT|L1|ANCHOR|EVIDENCE|CODE)_/.test(code)
const isBeaconCode = (code: string) => code.startsWith('BEACON_')
const isCallCode = (code: string) => code.startsWith('CALL_')
const isBlocksCode = (code: string) => /^(HISTORY|BLOCK|TRANSACTIONS?|RECEIPTS?)_/.test(code)
const isTransitionCode = (code: string) => /^(TRANSITION|SEGMENT|TRACE)_/.test(code)
const isLogsCode = (code: string) => code.startsWith('LOGS_')
const isMessagesCode = (code: string) => code.startsWith('MESSAGE_')
const FOLDERS: readonly (readonly [folder: string, isOfFolder: (code: string) => boolean])[] = [
  ['logs', isLogsCode],
  ['transitions', isTransitionCode],
  ['messages', isMessagesCode],
  ['blocks', isBlocksCode],
  ['beacon', isBeaconCode],
  ['calls', isCallCode],
  ['evidence', isAnchorCode],
]
const folderOf = (code: string) => FOLDERS.find(([, isOfFolder]) => isOfFolder(code))?.[0] ?? 'scheme'
const sources = sourceFiles()
  // The page names codes to show which check failed. It raises none.
  .filter(file => file !== 'base/error-meanings.ts' && !file.startsWith('site/'))
  .map(file => readFileSync(`src/${file}`, 'utf8'))
  .join('\n')

it('has one row for every code', () => {
  expect(codes.length).toBeGreaterThanOrEqual(20)
  expect(rows.map(({ code }) => code).sort()).toEqual(codes)
})

it('defines only codes that the source raises', () => {
  for (const code of codes) expect(sources, code).toContain(`'${code}'`)
})

it('links each refused example of the page from the row of its check', () => {
  const examples = exampleSources.filter(({ path }) => path.includes('/invalid/'))
  expect(examples.length).toBeGreaterThan(5)
  for (const { title, path } of examples) {
    const { expected } = JSON.parse(readFileSync(`vectors/${path}`, 'utf8'))
    const name = path.replace(/^.*\/|\.json$/g, '')
    const link = `[\`${name}\`](explorer/index.html#${nameOf(title)})`
    expect(rows.find(({ code }) => code === expected.code)?.vectors, name).toContain(link)
  }
})

it('names the function that does each check', () => {
  for (const { code, place, file } of rows) {
    const text = readFileSync(file, 'utf8')
    const start = text.search(new RegExp(`(function\\*?|const) ${place}\\b`))
    expect(start, `${place} in ${file}`).toBeGreaterThanOrEqual(0)
    const [body = ''] = text.slice(start).split(/\n\}/)
    // Helpers such as `malformed` are in the body of the same function. Every wrong argument has the same code.
    expect(body, `${place} raises ${code}`).toContain(code === 'ARGUMENT_INVALID' ? 'throw invalid(' : `'${code}'`)
  }
})

for (const scheme of VECTOR_FOLDERS) {
  const folder = `vectors/${scheme}/invalid`
  const isShownHere = (code: string) => folderOf(code) === (/mimc|poseidon2/.test(scheme) ? 'scheme' : scheme)
  const raised = new Map(
    readdirSync(folder).map(file => {
      const { expected } = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'))
      // Of transitions, there is one for each scheme.
      return [file.replace(/^(?:mimc|poseidon2)-(.*)\.json$|\.json$/, '$1'), String(expected.code)]
    }),
  )

  it(`has ${scheme} vectors for every code`, () => {
    expect([...new Set(raised.values())].filter(isShownHere).sort()).toEqual(codes.filter(isShownHere))
  })

  it(`names ${scheme} vectors that raise the code of their row`, () => {
    for (const { code, vectors } of rows.filter(({ code }) => isShownHere(code))) {
      expect(namesIn(vectors).length, code).toBeGreaterThan(0)
      for (const name of namesIn(vectors)) expect(raised.get(name), name).toBe(code)
    }
  })
}
