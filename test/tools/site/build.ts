/**
 * Writes the site to `site/`: the documents, the API reference and the explorer. Every warning is an error, and so is a link inside
 * the site that does not resolve. Links that leave it are printed.
 */
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { Application, Converter, type DocumentReflection, IndexEvent, PageEvent } from 'typedoc'
import { listDocuments } from '../../documents/blocks.ts'
import { readLinks } from '../links.ts'
import { MORE_WORDS, trySearch } from './search.ts'

/** The front page, which the repository does not show. */
const FRONT = 'test/tools/site/front.md'
/** What the repository shows first. It has the name of the site as its heading. */
const OVERVIEW = { file: 'README.md', name: 'Overview' }
/** Lists the guides, then the reference. */
const INDEX = 'docs/README.md'

/** The documents that a list of links names, in its order. */
const linkedFrom = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, link = '']) => posix.join(posix.dirname(INDEX), link))

const [guides = '', reference = ''] = readFileSync(INDEX, 'utf8').split('\n## ')[0]?.split('\nReference:\n') ?? []
const groups: Readonly<Record<string, readonly string[]>> = {
  Guides: [...new Set([OVERVIEW.file, INDEX, ...linkedFrom(guides)])],
  Reference: linkedFrom(reference),
}
const listed = Object.values(groups).flat()
const documents = [...listed, ...listDocuments().filter(file => !listed.includes(file))]

/** On a phone, wide tables and drawings scroll by themselves, in their own size, and long hashes break. */
const STYLE =
  '<style>.doors{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:1rem}.doors p{margin:0}' +
  '.doors a{display:block;height:100%;box-sizing:border-box;padding:1rem;border:1px solid var(--color-accent);border-radius:.5rem}' +
  '@media(max-width:800px){.tsd-typography table{display:block;overflow-x:auto}' +
  '.tsd-typography p:has(>img){overflow-x:auto}.tsd-typography p>img{max-width:none}.col-content,.col-content code{overflow-wrap:break-word}}</style>'

const app = await Application.bootstrapWithPlugins({ readme: FRONT, projectDocuments: documents })
const folder = app.options.getValue('out')
rmSync(folder, { recursive: true, force: true })

/** By document, what counts more in a search than its text. */
const fields = new Map<unknown, Readonly<Record<'headings' | 'words', string>>>()
// The menu shows a document by its heading, in its group.
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_: undefined, document: DocumentReflection) => {
  const file = `${document.name}.md`
  const text = readFileSync(file, 'utf8')
  document.name = file === OVERVIEW.file ? OVERVIEW.name : (/^# (.+)$/m.exec(text)?.[1] ?? file)
  fields.set(document, { headings: (text.match(/^##+ .+$/gm) ?? []).join(' '), words: MORE_WORDS[file] ?? '' })
  const group = Object.keys(groups).find(name => groups[name]?.includes(file)) ?? 'Project'
  Object.assign(document.frontmatter, { group })
})
app.renderer.on(IndexEvent.PREPARE_INDEX, ({ searchResults, searchFields, searchFieldWeights }) => {
  Object.assign(searchFieldWeights, { headings: 5, words: 500 })
  for (const [index, result] of searchResults.entries()) Object.assign(searchFields[index] ?? {}, fields.get(result))
})
app.renderer.on(PageEvent.END, page => {
  const root = '../'.repeat(page.url.split('/').length - 1)
  const contents = (page.contents ?? '')
    .replace('</head>', `${STYLE}</head>`)
    .replaceAll('href="/', `href="${root}`)
    // So that the site can be read without a server.
    .replaceAll('href="../#', 'href="../index.html#')
    // The explorer consists of several files, and browsers would not show a program.
    .replaceAll(/href="[./]*media\/index\.html(#[^"]*)?"/g, `href="${root}explorer/index.html$1"`)
    .replaceAll(/(href="[./]*media\/[^"]+\.ts)"/g, '$1.txt"')
  // The README has a heading of its own.
  const title = /<div class="tsd-page-title">.*?<\/div>/s
  page.contents = page.url === 'index.html' ? contents.replace(title, '') : contents
})

const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)
await app.generateOutputs(project)
const media = `${folder}/media`
for (const name of readdirSync(media)) if (name.endsWith('.ts')) renameSync(`${media}/${name}`, `${media}/${name}.txt`)
rmSync(`${media}/index.html`)
cpSync('docs/explorer', `${folder}/explorer`, { recursive: true })
// What the explorer links is a page here.
for (const name of ['index.html', 'explorer.js']) {
  const page = `${folder}/explorer/${name}`
  const linked = readFileSync(page, 'utf8').replaceAll(/(?:\.\.\/)+([\w-]+)\.md/g, link => {
    const file = posix.join('docs/explorer', link)
    const heading = /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? file
    const target = `documents/${heading.replaceAll(' ', '_')}.html`
    if (!existsSync(`${folder}/${target}`)) throw new Error(`the explorer links ${file}, which is no page`)
    return `../${target}`
  })
  writeFileSync(page, linked)
}

const { pages, inside, broken, outside } = readLinks(folder)
console.log(`${pages} pages, ${inside} links inside the site, ${outside.length} to other places:`)
for (const link of outside) console.log(`  ${link}`)
for (const link of broken) console.error(`broken: ${link}`)
const { count, problems } = trySearch(folder)
for (const problem of problems) console.error(problem)
console.log(`search: ${count - problems.length} of ${count} queries find their page`)
process.exitCode =
  broken.length > 0 || problems.length > 0 || app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0
