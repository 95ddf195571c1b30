import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { claimOfVector } from '../../../src/cli/words/evidence.ts'
import { readInputFile } from '../../../src/cli/words/input-file.ts'
import { verifyEvidence } from '../../../src/entry/anchor.ts'
import { type CallClaim, verifyCallEvidence } from '../../../src/entry/provider.ts'
import type { EvidenceName } from '../../../src/verify/evidence/names.ts'

/** Where the kinds have their valid vectors. */
const FOLDERS: Readonly<Record<EvidenceName, string>> = {
  ...{ state: 'evidence', logs: 'logs', message: 'messages', call: 'calls' },
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

/** The same document. Every field that is looked for is noted, whether it is there or not. */
function watch(value: unknown, looked: Set<string>, place = ''): unknown {
  if (typeof value !== 'object' || value === null || FOREIGN.test(place)) return value
  const copy: unknown = Array.isArray(value)
    ? value.map(item => watch(item, looked, `${place}[]`))
    : Object.fromEntries(Object.entries(value).map(([name, field]) => [name, watch(field, looked, join(place, name))]))
  return new Proxy(copy as object, {
    getOwnPropertyDescriptor(target, name) {
      if (!Array.isArray(value)) looked.add(join(place, String(name)))
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
}

/** All fields that are looked for in the valid vectors of a kind. */
async function looksOf(kind: string, folder: string): Promise<ReadonlySet<string>> {
  const looked = new Set<string>()
  let count = 0
  for (const name of readdirSync(`vectors/${folder}/valid`)) {
    const file = readInputFile(JSON.parse(readFileSync(`vectors/${folder}/valid/${name}`, 'utf8')))
    if (file.kind !== 'evidence vector') continue
    const [bundle, claim] = [watch(file.bundle, looked), claimOfVector(file)]
    // Despite the type, it is of the kind that the vector names.
    if (kind === 'call') await verifyCallEvidence(bundle, claim as unknown as CallClaim)
    else verifyEvidence(bundle, claim)
    count++
  }
  expect(count).toBeGreaterThan(3)
  return looked
}

it('has a schema with exactly the fields that are read of evidence', async () => {
  const { $defs, ...head } = schema
  const shared = fieldsIn(head)
  const looksAtHead = new Set<string>()
  for (const [kind, folder] of Object.entries(FOLDERS)) {
    const looked = await looksOf(kind, folder)
    const body = fieldsIn($defs[kind] ?? {})
    expect(body.length).toBeGreaterThan(5)
    // A block hash has the number of its block for a name.
    const read = [...looked].filter(place => !place.startsWith('environment.blockHashes.'))
    expect(
      read.filter(place => ![...shared, ...body].includes(place)),
      `${kind}: not in the schema`,
    ).toEqual([])
    expect(
      body.filter(place => !looked.has(place)),
      `${kind}: not read`,
    ).toEqual([])
    for (const place of read) looksAtHead.add(place)
  }
  // Not every kind has a vector with every part of the head.
  expect(shared.filter(place => !looksAtHead.has(place))).toEqual([])
  expect(shared.length).toBe(18)
})
