/** How a text that the visitor has from a source of their own compares with that in the file. */
export interface Comparison {
  readonly state: 'none' | 'same' | 'begun' | 'different'
  /** The index of the first character that differs, or of the first that is not there yet. */
  readonly at: number
}

/** Upper or lower case makes no difference: it makes none in hexadecimal. */
export function compare(ofFile: string, pasted: string): Comparison {
  const [wanted, found] = [ofFile, pasted].map(text => text.trim().toLowerCase()) as [string, string]
  if (found === '') return { state: 'none', at: 0 }
  if (found === wanted) return { state: 'same', at: wanted.length }
  const differing = [...found].findIndex((character, index) => character !== wanted[index])
  return differing < 0 ? { state: 'begun', at: found.length } : { state: 'different', at: differing }
}

/** In words. Digits are counted from 1, after 0x. */
export function describeComparison(ofFile: string, pasted: string): string {
  const { state, at } = compare(ofFile, pasted)
  const isHex = ofFile.startsWith('0x')
  const [unit, skipped] = isHex ? (['digit', 2] as const) : (['character', 0] as const)
  const found = pasted.trim()
  if (state === 'none') return ''
  if (state === 'same') return `The same, all ${ofFile.length - skipped} ${unit}s.`
  if (state === 'begun') return `The same so far: ${Math.max(at - skipped, 0)} of ${ofFile.length - skipped} ${unit}s.`
  if (isHex && at < skipped) return 'It does not begin with 0x.'
  const wanted = ofFile[at] === undefined ? 'ends' : `has ${ofFile[at]}`
  return `Not the same: at ${unit} ${at + 1 - skipped}, the file ${wanted}, and your source has ${found[at]}.`
}
