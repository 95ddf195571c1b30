import { strict as assert } from 'node:assert'
import { readdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { launch } from './launch.ts'

/** The drawings with the sizes that their texts really have: nothing touches, nothing collides. */
const FOLDER = 'docs/drawings'
/** In units of the drawings. Fonts differ between machines. */
const [TO_EDGE, TO_BOX, TO_NEIGHBOUR, TO_LINE] = [12, 6, 4, 3]
/** The half of an arrowhead. */
const TIP = 5
/** Of a path: what lies closer to its ends may touch the box where it begins or ends. */
const END = 10

interface Rectangle {
  readonly name: string
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}
interface Drawing {
  readonly card: Rectangle
  readonly boxes: readonly Rectangle[]
  readonly texts: readonly (Rectangle & { readonly isCentred: boolean })[]
  /** Points along each line, a unit apart. */
  readonly lines: readonly { readonly points: readonly (readonly [number, number])[]; readonly hasTip: boolean }[]
}

/** Whether two rectangles are closer than `gap`. */
const isNear = (a: Rectangle, b: Rectangle, gap: number): boolean =>
  a.left - gap < b.right && b.left - gap < a.right && a.top - gap < b.bottom && b.top - gap < a.bottom

/** Whether the first contains the second, at this distance from its sides. */
const holds = (outer: Rectangle, inner: Rectangle, sides: number, ends = 1): boolean =>
  outer.left + sides <= inner.left &&
  inner.right + sides <= outer.right &&
  outer.top + ends <= inner.top &&
  inner.bottom + ends <= outer.bottom

const around = ([x, y]: readonly [number, number], reach: number): Rectangle => {
  return { name: 'a line', left: x - reach, right: x + reach, top: y - reach, bottom: y + reach }
}

function* complaintsOf({ card, boxes, texts, lines }: Drawing): Generator<string> {
  for (const text of texts) {
    if (!holds(card, text, TO_EDGE, TO_EDGE / 2)) yield `${text.name} is at the edge`
    for (const box of boxes) {
      if (!isNear(box, text, TO_NEIGHBOUR) || holds(box, text, TO_BOX)) continue
      yield `${text.name} touches the box of ${box.name}`
    }
    const box = boxes.find(box => holds(box, text, 0))
    const offset = box && Math.abs((box.left + box.right - text.left - text.right) / 2)
    if (text.isCentred && offset !== undefined && offset > 1) yield `${text.name} is not in the middle of its box`
  }
  for (const [kind, all] of Object.entries({ text: texts, box: boxes })) {
    for (const [index, one] of all.entries()) {
      for (const other of all.slice(index + 1)) {
        if (isNear(one, other, kind === 'text' ? 0 : -1)) yield `${one.name} and ${other.name} collide`
      }
    }
  }
  for (const { points, hasTip } of lines) {
    for (const text of texts) {
      const last = points.at(-1)
      const isMet = points.some(point => isNear(text, around(point, 0), TO_LINE))
      if (isMet || (hasTip && last && isNear(text, around(last, TIP), 0))) yield `a line meets ${text.name}`
    }
    const middle = points.slice(END, -END)
    for (const box of boxes)
      if (middle.some(point => isNear(box, around(point, 0), 0))) yield `a line crosses ${box.name}`
  }
}

const browser = await launch()

async function readDrawing(name: string): Promise<Drawing> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 } })
  await page.goto(pathToFileURL(`${FOLDER}/${name}`).href)
  const drawing: Drawing = await page.evaluate(() => {
    const [card, ...boxes] = [...document.querySelectorAll('rect')].map(element => {
      const { left, top, right, bottom } = element.getBoundingClientRect()
      return {
        name: `${element.className.baseVal} at ${Math.round(left)}, ${Math.round(top)}`,
        left,
        top,
        right,
        bottom,
      }
    })
    const texts = [...document.querySelectorAll('text')].map(element => {
      const { left, top, right, bottom } = element.getBoundingClientRect()
      const isCentred = getComputedStyle(element).textAnchor === 'middle'
      // The rectangle leaves room for accents, which there are none of.
      return { name: `“${element.textContent}”`, isCentred, left, top: top + 3, right, bottom: bottom - 2 }
    })
    const drawn = document.querySelectorAll<SVGGeometryElement>('path:not(marker path), line, polyline, polygon')
    const lines = [...drawn].map(element => {
      const points = Array.from({ length: Math.floor(element.getTotalLength()) + 1 }, (_, index) => {
        const { x, y } = element.getPointAtLength(index)
        return [x, y] as const
      })
      return { points, hasTip: element.hasAttribute('marker-end') }
    })
    if (card === undefined) throw new Error('no card')
    return { card, boxes, texts, lines }
  })
  await page.close()
  return drawing
}

async function testDrawings(): Promise<string> {
  const names = readdirSync(FOLDER)
  assert(names.length > 6)
  const complaints: string[] = []
  let measured = 0
  for (const name of names) {
    const drawing = await readDrawing(name)
    measured += drawing.texts.length
    for (const complaint of complaintsOf(drawing)) complaints.push(`${name}: ${complaint}`)
  }
  assert.deepEqual(complaints, [])
  assert(measured > 200)
  return `${measured} texts in ${names.length} drawings touch nothing`
}

try {
  console.log(await testDrawings())
} finally {
  await browser.close()
}
