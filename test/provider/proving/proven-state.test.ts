import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it, onTestFinished } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { openEndpoints } from '../../../src/client/sources/endpoints.ts'
import { ownerOf } from '../../../src/client/transport/waiting.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { createVerifier, type Hex, ProofError } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { EndpointError } from '../../../src/entry/rpc.ts'
import { createKnownState, createProvenState } from '../../../src/provider/proven-state.ts'
import type { StateVerifier } from '../../../src/verify/state/kind.ts'
import { at, word } from '../endpoints.ts'
import { bytesOf } from '../full-state.ts'

const [PERSON, CONTRACT, TWIN, ABSENT] = [at('a1'), at('c0'), at('c1'), at('ee')]
const CODE: Hex = '0x6001'
const codeHash = bytesToHex(keccak_256(bytesOf(CODE)))
const EMPTY_CODE_HASH = bytesToHex(keccak_256(new Uint8Array(0)))

const world = createWorld(poseidon2)
world.setAccount(PERSON, { nonce: 1n, balance: 2n })
for (const address of [CONTRACT, TWIN]) world.setAccount(address, { nonce: 1n, codeHash, codeSize: 2n })
for (let slot = 1; slot < 6; slot++) world.setStorage(CONTRACT, { key: word(slot), value: word(slot * 10) })

/** A state over an endpoint that logs what it is asked for, and may answer something else. */
function setUp(
  change: (answer: unknown, method: string, keys: Hex[]) => unknown = answer => answer,
  verifier = createVerifier(poseidon2),
) {
  const log: string[] = []
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    const [address, keys, block] = params as [Hex, Hex[], string]
    const short = (hex: Hex) => Number(BigInt(hex) & 255n).toString(16)
    if (method === 'eth_getCode') {
      log.push(`code ${short(address)} at ${keys}`)
      return change(address === CONTRACT || address === TWIN ? CODE : '0x', method, [])
    }
    log.push(`${method} ${short(address)} ${keys.map(short)} at ${block}`)
    return change(JSON.parse(JSON.stringify(world.getProof(address, keys))), method, keys)
  }
  const l2 = openEndpoints('l2', { request }, 'L2')
  const owners: unknown[] = []
  const run: typeof l2.run = (work, signal) => {
    owners.push(ownerOf(signal))
    return l2.run(work, signal)
  }
  const source = {
    l2: { ...l2, run },
    block: 16n,
    stateRoot: world.stateRoot(),
    scheme: poseidon2,
  }
  const verify: StateVerifier = (answer, claim) => verifier.verifyProof(answer, claim)
  const how = { verify, method: 'proof', maxKeysPerRequest: 2, known: createKnownState() }
  return { log, owners, state: createProvenState({ ...source, ...how }) }
}
/** What was asked for since. */
const take = (log: string[]) => log.splice(0)

it('has no code if the endpoint sends null for it, in the newest block and in its own', async () => {
  const { log, state } = setUp((answer, method) => (method === 'eth_getCode' ? null : answer))
  await expect(state.getCode(CONTRACT)).rejects.toMatchObject({ code: 'BLOCK_MISSING', layer: 'L2' })
  expect(take(log).filter(line => line.startsWith('code'))).toEqual(['code c0 at latest', 'code c0 at 0x10'])
})

it('asks for the code in its own block if the endpoint does not know the newest one, or not by its name', async () => {
  const refusing = (code: number, message: string) => {
    let count = 0
    return setUp((answer, method) => {
      if (method !== 'eth_getCode' || count++ > 0) return answer
      throw Object.assign(new Error(message), { code })
    })
  }
  for (const [code, message] of [
    [-32000, 'header not found'],
    [-32602, 'invalid block tag: latest'],
  ] as const) {
    const { log, state } = refusing(code, message)
    expect(await state.getCode(CONTRACT)).toEqual(bytesOf(CODE))
    expect(take(log).filter(line => line.startsWith('code'))).toEqual(['code c0 at latest', 'code c0 at 0x10'])
  }
  const other = refusing(-32603, 'internal error')
  await expect(other.state.getCode(CONTRACT)).rejects.toMatchObject({ code: 'ENDPOINT_ERROR' })
})

it('proves what is read, once, and remembers it', async () => {
  const { log, state } = setUp()
  expect([state.holds(PERSON), state.holds(PERSON, word(1)), state.holds(PERSON, 'code')]).toEqual([
    false,
    false,
    false,
  ])
  expect(await state.getAccount(PERSON)).toEqual({
    ...{ nonce: 1n, balance: 2n, codeHash: EMPTY_CODE_HASH, hasStorage: false },
  })
  expect(take(log)).toEqual(['proof a1  at 0x10'])
  // An account without storage proves its slots, and one without code its code.
  expect([state.holds(PERSON), state.holds(PERSON, word(1)), state.holds(PERSON, 'code')]).toEqual([true, true, true])
  expect(await state.getStorage(PERSON, word(1))).toBe(word(0))
  expect(await state.getCode(PERSON)).toEqual(new Uint8Array(0))
  expect(await state.getAccount(ABSENT)).toBeNull()
  expect(await state.getStorage(ABSENT, word(1))).toBe(word(0))
  expect(take(log)).toEqual(['proof ee  at 0x10'])
  expect(await state.getStorage(CONTRACT, word(1))).toBe(word(10))
  expect([state.holds(CONTRACT), state.holds(CONTRACT, word(1)), state.holds(CONTRACT, word(2))]).toEqual([
    ...[true, true, false],
  ])
  expect(await state.getStorage(CONTRACT, word(2))).toBe(word(20))
  expect(await state.getStorage(CONTRACT, word(9))).toBe(word(0))
  for (const slot of [1, 2, 9]) await state.getStorage(CONTRACT, word(slot))
  expect(take(log)).toEqual(['proof c0 1 at 0x10', 'proof c0 2 at 0x10', 'proof c0 9 at 0x10'])
})

it('keeps 65,536 accounts and slots, and then forgets the oldest', async () => {
  const storage = Array.from({ length: 65_535 }, (_, index) => ({ key: word(index), value: word(7) }))
  for (const [count, isKept] of [
    [65_534, true],
    [65_535, false],
  ] as const) {
    // Proving that many takes minutes.
    const verifyProof = (_: unknown, { address }: { address: Hex }): never =>
      ({ account: { storageRoot: word(1) }, storage: address === CONTRACT ? storage.slice(0, count) : [] }) as never
    const { state } = setUp(undefined, { verifyProof })
    await state.load(PERSON, [])
    expect(state.holds(PERSON)).toBe(true)
    await state.load(CONTRACT, [])
    expect([state.holds(PERSON), state.holds(CONTRACT, word(65_000))]).toEqual([isKept, true])
  }
})

it('joins the reads of one account in the same tick, and shares the answer on its way', async () => {
  const { log, state } = setUp()
  const reads = [
    ...[state.getStorage(CONTRACT, word(1)), state.getAccount(CONTRACT), state.getStorage(CONTRACT, word(2))],
    state.getAccount(PERSON),
  ]
  await Promise.resolve()
  reads.push(state.getStorage(CONTRACT, word(1)), state.getAccount(CONTRACT))
  const [one, account, two, person, again, accountAgain] = await Promise.all(reads)
  expect([one, two, again]).toEqual([word(10), word(20), word(10)])
  expect(accountAgain).toEqual(account)
  expect(person).toMatchObject({ balance: 2n })
  expect(take(log)).toEqual(['proof c0 1,2 at 0x10', 'proof a1  at 0x10'])
})

it('shares an answer only with reads of what it proves', async () => {
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const { log, state } = setUp(async answer => {
    await held
    return answer
  })
  const first = state.getStorage(CONTRACT, word(1))
  await new Promise(resolve => setTimeout(resolve, 5))
  const [same, other] = [state.getStorage(CONTRACT, word(1)), state.getStorage(CONTRACT, word(2))]
  await new Promise(resolve => setTimeout(resolve, 5))
  release()
  expect(await Promise.all([first, same, other])).toEqual([word(10), word(10), word(20)])
  expect(take(log)).toEqual(['proof c0 1 at 0x10', 'proof c0 2 at 0x10'])
})

it('shares the newest answer on its way, even if an earlier one fails', async () => {
  const gates: { pass: () => void; fail: () => void }[] = []
  const { log, state } = setUp(
    answer => new Promise((pass, fail) => gates.push({ pass: () => pass(answer), fail: () => fail(new Error('no')) })),
  )
  const pause = () => new Promise(resolve => setTimeout(resolve, 5))
  const first = state.getStorage(CONTRACT, word(1))
  await pause()
  const second = state.getStorage(CONTRACT, word(2))
  await pause()
  gates[0]?.fail()
  await expect(first).rejects.toMatchObject({ layer: 'L2' })
  const account = state.getAccount(CONTRACT)
  await pause()
  expect(log.length).toBe(2)
  gates[1]?.pass()
  expect([await second, (await account)?.hasStorage]).toEqual([word(20), true])
})

it('loads many slots in as many requests as they need', async () => {
  const { log, state } = setUp()
  await state.load(CONTRACT, [1, 2, 3, 4, 5].map(word))
  expect(take(log).map(line => line.slice(0, 12))).toEqual(['proof c0 1,2', 'proof c0 3,4', 'proof c0 5 a'])
  expect(await Promise.all([1, 2, 3, 4, 5].map(slot => state.getStorage(CONTRACT, word(slot))))).toEqual(
    [10, 20, 30, 40, 50].map(word),
  )
  expect(log).toEqual([])
})

it('loads nothing that is on its way', async () => {
  let arrive = () => {}
  const arrived = new Promise<void>(resolve => {
    arrive = resolve
  })
  const { log, state } = setUp(async answer => {
    await arrived
    return answer
  })
  const loads: Promise<void>[] = []
  for (const keys of [[], [], [1, 2], [2], [2, 3]]) {
    loads.push(state.load(CONTRACT, keys.map(word)))
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  arrive()
  await Promise.all(loads)
  expect(take(log).map(line => line.slice(0, -8))).toEqual(['proof c0 ', 'proof c0 1,2', 'proof c0 3'])
  expect([1, 2, 3].every(slot => state.holds(CONTRACT, word(slot)))).toBe(true)
})

it('fails with the first of several requests for slots, whichever fails first', async () => {
  for (const isReversed of [false, true]) {
    const { state } = setUp(async (_, __, keys) => {
      if (keys.includes(word(3)) === isReversed) await new Promise(resolve => setTimeout(resolve, 20))
      throw Object.assign(new Error('no'), { code: keys.includes(word(3)) ? -32601 : -32000 })
    })
    await expect(state.load(CONTRACT, [1, 2, 3].map(word))).rejects.toMatchObject({ code: 'ENDPOINT_ERROR' })
  }
})

it('fetches a code while the account is proven, and keeps it only if it is the right one', async () => {
  const { log, state } = setUp()
  await Promise.all([state.loadCode(CONTRACT), state.loadCode(CONTRACT), state.loadCode(PERSON)])
  expect(take(log)).toEqual(['code c0 at latest', 'code a1 at latest', 'proof c0  at 0x10', 'proof a1  at 0x10'])
  expect([state.holds(CONTRACT, 'code'), state.holds(PERSON, 'code')]).toEqual([true, true])
  // A code on its way is waited for.
  const other = setUp()
  const loading = other.state.loadCode(CONTRACT)
  expect(bytesToHex(await other.state.getCode(CONTRACT))).toBe(CODE)
  await loading
  expect(take(other.log)).toEqual(['code c0 at latest', 'proof c0  at 0x10'])
  // That of an absent account, and of one that is not proven, is of no use.
  const failing = setUp((_, method) => (method === 'proof' ? {} : '0x6002'))
  await failing.state.loadCode(CONTRACT)
  await setUp().state.loadCode(ABSENT)
  expect(failing.state.holds(CONTRACT, 'code')).toBe(false)
  const lying = setUp((answer, method) => (method === 'proof' ? answer : '0x6002'))
  await expect(lying.state.loadCode(CONTRACT)).rejects.toMatchObject({ code: 'CODE_HASH_MISMATCH' })
  expect(lying.state.holds(CONTRACT, 'code')).toBe(false)
})

it('fetches each code once, whichever account has it', async () => {
  const { log, state } = setUp()
  const [one, two] = await Promise.all([state.getCode(CONTRACT), state.getCode(TWIN)])
  expect([one, two].map(code => bytesToHex(code ?? new Uint8Array()))).toEqual([CODE, CODE])
  expect(take(log).filter(line => line.startsWith('code'))).toEqual(['code c0 at latest'])
  expect([state.holds(CONTRACT, 'code'), state.holds(TWIN, 'code'), state.holds(ABSENT, 'code')]).toEqual([
    true,
    true,
    false,
  ])
  expect(bytesToHex(await state.getCode(TWIN))).toBe(CODE)
  expect(log).toEqual([])
  // An account that is proven absent has no code.
  await state.load(ABSENT, [])
  expect(state.holds(ABSENT, 'code')).toBe(true)
  const other = setUp()
  await other.state.getAccount(CONTRACT)
  expect(other.state.holds(CONTRACT, 'code')).toBe(false)
})

it('asks again for what was refused or failed', async () => {
  const lies: ((answer: unknown) => unknown)[] = [
    () => {
      throw new Error('https://secret.example/key')
    },
    () => null,
    () => '0x6002',
    () => world.getProof(PERSON, []),
  ]
  const codes: unknown[] = []
  for (const lie of lies) {
    let isHonest = false
    const { state } = setUp((answer, method) => (isHonest || method !== 'proof' ? answer : lie(answer)))
    const error = await state.getAccount(CONTRACT).catch(error => error)
    expect(`${error}`).not.toContain('secret')
    codes.push([error instanceof ProofError, error instanceof EndpointError && error.layer, error.code])
    expect(state.holds(CONTRACT)).toBe(false)
    isHonest = true
    expect(await state.getAccount(CONTRACT)).toMatchObject({ codeHash, hasStorage: true })
  }
  expect(codes).toEqual([
    [false, 'L2', 'UNREACHABLE'],
    [false, 'L2', 'BLOCK_MISSING'],
    [true, false, 'MALFORMED_RESPONSE'],
    // The proof of another account is the endpoint's mistake.
    [false, 'L2', 'OTHER_KEYS'],
  ])
  let isHonest = false
  const { state } = setUp((answer, method) => (isHonest || method === 'proof' ? answer : '0x6002'))
  await expect(state.getCode(CONTRACT)).rejects.toMatchObject({ code: 'CODE_HASH_MISMATCH' })
  expect(state.holds(CONTRACT, 'code')).toBe(false)
  isHonest = true
  expect(bytesToHex(await state.getCode(CONTRACT))).toBe(CODE)
})

it('passes on the fields of an answer that were verified', async () => {
  const { log, state } = setUp(answer => ({ ...Object(answer), storageHash: word(1), balance: '0x1' }))
  const keys = [word(1), word(9), word(2)]
  expect(await state.getProof('other', CONTRACT, keys)).toEqual(
    JSON.parse(JSON.stringify(world.getProof(CONTRACT, keys))),
  )
  expect(take(log)).toEqual(['other c0 1,9 at 0x10', 'other c0 2 at 0x10'])
  const lying = setUp(() => world.getProof(TWIN, [])).state
  await expect(lying.getProof('other', CONTRACT, [])).rejects.toMatchObject({ code: 'OTHER_KEYS', layer: 'L2' })
})

const paceOf = ({ signal }: AbortController) => ({ signal, beSlow: async () => {} })

it('asks in the name of whoever reads, shares what is under way, and ends it when nobody waits for it', async () => {
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const { log, owners, state } = setUp(async answer => {
    await held
    return answer
  })
  const [one, other] = [new AbortController(), new AbortController()]
  const read = (by: AbortController, address: Hex) =>
    state
      .by(paceOf(by))
      .getStorage(address, word(1))
      .catch(error => error.code)
  const reads = [read(one, CONTRACT), read(other, CONTRACT), read(one, PERSON)]
  // They begin once they may be slow, and are joined until the end of that tick.
  for (const _ of [1, 2]) await new Promise(resolve => setTimeout(resolve))
  expect(owners).toEqual([one.signal, one.signal])
  one.abort()
  release()
  expect(await Promise.all(reads)).toEqual(['ABORTED', word(10), 'ABORTED'])
  expect([state.holds(CONTRACT, word(1)), state.holds(PERSON)]).toEqual([true, false])
  expect(await read(other, PERSON)).toBe(word(0))
  expect(await state.by(paceOf(other)).getCode(CONTRACT)).toEqual(bytesOf(CODE))
  expect(owners.slice(2)).toEqual([other.signal, other.signal])
  expect(take(log)).toEqual(['proof c0 1 at 0x10', 'proof a1 1 at 0x10', 'proof a1 1 at 0x10', 'code c0 at latest'])
})

it('asks for nothing in the name of somebody who has gone', async () => {
  const { log, state } = setUp()
  const gone = { signal: AbortSignal.abort(), beSlow: async () => {} }
  await expect(state.by(gone).getStorage(CONTRACT, word(1))).rejects.toMatchObject({ code: 'ABORTED' })
  // Nor does anybody else, together with the next one.
  await state.getStorage(CONTRACT, word(2))
  expect(take(log)).toEqual(['proof c0 2 at 0x10'])
})

it('may read any number of things at once for one who waits, without a warning of Node', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error) => void warnings.push(name)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const { state } = setUp()
  const own = state.by(paceOf(new AbortController()))
  const keys = Array.from({ length: 40 }, (_, index) => word(100 + index))
  const others = Array.from({ length: 20 }, (_, index) => at(`${30 + index}`))
  await Promise.all([own.load(CONTRACT, keys), ...others.map(address => own.getAccount(address))])
  await new Promise(resolve => setTimeout(resolve))
  expect(warnings).toEqual([])
})
