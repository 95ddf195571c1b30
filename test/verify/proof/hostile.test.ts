import { describe, expect, it } from 'vitest'
import { hexToBytes } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import {
  type Claim,
  createVerifier,
  ProofError,
  type ProofErrorCode,
  safely,
  verifyProof,
} from '../../../src/entry/index.ts'
import { decodeLeafIndex } from '../../../src/verify/proof/decode.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { createScheme } from '../../../src/verify/scheme/scheme.ts'
import { hashStorageValue } from '../../../src/verify/verifier/leaf-api.ts'
import type { LooseAnswer, LooseLeafProof } from '../../../vectors/forge.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'
import { verdict } from '../../refusal.ts'

// Answers that JSON cannot express. A caller with another parser still gets a ProofError or the truth.

const address = addressFor('contract')
const storageKeys = [keyFor(1), keyFor(2)]
const world = createWorld(poseidon2)
world.setAccount(address, { balance: 5n })
world.setStorage(address, { key: keyFor(1), value: wordFor(1) })
const claim = { scheme: poseidon2, stateRoot: world.stateRoot(), address, storageKeys } satisfies Claim

/** A copy of the true answer, as a forger sees it. */
const makeAnswer = (): LooseAnswer => structuredClone(world.getProof(address, storageKeys)) as unknown as LooseAnswer
const truth = verifyProof(makeAnswer(), claim)

/** The refusal of an answer: `CODE at path`. */
const refusal = (answer: unknown): string => refusalBy(answer, claim)
const refusalBy = (answer: unknown, claim: unknown): string => verdict(() => verifyProof(answer, claim as Claim))

const fail = (): never => {
  throw new Error('a trap')
}

/** Each place in an answer with an object or array: its path, and a function that replaces the value. */
const places: [path: string, replace: (change: (original: object) => unknown) => unknown][] = [
  ['', change => change(makeAnswer())],
  ['accountProof', change => inside(answer => ({ ...answer, accountProof: change(answer.accountProof) }))],
  [
    'accountProof.proof',
    change => inside(answer => withAccountProof(answer, proof => ({ ...proof, proof: change(proof.proof) }))),
  ],
  [
    'accountProof.proof.proofRelatedNodes',
    change =>
      inside(answer =>
        withAccountProof(answer, leafProof => {
          const { value, proofRelatedNodes } = leafProof.proof
          return { ...leafProof, proof: { value, proofRelatedNodes: change(proofRelatedNodes) } }
        }),
      ),
  ],
  ['storageProofs', change => inside(answer => ({ ...answer, storageProofs: change(answer.storageProofs) }))],
  [
    'storageProofs[1]',
    change =>
      inside(answer => ({
        ...answer,
        storageProofs: answer.storageProofs.map((proof, index) => (index === 1 ? change(proof) : proof)),
      })),
  ],
]

function inside(change: (answer: LooseAnswer) => unknown): unknown {
  return change(makeAnswer())
}

const withAccountProof = (answer: LooseAnswer, change: (leafProof: LooseLeafProof) => unknown) => ({
  ...answer,
  accountProof: change(answer.accountProof),
})

it('accepts the true answer through every replace function', () => {
  expect(places.length).toBe(6)
  for (const [, replace] of places)
    expect(
      verifyProof(
        replace(original => original),
        claim,
      ),
    ).toEqual(truth)
})

it.each(places)('refuses an unreadable object as malformed: %s', (path, replace) => {
  const malformed = path === '' ? 'MALFORMED_RESPONSE' : `MALFORMED_RESPONSE at ${path}`
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  expect(refusal(replace(() => proxy))).toBe(malformed)
  const thrown = [
    new Error(''),
    null,
    undefined,
    new ProofError('ANSWER_IS_ERROR'),
    Object.create(ProofError.prototype),
  ]
  for (const error of thrown) {
    const getOwnPropertyDescriptor = () => {
      throw error
    }
    const refused = refusal(replace(original => new Proxy(original, { getOwnPropertyDescriptor })))
    expect(refused.replace(/\[0\]$/, '')).toBe(malformed)
  }
  const get = fail
  expect(refusal(replace(original => new Proxy(original, { get })))).toBe(malformed)
  // Code in the answer that recurses endlessly.
  const recurse = (): unknown => recurse()
  expect(refusal(replace(original => new Proxy(original, { get: recurse })))).toBe(malformed)
})

it.each(places)('triggers no traps that it does not need: %s', (_, replace) => {
  const traps = ['has', 'ownKeys', 'getPrototypeOf', 'isExtensible', 'apply', 'construct', 'set', 'defineProperty']
  const handler = Object.fromEntries(traps.map(trap => [trap, fail]))
  expect(
    verifyProof(
      replace(original => new Proxy(original, handler)),
      claim,
    ),
  ).toEqual(truth)
})

it.each(places)('reads no property twice: %s', (_, replace) => {
  const reads: PropertyKey[] = []
  const get = (target: object, name: PropertyKey): unknown => {
    reads.push(name)
    return Reflect.get(target, name)
  }
  expect(
    verifyProof(
      replace(original => new Proxy(original, { get })),
      claim,
    ),
  ).toEqual(truth)
  expect(reads.length).toBeGreaterThan(1)
  expect(new Set(reads).size).toBe(reads.length)
})

it.each(places)('reads own properties only: %s', (path, replace) => {
  if (path === '') expect(refusal(Object.create(makeAnswer()))).toBe('MALFORMED_RESPONSE at accountProof')
  const bare = (original: object) => Object.assign(Object.create(null), original)
  const instance = (original: object) => Object.assign(new (class Answer {})(), original)
  const isList = Array.isArray(replace(original => original)) || /(Nodes|Proofs)$/.test(path)
  for (const make of [bare, instance]) {
    if (isList) expect(refusal(replace(make))).toBe(`MALFORMED_RESPONSE at ${path}`)
    else expect(verifyProof(replace(make), claim)).toEqual(truth)
  }
  const heir = refusal(replace(original => Object.create(original)))
  expect(heir).toMatch(/^MALFORMED_RESPONSE( at |$)/)
})

it('calls a getter only once', () => {
  let asked = 0
  const answer = {
    get accountProof() {
      return asked++ === 0 ? makeAnswer().accountProof : fail()
    },
    storageProofs: makeAnswer().storageProofs,
  }
  expect(verifyProof(answer, claim)).toEqual(truth)
  expect(asked).toBe(1)
})

describe('a polluted Object.prototype', () => {
  /** Runs `work` with inherited fields on every object and array of the program. */
  function polluted(fields: object, work: () => void, prototype: object = Object.prototype): void {
    for (const [name, value] of Object.entries(fields)) {
      Object.defineProperty(prototype, name, { value, configurable: true, writable: true })
    }
    try {
      work()
    } finally {
      for (const name of Object.keys(fields)) Reflect.deleteProperty(prototype, name)
    }
  }

  it('does not fill in what an answer leaves out', () => {
    const { accountProof, storageProofs } = makeAnswer()
    polluted({ accountProof, storageProofs }, () => {
      expect(refusal({})).toBe('MALFORMED_RESPONSE at accountProof')
      expect(refusal({ accountProof })).toBe('MALFORMED_RESPONSE at storageProofs')
    })
    polluted({ leafIndex: 2, proof: accountProof.proof, key: address }, () => {
      expect(refusal({ accountProof: {}, storageProofs })).toBe('MALFORMED_RESPONSE at accountProof')
      const { key: _, ...noKey } = accountProof
      expect(refusal({ accountProof: noKey, storageProofs })).toBe('MALFORMED_RESPONSE at accountProof.key')
    })
    polluted({ result: makeAnswer() }, () => {
      expect(refusal({ jsonrpc: '2.0', id: 1 })).toBe('MALFORMED_RESPONSE')
    })
    polluted({ 1: storageProofs[1] }, () => {
      const holey = Object.assign([storageProofs[0]], { length: 2 })
      expect(refusal({ accountProof, storageProofs: holey })).toBe('MALFORMED_RESPONSE at storageProofs[1]')
    })
  })

  it('does not spoil a true answer', () => {
    const spoilers = { jsonrpc: '2.0', error: 'no', result: {}, rightProof: {}, leftLeafIndex: 0, storageHash: '0x' }
    const answer = makeAnswer()
    polluted(spoilers, () => {
      expect(verifyProof(answer, claim)).toEqual(truth)
    })
  })

  it('is not used as the memory of a verifier', () => {
    const { stateRoot } = claim
    const lie = wordFor(666)
    const answer = makeAnswer()
    const [first] = answer.storageProofs
    Object.assign(first?.proof ?? {}, { value: lie })
    const path = 'storageProofs[0].proof.value'
    expect(refusal(answer)).toBe(`VALUE_MISMATCH at ${path}`)
    // A cache entry with the lie as value and the digest of the truth.
    const digest = [...hexToBytes(hashStorageValue(poseidon2, wordFor(1)), 32)]
    const decoded = { value: [...hexToBytes(lie, 32)], preimage: [] }
    polluted({ 0: { hex: lie, length: 32, decoded, digest }, 41: { hex: lie, length: 32, decoded, digest } }, () => {
      const outcome = safely(() => createVerifier(poseidon2).verifyProof(answer, { stateRoot, address, storageKeys }))
      expect(outcome.ok ? outcome : outcome.error).toMatchObject({ code: 'VALUE_MISMATCH', path })
    })
  })

  it('does not change the details of an error', () => {
    const refused = { code: 'STATE_ROOT_MISMATCH', path: 'accountProof.proof' }
    for (const path of ['inherited', 5, {}]) {
      polluted({ path, expected: path, found: path }, () => {
        const outcome = safely(() => verifyProof(makeAnswer(), { ...claim, stateRoot: wordFor(1) }))
        expect(outcome.ok ? outcome : outcome.error).toMatchObject(refused)
        expect(new ProofError('ZERO_VALUE')).toMatchObject({ path: '', expected: undefined, found: undefined })
      })
    }
  })

  it('is not written to by setters or read through an RPC error', () => {
    Object.defineProperty(Object.prototype, 'accountProof', { set: fail, get: fail, configurable: true })
    try {
      expect(verifyProof(makeAnswer(), claim)).toEqual(truth)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'accountProof')
    }
    polluted({ message: 'inherited' }, () => {
      const outcome = safely(() => verifyProof({ error: {} }, claim))
      expect(outcome.ok ? outcome : outcome.error.found).toBe('error without a code')
    })
  })
})

describe('arrays', () => {
  const lengths: [length: unknown, nodes: ProofErrorCode, proofs: ProofErrorCode | 'accepted'][] = [
    [0, 'WRONG_NODE_COUNT', 'STORAGE_PROOF_MISSING'],
    [43, 'WRONG_NODE_COUNT', 'STORAGE_PROOF_UNEXPECTED'],
    [2 ** 32 - 1, 'WRONG_NODE_COUNT', 'STORAGE_PROOF_UNEXPECTED'],
    // If the length is not a count, nothing is read.
    [-1, 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [Number.POSITIVE_INFINITY, 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [Number.NaN, 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    ['42', 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [42n, 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [Symbol('42'), 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [{ valueOf: fail, toString: fail }, 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
    [undefined, 'MALFORMED_RESPONSE', 'MALFORMED_RESPONSE'],
  ]

  it('may lie about their length', () => {
    expect(lengths.length).toBe(11)
    for (const [length, nodes, proofs] of lengths) {
      const lie = <T extends object>(list: T): T =>
        new Proxy(list, { get: (target, name) => (name === 'length' ? length : Reflect.get(target, name)) })
      const answer = makeAnswer()
      const { proof } = answer.accountProof
      const refused = refusal({ ...answer, storageProofs: lie(answer.storageProofs) })
      expect(refused.replace('[0]', '')).toBe(proofs === 'accepted' ? proofs : `${proofs} at storageProofs`)
      proof.proofRelatedNodes = lie(proof.proofRelatedNodes)
      expect(refusal(answer)).toBe(`${nodes} at accountProof.proof.proofRelatedNodes`)
    }
  })

  it('may have the maximum length', () => {
    const answer = makeAnswer()
    expect(refusal({ ...answer, storageProofs: new Array(2 ** 32 - 1) })).toBe(
      'STORAGE_PROOF_UNEXPECTED at storageProofs',
    )
    answer.accountProof.proof.proofRelatedNodes = new Array<string>(2 ** 32 - 1)
    expect(refusal(answer)).toBe('WRONG_NODE_COUNT at accountProof.proof.proofRelatedNodes')
  })

  it('may have holes', () => {
    const answer = makeAnswer()
    expect(refusal({ ...answer, storageProofs: new Array(2) })).toBe('MALFORMED_RESPONSE at storageProofs[0]')
    delete answer.accountProof.proof.proofRelatedNodes[17]
    expect(refusal(answer)).toBe('MALFORMED_RESPONSE at accountProof.proof.proofRelatedNodes[17]')
  })

  it('may be replaced by other kinds of lists', () => {
    const { accountProof, storageProofs } = makeAnswer()
    for (const list of [new Set(storageProofs), new Uint8Array(2), { ...storageProofs, length: 2 }, 'ab']) {
      expect(refusal({ accountProof, storageProofs: list })).toBe('MALFORMED_RESPONSE at storageProofs')
    }
    class Proofs extends Array {}
    expect(verifyProof({ accountProof, storageProofs: Proofs.from(storageProofs) }, claim)).toEqual(truth)
  })
})

it('refuses the value of a sentinel as an account', () => {
  const answer = makeAnswer()
  Object.assign(answer.accountProof.proof, { value: wordFor(0) })
  expect(refusal(answer)).toBe('WRONG_LENGTH at accountProof.proof.value')
})

it('checks the nodes before the value, because their lengths identify the scheme', () => {
  const answer = makeAnswer()
  Object.assign(answer.accountProof.proof, { value: '0x' })
  Object.assign(answer.accountProof.proof.proofRelatedNodes, { 0: '0x' })
  expect(refusal(answer)).toBe('WRONG_LENGTH at accountProof.proof.proofRelatedNodes[0]')
})

it('identifies an eth_getProof answer by either of its own fields', () => {
  for (const field of ['storageHash', 'storageProof']) {
    expect(refusal({ accountProof: ['0x'], [field]: [] })).toBe('FOREIGN_PROOF')
    expect(verifyProof({ ...makeAnswer(), [field]: [] }, claim)).toEqual(truth)
  }
})

it('refuses an answer that is not an object', () => {
  const answers = [
    undefined,
    null,
    true,
    0,
    Number.NaN,
    1n,
    '',
    'x',
    Symbol('x'),
    fail,
    class {},
    [],
    [{}],
    new Date(0),
  ]
  for (const answer of answers) expect(refusal(answer)).toMatch(/^MALFORMED_RESPONSE/)
})

it('accepts only primitive strings and numbers, not objects that convert to them', () => {
  const { value: hex } = makeAnswer().accountProof.proof
  for (const value of [Object(hex), Symbol(hex), { toString: () => hex, length: hex.length }, [hex], BigInt(hex)]) {
    const answer = makeAnswer()
    Object.assign(answer.accountProof.proof, { value })
    expect(refusal(answer)).toBe('MALFORMED_RESPONSE at accountProof.proof.value')
  }
  const { leafIndex } = makeAnswer().accountProof
  const indices: [unknown, string][] = [
    [leafIndex, 'accepted'],
    [Object(leafIndex), 'MALFORMED_RESPONSE at accountProof.leafIndex'],
    [BigInt(leafIndex), 'MALFORMED_RESPONSE at accountProof.leafIndex'],
    [{ valueOf: () => leafIndex }, 'MALFORMED_RESPONSE at accountProof.leafIndex'],
    [Number.NaN, 'INDEX_OUT_OF_RANGE at accountProof.leafIndex'],
    [Number.POSITIVE_INFINITY, 'INDEX_OUT_OF_RANGE at accountProof.leafIndex'],
    [Number.NEGATIVE_INFINITY, 'INDEX_OUT_OF_RANGE at accountProof.leafIndex'],
    [Number.MIN_VALUE, 'INDEX_OUT_OF_RANGE at accountProof.leafIndex'],
    // -0 is 0, the index of HEAD, where no account can be.
    [-0, 'SENTINEL_MISPLACED at accountProof.proof'],
  ]
  for (const [index, expected] of indices) {
    const answer = makeAnswer()
    Object.assign(answer.accountProof, { leafIndex: index })
    expect(refusal(answer)).toBe(expected)
  }
})

it('returns 0 for an index of -0', () => {
  expect(Object.is(decodeLeafIndex(-0), 0)).toBe(true)
})

it('refuses huge strings by their length, and quotes little of them', () => {
  const huge = '00'.repeat(25_000_000)
  for (const [value, code] of [
    [`0x${huge}`, 'WRONG_LENGTH'],
    [huge, 'BAD_HEX'],
    [`0x0${huge}`, 'BAD_HEX'],
  ]) {
    const changes: ((answer: LooseAnswer) => unknown)[] = [
      ({ accountProof }) => Object.assign(accountProof, { key: value }),
      ({ accountProof }) => Object.assign(accountProof.proof, { value }),
      ({ accountProof }) => Object.assign(accountProof.proof.proofRelatedNodes, { 41: value }),
    ]
    for (const change of changes) {
      const answer = makeAnswer()
      change(answer)
      const outcome = safely(() => verifyProof(answer, claim))
      expect(outcome.ok ? outcome : outcome.error.code).toBe(code)
      if (!outcome.ok) expect(outcome.error.message.length).toBeLessThan(300)
    }
  }
  const outcome = safely(() => verifyProof({ error: { code: 1, message: `\u001b[2J\n${huge}` } }, claim))
  const message = outcome.ok ? '' : outcome.error.message
  expect(message).toMatch(/^ANSWER_IS_ERROR at error: found error 1: "\?\[2J\?0{75}…" \(50000005 characters\)$/)
})

it('does not descend deeper than the structure of an answer', () => {
  const cyclic: Record<string, unknown> = {}
  for (const name of ['result', 'accountProof', 'proof', 'leafIndex']) cyclic[name] = cyclic
  expect(refusal(cyclic)).toBe('MALFORMED_RESPONSE at accountProof.key')
  let deep: unknown = makeAnswer()
  for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? { result: deep } : { accountProof: deep }
  expect(refusal(deep)).toBe('MALFORMED_RESPONSE at accountProof')
  let list: unknown = []
  for (let level = 0; level < 100_000; level++) list = [list]
  expect(refusal({ ...makeAnswer(), storageProofs: [list, list] })).toBe('MALFORMED_RESPONSE at storageProofs[0]')
})

it.each<[string, unknown]>([
  ['a string', 'rate limited'],
  ['a function', fail],
  ['a number', 0],
  ['false', false],
  ['an object that says nothing', {}],
  ['an object of other types', { code: '5', message: { toString: fail } }],
])('reports an RPC error that is %s', (_, error) => {
  expect(refusal({ error })).toBe('ANSWER_IS_ERROR at error')
})

it('refuses an unreadable RPC error as malformed', () => {
  expect(refusal({ error: [] })).toBe('MALFORMED_RESPONSE at error')
  expect(refusal({ error: new Proxy({}, { getOwnPropertyDescriptor: fail }) })).toBe('MALFORMED_RESPONSE at error')
})

describe('the caller', () => {
  const claims: [name: string, claim: unknown, path: string][] = [
    ['undefined', undefined, ''],
    ['null', null, ''],
    ['a string', 'claim', ''],
    ['a number', 5, ''],
    ['a function', fail, ''],
    ['an array', [claim], ''],
    ['empty', {}, 'scheme'],
    ['without a scheme', { ...claim, scheme: undefined }, 'scheme'],
    ['with null for a scheme', { ...claim, scheme: null }, 'scheme'],
    ['with the name of a scheme', { ...claim, scheme: 'poseidon2' }, 'scheme'],
    ['with nothing but a name', { ...claim, scheme: { name: 'poseidon2' } }, 'scheme'],
    ['with another scheme', { ...claim, scheme: { ...poseidon2, name: 'keccak' } }, 'scheme'],
    // Other packages export a function of this name.
    ['with a function for a scheme', { ...claim, scheme: function poseidon2() {} }, 'scheme'],
    ['without a root', { ...claim, stateRoot: undefined }, 'stateRoot'],
    ['with bytes for a root', { ...claim, stateRoot: new Uint8Array(32) }, 'stateRoot'],
    ['with a String for a root', { ...claim, stateRoot: Object(claim.stateRoot) }, 'stateRoot'],
    ['with a short root', { ...claim, stateRoot: claim.stateRoot.slice(0, -2) }, 'stateRoot'],
    ['with a root without 0x', { ...claim, stateRoot: claim.stateRoot.slice(2) }, 'stateRoot'],
    ['with a root of other digits', { ...claim, stateRoot: `0x${'gg'.repeat(32)}` }, 'stateRoot'],
    ['without an address', { ...claim, address: undefined }, 'address'],
    ['with a word for an address', { ...claim, address: wordFor(1) }, 'address'],
    ['with an address of half a byte', { ...claim, address: address.slice(0, -1) }, 'address'],
    ['with null for keys', { ...claim, storageKeys: null }, 'storageKeys'],
    ['with a string for keys', { ...claim, storageKeys: keyFor(1) }, 'storageKeys'],
    ['with a Set of keys', { ...claim, storageKeys: new Set(storageKeys) }, 'storageKeys'],
    ['with a number among the keys', { ...claim, storageKeys: [keyFor(1), 1] }, 'storageKeys[1]'],
    ['with a short key', { ...claim, storageKeys: ['0x01'] }, 'storageKeys[0]'],
    ['with holes for keys', { ...claim, storageKeys: new Array(2 ** 32 - 1) }, 'storageKeys[0]'],
  ]

  it.each(claims)('gets ARGUMENT_INVALID for an invalid claim: %s', (_, wrong, path) => {
    // The claim is checked first, whatever the answer.
    for (const answer of [makeAnswer(), null])
      expect(refusalBy(answer, wrong)).toBe(`ARGUMENT_INVALID${path && ' at '}${path}`)
    const outcome = safely(() => verifyProof(makeAnswer(), wrong as Claim))
    expect(outcome.ok ? outcome : outcome.error.code).toBe('ARGUMENT_INVALID')
  })

  it('receives errors thrown by the scheme', () => {
    const { hasher } = poseidon2
    const changed = [
      { ...poseidon2, hasher: { ...hasher, hash: fail } },
      { ...poseidon2, hasher: { ...hasher, hashBatch: fail } },
      { ...poseidon2, hasher: { ...hasher, foldPath: fail } },
      { ...poseidon2, isCanonical: fail },
      { ...poseidon2, decodeWord: fail },
      { ...mimc, isCanonical: fail, wordLength: 64 },
      Object.defineProperty({ ...poseidon2 }, 'hasher', { get: fail }),
    ]
    for (const members of changed) {
      const scheme = createScheme(members)
      expect(() => verifyProof(makeAnswer(), { ...claim, scheme })).toThrow('a trap')
      expect(() => safely(() => verifyProof(makeAnswer(), { ...claim, scheme }))).toThrow('a trap')
    }
  })
})
