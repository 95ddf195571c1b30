import { describe, expect, it } from 'vitest'
import { didYouMean, UsageError } from '../../src/cli/errors.ts'
import { optionsOf } from '../../src/cli/options/declared.ts'
import { parseOptions } from '../../src/cli/options/parse.ts'
import { mappingKeyOf, storageKey } from '../../src/cli/options/read.ts'
import { toJson } from '../../src/cli/output/report.ts'
import { fitToTerminal, OVERWRITE } from '../../src/cli/output/table.ts'
import { createWorld } from '../../src/devnet/index.ts'
import { mappingSlot } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { ADDRESS, COMMANDS, collector, fileOf, runHere } from './io.ts'

const word = (digits: string) => `0x${digits.padStart(64, '0')}`

describe('storage keys', () => {
  it('are read in the forms people write', () => {
    const cases: [string, string][] = [
      ['0', word('0')],
      ['0x0', word('0')],
      ['0x00', word('0')],
      ['10', word('a')],
      ['0x10', word('10')],
      ['0xFf', word('ff')],
      ['0xffffffffffffffff', word('ffffffffffffffff')],
      [`${2n ** 256n - 1n}`, word('f'.repeat(64))],
      [word('AB'), word('AB')],
    ]
    for (const [text, key] of cases) expect(storageKey(text, '--storage-key'), text).toBe(key)
    expect(cases).toHaveLength(9)
  })

  it('are refused if ambiguous or malformed', () => {
    const cases: [string, string][] = [
      ['1'.repeat(64), 'write 0x before hexadecimal'],
      ['ab'.repeat(32), 'write 0x before hexadecimal'],
      ['1'.repeat(40), 'write 0x before hexadecimal'],
      [ADDRESS, 'this is an address'],
      [`0x${'1'.repeat(63)}`, 'fewer than 32 bytes'],
      [`0x${'1'.repeat(17)}`, 'fewer than 32 bytes'],
      [`0x${'1'.repeat(65)}`, 'expected'],
      [`${2n ** 256n}`, 'it is too large'],
      ['9'.repeat(1_000_000), 'it is too large'],
      ...['', '0x', '007', '-1', '1.0', '1e3', '0b1', '0X1', ' 1', '1n', '0xg', 'ab', '１'].map(
        (text): [string, string] => [text, 'expected'],
      ),
    ]
    for (const [text, message] of cases) {
      const error = errorOf(() => storageKey(text, '--storage-key'))
      expect(error, text.slice(0, 80)).toBeInstanceOf(UsageError)
      expect(error.message).toContain(`--storage-key: ${message}`)
      expect(error.message.length).toBeLessThan(250)
    }
    expect(cases).toHaveLength(22)
  })

  it('are computed for mapping entries, in the order of the options', () => {
    const options = optionsOf('storage-key', 'mapping', 'json')
    const parse = (...args: string[]) => parseOptions(args, options, true)
    const { values, positionals } = parse(
      'a',
      '--mapping',
      '3',
      ADDRESS,
      '--storage-key=1',
      '--mapping',
      '0x3',
      '7',
      'b',
    )
    expect(values['storage-key']).toEqual([
      mappingSlot({ slot: 3n, keys: [ADDRESS] }),
      word('1'),
      mappingSlot({ slot: 3n, keys: [7n] }),
    ])
    expect(positionals).toEqual(['a', 'b'])
    const inner = mappingSlot({ slot: 1n, keys: [ADDRESS] })
    expect(mappingKeyOf(inner, '--mapping', ADDRESS)).toBe(mappingSlot({ slot: 1n, keys: [ADDRESS, ADDRESS] }))
    // Where solc stores balances[0x...01] of a mapping in slot 0.
    expect(mappingKeyOf('0', '--mapping', word('1'))).toBe(
      '0xada5013122d395ba3c54772283fb069b10426056ef8ca54750cb9bb552a59e7d',
    )
    expect(parse('--', '--mapping').positionals).toEqual(['--mapping'])
    const refused = [['--mapping'], ['--mapping', '1'], ['--mapping', '1', '--json'], ['--mapping=1', '2']]
    for (const args of [...refused, ['--mapping', ADDRESS, '1'], ['--mapping', '1', '0xzz']]) {
      expect(() => parse(...args), `${args}`).toThrow(UsageError)
    }
  })

  it('can be a number or a mapping entry when verifying', async () => {
    const world = createWorld(poseidon2)
    world.setAccount(ADDRESS, { nonce: 1n, balance: 0n })
    const keys = [mappingSlot({ slot: 2n, keys: [ADDRESS] }), word('0') as `0x${string}`]
    for (const key of keys) world.setStorage(ADDRESS, { key, value: word('7') as `0x${string}` })
    const file = fileOf(world.getProof(ADDRESS, keys))
    const claim = ['--state-root', world.stateRoot(), '--address', ADDRESS]
    const right = ['--mapping', '2', ADDRESS, '--storage-key', '0x0']
    expect((await runHere(['verify', file, ...claim, ...right])).code).toBe(0)
    const swapped = ['--storage-key', '0x0', '--mapping', '2', ADDRESS]
    expect((await runHere(['verify', file, ...claim, ...swapped])).code).toBe(1)
  })
})

describe('usage', () => {
  it('suggests a name for a misspelt one', async () => {
    const cases: [string[], string][] = [
      [['verfy'], 'no such command: verfy. Did you mean verify?'],
      [['help', 'recrod'], 'no such command: recrod. Did you mean record?'],
      [['verify', 'a', '--adress', ADDRESS], 'no such option: --adress. Did you mean --address?'],
      [['verify', 'a', '--maping', '1'], 'Did you mean --mapping?'],
      [['serve', '--prot', '1'], 'Did you mean --port?'],
      [['verify', fileOf({ scheme: 'posiedon2', result: {} }), '--state-root', word('1')], 'Did you mean poseidon2?'],
      [['verify', fileOf({}), '--network', 'linae', '--l1-block-hash', word('1')], 'Did you mean linea?'],
      [['record'], 'record what? Choose record state, record call, record logs, record message.'],
      [['follow', 'mesages'], 'Did you mean follow messages?'],
      [['constructor'], 'no such command: constructor.'],
      [['verify', '--__proto__', 'a'], 'no such option: --__proto__.'],
    ]
    for (const [args, message] of cases) {
      const { code, stderr } = await runHere(args)
      expect({ args, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
    }
    expect(cases).toHaveLength(11)
    expect(didYouMean('zzz', ['verify', 'record'])).toBe('')
    expect(didYouMean('v'.repeat(10_000_000), ['verify'])).toBe('')
    expect(didYouMean('', [])).toBe('')
  })

  it('reports wrong usage as one JSON object', async () => {
    for (const args of [
      ['verify', 'no-such-file', '--json'],
      ['verify', 'a', '--json', '--nope'],
      ['nope', '--json'],
      ['--json'],
    ]) {
      const { code, stdout } = await runHere(args)
      expect({ code, report: JSON.parse(stdout) }, `${args}`).toEqual({
        code: 2,
        report: { error: { code: 'USAGE', message: expect.any(String), help: expect.stringContaining('--help') } },
      })
      expect(stdout.trimEnd()).not.toContain('\n')
    }
    expect((await runHere(['nope', '--', '--json'])).stdout).toBe('')
  })

  it('accepts help, -h and -v', async () => {
    const { stdout: help } = await runHere(['verify', '--help'])
    expect(help).toMatch(/^Usage: rollup-state-proof verify/)
    for (const args of [
      ['help', 'verify'],
      ['verify', '-h'],
    ]) {
      expect(await runHere(args)).toEqual({ code: 0, stdout: help, stderr: '' })
    }
    const { stdout: general } = await runHere(['--help'])
    for (const name of ['help', '-h']) expect((await runHere([name])).stdout).toBe(general)
    expect(await runHere(['-v'])).toEqual(await runHere(['--version']))
  })

  it('prints help of one screen each, with 140 options in all', async () => {
    let count = 0
    for (const name of ['', 'options', 'trust', ...COMMANDS]) {
      const { code, stdout } = await runHere(['help', ...name.split(' ')].filter(Boolean))
      const lines = stdout.trimEnd().split('\n')
      expect(code, name).toBe(0)
      expect(
        lines.filter(line => line.length > 80),
        name,
      ).toEqual([])
      expect(lines.length, name).toBeLessThanOrEqual(40)
      if (COMMANDS.includes(name)) expect(stdout, name).toContain(`\nExamples:\n`)
      count += lines.filter(line => /^ {2}(-\w, )?--[a-z]/.test(line)).length
    }
    expect(count).toBeGreaterThan(100)
    expect(count).toBeLessThanOrEqual(140)
    for (const word of ['record', 'follow']) {
      expect((await runHere([word, '--help'])).stdout).toMatch(new RegExp(`^Usage: rollup-state-proof ${word} SUBJECT`))
    }
  })

  it('shortens a long string from a file to its beginning and length', () => {
    const text = toJson({ [`n${'a'.repeat(5000)}`]: ['b'.repeat(1_000_000)] })
    expect(text.length).toBeLessThan(600)
    expect(text).toContain('b... (1000000 characters)')
    expect(text).toContain('a... (5001 characters)')
  })
})

describe('output on a narrow terminal', () => {
  it('truncates progress to one line, and removes it before other output', () => {
    const [out, err] = [collector(true, 60), collector(true, 60)]
    const { stdout, stderr } = fitToTerminal({ stdin: process.stdin, stdout: out.stream, stderr: err.stream })
    stderr.write(`${OVERWRITE}${'p'.repeat(500)}`)
    expect(err.text()).toBe(`${OVERWRITE}${'p'.repeat(59)}`)
    stdout.write('report\n')
    expect([err.text().endsWith(OVERWRITE), out.text()]).toEqual([true, 'report\n'])
    stdout.write('more\n')
    expect(err.text().split(OVERWRITE)).toHaveLength(3)
  })

  it('leaves everything else as it is', async () => {
    for (const name of ['', ...COMMANDS]) {
      const { stdout } = await runHere(['help', ...name.split(' ')].filter(Boolean))
      expect(await runHere(['help', ...name.split(' ')].filter(Boolean), { isTTY: true, columns: 60 })).toMatchObject({
        stdout,
      })
    }
    const json = await runHere(['inspect', 'no-such-file', '--json'])
    expect((await runHere(['inspect', 'no-such-file', '--json'], { isTTY: true, columns: 20 })).stdout).toBe(
      json.stdout,
    )
  })
})

function errorOf(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}
