import { expect, it } from 'vitest'
import { meaningOf } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { ABSENT, ADDRESS, COMMANDS, fileOf, flagsOf, folderOf, PRESENT, runHere, sampleOf } from './io.ts'

const sample = sampleOf(poseidon2)
const other = `0x${'bb'.repeat(20)}` as const
const rootOnly = ['--state-root', sample.stateRoot]
const failing = { ...sample, stateRoot: `0x${'00'.repeat(32)}` }
const expectedState = {
  valid: true,
  account: {
    nonce: '3',
    balance: '1000000000000000000',
    storageRoot: storageRootOf(sample.result),
    codeHash: '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    snarkCodeHash: '0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc',
    codeSize: '0',
    leafIndex: 2,
  },
  storage: [
    { key: PRESENT, value: `0x${'00'.repeat(31)}07`, exists: true, leafIndex: 2 },
    { key: ABSENT, value: `0x${'00'.repeat(32)}`, exists: false, leafIndex: null },
  ],
}
const { result, ...question } = sample
const vector = { ...question, description: 'a sample', answer: result, expected: expectedState }

/** The storage root: the third word of the account value. */
function storageRootOf({ accountProof }: typeof sample.result): string {
  if (!('proof' in accountProof)) throw new Error('the sample has an account')
  return `0x${accountProof.proof.value.slice(2 + 2 * 64, 2 + 3 * 64)}`
}

it.each([mimc, poseidon2])('verifies a bare result, a JSON-RPC response and a recording ($name)', async scheme => {
  const { result, ...question } = sampleOf(scheme)
  const flags = flagsOf({ ...question, result })
  for (const [content, argv, source] of [
    [result, flags, 'stated by you'],
    [{ jsonrpc: '2.0', id: 1, result }, flags, 'stated by you'],
    [{ ...question, result }, [], 'from the file'],
  ] as const) {
    const isOwn = source === 'stated by you'
    const { code, stdout, stderr } = await runHere(['verify', fileOf(content), ...argv])
    expect({ code, stderr }).toEqual({ code: isOwn ? 0 : 4, stderr: '' })
    expect(stdout).toContain(
      isOwn
        ? 'Verified: this account exists.'
        : 'Consistent: nobody has confirmed the state root. If it is right, for the address and storage keys that the file names: this account exists.\nTo confirm it, look up the state root of this L2 block on L1 (',
    )
    expect(stdout).toMatch(new RegExp(`state root +${question.stateRoot} +${source}`))
    expect(stdout).toMatch(/balance +1000000000000000000 wei/)
    expect(stdout).toMatch(new RegExp(`${PRESENT} +present +0x0+7\n.*${ABSENT} +absent\n`))
  }
})

it('reports an absent account, and its slots as absent for that reason', async () => {
  const absent = sampleOf(poseidon2, other, [PRESENT])
  const { code, stdout } = await runHere(['verify', fileOf(absent.result), ...flagsOf(absent)])
  expect(code).toBe(0)
  expect(stdout).toContain('Verified: this account does not exist.')
  expect(stdout).toContain(`${PRESENT}  absent`)
  const json = await runHere(['verify', fileOf(absent), '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ account: null })
})

it('takes unstated inputs from the answer, and reports that', async () => {
  const readable = await runHere(['verify', fileOf(result), ...rootOnly])
  expect(readable.code).toBe(0)
  expect(readable.stdout).toMatch(new RegExp(`address +${ADDRESS} +from the answer, not stated by you`))
  expect(readable.stdout).toMatch(/^Verified, for the address and storage keys that the answer names: /)
  const { stdout } = await runHere(['verify', fileOf(result), ...rootOnly, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    address: ADDRESS,
    storageKeys: [PRESENT, ABSENT],
    sources: { scheme: 'lengths', stateRoot: 'user', address: 'answer', storageKeys: 'answer' },
  })
})

it('requires the storage keys if the answer does not name them', async () => {
  const unnamed = { ...result, storageProofs: [result.storageProofs[0], null] }
  const { code, stderr } = await runHere(['verify', fileOf(unnamed), ...rootOnly])
  expect(code).toBe(2)
  expect(stderr).toContain('storageProofs[1] names no storage key')
})

it('prints one JSON object, bigints as decimal strings', async () => {
  const { code, stdout, stderr } = await runHere(['verify', '-', ...flagsOf(sample), '--json'], {
    stdin: JSON.stringify(result),
  })
  expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 })
  const { valid: _, ...state } = expectedState
  expect(JSON.parse(stdout)).toEqual({
    verdict: 'verified',
    ...question,
    sources: { scheme: 'lengths', stateRoot: 'user', address: 'user', storageKeys: 'user' },
    ...state,
  })
})

it('prints what failed, where, and what it means', async () => {
  const readable = await runHere(['verify', fileOf(failing)])
  expect({ code: readable.code, stderr: readable.stderr }).toEqual({ code: 1, stderr: '' })
  expect(readable.stdout).toContain('Refused: STATE_ROOT_MISMATCH\nThe account proof does not lead to')
  expect(readable.stdout).toMatch(/at +accountProof/)
  expect(readable.stdout).toMatch(new RegExp(`expected +${failing.stateRoot}\n +found +${sample.stateRoot}`))

  const { code, stdout, stderr } = await runHere(['verify', fileOf(failing), '--json'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  const error = { code: 'STATE_ROOT_MISMATCH', expected: failing.stateRoot, found: sample.stateRoot }
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'refused', stateRoot: failing.stateRoot, error })
  const { error: whole } = JSON.parse(stdout)
  expect(Object.keys(whole)).toEqual(['code', 'action', 'meaning', 'path', 'expected', 'found'])
  expect(whole).toMatchObject({ action: 'change', meaning: meaningOf('STATE_ROOT_MISMATCH') })
})

it('prefers a flag over the file', async () => {
  const { code } = await runHere(['verify', fileOf(failing), '--state-root', sample.stateRoot])
  expect(code).toBe(0)
  const wrong = await runHere(['verify', fileOf(sample), '--address', other])
  expect(wrong.code).toBe(1)
  expect(wrong.stdout).toContain('KEY_MISMATCH')
})

it('does not take the question from a JSON-RPC response', async () => {
  const { code, stderr } = await runHere(['verify', fileOf({ jsonrpc: '2.0', id: 1, ...sample })])
  expect(code).toBe(2)
  expect(stderr).toContain('--state-root is needed')
})

it.each([
  ['an error', { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'no' } }, 'ANSWER_IS_ERROR'],
  ['an eth_getProof answer', { accountProof: ['0x'], storageProof: [], storageHash: '0x' }, 'WRONG_LENGTH'],
  ['an empty object', {}, 'MALFORMED_RESPONSE'],
  ['a null', null, 'MALFORMED_RESPONSE'],
  ['a batch', [{ jsonrpc: '2.0', id: 1, result }], 'MALFORMED_RESPONSE'],
])('reports %s without inventing an address', async (_, content, code) => {
  const failure = await runHere(['verify', fileOf(content), ...rootOnly])
  expect(failure.code).toBe(1)
  expect(failure.stdout).toContain(`Refused: ${code}`)
  expect(failure.stdout).not.toMatch(/address +0x0|scheme .* {2}stated by you/)
  const { stdout } = await runHere(['verify', fileOf(content), ...rootOnly, '--json'])
  expect(JSON.parse(stdout)).not.toHaveProperty('address')
})

it('says whether a flag or the file states a wrong claim', async () => {
  const flags: [string, string][] = [
    ['--state-root', '0x12'],
    ['--address', ADDRESS.slice(2)],
    ['--storage-key', '0xzz'],
  ]
  for (const [flag, value] of flags) {
    const { code, stdout, stderr } = await runHere(['verify', fileOf(sample), flag, value])
    expect({ code, stdout }, flag).toEqual({ code: 2, stdout: '' })
    const expected = flag === '--storage-key' ? '0, 0x0 or 32 bytes' : '0x-prefixed'
    expect(stderr).toContain(`${flag}: expected ${expected}`)
  }
  const message = 'address in the file: expected 0x-prefixed hexadecimal of 20 bytes, found 1 byte'
  const wrong = await runHere(['verify', fileOf({ ...sample, address: '0x12' }), '--json'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(`rollup-state-proof: ${message}\n`)])
  expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { code: 'USAGE', message } })
})

const file = (content: unknown) => ({ content })

it.each<[string, (string | { content: unknown })[], string]>([
  ['nothing', [], 'no command'],
  ['an unknown command', ['constructor'], 'no such command: constructor'],
  ['no file', ['verify'], 'expected one file'],
  ['two files', ['verify', 'a', 'b'], 'expected one file'],
  ['an unknown option', ['verify', 'a', '--root', '0x'], 'no such option: --root.'],
  ['an option without its value', ['verify', 'a', '--state-root'], '--state-root needs a value'],
  ['a missing file', ['verify', 'no-such-file.json'], 'cannot read no-such-file.json: no such file or directory'],
  ['a path through a file', ['verify', 'package.json/x'], 'cannot read package.json/x: not a directory'],
  ['a file of no kind', ['verify', 'package.json'], 'package.json: it is no answer, JSON-RPC response, recording,'],
  ['no root', ['verify', file({ ...sample, stateRoot: null })], '--state-root is needed'],
  ['no JSON', ['verify', file('{"a":')], 'is not JSON'],
  ['an empty file', ['verify', file('')], 'is empty'],
  ['white space', ['verify', file(' \n')], 'is empty'],
  ['invalid UTF-8', ['verify', file(new Uint8Array([0x22, 0xff, 0x22]))], 'is not UTF-8'],
  [
    'half of a UTF-16 character',
    ['verify', file(Buffer.from('\ufeff{}', 'utf16le').subarray(0, -1))],
    'The encoded data was not valid for encoding utf-16le',
  ],
  ['a scheme and nothing else', ['verify', file({ scheme: 'mimc' })], 'neither an answer nor a result'],
  ['a vector', ['verify', file(vector)], 'is a vector, which states its own inputs: verify what is in it'],
])('reports %s as wrong usage or unreadable input', async (_, argv, message) => {
  const { code, stdout, stderr } = await runHere(argv.map(arg => (typeof arg === 'string' ? arg : fileOf(arg.content))))
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  // How to use a command has nothing to do with a file that is missing.
  expect(stderr.includes('--help')).toBe(!message.startsWith('cannot read'))
  expect(stderr).not.toContain('unexpected')
})

it('stops reading at the limit', async () => {
  let mebibytes = 0
  async function* endless() {
    for (;;) {
      mebibytes++
      yield new Uint8Array(2 ** 20)
    }
  }
  const { code, stderr } = await runHere(['verify', '-', ...rootOnly], { stdin: endless() })
  expect(code).toBe(2)
  expect(stderr).toContain('standard input is larger than 16 MiB')
  expect(mebibytes).toBe(17)
})

it('reports a standard input that fails', async () => {
  // biome-ignore lint/correctness/useYield: it fails before its first chunk
  async function* broken(): AsyncGenerator<Uint8Array> {
    throw new Error('EISDIR: illegal operation')
  }
  const { code, stderr } = await runHere(['verify', '-', ...rootOnly], { stdin: broken() })
  expect(code).toBe(2)
  expect(stderr).toContain('cannot read standard input: EISDIR')
})

it('survives JSON nested a million levels deep', async () => {
  for (const [open, close] of ['[]', ['{"result":', '}'], ['{"accountProof":', '}']] as [string, string][]) {
    const { code, stdout } = await runHere(['verify', '-', ...rootOnly], {
      stdin: `${open.repeat(1e6)}0${close.repeat(1e6)}`,
    })
    expect([code, stdout]).toEqual([2, ''])
  }
  const nested = JSON.stringify({ ...vector, expected: { valid: true, account: 'x', storage: [] } })
  const deep = nested.replace('"x"', `${'{"nonce":'.repeat(1e5)}0${'}'.repeat(1e5)}`)
  const { code, stderr } = await runHere(['verify', '-'], { stdin: deep })
  expect([code, stderr]).toEqual([2, expect.stringContaining('nested more than 1024 levels deep')])
})

it('accepts a byte order mark', async () => {
  const stdin = `\ufeff${JSON.stringify(sample)}`
  expect((await runHere(['verify', '-'], { stdin })).code).toBe(4)
})

it('prints no control characters from a file', async () => {
  const steering = '\x1b[2J\u009b2J\u202e'
  const cases: [unknown, string[]][] = [
    [{ ...sample, stateRoot: steering }, []],
    [{ ...sample, scheme: steering }, []],
    [{ ...vector, expected: { valid: false, code: steering } }, []],
    [{ ...vector, expected: { valid: true, account: steering, storage: [] } }, []],
    [{ jsonrpc: '2.0', error: { code: 1, message: steering } }, rootOnly],
    [`${steering}`, []],
    [sample, ['--address', steering]],
    [sample, [`--${steering}`]],
  ]
  for (const [content, flags] of cases) {
    const { code, stdout, stderr } = await runHere(['verify', fileOf(content), ...flags])
    expect(code).not.toBe(0)
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
})

it('uses colours on a terminal only', async () => {
  const before = process.env
  const env = { TERM: 'xterm-256color' }
  try {
    process.env = env
    const argv = ['verify', fileOf(sample), '--state-root', sample.stateRoot]
    expect((await runHere(argv, { isTTY: true })).stdout).toContain('\x1b[32m')
    expect((await runHere(argv)).stdout).not.toContain('\x1b')
    process.env = { ...env, NO_COLOR: '1' }
    expect((await runHere(argv, { isTTY: true })).stdout).not.toContain('\x1b[3')
  } finally {
    process.env = before
  }
})

it('prints help and the version', async () => {
  const { code, stdout } = await runHere(['--help'])
  expect(code).toBe(0)
  const names = [...stdout.matchAll(/^ {2}(\w+(?: \w+)?) {2,}\w/gm)].map(([, name]) => `${name}`)
  expect(names.filter(name => !name.startsWith('help'))).toEqual(COMMANDS)
  for (const name of COMMANDS) {
    expect((await runHere([...name.split(' '), '--help'])).stdout).toMatch(
      new RegExp(`^Usage: rollup-state-proof ${name} `),
    )
  }
  expect((await runHere(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('refuses a folder', async () => {
  const { code, stderr } = await runHere(['verify', folderOf({ 'a.json': vector })])
  expect([code, stderr]).toEqual([2, expect.stringContaining('is a folder: name a file in it')])
})
