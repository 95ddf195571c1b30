import { bytesToHex } from '../../base/bytes.ts'
import type { Hex } from '../../entry/index.ts'
import { type DecodedFilter, decodeFilter } from '../../verify/blocks/filter.ts'
import { MAX_CHOICES } from '../../verify/evidence/limits.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { isHexOf } from '../words/layout.ts'
import { cut } from '../words/value.ts'
import { isAddress } from './address.ts'
import { list, optionsOf, text } from './declared.ts'

/** Which logs. */
export const filterOptions = {
  address: list('CONTRACT', 'the contract that writes them (default: any)'),
  event: text('SIGNATURE', "such as 'Transfer(address,address,uint256)'"),
  topic: list('TOPIC', 'the next topic: 32 bytes, an address, several, or any'),
} as const
export const rangeOptions = optionsOf('from-block', 'to-block')

export interface FilterFlags {
  readonly address?: readonly string[] | undefined
  readonly event?: string | undefined
  readonly topic?: readonly string[] | undefined
}

/** Whether the user states a filter. */
export const isFilterStated = ({ address, event, topic }: FilterFlags): boolean =>
  address !== undefined || event !== undefined || topic !== undefined

/** @throws UsageError */
export function filterOf({ address = [], event, topic = [] }: FilterFlags): DecodedFilter {
  const wrong = address.find(one => !isHexOf(20, one))
  if (wrong !== undefined)
    throw new UsageError('--address: expected the address of a contract, 20 bytes of hexadecimal after 0x')
  if (address.length > MAX_CHOICES) throw new UsageError(`--address: at most ${MAX_CHOICES}`)
  const topics = [...(event === undefined ? [] : [[topicOf(event)]]), ...topic.map(choicesIn)]
  if (topics.length > 4) throw new UsageError('--topic: a log has at most four topics, of which --event is the first')
  // All are addresses: that was just checked.
  return decodeFilter({ address: address as Hex[], topics })
}

/** The topics at one place. An address is padded, as it is in a topic. */
function choicesIn(option: string): Hex[] {
  if (option === 'any') return []
  const choices = option.split(',')
  if (choices.length > MAX_CHOICES) throw new UsageError(`--topic: at most ${MAX_CHOICES} for one place`)
  return choices.map((choice): Hex => {
    if (isHexOf(32, choice)) return choice
    if (isAddress('--topic', choice)) return `0x${'00'.repeat(12)}${choice.slice(2)}`
    const isEvent = choice.includes('(') ? ' For the signature of an event, use --event.' : ''
    throw new UsageError(`--topic: expected 32 bytes or an address in hexadecimal, or any.${isEvent}`)
  })
}

/** The hash of an event's signature. Takes a declaration as Solidity has it, too. @throws UsageError */
function topicOf(event: string): Hex {
  const refuse = (reason = '') =>
    new UsageError(`--event: expected a signature such as 'Transfer(address,address,uint256)'${reason}`)
  const text = event
    .trim()
    .replace(/^event /, '')
    .replace(/;$/, '')
  const [name = '', inside = '', ...more] = text.split('(')
  if (more.length > 0) throw refuse('. For an event with tuples, pass the hash of its signature with --topic')
  if (!/^[A-Za-z_$][\w$]*$/.test(name.trim()) || !inside.endsWith(')')) throw refuse()
  const parameters = inside.slice(0, -1).trim()
  const types =
    parameters === ''
      ? []
      : parameters.split(',').map(parameter => {
          const [word = ''] = parameter.trim().split(' ')
          const type = typeOf(word)
          if (type === null) throw refuse(`; no such type: ${cut(word, MAX_SHOWN_LENGTH)}`)
          return type
        })
  return bytesToHex(keccak256(new TextEncoder().encode(`${name.trim()}(${types.join()})`)))
}

const BITS = Array.from({ length: 32 }, (_, index) => 8 * (index + 1)).join('|')
const BYTES = Array.from({ length: 32 }, (_, index) => index + 1).join('|')
const TYPE = new RegExp(`^(address|bool|string|bytes(?:${BYTES})?|u?int(?:${BITS})?)((?:\\[\\d{0,9}\\]){0,9})$`)

/** A type as signatures have it; null if there is no such type. */
function typeOf(word: string): string | null {
  const [, name, arrays = ''] = TYPE.exec(word) ?? []
  return name === undefined ? null : `${name.replace(/int$/, 'int256')}${arrays}`
}
