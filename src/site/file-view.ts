import { digitsHint, digitsView } from './digits.ts'
import { button, h } from './dom.ts'
import { MAX_PART_CHARACTERS } from './limits.ts'
import type { Part, PartRow, Place } from './part.ts'

/** The file as a tree, of which only what is opened is drawn. */

export type FileTree = ReturnType<typeof fileTree>

/** A row, and how to draw some of what is in it, from the `start`th on. */
interface Row {
  readonly element: HTMLElement
  readonly fill?: (start: number) => Promise<unknown>
}

/**
 * @param ask for some of what a part holds, from the `start`th on; null if it cannot be shown
 * @param onBytes shows the bytes of a part of a proof, by its index
 */
export function fileTree(
  ask: (place: Place, start: number) => Promise<Part | null>,
  onBytes: (proof: number, place: Place) => void,
) {
  /** What is drawn, by its place. */
  const rows = new Map<string, Row>()

  /** A list of what a part holds, which is filled when it is opened. */
  function listOf(place: Place) {
    let [end, shown] = [0, 0]
    const more = button({}, async () => (await fill(end))?.querySelector<HTMLElement>('summary, .digits')?.focus())
    const rest = h('li', { hidden: true }, more)
    const list = h('ul', { class: 'tree' }, rest)
    const fill = async (start: number): Promise<HTMLElement | undefined> => {
      const part = await ask(place, start)
      if (part === null) return undefined
      const added = part.rows.filter(({ name }) => !rows.has(JSON.stringify([...place, name])))
      const elements = added.map(row => {
        const inside = [...place, row.name]
        const made = rowOf(row, inside)
        rows.set(JSON.stringify(inside), made)
        return made.element
      })
      rest.before(...elements)
      shown += elements.length
      end = Math.max(end, start + part.rows.length)
      rest.hidden = end >= part.total
      more.textContent = `Show more: ${shown} of ${part.total} are shown`
      return elements[0]
    }
    return { list, fill }
  }

  function rowOf(row: PartRow, place: Place): Row {
    const label = h('span', { class: 'key' }, `${row.name}`)
    if (row.kind !== 'list' && row.kind !== 'object') return { element: leafOf(row, place, label, onBytes) }
    const size = h('span', { class: 'from' }, row.kind === 'list' ? `[${row.size}]` : `{${row.size}}`)
    const { list, fill } = listOf(place)
    const details = h('details', {}, h('summary', {}, label, ' ', size), list)
    details.addEventListener('toggle', () => void (details.open && fill(0)))
    return { element: h('li', {}, details), fill }
  }

  const { list, fill } = listOf([])
  void fill(0)
  return {
    content: [digitsHint(), list],
    /** Opens what is around a part of the file, and leads to it. */
    async find(place: Place): Promise<void> {
      let row: Row = { element: list, fill }
      for (const [index, name] of place.entries()) {
        const id = JSON.stringify(place.slice(0, index + 1))
        // It can be far down a long list.
        for (const start of [0, Number(name) || 0]) if (!rows.has(id)) await row.fill?.(start)
        row.element.querySelector(':scope > details')?.setAttribute('open', '')
        row = rows.get(id) ?? row
      }
      row.element.scrollIntoView({ block: 'center' })
      row.element.querySelector<HTMLElement>('.digits, summary')?.focus({ preventScroll: true })
    },
  }
}

function leafOf(
  { name, kind, size, text, fields }: PartRow,
  place: Place,
  label: HTMLElement,
  onBytes: (proof: number, place: Place) => void,
): HTMLElement {
  const hint = size > MAX_PART_CHARACTERS && h('span', { class: 'from' }, ` … of ${size} characters`)
  const raw = h('code', { class: 'raw' }, kind === 'hex' ? '0x' : text)
  const digits = kind === 'hex' && digitsView(place, 2, text.slice(2), `${name}`, fields)
  const proof = fields.length > 0 ? proofAt(place) : null
  const words = { class: 'plain', 'aria-label': `Show the bytes of ${place.join('.')}` }
  const bytes = proof !== null && button(words, () => onBytes(proof, place), 'Bytes')
  return h('li', { class: 'leaf' }, label, h('span', {}, raw, digits, hint), bytes)
}

/** The proof that a part of the file belongs to: 0 is the account's, 1 the first slot's. */
function proofAt(place: Place): number | null {
  const slot = place[place.indexOf('storageProofs') + 1]
  if (place.includes('storageProofs') && typeof slot === 'number') return slot + 1
  return place.includes('accountProof') ? 0 : null
}
