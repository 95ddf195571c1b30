import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readInputFile } from '../../src/cli/words/input-file.ts'
import { createBundle, lineaRollup, verifyEvidence } from '../../src/entry/anchor.ts'
import { mainnetBeacon } from '../../src/entry/beacon.ts'
import { meaningOf, safely } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import type { EvidenceVector, VectorClaim } from '../../vectors/evidence/vector.ts'
import { claimOfVector } from '../../vectors/run/claim.ts'
import { strided } from '../size.ts'
import { ADDRESS, fileOf, networkFile, networkOf, runHere, sampleOf } from './io.ts'

const FOLDER = 'vectors/evidence'

interface Sample {
  bundle: Record<string, unknown>
  scheme: string
  claim: VectorClaim
}

function read(name: string): Sample {
  const vector: EvidenceVector = JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'))
  if (vector.operation !== 'verifyEvidence') throw new Error(`${name} has no bundle`)
  // The samples are vectors whose bundle is an object.
  return { ...vector, bundle: vector.bundle as Record<string, unknown> }
}

const trustFlags = {
  beaconBlockRoot: '--checkpoint',
  l1BlockHash: '--l1-block-hash',
  l1StateRoot: '--l1-state-root',
  l2StateRoot: '--state-root',
}

/** The options that state the claim, except those in `without`. */
function flagsOf({ claim }: Sample, without: readonly string[] = []): string[] {
  const { rollup, trusted, l2BlockNumber, address, storageKeys } = claim
  const flags: [string, string | undefined][] = [
    ['--network', networkFile({ rollup: { address: rollup.address } })],
    ['--l2-block', l2BlockNumber === 'fromBundle' ? l2BlockNumber : `${BigInt(l2BlockNumber)}`],
    ['--address', address],
    ...Object.entries(trusted).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[Reflect.get(trustFlags, name), value]] : [],
    ),
    ...(Array.isArray(storageKeys) ? storageKeys : []).map((key): [string, string] => ['--storage-key', key]),
  ]
  const isLeftOut = (flag: string, value: unknown) => value === 'fromBundle' || without.includes(flag)
  return flags.flatMap(([flag, value]) => (value === undefined || isLeftOut(flag, value) ? [] : [flag, value]))
}

const sample = read('valid/poseidon2-block-hash')
const blockHash = `${sample.claim.trusted.l1BlockHash}`

it.each(['poseidon2', 'mimc'])('verifies a bundle from an L1 block hash (%s)', async scheme => {
  const { bundle, ...claim } = read(`valid/${scheme}-block-hash`)
  const { code, stdout, stderr } = await runHere(['verify', fileOf(bundle), ...flagsOf({ bundle, ...claim })])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Verified: this account exists\.\n {2}L1 block hash +0x[0-9a-f]{64} {2}trusted\n/)
  expect(stdout).toMatch(/L1 block +24000000 +of 2025-10-27T23:28:00Z/)
  expect(stdout).toMatch(/L1 state root +0x[0-9a-f]{64} +proven by the header/)
  expect(stdout).toMatch(/L2 block +436 +stated by you/)
  expect(stdout).toMatch(/last finalized +448 +proven by the rollup contract/)
  expect(stdout).toMatch(/L2 state root +0x[0-9a-f]{64} +proven by the rollup contract/)
  expect(stdout).toMatch(/slots +2 storage keys +stated by you/)
  expect(stdout).toMatch(/balance +5 wei/)
  expect(stdout).toMatch(/present +0x0+2a\n.*absent\n/)
  expect(stdout).toContain('this is an older state: the rollup had already finalized L2 block 448')
  expect(stdout).not.toMatch(/from the bundle|from the file/)
})

it('marks unstated inputs in the report and in JSON', async () => {
  const flags = flagsOf(sample, ['--l2-block', '--address', '--storage-key'])
  const { code, stdout } = await runHere(['verify', fileOf(sample.bundle), ...flags])
  expect(code).toBe(0)
  for (const name of ['L2 block', 'address', 'slots']) {
    expect(stdout).toMatch(new RegExp(`${name} +\\S.* {2}from the bundle, not stated by you`))
  }
  expect(stdout).toMatch(/^Verified, for the L2 block, address and storage keys that the bundle names: /)
  const json = JSON.parse((await runHere(['verify', fileOf(sample.bundle), ...flags, '--json'])).stdout)
  expect(json).toMatchObject({
    verdict: 'verified',
    trustedInput: 'l1BlockHash',
    trusted: { l1BlockHash: blockHash },
    sources: {
      ...{ trusted: 'user', scheme: 'lengths', rollup: 'user' },
      ...{ l2BlockNumber: 'bundle', address: 'bundle', storageKeys: 'bundle' },
    },
    l1Block: { number: '24000000', timestamp: `${0x69000000}`, hash: blockHash },
    l2BlockNumber: '436',
    currentL2BlockNumber: '448',
    account: { nonce: '3', balance: '5' },
  })
})

it('takes the layout and the consensus network of a file for --network', async () => {
  const vector = read('valid/poseidon2-own-layout')
  const layout = { stateRootHashes: 5, currentL2BlockNumber: 7, blockHashes: 456 }
  const slots = networkOf(vector.claim.rollup.address, { rollup: { layout } })
  const args = ['verify', fileOf(vector.bundle), ...flagsOf(vector, ['--network'])]
  expect(await runHere([...args, ...slots])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Verified, for the L2 block, /),
  })
  expect((await runHere([...args, ...networkOf(vector.claim.rollup.address)])).code).toBe(1)

  const { claim, bundle } = read('valid/poseidon2-beacon-block-root')
  const { network, beaconBlockRoot } = Object(claim.trusted)
  const of = (beacon: object) => {
    const known = networkOf(claim.rollup.address, { beacon })
    return runHere(['verify', fileOf(bundle), '--checkpoint', beaconBlockRoot, ...known, '--json'])
  }
  // Whoever names the file of a network stands for it.
  expect(JSON.parse((await of(network)).stdout)).toMatchObject({ verdict: 'verified', trusted: { network: 'vectors' } })
  const other = JSON.parse((await of(mainnetBeacon)).stdout)
  expect(other).toMatchObject({ verdict: 'refused', trusted: { network: 'mainnet' } })
})

it('reports how far the chain of evidence reaches', async () => {
  const fromRoot = read('valid/poseidon2-state-root')
  const middle = await runHere(['verify', fileOf(fromRoot.bundle), ...flagsOf(fromRoot)])
  expect(middle.code).toBe(0)
  expect(middle.stdout).toMatch(/L1 state root +0x[0-9a-f]{64} +trusted/)
  expect(middle.stdout).not.toContain('L1 block')

  const fromL2 = read('valid/poseidon2-l2-root')
  const near = await runHere(['verify', fileOf(fromL2.bundle), ...flagsOf(fromL2)])
  expect(near.code).toBe(0)
  expect(near.stdout).toMatch(/L2 state root +0x[0-9a-f]{64} +trusted/)
  expect(near.stdout).toMatch(/L2 block +436 +stated by you, not proven/)
  expect(near.stdout).toContain('nothing here proves that the state root belongs to this rollup')
  expect(near.stdout).not.toContain('proven by')
})

it('takes Linea by default, and the layout of others from a file', async () => {
  const named = await runHere(['verify', fileOf(sample.bundle), ...flagsOf(sample, ['--network'])])
  expect(named.code).toBe(1)
  expect(named.stdout).toContain('Refused: EVIDENCE_ROLLUP_MISMATCH')
  expect(named.stdout).toContain(`${lineaRollup.address.toLowerCase()}`)

  const fork = read('valid/poseidon2-own-layout')
  const verify = (layout: object) => {
    const network = networkOf(fork.claim.rollup.address, { rollup: { layout } })
    return runHere(['verify', fileOf(fork.bundle), ...flagsOf(fork, ['--network']), ...network])
  }
  const [roots, current] = [{ stateRootHashes: '5' }, { currentL2BlockNumber: 7 }]
  const linea = { stateRootHashes: 282, currentL2BlockNumber: 281, blockHashes: 456 }
  expect((await verify({ ...linea, ...roots, ...current })).code).toBe(0)
  for (const layout of [linea, { ...linea, ...roots }, { ...linea, ...current }]) {
    const { code, stdout } = await verify(layout)
    expect(code).toBe(1)
    expect(stdout).toContain('Refused: L1_KEY_MISMATCH')
  }
})

it('says that the network is the default, and not that the user has stated it', async () => {
  const { stateRoot, address, result: answer } = sampleOf(poseidon2, ADDRESS, [])
  const bundle = createBundle({
    scheme: poseidon2,
    rollup: lineaRollup,
    l2BlockNumber: 7n,
    address,
    storageKeys: [],
    answer,
  })
  const claim = [fileOf(bundle), '--state-root', stateRoot, '--address', address]
  const audited = await runHere(['audit', '--jobs', '1', ...claim])
  expect([audited.code, audited.stdout]).toEqual([0, expect.stringContaining('"verdict":"present"')])
  const args = ['verify', ...claim]
  for (const [more, words, source] of [
    [[], 'the default, not stated by you', 'default'],
    [['--network', 'linea'], 'stated by you', 'user'],
  ] as const) {
    const { code, stdout } = await runHere([...args, ...more])
    expect([code, stdout]).toEqual([0, expect.stringMatching(`rollup +${lineaRollup.address} .linea. +${words}`)])
    const json = await runHere([...args, ...more, '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'verified', sources: { rollup: source, trusted: 'user' } })
  }
})

it('reports what failed, and where', async () => {
  const { bundle } = sample
  const otherHash = await runHere([
    'verify',
    fileOf(bundle),
    ...flagsOf(sample, ['--l1-block-hash']),
    '--l1-block-hash',
    `0x${'11'.repeat(32)}`,
  ])
  expect({ code: otherHash.code, stderr: otherHash.stderr }).toEqual({ code: 1, stderr: '' })
  expect(otherHash.stdout).toMatch(/^Refused: HEADER_HASH_MISMATCH\nThe header does not hash to/)
  expect(otherHash.stdout).toMatch(/at +l1\.header/)

  const bad = { ...bundle, answer: {} }
  const { code, stdout, stderr } = await runHere(['verify', fileOf(bad), ...flagsOf(sample), '--json'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: 'refused',
    error: { code: 'MALFORMED_RESPONSE', path: 'answer.accountProof', meaning: meaningOf('MALFORMED_RESPONSE') },
  })
})

/** The link of the chain that an error is about, by its path; null if the claim itself is wrong. */
function linkOf({ code, path }: { code: string; path: string }): string | null {
  if (code === 'ARGUMENT_INVALID') return null
  const links = { consensus: 'consensus', 'l1.header': 'l1Header', 'l1.proof': 'rollupContract', l2Header: 'l2Header' }
  const [, link] = Object.entries({ ...links, answer: 'answer' }).find(([start]) => path.startsWith(start)) ?? []
  return link ?? 'bundle'
}

/** The link that each code belongs to. */
const linkOfCode = (code: string): RegExp =>
  /^HEADER_/.test(code)
    ? /^l1Header$/
    : /^(MPT|L1|ANCHOR)_/.test(code)
      ? /^rollupContract$/
      : code === 'EVIDENCE_L1_MISSING'
        ? /^(l1Header|rollupContract)$/
        : code === 'EVIDENCE_L1_BLOCK_MISMATCH'
          ? /^l1Header$/
          : /^(BEACON_|EVIDENCE_(CONSENSUS|NETWORK))/.test(code)
            ? /^consensus$/
            : /^EVIDENCE_/.test(code)
              ? /^(bundle|consensus)$/
              : /./

it('says of each invalid evidence vector which link is broken', () => {
  let count = 0
  for (const name of readdirSync(`${FOLDER}/invalid`)) {
    const file = readInputFile(JSON.parse(readFileSync(`${FOLDER}/invalid/${name}`, 'utf8')))
    if (file.kind !== 'evidence vector') continue
    const outcome = safely(() => verifyEvidence(file.bundle, claimOfVector(file)))
    if (outcome.ok) throw new Error(`${name} verified`)
    const { code } = outcome.error
    if (code === 'ARGUMENT_INVALID') expect(linkOf(outcome.error), name).toBe(null)
    // The answer and the contract's proof are of one form there, and refused with the same codes.
    else if (file.scheme !== 'ethereum') expect(linkOf(outcome.error), name).toMatch(linkOfCode(code))
    count++
  }
  expect(count).toBe(158)
})

it('refuses a bundle with any flipped byte, and reports where', async () => {
  // Without white space, the label, and the fields beside the L1 proof, which are not evidence.
  const { bundle, ...claim } = read('valid/poseidon2-nothing-beside')
  const { rollup, ...rest } = bundle
  const text = JSON.stringify({ ...rest, rollup: { address: Reflect.get(Object(rollup), 'address') } })
  const flags = [...flagsOf({ bundle, ...claim }), '--json']
  expect((await runHere(['verify', '-', ...flags], { stdin: text })).code).toBe(0)

  const places = ['"l1":', '"proof":', '"request":', '"answer":', '"rollup":'].map(name => text.indexOf(name))
  const [l1 = -1, proof = -1, request = -1, answer = -1, rollupAt = -1] = places
  expect(places.slice().sort((a, b) => a - b)).toEqual(places)
  const linkAt = (at: number): string =>
    at < l1 || at >= rollupAt
      ? 'bundle'
      : at < proof
        ? 'l1Header'
        : at < request
          ? 'rollupContract'
          : at < answer
            ? 'bundle'
            : 'answer'

  /** Of what says that it is evidence. */
  const kindOf = (bytes: Buffer): unknown => {
    const { format, kind }: Record<'format' | 'kind', unknown> = JSON.parse(bytes.toString())
    return format === bundle['format'] ? kind : 'state'
  }
  const counts = new Map<string, number>()
  const count = (outcome: string) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  // The sample omits the name `answer`, without which the file is not recognized as a bundle. It takes fewer bytes of the
  // answer, which consists mostly of nodes.
  const inAnswer = answer + '"answer":'.length
  const every = (stride: number, from: number, to: number) =>
    Array.from({ length: Math.ceil((to - from) / stride) }, (_, index) => from + index * stride)
  const stride = strided(11)
  const sample = [
    ...every(stride, 0, answer),
    ...every(strided(127), inAnswer, rollupAt),
    ...every(stride, rollupAt, text.length),
  ]
  for (const at of sample) {
    const bytes = Buffer.from(text)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    const { code, stdout, stderr } = await runHere(['verify', '-', ...flags], { stdin: bytes })
    const place = `byte ${at}: ...${text.slice(Math.max(at - 30, 0), at)}`
    if (!isJson(bytes.toString())) {
      expect({ code, stdout, stderr }, place).toEqual({
        code: 2,
        stdout: expect.stringMatching(/^{"error":{"code":"USAGE",/),
        stderr: expect.stringContaining('not JSON'),
      })
      count('not JSON')
      continue
    }
    // Nobody can say what it is evidence of.
    if (kindOf(bytes) !== 'state' && at < l1) {
      expect({ code, stderr }, place).toEqual({ code: 2, stderr: expect.stringContaining('of an unknown kind') })
      count('unknown kind')
      continue
    }
    expect({ code, stderr }, place).toEqual({ code: 1, stderr: '' })
    const { error } = JSON.parse(stdout)
    const link = linkOf(error)
    expect(link, place).toBe(linkAt(at))
    expect(error.code, place).toMatch(linkAt(at) === 'answer' ? /^(?!EVIDENCE|HEADER|MPT|L1|ANCHOR)/ : /./)
    count(`${link}`)
  }
  expect(counts.get('not JSON')).toBeGreaterThan(12)
  expect(counts.get('bundle')).toBeGreaterThan(20)
  expect(counts.get('l1Header')).toBeGreaterThan(100)
  expect(counts.get('rollupContract')).toBeGreaterThan(300)
  expect(counts.get('answer')).toBeGreaterThan(160)
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

it('does not mistake a damaged bundle for an answer', async () => {
  const { version: _, ...unversioned } = sample.bundle
  for (const content of [unversioned, [sample.bundle], null, '"x"', { jsonrpc: '2.0', result: sample.bundle }]) {
    const { code, stdout } = await runHere(['verify', fileOf(content), ...flagsOf(sample)])
    expect(code).toBe(1)
    expect(stdout).toContain('Refused: EVIDENCE_MALFORMED')
  }
})

it.each<[string, string[], string]>([
  ['nothing trusted', flagsOf(sample, ['--l1-block-hash']), 'exactly one of --checkpoint, --l1-block-hash'],
  ['two trusted', [...flagsOf(sample), '--state-root', blockHash], 'exactly one of --checkpoint, --l1-block-hash'],
  [
    'a short hash',
    [...flagsOf(sample, ['--l1-block-hash']), '--l1-block-hash', '0x12'],
    '--l1-block-hash: expected 0x',
  ],
  [
    'a short L1 root',
    [...flagsOf(sample, ['--l1-block-hash']), '--l1-state-root', '12'],
    '--l1-state-root: expected 0x',
  ],
  ['a short root', [...flagsOf(sample, ['--l1-block-hash']), '--state-root', '12'], '--state-root: expected 0x'],
  ['an unknown network', [...flagsOf(sample, ['--network']), '--network', 'goerli'], '--network: no such network'],
  ['a short address', [...flagsOf(sample, ['--address']), '--address', '0x1'], '--address: expected 0x'],
  [
    'what the library would leave to the bundle',
    [...flagsOf(sample, ['--address']), '--address', 'fromBundle'],
    '--address:',
  ],
  ['a short key', [...flagsOf(sample), '--storage-key', `0x${'1'.repeat(62)}`], '--storage-key: fewer than 32 bytes'],
  [
    'a negative block',
    [...flagsOf(sample, ['--l2-block']), '--l2-block=-1'],
    '--l2-block: expected a number below 2^64',
  ],
  ['no number', [...flagsOf(sample, ['--l2-block']), '--l2-block', ''], '--l2-block is empty'],
  ['a huge block', [...flagsOf(sample, ['--l2-block']), '--l2-block', `${2n ** 64n}`], '--l2-block: expected a number'],
])('reports %s as wrong usage', async (_, flags, message) => {
  const { code, stdout, stderr } = await runHere(['verify', fileOf(sample.bundle), ...flags])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).not.toContain('unexpected')
})

it('prints no control characters from a bundle', async () => {
  const steering = '\x1b[2J\u009b2J\u202e'
  const { bundle } = sample
  const vector = JSON.parse(readFileSync(`${FOLDER}/valid/poseidon2-block-hash.json`, 'utf8'))
  const contents: [unknown, string[]][] = [
    [{ ...bundle, scheme: steering }, flagsOf(sample)],
    [{ ...bundle, l2BlockNumber: steering }, flagsOf(sample)],
    [{ ...bundle, answer: { error: { code: 1, message: steering } } }, flagsOf(sample)],
    [{ ...vector, claim: { ...vector.claim, trusted: { [steering]: steering } } }, []],
    [{ ...vector, claim: { ...vector.claim, rollup: { name: steering, address: steering } } }, []],
    [{ ...vector, operation: steering }, []],
    [{ ...vector, expected: { ...vector.expected, trustedInput: steering } }, []],
  ]
  for (const [content, flags] of contents) {
    const { code, stdout, stderr } = await runHere(['verify', fileOf(content), ...flags])
    expect(code).not.toBe(0)
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
})
