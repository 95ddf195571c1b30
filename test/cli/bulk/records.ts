import { gzipSync } from 'node:zlib'
import { createWorld } from '../../../src/devnet/index.ts'
import { type Hex, type Scheme, safely, verifyProof } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'

/** A line of input and its expected verdict: `present`, `absent`, `refused CODE` or `unreadable: REASON`. */
export interface RecordLine {
  readonly line: Buffer
  readonly kind: string
}

const schemes = { mimc, poseidon2 }
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const addressOf = (value: number): Hex => `0x${value.toString(16).padStart(40, '0')}`

/** Recordings of present and absent accounts, with and without slots. */
function recordingsOf(scheme: Scheme, count: number) {
  const world = createWorld(scheme)
  for (let index = 0; index < count; index += 2) {
    world.setAccount(addressOf(index), { nonce: BigInt(index), balance: 10n ** 18n + BigInt(index) })
    if (index % 8 === 0) world.setStorage(addressOf(index), { key: word(1), value: word(index + 1) })
  }
  const stateRoot = world.stateRoot()
  return Array.from({ length: count }, (_, index) => {
    const storageKeys = index % 8 === 0 ? [word(1), word(2)] : []
    const address = addressOf(index)
    return { scheme: scheme.name, stateRoot, address, storageKeys, result: world.getProof(address, storageKeys) }
  })
}

type Recording = ReturnType<typeof recordingsOf>[number]

/** The verifier's own verdict on a recording. */
function kindOf({ scheme, stateRoot, address, storageKeys, result }: Recording): string {
  const outcome = safely(() => verifyProof(result, { scheme: schemes[scheme], stateRoot, address, storageKeys }))
  if (!outcome.ok) return `refused ${outcome.error.code}`
  return outcome.value.account === null ? 'absent' : 'present'
}

/** Changes one hexadecimal digit in the answer. */
function forge(recording: Recording, at: number): Recording {
  const text = JSON.stringify(recording.result)
  for (let index = at % text.length; ; index = (index + 1) % text.length) {
    const digit = text[index] ?? ''
    if (!/[1-9]/.test(digit) || !/[0-9a-f]{8}/.test(text.slice(index - 8, index))) continue
    const forged = `${text.slice(0, index)}${digit === '1' ? '2' : '1'}${text.slice(index + 1)}`
    return { ...recording, result: JSON.parse(forged) }
  }
}

const UNREADABLE: readonly (readonly [string | Uint8Array, string])[] = [
  ['', 'empty'],
  ['   ', 'empty'],
  ['{"scheme":"mimc",', 'not JSON'],
  ['no JSON at all', 'not JSON'],
  [Uint8Array.of(0x22, 0xff, 0xfe, 0x22), 'not UTF-8'],
  ['[]', 'not a record'],
  ['null', 'not a record'],
  ['17', 'not a record'],
  ['{"zkStateMerkleProof":[]}', 'traces of the state manager: use the command diff'],
  ['{"jsonrpc":"2.0","result":{"zkStateMerkleProof":[]}}', 'traces of the state manager: use the command diff'],
  ['{"result":', 'not JSON'],
  ['{"scheme":"mimc"}', 'it has a scheme, but neither an answer nor a result'],
  [
    '{"scheme":"sha256","stateRoot":"0x","address":"0x","result":{}}',
    'the scheme is neither mimc nor poseidon2 nor ethereum',
  ],
  ['{"accountProof":{}}', 'an answer of no known form, such as an error'],
  ['{"operation":"verifyCode"}', 'not a record: it holds no proof'],
  [
    '{"format":"rollup-state-proof/evidence","kind":"state"}',
    'an evidence bundle: state what you trust, with --l1-block-hash (`verify --checkpoint` prints it), --l1-state-root or --state-root',
  ],
  ['['.repeat(200_000), 'nested more than 64 levels deep'],
]

const WRONG: readonly unknown[] = [
  null,
  [],
  'text',
  {},
  { accountProof: [], storageProofs: [] },
  { accountProof: { key: `0x${'00'.repeat(20)}`, proof: {} }, storageProofs: [] },
]

/** The maximum length of a line, as with `--max-line 1`. */
const MAX_LINE = 2 ** 20

/**
 * A mixture of lines that depends only on the seed: first every unreadable line, then random lines. Good records repeat;
 * forged ones rarely do.
 */
export function* mixedLines(count: number, seed = 1): Generator<RecordLine> {
  const recordings = [...recordingsOf(mimc, 16), ...recordingsOf(poseidon2, 64)]
  const good = recordings.map(recording => ({ line: Buffer.from(JSON.stringify(recording)), kind: kindOf(recording) }))
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const pick = <T>(items: readonly T[]): T => {
    const item = items[random(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  const unreadable = UNREADABLE.map(([text, reason]) => ({ line: Buffer.from(text), kind: `unreadable: ${reason}` }))
  const tooLong = () => ({
    line: Buffer.alloc(MAX_LINE + 1 + random(2 ** 20), '{"a":'),
    kind: 'unreadable: longer than a record may be',
  })
  yield* [...unreadable, tooLong()]
  for (let index = unreadable.length + 1; index < count; index++) {
    const turn = random(100)
    if (turn >= 8) yield pick(good)
    else if (turn >= 4) {
      const forged = forge(pick(recordings), random(2 ** 20))
      yield { line: Buffer.from(JSON.stringify(forged)), kind: kindOf(forged) }
    } else if (turn === 3) {
      const wrong = { ...pick(recordings), result: pick(WRONG) as Recording['result'] }
      yield { line: Buffer.from(JSON.stringify(wrong)), kind: kindOf(wrong) }
    } else yield turn >= 1 || random(20) > 0 ? pick(unreadable) : tooLong()
  }
}

export const joinLines = (lines: readonly RecordLine[]): Buffer =>
  Buffer.concat(lines.flatMap(({ line }, index) => [line, Buffer.from(index % 5 === 0 ? '\r\n' : '\n')]))

/** Gzip with several members, as from appending to a file. */
export const gzipMembers = (bytes: Buffer, members = 3): Buffer => {
  const length = Math.ceil(bytes.length / members)
  const parts = Array.from({ length: members }, (_, index) => bytes.subarray(index * length, (index + 1) * length))
  return Buffer.concat(parts.map(part => gzipSync(part, { level: 1 })))
}
