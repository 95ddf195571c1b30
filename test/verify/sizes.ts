import { readdirSync } from 'node:fs'
import { expect } from 'vitest'

/** How many vectors a folder has: a test that runs all of them counts as many. */
export function sizesOf(folder: string): { readonly valid: number; readonly invalid: number } {
  const [valid, invalid] = [readdirSync(`vectors/${folder}/valid`), readdirSync(`vectors/${folder}/invalid`)]
  expect(Math.min(valid.length, invalid.length), folder).toBeGreaterThan(3)
  return { valid: valid.length, invalid: invalid.length }
}
