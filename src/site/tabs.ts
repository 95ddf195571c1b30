import { type TabName, tabNames } from './address.ts'
import { byId, type Child, nodesOf, rove } from './dom.ts'

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
