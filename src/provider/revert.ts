import { type Hex, hexToBytes } from '../base/bytes.ts'

/**
 * What a contract says as it reverts, in the two forms of Solidity itself: the text of `Error(string)`, or `Panic(0x…)` with
 * its number. Null for any other data. The text is a stranger's: make it printable before you show it.
 */
export function revertReason(data: Hex): string | null {
  const word = (at: number) => BigInt(`0x${data.slice(10 + 64 * at, 74 + 64 * at) || '0'}`)
  if (/^0x4e487b71[0-9a-f]{64}$/.test(data)) return `Panic(0x${word(0).toString(16)})`
  if (!/^0x08c379a0[0-9a-f]{128,}$/.test(data) || word(0) !== 32n) return null
  const length = word(1)
  const text = data.slice(138)
  if (length * 2n > BigInt(text.length)) return null
  return new TextDecoder().decode(hexToBytes(`0x${text.slice(0, 2 * Number(length))}`, Number(length)))
}
