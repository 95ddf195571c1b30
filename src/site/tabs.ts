import { type TabName, tabNames } from './address.ts'
import { byId, type Child, h, listenToArrows, nodesOf } from './dom.ts'

const titles: Readonly<Record<TabName, string>> = {
  overview: 'Overview',
  proof: 'Proof',
  file: 'File',
}

/** The views of a file, one at a time. The arrow keys move between their tabs. */
export function createTabs(onChoose: (name: TabName) => void) {
  const list = byId('tabs', HTMLElement)
  const views = tabNames.map(name => {
    const tab = h('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': name }, titles[name])
    const panel = h('div', {
      role: 'tabpanel',
      id: name,
      'aria-labelledby': `tab-${name}`,
      tabindex: '-1',
      hidden: true,
    })
    tab.addEventListener('click', () => onChoose(name))
    list.append(tab)
    list.parentElement?.append(panel)
    return { name, tab, panel }
  })
  listenToArrows(
    views.map(({ tab }) => tab),
    index => onChoose(tabNames[index] ?? 'overview'),
  )
  const of = (name: TabName) => views.filter(view => view.name === name)
  return {
    /** Shows a view, or the first that has anything in it. */
    show(wanted: TabName): void {
      const shown = [...of(wanted), ...views].find(({ tab }) => !tab.hidden)
      for (const { name, tab, panel } of views) {
        const isShown = name === shown?.name
        tab.setAttribute('aria-selected', String(isShown))
        tab.tabIndex = isShown ? 0 : -1
        panel.hidden = !isShown
      }
    },
    /** Fills a view. Without content, its tab is taken away. */
    fill(wanted: TabName, content: readonly Child[]): void {
      for (const { tab, panel } of of(wanted)) {
        const nodes = nodesOf(content)
        panel.replaceChildren(...nodes)
        tab.hidden = nodes.length === 0
      }
    },
    focus: (wanted: TabName): void => of(wanted)[0]?.panel.focus(),
  }
}
