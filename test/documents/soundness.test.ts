import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CHANGES, replaceLine } from '../soundness/changed-lines.ts'

/** Checks that `docs/soundness.md`, the tables of rules, the source and the models in Coq name the same rules and theorems. */
const read = (file: string) => readFileSync(file, 'utf8')
const tables = read('test/soundness/README.md')
const page = `${read('docs/soundness.md')}${tables}`
const namesIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)

const ROW = /^\| `(\w+)` \| (`.+`) \| `(\w+)` in `([\w/.-]+)` \| (\d+|none): `(\w+)` \|$/gm
const rows = [...tables.matchAll(ROW)].map(
  ([, rule = '', codes = '', place = '', file = '', kind = '', theorem = '']) => ({
    ...{ rule, codes: namesIn(codes), place, file, kind, theorem },
  }),
)

/** The models, and the files of which each check has a rule. */
const MODELS = [
  {
    file: 'Rules',
    codes: 'code_of',
    source: [
      'src/verify/proof/leaf-proof.ts',
      'src/verify/tree/path.ts',
      'src/verify/tree/leaf.ts',
      'src/verify/tree/kind.ts',
      'src/verify/proof/tree.ts',
    ],
  },
  { file: 'Trie', codes: 'trie_code_of', source: ['src/verify/anchor/trie.ts'] },
  { file: 'Receipts', codes: 'receipt_code_of', source: ['src/verify/blocks/receipts.ts'] },
  { file: 'Messages', codes: 'message_code_of', source: ['src/verify/messages/tree.ts'] },
  {
    file: 'Transition',
    codes: 'trace_code_of',
    source: ['src/verify/transition/trace.ts', 'src/verify/transition/segment.ts', 'src/verify/transition/verify.ts'],
  },
]

/** Codes in these files that stand for no rule: of JSON, of bounds, and of what an answer states beside its proofs. */
const OUTSIDE = [
  ...['MPT_NODES_MISSING', 'BAD_HEX', 'TRANSITION_MALFORMED', 'TRACE_TYPE_UNKNOWN', 'TRANSITION_TOO_LARGE'],
  ...['TRANSITION_ROOT_CONTRADICTED', 'ANSWER_IS_ERROR'],
]

/** The branches of the function that gives each rule its codes, as rule -> codes. */
function codesOf({ file, codes }: (typeof MODELS)[number]): Map<string, string[]> {
  const model = read(`test/soundness/${file}.v`)
  const branches = new RegExp(`Definition ${codes}[\\s\\S]+?\\n {2}end\\.`).exec(model)?.[0] ?? ''
  return new Map(
    [...branches.matchAll(/^ {2}\| ([^=]+?)=> (.+)/gm)].flatMap(([, rules = '', codes = '']) =>
      rules.split('|').map(rule => [rule.trim(), codes.match(/[A-Z]+(_[A-Z0-9]+)+/g) ?? []] as const),
    ),
  )
}

/** The rules of a model, by name. */
function rulesOf({ file, codes }: (typeof MODELS)[number]): string[] {
  const pattern = new RegExp(`Inductive ${codes.replace('code_of', 'rule')} :=([^.]+)\\.`)
  const names = pattern.exec(read(`test/soundness/${file}.v`))?.[1]?.match(/\w+/g) ?? []
  expect(names.length, file).toBeGreaterThan(3)
  return names.sort()
}

const early = /early_rules : list rule := \[(.+)\]/.exec(read('test/soundness/AnyTree.v'))?.[1]?.split('; ') ?? []
const proofs = readdirSync('test/soundness')
  .filter(file => file.endsWith('.v'))
  .map(file => read(`test/soundness/${file}`))
  .join('\n')

it('lists every rule of the models with its code', () => {
  const all = MODELS.map(codesOf)
  expect(all.map(codes => [...codes.keys()].sort())).toEqual(MODELS.map(rulesOf))
  expect(new Map(rows.map(({ rule, codes }) => [rule, codes]))).toEqual(new Map(all.flatMap(codes => [...codes])))
})

it('names the function of each rule', () => {
  for (const { place, file } of rows) {
    expect(read(file), `${place} in ${file}`).toMatch(new RegExp(`(function|const) ${place}\\b`))
  }
})

it('finds a rule for each check of the modelled files', () => {
  const known = [...MODELS.flatMap(model => [...codesOf(model).values()].flat()), ...OUTSIDE]
  let found = 0
  const sources = MODELS.flatMap(({ file, source }) => source.map(path => [path, file] as const))
  for (const [file, model] of sources) {
    expect(read(file), file).toContain(`// Each check of this file is a rule of test/soundness/${model}.v.`)
    for (const [, code = ''] of read(file).matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g)) {
      expect(known, `${code} in ${file}`).toContain(code)
      found++
    }
  }
  expect(found).toBeGreaterThan(50)
})

it('names what refutes a theorem without the rule', () => {
  for (const { rule, kind, theorem } of rows) {
    if (early.includes(rule)) expect(theorem).toBe('early_rules_change_no_verdict')
    else if (kind === 'none') expect(proofs, rule).toMatch(new RegExp(`^Theorem ${theorem}\\b`, 'm'))
    else {
      const statement = new RegExp(`Theorem ${theorem} : ([^\\n]+)`).exec(proofs)?.[1] ?? ''
      const isAlone = new RegExp(`^~ \\w+_with \\(without(_\\w+)? ${rule}\\)\\.$`).test(statement)
      // Where one of two rules suffices, both are left out.
      const isOneOfTwo = /^~ \w+_with \(fun r => match r with/.test(statement) && statement.includes(rule)
      expect(isAlone || isOneOfTwo || theorem === 'rlp_canonical_needed', `${rule}: ${statement}`).toBe(true)
    }
  }
})

it('names only theorems whose assumptions are printed', () => {
  const printed = [...read('test/soundness/Theorems.v').matchAll(/^ {2}(\w+),?$/gm)].map(([, name = '']) => name)
  const stated = [...proofs.matchAll(/^Theorem (\w+)/gm)].map(([, name = '']) => name)
  const named = namesIn(page).filter(name => stated.includes(name))
  expect(named.length).toBeGreaterThan(110)
  for (const name of named) expect(printed, name).toContain(name)
})

it('lists every change of a verifier, which its file still has the line for', () => {
  expect(CHANGES.length).toBeGreaterThan(30)
  const listed = [...tables.matchAll(/^\| ([^|]+) \| `([\w/-]+\.ts)` \| [^|]+ \| [^|]+ \|$/gm)]
  expect(listed.map(([, what, file]) => ({ what, file }))).toEqual(CHANGES.map(({ what, file }) => ({ what, file })))
  for (const change of CHANGES) expect(replaceLine(change), change.what).not.toBe(read(`src/verify/${change.file}`))
})
