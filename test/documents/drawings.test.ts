import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** What the drawings say. `test/browser/documents.ts` measures whether anything touches. */

interface Box {
  readonly label: string
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const read = (name: string): string => readFileSync(`docs/drawings/${name}.svg`, 'utf8')
const numbersOf = (text: string): number[] => [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number)

/** The boxes of a drawing, each labelled with the first text inside it. */
function boxesOf(svg: string): Box[] {
  const texts = [...svg.matchAll(/<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</g)]
  return [
    ...svg.matchAll(/<rect class="(?!card)\w+" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g),
  ].map(([, x, y, width, height]) => {
    const [left, top] = [Number(x), Number(y)]
    const [right, bottom] = [left + Number(width), top + Number(height)]
    const inside = texts.find(([, tx, ty]) => {
      return Number(tx) >= left && Number(tx) <= right && Number(ty) > top && Number(ty) <= bottom
    })
    return { label: inside?.[3] ?? '', left, top, right, bottom }
  })
}

/** The label of the box that contains the point, with a margin of a few units. */
function boxAt(boxes: readonly Box[], x: number, y: number): string | undefined {
  const near = 6
  return boxes.find(({ left, top, right, bottom }) => {
    return x >= left - near && x <= right + near && y >= top - near && y <= bottom + near
  })?.label
}

/** The arrows of a drawing, as `from -> to`. */
function arrowsOf(svg: string): string[] {
  const boxes = boxesOf(svg)
  return [...svg.matchAll(/<path class="path" d="([^"]+)" marker-end/g)].map(([, d = '']) => {
    const [startX = 0, startY = 0] = numbersOf(d)
    const last = /([HVLC ])(-?[\d.]+)(?: (-?[\d.]+))?$/.exec(d)
    const [x, y] =
      last?.[1] === 'H'
        ? [Number(last[2]), startY]
        : last?.[1] === 'V'
          ? [startX, Number(last[2])]
          : numbersOf(d).slice(-2)
    return `${boxAt(boxes, startX, startY)} -> ${boxAt(boxes, x ?? 0, y ?? 0)}`
  })
}

it('draws the arrows of the two trees from hashed data to the field with the hash', () => {
  expect(arrowsOf(read('two-trees'))).toEqual([
    // `undefined` is the bracket around all six words, or the tree that contains the leaf.
    'undefined -> account leaf',
    'storage root -> storageRoot',
    'account leaf -> undefined',
    'slot leaf -> undefined',
    'value, 32 bytes -> slot leaf',
  ])
})

it('draws the root over nextFreeNode and the sub-root, and the sub-root over its two children', () => {
  const svg = read('tree')
  const root = 'root = H( word(nextFreeNode) ‖ subRoot )'
  expect(arrowsOf(svg)).toEqual([
    `nextFreeNode = 6 -> ${root}`,
    `subRoot -> ${root}`,
    'H( left ‖ right ) -> subRoot',
    'H( left ‖ right ) -> subRoot',
  ])
})

it('draws each leaf under the correct half of the tree', () => {
  const svg = read('tree')
  const leaves = boxesOf(svg).filter(({ top }) => top === 300)
  expect(leaves.map(({ label }) => label)).toEqual([
    'HEAD',
    'TAIL',
    'leaf',
    'leaf',
    'missing',
    'leaf',
    'missing',
    'missing',
    'missing',
    'missing',
  ])
  const indices = [...svg.matchAll(/y="354">([^<]+)</g)].map(([, index]) => index)
  expect(indices).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '2³⁹', '2⁴⁰ − 1'])
  // The right child starts at 2^39: its lines lead to the last two boxes only.
  const lines = [...svg.matchAll(/<path class="gone" d="M690 196 L(\d+) 284"/g)].map(([, x]) => Number(x))
  expect(lines).toEqual(leaves.slice(8).map(({ left, right }) => (left + right) / 2))
})

it('links each leaf of the list to its neighbours in both directions', () => {
  const arrows = arrowsOf(read('list'))
  expect(arrows.filter(arrow => arrow === 'HEAD -> leaf' || arrow === 'leaf -> TAIL')).toHaveLength(2)
  expect(arrows.filter(arrow => arrow === 'leaf -> HEAD' || arrow === 'TAIL -> leaf')).toHaveLength(2)
  expect(arrows.filter(arrow => arrow === 'leaf -> leaf')).toHaveLength(4)
})

it('draws the chain of trust as it is proven', () => {
  expect(arrowsOf(read('trust'))).toEqual([
    'checkpoint -> sync committees',
    'sync committees -> finalized beacon block',
    'finalized beacon block -> L1 block hash',
    'L1 header -> L1 state root',
    'L1 state root -> rollup contract',
    'rollup contract -> L2 state root',
    'L1 block hash -> L1 header',
    'rollup contract -> message',
    'account tree -> account',
    'account -> storage root',
    'storage root -> slot',
    'L2 state root -> account tree',
    'L2 block hash -> L2 header',
    'L2 header -> receipts or transactions',
    'receipts or transactions -> log',
    'slot -> L2 block hash',
  ])
})
