import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { gunzipSync, gzipSync, constants as zlib } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLineDigest } from '../../src/cli/audit/line-digest.ts'
import { claim } from '../../src/cli/files/growing-file.ts'
import { run as runCommand } from '../../src/cli/run.ts'
import { createBundle } from '../../src/entry/anchor.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { randomOf } from '../random.ts'
import { runProgram } from './bulk/program.ts'
import { gzipMembers, joinLines, mixedLines } from './bulk/records.ts'
import { ADDRESS, asSender, collector, folderOf, NOT_OWN, networkOf, runHere, sampleOf, saveProgress } from './io.ts'

/** For a thorough run, use 200,000 lines and 20 kills. */
const { AUDIT_LINES = '400', AUDIT_KILLS = '2' } = process.env
const [LINES, KILLS] = [Number(AUDIT_LINES), Number(AUDIT_KILLS)]

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

it('resumes after kills with the same output as an undisturbed run', async () => {
  const folder = folderOf({ 'in.gz': packed })
  const [file, whole, out] = ['in.gz', 'whole.ndjson', 'out.ndjson'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  expect((await audit([file, '-o', whole, '--max-line', '1'])).code).toBe(1)
  const length = statSync(whole).size

  const args = [file, '-o', out, '--max-line', '1']
  const random = randomOf(KILLS)
  let killed = 0
  for (let turn = 0; turn < KILLS; turn++) {
    // A random point in the next part of the output.
    const killedAt = (length * (turn + random())) / KILLS
    const { code } = await auditApart(args, {
      started: (child: ChildProcess) => {
        const timer = setInterval(() => {
          if ((statSync(out, { throwIfNoEntry: false })?.size ?? 0) >= killedAt) child.kill('SIGKILL')
        }, 1)
        child.once('exit', () => clearInterval(timer))
      },
    })
    if (code === null) killed++
  }
  const last = await audit(args)
  expect(last.code).toBe(1)
  expect(readFileSync(out).equals(readFileSync(whole))).toBe(true)
  expect(killed).toBeGreaterThan(0)

  // A part of a verdict behind the checkpoint, as a kill during a write leaves it.
  appendFileSync(out, readFileSync(whole).subarray(0, 123))
  const again = await audit([...args, '--json'])
  expect(readFileSync(out).equals(readFileSync(whole))).toBe(true)
  expect(again.stderr).toMatch(/continuing after line \d+/)

  const once = await audit([...args, '--json'])
  expect(once.code).toBe(1)
  expect(readFileSync(out).equals(readFileSync(whole))).toBe(true)
  const [{ seconds: _, ...first }, { seconds: __, ...second }] = [again, once].map(({ stdout }) => JSON.parse(stdout))
  expect(second).toEqual(first)
  // Only what follows the last full batch is judged again.
  expect(second.lines).toBe(LINES)
  expect(second.judged).toBeLessThan(LINES / 2)
})

it('reports a truncated input, and verifies what precedes the end', async () => {
  const cut = packed.subarray(0, Math.floor(packed.length * 0.6))
  const came = gunzipSync(cut, { finishFlush: zlib.Z_SYNC_FLUSH })
  const count = came.reduce((sum, byte) => sum + (byte === 0x0a ? 1 : 0), 0)
  const folder = folderOf({ 'cut.gz': cut, 'flipped.gz': Buffer.concat([cut, Buffer.from('garbage'), packed]) })
  const out = join(folder, 'out.ndjson')
  for (let turn = 0; turn < 2; turn++) {
    const { code, stderr, stdout } = await audit([join(folder, 'cut.gz'), '-o', out, '--max-line', '1'])
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('The input was not read to its end. Until then: Of ')
    expect(stderr).toContain(`cut.gz cannot be read beyond line ${count}: unexpected end of file`)
    expect(parseLines(readFileSync(out, 'utf8')).map(kindOf)).toEqual(lines.slice(0, count).map(({ kind }) => kind))
  }
  // The file is complete now, so the rest is verified.
  writeFileSync(join(folder, 'cut.gz'), packed)
  expect((await audit([join(folder, 'cut.gz'), '-o', out, '--max-line', '1'])).code).toBe(1)
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(LINES)
  const flipped = await audit([join(folder, 'flipped.gz'), '--max-line', '1'])
  expect(flipped.code).toBe(2)
  expect(flipped.stderr).toContain('cannot be read beyond line')
  expect(flipped.stdout.split('\n').length).toBeGreaterThan(count / 2)
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
      sources: { scheme: 'record', stateRoot: 'record', address: 'record', storageKeys: 'record' },
    },
    { verdict: 'unreadable', reason: 'no state root: neither you nor the record names one' },
  ])
  const pinned = await audit(['--state-root', sample.stateRoot], { stdin })
  expect(pinned.code).toBe(0)
  expect(parseLines(pinned.stdout)).toMatchObject([
    { verdict: 'present', sources: { scheme: 'record', stateRoot: 'user', address: 'record', storageKeys: 'record' } },
    {
      ...{ verdict: 'present', stateRoot: sample.stateRoot, address: ADDRESS },
      account: { nonce: '3', balance: `${10n ** 18n}` },
      storage: [{ exists: true }, { exists: false }],
      sources: { scheme: 'answer', stateRoot: 'user', address: 'answer', storageKeys: 'answer' },
    },
  ])
  expect(pinned.stderr).toContain('All 2 records are verified.')
  expect(free.stderr).toContain(
    '1 is unreadable and 1 is consistent only, because nobody has confirmed the state root.',
  )
  expect(pinned.stderr).toContain('Note: 1 answer was verified for the address that the answer itself names')
  expect(pinned.stderr).not.toContain('confirm')
  const wrong = await audit(['--state-root', other], { stdin })
  expect(parseLines(wrong.stdout)).toMatchObject([
    { verdict: 'refused', code: 'STATE_ROOT_MISMATCH' },
    { verdict: 'refused', code: 'STATE_ROOT_MISMATCH' },
  ])
  const elsewhere = await audit(['--address', `0x${'bb'.repeat(20)}`], { stdin })
  expect(parseLines(elsewhere.stdout)[0]).toMatchObject({ verdict: 'refused', code: 'KEY_MISMATCH' })
})

it('verifies evidence bundles from stated inputs', async () => {
  const { address, storageKeys, result, stateRoot } = sampleOf(poseidon2)
  const rollup = { name: 'devnet', address: `0x${'ff'.repeat(20)}` } as const
  const bundle = createBundle({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, storageKeys, answer: result })
  const stdin = Buffer.from(JSON.stringify(bundle))
  const stated = await audit([...networkOf(rollup.address), '--state-root', stateRoot], { stdin })
  expect(parseLines(stated.stdout)).toMatchObject([
    { verdict: 'present', sources: { scheme: 'record', stateRoot: 'user' } },
  ])
  const recorded = readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8')
  const { claim, bundle: fromL1 } = JSON.parse(recorded)
  const flags = [...networkOf(claim.rollup.address), '--l1-block-hash', claim.trusted.l1BlockHash]
  const proven = await audit([...flags], { stdin: Buffer.from(JSON.stringify(fromL1)) })
  expect(parseLines(proven.stdout)).toMatchObject([
    { verdict: 'present', l2BlockNumber: expect.any(String), sources: { scheme: 'record', stateRoot: 'L1' } },
  ])
})

it('refuses wrong usage and foreign output files before it reads any input', async () => {
  const folder = folderOf({
    'in.ndjson': 'no record\n',
    'in.audit': '',
    'other.txt': 'mine',
    'other.html': '<p>mine</p>',
  })
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
    [[file, '-o', at('other.txt')], 'is not the output of an audit'],
    [[file, '-o', at('link')], 'is named twice'],
    [[file, '-o', file, '--force'], 'is named twice'],
    [[file, '-o', at('sub')], 'is a folder'],
    [[file, '-o', at('new'), '--html', at('new')], 'is named twice'],
    [[file, '-o', at('new'), '--html', at('sub/../new')], 'is named twice'],
    [[file, '-o', at('new'), '--html', at('new.audit')], 'is named twice'],
    [[file, at('in.audit'), '-o', at('in'), '--force'], 'is named twice'],
    [[file, '-o', at('none/new')], 'cannot write'],
    [[file, '--html', at('other.html')], 'is not the report of an audit'],
    [[file, '--html', at('none/report.html')], 'cannot write'],
    [[file, '--jobs', '1', '--jobs', '2'], 'given twice'],
  ]
  for (const [args, message] of cases) {
    const { code, stderr } = await runHere(['audit', ...args])
    expect({ args, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  }
  expect(cases).toHaveLength(23)
  expect(readdirSync(folder).sort()).toEqual(['in.audit', 'in.ndjson', 'link', 'other.html', 'other.txt', 'sub'])
  expect(readFileSync(file, 'utf8')).toBe('no record\n')
})

it('does not resume the output of another audit', async () => {
  const folder = folderOf({ 'in.ndjson': 'first\n', 'more.ndjson': 'first\n' })
  const [file, out] = [join(folder, 'in.ndjson'), join(folder, 'out')]
  expect((await audit([file, '-o', out])).code).toBe(1)
  expect((await audit([file, '-o', out, '--address', `0x${'aa'.repeat(20)}`])).stderr).toContain('it differs in claim')
  expect((await audit([join(folder, 'more.ndjson'), '-o', out])).stderr).toContain('it differs in inputs')
  // Lines appended to the input since are verified.
  writeFileSync(file, 'first\nsecond\n')
  expect((await audit([file, '-o', out])).code).toBe(1)
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(2)
  // So few lines are judged again anyway.
  writeFileSync(file, 'first\n')
  expect((await audit([file, '-o', out])).code).toBe(1)
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(1)
  expect((await audit([file, '-o', out, '--force'])).code).toBe(1)
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(1)
  const altered = ['not a verdict\n', '{}\n', 'null\n', '{"lines":1}\n', '\0\n']
  for (const content of altered) {
    writeFileSync(out, content)
    const { code, stderr } = await audit([file, '-o', out])
    expect({ content, code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds something other than what was written'),
    })
    expect(readFileSync(out, 'utf8')).toBe(content)
  }
  expect(altered).toHaveLength(5)
})

it('vouches for no line that it has not read: what was judged before must be the same', async () => {
  const content = joinLines(lines)
  const folder = folderOf({ 'in.ndjson': content })
  const [file, out] = [join(folder, 'in.ndjson'), join(folder, 'out')]
  expect((await audit([file, '-o', out])).code).toBe(1)
  const written = readFileSync(out, 'utf8')
  const all = content.toString('latin1').split('\n')
  const changed = [
    all.map((line, index) => (index < 30 ? line : 'x')),
    all.map((line, index) => (index === 100 ? `${line} ` : line)),
    [...all.slice(1), all[0]],
    ['x', ...all.slice(1)],
  ]
  for (const other of changed) {
    writeFileSync(file, other.join('\n'), 'latin1')
    const { code, stdout, stderr } = await audit([file, '-o', out])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('is of another input')])
    expect(readFileSync(out, 'utf8')).toBe(written)
  }
  expect(changed).toHaveLength(4)
  writeFileSync(file, all.slice(0, 20).join('\n'), 'latin1')
  const shorter = await audit([file, '-o', out])
  expect(shorter).toMatchObject({ code: 2, stderr: expect.stringMatching(/is of another input|shorter than before/) })
  expect(readFileSync(out, 'utf8')).toBe(written)
  writeFileSync(file, '')
  expect((await audit([file, '-o', out])).stderr).toContain('shorter than before')
  writeFileSync(file, content)
  // What is written already is not changed by another program unnoticed.
  writeFileSync(out, written.replace('refused', 'present'))
  expect((await audit([file, '-o', out])).stderr).toContain('holds something other than what was written')
  writeFileSync(out, written.slice(0, 100))
  expect((await audit([file, '-o', out])).stderr).toContain('holds something other than what was written')
  writeFileSync(out, written)
  expect((await audit([file, '-o', out])).code).toBe(1)
  expect(readFileSync(out, 'utf8')).toBe(written)
  // A description that says nothing of what was read.
  const about = JSON.parse(readFileSync(`${out}.audit`, 'utf8'))
  for (const [other, reason] of [
    [{ version: 2 }, 'is of version 2 of its format'],
    [{ kind: 1 }, 'is not the progress of a run'],
  ]) {
    writeFileSync(`${out}.audit`, JSON.stringify({ ...about, ...Object(other) }))
    const { code, stderr } = await audit([file, '-o', out])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${reason}`)])
  }
})

it('believes no verdict of a sender: neither what is written, nor which lines were judged', async () => {
  const sample = sampleOf(poseidon2)
  const record = JSON.stringify(sample)
  // A batch that is judged for good, and some more lines.
  const count = Math.ceil(2 ** 20 / record.length)
  const folder = folderOf({ 'in.ndjson': `${record}\n`.repeat(count + 9) })
  const [file, out, html] = ['in.ndjson', 'out', 'report.html'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const again = () => audit([file, '-o', out, '--html', html, '--state-root', sample.stateRoot])
  const lie = (text: string) => text.replaceAll(/0{62}07/g, 'f'.repeat(64))
  const judged = await asSender(async () => {
    expect((await again()).code).toBe(0)
    const { progress } = JSON.parse(readFileSync(`${out}.audit`, 'utf8'))
    const { lines } = progress.judged
    expect(lines).toBeGreaterThan(20)
    // Every judged line becomes a lie, and so does its verdict.
    const digest = createLineDigest()
    const bytes = Buffer.from(`${lie(record)}\n`.repeat(lines).slice(0, -1))
    digest.add({ firstLine: 1, count: lines, bytes, tooLong: [], isFull: true })
    writeFileSync(file, `${bytes}\n${`${record}\n`.repeat(count + 9 - lines)}`)
    const written = lie(readFileSync(out, 'latin1').slice(0, progress.files[0].length))
    writeFileSync(out, written)
    const files = [{ length: written.length, sha256: createHash('sha256').update(written).digest('hex') }]
    saveProgress(`${out}.audit`, { ...progress, judged: { lines, digest: digest.get() }, files })
    rmSync(html)
    // The sender's own program believes them: nothing else is wrong with the files.
    expect(await again()).toMatchObject({ code: 0, stdout: expect.stringContaining('records are verified') })
    rmSync(html)
    return lines
  })
  const before = readFileSync(out)
  const { code, stdout, stderr } = await again()
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`${out}.audit exists, and ${NOT_OWN}`)])
  expect(stderr).toContain('use --force')
  expect([readFileSync(out).equals(before), existsSync(html)]).toEqual([true, false])
  const anew = await audit([file, '-o', out, '--state-root', sample.stateRoot, '--force'])
  expect([anew.code, parseLines(readFileSync(out, 'utf8')).filter(line => line.verdict === 'refused').length]).toEqual([
    1,
    judged,
  ])
})

it('reads a line again that was incomplete, and has grown', async () => {
  const record = JSON.stringify(sampleOf(poseidon2))
  const folder = folderOf({ a: 'first', b: `${record}\n${record.slice(0, 500)}` })
  const [a, b, out] = [join(folder, 'a'), join(folder, 'b'), join(folder, 'out')]
  const kinds = () => parseLines(readFileSync(out, 'utf8')).map(kindOf)
  await audit([a, b, '-o', out])
  expect(kinds()).toEqual(['unreadable: not JSON', 'present', 'unreadable: not JSON'])
  await audit([a, b, '-o', out])
  expect(kinds()).toHaveLength(3)
  writeFileSync(b, `${record}\n${record}\n${record}`)
  await audit([a, b, '-o', out])
  expect(kinds()).toEqual(['unreadable: not JSON', 'present', 'present', 'present'])
})

it('verifies nothing if there is nothing', async () => {
  for (const stdin of ['', gzipSync('')]) {
    const { code, stderr } = await audit([], { stdin })
    expect([code, stderr]).toEqual([2, expect.stringContaining('There were no records.')])
  }
})

it('fails if its output is removed under way', async () => {
  for (const what of ['', 'out']) {
    const folder = join(folderOf(), 'results')
    mkdirSync(folder)
    async function* removing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('1\n2\n')
      rmSync(join(folder, what), { recursive: true })
      yield Buffer.from('3\n')
    }
    await expect(claim(join(folder, 'none'))).rejects.toMatchObject({ name: 'UsageError' })
    const { code, stdout, stderr } = await audit(['-o', join(folder, 'out')], { stdin: removing() })
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/out: it was removed|cannot write/)])
  }
})

it('judges the lines before a broken gzip member', async () => {
  const record = `${JSON.stringify(sampleOf(poseidon2))}\n`
  const broken = [
    [0x1f, 0x8b, 7, 7],
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff],
  ]
  for (const rest of broken) {
    const { code, stdout, stderr } = await audit([], { stdin: Buffer.concat([gzipSync(record), Buffer.from(rest)]) })
    expect([code, parseLines(stdout).map(kindOf)]).toEqual([2, ['present']])
    expect(stderr).toContain('cannot be read beyond line 1')
    const stated = ['--state-root', sampleOf(poseidon2).stateRoot, '--json']
    const whole = await audit(stated, { stdin: gzipSync(record) })
    const cut = await audit(stated, { stdin: Buffer.concat([gzipSync(record), Buffer.from(rest)]) })
    const words = [whole, cut].map(one => [one.code, JSON.parse(one.stderr).verdict])
    expect(words).toEqual([
      [0, 'verified'],
      [2, null],
    ])
  }
  expect(broken).toHaveLength(2)
})

it('judges what was appended to the last of several inputs, and refuses to go on if another has grown', async () => {
  const folder = folderOf({ a: '1\n2\n', b: '3\n' })
  const [a, b, out] = [join(folder, 'a'), join(folder, 'b'), join(folder, 'out')]
  expect((await audit([a, b, '-o', out])).code).toBe(1)
  appendFileSync(b, '4\n')
  expect((await audit([a, b, '-o', out])).code).toBe(1)
  const written = readFileSync(out, 'utf8')
  expect(parseLines(written).map(({ file, line }) => [file, line])).toEqual(
    [a, a, b, b].map((file, index) => [file, 1 + (index % 2)]),
  )
  appendFileSync(a, '5\n')
  const grown = await audit([a, b, '-o', out])
  expect(grown).toMatchObject({ code: 2, stderr: expect.stringContaining('is of another input') })
  expect(readFileSync(out, 'utf8')).toBe(written)
})

it('does not write to a file that another run is writing', async () => {
  const folder = folderOf({ 'other.ndjson': 'first\n' })
  const out = join(folder, 'out')
  const refused: string[] = []
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('no record\n')
    for (const more of [[], ['--force']]) {
      const { code, stderr } = await audit(['-o', out, ...more], { stdin: 'other\n' })
      refused.push(`${code} ${stderr}`)
    }
    yield Buffer.from('no record\n')
  }
  const first = await audit(['-o', out], { stdin: slow() })
  expect(first.code).toBe(1)
  expect(refused).toHaveLength(2)
  for (const message of refused) expect(message).toMatch(/^2 .*out: another run is writing it/)
  expect(parseLines(readFileSync(out, 'utf8')).map(({ line }) => line)).toEqual([1, 2])

  // If the lock does not keep another program out, its change is noticed before the next write.
  async function* changed(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('no record\nno record\n3\n')
    appendFileSync(out, 'more')
  }
  const noticed = await audit(['-o', out], { stdin: changed() })
  expect(noticed).toMatchObject({ code: 2, stderr: expect.stringContaining('out: another program has changed it') })

  // What the other program wrote stays, even if this one has written nothing.
  const fresh = join(folder, 'fresh')
  async function* late(): AsyncGenerator<Uint8Array> {
    appendFileSync(fresh, 'theirs')
    yield Buffer.from('1\n')
  }
  const refusedLate = await audit(['-o', fresh], { stdin: late() })
  expect(refusedLate).toMatchObject({ code: 2, stderr: expect.stringContaining('another program has changed it') })
  expect(readFileSync(fresh, 'utf8')).toBe('theirs')
})

it('names the file of each line if there are several, and writes a self-contained report', async () => {
  const sample = sampleOf(poseidon2)
  const folder = folderOf({ 'a.ndjson': sample, '<b>.ndjson': `\n${JSON.stringify({ ...sample, result: null })}` })
  const [a, b, html] = ['a.ndjson', '<b>.ndjson', 'report.html'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const { stdout, code } = await audit([a, b, '--html', html])
  expect(code).toBe(1)
  expect(parseLines(stdout)).toMatchObject([
    { line: 1, file: a, verdict: 'present' },
    { line: 1, file: b, verdict: 'unreadable', reason: 'empty' },
    { line: 2, file: b, verdict: 'refused', code: 'MALFORMED_RESPONSE' },
  ])
  const page = readFileSync(html, 'utf8')
  expect(page).toContain("default-src 'none'")
  expect(page).not.toMatch(/<script .|https?:|url\(|@import|<b>\.ndjson/)
  expect(page).toContain('MALFORMED_RESPONSE')
  expect(page).toContain('Audit of 3 records')
  expect(page).toContain('<dt>Stated</dt><dd>nothing')
  // The input is identified. A line of one file does not go on in the next.
  const bytes = `${readFileSync(a, 'utf8')}\n${readFileSync(b, 'utf8')}\n`
  expect(page).toContain(`<dt>SHA-256 of its lines</dt><dd>${createHash('sha256').update(bytes).digest('hex')}</dd>`)
  expect(page).toMatch(/<dt>Date<\/dt><dd>20\d\d-\d\d-\d\dT[\d:.]+Z<\/dd>/)
  expect((await audit([a, b, '--html', html, '--state-root', sample.stateRoot])).code).toBe(1)
  expect(readFileSync(html, 'utf8')).toContain(`<dt>Stated state root</dt><dd>${sample.stateRoot}</dd>`)
  // The network is the default, which the user has not stated.
  expect(readFileSync(html, 'utf8')).toMatch(
    /<dt>Network of bundles<\/dt><dd>linea, with the rollup contract 0x\w{40}: the default<\/dd>/,
  )
  expect(readFileSync(html, 'utf8')).not.toMatch(/Stated (rollup|network)/)
  const stated = ['--network', 'linea-sepolia', '--l1-block-hash', `0x${'11'.repeat(32)}`]
  expect((await audit([a, '--html', html, ...stated])).code).toBe(4)
  expect(readFileSync(html, 'utf8')).toMatch(
    /<dt>Network of bundles<\/dt><dd>linea-sepolia, with the rollup contract 0x\w{40}<\/dd>/,
  )
  const defaulted = await audit([a, '--html', html, ...stated.slice(2)])
  expect(defaulted.code).toBe(4)
  expect(readFileSync(html, 'utf8')).toContain(': the default</dd>')
})

it('shows no control characters of the names of files', async () => {
  const names = ['a\u202e.txt', 'b\u0085\u001b[2J', 'c\n']
  const folder = folderOf(Object.fromEntries(names.map(name => [name, 'x\n'])))
  const files = names.map(name => join(folder, name))
  const html = join(folder, 'report.html')
  const { stdout, stderr } = await audit([...files, '--html', html])
  expect(parseLines(stdout).map(({ file }) => file)).toEqual(files)
  const missing = await audit([join(folder, 'd\u202e')])
  for (const text of [stdout, stderr, readFileSync(html, 'utf8'), missing.stderr]) {
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

it('says on Ctrl-C where it stopped, even while its input is silent, and goes on there', async () => {
  const record = `${JSON.stringify(sampleOf(poseidon2))}\n`
  // Two batches, of which the second is not whole yet.
  const count = Math.ceil(2 ** 20 / record.length)
  const content = record.repeat(count + 9)
  async function* silent(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(content)
    process.emit('SIGINT')
    await new Promise(() => {})
  }
  const piped = await audit([], { stdin: silent() })
  expect(parseLines(piped.stdout)).toHaveLength(count)
  const words = `stopped after ${count} lines: with --output FILE, the same command could continue\n`
  expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining(words)])
  expect(piped.stderr).not.toContain('--help')

  const out = join(folderOf(), 'out')
  const stopped = await audit(['-o', out], { stdin: silent() })
  expect(stopped).toMatchObject({
    ...{ code: 2, stdout: expect.stringContaining('The input was not read to its end. Until then: ') },
    stderr: `rollup-state-proof: stopped after ${count} lines: run the same command again to continue\n`,
  })
  const rest = await audit(['-o', out], { stdin: content })
  expect([rest.code, rest.stderr]).toEqual([4, `continuing after line ${count}\n`])
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(count + 9)
})

it('says first, and once, that a JSON text of several lines is no list of records', async () => {
  const hint = 'Note: an audit reads one record per line. To write a JSON file as one line: jq -c . FILE\n'
  const stdin = JSON.stringify(sampleOf(poseidon2), null, 2)
  const written: string[] = []
  const stream = (name: string) => {
    const write = (chunk: unknown, _: unknown, done: () => void) => {
      written.push(`${name}${chunk}`)
      done()
    }
    return Object.assign(new Writable({ write }), { isTTY: false })
  }
  const streams = { stdin: Readable.from([Buffer.from(stdin)]), stdout: stream('out: '), stderr: stream('err: ') }
  expect(await runCommand(['audit', '--jobs', '1'], streams)).toBe(1)
  const [first, second] = written.filter(text => text.length > 5)
  expect(first).toBe(`err: ${hint}`)
  expect(second).toMatch(/^out: \{"line":1,/)
  expect(written.join('').split('jq -c')).toHaveLength(2)
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
  expect(shown[1]).toMatch(/^\d lines, \d/)
  expect(shown.at(-1)).toBe('')
})
