import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PROGRAM } from './build.ts'

/** Runs the command under a Node that says that it has another version. */
function runAs(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, PROGRAM, '--version']
  return spawnSync(process.execPath, args, { encoding: 'utf8' })
}

it('says which Node the command needs, and begins with it', () => {
  const { engines, version } = JSON.parse(readFileSync('src/cli/package.json', 'utf8'))
  expect(engines.node).toBe('>=20.19')
  for (const node of ['18.20.8', '20.18.3']) {
    expect(runAs(node)).toMatchObject({
      ...{ status: 2, stdout: '' },
      stderr: `rollup-state-proof: it needs Node 20.19 or later, and this is Node ${node}\n`,
    })
  }
  for (const node of ['20.19.0', '22.0.0']) {
    expect(runAs(node)).toMatchObject({ status: 0, stdout: expect.stringContaining(version), stderr: '' })
  }
})

it('imports nothing before', () => {
  expect(readFileSync('src/cli/main.js', 'utf8')).not.toMatch(/^import/m)
})
