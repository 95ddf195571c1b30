import type { Row } from '../cli/words/wording.ts'
import { type TabName, tabNames } from './address.ts'
import { ITEMS_PER_STEP } from './limits.ts'

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

export const nodesOf = (children: readonly Child[]): (Node | string)[] =>
  children.filter(child => child !== null && child !== false)

export function byId<Type extends HTMLElement>(id: string, type: new () => Type): Type {
  const element = document.getElementById(id)
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} #${id}`)
  return element
}

export function button(attributes: Attributes, onClick: () => void, ...children: readonly Child[]): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, ...children)
  element.addEventListener('click', onClick)
  return element
}

export const hidden = (text: string): HTMLElement => h('span', { class: 'visually-hidden' }, text)

/** More characters are copied, but not shown. */
const MAX_COPYABLE = 200

/** A hash or another text, with a button that copies it in full. @param name what it is, for screen readers */
export const copyable = (text: string, name: string): HTMLElement =>
  h(
    'span',
    { class: 'copyable' },
    h('code', {}, text.length > MAX_COPYABLE ? `${text.slice(0, MAX_COPYABLE)}… (${text.length} characters)` : text),
    button({ class: 'copy', 'aria-label': `Copy ${name}`, title: 'Copy' }, () => void copy(text)),
  )

let copiedTimer = 0

export function showCopied(text: string): void {
  byId('copied', HTMLElement).textContent = text
  clearTimeout(copiedTimer)
  if (text !== '') copiedTimer = window.setTimeout(() => showCopied(''), 5000)
}

export async function copy(text: string, done = 'Copied.'): Promise<void> {
  showCopied('')
  try {
    await navigator.clipboard.writeText(text)
    showCopied(done)
  } catch {
    showCopied('This browser does not let the page copy.')
  }
}

/** Fills a list with the first items, and with more of them on demand. @param wanted an item to show in any case */
export function growing<T>(
  list: HTMLElement,
  items: readonly T[],
  rowOf: (item: T, index: number) => HTMLElement,
  wanted = -1,
) {
  const more = button({}, () => show()?.querySelector('button')?.focus())
  let end = 0
  const show = () => {
    const rows = items.slice(end, end + ITEMS_PER_STEP).map((item, index) => rowOf(item, end + index))
    list.append(...rows)
    end += rows.length
    more.hidden = end >= items.length
    more.textContent = `Show ${Math.min(ITEMS_PER_STEP, items.length - end)} more of ${items.length}`
    return rows[0]
  }
  show()
  const item = items[wanted]
  if (item !== undefined && wanted >= end) list.append(rowOf(item, wanted))
  return [list, more] as const
}

/** One row per line: a name, a value and its source. What is long can be copied. @param of what the rows are about */
export const rowList = (rows: readonly Row[], of = ''): HTMLElement =>
  h(
    'dl',
    { class: 'rows' },
    ...rows.map(([name, value, source]) => {
      const from = source ? h('span', { class: 'from' }, ` · ${source}`) : null
      const shown =
        value.length > 40
          ? copyable(value, of === '' ? name : `${name} of ${of}`)
          : h('span', { class: 'value' }, value)
      return h('div', {}, h('dt', {}, name), h('dd', {}, shown, from))
    }),
  )

/** Makes one tab stop of many elements: the arrow keys move between them. @param onFocus gets the index of the one that has the focus */
export function rove(elements: readonly HTMLElement[], onFocus: (index: number) => void = () => {}): void {
  for (const [index, element] of elements.entries()) {
    element.tabIndex = index === 0 ? 0 : -1
    element.addEventListener('focus', () => {
      for (const other of elements) other.tabIndex = other === element ? 0 : -1
      onFocus(index)
    })
    element.addEventListener('keydown', event => {
      const shown = elements.filter(one => one === element || one.offsetParent !== null)
      const at = shown.indexOf(element)
      const last = shown.length - 1
      const places = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }
      const next = new Map(Object.entries(places)).get(event.key)
      if (next === undefined) return
      event.preventDefault()
      shown[Math.min(Math.max(next, 0), last)]?.focus()
    })
  }
}

/** The views of a file, one at a time. The arrow keys move between their tabs. */
export function createTabs(onChoose: (name: TabName) => void) {
  const views = tabNames.map(name => {
    return { name, tab: byId(`tab-${name}`, HTMLElement), panel: byId(name, HTMLElement) }
  })
  for (const { name, tab } of views) tab.addEventListener('click', () => onChoose(name))
  rove(
    views.map(({ tab }) => tab),
    index => onChoose(tabNames[index] ?? 'overview'),
  )
  return {
    /** Shows a view, or the first that has anything in it. */
    show(wanted: TabName): void {
      const open = views.filter(({ tab }) => !tab.hidden)
      const shown = open.find(({ name }) => name === wanted) ?? open[0]
      for (const { name, tab, panel } of views) {
        const isShown = name === shown?.name
        tab.setAttribute('aria-selected', String(isShown))
        tab.tabIndex = isShown ? 0 : -1
        panel.hidden = !isShown
      }
    },
    /** Fills a view. Without content, its tab is taken away. */
    fill(wanted: TabName, content: readonly Child[]): void {
      const nodes = nodesOf(content)
      byId(wanted, HTMLElement).replaceChildren(...nodes)
      byId(`tab-${wanted}`, HTMLElement).hidden = nodes.length === 0
    },
  }
}
