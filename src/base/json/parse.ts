import {
  CHARACTERS_PER_NAME,
  CHARACTERS_PER_VALUE,
  FREE_JSON_NAMES,
  FREE_JSON_VALUES,
  MAX_JSON_DEPTH,
} from './limits.ts'

const [QUOTE, COMMA, BACKSLASH, COLON, SPACE] = [0x22, 0x2c, 0x5c, 0x3a, 0x20]
/** Square and curly brackets differ in one bit. */
const [OPEN, CLOSE, EITHER] = [0x5b, 0x5d, 0x20]

/** A text with more structure than its length warrants. The engine would need up to a hundred times its size for it. */
export class ExcessiveJson extends Error {
  override readonly name = 'ExcessiveJson'
}

/**
 * Parses a stranger's JSON. One scan of the text bounds the depth, the number of values and that of different names before the
 * engine parses it, so that the memory for the result is a small multiple of the text. Names are what takes the engine long.
 *
 * @throws SyntaxError, as `JSON.parse`; {@link ExcessiveJson}
 */
export function parseBounded(text: string, maxDepth = MAX_JSON_DEPTH): unknown {
  const most = FREE_JSON_VALUES + text.length / CHARACTERS_PER_VALUE
  const mostNames = FREE_JSON_NAMES + text.length / CHARACTERS_PER_NAME
  const names = new Set<string>()
  let [depth, values] = [0, 1]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      const start = index
      index = endOfString(text, start)
      if (isName(text, index)) names.add(text.slice(start, index))
      if (names.size > mostNames) throw new ExcessiveJson('too many different names for its length')
    } else if (code === COMMA) values++
    else if ((code | EITHER) === (OPEN | EITHER)) {
      values++
      if (++depth > maxDepth) throw new ExcessiveJson(`nested more than ${maxDepth} levels deep`)
    } else if ((code | EITHER) === (CLOSE | EITHER)) depth--
    if (values > most) throw new ExcessiveJson('too many values for its length')
  }
  return JSON.parse(text)
}

/** Whether a colon follows the string that ends here. */
function isName(text: string, end: number): boolean {
  let next = end + 1
  while (text.charCodeAt(next) <= SPACE) next++
  return text.charCodeAt(next) === COLON
}

/** The index of the quote that ends the string which begins at `start`; the end of the text if it has none. */
function endOfString(text: string, start: number): number {
  let [from, end] = [start, text.indexOf('"', start + 1)]
  while (end !== -1) {
    let backslashes = 0
    while (end - backslashes - 1 > from && text.charCodeAt(end - backslashes - 1) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
    from = end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}
