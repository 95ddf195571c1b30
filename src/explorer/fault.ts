import { leafPaths } from '../document/answer.ts'
import { LEAF_NODE } from '../document/layout.ts'
import { brief } from '../document/value.ts'
import { errorMeanings } from '../index.ts'
import type { PlacedError } from './checks.ts'
import type { Fault, FaultPlace, PathView } from './messages.ts'

export interface PlacedFault extends Fault {
  readonly part: PathView['part'] | null
  /** The leaf field at fault, if the check is about one. */
  readonly field: string | null
}

/** Where in the drawing the check failed. */
export function describeFault({ code, path, found }: PlacedError): PlacedFault {
  const [, part = null, rest = ''] = /^(proof|leftProof|rightProof)\.?(.*)$/s.exec(path) ?? []
  const ofIndex = leafPaths.find(({ index }) => index === path)?.proof
  const fault = (place: FaultPlace, field: string | null = null, text: string = errorMeanings[code]): PlacedFault => ({
    place,
    code,
    text,
    field,
    // The pattern above matches no other names.
    part: ofIndex ?? (part as PathView['part'] | null),
  })
  if (ofIndex !== undefined) return fault('leaf index')
  if (path === 'key' || code === 'KEY_NOT_BETWEEN') return fault('key')
  if (rest === 'value') return fault('value', code === 'VALUE_MISMATCH' ? 'hVal' : null)
  switch (code) {
    case 'NOT_ADJACENT':
      return fault('links')
    case 'STATE_ROOT_MISMATCH':
    case 'STORAGE_ROOT_MISMATCH':
      return fault('root')
    case 'SENTINEL_MISPLACED':
    case 'LEAF_KEY_MISMATCH':
      return fault('leaf', 'hKey')
    case 'SUB_ROOT_MISMATCH': {
      const hint = 'Hashes cannot tell which node of the path was altered.'
      return fault('sub-root', null, `${errorMeanings[code]} ${hint}`)
    }
  }
  const [, entry] = /^proofRelatedNodes\[(\d+)\]$/.exec(rest) ?? []
  if (entry === undefined) return fault('nodes')
  const text = `Node ${entry}${found === '' ? '' : `, ${brief(found)}`}. ${errorMeanings[code]}`
  if (entry === '0') return fault('node 0', null, text)
  return Number(entry) === LEAF_NODE
    ? fault('leaf', null, text)
    : fault(`level ${LEAF_NODE - 1 - Number(entry)}`, null, text)
}
