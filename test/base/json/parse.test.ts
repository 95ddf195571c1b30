import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ExcessiveJson, parseBounded } from '../../../src/base/json/parse.ts'

it('parses like JSON.parse', () => {
  const document = fc.tuple(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n\t', '\ufeff'), fc.boolean())
  fc.assert(
    fc.property(document, ([text, space, isCut]) => {
      const sent = space + (isCut ? text.slice(0, -1) : text) + space
      const attempt = (parse: (text: string) => unknown) => {
        try {
          return { parsed: parse(sent) }
        } catch (error) {
          return { name: (error as Error).name, message: (error as Error).message }
        }
      }
      expect(attempt(parseBounded)).toEqual(attempt(JSON.parse))
    }),
    { seed: 1, numRuns: 2000 },
  )
})

it('does not take brackets and commas inside strings for structure', () => {
  const text = JSON.stringify(['[{,'.repeat(5000), '\\"[', '"', '\\'])
  expect(parseBounded(text)).toEqual(JSON.parse(text))
  expect(parseBounded(JSON.stringify('\\'.repeat(5000)))).toBe('\\'.repeat(5000))
})

/** An object with so many different names of this length. */
const namesOf = (count: number, length: number) =>
  `{${Array.from({ length: count }, (_, index) => `"${`${index}`.padStart(length, 'x')}":0`)}}`

it.each([
  ['64 levels', '['.repeat(64) + ']'.repeat(64), true],
  ['65 levels', '['.repeat(65) + ']'.repeat(65), false],
  ['65 objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, false],
  ['many levels that are never closed', '['.repeat(1_000_000), false],
  ['many arrays one after another', `[${'[],'.repeat(1_000_000)}0]`, false],
  ['many small numbers', `[${'0,'.repeat(1_000_000)}0]`, false],
  ['many small fields', `{${'"":0,'.repeat(1_000_000)}"":0}`, false],
  ['1023 values more than the length allows for', `[${'0,'.repeat(1000)}0]`, true],
  ['words of 32 bytes', `[${`"0x${'00'.repeat(32)}",`.repeat(10_000)}0]`, true],
  ['1024 names', namesOf(1024, 5), true],
  ['many short names', namesOf(100_000, 6), false],
  ['many short names, before spaces', namesOf(100_000, 6).replaceAll(':', ' \n:'), false],
  ['one short name many times', `[${'{"a":"0x1234567890"},'.repeat(100_000)}0]`, true],
  ['many different strings', namesOf(100_000, 8).replaceAll(':0', '').replace('{', '[').replace('}', ']'), true],
  ['slots', namesOf(20_000, 66), true],
  ['quantities', `[${'"0x12345",'.repeat(10_000)}0]`, true],
])('bounds depth, values and names by the length: %s', (_, text, isAccepted) => {
  if (isAccepted) expect(parseBounded(text)).toEqual(JSON.parse(text))
  else expect(() => parseBounded(text)).toThrow(ExcessiveJson)
})
