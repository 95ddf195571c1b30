import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Fields, fieldIn } from '../../src/cli/words/value.ts'
import { commandOf } from '../../src/site/command.ts'
import { exampleSources } from '../../src/site/examples.ts'
import { judge } from '../../src/site/judge.ts'
import { openFile, statementFrom } from '../../src/site/opened-file.ts'
import { eachField, type Field } from '../../src/site/statement.ts'
import { readVector } from '../../vectors/run/read.ts'
import { folderOf, runHere } from '../cli/io.ts'

/** The command that the page shows is what the command line takes, and comes to the same verdict. */

const read = (path: string) => JSON.parse(readFileSync(join('vectors', path), 'utf8'))

/** What a server or a sender gives of a vector: the evidence, the answer or the traces in it. */
const contentOf = ({ bundle, input, answer, operation }: Fields): unknown =>
  bundle ?? answer ?? (operation === 'verifyTransition' ? fieldIn(input, 'answer') : input)
/** The network that the vector is of, as `--network` takes it. */
function networkOf({ claim, scheme, input }: Fields): unknown {
  const { rollup, trusted } = Object(claim)
  const name = scheme ?? Object(input).scheme
  return { scheme: name, rollup: { address: `0x${'11'.repeat(20)}`, ...rollup }, beacon: trusted?.network }
}

it('verifies each example as the page does, with the command that it shows', async () => {
  const seen = new Map<string, number>()
  for (const { title, path } of exampleSources) {
    const vector = readVector(join('vectors', path))
    const file = openFile(vector)
    if (file.subject === 'call') continue
    const suggested = statementFrom(file.suggested)
    const own = eachField((name): Field => ({ ...suggested[name], source: 'user' }))
    const [, ...argv] = commandOf(file.subject, own).split(' ')
    const { report } = judge(file, own)
    const [, name = ''] = argv
    const folder = folderOf({ [name]: contentOf(vector), 'network.json': networkOf(vector) })
    const { code, stdout, stderr } = await runHere(
      argv.map(word => (word.endsWith('.json') ? join(folder, word) : word)),
    )
    // Who hands a file of the network over stands for it; on the page, nobody can type one.
    const isRight = report.verdict !== 'refused'
    expect([code, stderr], `${title}: ${argv.join(' ')}\n${stdout}${stderr}`).toEqual([isRight ? 0 : 1, ''])
    // The command line takes the kind of state from the form of the answer, not from what the visitor chooses.
    const told = title === 'eth_getProof answer' ? 'L1_STORAGE_PROOF_COUNT' : report.failure?.code
    if (!isRight) expect(stdout, title).toContain(told)
    seen.set(file.subject, (seen.get(file.subject) ?? 0) + 1)
  }
  expect(Object.fromEntries(seen)).toEqual({ bundle: 5, answer: 10, logs: 2, message: 3, traces: 1 })
})

it('leaves open whatever the visitor has not stated, and shows nothing that a shell would read', () => {
  const file = openFile(read('evidence/valid/poseidon2-block-hash.json'))
  const suggested = statementFrom(file.suggested)
  const bare = 'rollup-state-proof verify bundle.json --l1-block-hash 0x… --address 0x… --network network.json'
  expect(commandOf('bundle', suggested)).toBe(bare)
  const typed = (value: string): Field => ({ value, source: 'user' })
  const confirmed: Field = { ...suggested.trusted, source: 'confirmed' }
  expect(commandOf('bundle', { ...suggested, trusted: confirmed, rollup: typed('linea') })).toBe(
    `rollup-state-proof verify bundle.json --l1-block-hash ${suggested.trusted.value} --address 0x…`,
  )
  for (const hostile of ['$(id)', '0x12; id', '--trust-file', '`id`', '0x12\n', "'", '~/x', '0x12 --trust-file']) {
    expect(commandOf('bundle', { ...suggested, address: typed(hostile), l2Block: typed(hostile) }), hostile).toBe(bare)
    expect(
      commandOf('logs', { ...suggested, rollup: typed(''), logs: typed(JSON.stringify({ address: hostile })) }),
    ).toBe('rollup-state-proof verify logs.json --l1-block-hash 0x…')
  }
})

it('shows a command of options that there are for what it does not verify', async () => {
  const empty = eachField((): Field => ({ value: '', source: 'user' }))
  for (const [subject, options] of [
    ['call', ['l1-block-hash', 'call']],
    ['vector', []],
  ] as const) {
    const [, name = '', ...words] = commandOf(subject, empty).split(' ')
    const { code, stdout } = await runHere([name, '--help'])
    expect(code).toBe(0)
    const shown = words.filter(word => word.startsWith('--')).map(word => word.slice(2))
    expect(shown).toEqual(options)
    for (const option of options)
      expect(`${stdout}${(await runHere(['help', 'trust'])).stdout}`).toContain(`--${option} `)
  }
})
