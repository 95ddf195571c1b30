import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const FOLDER = '.github/workflows'
const linesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, line = '']) => line)
const workflows = readdirSync(FOLDER).map(name => ({ name, text: readFileSync(`${FOLDER}/${name}`, 'utf8') }))
const commands = workflows.flatMap(({ text }) => linesOf(text, /^ +- run: (.+)$/gm))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Expects an npm script or a file in .ci that exists: what a command does is written down there, not in a workflow. */
function expectKnown(command: string): void {
  const [, script, file] = /^(?:npm (?:run )?([\w:]+)(?: -- .+)?|bash (\.ci\/[\w-]+))$/.exec(command) ?? []
  if (file !== undefined) expect(existsSync(file), command).toBe(true)
  else if (script !== 'ci') expect(Object.keys(scripts), command).toContain(script)
}

it('runs only npm scripts and files of .ci', () => {
  expect(workflows.length).toBe(6)
  expect(commands.length).toBeGreaterThan(15)
  for (const command of commands) expectKnown(command)
  for (const { name, text } of workflows) {
    expect(linesOf(text, /\brun: *(.*)$/gm).length, name).toBe(linesOf(text, /^ +- run: (\S.*)$/gm).length)
  }
})

it('runs every command of .ci/run in some workflow', () => {
  const all = linesOf(readFileSync('.ci/run', 'utf8'), /^((?:npm|bash) .+)$/gm)
  expect(all.length).toBeGreaterThan(8)
  for (const command of all) {
    expectKnown(command)
    expect(commands, command).toContain(command)
  }
})

it('pins every action to a commit, whose version a comment names', () => {
  const actions = workflows.flatMap(({ text }) => linesOf(text, /\buses: *(.*)$/gm))
  expect(actions.length).toBeGreaterThan(8)
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  // One version of each.
  expect(new Set(actions).size).toBe(new Set(actions.map(action => action.split('@')[0])).size)
})

it('lets no workflow write, except the release', () => {
  for (const { name, text } of workflows) {
    expect(text, name).toContain('\npermissions:\n  contents: read\n')
    if (name !== 'release.yml') expect(text, name).not.toMatch(/: write|secrets\./)
  }
})
