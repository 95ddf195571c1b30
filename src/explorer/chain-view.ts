import type { ChainBox } from './chain.ts'
import { h, hidden } from './dom.ts'

const words: Readonly<Record<ChainBox['state'], string>> = {
  trusted: 'trusted',
  passed: 'proven',
  failed: 'refused',
  'not reached': 'not checked',
  'left out': 'not part of this proof',
}

/** From L1 down to the slots, each box proven by the one above it. */
export const chainView = (boxes: readonly ChainBox[]): HTMLElement => h('ol', { class: 'chain' }, ...boxes.map(boxView))

const boxView = ({ title, state, values, note, tree }: ChainBox): HTMLElement =>
  h(
    'li',
    { class: 'chain-box', 'data-state': state },
    h(
      'div',
      { class: 'chain-head' },
      h('span', { class: 'chain-title' }, title),
      h('span', { class: 'chip', 'data-status': state }, words[state]),
    ),
    ...values.map(value => h('code', {}, value)),
    note === '' ? null : h('span', { class: 'chain-note' }, note),
    tree === null
      ? null
      : h(
          'span',
          { class: 'chain-tree' },
          h('span', { class: 'tree-mark', 'aria-hidden': 'true' }),
          hidden('in the '),
          tree,
        ),
  )
