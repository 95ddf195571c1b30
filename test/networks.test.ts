import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lineaNetworks } from '../src/client/network/linea.ts'
import * as entry from '../src/entry/networks.ts'

it('exports each network that the command line knows', () => {
  expect(lineaNetworks.length).toBeGreaterThan(1)
  expect(new Set<unknown>(Object.values(entry))).toEqual(new Set(lineaNetworks))
})

it('offers each of them on the page', () => {
  const page = readFileSync('src/site/index.html', 'utf8')
  const [, list = ''] = /<datalist id="rollups">(.*)<\/datalist>/.exec(page) ?? []
  const names = [...list.matchAll(/value="([^"]*)"/g)].map(([, name]) => name)
  expect(names).toEqual(lineaNetworks.map(({ name }) => name))
  expect(page).toContain(`placeholder="${names.join(', ')}, or a contract"`)
})
