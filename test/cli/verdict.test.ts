import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import { exitCodeOf } from '../../src/cli/output/verdict.ts'
import type { Source } from '../../src/cli/words/answer.ts'
import { type PartSources, sentenceOf, verdictOf } from '../../src/cli/words/verdict.ts'
import { createWorld } from '../../src/devnet/index.ts'
import { type Hex, verifyProof } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { recordCall } from '../../src/entry/provider.ts'
import { withNetwork } from '../network.ts'
import { PROGRAM } from '../package/build.ts'
import { demoState, SURROUNDINGS, surroundingsAbi } from '../provider/contracts.ts'
import { createEndpoints, ROLLUP } from '../provider/endpoints.ts'
import { CHAIN_ID } from '../provider/full-state.ts'
import { fileOf, folderOf, networkOf, runHere } from './io.ts'

/** The word of a verdict, on whose word it rests, and what a shell makes of it. */

/** An account that its author would like to have, in a state that its author made up. */
const ADDRESS: Hex = `0x${'e5'.repeat(20)}`
const world = createWorld(poseidon2)
world.setAccount(ADDRESS, { balance: 10n ** 27n })
const claim = { scheme: 'poseidon2', stateRoot: world.stateRoot(), address: ADDRESS, storageKeys: [] }
const answer = world.getProof(ADDRESS)
const recording = { ...claim, result: answer }
const proven = verifyProof(answer, { ...claim, scheme: poseidon2 })
const spelt = JSON.parse(JSON.stringify(proven, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
const vector = { ...claim, answer, expected: { valid: true, ...spelt } }
const evidence = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8'))
/** A call that reads the gas limit of its block, which no proof covers. */
const call = await (async () => {
  const { l1, l2 } = createEndpoints(demoState, true)
  const data = encodeFunctionData({ abi: surroundingsAbi, functionName: 'gasLimit' })
  const known = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID, environment: { gasLimit: 9n } }
  return recordCall(withNetwork({ l1, l2, ...known, call: { to: SURROUNDINGS, data } }))
})()
const { rollup, trusted } = evidence.claim
const L1 = [...networkOf(rollup.address), '--l1-block-hash', trusted.l1BlockHash]
const ROOT = ['--state-root', claim.stateRoot]

const EXISTS = 'this account exists.'
const OF_FILE = `Consistent: nobody has confirmed the state root. If it is right, for the address that the file names: ${EXISTS}`
const [GREEN, YELLOW, RED] = ['\u001b[32m', '\u001b[33m', '\u001b[31m']

interface Case {
  readonly content: unknown
  readonly args?: readonly string[]
  readonly code: number
  /** The first line. */
  readonly says: string
  readonly colour: string
}

const cases: Readonly<Record<string, Case>> = {
  'an invented recording': {
    content: recording,
    ...{ code: 4, says: OF_FILE, colour: YELLOW },
  },
  'a recording, and a root that the user states': {
    content: recording,
    args: ROOT,
    ...{ code: 0, says: `Verified, for the address that the file names: ${EXISTS}`, colour: GREEN },
  },
  'a recording, all of which the user states': {
    content: recording,
    args: [...ROOT, '--address', ADDRESS],
    ...{ code: 0, says: `Verified: ${EXISTS}`, colour: GREEN },
  },
  'an answer, and a root that the user states': {
    content: answer,
    args: ROOT,
    ...{ code: 0, says: `Verified, for the address that the answer names: ${EXISTS}`, colour: GREEN },
  },
  'a bundle, and an L1 block hash that the user states': {
    content: evidence.bundle,
    args: L1,
    ...{ code: 0, colour: GREEN },
    says: `Verified, for the L2 block, address and storage keys that the bundle names: ${EXISTS}`,
  },
  'a recording whose root is not the one that the user states': {
    content: recording,
    args: ['--state-root', `0x${'01'.repeat(32)}`],
    ...{ code: 1, says: 'Refused: STATE_ROOT_MISMATCH', colour: RED },
  },
  'an invented recording, with --trust-file': {
    content: recording,
    args: ['--trust-file'],
    ...{ code: 0, says: OF_FILE, colour: YELLOW },
  },
  'a refused recording, with --trust-file': {
    content: { ...recording, stateRoot: `0x${'01'.repeat(32)}` },
    args: ['--trust-file'],
    ...{ code: 1, says: 'Refused: STATE_ROOT_MISMATCH', colour: RED },
  },
  'a call that reads a block value which only the file states': {
    content: call.bundle,
    args: callArguments(),
    ...{ code: 4, colour: YELLOW },
    says: 'Consistent: nobody has confirmed the block values that no proof covers. If they are right, for the L2 block, contract, data, sender and value that the bundle names: the call returned.',
  },
}

function callArguments(): string[] {
  const known = networkOf(ROLLUP.address, { rollup: { chainId: Number(CHAIN_ID) } })
  return [...known, '--l1-block-hash', call.verified.l1Block.hash]
}

it.each(Object.entries(cases))(
  'says of %s on whose word it is',
  async (name, { content, args = [], code, says, colour }) => {
    const before = process.env
    process.env = { TERM: 'xterm-256color' }
    try {
      const shown = await runHere(['verify', fileOf(content), ...args], { isTTY: true })
      // Green is a word of the user's.
      expect([shown.stdout.includes(GREEN), shown.stdout.startsWith(colour)], name).toEqual([colour === GREEN, true])
    } finally {
      process.env = before
    }
    const plain = await runHere(['verify', fileOf(content), ...args])
    expect({ ...plain, stdout: plain.stdout.split('\n')[0] }).toEqual({ code, stdout: says, stderr: '' })
    expect(plain.stdout.includes('\nTo confirm it, ')).toBe(says.startsWith('Consistent'))
    // Whoever copies the value from the report has compared it with nothing.
    expect(/To confirm .*/.exec(plain.stdout)?.[0] ?? '').not.toMatch(/0x[0-9a-f]{8}/)
    expect(plain.stdout.includes('Exit code 0 because of --trust-file')).toBe(
      code === 0 && says.startsWith('Consistent'),
    )
    const json = JSON.parse((await runHere(['verify', fileOf(content), ...args, '--json'])).stdout)
    expect(json.verdict).toBe(says.split(/\W/)[0]?.toLowerCase())
    expect('confirm' in json).toBe(json.verdict === 'consistent')
    expect(json).not.toHaveProperty('verified')
  },
)

it('names the option that confirms each kind of start', async () => {
  const ofRecording = await runHere(['verify', fileOf(recording), '--json'])
  expect(JSON.parse(ofRecording.stdout)).toMatchObject({
    ...{
      unconfirmed: ['stateRoot'],
      confirm: expect.stringContaining('state with --state-root what you find there'),
    },
  })
})

it('does not make a shell pay for an invention', () => {
  const folder = folderOf({
    ...{ 'recording.json': recording, 'vector.json': vector, 'world.json': evidence },
    'answer.json': answer,
  })
  const run = (line: string) => {
    const verify = `"${process.execPath}" ${PROGRAM} verify`
    const { stdout, status } = spawnSync('bash', ['-c', line.replaceAll('VERIFY', verify)], {
      encoding: 'utf8',
      cwd: '.',
    })
    return { isPaid: /^paid$/m.test(stdout), status }
  }
  let count = 0
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    // The others state no root, or have a command of their own.
    const status = name === 'recording.json' ? 4 : 2
    expect(run(`VERIFY "${file}" && echo paid`), name).toEqual({ isPaid: false, status })
    expect(run(`VERIFY - < "${file}" && echo paid`), name).toEqual({ isPaid: false, status })
    expect(run(`VERIFY "${file}" --json && echo paid`), name).toEqual({ isPaid: false, status })
    count++
  }
  expect(count).toBe(4)
  expect(run(`VERIFY "${join(folder, 'recording.json')}" --state-root ${claim.stateRoot} && echo paid`).isPaid).toBe(
    true,
  )
  expect(run(`VERIFY "${join(folder, 'answer.json')}" --state-root ${claim.stateRoot} && echo paid`).isPaid).toBe(true)
  expect(run(`VERIFY "${join(folder, 'recording.json')}" --trust-file && echo paid`).isPaid).toBe(true)
})

it('keeps the verdict on standard output, whatever it is', async () => {
  for (const [name, { content, args = [], code }] of Object.entries(cases)) {
    const { stdout, stderr } = await runHere(['verify', fileOf(content), ...args])
    expect([stderr, stdout.length > 0], name).toEqual(['', true])
    expect(code).not.toBe(2)
  }
  // What is no verdict stays where diagnostics go.
  expect(await runHere(['verify', fileOf('{')])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('JSON'),
  })
})

it('takes the worst of many records', async () => {
  const lines = (...records: unknown[]) => records.map(record => `${JSON.stringify(record)}\n`).join('')
  const refused = { ...recording, stateRoot: `0x${'01'.repeat(32)}` }
  const audit = async (stdin: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runHere(['audit', '--jobs', '1', ...args], { stdin })
    const verdicts = stdout.trimEnd().split('\n')
    return { code, trusted: verdicts.map(line => JSON.parse(line).trusted), first: stderr.split('\n')[0] }
  }
  const all = lines(recording, recording)
  const confirmed = 'because nobody has confirmed the state root.'
  expect(await audit(all)).toEqual({
    ...{ code: 4, trusted: ['file', 'file'], first: `All 2 records are consistent only, ${confirmed}` },
  })
  expect(await audit(all, ...ROOT)).toEqual({
    code: 0,
    trusted: ['user', 'user'],
    first: 'All 2 records are verified.',
  })
  expect((await audit(all, '--trust-file')).code).toBe(0)
  const mixed = lines(recording, evidence.bundle)
  const known = [...networkOf(rollup.address), '--l1-block-hash', trusted.l1BlockHash]
  expect(await audit(mixed, ...known)).toEqual({
    ...{ code: 4, trusted: ['file', 'user'] },
    first: `Of 2 records, 1 is verified and 1 is consistent only, ${confirmed}`,
  })
  expect(await audit(lines(recording, refused))).toEqual({
    ...{ code: 1, trusted: ['file', undefined] },
    first: `Of 2 records, 1 is refused and 1 is consistent only, ${confirmed}`,
  })
  expect((await audit(lines(refused), '--trust-file')).code).toBe(1)
})

it('says in the report of an audit what rests on the records alone', async () => {
  const audit = (...more: string[]) => runHere(['audit', '--jobs', '1', ...more], { stdin: JSON.stringify(recording) })
  expect(JSON.parse((await audit('--json')).stderr)).toMatchObject({
    verdict: 'consistent',
    verified: 0,
    consistent: 1,
    present: 1,
  })
  const { stderr } = await audit()
  expect(stderr).toContain('The record is consistent only, because nobody has confirmed the state root.')
  expect(stderr).toContain('To confirm it, look up the state root on L1')
  const own = (await audit(...ROOT)).stderr
  expect(own).toContain('The record is verified.')
  expect(own).not.toContain('confirm')
})

it('follows from who stated the premises alone', () => {
  const sources: Source[] = ['user', 'confirmed', 'file', 'answer', 'bundle', 'endpoint', 'lengths']
  const premises = [
    ...['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot', 'stateRoot', 'rootBefore', 'rootAfter'],
    ...['rollup', 'layout', 'network', 'environment'],
  ]
  const others = ['scheme', 'implementation', 'address', 'storageKeys', 'l2BlockNumber', 'message', 'filter', 'toBlock']
  let count = 0
  for (const source of sources) {
    const isOwn = source === 'user' || source === 'confirmed'
    for (const name of premises) {
      const verdict = verdictOf(true, { stateRoot: 'user', [name]: source })
      expect(verdict.word, `${name} ${source}`).toBe(isOwn ? 'verified' : 'consistent')
      expect(verdict.restsOn).toBe(isOwn ? 'user' : source === 'endpoint' ? 'endpoint' : 'file')
      expect(exitCodeOf(verdict)).toBe(isOwn ? 0 : 4)
      expect(exitCodeOf(verdict, ['user', 'endpoint'])).toBe(isOwn || source === 'endpoint' ? 0 : 4)
      expect(exitCodeOf(verdict, ['user', 'file'])).toBe(isOwn || source !== 'endpoint' ? 0 : 4)
      count++
    }
    for (const name of others) expect(verdictOf(true, { stateRoot: 'user', [name]: source }).word).toBe('verified')
    const refused = verdictOf(false, { stateRoot: source })
    expect([refused.word, exitCodeOf(refused, ['user', 'file', 'endpoint'])]).toEqual(['refused', 1])
  }
  expect(count).toBe(77)
  // What only one of two vouches for is not vouched for.
  const mixed: PartSources = { l1BlockHash: 'endpoint', rollup: 'file' }
  expect(verdictOf(true, mixed)).toMatchObject({ restsOn: 'file', unconfirmed: ['l1BlockHash', 'rollup'] })
  expect(sentenceOf(verdictOf(true, { stateRoot: 'user', address: 'answer', storageKeys: 'file' }), 'it is so')).toBe(
    'Verified, for the address and storage keys that the file names: it is so.',
  )
})

it('keeps green to one place', () => {
  const files = readdirSync('src/cli', { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(50)
  const green = files.filter(name => /'green'/.test(readFileSync(join('src/cli', name), 'utf8')))
  expect(green.sort()).toEqual(['output/verdict.ts'])
})
