import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { allCodes } from '../../src/base/error-meanings.ts'
import { run } from '../../src/cli/run.ts'
import { endpointErrorMeanings } from '../../src/entry/rpc.ts'
import { nameOf, tabNames, writeAddress } from '../../src/site/address.ts'
import { exampleSources } from '../../src/site/examples.ts'
import { VECTOR_FOLDERS } from '../../vectors/folders.ts'
import { drawChart } from '../bench/chart.ts'
import { CHART, PAGE, readSection } from '../bench/page.ts'
import { blocksOf, listDocuments } from './blocks.ts'

/** Checks the files, links, commands and codes in the documents. `examples` and `guides` check that their code runs. */
const documents = listDocuments()
const textOf = (file: string) => readFileSync(file, 'utf8')
/** A document without its code blocks. */
const proseOf = (file: string) => textOf(file).replace(/^```.*?^```$/gms, '')

it('finds the documents', () => {
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

/** The anchors of headings, as GitHub generates them. */
const anchorsOf = (file: string): string[] =>
  [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const EXPLORER = 'docs/explorer/index.html'
/** The addresses of the page's examples. */
const EXAMPLES = exampleSources.flatMap(({ title }) =>
  tabNames.map(tab => writeAddress({ source: nameOf(title), tab, proof: null }).slice(1)),
)

it('links only to existing files and headings', () => {
  let links = 0
  for (const file of documents) {
    for (const [, target = ''] of proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const linked = path === '' ? file : join(dirname(file), path)
      expect(existsSync(linked), `${file}: ${target}`).toBe(true)
      const places = linked === EXPLORER ? EXAMPLES : anchorsOf(linked)
      if (anchor !== undefined) expect(places, `${file}: ${target}`).toContain(anchor)
      links++
    }
  }
  expect(links).toBeGreaterThan(50)
})

it('links from the README to every document, directly or not', () => {
  const reached = new Set(['README.md'])
  for (const file of reached) {
    for (const [, target = ''] of proseOf(file).matchAll(/\]\(([^)\s#]+\.md)/g))
      reached.add(join(dirname(file), target))
  }
  expect(documents.filter(file => !reached.has(file) && file !== 'CHANGELOG.md')).toEqual([])
})

it('names only existing files', () => {
  let names = 0
  for (const file of documents) {
    for (const [, name = ''] of proseOf(file).matchAll(/`((?:src|test|vectors|docs|\.ci)\/[\w./-]+)`/g)) {
      // Files that a tutorial creates.
      if (name.includes('example')) continue
      expect(existsSync(name), `${file}: ${name}`).toBe(true)
      names++
    }
  }
  expect(names).toBeGreaterThan(60)
})

it('explains only mutants of functions that their files have', () => {
  const rows = [...textOf('test/mutants.md').matchAll(/^\| (`src\/[^|]+) \|/gm)].map(([, place = '']) => place)
  expect(rows.length).toBeGreaterThan(50)
  for (const place of rows) {
    const names = [...place.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    const files = names.filter(name => name.endsWith('.ts'))
    const source = files.map(textOf).join('\n')
    const functions = names.filter(name => !name.startsWith('src/'))
    if (files.length > 0) for (const name of functions) expect(source, place).toMatch(new RegExp(`\\b${name}\\b`))
  }
})

it('names only existing npm scripts', () => {
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
  // What many commands take is told once.
  for (const asked of [
    [...command.split(' ').filter(Boolean), '--help'],
    ['help', 'options'],
    ['help', 'trust'],
  ]) {
    await run(asked, { stdin: process.stdin, stdout, stderr: stdout })
  }
  return text
}

it('uses only existing commands and options', async () => {
  let [commands, options, patterns] = [0, 0, 0]
  for (const file of documents) {
    for (const { text } of blocksOf(file).filter(({ language }) => language === 'sh')) {
      if (text.includes('…')) patterns++
      const lines = text
        .replaceAll(/\\\n/g, ' ')
        .matchAll(/npx rollup-state-proof ((?:record |follow |fetch )?\w+)(.*)/g)
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

it('names only existing options outside of commands', async () => {
  const overview = await helpOf('')
  const names = [...overview.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(13)
  const help = [overview, ...(await Promise.all(names.map(helpOf)))].join('\n')
  // What the others name are options of other programs, too.
  const guides = documents.filter(file => file.startsWith('docs/') && file !== 'docs/install.md')
  let named = 0
  for (const file of guides) {
    for (const [, option = ''] of proseOf(file).matchAll(/`(--[a-z][\w-]*)/g)) {
      expect(help, `${file}: ${option}`).toMatch(new RegExp(`${option}(?![\\w-])`))
      named++
    }
  }
  expect(named).toBeGreaterThan(50)
})

it('has only valid JSON in JSON blocks', () => {
  const blocks = documents.flatMap(blocksOf).filter(({ language }) => language === 'json')
  expect(blocks.length).toBeGreaterThan(0)
  for (const { text } of blocks) expect(() => JSON.parse(text), text).not.toThrow()
})

it('has code blocks of known languages only', () => {
  const known = ['ts', 'js', 'sh', 'json', 'text', 'scala', 'yaml']
  for (const file of documents) for (const { language } of blocksOf(file)) expect(known, file).toContain(language)
})

it('says what to do with every code', () => {
  const [, conversation = '', verification = ''] = textOf('docs/errors.md').split('\n## ')
  const codesIn = (text: string) => [...text.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, code = '']) => code)
  expect([...new Set(codesIn(conversation))].sort()).toEqual(Object.keys(endpointErrorMeanings).sort())
  const named = codesIn(verification)
  expect(named.length).toBeGreaterThan(8)
  for (const code of named) expect(allCodes()).toContain(code)
})

it('has a chart and README figures that match the benchmarks page', () => {
  const page = textOf(PAGE)
  expect(textOf(CHART)).toBe(drawChart(readSection(page, 'proofs')))
  const measured = [...page.matchAll(/[\d.]+/g)].map(([figure]) => figure)
  const speed = textOf('README.md').split('\n## Speed\n')[1]?.split('\n## ')[0] ?? ''
  const figures = [...speed.matchAll(/[\d.]+(?= µs| and)/g)].map(([figure]) => figure)
  expect(figures.length).toBe(4)
  for (const figure of figures) expect(measured).toContain(figure)
})

it('states the number of forgeries in the README, rounded down to a hundred', () => {
  const folders = VECTOR_FOLDERS.map(name => `vectors/${name}/invalid`)
  const count = folders.reduce((sum, folder) => sum + readdirSync(folder).length, 0)
  const hundreds = (100 * Math.floor(count / 100)).toLocaleString('en')
  expect(textOf('README.md')).toContain(`more than ${hundreds} forgeries`)
})
