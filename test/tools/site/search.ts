/** The search of the site, and what it has to find. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'

/**
 * What people type, with the name of a page that helps them. It must be among the first {@link SHOWN} results.
 */
const QUERIES: Readonly<Record<string, string>> = {
  'verify a proof': 'What is a state proof?',
  'non-existence': 'The tree format',
  'absent key': 'What is a state proof?',
  'state root': 'The rollup and its contract',
  checkpoint: 'The L1 block hash',
  'bridge message': 'Messages of the bridge',
  'logs complete': 'Auditor',
  MetaMask: 'Proxy',
  'exit code': 'Threat model',
  'rate limit 429': 'Endpoints',
  trust: 'Threat model',
  Linea: 'The rollup and its contract',
}
/** How many results are seen without scrolling. */
const SHOWN = 5

/** Words that lead to a document besides its own, as those of the index of a book. */
export const MORE_WORDS: Readonly<Record<string, string>> = {
  'docs/proxy.md': 'MetaMask wallet',
  'docs/threat-model.md': 'trust exit code',
  'docs/tree-format.md': 'non-existence absent key',
  'docs/auditor.md': 'logs complete',
  'docs/endpoints.md': 'rate limit 429',
  'docs/rollups.md': 'Linea state root',
  'docs/state-proof.md': 'verify proof',
}

interface SearchData {
  readonly rows: readonly { readonly name: string }[]
  readonly index: object
}
/** What is used of lunr, which has no types. */
interface Lunr {
  readonly Index: { load(index: object): { search(query: string): { ref: string; score: number }[] } }
}

/** The names of the results in their order, as the page of the site finds them. */
function openSearch(folder: string): (query: string) => string[] {
  const [, packed = ''] = /"(.*)"/s.exec(readFileSync(`${folder}/assets/search.js`, 'utf8')) ?? []
  const { rows, index }: SearchData = JSON.parse(`${inflateSync(Buffer.from(packed, 'base64'))}`)
  const { Index }: Lunr = createRequire(import.meta.url)('lunr')
  const loaded = Index.load(index)
  return query => {
    const words = query.split(' ').map(word => `*${word}*`)
    const found = loaded.search(words.join(' ')).map(({ ref, score }) => {
      const name = rows[Number(ref)]?.name ?? ''
      const isStart = name.toLowerCase().startsWith(query.toLowerCase())
      return { name, score: isStart ? (score * 10) / (1 + Math.abs(name.length - query.length)) : score }
    })
    return found.sort((a, b) => b.score - a.score).map(({ name }) => name)
  }
}

/** Tries all queries. @returns how many there are, and what is wrong */
export function trySearch(folder: string): { readonly count: number; readonly problems: readonly string[] } {
  const search = openSearch(folder)
  const queries = Object.entries(QUERIES)
  const problems = queries.flatMap(([query, page]) => {
    const first = search(query).slice(0, SHOWN)
    return first.includes(page) ? [] : [`search: "${query}" finds ${first.join(', ') || 'nothing'}, and not ${page}`]
  })
  return { count: queries.length, problems }
}
