import { isProofError } from '../../../src/entry/index.ts'
import { quantity } from '../../../vectors/blocks/truth.ts'

/** What was proven, with quantities for all bigints. */
export const spell = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? quantity(part) : part)))

/** The code and place of a refusal; anything else that is thrown fails the test. */
export function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (isProofError(error)) return `${error.code} ${error.path}`.trim()
    throw error
  }
  return 'accepted'
}

/** Another value of the same kind. */
function other(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (value === null) return `0x${'11'.repeat(20)}`
  if (Array.isArray(value)) return value.length === 0 ? [{}] : value.slice(1)
  const text = String(value)
  if (text === '0x') return '0x00'
  // In the middle, so that it is neither a leading zero nor out of range.
  const at = Math.max(2, text.length >> 1)
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`
}

/** Every field and list below `root`, changed, each in a copy of the whole. */
export function changesOf(whole: unknown, root: string): { path: string; changed: unknown }[] {
  const visit = (
    value: unknown,
    path: string,
    rebuild: (changed: unknown) => unknown,
  ): ReturnType<typeof changesOf> => {
    const isInside = path.startsWith(root)
    const own = isInside && (typeof value !== 'object' || value === null || Array.isArray(value)) && path !== ''
    const changes = own ? [{ path, changed: rebuild(other(value)) }] : []
    if (!isInside && !root.startsWith(path)) return changes
    const below = Array.isArray(value)
      ? value.map((item, index) => visit(item, `${path}[${index}]`, changed => rebuild(value.with(index, changed))))
      : Object.entries(typeof value === 'object' ? Object(value) : {}).map(([name, item]) =>
          visit(item, `${path}.${name}`, changed => rebuild({ ...Object(value), [name]: changed })),
        )
    return [...changes, ...below.flat()]
  }
  return visit(whole, '', changed => changed)
}
