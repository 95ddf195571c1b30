import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { run as runCommand } from '../../src/cli/run.ts'
import { createBundle } from '../../src/entry/anchor.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { runProgram } from './bulk/program.ts'
import { gzipMembers, joinLines, mixedLines } from './bulk/records.ts'
import { ADDRESS, collector, fileOf, folderOf, networkOf, runHere, sampleOf } from './io.ts'

/** For a thorough run, use 200,000 lines. */
const LINES = Number(process.env['AUDIT_LINES'] ?? 400)

/** With workers, which need a separate process. */
const auditApart = (args: readonly string[], more = {}) => runProgram(['audit', '--jobs', '2', ...args], more)
/** A single job runs in this process. */
const audit = (args: readonly string[], more = {}) => runHere(['audit', '--jobs', '1', ...args], more)

const lines = [...mixedLines(LINES)]
const input = joinLines(lines)
const packed = gzipMembers(input)

interface Line {
  line: number
  file?: string
  verdict: string
  code?: string
  reason?: string
}

const parseLines = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
const kindOf = ({ verdict, code, reason }: Line): string =>
  verdict === 'refused' ? `refused ${code}` : verdict === 'unreadable' ? `unreadable: ${reason}` : verdict

it("gives every line the verifier's verdict: compressed or not, file or pipe, one job or two", async () => {
  const folder = folderOf({ 'packed.gz': packed })
  const [plain, gz] = [join(folder, 'plain.ndjson'), join(folder, 'packed.gz')]
  // In pieces, because Node writes less than 2 GiB at once.
  for (let start = 0; start < input.length; start += 2 ** 30) {
    appendFileSync(plain, input.subarray(start, start + 2 ** 30))
  }
  const first = await auditApart([gz, '--max-line', '1'])
  expect(first.code).toBe(1)
  const verdicts = parseLines(first.stdout)
  expect(verdicts.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1))
  expect(verdicts.map(kindOf)).toEqual(lines.map(({ kind }) => kind))
  const kinds = new Set(lines.map(({ kind }) => kind.replace(/ .*/, '')))
  expect([...kinds].sort()).toEqual(['absent', 'present', 'refused', 'unreadable:'])
  expect(first.stderr).toMatch(
    /^Of [\d,]+ records, [\d,]+ are refused, [\d,]+ are unreadable and [\d,]+ are consistent only, because nobody has confirmed the state root\.\nTo confirm them, /,
  )

  const others = [
    await audit([plain, '--max-line', '1']),
    await auditApart(['--max-line', '1'], { stdin: input }),
    await audit(['-', '--max-line', '1'], { stdin: packed }),
  ]
  for (const { code, stdout } of others) {
    expect(code).toBe(1)
    expect(stdout === first.stdout).toBe(true)
  }
})

it('writes verdicts that are longer than the records', async () => {
  const long = 'é'.repeat(120)
  const folder = folderOf()
  mkdirSync(join(folder, long, long), { recursive: true })
  const files = [join(folder, long, long, long), join(folder, 'b.ndjson')]
  const counts = [5000, 1]
  for (const [index, file] of files.entries()) writeFileSync(file, '\n'.repeat(counts[index] ?? 0))
  const expected = files.flatMap((file, index) =>
    Array.from({ length: counts[index] ?? 0 }, (_, line) => ({ line: line + 1, file, kind: 'unreadable: empty' })),
  )
  for (const run of [audit, auditApart]) {
    const verdicts = parseLines((await run(files)).stdout)
    expect(verdicts.map(each => ({ line: each.line, file: each.file, kind: kindOf(each) }))).toEqual(expected)
  }
})

it('reports a truncated input, and writes no file of verdicts that are not all', async () => {
  const cut = packed.subarray(0, Math.floor(packed.length * 0.6))
  const folder = folderOf({ 'cut.gz': cut, 'flipped.gz': Buffer.concat([cut, Buffer.from('garbage'), packed]) })
  const out = join(folder, 'out.ndjson')
  const piped = await audit([join(folder, 'cut.gz'), '--max-line', '1'])
  const count = parseLines(piped.stdout).length
  expect(parseLines(piped.stdout).map(kindOf)).toEqual(lines.slice(0, count).map(({ kind }) => kind))
  expect(piped.code).toBe(2)
  expect(piped.stderr).toContain(`cut.gz cannot be read beyond line ${count}: unexpected end of file`)
  if (count > 0) expect(piped.stderr).toContain('The input was not read to its end. Until then: ')
  const cutShort = await audit([join(folder, 'cut.gz'), '-o', out, '--max-line', '1'])
  expect(cutShort).toMatchObject({ code: 2, stderr: expect.stringContaining('unexpected end of file') })
  expect(readdirSync(folder).sort()).toEqual(['cut.gz', 'flipped.gz'])
  const flipped = await audit([join(folder, 'flipped.gz'), '--max-line', '1'])
  expect([flipped.code, flipped.stderr]).toEqual([2, expect.stringContaining('cannot be read beyond line')])
  writeFileSync(join(folder, 'cut.gz'), packed)
  expect((await audit([join(folder, 'cut.gz'), '-o', out, '--max-line', '1'])).code).toBe(1)
  expect(parseLines(readFileSync(out, 'utf8')).map(kindOf)).toEqual(lines.map(({ kind }) => kind))
})

it('refuses only the line that would take too much memory', async () => {
  const sample = JSON.stringify(sampleOf(poseidon2))
  // Parsing this takes twenty times its size.
  const bomb = `[${'{},'.repeat(600_000)}0]`
  const sparse = `[${`{"a":"${'a'.repeat(8)}"},`.repeat(500_000)}0]`
  const { code, stdout } = await audit(['--max-line', '64'], {
    stdin: Buffer.from([sample, bomb, sample, sparse, ''].join('\n')),
  })
  expect(code).toBe(1)
  const kinds = parseLines(stdout).map(kindOf)
  expect([kinds[0], kinds[2], kinds.length]).toEqual(['present', 'present', 4])
  expect([kinds[1], kinds[3]]).toEqual(['unreadable: too many values for its length', 'unreadable: not a record'])
})

it('prefers stated inputs over those in a record, and reports the sources', async () => {
  const sample = sampleOf(poseidon2)
  const other = `0x${'00'.repeat(32)}`
  const stdin = Buffer.from(`${JSON.stringify(sample)}\n${JSON.stringify(sample.result)}\n`)
  const later = await audit([], { stdin: JSON.stringify({ version: 2, ...sample }) })
  expect(parseLines(later.stdout).map(kindOf)).toEqual(['unreadable: it is not version 1'])
  const free = await audit([], { stdin })
  expect(parseLines(free.stdout)).toMatchObject([
    {
      verdict: 'present',
      sources: { scheme: 'file', stateRoot: 'file', address: 'file', storageKeys: 'file' },
    },
    { verdict: 'unreadable', reason: 'no state root: neither you nor the record names one' },
  ])
  const pinned = await audit(['--state-root', sample.stateRoot], { stdin })
  expect(pinned.code).toBe(0)
  expect(parseLines(pinned.stdout)).toMatchObject([
    { verdict: 'present', sources: { scheme: 'file', stateRoot: 'user', address: 'file', storageKeys: 'file' } },
    {
      ...{ verdict: 'present', stateRoot: sample.stateRoot, address: ADDRESS },
      account: { nonce: '3', balance: `${10n ** 18n}` },
      storage: [{ exists: true }, { exists: false }],
      sources: { scheme: 'lengths', stateRoot: 'user', address: 'answer', storageKeys: 'answer' },
    },
  ])
  expect(pinned.stderr).toContain('All 2 records are verified.')
  expect(free.stderr).toContain(
    '1 is unreadable and 1 is consistent only, because nobody has confirmed the state root.',
  )
  expect(pinned.stderr).toContain(
    'Note: 1 answer was verified for an address or storage keys that only the answer names',
  )
  expect(pinned.stderr).not.toContain('confirm')
  const wrong = await audit(['--state-root', other], { stdin })
  expect(parseLines(wrong.stdout)).toMatchObject([
    { verdict: 'refused', code: 'STATE_ROOT_MISMATCH' },
    { verdict: 'refused', code: 'STATE_ROOT_MISMATCH' },
  ])
  const elsewhere = await audit(['--address', `0x${'bb'.repeat(20)}`], { stdin })
  expect(parseLines(elsewhere.stdout)[0]).toMatchObject({ verdict: 'refused', code: 'KEY_MISMATCH' })
})

it('says how to audit bundles that were recorded with a checkpoint, and only of a refusal what it means', async () => {
  const recorded = readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8')
  const stdin = JSON.stringify(JSON.parse(recorded).bundle)
  const { stdout, stderr } = await audit(['--json'], { stdin })
  expect(stdout).toContain('--l1-block-hash (`verify --checkpoint` prints it)')
  const [kind] = JSON.parse(stderr).kinds
  expect(kind).toEqual({ kind: expect.stringMatching(/^unreadable: an evidence bundle/), count: 1, first: { line: 1 } })
  expect((await runHere(['audit', '--help'])).stdout).toMatch(/also those recorded with\s+--checkpoint/)
})

it('verifies evidence bundles from stated inputs', async () => {
  const { address, storageKeys, result, stateRoot } = sampleOf(poseidon2)
  const rollup = { name: 'devnet', address: `0x${'ff'.repeat(20)}` } as const
  const bundle = createBundle({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, storageKeys, answer: result })
  const stdin = Buffer.from(JSON.stringify(bundle))
  const stated = await audit([...networkOf(rollup.address), '--state-root', stateRoot], { stdin })
  expect(parseLines(stated.stdout)).toMatchObject([
    { verdict: 'present', sources: { scheme: 'bundle', stateRoot: 'user' } },
  ])
  const recorded = readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8')
  const { claim, bundle: fromL1 } = JSON.parse(recorded)
  const flags = [...networkOf(claim.rollup.address), '--l1-block-hash', claim.trusted.l1BlockHash]
  const proven = await audit([...flags], { stdin: Buffer.from(JSON.stringify(fromL1)) })
  expect(parseLines(proven.stdout)).toMatchObject([
    { verdict: 'present', l2BlockNumber: expect.any(String), sources: { scheme: 'bundle', stateRoot: 'L1' } },
  ])
})

it('refuses wrong usage and foreign output files before it reads any input', async () => {
  const folder = folderOf({ 'in.ndjson': 'no record\n', 'other.txt': 'mine' })
  const file = join(folder, 'in.ndjson')
  symlinkSync(file, join(folder, 'link'))
  mkdirSync(join(folder, 'sub'))
  const at = (name: string) => join(folder, name)
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[at('missing')], 'cannot read'],
    [[folder], 'is a folder'],
    [['-', '-'], 'given twice'],
    [[file, '--jobs', '0'], '--jobs: expected 1 to 256'],
    [[file, '--max-line', '65'], '--max-line: expected 1 to 64'],
    [[file, '--state-root', '0x12'], '--state-root: expected 0x-prefixed'],
    [[file, '--address', 'me'], '--address: expected 0x-prefixed'],
    [[file, '--storage-key', '0xg'], '--storage-key: expected 0, 0x0 or 32 bytes'],
    [[file, '--network', 'linea'], 'exactly one of'],
    [[file, '--network', 'x'], 'no such network'],
    [[file, '--l1-block-hash', '0x00'], '--l1-block-hash: expected 0x-prefixed'],
    [[file, '-o', at('other.txt')], 'would be replaced'],
    [[file, '-o', at('link')], 'is named twice'],
    [[file, '-o', file, '--force'], 'is named twice'],
    [[file, '-o', at('sub')], 'is a folder'],
    [[file, '-o', at('sub/../in.ndjson'), '--force'], 'is named twice'],
    [[file, '-o', at('none/new')], 'cannot write'],
    [[file, '--jobs', '1', '--jobs', '2'], 'given twice'],
    [[file, '--html', at('other.txt')], 'would be replaced'],
    [[file, '-o', at('new'), '--html', at('new')], 'is named twice'],
    [[file, '--html', file, '--force'], 'is named twice'],
  ]
  for (const [args, message] of cases) {
    const { code, stderr } = await runHere(['audit', ...args])
    expect({ args, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  }
  expect(cases).toHaveLength(21)
  expect(readdirSync(folder).sort()).toEqual(['in.ndjson', 'link', 'other.txt', 'sub'])
  expect(readFileSync(file, 'utf8')).toBe('no record\n')
})

it('verifies nothing if there is nothing', async () => {
  for (const stdin of ['', gzipSync('')]) {
    const { code, stderr } = await audit([], { stdin })
    expect([code, stderr]).toEqual([2, expect.stringContaining('There were no records.')])
  }
})

it('reports a broken gzip member', async () => {
  const record = `${JSON.stringify(sampleOf(poseidon2))}\n`
  const broken = [
    [0x1f, 0x8b, 7, 7],
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff],
    [0, 0, 0, ...gzipSync(record)],
  ]
  const stated = ['--state-root', sampleOf(poseidon2).stateRoot, '--json']
  expect(await audit(stated, { stdin: gzipSync(record) })).toMatchObject({ code: 0 })
  for (const rest of broken) {
    const cut = await audit(stated, { stdin: Buffer.concat([gzipSync(record), Buffer.from(rest)]) })
    expect([cut.code, JSON.parse(cut.stderr)]).toMatchObject([2, { verdict: null }])
    expect(JSON.parse(cut.stderr).failure).toContain('cannot be read beyond line')
  }
  expect(broken).toHaveLength(3)
})

it('replaces no file that appears under way, and leaves none behind', async () => {
  const folder = folderOf()
  const out = join(folder, 'out')
  async function* late(): AsyncGenerator<Uint8Array> {
    writeFileSync(out, 'theirs')
    yield Buffer.from('1\n')
  }
  const refused = await audit(['-o', out], { stdin: late() })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/out.*file already exists/)])
  expect([readdirSync(folder), readFileSync(out, 'utf8')]).toEqual([['out'], 'theirs'])
  expect((await audit(['-o', out, '--force'], { stdin: late() })).code).toBe(1)
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(1)
})

it('names the file of each line if there are several, and says what it has judged', async () => {
  const sample = sampleOf(poseidon2)
  const folder = folderOf({ 'a.ndjson': sample, b: `\n${JSON.stringify({ ...sample, result: null })}` })
  const [a, b] = [join(folder, 'a.ndjson'), join(folder, 'b')]
  const { stdout, stderr, code } = await audit([a, b])
  expect(code).toBe(1)
  expect(parseLines(stdout)).toMatchObject([
    { line: 1, file: a, verdict: 'present' },
    { line: 1, file: b, verdict: 'unreadable', reason: 'empty' },
    { line: 2, file: b, verdict: 'refused', code: 'MALFORMED_RESPONSE' },
  ])
  expect(stderr).toContain(`first: line 1 of ${b}\n`)
  expect(stderr).toMatch(/1 {2}refused MALFORMED_RESPONSE .* first: line 2 of /)
  // The input is identified, as `cat A B | sha256sum` does it.
  const bytes = `${readFileSync(a, 'utf8')}${readFileSync(b, 'utf8')}`
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  expect(stderr).toContain(`SHA-256, unpacked  ${sha256}`)
  expect(stderr).toMatch(/audited +20\d\d-\d\d-\d\dT[\d:.]+Z +by rollup-state-proof \d/)
  const json = JSON.parse((await audit([a, b, '--json'])).stderr)
  expect(json).toMatchObject({ inputs: [a, b], sha256, version: expect.any(String), date: expect.any(String) })
  expect(json.kinds[1]).toMatchObject({ kind: 'unreadable: empty', first: { line: 1, file: b } })
  const stated = await audit([a, b, '--state-root', sample.stateRoot])
  expect(stated.stderr).toMatch(new RegExp(`state root +${sample.stateRoot} +stated by you`))
  // The network is the default, which the user has not stated.
  expect(stated.stderr).toMatch(/network of bundles +linea \(0x\w{40}\) +the default\n/)
  const network = await audit([a, '--network', 'linea-sepolia', '--l1-block-hash', `0x${'11'.repeat(32)}`])
  expect(network.code).toBe(4)
  expect(network.stderr).toMatch(/network of bundles +linea-sepolia \(0x\w{40}\) +stated by you\n/)
})

it('writes the same summary as a page, on which nothing of the input is markup', async () => {
  const folder = folderOf({ '<b>.ndjson': `${JSON.stringify(sampleOf(poseidon2))}\nx\n` })
  const [file, html] = [join(folder, '<b>.ndjson'), join(folder, 'report.html')]
  const { stderr, code } = await audit([file, '--html', html])
  expect(code).toBe(1)
  const page = readFileSync(html, 'utf8')
  const [verdict = '', ...rest] = stderr.split('\n')
  expect(page).toContain(`<h1>${verdict}</h1>`)
  const cells = [...page.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell = '']) =>
    cell.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).trim(),
  )
  expect(cells).toContain('unreadable: not JSON')
  expect(cells).toContain('first: line 2')
  for (const cell of cells) expect(rest.join('\n')).toContain(cell)
  expect(cells.length).toBeGreaterThan(12)
  expect(page).not.toContain('<b>')
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`)
})

it('does not say more of larger inputs, whatever they hold', async () => {
  const hostile = JSON.stringify({ ...sampleOf(poseidon2), result: { ['\u202e'.repeat(3000)]: 1 } })
  const [few, many] = [1, 30].map(count => `${hostile}\nx\n`.repeat(count))
  const [one, other] = [await audit([], { stdin: few ?? '' }), await audit([], { stdin: many ?? '' })]
  expect(Math.abs(other.stderr.length - one.stderr.length)).toBeLessThan(100)
  const files = Array.from({ length: 9 }, () => fileOf('x\n'))
  const keys = files.flatMap((_, index) => ['--storage-key', `${index}`])
  const { stderr } = await audit([...files, ...keys])
  expect(stderr).toContain(`inputs             ${files.slice(0, 5).join(', ')} and 4 more`)
  expect(stderr).toMatch(/storage keys +0x\w+, 0x\w+, 0x\w+, 0x\w+, 0x\w+ and 4 more/)
  expect(other.stderr.length).toBeLessThan(2000)
  expect(other.stderr).not.toContain('\u202e')
})

it('shows no control characters of the names of files', async () => {
  const names = ['a\u202e.txt', 'b\u0085\u001b[2J', 'c\n']
  const folder = folderOf(Object.fromEntries(names.map(name => [name, 'x\n'])))
  const files = names.map(name => join(folder, name))
  const { stdout, stderr } = await audit(files)
  expect(parseLines(stdout).map(({ file }) => file)).toEqual(files)
  const missing = await audit([join(folder, 'd\u202e')])
  for (const text of [stdout, stderr, missing.stderr]) {
    for (const odd of ['\u202e', '\u0085', '\u001b', 'c\n,']) expect(text).not.toContain(odd)
  }
})

it('stops quietly if its output is closed', async () => {
  // Far more verdicts than a pipe holds.
  const folder = folderOf({ 'in.ndjson': '\n'.repeat(100_000) })
  const started = (child: { stdout: { once(name: 'data', then: () => void): void; destroy(): void } }) =>
    child.stdout.once('data', () => child.stdout.destroy())
  const { code, stderr } = await auditApart([join(folder, 'in.ndjson')], { started })
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
})

it('says on Ctrl-C where it stopped, even while its input is silent', async () => {
  const record = `${JSON.stringify(sampleOf(poseidon2))}\n`
  const count = 3
  async function* silent(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${record.repeat(count)}{`)
    process.emit('SIGINT')
    await new Promise(() => {})
  }
  const piped = await audit([], { stdin: silent() })
  expect(parseLines(piped.stdout)).toHaveLength(count)
  expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining(`stopped after ${count} lines\n`)])
  expect(piped.stderr).not.toContain('--help')

  const folder = folderOf()
  const out = join(folder, 'out')
  const stopped = await audit(['-o', out], { stdin: silent() })
  expect(stopped).toMatchObject({
    ...{ code: 2, stdout: expect.stringContaining('The input was not read to its end. Until then: ') },
    stderr: `rollup-state-proof: stopped after ${count} lines, and ${out} is not written\n`,
  })
  expect(readdirSync(folder)).toEqual([])
})

it('says that a JSON text of several lines is no list of records', async () => {
  const note = 'an audit reads one record per line. To write a JSON file as one line: jq -c . FILE'
  const stdin = JSON.stringify(sampleOf(poseidon2), null, 2)
  expect((await audit([], { stdin })).stderr).toContain(`are unreadable.\nNote: ${note}\n`)
  expect(JSON.parse((await audit(['--json'], { stdin })).stderr).notes).toEqual([note])
  // Records among them are records.
  const mixed = await audit([], { stdin: `{\n${JSON.stringify(sampleOf(poseidon2))}\n` })
  expect(mixed.stderr).not.toContain('jq')
})

/** The clock by which progress is shown. */
function useFakeIntervals() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}

it('says why standard output fails, and shows no more progress', async () => {
  useFakeIntervals()
  const stdout = new Writable({
    write: (_, __, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
  })
  stdout.on('error', () => {})
  const stderr = collector(true)
  const stdin = Readable.from([Buffer.from('x\n')])
  const code = await runCommand(['audit', '--jobs', '1'], {
    stdin,
    stdout: Object.assign(stdout, { isTTY: false }),
    stderr: stderr.stream,
  })
  const text = stderr.text()
  expect(code).toBe(2)
  expect(text).toContain('cannot write standard output: no space left')
  // Longer than the interval at which progress is shown.
  vi.advanceTimersByTime(700)
  expect(stderr.text()).toBe(text)
})

it('shows progress on a terminal in one line that it removes at the end', async () => {
  useFakeIntervals()
  const record = Buffer.from(`${JSON.stringify(sampleOf(poseidon2))}\n`)
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (let turn = 0; turn < 2; turn++) {
      yield record
      vi.advanceTimersByTime(600)
    }
  }
  const out = join(folderOf(), 'out.ndjson')
  const { stderr } = await audit(['-o', out], { stdin: slow(), isTTY: true, columns: 24 })
  const shown = stderr.split('\r\x1b[K')
  expect(shown.length).toBeGreaterThan(2)
  expect(shown.filter(text => text.length > 23 || text.includes('\n'))).toEqual([])
  expect(shown[1]).toMatch(/^\d lines?, \d/)
  expect(shown.at(-1)).toBe('')
})
