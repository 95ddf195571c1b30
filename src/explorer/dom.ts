import type { Row } from '../document/wording.ts'

/** Builds elements from text nodes and attributes only, so that nothing in a file is ever parsed as HTML. */

export type Child = Node | string | null | false
type Attributes = Readonly<Record<string, string | boolean | number | null | undefined>>

/** Creates an element. True attributes get no value; false, null and undefined ones are omitted. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue
    element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...nodesOf(children))
  return element
}

/** The children that are neither null nor false. */
export const nodesOf = (children: readonly Child[]): (Node | string)[] =>
  children.filter(child => child !== null && child !== false)

/** The element of the page with this id. */
export function byId<Type extends HTMLElement>(id: string, type: new () => Type): Type {
  const element = document.getElementById(id)
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} #${id}`)
  return element
}

/** Omits the middle of a long text. Screen readers and the clipboard must get the full text elsewhere. */
export const abbreviate = (hex: string): string => (hex.length <= 20 ? hex : `${hex.slice(0, 8)}…${hex.slice(-6)}`)

export const hidden = (text: string): HTMLElement => h('span', { class: 'visually-hidden' }, text)

/** A section that its summary folds and unfolds. */
export const fold = (isOpen: boolean, summary: Child | readonly Child[], ...children: readonly Child[]): HTMLElement =>
  h('details', { class: 'group', open: isOpen }, h('summary', {}, ...[summary].flat()), ...children)

/** One row per line: a name, a value and its source. */
export const rowList = (rows: readonly Row[]): HTMLElement =>
  h(
    'dl',
    { class: 'rows' },
    ...rows.map(([name, value, source]) => {
      const from = source ? h('span', { class: 'from' }, ` ${source}`) : null
      return h('div', {}, h('dt', {}, name), h('dd', {}, h('span', { class: 'value' }, value), from))
    }),
  )
