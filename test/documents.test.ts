import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { run } from '../src/cli/run.ts'
import { errorMeanings } from '../src/index.ts'
import { rpcAdvice } from '../src/rpc.ts'
import { drawChart } from './bench/chart.ts'
import { CHART, PAGE, readSection } from './bench/page.ts'
import { blocksOf, listDocuments } from './blocks.ts'

/** What the documents say of files, links, commands and codes is so. That their code runs: `examples` and `guides`. */
const documents = listDocuments()
const textOf = (file: string) => readFileSync(file, 'utf8')
/** Without the code in it, which may look like anything. */
const proseOf = (file: string) => textOf(file).replace(/^```.*?^```$/gms, '')

it('knows the documents', () => {
  const expected = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'docs/README.md',
    'vectors/README.md',
  ]
  expect(documents).toEqual(expect.arrayContaining(expected))
  expect(documents.length).toBeGreaterThan(12)
})

/** As GitHub makes them. */
const anchorsOf = (file: string): string[] =>
  [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it('links only to files and headings that are there', () => {
  let links = 0
  for (const file of documents) {
    for (const [, target = ''] of proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const linked = path === '' ? file : join(dirname(file), path)
      expect(existsSync(linked), `${file}: ${target}`).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(linked), `${file}: ${target}`).toContain(anchor)
      links++
    }
  }
  expect(links).toBeGreaterThan(50)
})

it('leads from the README to every document', () => {
  const reached = new Set(['README.md'])
  for (const file of reached) {
    for (const [, target = ''] of proseOf(file).matchAll(/\]\(([^)\s#]+\.md)/g))
      reached.add(join(dirname(file), target))
  }
  expect(documents.filter(file => !reached.has(file) && file !== 'CHANGELOG.md')).toEqual([])
})

it('names only files that are there', () => {
  let names = 0
  for (const file of documents) {
    for (const [, name = ''] of proseOf(file).matchAll(/`((?:src|test|vectors|docs|\.ci)\/[\w./-]+)`/g)) {
      // What a step-by-step is about to make, and what tools write.
      if (/example|docs\/api/.test(name)) continue
      expect(existsSync(name), `${file}: ${name}`).toBe(true)
      names++
    }
  }
  expect(names).toBeGreaterThan(60)
})

it('names only npm scripts that there are', () => {
  const { scripts } = JSON.parse(textOf('package.json'))
  let named = 0
  for (const file of documents) {
    for (const [, name = ''] of textOf(file).matchAll(/npm run ([\w:]+)/g)) {
      expect(Object.keys(scripts), `${file}: npm run ${name}`).toContain(name)
      named++
    }
  }
  expect(named).toBeGreaterThan(15)
})

async function helpOf(command: string): Promise<string> {
  let text = ''
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  await run([command, '--help'], { stdin: process.stdin, stdout, stderr: stdout })
  return text
}

it('uses only commands and options that there are', async () => {
  let [commands, options, patterns] = [0, 0, 0]
  for (const file of documents) {
    for (const { text } of blocksOf(file).filter(({ language }) => language === 'sh')) {
      if (text.includes('…')) patterns++
      const lines = text
        .replaceAll(/\\\n/g, ' ')
        .matchAll(/(?:npx rollup-state-proof|node dist\/cli\/main\.js) (\w+)(.*)/g)
      for (const [line, command = '', rest = ''] of lines) {
        const help = await helpOf(command)
        expect(help, line).toContain(`Usage: rollup-state-proof ${command} `)
        for (const [, option = ''] of rest.replace(/#.*/, '').matchAll(/\s(--?[a-z][\w-]*)/g)) {
          expect(help, line).toContain(option)
          options++
        }
        commands++
      }
    }
  }
  expect(commands).toBeGreaterThan(10)
  expect(options).toBeGreaterThan(30)
  console.info(
    `${patterns} sh blocks have a … for the reader to fill in: their options are looked up, they are not run`,
  )
})

it('has JSON blocks that are JSON', () => {
  const blocks = documents.flatMap(blocksOf).filter(({ language }) => language === 'json')
  expect(blocks.length).toBeGreaterThan(0)
  for (const { text } of blocks) expect(() => JSON.parse(text), text).not.toThrow()
})

it('has only blocks that are looked at', () => {
  const known = ['ts', 'js', 'sh', 'json', 'text', 'mermaid', 'scala', 'yaml']
  for (const file of documents) for (const { language } of blocksOf(file)) expect(known, file).toContain(language)
})

it('tells the relayer what to do with every code', () => {
  const relayer = textOf('docs/relayer.md').split('\n## What each error means\n')[1] ?? ''
  const [conversation = '', verification = ''] = (relayer.split('\n## ')[0] ?? '').split('Errors of verification')
  const codesIn = (text: string) => [...text.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, code = '']) => code)
  expect(codesIn(conversation).sort()).toEqual(Object.keys(rpcAdvice).sort())
  const named = codesIn(verification.split('The one innocent cause')[0] ?? '')
  expect(named.length).toBeGreaterThan(8)
  for (const code of named) expect(Object.keys(errorMeanings)).toContain(code)
})

it('draws the benchmarks that the page holds, and repeats them in the README', () => {
  const page = textOf(PAGE)
  expect(textOf(CHART)).toBe(drawChart(readSection(page, 'proofs')))
  const measured = [...page.matchAll(/[\d.]+/g)].map(([figure]) => figure)
  const table = textOf('README.md').split('\n## Speed\n')[1]?.split('\n## ')[0] ?? ''
  const figures = [...table.matchAll(/(?<=\| )[\d.]+(?= \|)/g)].map(([figure]) => figure)
  expect(figures.length).toBe(8)
  for (const figure of figures) expect(measured).toContain(figure)
})

it('counts the forgeries', () => {
  const folders = ['mimc', 'poseidon2', 'evidence', 'calls', 'beacon'].map(name => `vectors/${name}/invalid`)
  const count = folders.reduce((sum, folder) => sum + readdirSync(folder).length, 0)
  expect(textOf('README.md')).toContain(`${count} forgeries`)
})
