import { meaningOf } from '../base/error-meanings.ts'
import type { FailureCode } from '../base/errors.ts'
import { leafPaths } from '../cli/words/answer.ts'
import { LEAF_NODE } from '../cli/words/layout.ts'
import { brief } from '../cli/words/value.ts'
import type { PlacedError } from './checks.ts'

/** The place in the drawing where the check failed. */
export type FaultPlace = PlaceInPath | 'nodes' | 'links' | 'key'
type PlaceInPath = 'root' | 'node 0' | 'sub-root' | 'leaf' | 'leaf index' | 'value' | `level ${number}`

/** Where the errors belong that have one place, whatever their path, and the leaf field at fault. */
const placesOfCodes: Readonly<Partial<Record<FailureCode, readonly [place: FaultPlace, field?: string]>>> = {
  KEY_NOT_BETWEEN: ['key'],
  NOT_ADJACENT: ['links'],
  STATE_ROOT_MISMATCH: ['root'],
  STORAGE_ROOT_MISMATCH: ['root'],
  SENTINEL_MISPLACED: ['leaf', 'hKey'],
  LEAF_KEY_MISMATCH: ['leaf', 'hKey'],
  VALUE_MISMATCH: ['value', 'hVal'],
}

export type Fault = ReturnType<typeof describeFault>

/** Where in the drawing the check failed. */
export function describeFault({ code, path, found }: PlacedError) {
  const [, name, rest = ''] = /^(\w+)\.?(.*)$/s.exec(path) ?? []
  const leafPath = leafPaths.find(({ proof, index }) => proof === name || index === path)
  const part = leafPath?.proof ?? null
  const meaning = meaningOf(code)
  const fault = (place: FaultPlace, text: string = meaning, field: string | null = null) => ({
    place,
    code,
    text,
    field,
    part,
  })
  const [place, field] = placesOfCodes[code] ?? []
  if (place !== undefined) return fault(place, meaning, field)
  if (leafPath?.index === path) return fault('leaf index')
  if (path === 'key') return fault('key')
  if (rest === 'value') return fault('value')
  if (code === 'SUB_ROOT_MISMATCH') {
    return fault('sub-root', `${meaning} Hashes cannot tell which node of the path was altered.`)
  }
  const [, entry] = /^proofRelatedNodes\[(\d+)\]$/.exec(rest) ?? []
  if (entry === undefined) return fault('nodes')
  const text = `Node ${entry}${found === '' ? '' : `, ${brief(found)}`}. ${meaning}`
  if (entry === '0') return fault('node 0', text)
  return fault(Number(entry) === LEAF_NODE ? 'leaf' : `level ${LEAF_NODE - 1 - Number(entry)}`, text)
}
