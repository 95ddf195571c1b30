import { readOwn } from '../base/json/known-fields.ts'
import { endOfString } from '../base/json/parse.ts'

/** Strings, numbers, brackets, commas and colons, in order; anything else separates them. */
function* tokensOf(text: string): Generator<string, void> {
  const number = /[-+.\deE]*/y
  for (let index = 0; index < text.length; index++) {
    const first = text.charAt(index)
    let token = /[[\]{},:]/.test(first) ? first : ''
    if (first === '"') token = text.slice(index, endOfString(text, index) + 1)
    if (/[-\d]/.test(first)) {
      number.lastIndex = index
      token = number.exec(text)?.[0] ?? ''
    }
    if (token === '') continue
    yield token
    index += token.length - 1
  }
}

/**
 * The ids of a message's requests as the client wrote them, where JavaScript cannot hold the number: an answer must carry
 * the same id.
 *
 * @param text valid JSON
 * @param content what it says
 * @returns by the index of the request; empty if all ids can be held
 */
export function idTexts(text: string, content: unknown): readonly (string | undefined)[] {
  const requests: readonly unknown[] = Array.isArray(content) ? content : [content]
  if (!requests.some(request => isLossy(readOwn(Object(request), 'id')))) return []
  const ids: (string | undefined)[] = []
  const fieldsAt = Array.isArray(content) ? 2 : 1
  let [depth, index, key, before] = [0, 0, '', '']
  for (const token of tokensOf(text)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token === ',' && depth === fieldsAt - 1) index++
    else if (token === ':') key = before
    else if (depth === fieldsAt && key !== '' && /^[-\d]/.test(token) && JSON.parse(key) === 'id') ids[index] = token
    if (token === ',' || token === '{') key = ''
    before = token
  }
  return ids
}

const isLossy = (id: unknown): boolean => typeof id === 'number' && !Number.isSafeInteger(id)
