/**
 * How a text that the visitor has from a source of their own compares with that in the file. Upper or lower case makes no
 * difference: it makes none in hexadecimal. `at` is the index of the first character that differs, or that is not there yet; the
 * words count digits from 1, after 0x.
 */
export function compare(ofFile: string, pasted: string) {
  const found = pasted.trim()
  const [unit, skipped] = ofFile.startsWith('0x') ? (['digit', 2] as const) : (['character', 0] as const)
  const [same, other] = [ofFile, found].map(text => text.toLowerCase()) as [string, string]
  const differing = [...other].findIndex((character, index) => character !== same[index])
  const at = differing < 0 ? found.length : differing
  const length = ofFile.length - skipped
  if (found === '') return { state: 'none', at, words: '' } as const
  if (same === other) return { state: 'same', at, words: `The same, all ${length} ${unit}s.` } as const
  if (differing < 0) {
    return {
      state: 'begun',
      at,
      words: `The same so far: ${Math.max(at - skipped, 0)} of ${length} ${unit}s.`,
    } as const
  }
  const wanted = ofFile[at] === undefined ? 'ends' : `has ${ofFile[at]}`
  const words = `Not the same: at ${unit} ${at + 1 - skipped}, the file ${wanted}, and your source has ${found[at]}.`
  return { state: 'different', at, words: at < skipped ? 'It does not begin with 0x.' : words } as const
}
