/** Elements are made of text nodes and attributes alone: nothing that a file says is ever read as HTML. */

export type Child = Node | string | null | false
type Attributes = Readonly<Record<string, string | boolean | number | null | undefined>>

/** An attribute that is true stands without a value; one that is false, null or undefined is left out. */
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

/** The children that are there. */
export const nodesOf = (children: readonly Child[]): (Node | string)[] =>
  children.filter(child => child !== null && child !== false)

/** The element of the page with this id. */
export function byId<Type extends HTMLElement>(id: string, type: new () => Type): Type {
  const element = document.getElementById(id)
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} #${id}`)
  return element
}

/** The middle of a long text left out; the whole of it is for screen readers and the clipboard to have elsewhere. */
export const abbreviate = (hex: string): string => (hex.length <= 20 ? hex : `${hex.slice(0, 8)}…${hex.slice(-6)}`)

export const hidden = (text: string): HTMLElement => h('span', { class: 'visually-hidden' }, text)
