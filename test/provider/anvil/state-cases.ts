import { getContractAddress, getCreate2Address } from 'viem'
import type { Hex } from '../../../src/entry/index.ts'
import type { AccessList } from '../../../src/provider/execute.ts'
import { word } from '../endpoints.ts'
import type { FullAccount } from '../full-state.ts'
import { assemble, join, type Part, RETURN, sizeOf } from './assemble.ts'
import { ABSENT, COINBASE, EMPTY, GAS, meter, OTHER, REPORT, RICH, type Scene, since } from './scene.ts'

const PRECOMPILE: Hex = `0x${'00'.repeat(19)}02`
const n = (hex: Hex): bigint => BigInt(hex)
/** Calls of an address with gas, for a meter. */
const input = (gas: bigint | number, to: Hex, data: Hex = '0x'): Hex => join(word(gas), word(n(to)), data)

/** EIP-2200 and EIP-3529: what three writes cost and give back, of a slot that was 0 or 5, declared or not. */
export function addStorage(scene: Scene): void {
  const write = (at: number): Part[] => [at, 'CALLDATALOAD', 0, 'CALLDATALOAD', 'SSTORE', 'GAS']
  const to = scene.place({
    code: assemble(
      ...write(32),
      ...write(64),
      ...write(96),
      0,
      'CALLDATALOAD',
      'SLOAD',
      'XOR',
      'XOR',
      'XOR',
      ...RETURN,
    ),
    storage: { [word(1)]: word(5) },
  })
  const values = [0, 5, 6]
  for (const slot of [0, 1]) {
    for (const first of values) {
      for (const second of values) {
        for (const third of values) {
          const data = join(word(slot), word(first), word(second), word(third))
          const what = `${slot}: ${first}, ${second}, ${third}`
          scene.ask('storage', ['prague'], { what, to, data })
          const accessList = [{ address: to, storageKeys: [word(slot)] }]
          if (third !== second) scene.ask('storage', ['london'], { what: `${what}, declared`, to, data, accessList })
        }
      }
    }
  }
  // A write with no more gas than the stipend fails, however cheap it is.
  const writer = scene.program(0, 0, 'SSTORE')
  const calling = scene.program(...meter())
  for (const gas of [2305, 2306, 2307, 2308, 4000]) {
    scene.ask('storage', ['london', 'osaka'], { what: `a write with ${gas}`, to: calling, data: input(gas, writer) })
  }
}

/** EIP-1153. */
export function addTransient(scene: Scene): void {
  const forks = ['cancun', 'osaka'] as const
  // Without calldata, it loads. Otherwise it stores the first word, and jumps to one of three endings.
  const load = (store: number) => assemble('CALLDATASIZE', store, 'JUMPI', 0, 'TLOAD', ...RETURN)
  const store = assemble('JUMPDEST', 0, 'CALLDATALOAD', 0, 'TSTORE', 32, 'CALLDATALOAD', 'JUMP')
  const [stop, revert] = [assemble('JUMPDEST', 'STOP'), assemble('JUMPDEST', 0, 0, 'REVERT')]
  const start = sizeOf(load(1))
  const ends = [0, sizeOf(stop), sizeOf(stop) + sizeOf(revert)].map(at => start + sizeOf(store) + at)
  const target = scene.place({ code: join(load(start), store, stop, revert, assemble('JUMPDEST', 'INVALID')) })
  const kinds = ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'] as const
  for (const kind of kinds) {
    for (const [index, end] of ends.entries()) {
      const data = join(word(8), word(end))
      const memory = [...data.slice(2).matchAll(/.{64}/g)].flatMap(([part], at): Part[] => [
        `0x7f${part}`,
        32 * at,
        'MSTORE',
      ])
      const call = (size: number): Part[] => [
        ...[32, 0x80, size, 0],
        ...(kind === 'CALL' || kind === 'CALLCODE' ? [0] : []),
        ...[n(target), 100_000, kind, 0x80, 'MLOAD', 'ADD'],
      ]
      const to = scene.program(
        4,
        0,
        'TSTORE',
        ...memory,
        ...call(64),
        ...call(0),
        0,
        'TLOAD',
        'ADD',
        'ADD',
        'GAS',
        'ADD',
        ...RETURN,
      )
      scene.ask('transient storage', forks, { what: `${kind}, ending ${index}`, to })
      scene.ask('transient storage', ['prague'], { what: `${kind}, ending ${index}, little gas`, to, gas: 30_000n })
    }
  }
  for (const parts of [
    [1, 'TLOAD'],
    [1, 1, 'TSTORE', 1, 'TLOAD'],
  ] as const) {
    const to = scene.program(...parts, 'GAS', 'ADD', ...RETURN)
    scene.ask('transient storage', ['shanghai', ...since('cancun')], { what: parts.join(' '), to })
  }
  // No matter how little gas is left.
  const frugal = scene.program(1, 1, 'TSTORE')
  const calling = scene.program(...meter())
  for (const gas of [105, 106, 107])
    scene.ask('transient storage', forks, { what: `${gas}`, to: calling, data: input(gas, frugal) })
}

/** EIP-2929, 2930 and 3651: what touching another account costs, by what was declared. */
export function addAccessLists(scene: Scene): void {
  const reach = (kind: string, value: boolean): Part[] => [0, 0, 0, 0, ...(value ? [0] : []), n(OTHER), 'GAS', kind]
  const touches: Record<string, Part[]> = {
    BALANCE: [n(OTHER), 'BALANCE'],
    EXTCODESIZE: [n(OTHER), 'EXTCODESIZE'],
    EXTCODEHASH: [n(OTHER), 'EXTCODEHASH'],
    EXTCODECOPY: [32, 0, 0, n(OTHER), 'EXTCODECOPY', 0, 'MLOAD'],
    CALL: reach('CALL', true),
    CALLCODE: reach('CALLCODE', true),
    DELEGATECALL: reach('DELEGATECALL', false),
    STATICCALL: reach('STATICCALL', false),
    SLOAD: [1, 'SLOAD'],
    SSTORE: [3, 1, 'SSTORE', 0],
    COINBASE: ['COINBASE', 'BALANCE'],
  }
  for (const [name, parts] of Object.entries(touches)) {
    // Twice, because the second time is warm.
    const code = assemble(
      'GAS',
      ...parts,
      'GAS',
      ...parts,
      'GAS',
      0,
      'MSTORE',
      32,
      'MSTORE',
      64,
      'MSTORE',
      96,
      'MSTORE',
      128,
      'MSTORE',
      160,
      0,
      'RETURN',
    )
    const to = scene.place({ code, storage: { [word(1)]: word(2) } })
    const lists: Record<string, AccessList> = {
      nothing: [],
      'the account': [{ address: OTHER, storageKeys: [] }],
      'slots of the account': [{ address: OTHER, storageKeys: [word(1), word(2), word(1)] }],
      'the slot': [{ address: to, storageKeys: [word(1)] }],
      'another slot': [{ address: to, storageKeys: [word(2)] }],
      'the account twice': [
        { address: OTHER, storageKeys: [] },
        { address: OTHER, storageKeys: [word(1)] },
      ],
      'what is warm': [RICH, to, COINBASE, PRECOMPILE].map(address => ({ address, storageKeys: [] })),
    }
    for (const [what, accessList] of Object.entries(lists)) {
      scene.ask('access lists', what.startsWith('the') ? ['prague'] : ['london', 'prague'], {
        what: `${name}, declared: ${what}`,
        to,
        accessList,
      })
    }
    scene.ask('access lists', ['paris', 'shanghai'], { what: name, to })
  }
}

/** Initialization codes. */
const RUNS: Record<string, Hex> = {
  nothing: '0x',
  'a contract': assemble(0x5b, 0, 'MSTORE8', 1, 0, 'RETURN'),
  'the largest contract': assemble(24_576, 0, 'RETURN'),
  'a contract that is too large': assemble(24_577, 0, 'RETURN'),
  'a forbidden first byte': assemble(0xef, 0, 'MSTORE8', 2, 0, 'RETURN'),
  'only the forbidden byte': assemble(0xef, 0, 'MSTORE8', 1, 0, 'RETURN'),
  'a forbidden byte that is not first': assemble(0xef, 1, 'MSTORE8', 2, 0, 'RETURN'),
  'a revert with data': assemble(7, 0, 'MSTORE', 32, 0, 'REVERT'),
  'a revert with data that begin like forbidden code': assemble(0xef, 0, 'MSTORE8', 32, 0, 'REVERT'),
  'an empty revert': assemble(0, 0, 'REVERT'),
  'an invalid instruction': '0xfe',
  'a jump to nowhere': assemble(77, 'JUMP'),
  'a stop': '0x00',
  'a write': assemble(1, 1, 'SSTORE', 1, 'SLOAD', 0, 'MSTORE', 1, 31, 'RETURN'),
  'a write that is reverted': assemble(1, 1, 'SSTORE', 0, 0, 'REVERT'),
  'its own end': assemble('CALLER', 'SELFDESTRUCT'),
  'its end in favour of itself': assemble('ADDRESS', 'SELFDESTRUCT'),
  'what it sees': assemble(
    'ADDRESS',
    'CALLER',
    'XOR',
    'CODESIZE',
    'ADD',
    'CALLDATASIZE',
    'ADD',
    'CALLVALUE',
    'ADD',
    'SELFBALANCE',
    'ADD',
    'GAS',
    'ADD',
    ...RETURN,
  ),
  'its own size and hash': assemble('ADDRESS', 'EXTCODESIZE', 'ADDRESS', 'EXTCODEHASH', 'ADD', ...RETURN),
  'a creation in it': assemble(0x60015ff3, 0, 'MSTORE', 4, 28, 0, 'CREATE', ...RETURN),
  'a call of its creator': assemble(0, 0, 0, 0, 0, 'CALLER', 'GAS', 'CALL', 'RETURNDATASIZE', 'ADD', ...RETURN),
  'code that begins as in EIP-3540': '0xef000101',
  'the largest code': `0x00${'00'.repeat(49_151)}`,
  'too much code': `0x00${'00'.repeat(49_152)}`,
}

/** Creates with salt and value: calldata is which, salt, value, and the code. Then looks at what it created. */
const creator = (kind: 'CREATE' | 'CREATE2'): Part[] => [
  ...['CALLDATASIZE', 0, 0, 'CALLDATACOPY', 'GAS'],
  ...(kind === 'CREATE2' ? [0, 'CALLDATALOAD'] : []),
  ...[64, 'CALLDATASIZE', 'SUB', 64, 32, 'CALLDATALOAD', kind],
  ...['DUP1', 'EXTCODESIZE', 'DUP2', 'EXTCODEHASH', 'ADD', 'DUP2', 'BALANCE', 'ADD', 'ADD'],
  ...REPORT,
]
const asked = (code: Hex, salt = 1, value = 0): Hex => join(word(salt), word(value), code)

/** EIP-1014, 170, 3541 and 3860. */
export function addCreations(scene: Scene): void {
  for (const kind of ['CREATE', 'CREATE2'] as const) {
    const to = scene.place({ code: assemble(...creator(kind)), balance: 100n })
    for (const [what, code] of Object.entries(RUNS)) {
      const large = sizeOf(code) > 1000
      const ask = { what: `${kind} of ${what}`, to, data: asked(code), gas: 12_000_000n }
      scene.ask('creation', ['london', large ? 'shanghai' : 'prague'], ask)
      if (large) continue
      const value = { ...ask, what: `${ask.what}, with value`, data: asked(code, 2, 3) }
      const little = { ...ask, what: `${ask.what}, with little gas`, gas: 60_000n }
      scene.ask('creation', ['prague'], kind === 'CREATE' ? value : little)
    }
    const tooMuch = { what: `${kind} with too much value`, to, data: asked('0x', 2, 101) }
    scene.ask('creation', ['london', 'prague'], tooMuch)
  }
  for (const [what, data] of Object.entries(RUNS)) {
    const large = sizeOf(data) > 1000
    scene.ask('creation', ['london', large ? 'shanghai' : 'osaka'], {
      what: `a transaction with ${what}`,
      to: null,
      data,
      gas: 12_000_000n,
    })
    if (!large)
      scene.ask('creation', ['prague'], {
        what: `a transaction with value and ${what}`,
        to: null,
        data,
        value: 9n,
        gas: 100_000n,
      })
  }
}

/** What is in the way of a new contract: all but storage alone, of which anvil takes no notice. */
export function addCollisions(scene: Scene): void {
  const code = RUNS['a contract'] ?? '0x'
  const obstacles: Record<string, FullAccount> = {
    'a balance': { nonce: 0n, balance: 4n },
    'a nonce': { nonce: 1n },
    code: { nonce: 0n, code: '0x00' },
    'code and storage': { code: '0x00', storage: { [word(1)]: word(1) } },
    'a delegation': { nonce: 0n, code: `0xef0100${OTHER.slice(2)}` },
  }
  for (const [what, account] of Object.entries(obstacles)) {
    const forks = what === 'a delegation' ? (['prague'] as const) : (['london', 'prague'] as const)
    for (const kind of ['CREATE', 'CREATE2'] as const) {
      const from = scene.place({ code: assemble(...creator(kind)), balance: 100n })
      const salt = word(1)
      const created =
        kind === 'CREATE' ? getContractAddress({ from, nonce: 1n }) : getCreate2Address({ from, salt, bytecode: code })
      scene.set(created.toLowerCase() as Hex, account)
      for (const value of [0, 2]) {
        scene.ask('collisions', forks, {
          what: `${kind} where ${what} is, with ${value}`,
          to: from,
          data: asked(code, 1, value),
        })
      }
    }
  }
  // The same address twice, also after the first contract has destroyed itself; and nonces that cannot grow.
  for (const first of ['a contract', 'its own end', 'nothing', 'an empty revert']) {
    const bytes = (RUNS[first] ?? '0x').slice(2)
    const init = bytes === '' ? 0 : BigInt(`0x${bytes.padEnd(64, '0')}`)
    const make: Part[] = [5, bytes.length / 2, 0, 0, 'CREATE2']
    const to = scene.program(init, 0, 'MSTORE', ...make, ...make, 'EQ', 'GAS', 'ADD', ...RETURN)
    scene.ask('collisions', ['london', 'shanghai', 'cancun', 'prague'], { what: `${first}, twice`, to })
  }
  for (const kind of ['CREATE', 'CREATE2'] as const) {
    for (const nonce of [2n ** 64n - 2n, 2n ** 64n - 1n]) {
      const to = scene.place({ code: assemble(...creator(kind)), nonce })
      scene.ask('collisions', ['london', 'prague'], { what: `${kind} with nonce ${nonce}`, to, data: asked(code) })
    }
  }
}

/** EIP-7702. */
export function addDelegations(scene: Scene): void {
  const delegatedTo = (to: Hex, more: FullAccount = {}) =>
    scene.place({ code: `0xef0100${to.slice(2)}`, balance: 6n, ...more })
  const says = scene.program(
    'ADDRESS',
    'CALLER',
    'XOR',
    0,
    'SLOAD',
    'ADD',
    'CODESIZE',
    'ADD',
    'SELFBALANCE',
    'ADD',
    'GAS',
    'ADD',
    ...RETURN,
  )
  const writes = scene.program(7, 0, 'SSTORE', 0, 'SLOAD', 'GAS', 'ADD', ...RETURN)
  const creates = scene.program(0, 0, 0, 'CREATE', ...RETURN)
  const accounts: Record<string, Hex> = {
    'to a contract': delegatedTo(says, { storage: { [word(0)]: word(3) } }),
    'to a writer': delegatedTo(writes),
    'to a creator': delegatedTo(creates),
    'to a precompile': delegatedTo(PRECOMPILE),
    'to nothing': delegatedTo(ABSENT),
    'to an empty account': delegatedTo(EMPTY),
    'to the sender': delegatedTo(RICH),
    'to one that reverts': delegatedTo(scene.program(8, 0, 'MSTORE', 32, 0, 'REVERT')),
  }
  accounts['to a delegation'] = delegatedTo(accounts['to a contract'] ?? ABSENT)
  const itself = scene.place({ balance: 1n })
  scene.set(itself, { nonce: 1n, balance: 1n, code: `0xef0100${itself.slice(2)}` })
  accounts['to itself'] = itself

  const kinds = ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'] as const
  const meters = kinds.map(kind => [kind, scene.program(...meter(kind))] as const)
  const forks = since('prague')
  for (const [what, account] of Object.entries(accounts)) {
    scene.ask('delegation', forks, { what: `called, ${what}`, to: account })
    scene.ask('delegation', forks, { what: `called with value, ${what}`, to: account, value: 5n })
    scene.ask('delegation', forks, { what: `calling itself, ${what}`, from: account, to: account })
    for (const [kind, to] of meters) {
      for (const gas of [0, 100_000]) {
        scene.ask('delegation', ['prague'], { what: `${kind} with ${gas}, ${what}`, to, data: input(gas, account) })
      }
      const accessList = [{ address: says, storageKeys: [] }]
      if (kind === 'CALL')
        scene.ask('delegation', ['osaka'], {
          what: `${kind}, declared, ${what}`,
          to,
          data: input(90_000, account),
          accessList,
        })
    }
    const looks = scene.program(...looking(account))
    scene.ask('delegation', forks, { what: `looked at, ${what}`, to: looks })
  }
}

/** Size, hash, first bytes and balance of an account, and the gas that looking takes. */
const looking = (address: Hex): Part[] => [
  ...['GAS', n(address), 'EXTCODESIZE', 0, 'MSTORE', n(address), 'EXTCODEHASH', 32, 'MSTORE'],
  ...[40, 0, 64, n(address), 'EXTCODECOPY', n(address), 'BALANCE', 128, 'MSTORE', 'GAS', 'SWAP1', 'SUB', 160, 'MSTORE'],
  ...[192, 0, 'RETURN'],
]

/** EIP-1052 and others: what a contract sees of accounts of every kind. */
export function addAccounts(scene: Scene): void {
  const kinds: Record<string, Hex> = {
    'an absent account': ABSENT,
    'an account without code': EMPTY,
    'a contract': OTHER,
    'the sender': RICH,
    'the coinbase': COINBASE,
    'the zero address': `0x${'00'.repeat(20)}`,
    'a precompile': `0x${'00'.repeat(19)}01`,
    'a precompile of a later fork': `0x${'00'.repeat(19)}0b`,
    'the precompile of Osaka': `0x${'00'.repeat(18)}0100`,
    'a contract without code': scene.place({}),
  }
  for (const [what, address] of Object.entries(kinds)) {
    const to = scene.program(...looking(address))
    scene.ask('accounts', since('london'), { what, to })
    scene.ask('accounts', ['osaka'], { what: `${what}, from itself`, from: address, to })
  }
  for (const [offset, size] of [
    [0, 0],
    [0, 3],
    [1, 64],
    [100, 5],
    [2n ** 255n, 4],
    [0, 2n ** 60n],
  ] as const) {
    const to = scene.program(size, offset, 3, n(OTHER), 'EXTCODECOPY', 0, 'MLOAD', 'GAS', 'ADD', ...RETURN)
    scene.ask('accounts', ['london', 'prague'], { what: `EXTCODECOPY of ${size} at ${offset}`, to })
  }
}

/** EIP-3529 and EIP-6780. */
export function addSelfDestructs(scene: Scene): void {
  const heirs: Record<string, Hex> = {
    absent: ABSENT,
    empty: EMPTY,
    sender: RICH,
    precompile: `0x${'00'.repeat(19)}04`,
  }
  for (const balance of [0n, 50n]) {
    for (const [heir, address] of [...Object.entries(heirs), ['itself', undefined] as const]) {
      const target = scene.place({
        code: assemble(1, 1, 'SSTORE', ...(address === undefined ? ['ADDRESS'] : [n(address)]), 'SELFDESTRUCT'),
        balance,
        storage: { [word(1)]: word(2) },
      })
      const what = `${balance} to ${heir}`
      scene.ask('self-destruction', ['london', 'prague'], { what, to: target })
      // Called twice, then looked at.
      const call: Part[] = [0, 0, 0, 0, 0, n(target), 100_000, 'CALL']
      const to = scene.program(
        'GAS',
        ...call,
        ...call,
        'ADD',
        n(target),
        'EXTCODESIZE',
        'ADD',
        n(target),
        'BALANCE',
        'ADD',
        address === undefined ? 0 : n(address),
        'BALANCE',
        'ADD',
        ...REPORT,
      )
      scene.ask('self-destruction', ['shanghai', 'cancun', 'osaka'], { what: `${what}, called twice`, to })
      scene.ask('self-destruction', ['prague'], { what: `${what}, little gas`, to: target, gas: 50_000n })
      const still = scene.program(...meter('STATICCALL'))
      scene.ask('self-destruction', ['prague'], {
        what: `${what}, in a static call`,
        to: still,
        data: input(90_000, target),
      })
    }
  }
  // Created, destroyed and looked at in one transaction.
  for (const heir of ['CALLER', 'ADDRESS', 'ORIGIN']) {
    const runtime = assemble(heir, 'SELFDESTRUCT')
    const init = join(assemble(BigInt(runtime), 0, 'MSTORE', 2, 30, 'RETURN'))
    const parts: Part[] = [BigInt(init.padEnd(66, '0')), 0, 'MSTORE', sizeOf(init), 0, 9, 'CREATE', 0, 'MSTORE', 'GAS']
    const call: Part[] = [0, 0, 0, 0, 0, 0, 'MLOAD', 100_000, 'CALL']
    const look: Part[] = [0, 'MLOAD', 'EXTCODESIZE', 0, 'MLOAD', 'BALANCE', 'ADD', 'ADD']
    const to = scene.place({ code: assemble(...parts, ...call, ...look, ...REPORT), balance: 20n })
    scene.ask('self-destruction', since('london'), { what: `created, in favour of ${heir}`, to })
  }
}

/** Balances that do and do not suffice, and what sending costs. */
export function addValues(scene: Scene): void {
  const targets: Record<string, Hex> = { absent: ABSENT, empty: EMPTY, contract: OTHER, precompile: PRECOMPILE }
  for (const kind of ['CALL', 'CALLCODE'] as const) {
    for (const value of [0, 1, 30, 31]) {
      const to = scene.place({ code: assemble(...meter(kind, value)), balance: 30n })
      for (const [what, address] of Object.entries(targets)) {
        for (const gas of [0, 50_000]) {
          scene.ask('values', [gas === 0 ? 'london' : 'prague'], {
            what: `${kind} of ${what} with ${value} and ${gas}`,
            to,
            data: input(gas, address),
          })
        }
      }
      const outer = scene.program(...meter('STATICCALL'))
      scene.ask('values', ['prague'], {
        what: `${kind} with ${value} in a static call`,
        to: outer,
        data: input(90_000, to, input(5_000, OTHER)),
      })
      scene.ask('values', ['prague'], {
        what: `${kind} with ${value} of what the call brings`,
        to,
        value: 1n,
        data: input(5_000, EMPTY),
      })
    }
  }
  // What a frame sent and wrote is undone if it fails. All three numbers show in the result.
  for (const kind of ['CALL', 'CALLCODE', 'DELEGATECALL'] as const) {
    for (const ending of [['REVERT'], ['INVALID'], ['STOP']]) {
      const target = scene.program(9, 1, 'SSTORE', 0, 0, ...ending)
      const look = ['SELFBALANCE', 256, 'MUL', 'ADD', n(target), 'BALANCE', 'ADD', 1, 'SLOAD', 65_536, 'MUL', 'ADD']
      const reach = [0, 0, 0, 0, ...(kind === 'DELEGATECALL' ? [] : [3]), n(target), 60_000, kind]
      const to = scene.place({
        code: assemble(...reach, ...look, ...RETURN),
        balance: 30n,
        storage: { [word(1)]: word(5) },
      })
      scene.ask('values', ['london', 'prague'], { what: `${kind} that ends with ${ending}, then its traces`, to })
    }
  }
  const sees = scene.program('CALLVALUE', 'SELFBALANCE', 'ADD', 'CALLER', 'BALANCE', 'ADD', ...RETURN)
  for (const to of [sees, ABSENT, EMPTY, PRECOMPILE]) {
    for (const [from, value] of [
      [EMPTY, 5n],
      [EMPTY, 6n],
      [ABSENT, 0n],
      [ABSENT, 1n],
      [RICH, 10n ** 18n],
      [RICH, 10n ** 18n + 1n],
      [RICH, 2n ** 255n],
    ] as const) {
      scene.ask('values', ['prague'], { what: `${value} from ${from} to ${to}`, from, to, value, gas: GAS })
    }
  }
}
