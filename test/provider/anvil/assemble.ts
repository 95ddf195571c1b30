import type { Hex } from '../../../src/entry/index.ts'

/** The instructions of the EVM by their first byte, from the Yellow Paper and the EIPs. */
const ROWS: readonly (readonly [number, string])[] = [
  [0x00, 'STOP ADD MUL SUB DIV SDIV MOD SMOD ADDMOD MULMOD EXP SIGNEXTEND'],
  [0x10, 'LT GT SLT SGT EQ ISZERO AND OR XOR NOT BYTE SHL SHR SAR CLZ'],
  [0x20, 'KECCAK256'],
  [0x30, 'ADDRESS BALANCE ORIGIN CALLER CALLVALUE CALLDATALOAD CALLDATASIZE CALLDATACOPY CODESIZE CODECOPY GASPRICE'],
  [0x3b, 'EXTCODESIZE EXTCODECOPY RETURNDATASIZE RETURNDATACOPY EXTCODEHASH'],
  [0x40, 'BLOCKHASH COINBASE TIMESTAMP NUMBER PREVRANDAO GASLIMIT CHAINID SELFBALANCE BASEFEE BLOBHASH BLOBBASEFEE'],
  [0x50, 'POP MLOAD MSTORE MSTORE8 SLOAD SSTORE JUMP JUMPI PC MSIZE GAS JUMPDEST TLOAD TSTORE MCOPY PUSH0'],
  [0x80, 'DUP1 DUP2 DUP3 DUP4 DUP5 DUP6 DUP7'],
  [0x90, 'SWAP1 SWAP2 SWAP3'],
  [0xa0, 'LOG0 LOG1 LOG2'],
  [0xf0, 'CREATE CALL CALLCODE RETURN DELEGATECALL CREATE2'],
  [0xfa, 'STATICCALL'],
  [0xfd, 'REVERT INVALID SELFDESTRUCT'],
]
const BYTES = new Map(
  ROWS.flatMap(([first, names]) => names.split(' ').map((name, index): [string, number] => [name, first + index])),
)

const digits = (value: bigint | number): string => {
  const text = value.toString(16)
  return text.length % 2 === 0 ? text : `0${text}`
}

/** The name of an instruction; a number or an address in `push`, to be pushed; or bytes as they are. */
export type Part = string | number | bigint

/** Assembles a program. Zero is pushed with PUSH1, which every hard fork has. */
export function assemble(...parts: readonly Part[]): Hex {
  const bytes = parts.map(part => {
    if (typeof part !== 'string') {
      const pushed = digits(part)
      return digits(0x5f + pushed.length / 2) + pushed
    }
    if (part.startsWith('0x')) return part.slice(2)
    const byte = BYTES.get(part)
    if (byte === undefined) throw new Error(`no instruction ${part}`)
    return digits(byte)
  })
  return `0x${bytes.join('')}`
}

export const sizeOf = (hex: Hex): number => hex.length / 2 - 1
export const join = (...parts: readonly Hex[]): Hex => `0x${parts.map(part => part.slice(2)).join('')}`

/** Returns the word on the stack. */
export const RETURN: readonly Part[] = [0, 'MSTORE', 32, 0, 'RETURN']
