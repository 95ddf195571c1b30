import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { PACKAGE } from './build.ts'

it('is loaded by CommonJS programs, although it consists of ES modules', () => {
  const { exports }: { exports: Record<string, { default?: string }> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const files = Object.values(exports).flatMap(door => door.default ?? [])
  expect(files.length).toBeGreaterThan(10)
  const paths = files.map(file => resolve(PACKAGE, file))
  const program = `for (const path of ${JSON.stringify(paths)}) console.log(Object.keys(require(path)).length > 0)`
  // What it is for is its effect.
  const hasExports = (file: string) => file !== './dist/entry/provider/evm.js'
  const { stdout } = spawnSync(process.execPath, ['--no-warnings', '-e', program], { encoding: 'utf8' })
  expect(stdout.trim().split('\n')).toEqual(files.map(file => `${hasExports(file)}`))
})
