import { expect, it } from 'vitest'
import { trustBeaconBlock, verifyBootstrap, verifyConsensus, verifyFinality } from '../../../src/entry/beacon.ts'
import { decodeBootstrap, decodeFinality, decodeUpdate } from '../../../src/verify/beacon/decode.ts'
import { decodeNetwork } from '../../../src/verify/beacon/network.ts'
import { refusal, verdict } from '../../refusal.ts'
import { readValid, trustedIn } from './vectors.ts'

type Part = Record<string, unknown>

function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  return proxy
}

const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new Error('trap')
    },
    getOwnPropertyDescriptor: () => {
      throw new Error('trap')
    },
  },
)

/** Values to put in place of others. */
const HOSTILE: readonly (readonly [name: string, value: unknown])[] = [
  ['nothing', null],
  ['a boolean', true],
  ['a number', 7],
  ['not a number', Number.NaN],
  ['a bigint', 7n],
  ['a symbol', Symbol('x')],
  ['a function', () => '7'],
  ['an empty text', ''],
  ['an empty hexadecimal', '0x'],
  ['a sign', '-1'],
  ['a plus', '+1'],
  ['a leading zero', '01'],
  ['an exponent', '1e3'],
  ['a fraction', '7.0'],
  ['a space', ' 7'],
  ['a line', '7\n'],
  ['an underscore', '1_0'],
  ['2^256', `${2n ** 256n}`],
  ['digits of another script', '٧'],
  ['wide digits', '７'],
  ['wide hexadecimal', `0x${'０'.repeat(64)}`],
  ['an upper-case prefix', `0X${'00'.repeat(32)}`],
  ['a huge text', '9'.repeat(2 ** 24)],
  ['a huge hexadecimal', `0x${'00'.repeat(2 ** 23)}`],
  ['a nested array', nested(10 ** 5)],
  ['an array of nothing', Array(2 ** 32 - 1)],
  ['an object that counts', { length: 2 ** 32 }],
  ['a text in an object', new String('7')],
  ['a converting object', { toString: () => '7', valueOf: () => 7, toJSON: () => '7' }],
  ['a proxy that throws', throwing],
  ['a revoked proxy', revoked()],
]

/** The path of every place. Of a list, only the first item. */
function placesIn(holder: Part, path: readonly string[] = []): string[][] {
  return Object.entries(holder).flatMap(([name, value]) => {
    if (Array.isArray(holder) && name !== '0') return []
    const here = [...path, name]
    return [here, ...(typeof value === 'object' && value !== null ? placesIn(value as Part, here) : [])]
  })
}

/** A copy of `source` with the value at the path replaced. */
function replaced(source: unknown, [name = '', ...rest]: readonly string[], value: unknown): unknown {
  const copy = (Array.isArray(source) ? [...source] : { ...(source as Part) }) as Part
  copy[name] = rest.length === 0 ? value : replaced(copy[name], rest, value)
  return copy
}

for (const fork of ['electra', 'gloas']) {
  it(`refuses any value in place of a part with its own error: ${fork}`, () => {
    const { input } = readValid(fork)
    const { bootstrap, updates, finality } = input.answers
    const network = decodeNetwork(input.network)
    let [places, refused] = [0, 0]
    const documents: [unknown, (source: unknown) => unknown][] = [[finality, source => decodeFinality(source, network)]]
    // The forks differ only in their headers.
    if (fork === 'gloas') {
      documents.push([bootstrap, source => decodeBootstrap(source, network)])
      documents.push([(updates as unknown[])[0], source => decodeUpdate(source, network)])
    }
    for (const [document, decode] of documents) {
      for (const path of placesIn(document as Part)) {
        // `version` may be missing, and `extra_data` may be `0x`.
        if (/^(version|extra_data)$/.test(path.at(-1) ?? '')) continue
        places++
        for (const [name, value] of HOSTILE) {
          const message = `${path.join('.')}: ${name}`
          const found = verdict(() => decode(replaced(document, path, value)))
          expect(found, message).toMatch(/^(BEACON_|BAD_HEX|WRONG_LENGTH)/)
          refused++
        }
      }
    }
    expect(places).toBeGreaterThan(fork === 'gloas' ? 50 : 40)
    expect(refused).toBe(places * HOSTILE.length)
  })
}

it('reads 32 bytes of extra data, and none of more', () => {
  const { input } = readValid('electra')
  const { network: stated, answers } = input
  const network = decodeNetwork(stated)
  const withExtra = (length: number) => {
    const path = ['data', 'finalized_header', 'execution', 'extra_data']
    return verdict(() => decodeFinality(replaced(answers.finality, path, `0x${'00'.repeat(length)}`), network))
  }
  expect([0, 32, 33].map(withExtra).map(found => /^\w+/.exec(`${found}`)?.[0])).toEqual([
    ...['accepted', 'accepted', 'WRONG_LENGTH'],
  ])
})

it('refuses any value in place of an argument', () => {
  const { input } = readValid('gloas')
  const { network, blockRoot, committee } = input
  const { bootstrap, finality } = input.answers
  let refused = 0
  const expectInvalid = (work: () => unknown, message: string) => {
    expect(refusal(work).code, message).toBe('ARGUMENT_INVALID')
    refused++
  }
  const values = HOSTILE.filter(([name]) => name !== 'an upper-case prefix')
  for (const [name, value] of values) {
    const odd = value as never
    expectInvalid(() => verifyBootstrap(bootstrap, { network, blockRoot: odd }), name)
    expectInvalid(() => verifyBootstrap(bootstrap, { network: odd, blockRoot }), name)
    expectInvalid(() => verifyBootstrap(bootstrap, odd), name)
    expectInvalid(() => trustBeaconBlock({ blockRoot, network: { ...network, forks: odd } }), name)
    expectInvalid(() => trustBeaconBlock({ blockRoot, network: { ...network, genesisValidatorsRoot: odd } }), name)
    expectInvalid(() => verifyFinality(finality, odd), name)
    expectInvalid(() => verifyFinality(finality, { ...committee, root: odd }), name)
    const malformed = refusal(() => verifyConsensus({ bootstrap, updates: odd }, trustedIn(input))).code
    expect(malformed, name).toMatch(/^BEACON_(MALFORMED|TOO_MANY_UPDATES)$/)
    const keys = refusal(() => verifyFinality(finality, { ...committee, pubkeys: odd })).code
    expect(keys, name).toMatch(/^(ARGUMENT_INVALID|BEACON_COMMITTEE_SIZE|BEACON_MALFORMED)$/)
  }
  expect(refused).toBe(7 * values.length)
})

it('treats upper-case and lower-case hexadecimal alike', () => {
  const { input } = readValid('gloas')
  const upper = JSON.parse(JSON.stringify(input), (_, value) =>
    typeof value === 'string' && value.startsWith('0x') ? `0x${value.slice(2).toUpperCase()}` : value,
  ) as typeof input
  expect(verdict(() => verifyBootstrap(upper.answers.bootstrap, trustedIn(upper)))).toBe('accepted')
  expect(verifyFinality(upper.answers.finality, upper.committee)).toEqual(
    verifyFinality(input.answers.finality, input.committee),
  )
})
