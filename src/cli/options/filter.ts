import { bytesToHex } from '../../base/bytes.ts'
import type { Hex } from '../../entry/index.ts'
import { type DecodedFilter, decodeFilter } from '../../verify/blocks/filter.ts'
import { MAX_CHOICES } from '../../verify/evidence/limits.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { isHexOf } from '../words/layout.ts'
import { cut } from '../words/value.ts'
import { type FlagsOf, list, optionsOf, typed } from './declared.ts'
import { address, isAddress, type Read } from './read.ts'

/** The topics at one place. An address is padded, as it is in a topic. */
const topicsAt: Read<Hex[]> = text => {
  if (text === 'any') return []
  const choices = text.split(',')
  if (choices.length > MAX_CHOICES) throw new UsageError(`--topic: at most ${MAX_CHOICES} for one place`)
  return choices.map((choice): Hex => {
    if (isHexOf(32, choice)) return choice
    if (isAddress('--topic', choice)) return `0x${'00'.repeat(12)}${choice.slice(2)}`
    const isEvent = choice.includes('(') ? ' For the signature of an event, use --event.' : ''
    throw new UsageError(`--topic: expected 32 bytes or an address in hexadecimal, or any.${isEvent}`)
  })
}

/** The hash of an event's signature. Takes a declaration as Solidity has it, too. */
const topicOf: Read<Hex> = text => {
  const [, name, inside = ''] = /^(?:event )?\s*([A-Za-z_$][\w$]*)\s*\(([^()]*)\);?$/.exec(text.trim()) ?? []
  if (name === undefined) {
    const tuples = 'For an event with tuples, pass the hash of its signature with --topic'
    throw new UsageError(`--event: expected a signature such as 'Transfer(address,address,uint256)'. ${tuples}`)
  }
  const parameters = inside.trim() === '' ? [] : inside.split(',')
  const types = parameters.map(parameter => typeOf(parameter.trim().split(' ')[0] ?? ''))
  return bytesToHex(keccak256(new TextEncoder().encode(`${name}(${types.join()})`)))
}

const BITS = Array.from({ length: 32 }, (_, index) => 8 * (index + 1)).join('|')
const BYTES = Array.from({ length: 32 }, (_, index) => index + 1).join('|')
const TYPE = new RegExp(`^(address|bool|string|bytes(?:${BYTES})?|u?int(?:${BITS})?)((?:\\[\\d{0,9}\\]){0,9})$`)

function typeOf(word: string): string {
  const [, name, arrays = ''] = TYPE.exec(word) ?? []
  if (name === undefined) throw new UsageError(`--event: no such type: ${cut(word, MAX_SHOWN_LENGTH)}`)
  return `${name.replace(/int$/, 'int256')}${arrays}`
}

export const filterOptions = {
  address: list('CONTRACT', 'the contract that writes them (default: any)', address),
  event: typed('SIGNATURE', "such as 'Transfer(address,address,uint256)'", topicOf),
  topic: list('TOPIC', 'the next topic: 32 bytes, an address, several, or any', topicsAt),
} as const
export const rangeOptions = optionsOf('from-block', 'to-block')

export function filterOf({ address = [], event, topic = [] }: FlagsOf<typeof filterOptions>): DecodedFilter {
  if (address.length > MAX_CHOICES) throw new UsageError(`--address: at most ${MAX_CHOICES}`)
  const topics = [...(event === undefined ? [] : [[event]]), ...topic]
  if (topics.length > 4) throw new UsageError('--topic: a log has at most four topics, of which --event is the first')
  return decodeFilter({ address, topics })
}
