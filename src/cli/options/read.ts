import { invalid } from '../../base/arguments.ts'
import type { L1BlockTag } from '../../client/l1/l1.ts'
import { type Hex, isArgumentError, mappingSlot } from '../../entry/index.ts'
import type { Environment } from '../../provider/options.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { parseNumber } from '../words/evidence.ts'
import { digitOffChecksum, isHexOf } from '../words/layout.ts'
import { cut } from '../words/value.ts'

/** What the text of an option stands for. @param name of the option @param second its second word, if it takes two @throws UsageError */
export type Read<T> = (text: string, name: string, second?: string) => T

export const asText: Read<string> = text => text

export const whole =
  (least: number, most: number): Read<number> =>
  (text, name) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : -1
    if (number >= least && number <= most) return number
    throw new UsageError(`${name}: expected ${least} to ${most}, found ${cut(text, MAX_SHOWN_LENGTH)}`)
  }

/** Decimal, or hexadecimal after 0x. */
export const integer =
  (bits: number): Read<bigint> =>
  (text, name) => {
    const value = parseNumber(text, bits)
    if (value !== null) return value
    const found = /^\d+$/.test(text) ? 'a larger one' : `${cut(text, MAX_SHOWN_LENGTH)}: write it in digits only`
    throw new UsageError(`${name}: expected a number below 2^${bits}, found ${found}`)
  }

export const hex =
  (length: number): Read<Hex> =>
  (text, name) => {
    if (isHexOf(length, text)) return text
    throw argumentRefused(invalid(name, `0x-prefixed hexadecimal of ${length} bytes`, text))
  }

export const address: Read<Hex> = (text, name) => (isAddress(name, text) ? text : hex(20)(text, name))

/** Whether it is an address. One of both cases must have its checksum (EIP-55): a proof that a misspelt account does not exist verifies. */
export function isAddress(place: string, text: string): text is Hex {
  if (!isHexOf(20, text)) return false
  const digit = digitOffChecksum(text)
  if (digit === null) return true
  throw new UsageError(
    `${place}: the checksum of this address is wrong, from digit ${digit} of 40 on. Copy it again, or write it in lower case to skip the check`,
  )
}

export const l1Block: Read<bigint | L1BlockTag> = (text, name) =>
  text === 'finalized' || text === 'safe' || text === 'latest' ? text : integer(64)(text, name)

/** A key of 32 bytes, or the number of a slot. Ambiguous text is refused, because an unintended key verifies as an empty slot. */
export const storageKey: Read<Hex> = (text, name) => {
  if (isHexOf(32, text)) return text
  const refuse = (reason: string) => new UsageError(`${name}: ${reason}: ${cut(text, MAX_SHOWN_LENGTH)}`)
  // Hexadecimal of 20 bytes can look like a decimal number.
  if (/^([0-9a-fA-F]{64}|[0-9]{40})$/.test(text)) throw refuse('write 0x before hexadecimal')
  if (isHexOf(20, text))
    throw refuse('this is an address, 20 bytes; for its entry in a mapping, use --mapping SLOT ADDRESS')
  if (/^0x[0-9a-fA-F]{17,63}$/.test(text))
    throw refuse('fewer than 32 bytes; if no digit is missing, pad it with zeros on the left')
  if (/^[1-9][0-9]{77,}$/.test(text) && (text.length > 78 || BigInt(text) >= 1n << 256n))
    throw refuse('it is too large: keys are below 2^256')
  const isNumber = /^0x[0-9a-fA-F]{1,16}$/.test(text) || /^(0|[1-9][0-9]{0,77})$/.test(text)
  if (!isNumber) throw refuse('expected 0, 0x0 or 32 bytes of hexadecimal after 0x')
  return slotKey(BigInt(text))
}

/** The storage key of a mapping's entry: the slot that declares it, and an address, a number or 32 bytes. */
export const mappingKeyOf: Read<Hex> = (slot, name, key = '') => {
  const at = storageKey(slot, `${name} SLOT`)
  try {
    return mappingSlot({ slot: at, keys: [isAddress(name, key) ? key : storageKey(key, `${name} KEY`)] })
  } catch (error) {
    throw isArgumentError(error) ? argumentRefused(error, name) : error
  }
}

export const call: Read<{ readonly to: Hex; readonly data: Hex }> = (to, name, data = '') => {
  if (!isAddress(name, to)) throw new UsageError(`${name}: expected the address of a contract, then the data`)
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(data))
    throw new UsageError(`${name}: expected hexadecimal data after the address, with 0x before it`)
  return { to, data: data as Hex }
}

const blockValues: Readonly<Record<string, Read<bigint | Hex>>> = {
  timestamp: integer(256),
  baseFee: integer(256),
  blobBaseFee: integer(256),
  gasLimit: integer(256),
  coinbase: hex(20),
  prevRandao: hex(32),
}

type BlockValue = readonly [name: string, value: bigint | Hex]

export const blockValue: Read<BlockValue> = (text, option) => {
  const [, name = '', value = ''] = /^([a-zA-Z]+)=(.*)$/s.exec(text) ?? []
  const read = Object.hasOwn(blockValues, name) ? blockValues[name] : undefined
  if (read !== undefined) return [name, read(value, `${option} ${name}`)]
  throw new UsageError(`${option}: expected NAME=VALUE, with one of ${Object.keys(blockValues).join(', ')}`)
}

export function environmentOf({ environment = [] }: { readonly environment?: readonly BlockValue[] | undefined }) {
  const names = environment.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new UsageError(`--environment: ${twice} is given twice`)
  return Object.fromEntries(environment) as Environment
}
