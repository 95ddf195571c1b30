import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { folderOf } from '../cli/io.ts'
import { readLinks } from '../tools/links.ts'

/** The site itself takes half a minute to build: `npm run docs` does it, and reads its links. */
function siteOf(files: Readonly<Record<string, string>>) {
  const folder = join(folderOf({ 'outside.html': '' }), 'site')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return readLinks(folder)
}

it('finds links to files and anchors that do not exist, wherever they stand', () => {
  const menu = Buffer.from(deflateSync(JSON.stringify([{ path: 'guides/a.html' }, { path: 'gone.html' }])))
  const { broken, ...others } = siteOf({
    'index.html': `<a class="x" href="guides/a.html#one">1</a> <a href="guides/a.html#two">2</a> <a href="guides/">3</a>
      <img src="media/a%20b.svg"> <img src="media/none.svg"> <a href="/guides/a.html">4</a> <a href="../outside.html">5</a>
      <use href="media/a%20b.svg#part"/> <a href="#top">6</a> <a href="#&lt;">7</a> <h1 id="&lt;"></h1>
      <a href="https://example.com/">8</a> <a href="//example.com">9</a> <a href="mailto:a@example.com">10</a>`,
    'guides/a.html': '<h1 id="one"></h1><a href="../#%3C">back</a><a href="../index.html#gone">back</a>',
    'guides/index.html': '',
    'media/a b.svg': '',
    'assets/navigation.js': `window.navigationData = "${menu.toString('base64')}"`,
  })
  expect([...broken].sort()).toEqual([
    'guides/a.html: ../index.html#gone',
    'index.html: #top',
    'index.html: ../outside.html',
    'index.html: /guides/a.html',
    'index.html: gone.html',
    'index.html: guides/a.html#two',
    'index.html: media/none.svg',
  ])
  const outside = ['//example.com', 'https://example.com/', 'mailto:a@example.com']
  expect(others).toEqual({ pages: 3, inside: 12, outside })
})
