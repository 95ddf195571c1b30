import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { readInputFile } from '../../../src/cli/words/input-file.ts'
import { verifyEvidence } from '../../../src/entry/anchor.ts'
import { type CallClaim, verifyCallEvidence } from '../../../src/entry/provider.ts'
import type { EvidenceName } from '../../../src/verify/evidence/verify.ts'
import { claimOfVector } from '../../../vectors/run/claim.ts'

/** Where each kind has its vectors, and the type of its bundles. */
const KINDS: Readonly<Record<EvidenceName, { readonly folder: string; readonly file: string; readonly type: string }>> =
  {
    state: { folder: 'evidence', file: 'src/verify/evidence/kinds/state.ts', type: 'EvidenceBundle' },
    logs: { folder: 'logs', file: 'src/verify/evidence/kinds/logs.ts', type: 'LogsBundle' },
    message: { folder: 'messages', file: 'src/verify/evidence/kinds/message.ts', type: 'MessageBundle' },
    call: { folder: 'calls', file: 'src/provider/call-evidence/types.ts', type: 'CallBundle' },
  }
/** Answers of other programs, whose formats are not those of evidence. */
const FOREIGN =
  /^(answer|answers\[\]\.answer|l1\.proof|consensus\.(bootstrap|updates\[\]|finality)|blocks\[\]\.(receipts|transactions))(?=[.[]|$)/

type Schema = { readonly $ref?: string; readonly anyOf?: Schema[]; readonly items?: Schema } & {
  readonly properties?: Readonly<Record<string, Schema>>
}
const schema: Schema & { $defs: Record<string, Schema> } = JSON.parse(readFileSync('docs/evidence.schema.json', 'utf8'))

const join = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`)

/** The place of each field that the schema has, such as `l1.header` or `blocks[].header`. */
function fieldsIn({ $ref, anyOf = [], items, properties = {} }: Schema, place = ''): string[] {
  if (FOREIGN.test(place)) return []
  const target = $ref === undefined ? undefined : schema.$defs[$ref.replace('#/$defs/', '')]
  return [
    ...[...(target ? [target] : []), ...anyOf].flatMap(one => fieldsIn(one, place)),
    ...(items ? fieldsIn(items, `${place}[]`) : []),
    ...Object.entries(properties).flatMap(([name, one]) => [join(place, name), ...fieldsIn(one, join(place, name))]),
  ]
}

/** The place of each field that the type of a kind's bundles has. */
function readTypes(): (kind: EvidenceName) => string[] {
  const files = Object.values(KINDS).map(({ file }) => file)
  const program = ts.createProgram(files, { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022 })
  const checker = program.getTypeChecker()
  const placesIn = (type: ts.Type, place = ''): string[] => {
    const known = checker.getNonNullableType(type)
    const [item] = checker.isArrayType(known) ? checker.getTypeArguments(known as ts.TypeReference) : []
    if (item) return placesIn(item, `${place}[]`)
    // Of a map, the names are no fields. A text is no object.
    if ((known.flags & ts.TypeFlags.Object) === 0 || FOREIGN.test(place)) return []
    return checker.getPropertiesOfType(known).flatMap(field => {
      const at = join(place, field.name)
      return [at, ...placesIn(checker.getTypeOfSymbol(field), at)]
    })
  }
  return kind => {
    const { file, type: name } = KINDS[kind]
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    const type = module && checker.getExportsOfModule(module).find(exported => exported.name === name)
    return type ? placesIn(checker.getDeclaredTypeOfSymbol(type)) : []
  }
}

/** The same document. Every field is noted that it has, and that is looked for, whether it is there or not. */
function watch(value: unknown, looks: Looks, place = ''): unknown {
  if (typeof value !== 'object' || value === null || FOREIGN.test(place)) return value
  const fields = Object.entries(value)
  if (!Array.isArray(value)) for (const [name] of fields) looks.written.add(join(place, name))
  const copy: unknown = Array.isArray(value)
    ? value.map(item => watch(item, looks, `${place}[]`))
    : Object.fromEntries(fields.map(([name, field]) => [name, watch(field, looks, join(place, name))]))
  return new Proxy(copy as object, {
    getOwnPropertyDescriptor(target, name) {
      if (!Array.isArray(value)) looks.read.add(join(place, String(name)))
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
}

/** The fields that the valid vectors of a kind have, and those that are looked for in them. */
interface Looks {
  readonly written: Set<string>
  readonly read: Set<string>
}

async function looksOf(kind: EvidenceName): Promise<Looks> {
  const looks: Looks = { written: new Set(), read: new Set() }
  const folder = `vectors/${KINDS[kind].folder}/valid`
  let count = 0
  for (const name of readdirSync(folder)) {
    const file = readInputFile(JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')))
    if (file.kind !== 'evidence vector') continue
    const [bundle, claim] = [watch(file.bundle, looks), claimOfVector(file)]
    // Despite the type, it is of the kind that the vector names.
    if (kind === 'call') await verifyCallEvidence(bundle, claim as unknown as CallClaim)
    else verifyEvidence(bundle, claim)
    count++
  }
  expect(count).toBeGreaterThan(3)
  return looks
}

it('has the same fields in the schema, in the types, in what is read of evidence, and in the vectors', async () => {
  const { $defs, ...head } = schema
  const shared = [...fieldsIn(head), ...fieldsIn($defs['headOfL2'] ?? {})]
  expect(shared.length).toBeGreaterThan(15)
  const typesOf = readTypes()
  /** Not every kind has a vector, or a type, with every part of the head. */
  const headsBySource = new Map<string, Set<string>>()
  for (const kind of Object.keys(KINDS) as EvidenceName[]) {
    const body = fieldsIn($defs[kind] ?? {})
    expect(body.length).toBeGreaterThan(3)
    for (const [source, found] of Object.entries({ typed: typesOf(kind), ...(await looksOf(kind)) })) {
      const places = [...found]
      const unknown = places.filter(place => ![...shared, ...body].includes(place))
      // No call of a vector reads the environment.
      const wanted = source === 'written' ? body.filter(place => !place.startsWith('environment.')) : body
      const missing = wanted.filter(place => !places.includes(place))
      expect({ unknown, missing }, `${kind}, ${source}, against the schema`).toEqual({ unknown: [], missing: [] })
      headsBySource.set(source, new Set([...(headsBySource.get(source) ?? []), ...places]))
    }
  }
  expect([...headsBySource.keys()]).toEqual(['typed', 'written', 'read'])
  for (const [source, places] of headsBySource) {
    expect(
      shared.filter(place => !places.has(place)),
      `the head, ${source}`,
    ).toEqual([])
  }
})
