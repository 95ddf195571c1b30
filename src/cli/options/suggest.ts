import { MAX_NAME_LENGTH } from '../limits.ts'

/** Suggests the name of which `text` may be a misspelling, as a sentence after a space; empty if there is none. */
export function didYouMean(text: string, names: Iterable<string>): string {
  if (text.length > MAX_NAME_LENGTH) return ''
  let [closest, least] = ['', Number.POSITIVE_INFINITY]
  for (const name of names) {
    const distance = editDistance(text.toLowerCase(), name)
    if (distance < least) [closest, least] = [name, distance]
  }
  const stem = closest.replace(/^-+/, '')
  // Two changes leave nothing of a short name.
  return least <= (stem.length < 5 ? 1 : 2) ? ` Did you mean ${closest}?` : ''
}

/** How many letters to insert, delete, replace or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  const table = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row++) {
    table.push([row])
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const changed = isSwapped ? at(row - 2, column - 2) : at(row - 1, column - 1)
      const least = Math.min(at(row - 1, column), at(row, column - 1), changed) + 1
      table[row]?.push(isSame ? Math.min(least, at(row - 1, column - 1)) : least)
    }
  }
  return at(from.length, to.length)
}
