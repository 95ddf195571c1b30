import fc from 'fast-check'
import type { Hex } from '../../src/entry/index.ts'
import { at, word } from './endpoints.ts'
import type { FullAccount, FullCall, FullState } from './full-state.ts'

/**
 * EVM programs that mix all operations that touch state. A program absorbs all it sees, including the remaining gas, into
 * a running hash, so any difference between two runs shows in their return data.
 */
type Statement = (offset: number) => readonly number[]

export const CONTRACTS = [at('c0'), at('c1'), at('c2'), at('c3')] as const
const SENDER = at('a1')
export const DELEGATED = at('d7')
/** Stands for the address of what the first contract creates first. */
export const OBSTACLE = at('0b')
const COINBASE = at('cb')
const ABSENT = at('ee')
const precompile = (number: number): Hex => `0x${number.toString(16).padStart(40, '0')}`

const push = (value: bigint | number): number[] => {
  const hex = BigInt(value).toString(16)
  const digits = hex.length % 2 ? `0${hex}` : hex
  const bytes = digits.match(/../g)?.map(pair => Number.parseInt(pair, 16)) ?? []
  return [0x5f + bytes.length, ...bytes]
}
const push2 = (value: number): number[] => [0x61, value >> 8, value & 0xff]

/** Absorbs the value on the stack into the running hash at memory offset 0. */
const ABSORB = [...push(0x20), 0x52, ...push(0x40), ...push(0), 0x20, ...push(0), 0x52]
const see =
  (...operation: number[]): Statement =>
  () => [...operation, ...ABSORB]
const all =
  (...statements: Statement[]): Statement =>
  offset => {
    const bytes: number[] = []
    for (const statement of statements) bytes.push(...statement(offset + bytes.length))
    return bytes
  }

/** Repeats `body` `count` times. The counter is in memory because a body may leave anything on the stack. */
const loop = (count: number, slot: number, body: Statement): Statement => {
  const place = push(0x200 + 0x20 * slot)
  return offset => {
    const start = [...push(count), ...place, 0x52]
    const label = offset + start.length
    const inner = body(label + 1)
    const decrement = [...push(1), ...place, 0x51, 0x03, ...place, 0x52]
    return [...start, 0x5b, ...inner, ...decrement, ...place, 0x51, ...push2(label), 0x57]
  }
}

/** Absorbs what a call or a creation left on the stack, and the length of its return data. */
const RESULT = [...ABSORB, 0x3d, ...ABSORB]
const copyReturned: Statement = offset => {
  const copy = [...push(0x20), ...push(0), ...push(0x60), 0x3e, ...push(0x60), 0x51, ...ABSORB]
  const check = [0x3d, ...push(0x20), 0x11] // 0x20 > returndatasize: nothing to copy
  const end = offset + check.length + 4 + copy.length
  return [...check, ...push2(end), 0x57, ...copy, 0x5b]
}

const key = fc.integer({ min: 0, max: 5 })
const value = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3 }), fc.bigInt(1n << 250n, (1n << 256n) - 1n))
const address = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...CONTRACTS) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[SENDER, DELEGATED, ABSENT, at('00'), precompile(1), precompile(2), precompile(4), precompile(7)],
      ...[precompile(6), precompile(0x0b), COINBASE, OBSTACLE],
    ),
  },
)
const INIT_CODES: readonly Hex[] = [
  // Empty; a contract of one STOP; one that writes first; one that reverts with 32 bytes; one that self-destructs.
  ...(['0x', '0x60015ff3', '0x6007600155600160005560015ff3', '0x60205ffd', '0x33ff'] as const),
  // A contract that begins with the forbidden byte 0xef; an endless loop.
  ...(['0x60ef5f5360015ff3', '0x5b5f56'] as const),
]

const create = fc
  .tuple(fc.constantFrom(...INIT_CODES), fc.integer({ min: 0, max: 2 }), fc.option(fc.integer({ min: 0, max: 1 })))
  .map(([code, wei, salt]): Statement => {
    const length = code.length / 2 - 1
    const store = [...push(BigInt(code.padEnd(66, '0'))), ...push(0x80), 0x52]
    const salted = salt === null ? [] : push(salt)
    const made = [...salted, ...push(length), ...push(0x80), ...push(wei), salt === null ? 0xf0 : 0xf5]
    // The created address is the result on the stack. Its code size is absorbed first.
    return all(
      () => [...store, ...made, 0x80, 0x3b, ...ABSORB],
      () => RESULT,
      copyReturned,
    )
  })

const call = fc
  .tuple(
    fc.constantFrom(0xf1, 0xf2, 0xf4, 0xfa),
    address,
    fc.integer({ min: 0, max: 2 }),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([kind, to, wei, size]): Statement => {
    const hasValue = kind === 0xf1 || kind === 0xf2
    const gas = [2_000, 20_000, 60_000, 150_000][size] ?? 0
    const memory = [...push(0x20), ...push(0x60), ...push(0x40), ...push(0)]
    const made = [...memory, ...(hasValue ? push(wei) : []), ...push(BigInt(to)), ...push(gas), kind]
    return all(() => [...made, ...RESULT], copyReturned, see(...push(0x60), 0x51))
  })

const simple: fc.Arbitrary<Statement> = fc.oneof(
  { weight: 4, arbitrary: key.map(at => see(...push(at), 0x54)) },
  {
    weight: 4,
    arbitrary: fc.tuple(key, value).map(
      ([at, value]): Statement =>
        () => [...push(value), ...push(at), 0x55],
    ),
  },
  { weight: 1, arbitrary: key.map(at => see(...push(at), 0x5c)) },
  {
    weight: 1,
    arbitrary: fc.tuple(key, value).map(
      ([at, value]): Statement =>
        () => [...push(value), ...push(at), 0x5d],
    ),
  },
  // SLOAD of the slot at the running hash.
  { weight: 1, arbitrary: fc.constant(see(...push(0), 0x51, 0x54)) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(0x31, 0x3b, 0x3f), address).map(([code, of]) => see(...push(BigInt(of)), code)),
  },
  {
    weight: 1,
    arbitrary: address.map(of =>
      all(() => [...push(32), ...push(0), ...push(0xa0), ...push(BigInt(of)), 0x3c], see(...push(0xa0), 0x51)),
    ),
  },
  // GAS, SELFBALANCE, CALLER, ORIGIN, CALLVALUE, NUMBER, CHAINID, CODESIZE, MSIZE, ADDRESS, GASPRICE, CALLDATASIZE.
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(0x5a, 0x47, 0x33, 0x32, 0x34, 0x43, 0x46, 0x38, 0x59, 0x30, 0x3a, 0x36)
      .map(code => see(code)),
  },
  // CALLDATALOAD, BLOBHASH, and BLOCKHASH of a block that cannot exist.
  { weight: 1, arbitrary: fc.constantFrom(0x35, 0x49).map(code => see(...push(0), code)) },
  { weight: 1, arbitrary: fc.constant(see(...push(1000), 0x40)) },
  { weight: 1, arbitrary: fc.constant<Statement>(() => [...push(7), ...push(0x20), ...push(0), 0xa1]) },
)
const statement = fc.oneof(
  { weight: 8, arbitrary: simple },
  { weight: 4, arbitrary: call },
  { weight: 2, arbitrary: create },
)
const body = fc.array(statement, { minLength: 1, maxLength: 5 }).map(statements => all(...statements))
const block = fc.oneof(
  { weight: 5, arbitrary: body },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 4 }), key, body).map(([n, slot, body]) => loop(n, slot, body)),
  },
)
/** RETURN the hash, REVERT with it, SELFDESTRUCT, or INVALID. */
const ending = fc.oneof(
  { weight: 8, arbitrary: fc.constant([...push(0x20), ...push(0), 0xf3]) },
  { weight: 2, arbitrary: fc.constant([...push(0x20), ...push(0), 0xfd]) },
  { weight: 1, arbitrary: address.map(to => [...push(BigInt(to)), 0xff]) },
  { weight: 1, arbitrary: fc.constant([0xfe]) },
)
const program = fc.tuple(fc.array(block, { minLength: 1, maxLength: 3 }), ending).map(([blocks, end]): Hex => {
  return `0x${Buffer.from([...all(...blocks)(0), ...end]).toString('hex')}`
})

const storage = fc
  .dictionary(key.map(String), fc.bigInt(1n, (1n << 256n) - 1n), { maxKeys: 4 })
  .map(slots => Object.fromEntries(Object.entries(slots).map(([at, value]) => [word(Number(at)), word(value)])))
const contract = fc.record({
  nonce: fc.constant(1n),
  balance: fc.constantFrom(0n, 1n, 50n),
  code: program,
  storage,
})
/** The account at the address where the first contract creates its first: a kind of collision, or none. */
const obstacle: fc.Arbitrary<FullAccount | null> = fc.constantFrom<FullAccount | null>(
  null,
  { nonce: 1n },
  { balance: 5n },
  { code: '0x00' },
  { nonce: 1n, storage: { [word(1)]: word(1) } },
)

/** A world of contracts that call each other, and calls to them. */
export const worlds: fc.Arbitrary<{ state: FullState; calls: FullCall[] }> = fc
  .record({
    contracts: fc.tuple(contract, contract, contract, contract),
    obstacle,
    delegate: fc.constantFrom(...CONTRACTS),
    calls: fc.array(
      fc.record({
        from: fc.constantFrom(SENDER, SENDER, ABSENT, at('00'), CONTRACTS[0]),
        to: fc.constantFrom(...CONTRACTS, ...CONTRACTS, DELEGATED, precompile(4), undefined),
        data: fc.constantFrom<Hex>('0x', '0x01', word(7), '0x5f545f5260205ff3', `0x6001${'00'.repeat(40)}`),
        value: fc.constantFrom(0n, 0n, 0n, 1n),
        gas: fc.constantFrom(90_000n, 400_000n, 1_500_000n),
      }),
      { minLength: 10, maxLength: 10 },
    ),
  })
  .map(({ contracts, obstacle, delegate, calls }) => ({
    state: new Map<Hex, FullAccount>([
      [SENDER, { nonce: 3n, balance: 10n ** 18n }],
      [DELEGATED, { nonce: 1n, balance: 9n, code: `0xef0100${delegate.slice(2)}` }],
      ...contracts.map((account, index): [Hex, FullAccount] => [CONTRACTS[index] ?? SENDER, account]),
      ...(obstacle ? [[OBSTACLE, obstacle] as const] : []),
    ]),
    // A call that sends more than its sender's balance would be refused before execution, so only the rich sender sends value.
    calls: calls.map(({ to, value, ...call }) => ({
      ...call,
      ...(to !== undefined && { to }),
      value: call.from === SENDER ? value : 0n,
    })),
  }))
