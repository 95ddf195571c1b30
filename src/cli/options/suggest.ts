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
  return least <= (stem.length < 4 ? 1 : 2) ? ` Did you mean ${closest}?` : ''
}

/** How many letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (const [column, above] of row.slice(1).entries())
      next.push(Math.min((next[column] ?? 0) + 1, above + 1, (row[column] ?? 0) + Number(letter !== to[column])))
    row = next
  }
  return row[to.length] ?? 0
}
