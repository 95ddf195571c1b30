import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { encodeHeader } from '../../src/verify/anchor/header.ts'
import { sized } from '../size.ts'
import { ABSENT, fileOf, PRESENT, runHere, sampleOf } from './io.ts'

const MARK = 'UNVERIFIED: this is what the file says. None of it was checked.'
const bundleText = () =>
  JSON.stringify(JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8')).bundle)

/** Inspects a file, and expects that the output cannot be mistaken for a verdict. */
async function inspect(stdin: string) {
  const readable = await runHere(['inspect', '-'], { stdin })
  const { code, stdout, stderr } = await runHere(['inspect', '-', '--json'], { stdin })
  expect(code).toBe(readable.code)
  expect(stderr).toBe(readable.stderr)
  expect(stderr).not.toContain('unexpected')
  if (code === 2) {
    expect(readable.stdout).toBe('')
    expect(Object.keys(JSON.parse(stdout))).toEqual(['error'])
    return { code, lines: [], json: {} }
  }
  const lines = readable.stdout.trimEnd().split('\n')
  expect([lines[0], lines.at(-1)]).toEqual([MARK, MARK])
  expect(stdout).toMatch(/^\{"status":"UNVERIFIED",.*\}\n$/)
  const json = JSON.parse(stdout)
  expect(readable.stdout + stdout).not.toMatch(/\bverified\b/)
  return { code, lines, json }
}

it('shows the parts of a bundle', async () => {
  const { code, lines, json } = await inspect(bundleText())
  expect(code).toBe(0)
  expect(lines[1]).toBe('evidence bundle')
  const text = lines.join('\n')
  expect(text).toMatch(/l2BlockNumber +436/)
  expect(text).toMatch(/timestamp +2025-10-27T23:28:00Z/)
  expect(text).toMatch(/requestsHash +0xe3b0c442/)
  expect(text).toMatch(/leftLeafIndex +0 \(HEAD\)/)
  expect(json.fields).toMatchObject({
    rollup: { name: 'devnet' },
    l1: { header: { number: '24000000', difficulty: '0' }, proof: { storageProof: { '[1]': { value: '0x1c0' } } } },
    answer: {
      accountProof: { claims: 'existence', leafIndex: '5', proof: { value: { nonce: '3', balance: '5' } } },
      storageProofs: {
        '[0]': { claims: 'existence', proof: { value: `0x${'2a'.padStart(64, '0')}` } },
        '[1]': {
          claims: 'non-existence',
          leftLeafIndex: '0 (HEAD)',
          rightLeafIndex: '2',
        },
      },
    },
  })
})

it.each([mimc, poseidon2])(
  'recognizes an answer, a response and a recording, and their scheme ($name)',
  async scheme => {
    const sample = sampleOf(scheme)
    const kinds = {
      answer: sample.result,
      'JSON-RPC response': { jsonrpc: '2.0', id: 1, result: sample.result },
      recording: sample,
    }
    for (const [kind, content] of Object.entries(kinds)) {
      const { code, lines } = await inspect(JSON.stringify(content))
      expect(code).toBe(0)
      expect(lines[1]).toBe(kind)
      const text = lines.join('\n')
      expect(text).toMatch(/balance +1000000000000000000/)
      expect(text).toMatch(new RegExp(`scheme +${scheme.name}`))
      expect(text).toMatch(new RegExp(`claims +existence\n +key +${PRESENT}\n`))
      expect(text).toMatch(new RegExp(`claims +non-existence\n +key +${ABSENT}\n`))
    }
  },
)

it('prints every vector, and calls nothing of a valid one malformed', async () => {
  const files = readdirSync('vectors', { recursive: true, encoding: 'utf8' }).filter(file =>
    // Invalid beacon vectors are patches of valid ones.
    /^(?!beacon).*valid\/.*\.json$/.test(file),
  )
  let malformed = 0
  for (const file of files) {
    const { code, lines } = await inspect(readFileSync(join('vectors', file), 'utf8'))
    expect(code, file).toBe(0)
    expect(lines[1], file).toBe(/^(mimc|poseidon2)/.test(file) ? 'vector' : 'evidence vector')
    if (!lines.some(line => line.includes('malformed ('))) continue
    expect(file).toContain('invalid')
    malformed++
  }
  expect(files.length).toBeGreaterThan(560)
  expect(malformed).toBeGreaterThan(40)
})

it.each<[string, unknown, string]>([
  ['a header that is none', { l1: { header: '0x1234' } }, ' header +malformed .RLP_NON_CANONICAL.*: 0x1234$'],
  ['a header that is no hexadecimal', { l1: { header: 7 } }, ' header +malformed .BAD_HEX: expected a string'],
  ['a beacon block', { header: { beacon: { slot: 7 } } }, ' root +malformed .'],
  [
    'an index that is none',
    { answer: { accountProof: { leafIndex: -1, proof: {} }, storageProofs: [] } },
    ' leafIndex +malformed .INDEX_OUT_OF_RANGE.*: -1$',
  ],
])('says where %s is malformed', async (_, change, problem) => {
  const { code, lines } = await inspect(JSON.stringify({ ...JSON.parse(bundleText()), ...Object(change) }))
  expect(code).toBe(0)
  expect(lines.filter(line => new RegExp(problem).test(line))).toHaveLength(1)
})

it('prints a header whose timestamp is beyond any calendar date', async () => {
  const vector = JSON.parse(readFileSync('vectors/evidence/invalid/block-no-state-root.json', 'utf8'))
  const block = { ...vector.block, stateRoot: `0x${'00'.repeat(32)}`, timestamp: '0xffffffffffffffff' }
  const l1 = { header: encodeHeader(block) }
  const { code, lines } = await inspect(JSON.stringify({ ...JSON.parse(bundleText()), l1 }))
  expect(code).toBe(0)
  expect(lines.join('\n')).toMatch(/timestamp +18446744073709551615 s after 1970/)
})

it('handles any values without failing', async () => {
  const vector = readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8')
  const junk = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('0x', '0xzz', `0x${'00'.repeat(192)}`, -1, 1e300, [], {}, null, { toString: 1 }, ['0x'], [[]]),
  )
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(), junk, fc.boolean(), async (at, value, whole) => {
      const document = JSON.parse(whole ? vector : bundleText())
      const places = placesOf(document)
      const place = places[at % places.length] ?? []
      replaceAt(document, place, value)
      const { code } = await inspect(JSON.stringify(document))
      expect([0, 2]).toContain(code)
      runs++
    }),
    { seed: 7, numRuns: sized(90) },
  )
  expect(runs).toBe(sized(90))
})

function placesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  // A few of the nodes are enough.
  const entries = Object.entries(value).filter(([key]) => !(Number(key) > 3 && Number(key) < 39))
  return [...(path.length > 0 ? [path] : []), ...entries.flatMap(([key, item]) => placesOf(item, [...path, key]))]
}

function replaceAt(document: unknown, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) Reflect.set(Object(document), key, value)
  else replaceAt(Reflect.get(Object(document), key), rest, value)
}

it('survives hostile files', async () => {
  const nest = (open: string, close: string) => `${open.repeat(1e5)}0${close.repeat(1e5)}`
  const deep = [nest('[', ']'), nest('{"result":', '}'), nest('{"accountProof":', '}'), nest('{"bundle":', '}')]
  for (const value of deep) {
    for (const text of [
      value,
      `{"answer":${value}}`,
      `{"jsonrpc":${value},"result":${value}}`,
      `{"operation":"verifyEvidence","claim":${value},"bundle":${value},"expected":${value}}`,
      `{"operation":"encodeHeader","block":${value}}`,
      `{"version":${value},"rollup":${value},"l1":${value},"request":${value},"answer":${value}}`,
    ]) {
      expect([0, 2]).toContain((await inspect(text)).code)
    }
  }
  const many = JSON.stringify({ accountProof: {}, storageProofs: new Array(100_000).fill('0x00000000') })
  const { lines, json } = await inspect(many)
  expect(lines.length).toBeLessThan(10_000)
  expect(json.fields.storageProofs.more).toBe(99_000)
})

it('prints no control characters from a file', async () => {
  const steering = '\x1b[2J\u009b2J\u202e'
  const bundle = JSON.parse(bundleText())
  for (const content of [
    { ...bundle, rollup: { name: steering, address: steering }, request: { storageKeys: [steering] } },
    { ...bundle, scheme: steering, l2BlockNumber: steering, l1: { header: steering, proof: { nonce: steering } } },
    { jsonrpc: steering, error: { code: steering, message: steering } },
    { operation: steering, description: steering, expected: steering },
    { accountProof: { key: steering, leafIndex: steering, proof: { value: steering, proofRelatedNodes: [steering] } } },
    { [steering]: steering },
  ]) {
    const { stdout, stderr } = await runHere(['inspect', fileOf(content)])
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
})

it.each<[string, string[], string, string]>([
  ['no file', [], '', 'expected one file'],
  ['a missing file', ['no-such-file'], '', 'cannot read no-such-file'],
  ['an unknown option', ['-', '--state-root', '0x'], '', 'no such option: --state-root.'],
  ['no JSON', ['-'], '{', 'is not JSON'],
  ['a list', ['-'], '[]', 'standard input: it is not a JSON object'],
  ['something else', ['-'], '{}', 'it is no answer, JSON-RPC response, recording, evidence, vector or traces'],
])('reports %s as wrong usage or unreadable input', async (_, args, stdin, message) => {
  const { code, stdout, stderr } = await runHere(['inspect', ...args], { stdin })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})
