import fc from 'fast-check'
import { HARDFORKS, type Hardfork } from '../../../src/client/network/network.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { sized } from '../../size.ts'
import { word } from '../endpoints.ts'
import { assemble, join, type Part, RETURN, sizeOf } from './assemble.ts'
import { ABSENT, BLOCK, EMPTY, meter, OTHER, REPORT, RICH, type Scene, since } from './scene.ts'

const WORDS: readonly (bigint | number)[] = [
  ...[0, 0, 1, 2, 3, 31, 32, 33, 64, 100, 255, 256, 1024, 2n ** 64n - 1n, 2n ** 64n, 2n ** 128n, 2n ** 255n - 1n],
  ...[2n ** 255n, 2n ** 255n + 1n, 2n ** 256n - 2n, 2n ** 256n - 1n, BigInt(OTHER), BigInt(ABSENT), BigInt(RICH)],
]

/**
 * Executes any of the 256 bytes as an instruction: calldata is where in the code to jump, and seven operands, below which lie
 * ten more. Returns two words of the stack, the hash of the memory, and the gas.
 */
function instructionTable(hardfork: Hardfork): { code: Hex; places: readonly number[] } {
  const before = assemble(
    ...['CALLDATASIZE', 0, 0, 'CALLDATACOPY', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ...[7, 6, 5, 4, 3, 2, 1, 0].flatMap((at): Part[] => [32 * at, 'CALLDATALOAD']),
    'JUMP',
  )
  // The end comes first, so that its place is known.
  const end = sizeOf(before)
  const after = assemble(
    ...['JUMPDEST', 'MSIZE', 0, 'KECCAK256', 0, 'MSTORE', 32, 'MSTORE', 64, 'MSTORE'],
    ...['RETURNDATASIZE', 'MSIZE', 'ADD', 'GAS', 'ADD', 96, 'MSTORE', 128, 0, 'RETURN'],
  )
  const places: number[] = []
  let code = join(before, after)
  for (let byte = 0; byte < 256; byte++) {
    places.push(sizeOf(code))
    // No proof covers the difficulty, so no call reads it.
    const instruction = hardfork === 'london' && byte === 0x44 ? 'JUMPDEST' : `0x${byte.toString(16).padStart(2, '0')}`
    const pushed = byte >= 0x60 && byte < 0x80 ? byte - 0x5f : 0
    code = join(code, assemble('JUMPDEST', instruction, `0x${'5b'.repeat(pushed)}`, end, 'JUMP'))
  }
  return { code, places }
}

/**
 * Calls a table once for each place after the first 256 bytes of calldata, which are its operands. Returns a hash for each: of
 * success, gas, and the beginning of the return data.
 */
function sweep(table: Hex): Hex {
  const before = assemble('CALLDATASIZE', 0, 0x3000, 'CALLDATACOPY', 256, 0, 0, 'CALLDATACOPY', 0)
  const loop = assemble(
    ...['JUMPDEST', 'DUP1', 32, 'MUL', 0x3100, 'ADD', 'MLOAD', 0, 'MSTORE', 'GAS'],
    ...[128, 0x160, 256, 0, 0, BigInt(table), 60_000, 'CALL', 0x100, 'MSTORE'],
    ...['GAS', 'SWAP1', 'SUB', 0x120, 'MSTORE', 'RETURNDATASIZE', 0x140, 'MSTORE'],
    ...[224, 0x100, 'KECCAK256', 'DUP2', 32, 'MUL', 0x400, 'ADD', 'MSTORE'],
    ...[1, 'ADD', 'DUP1', 256, 'GT', sizeOf(before), 'JUMPI', 8192, 0x400, 'RETURN'],
  )
  return join(before, loop)
}

/** Every byte as an instruction of each hard fork, with drawn operands: all in one call, or in Prague one by one. */
export function addInstructions(scene: Scene): void {
  for (const hardfork of ['london', 'cancun', 'prague', 'osaka'] as const) {
    const { code, places } = instructionTable(hardfork)
    const table = scene.place({ code, balance: 40n, storage: { [word(1)]: word(5), [word(2)]: word(6) } })
    const to = scene.place({ code: sweep(table) })
    const drawn = fc.array(fc.constantFrom(...WORDS), { minLength: 7, maxLength: 7 })
    const sets = fc.sample(drawn, { numRuns: sized(1), seed: 30 + HARDFORKS.indexOf(hardfork) })
    for (const [index, operands] of sets.entries()) {
      const data = join(...operands.map(operand => word(operand)))
      const what = operands.join(', ')
      const all = join(word(0), data, ...places.map(place => word(place)))
      if (hardfork !== 'prague') scene.ask('all instructions', [hardfork], { what, to, data: all, gas: 40_000_000n })
      if (hardfork !== 'prague' || index > 0) continue
      for (const [byte, place] of places.entries()) {
        // All that push, duplicate and swap differ in a number alone.
        if (byte >= 0x62 && byte < 0x9f) continue
        const one = { what: `0x${byte.toString(16)} of ${what}`, to: table, data: join(word(place), data) }
        scene.ask('instructions', [hardfork], one)
      }
    }
  }
}

/** What a call sees of its block and its transaction. */
export function addEnvironment(scene: Scene): void {
  const names = [
    ...['COINBASE', 'TIMESTAMP', 'NUMBER', 'GASLIMIT', 'CHAINID', 'BASEFEE', 'BLOBBASEFEE', 'GASPRICE', 'ORIGIN'],
    ...['CALLER', 'SELFBALANCE', 'PREVRANDAO', 'PUSH0'],
  ]
  for (const name of names) {
    const to = scene.program(name, ...RETURN)
    // No proof covers the difficulty, so no call reads it.
    scene.ask('environment', since(name === 'PREVRANDAO' ? 'paris' : 'london'), { what: name, to })
  }
  const hash = scene.program(0, 'CALLDATALOAD', 'BLOCKHASH', 'GAS', 'ADD', ...RETURN)
  const blob = scene.program(0, 'CALLDATALOAD', 'BLOBHASH', 'GAS', 'ADD', ...RETURN)
  for (const block of [0n, 1n, BLOCK - 2n, BLOCK - 1n, BLOCK, BLOCK + 1n, 300n, 2n ** 64n, 2n ** 256n - 1n]) {
    scene.ask('environment', ['london', 'prague'], { what: `BLOCKHASH of ${block}`, to: hash, data: word(block) })
    scene.ask('environment', ['shanghai', 'prague'], { what: `BLOBHASH of ${block}`, to: blob, data: word(block) })
  }
  const pays = scene.program('ORIGIN', 'BALANCE', 'GASPRICE', 'ADD', 'BASEFEE', 3, 'SHL', 'ADD', ...RETURN)
  const fees = [
    ...[
      { gasPrice: 9n },
      { gasPrice: 7n },
      { maxFeePerGas: 9n, maxPriorityFeePerGas: 0n },
      { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n },
    ],
    ...[
      { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n },
      { gasPrice: 10n ** 12n },
      { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n },
    ],
  ]
  for (const fee of fees) {
    const what = Object.entries(fee).join(' ')
    scene.ask('environment', ['london', 'prague'], { what, to: pays, ...fee })
    scene.ask('environment', ['prague'], {
      what: `${what}, and all the rest`,
      to: pays,
      value: 10n ** 18n - 9n * 3_000_000n,
      ...fee,
    })
  }
}

/** What a transaction costs before its first instruction, and at least (EIP-2028, 2930, 3860, 7623): that, and one less. */
export function addIntrinsicGas(scene: Scene): void {
  const stops = scene.program('STOP')
  const clears = scene.place({ code: assemble(0, 1, 'SSTORE'), storage: { [word(1)]: word(1) } })
  const datas: Hex[] = [
    '0x',
    '0x00',
    '0xff',
    `0x${'00'.repeat(100)}`,
    `0x${'ff'.repeat(300)}`,
    `0x${'ff00'.repeat(33)}`,
  ]
  const lists = [[], [{ address: OTHER, storageKeys: [word(1), word(2)] }]]
  for (const data of datas) {
    const nonZero = [...data.slice(2).matchAll(/../g)].filter(([byte]) => byte !== '00').length
    const tokens = BigInt(sizeOf(data) + 3 * nonZero)
    for (const accessList of lists) {
      const list = accessList.length === 0 ? 0n : 2400n + 2n * 1900n
      const least = [21_000n + 4n * tokens + list, 21_000n + 10n * tokens]
      for (const gas of least.flatMap(gas => [gas, gas - 1n])) {
        const what = `${gas} for ${data.slice(0, 20)}, ${accessList.length} declared`
        scene.ask('intrinsic gas', ['cancun', 'prague'], { what, to: stops, data, accessList, gas })
      }
      scene.ask('intrinsic gas', ['london', 'prague'], {
        what: `refund for ${data.slice(0, 20)}`,
        to: clears,
        data,
        accessList,
      })
      const words = BigInt(Math.ceil(sizeOf(data) / 32))
      const creation = 53_000n + 4n * tokens + list
      for (const gas of [creation, creation + 2n * words, creation - 1n, creation + 2n * words - 1n]) {
        const what = `${gas} to create ${data.slice(0, 20)}`
        scene.ask('intrinsic gas', ['london', 'prague'], { what, to: null, data, accessList, gas })
      }
    }
  }
}

/** What a static call must not do, in each way of getting there. */
export function addStaticCalls(scene: Scene): void {
  const reach = (kind: string, ...value: number[]): Part[] => [0, 0, 0, 0, ...value, BigInt(EMPTY), 5_000, kind]
  const deeds: Record<string, Part[]> = {
    'a write': [1, 1, 'SSTORE'],
    'a write of what is there': [0, 1, 'SSTORE'],
    'a transient write': [1, 1, 'TSTORE'],
    LOG0: [0, 0, 'LOG0'],
    LOG1: [1, 0, 0, 'LOG1'],
    CREATE: [0, 0, 0, 'CREATE'],
    CREATE2: [0, 0, 0, 0, 'CREATE2'],
    SELFDESTRUCT: ['CALLER', 'SELFDESTRUCT'],
    'a call with value': reach('CALL', 1),
    'a call without': reach('CALL', 0),
    'a CALLCODE with value': reach('CALLCODE', 1),
    'a read': [1, 'SLOAD'],
  }
  const still = scene.program(...meter('STATICCALL'))
  const through = (['CALL', 'DELEGATECALL', 'CALLCODE'] as const).map(
    kind => [kind, scene.program(...meter(kind))] as const,
  )
  for (const [what, deed] of Object.entries(deeds)) {
    const target = scene.place({ code: assemble(...deed, 'STOP'), balance: 9n })
    const call = join(word(80_000), word(BigInt(target)))
    scene.ask('static calls', ['london', 'prague'], { what, to: still, data: call })
    for (const [kind, address] of through) {
      const data = join(word(200_000), word(BigInt(address)), call)
      scene.ask('static calls', ['prague'], { what: `${what}, through ${kind}`, to: still, data })
    }
  }
}

/** Calls as deep as the gas allows (EIP-150), or 1024; what they leave, and what a 64th of the gas can still do. */
export function addDepth(scene: Scene): void {
  for (const kind of ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'] as const) {
    const value = kind === 'CALL' || kind === 'CALLCODE' ? [0] : []
    // Returns how many frames there are below it.
    const to = scene.program(...[32, 0, 0, 0, ...value, 'ADDRESS', 'GAS', kind, 'POP', 0, 'MLOAD', 1, 'ADD', ...RETURN])
    for (const gas of [30_000n, 60_000n, 200_000n]) {
      if (gas < 200_000n || kind === 'CALL')
        scene.ask('depth', [gas < 60_000n ? 'london' : 'prague'], { what: `${kind} with ${gas}`, to, gas })
    }
    if (kind === 'CALL') scene.ask('depth', ['prague'], { what: `${kind} to the bottom`, to, gas: 2n ** 40n })
  }
  // Each frame says what the frame below it got.
  const gas = scene.program(
    32,
    0,
    0,
    0,
    0,
    'ADDRESS',
    'GAS',
    'CALL',
    0,
    'MLOAD',
    'GAS',
    'ADD',
    'ADD',
    3,
    'MUL',
    ...RETURN,
  )
  for (const limit of [22_000n, 25_000n, 64_000n, 300_000n])
    scene.ask('depth', ['london', 'osaka'], { what: `gas of ${limit}`, to: gas, gas: limit })
  // Asks for more than there is, for exactly what there is, and for all but a 64th.
  const burns = scene.program('INVALID')
  const calling = scene.program(...meter())
  for (const asked of [0n, 1n, 77_000n, 78_000n, 79_000n, 2n ** 64n, 2n ** 256n - 1n]) {
    const data = join(word(asked), word(BigInt(burns)))
    scene.ask('depth', ['london', 'prague'], { what: `a call with ${asked}`, to: calling, data, gas: 100_000n })
  }
  // Creates itself until there is no gas.
  const init = assemble('CODESIZE', 0, 0, 'CODECOPY', 'CODESIZE', 0, 0, 'CREATE', ...RETURN)
  for (const limit of [200_000n, 400_000n])
    scene.ask('depth', ['london', 'prague'], { what: `creations with ${limit}`, to: null, data: init, gas: limit })
}

/** Much return data, that nobody reads, that is read beyond its end, and that arrives through other contracts. */
export function addReturnData(scene: Scene): void {
  const endings = ['RETURN', 'REVERT'] as const
  for (const ending of endings) {
    const bomb = scene.program(7, 0, 'MSTORE', 0, 'CALLDATALOAD', 0, ending)
    const calling = scene.program(...meter())
    for (const size of [0, 1, 31, 32, 33, 100_000, 200_000]) {
      const data = join(word(1_000_000), word(BigInt(bomb)), word(size))
      scene.ask('return data', ['london', 'prague'], { what: `${ending} of ${size}`, to: calling, data })
      scene.ask('return data', ['prague'], {
        what: `${ending} of ${size}, little gas`,
        to: calling,
        data,
        gas: 100_000n,
      })
      scene.ask('return data', ['prague'], { what: `${ending} of ${size}, at once`, to: bomb, data: word(size) })
      const through = scene.program(...meter('DELEGATECALL'))
      scene.ask('return data', ['prague'], {
        what: `${ending} of ${size}, handed on`,
        to: through,
        data: join(word(1_500_000), word(BigInt(calling)), data),
      })
    }
    // Unread, and read from one place to another.
    const unread = scene.program(
      ...[12_345, 0, 'MSTORE', 0, 0, 32, 0, 0, BigInt(bomb), 500_000, 'CALL', 'RETURNDATASIZE', 'ADD', ...REPORT],
    )
    scene.ask('return data', ['london', 'prague'], { what: `${ending}, unread`, to: unread })
    const copies: readonly (readonly [bigint | number, bigint | number])[] = [
      [0, 32],
      [1, 31],
      [1, 32],
      [32, 0],
      [33, 0],
      [2n ** 256n - 1n, 2],
      [0, 2n ** 40n],
    ]
    for (const [from, size] of copies) {
      const to = scene.program(
        ...[
          32,
          0,
          'MSTORE',
          0,
          0,
          32,
          0,
          0,
          BigInt(bomb),
          500_000,
          'CALL',
          size,
          from,
          64,
          'RETURNDATACOPY',
          64,
          'MLOAD',
          'MSIZE',
          'ADD',
          'ADD',
          ...RETURN,
        ],
      )
      scene.ask('return data', ['london', 'prague'], { what: `${ending}, ${size} from ${from}`, to })
    }
    // What was returned to a call is gone after the next, also after a creation.
    const next = scene.program(
      ...[
        64,
        0,
        'MSTORE',
        0,
        0,
        32,
        0,
        0,
        BigInt(bomb),
        500_000,
        'CALL',
        'RETURNDATASIZE',
        0,
        0,
        0,
        'CREATE',
        'RETURNDATASIZE',
        'ADD',
        'ADD',
        'ADD',
        ...RETURN,
      ],
    )
    scene.ask('return data', ['london', 'prague'], { what: `${ending}, then a creation`, to: next })
  }
}

/** Reverts and failures at once, which a client sees. */
export function addReverts(scene: Scene): void {
  const error = `0x08c379a0${word(32).slice(2)}${word(3).slice(2)}${'6e6f21'.padEnd(64, '0')}` as const
  const datas: Record<string, Hex> = {
    nothing: '0x',
    'a byte': '0x01',
    'an error of Solidity': error,
    'a panic of Solidity': `0x4e487b71${word(0x11).slice(2)}`,
    'an error with a text cut off': `0x08c379a0${word(32).slice(2)}${word(900).slice(2)}`,
    'an error of another contract': `0x12345678${word(1).slice(2)}`,
    'much data': `0x${'ab'.repeat(3000)}`,
  }
  // Reverts with its calldata.
  const to = scene.place({
    code: assemble(1, 1, 'SSTORE', 'CALLDATASIZE', 0, 0, 'CALLDATACOPY', 'CALLDATASIZE', 0, 'REVERT'),
  })
  const code = assemble('CODESIZE', 0, 0, 'CODECOPY')
  for (const [what, data] of Object.entries(datas)) {
    scene.ask('reverts', since('london'), { what, to, data })
    scene.ask('reverts', ['prague'], { what: `${what}, with value that comes back`, to, data, value: 3n })
    scene.ask('reverts', ['prague'], { what: `${what}, without enough gas`, to, data, gas: 50_000n })
    const init = join(code, assemble('CODESIZE', 14, 'SWAP1', 'SUB', 14, 'REVERT'), data)
    scene.ask('reverts', ['london', 'prague'], { what: `${what}, of a creation`, to: null, data: init })
  }
  const failures: Record<string, Hex> = {
    'a stack that is empty': '0x01',
    'a stack that is full': `0x${'6001'.repeat(1025)}`,
    'a stack that is almost full': `0x${'6001'.repeat(1024)}`,
    'a jump into data': assemble(4, 'JUMP', `0x615b5b`),
    'a jump beyond the end': assemble(2n ** 255n, 'JUMP'),
    'a jump that is not taken': assemble(0, 2n ** 255n, 'JUMPI'),
    'the invalid instruction': '0xfe',
    'an unknown instruction': '0x0c',
    'a push that is cut off': '0x60',
    'no code': '0x',
    'the first byte of other formats': '0xef00',
    'an endless loop': '0x5b600056',
    'memory that nobody can pay': assemble(2n ** 64n, 'MLOAD'),
    'a huge copy': assemble(2n ** 63n, 0, 0, 'CALLDATACOPY'),
    'a copy of nothing far away': assemble(0, 0, 2n ** 200n, 'CALLDATACOPY', 'MSIZE', ...RETURN),
    'a hash of nothing far away': assemble(0, 2n ** 200n, 'KECCAK256', ...RETURN),
  }
  for (const [what, code] of Object.entries(failures)) {
    scene.ask('reverts', ['london', 'prague'], { what, to: scene.place({ code }), gas: 300_000n })
  }
}

/** Memory, its price, and EIP-5656. */
export function addMemory(scene: Scene): void {
  const fill: Part[] = [
    BigInt(`0x${'1122334455667788'.repeat(4)}`),
    0,
    'MSTORE',
    BigInt(`0x${'99aabbccddeeff00'.repeat(4)}`),
    32,
    'MSTORE',
  ]
  // Destination, source and size are calldata.
  const copies = scene.program(
    ...fill,
    64,
    'CALLDATALOAD',
    32,
    'CALLDATALOAD',
    0,
    'CALLDATALOAD',
    'MCOPY',
    'MSIZE',
    0,
    'KECCAK256',
    'MSIZE',
    'ADD',
    'GAS',
    'ADD',
    ...RETURN,
  )
  const moves: readonly (readonly [bigint | number, bigint | number, bigint | number])[] = [
    ...([
      [0, 32, 32],
      [32, 0, 32],
      [0, 1, 63],
      [1, 0, 63],
      [5, 5, 20],
      [0, 0, 0],
      [2n ** 200n, 0, 0],
      [0, 2n ** 200n, 0],
    ] as const),
    ...([
      [64, 0, 64],
      [0, 64, 64],
      [10_000, 0, 1],
      [0, 10_000, 1],
      [2n ** 64n, 0, 1],
      [0, 2n ** 64n, 1],
      [0, 0, 2n ** 64n],
    ] as const),
    ...([
      [8, 0, 1000],
      [0, 8, 1000],
    ] as const),
  ]
  for (const [to, from, size] of moves) {
    const data = join(word(to), word(from), word(size))
    scene.ask('memory', ['shanghai', ...since('cancun')], {
      what: `MCOPY of ${size} from ${from} to ${to}`,
      to: copies,
      data,
    })
  }
  for (const at of [0, 1, 31, 32, 1000, 22_000, 22_500, 100_000, 1_000_000, 2n ** 32n]) {
    const to = scene.program(1, at, 'MSTORE8', 'MSIZE', 'GAS', 'ADD', ...RETURN)
    scene.ask('memory', ['london', 'prague'], { what: `a byte at ${at}`, to })
  }
  for (const exponent of [0, 1, 255, 256, 65_536, 2n ** 248n, 2n ** 256n - 1n]) {
    const to = scene.program(exponent, 3, 'EXP', 'GAS', 'ADD', ...RETURN)
    scene.ask('memory', ['london', 'prague'], { what: `three to the power of ${exponent}`, to })
  }
}
