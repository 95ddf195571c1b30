/**
 * Writes the vectors. With `--check`, compares them with the files instead. Everything is derived from the world and from
 * names in the source, so every run produces the same bytes.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mimc } from '../src/entry/mimc.ts'
import { poseidon2 } from '../src/entry/poseidon2.ts'
import { generateBeacon } from './beacon/generate.ts'
import { generateBlocks } from './blocks/generate.ts'
import { generateCalls } from './calls/generate.ts'
import { generateEvidence } from './evidence/generate.ts'
import { VECTOR_FOLDERS } from './folders.ts'
import { invalidCases } from './invalid.ts'
import { generateLogs } from './logs/generate.ts'
import { generateMessages } from './messages/generate.ts'
import { generateTransitions } from './transitions/generate.ts'
import { expectedOf, validCases } from './valid.ts'
import type { Vector } from './vector.ts'

const $schema = '../../vector.schema.json'

/** The vectors of answers: path below this folder -> content. */
function generateAnswers(): Map<string, string> {
  const files = new Map<string, string>()
  const add = (kind: 'valid' | 'invalid', name: string, vector: Vector) => {
    const path = `${vector.scheme}/${kind}/${name}.json`
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(vector, null, 1)}\n`)
  }
  for (const scheme of [mimc, poseidon2]) {
    for (const validCase of validCases(scheme)) {
      const { name, description, world, address, storageKeys = [], serve = result => result } = validCase
      const answer = serve(world.getProof(address, storageKeys))
      const expected = expectedOf(scheme, validCase)
      const stateRoot = world.stateRoot()
      add('valid', name, {
        $schema,
        description,
        scheme: scheme.name,
        stateRoot,
        address,
        storageKeys,
        answer,
        expected,
      })
    }
    for (const { name, code, ...invalidCase } of invalidCases(scheme)) {
      add('invalid', name, { $schema, ...invalidCase, scheme: scheme.name, expected: { valid: false, code } })
    }
  }
  return files
}

/** All vectors: path below this folder -> content. */
async function generate(): Promise<Map<string, string>> {
  const evidence = await generateEvidence()
  const below = (folder: string, files: ReadonlyMap<string, string>) =>
    [...files].map(([path, text]) => [`${folder}/${path}`, text] as const)
  return new Map([
    ...generateAnswers(),
    ...below('evidence', evidence),
    ...below('beacon', generateBeacon()),
    ...below('calls', await generateCalls()),
    ...below('blocks', await generateBlocks()),
    ...below('logs', await generateLogs()),
    ...below('messages', await generateMessages()),
    ...below('transitions', generateTransitions()),
  ])
}

const FOLDERS = VECTOR_FOLDERS.flatMap(folder => [`${folder}/valid`, `${folder}/invalid`])

/** Paths of files that differ from `files`, and of files that are missing on either side. */
function findStale(folder: string, files: ReadonlyMap<string, string>): string[] {
  const listed = FOLDERS.flatMap(name => readdirSync(join(folder, name)).map(file => `${name}/${file}`))
  const isFresh = (path: string) =>
    existsSync(join(folder, path)) && readFileSync(join(folder, path), 'utf8') === files.get(path)
  return [...new Set([...listed, ...files.keys()])].filter(path => !isFresh(path))
}

/** Replaces the contents of the folders. */
function write(folder: string, files: ReadonlyMap<string, string>): void {
  for (const name of FOLDERS) {
    rmSync(join(folder, name), { recursive: true, force: true })
    mkdirSync(join(folder, name), { recursive: true })
  }
  for (const [path, content] of files) writeFileSync(join(folder, path), content)
}

const files = await generate()
const folder = dirname(fileURLToPath(import.meta.url))
const isCheck = process.argv.includes('--check')
const stale = isCheck ? findStale(folder, files) : []
if (!isCheck) write(folder, files)
if (stale.length === 0) console.log(`vectors: ${files.size} files${isCheck ? ' are what their source makes' : ''}`)
else {
  console.error(`vectors: not what their source makes: ${stale.join(', ')}; run npm run generate`)
  process.exitCode = 1
}
