import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PROMISES } from '../tools/promises/promises.ts'
import { HEAD, listPromises } from '../tools/promises.ts'

/** `npm run test:promises` breaks each promise, and demands that the test fails. This test takes no time. */
const promises = Object.values(PROMISES).flat()

it('names a test that exists for each promise', () => {
  expect(promises.length).toBeGreaterThan(60)
  for (const { test, title } of promises) {
    const file = `test/${test}.test.ts`
    // A title with a name in it, or one that is put together, has only its parts in the source.
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    for (const part of title.split(/\s*…\s*/)) expect(text, `${file} has “${title}”`).toContain(part)
  }
})

it('has a change for each promise that can still be made', () => {
  for (const { promise, broken } of promises) {
    const [file, from, to] = broken
    expect(readFileSync(file, 'utf8').split(from).length - 1, `${promise}: ${file}`).toBe(1)
    expect(to).not.toBe(from)
  }
})

it('has the lists in test/promises.md', () => {
  const page = readFileSync('test/promises.md', 'utf8')
  expect(page.replace(HEAD, '')).toBe(listPromises())
})
