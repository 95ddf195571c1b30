import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { inflateSync } from 'node:zlib'
import { readAddress, writeAddress } from '../../src/site/address.ts'

/** What the pages of a folder link to. */
export interface Links {
  readonly pages: number
  /** Number of links to files of the folder. */
  readonly inside: number
  /** Links to files or anchors that do not exist, each as `page: link`. */
  readonly broken: readonly string[]
  /** Addresses elsewhere, once each. */
  readonly outside: readonly string[]
}

/** Reads the links of all pages below a folder: those in the HTML, and those of the menu, which a script draws. */
export function readLinks(folder: string): Links {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'))
  const texts = new Map(pages.map(page => [page, readFileSync(join(folder, page), 'utf8')]))
  const anchors = new Map([...texts].map(([page, text]) => [page, new Set(attributesOf(text, 'id|name'))]))
  const links = [...texts].flatMap(([page, text]) => attributesOf(text, 'href|src').map(link => [page, link] as const))
  const broken: string[] = []
  const outside = new Set<string>()
  for (const [page, link] of [...links, ...menuOf(folder).map(link => ['index.html', link] as const)]) {
    if (/^[a-z]+:|^\/\//i.test(link)) outside.add(link)
    else if (!resolves(folder, anchors, page, link)) broken.push(`${page}: ${link}`)
  }
  const inside = links.length - links.filter(([, link]) => outside.has(link)).length
  return { pages: pages.length, inside, broken, outside: [...outside].sort() }
}

function resolves(folder: string, anchors: ReadonlyMap<string, Set<string>>, page: string, link: string): boolean {
  const [path = '', anchor = ''] = link.split('#').map(decodeURIComponent)
  // A link that begins with a slash would leave the folder of the site.
  const target = path === '' ? page : normalize(join(dirname(page), path))
  if (path.startsWith('/') || target.startsWith('..') || !existsSync(join(folder, target))) return false
  const file = statSync(join(folder, target)).isDirectory() ? normalize(join(target, 'index.html')) : target
  if (!existsSync(join(folder, file))) return false
  // The page reads an address of its own there: an example, and a tab.
  if (file === join('explorer', 'index.html') && writeAddress(readAddress(anchor)) === `#${anchor}`) return true
  return anchor === '' || (anchors.get(file)?.has(anchor) ?? !file.endsWith('.html'))
}

const attributesOf = (html: string, names: string): string[] =>
  [...html.matchAll(new RegExp(`<[a-z][^>]*?\\s(?:${names})="[^"]*"[^>]*>`, 'gi'))].flatMap(([tag]) =>
    [...tag.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, 'gi'))].map(([, value = '']) =>
      value.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&'),
    ),
  )

/** The links of TypeDoc's menu, which stands in a script as compressed JSON. */
function menuOf(folder: string): string[] {
  const script = join(folder, 'assets/navigation.js')
  if (!existsSync(script)) return []
  const packed = /"([\w+/=]+)"/.exec(readFileSync(script, 'utf8'))?.[1] ?? ''
  const menu = inflateSync(Buffer.from(packed, 'base64')).toString()
  return [...menu.matchAll(/"path":"([^"]+)"/g)].map(([, path = '']) => path)
}
