import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Checks that `docs/soundness.md`, `docs/checks.md`, the source and the model in Coq name the same rules and theorems. */
const read = (file: string) => readFileSync(file, 'utf8')
const model = read('test/soundness/Rules.v')
const page = read('docs/soundness.md')
const namesIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)

const ROW = /^\| `(\w+)` \| (`.+`) \| `(\w+)` in `([\w/.-]+)` \| (\d: |none: )`(\w+)` \|$/gm
const rows = [...page.matchAll(ROW)].map(([, rule = '', codes = '', place = '', file = '', , theorem = '']) => ({
  ...{ rule, codes: namesIn(codes), place, file, theorem },
}))

/** The branches of `code_of`, as rule -> codes. */
const branches = [...(/Definition code_of[\s\S]+?\n {2}end\./.exec(model)?.[0] ?? '').matchAll(/\| ([^=]+?)=> (.+)/g)]
const codesOfModel = new Map(
  branches.flatMap(([, rules = '', codes = '']) =>
    rules.split('|').map(rule => [rule.trim(), codes.match(/[A-Z]+(_[A-Z]+)+/g) ?? []] as const),
  ),
)
const early = /early_rules : list rule := \[(.+)\]/.exec(read('test/soundness/AnyTree.v'))?.[1]?.split('; ') ?? []

it('lists every rule of the model with its code', () => {
  expect(rows.length).toBe(39)
  expect(new Map(rows.map(({ rule, codes }) => [rule, codes]))).toEqual(codesOfModel)
})

it('names the function of each rule', () => {
  for (const { place, file } of rows) {
    expect(read(file), `${place} in ${file}`).toMatch(new RegExp(`(function|const) ${place}\\b`))
  }
})

it('names what refutes a theorem without the rule', () => {
  const needed = read('test/soundness/Needed.v')
  for (const { rule, theorem } of rows) {
    if (early.includes(rule)) expect(theorem).toBe('early_rules_change_no_verdict')
    else expect(needed, rule).toMatch(new RegExp(`Theorem ${theorem} : ~ \\w+_with \\(without ${rule}\\)\\.`))
  }
})

it('names only theorems whose assumptions are printed', () => {
  const printed = read('test/soundness/Theorems.v')
  const stated = readdirSync('test/soundness').flatMap(file =>
    file.endsWith('.v')
      ? [...read(`test/soundness/${file}`).matchAll(/^Theorem (\w+)/gm)].map(([, name = '']) => name)
      : [],
  )
  const named = namesIn(page).filter(name => stated.includes(name))
  expect(named.length).toBeGreaterThan(50)
  for (const name of named) expect(printed, name).toContain(`Print Assumptions ${name}.`)
})

it('gives each code its rules', () => {
  const [, section = ''] = read('docs/checks.md').split('## The rules in Coq')
  const listed = [...section.matchAll(/^\| `([A-Z_]+)` \| (`\w+`(?:, `\w+`)*) \|$/gm)]
  const expected = new Map<string, string[]>()
  for (const { rule, codes } of rows) {
    for (const code of codes) expected.set(code, [...(expected.get(code) ?? []), rule])
  }
  expect(new Map(listed.map(([, code = '', rules = '']) => [code, namesIn(rules)]))).toEqual(expected)
})
