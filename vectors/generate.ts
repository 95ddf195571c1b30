/**
 * Writes the corpus: `npm run vectors`. Everything comes from the world and from names in the source, so that every run
 * writes the same bytes; a test generates the corpus again and compares.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mimc } from '../src/mimc.ts'
import { poseidon2 } from '../src/poseidon2.ts'
import { invalidCases } from './invalid.ts'
import { expectedOf, validCases } from './valid.ts'
import type { Vector } from './vector.ts'

const $schema = '../../vector.schema.json'

/** The corpus: path below this folder -> content. */
export function generate(): Map<string, string> {
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

/** Replaces the corpus on disk. */
function write(folder: string): void {
  const files = generate()
  for (const scheme of ['mimc', 'poseidon2']) rmSync(join(folder, scheme), { recursive: true, force: true })
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  console.log(`${files.size} vectors`)
}

const here = fileURLToPath(import.meta.url)
if (process.argv[1] === here) write(dirname(here))
