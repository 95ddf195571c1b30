import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createBundle, verifyEvidence } from '../src/entry/anchor.ts'
import { createVerifier, isArgumentError, isProofError, verifyProof } from '../src/entry/index.ts'
import { mimc } from '../src/entry/mimc.ts'
import { lineaNetworks } from '../src/entry/networks.ts'
import { poseidon2 } from '../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../src/entry/provider.ts'
import { followFinalizations } from '../src/entry/rpc.ts'
import { openFile } from '../src/site/explore.ts'
import { judge } from '../src/site/judge.ts'
import { statementFrom } from '../src/site/statement.ts'
import { fileOf, flagsOf, folderOf, NOWHERE, networkOf, runHere, sampleOf } from './cli/io.ts'

/** What people do wrong at first, and the message that sets them right. */

const { result: answer, stateRoot, storageKeys, address } = sampleOf(poseidon2)
const claim = { scheme: poseidon2, stateRoot, address, storageKeys }
const rollup = { address: `0x${'ff'.repeat(20)}` } as const
const bundle = createBundle({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, storageKeys, answer })
const evidence = {
  ...{ scheme: poseidon2, rollup, trusted: { l2StateRoot: stateRoot } },
  ...{ l2BlockNumber: 7n, address, storageKeys },
} as const

/** As a program in JavaScript, which no compiler checks. */
const untyped = (work: (...args: never[]) => unknown, ...args: unknown[]) => Reflect.apply(work, undefined, args)
const proof = (wrong: object, given: unknown = answer) => untyped(verifyProof, given, { ...claim, ...wrong })
const provider = (wrong: object) => {
  const l1BlockHash = () => stateRoot
  return untyped(createVerifiedProvider, {
    ...{ l1: 'http://127.0.0.1:1', l2: 'http://127.0.0.1:1', l1BlockHash },
    ...{ network: { scheme: poseidon2, rollup: { ...rollup, chainId: 1 } }, ...wrong },
  })
}

const IMPORT_SCHEME = "the object poseidon2 of 'rollup-state-proof/poseidon2' or mimc of 'rollup-state-proof/mimc'"
const IMPORT_ROLLUP = "lineaRollup or lineaSepoliaRollup of 'rollup-state-proof/anchor'"
const IMPORT_NETWORK = "'rollup-state-proof/networks', such as lineaMainnet"
const HASH = "expected a function: () => hash, or one of 'rollup-state-proof/rpc'"

const inPrograms: [what: string, work: () => unknown, message: string][] = [
  ['the name of a scheme', () => proof({ scheme: 'poseidon2' }), IMPORT_SCHEME],
  ['the module of a scheme', () => proof({ scheme: { poseidon2 } }), IMPORT_SCHEME],
  ['a verifier of a name', () => untyped(createVerifier, 'mimc'), IMPORT_SCHEME],
  ['the name of a rollup', () => untyped(verifyEvidence, bundle, { ...evidence, rollup: 'mainnet' }), IMPORT_ROLLUP],
  ['the name of a network for a provider', () => provider({ network: 'linea' }), IMPORT_NETWORK],
  ['JSON text for an answer', () => proof({}, JSON.stringify(answer)), 'found JSON text: parse it first'],
  [
    'indented JSON text for a bundle',
    () => untyped(verifyEvidence, JSON.stringify(bundle, null, 2), evidence),
    'found JSON text: parse it first',
  ],
  ['JSON text for a claim', () => untyped(verifyProof, answer, '{"scheme":"mimc"}'), 'found JSON text: parse it first'],
  ['an answer that was not awaited', () => proof({}, Promise.resolve(answer)), 'found a promise: await it first'],
  [
    'a bundle that was not awaited',
    () => untyped(verifyEvidence, Promise.resolve(bundle), evidence),
    'found a promise: await it first',
  ],
  [
    'a root that was not awaited',
    () => proof({ stateRoot: Promise.resolve(stateRoot) }),
    'stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found a promise: await it first',
  ],
  [
    'a claim that was not awaited',
    () => untyped(verifyProof, answer, Promise.resolve(claim)),
    'found a promise: await it first',
  ],
  ['an empty URL', () => provider({ l1: '' }), 'found an empty text: it has to begin with http: or https:'],
  ['the L1 block hash itself', () => provider({ l1BlockHash: stateRoot }), HASH],
  [
    'the L1 block hash itself, to follow',
    () =>
      untyped(followFinalizations, {
        l1: 'http://127.0.0.1:1',
        l2: 'http://127.0.0.1:1',
        network: { rollup, scheme: poseidon2 },
        requests: [{ address, storageKeys }],
        l1BlockHash: stateRoot,
      }),
    HASH,
  ],
  [
    'an answer for a bundle',
    () => untyped(verifyEvidence, answer, evidence),
    'expected an evidence bundle, found an answer alone: use verifyProof, with its state root',
  ],
  [
    'a response for a bundle',
    () => untyped(verifyEvidence, { jsonrpc: '2.0', id: 1, result: answer }, evidence),
    'found an answer alone: use verifyProof',
  ],
  ['a bundle for an answer', () => proof({}, bundle), 'expected an answer, found a bundle: use verifyEvidence'],
  [
    'an eth_getProof answer',
    () => proof({}, { accountProof: [], storageProof: [], storageHash: stateRoot }),
    'FOREIGN_PROOF: expected linea_getProof, found eth_getProof',
  ],
  [
    'an address without 0x',
    () => proof({ address: 'aa'.repeat(20) }),
    'address: expected 0x-prefixed hexadecimal of 20 bytes, found 20 bytes (an address?) without 0x',
  ],
  ['a root without 0x', () => proof({ stateRoot: stateRoot.slice(2) }), 'found 32 bytes (a hash?) without 0x'],
  ['a digit that is missing', () => proof({ stateRoot: stateRoot.slice(0, -1) }), 'found an odd number of digits'],
  [
    'an address and a root that are swapped',
    () => proof({ stateRoot: address, address: stateRoot }),
    'stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found 20 bytes (an address?)',
  ],
  [
    'a root in the place of an address',
    () => proof({ address: stateRoot }),
    'address: expected 0x-prefixed hexadecimal of 20 bytes, found 32 bytes (a hash?)',
  ],
  [
    'bytes instead of hexadecimal',
    () => proof({ stateRoot: new Uint8Array(32) }),
    'stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found bytes, not hexadecimal text',
  ],
  [
    'a Buffer instead of hexadecimal',
    () => proof({ storageKeys: [Buffer.alloc(32)] }),
    'storageKeys[0]: expected 0x-prefixed hexadecimal of 32 bytes, found bytes, not hexadecimal text',
  ],
]

it.each(inPrograms)('in a program: %s', (_, work, message) => {
  const error = errorOf(work)
  expect(isArgumentError(error) || isProofError(error), String(error)).toBe(true)
  expect(error).toMatchObject({ message: expect.stringContaining(message) })
})

const EXPECTED = `Expected ${lineaNetworks.map(({ name }) => name).join(', ')}, or the path of a file`
const HEX_32 = 'expected 0x-prefixed hexadecimal of 32 bytes'
const root = ['--state-root', stateRoot]
/** Enough for an endpoint that is never asked. */
const asked = [...networkOf(rollup.address), '--address', address, '-o', 'never-written']

type Mistake = [what: string, args: (files: Files) => string[], message: string, variables?: Record<string, string>]

const onTheCommandLine: Mistake[] = [
  [
    'the name of no network',
    ({ bundle }) => ['verify', bundle, '--network', 'optimism', ...root],
    `no such network: optimism. ${EXPECTED}`,
  ],
  [
    'a network of which there is no file',
    ({ bundle }) => ['verify', bundle, '--network', './none.json', ...root],
    `no such network, and no such file: ./none.json. ${EXPECTED}`,
  ],
  [
    'a misspelt network',
    ({ bundle }) => ['verify', bundle, '--network', 'linae', ...root],
    `linae. Did you mean linea? ${EXPECTED}`,
  ],
  [
    'the name of its L1',
    ({ bundle }) => ['verify', bundle, '--network', 'mainnet', ...root],
    `mainnet. Did you mean linea? ${EXPECTED}`,
  ],
  [
    'a network of which a file has a short address',
    ({ bundle }) => ['verify', bundle, ...networkOf('0xff'), ...root],
    'rollup.address: expected 0x-prefixed hexadecimal of 20 bytes, found 1 byte',
  ],
  [
    'a root without 0x',
    ({ answer }) => ['verify', answer, '--state-root', stateRoot.slice(2)],
    `--state-root: ${HEX_32}, found 32 bytes (a hash?) without 0x`,
  ],
  [
    'an address for a root',
    ({ answer }) => ['verify', answer, '--state-root', address, '--address', stateRoot],
    `--state-root: ${HEX_32}, found 20 bytes (an address?)`,
  ],
  [
    'an address without 0x',
    () => ['record', 'state', '--address', 'aa'.repeat(20)],
    '--address: expected 0x-prefixed hexadecimal of 20 bytes, found 20 bytes (an address?) without 0x',
  ],
  [
    'an L1 block hash that lacks a digit',
    () => ['record', 'state', '--l1-block-hash', stateRoot.slice(0, -1), ...asked],
    `--l1-block-hash: ${HEX_32}, found an odd number of digits`,
  ],
  [
    'a file that is missing',
    () => ['verify', 'nothere.json'],
    'rollup-state-proof: cannot read nothere.json: no such file or directory\n$',
  ],
  [
    'an address for a file of addresses',
    () => ['snapshot', address, '-o', 'rows.csv'],
    'expected a file with one address per line; for one address, use the command record',
  ],
  [
    'options of a bundle for an answer',
    ({ answer }) => ['verify', answer, '--l1-block-hash', stateRoot],
    'is an answer alone: leave out --l1-block-hash. It needs --state-root and --address',
  ],
  ['no L1 endpoint', () => ['record', 'state', ...asked], '--l1 is needed: the URL of an endpoint; or set L1_URL'],
  [
    'no L2 endpoint',
    () => ['record', 'state', '--l1', 'http://127.0.0.1:1', ...asked],
    '--l2 is needed: the URL of an endpoint; or set L2_URL',
  ],
  [
    'no beacon API',
    () => ['record', 'state', ...NOWHERE, '--checkpoint', stateRoot, ...['--address', address, '-o', 'never-written']],
    '--beacon is needed: the URL of an endpoint; or set BEACON_URL',
  ],
  [
    'an L1_URL that is empty',
    () => ['record', 'state', ...asked],
    '--l1 is needed: the URL of an endpoint; or set L1_URL, which is empty',
    { L1_URL: '' },
  ],
  [
    'the value of a variable that is not set',
    () => ['record', 'state', '--l1', '', ...asked],
    '--l1 is empty: is a variable of your shell not set?',
  ],
  [
    'a variable that is not set, without quotes',
    () => ['record', 'state', '--l1', '--l2', 'http://127.0.0.1:1', ...asked],
    '--l1 needs a value, but an option follows: --l2',
  ],
  ...['verify', 'inspect', 'audit', 'diff', 'snapshot'].map(
    (command): Mistake => [
      `a URL for a file of ${command}`,
      () => [command, 'https://example.org/key/file.json'],
      'rollup-state-proof: expected a file, not a URL: download it, or pass - and pipe it',
    ],
  ),
  [
    'several records for verify',
    ({ many }) => ['verify', many],
    'is one JSON text per line: the command audit reads such files of answers or evidence of state, diff those of traces',
  ],
  [
    'the evidence of rows for verify',
    ({ 'rows.csv.evidence.ndjson': rows }) => ['verify', rows, ...root],
    'is the evidence of rows: check it with --check of the command that wrote them\n',
  ],
  [
    'evidence for a transition, and nothing that is trusted',
    ({ bundle }) => ['diff', bundle, '--parent-evidence', bundle],
    'state what you trust, with exactly one of --checkpoint and --l1-block-hash\n',
  ],
  [
    'an answer for the evidence of a transition',
    ({ answer, bundle }) => ['diff', bundle, '--parent-evidence', answer, '--l1-block-hash', stateRoot],
    'is no evidence, as `record state` writes it\n',
  ],
  ['a list for inspect', ({ list }) => ['inspect', list], '/list: it is not a JSON object\n'],
  ['evidence of no kind for verify', ({ odd }) => ['verify', odd], '/odd: it is evidence of an unknown kind: odd\n'],
  [
    'a network for an audit, and nothing that is trusted',
    ({ bundle }) => ['audit', bundle, '--network', 'linea'],
    'state what you trust, with exactly one of --l1-block-hash, --l1-state-root and --state-root\n',
  ],
  [
    'a message, and nothing that is trusted',
    ({ message }) => ['verify', message],
    'state what you trust, with exactly one of --checkpoint, --l1-block-hash and --l1-state-root\n',
  ],
  [
    'UTF-16 without a mark',
    ({ unmarked }) => ['verify', unmarked],
    'is UTF-16 without a byte order mark: save it as UTF-8',
  ],
  ['a packed file that is cut off', ({ torn }) => ['verify', torn], 'unexpected end of file'],
  ['a packed file that is too large', ({ bomb }) => ['verify', bomb], 'is larger than 16 MiB'],
  [
    'a negative number',
    () => ['record', 'logs', '--from-block', '-100', ...asked],
    '--from-block: expected a number that is not negative, found -100\n',
  ],
  ...['NaN', '1e3', '1.5', '-1', 'latest', '18446744073709551616'].map(
    (number): Mistake => [
      `the block number '${number}'`,
      () => ['record', 'logs', `--from-block=${number}`, ...asked],
      `--from-block: expected a number below 2^64, found ${number.length > 19 ? 'a larger one' : `${number}: write it in digits only`}\n`,
    ],
  ),
  ...['NaN', '1e3', '0', '99999999999'].map(
    (number): Mistake => [
      `the time '${number}'`,
      () => ['record', 'state', '--timeout', number, '--l1', 'http://127.0.0.1:1', ...asked],
      `--timeout: expected 1 to 86400, found ${number}\n`,
    ],
  ),
  [
    'an option with one dash',
    () => ['verify', 'a.json', '-address'],
    'no such option: -address. Did you mean --address?',
  ],
  ['an option with an underscore', () => ['verify', 'a', '--state_root=1'], '--state_root. Did you mean --state-root?'],
  ['an option without its value', () => ['verify', 'a', '--state-root'], '--state-root needs a value\n'],
  ['a value for an option that takes none', () => ['verify', 'a', '--json=yes'], '--json takes no value'],
  ['an empty number', () => ['record', 'logs', '--from-block=', ...asked], '--from-block is empty: is a variable of'],
  [
    'an empty hash',
    ({ bundle }) => ['verify', bundle, '--l1-block-hash', ''],
    '--l1-block-hash is empty: is a variable of your shell not set?',
  ],
  [
    'a storage key of 87 digits',
    () => ['record', 'state', '--storage-key', '9'.repeat(87), ...asked],
    '--storage-key: it is too large: keys are below 2^256: 999',
  ],
  [
    'each for one account',
    () => ['record', 'state', '--mapping', '0', 'each', ...asked],
    '--mapping KEY: expected 0, 0x0 or 32 bytes of hexadecimal after 0x: each',
  ],
  [
    'a URL without its scheme',
    () => ['record', 'state', '--l1', '127.0.0.1:1/l1', ...asked],
    '--l1: a URL that is neither http nor https: it has to begin with http: or https:',
  ],
  [
    'data of a call without 0x',
    () => ['record', 'call', '--call', address, '70a08231'],
    '--call: expected hexadecimal data after the address, with 0x before it',
  ],
  [
    'too little gas',
    () => ['record', 'call', '--call', address, '0x', '--gas', '1000', ...asked.slice(0, 2)],
    '--gas: expected 21000 to 50000000, found 1000',
  ],
  [
    'a quorum of one',
    () => ['proxy', ...NOWHERE, '--l1-agree', 'http://127.0.0.1:2', '--quorum', '2'],
    '--quorum: expected at most 1, the number of --l1-agree endpoints, found 2',
  ],
  [
    'a misspelt method',
    () => ['proxy', ...NOWHERE, '--forward', 'wallett'],
    '--forward: no such method: wallett. Did you mean wallet?',
  ],
  [
    'an origin without its scheme',
    () => ['proxy', ...NOWHERE, '--allow-origin', 'example.com'],
    'expected an origin, with its scheme (http, https, or that of an extension) and without a path; or *\n',
  ],
  ['a word too many', () => ['record', 'state', 'a.json'], 'unexpected word: a.json'],
]

const text = JSON.stringify(answer)
/** Each is written for the test that reads it. */
const contents = {
  ...{ answer, bundle, many: `${text}\n${text}\n`, unmarked: Buffer.from(text, 'utf16le') },
  'rows.csv.evidence.ndjson': `${text}\n${text}\n`,
  list: [],
  odd: { format: 'rollup-state-proof/evidence', version: 1, kind: 'odd' },
  message: { format: 'rollup-state-proof/evidence', version: 1, kind: 'message' },
  ...{ torn: gzipSync(text).subarray(0, -9), bomb: gzipSync(Buffer.alloc(2 ** 24 + 1, ' ')) },
}
type Files = { readonly [Name in keyof typeof contents]: string }

it.each(onTheCommandLine)('on the command line: %s', async (_, args, message, variables = {}) => {
  for (const name of ['L1_URL', 'L2_URL', 'BEACON_URL']) vi.stubEnv(name, variables[name])
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = folderOf(contents)
  // One file per name.
  const files = Object.fromEntries(Object.keys(contents).map(name => [name, join(folder, name)])) as Files
  const { code, stderr } = await runHere(args(files))
  // A message that ends here is all that is printed.
  const isWhole = message.endsWith('$')
  expect(isWhole ? `${stderr}$` : stderr).toContain(message)
  expect(code).toBe(2)
})

it('on the command line: files as other programs write them', async () => {
  const trace = readFileSync('vectors/transitions/valid/poseidon2-history.json', 'utf8')
  const { input } = JSON.parse(trace)
  const [parent, end] = ['--parent-root', '--state-root']
  const plain: Record<string, [content: string, args: (path: string) => string[]]> = {
    verify: [text, path => ['verify', path, ...root]],
    inspect: [text, path => ['inspect', path]],
    audit: [contents.many, path => ['audit', path, '--jobs', '1', ...root]],
    diff: [
      `${JSON.stringify(input.answer)}\n`,
      path => ['diff', path, parent, input.parentStateRoot, end, input.stateRoot],
    ],
    network: [JSON.stringify({ rollup }), path => ['verify', fileOf(bundle), '--network', path, ...root]],
    snapshot: [`${address}\n`, path => ['snapshot', path, '-o', 'never-written', '--l1', 'http://127.0.0.1:1']],
  }
  const encodings: Record<string, (content: string) => Uint8Array> = {
    'UTF-8 with a mark': content => Buffer.from(`\ufeff${content}`),
    'UTF-16, as PowerShell writes it': content => Buffer.from(`\ufeff${content}`, 'utf16le'),
    'UTF-16, the other way round': content => Buffer.from(`\ufeff${content}`, 'utf16le').swap16(),
    gzip: content => gzipSync(content),
    'gzip of UTF-16': content => gzipSync(Buffer.from(`\ufeff${content}`, 'utf16le')),
  }
  let count = 0
  for (const [command, [content, args]] of Object.entries(plain)) {
    const path = fileOf(content)
    const seen = await runHere(args(path))
    expect([command, seen.code]).toEqual([command, { snapshot: 2 }[command] ?? 0])
    for (const [encoding, encode] of Object.entries(encodings)) {
      // A network is a few lines, which nobody packs.
      if (command === 'network' && encoding.includes('gzip')) continue
      writeFileSync(path, encode(content))
      const { code, stdout } = await runHere(args(path))
      expect({ code, stdout }, `${command}: ${encoding}`).toEqual({ code: seen.code, stdout: seen.stdout })
      count++
    }
  }
  expect(count).toBe(28)
})

it('on the command line: an indented file for an audit', async () => {
  const { code, stderr } = await runHere(['audit', '--jobs', '1', fileOf(JSON.stringify(bundle, null, 2))])
  expect(code).toBe(1)
  expect(stderr).toContain('Note: an audit reads one record per line. To write a JSON file as one line: jq -c . FILE\n')
})

it('on the page: names the field that is wrong', () => {
  const opened = openFile(answer)
  const judged = (wrong: Parameters<typeof statementFrom>[0]) =>
    judge(opened, statementFrom({ ...opened.suggested, trusted: { value: stateRoot, source: 'user' }, ...wrong }))
      .report
  const cases: [Parameters<typeof statementFrom>[0], object][] = [
    [{ address: { value: 'aa'.repeat(20), source: 'user' } }, { field: 'address', message: 'no 0x in front' }],
    [{ trusted: { value: address, source: 'user' } }, { field: 'trusted', message: '40 digits instead of 64' }],
  ]
  for (const [wrong, error] of cases) {
    expect(judged(wrong)).toMatchObject({
      inputErrors: [error],
      text: expect.stringContaining('Nothing was verified.'),
    })
  }
  expect(judged({}).verdict).toBe('verified')
})

it('takes no file for a network whose name somebody means', async () => {
  const folder = folderOf({ mainnet: { rollup: { address: rollup.address } } })
  const start = process.cwd()
  process.chdir(folder)
  onTestFinished(() => process.chdir(start))
  const args = ['verify', fileOf(bundle), ...root, '--address', address]
  expect(await runHere([...args, '--network', 'mainnet'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('no such network: mainnet. Did you mean linea?') },
  })
  expect(await runHere([...args, '--network', './mainnet'])).toMatchObject({ code: 0 })
})

it('knows the networks by their names alone', async () => {
  const file = fileOf(bundle)
  for (const name of ['ethereum', 'Linea', 'hoodi', 'toString']) {
    const { code, stderr } = await runHere(['verify', file, ...root, '--network', name])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--network: no such network`)])
  }
  for (const named of [[], ['--network', 'linea'], ['--network', 'linea-sepolia']]) {
    const { code, stdout } = await runHere(['verify', file, ...root, '--l2-block', '9', ...named])
    expect([code, stdout], named.join()).toEqual([1, expect.stringContaining('EVIDENCE_ROLLUP_MISMATCH')])
  }
})

it('finds the scheme by the form of the answer, and says so', async () => {
  for (const scheme of [mimc, poseidon2]) {
    const sample = sampleOf(scheme)
    const rest = flagsOf(sample)
    const file = fileOf(sample.result)
    const report = await runHere(['verify', file, ...rest])
    expect([report.code, report.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`scheme +${scheme.name} +found by the form of the answer`)),
    ])
    const { stdout } = await runHere(['verify', file, ...rest, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ scheme: scheme.name, sources: { scheme: 'lengths' } })
  }
  const claim = [...networkOf(rollup.address), ...root, '--address', address]
  const { stdout } = await runHere(['verify', fileOf(bundle), ...claim])
  expect(stdout).toMatch(/scheme +poseidon2 +found by the form of the answer/)
  const json = await runHere(['verify', fileOf(bundle), ...claim, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'verified', sources: { scheme: 'lengths' } })
  // Under the other scheme, the same nodes lead nowhere, and the bundle says what it is for.
  const swapped = { ...bundle, scheme: 'mimc' }
  const refused = await runHere(['verify', fileOf(swapped), ...claim])
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('EVIDENCE_SCHEME_MISMATCH')])
})

it('on the command line: endpoints of another chain', async () => {
  const of = (chainId: string) => serving(method => (method === 'eth_chainId' ? chainId : undefined))
  const [l1, l2, sepolia, lineaSepolia, other] = await Promise.all(
    ['0x1', '0xe708', '0xaa36a7', '0xe705', '0x64'].map(of),
  )
  const record = (...urls: (string | undefined)[]) => {
    const flags = urls.map(url => url ?? '')
    return runHere(['record', 'state', ...flags, '--address', address, '-o', 'never-written'])
  }
  const [ethereum, linea] = ['Ethereum mainnet (chain 1)', 'linea (chain 59144)']
  const cases: [(string | undefined)[], string][] = [
    [
      ['--l1', l2, '--l2', l1],
      `--l1 serves ${linea}, but must serve ${ethereum}. --l2 serves ${ethereum}, but must serve ${linea}.`,
    ],
    [['--l1', l1, '--l2', l1], `--l2 serves ${ethereum}, but must serve ${linea}.`],
    [['--l1', l2, '--l2', l2], `--l1 serves ${linea}, but must serve ${ethereum}.`],
    [
      ['--l1', sepolia, '--l2', l2],
      `--l1 serves Ethereum sepolia (chain 11155111), but must serve ${ethereum}. For that network, pass --network linea-sepolia.`,
    ],
    [
      ['--l1', l1, '--l2', lineaSepolia],
      `--l2 serves linea-sepolia (chain 59141), but must serve ${linea}. For that network, pass --network linea-sepolia.`,
    ],
    [['--l1', l1, '--l1', other, '--l2', l2], `--l1 serves chain 100, but must serve ${ethereum}.`],
    [
      ['--l1', other, '--l2', other],
      `--l1 serves chain 100, but must serve ${ethereum}. --l2 serves chain 100, but must serve ${linea}.`,
    ],
  ]
  for (const [urls, message] of cases) {
    const { code, stderr } = await record(...urls)
    expect([code, stderr]).toEqual([3, expect.stringContaining(`\n${message}\n`)])
    const json = await record(...urls, '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ fetched: false, hint: message })
  }
  const { stderr } = await record('--l1', l1, '--l2', l2)
  expect(stderr).toContain('METHOD_UNKNOWN')
  expect(stderr).not.toContain('rollup.method')
  expect(stderr).not.toContain('must serve')
})

/** A server of JSON-RPC. */
async function serving(answerTo: (method: string) => unknown): Promise<string> {
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse((await request.toArray()).join(''))
    const result = answerTo(method)
    response.end(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        ...(result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result }),
      }),
    )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function errorOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

it('refuses an address with the checksum of another, wherever a person writes one', async () => {
  const right = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  const misspelt = right.replace('5aAe', '5aAd')
  const hash = `0x${'00'.repeat(32)}`
  const list = join(folderOf({}), 'addresses.txt')
  writeFileSync(list, `${right}\n${right.toLowerCase()}\n# the last is wrong\n${misspelt}\n`)
  const snapshot = ['snapshot', list, ...NOWHERE, '-o', `${list}.csv`]
  const calls: [place: string, args: string[]][] = [
    ['--address', ['verify', fileOf(answer), '--state-root', hash, '--address', misspelt]],
    ['--mapping', ['verify', fileOf(answer), '--state-root', hash, '--mapping', '1', misspelt]],
    ['--implementation', ['verify', fileOf(bundle), '--l1-block-hash', hash, '--implementation', misspelt]],
    ['addresses.txt, line 4', [...snapshot, '--l1-block-hash', hash]],
  ]
  for (const [place, args] of calls) {
    const { code, stderr } = await runHere(args)
    const error = expect.stringMatching(`${place}: the checksum of this address is wrong, from digit \\d+ of 40 on`)
    expect([code, stderr], place).toEqual([2, error])
  }
  for (const spelt of [right, misspelt.toLowerCase()]) {
    const args = ['verify', fileOf(answer), '--state-root', stateRoot, '--address', spelt]
    expect((await runHere(args)).stderr).not.toContain('checksum')
  }
})
