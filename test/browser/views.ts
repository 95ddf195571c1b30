import { strict as assert } from 'node:assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import axe from 'axe-core'
import { exampleSources } from '../../src/site/examples.ts'
import type { BrowserPage, OpenPage, PageOptions } from './page.ts'

const WINDOWS: readonly PageOptions[] = [1280, 320].flatMap(width =>
  (['light', 'dark'] as const).map(colorScheme => ({ width, height: 900, colorScheme })),
)
/** The examples that axe checks too: absent, refused, a message, changes. */
const SAMPLED = [
  'Absent slot',
  'Inner node altered',
  'Message from L2',
  'State diff of a range of blocks',
  'Logs of a range of blocks',
]
const FILE = 'vectors/poseidon2/valid/contract-slots-mixed.json'
const WAIT = 120_000

/**
 * Checks the page's views in one browser, wide and narrow, light and dark: the first view, every example with its verdict, a
 * file from disk, and the keyboard.
 *
 * @param screenshots a folder for screenshots of the views
 * @returns the number of views
 */
export async function checkViews(open: OpenPage, origin: string, screenshots?: string): Promise<number> {
  let views = 0
  for (const options of WINDOWS) {
    const page = await open(options)
    const where = `${options.width} pixels, ${options.colorScheme}`
    const look = async (name: string, shown: Shown) => {
      views++
      assert.deepEqual(shown.overflowing, [], `${name}, ${where}`)
      if (name !== 'first view' && !SAMPLED.includes(name)) return
      if (screenshots) writeFileSync(join(screenshots, `${name}, ${where}.png`), await page.screenshot())
      assert.deepEqual(await axeViolations(page), [], `${name}, ${where}`)
    }
    try {
      await page.goto(origin)
      await watch(page)
      await checkOptions(page, options)
      await checkFirstView(page, look)
      await checkExamples(page, look, options === WINDOWS[0])
      await checkFile(page)
      await checkBack(page)
      await checkKeyboard(page)
      assert.deepEqual(await problemsOf(page, origin), [], where)
    } finally {
      await page.close()
    }
  }
  return views
}

/** What the page shows. */
interface Shown {
  readonly verdict: string
  readonly badge: string
  readonly headline: string
  readonly failedChecks: number
  /** Elements that overflow the window horizontally. */
  readonly overflowing: readonly string[]
}

type Look = (name: string, shown: Shown) => Promise<void>

async function checkOptions(page: BrowserPage, { width, colorScheme }: PageOptions): Promise<void> {
  const found = await page.evaluate(() => [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches])
  assert.deepEqual(found, [width, colorScheme === 'dark'])
}

async function checkFirstView(page: BrowserPage, look: Look): Promise<void> {
  const shown = await settled(page)
  assert.equal(shown.verdict, 'consistent')
  assert.equal(shown.badge, 'Consistent')
  await look('first view', shown)
}

/** All examples in the first window; in the others, those that differ in what they show. */
async function checkExamples(page: BrowserPage, look: Look, isFirst: boolean): Promise<void> {
  const last = exampleSources.at(-1)
  for (const { title, path } of exampleSources.filter(one => isFirst || SAMPLED.includes(one.title) || one === last)) {
    const { expected } = JSON.parse(readFileSync(`vectors/${path}`, 'utf8'))
    const isThere = await page.evaluate(wanted => {
      const buttons = [...document.querySelectorAll<HTMLElement>('#examples button')]
      const button = buttons.find(({ textContent }) => textContent === wanted)
      button?.click()
      return button !== undefined
    }, title)
    assert.ok(isThere, title)
    const shown = await settled(page)
    assert.equal(shown.verdict, expected.valid ? 'consistent' : 'refused', title)
    if (!expected.valid) assert.equal(shown.badge, `Refused: ${expected.code}`)
    assert.equal(shown.failedChecks, expected.valid ? 0 : 1, title)
    await look(title, shown)
  }
}

async function checkFile(page: BrowserPage): Promise<void> {
  await page.chooseFile('#choose', resolve(FILE))
  await until(page, () => document.querySelector('#file-status')?.textContent?.startsWith('contract-slots') ?? false)
  assert.equal((await settled(page)).verdict, 'consistent')
}

/** The browser's back button leads from the file to the example before it. */
async function checkBack(page: BrowserPage): Promise<void> {
  await page.evaluate(() => {
    history.back()
  })
  const last = exampleSources.at(-1)?.title
  await until(page, () => document.querySelector('#file-status')?.textContent?.startsWith('Example') ?? false)
  await settled(page)
  const status = await page.evaluate(() => document.querySelector('#file-status')?.textContent ?? '')
  assert.ok(status.includes(`“${last}”`), status)
}

/** The Tab key moves to the next example, and Enter opens it. */
async function checkKeyboard(page: BrowserPage): Promise<void> {
  await page.evaluate(() => {
    document.querySelector<HTMLElement>('#examples')?.showPopover()
    document.querySelector<HTMLElement>('#examples li:nth-child(2) button')?.focus()
  })
  await page.press('Tab')
  await until(page, wanted => document.activeElement?.textContent === wanted, exampleSources[2]?.title)
  await page.press('Enter')
  await until(page, () => document.querySelector('#file-status')?.textContent?.includes('Block hashes on L1') ?? false)
  const { verdict, headline } = await settled(page)
  assert.equal(verdict, 'consistent')
  assert.match(headline, /^Nobody has confirmed /)
}

/** Waits until the page has a verdict, and opens all collapsed sections. */
async function settled(page: BrowserPage): Promise<Shown> {
  await until(page, () => {
    const verdict = document.querySelector('#verdict')
    const isStale = document.querySelector('[data-stale]') !== null
    return verdict?.getAttribute('aria-busy') === 'false' && verdict.getAttribute('data-verdict') !== 'none' && !isStale
  })
  return page.evaluate(async () => {
    for (const details of document.querySelectorAll('details')) details.open = true
    // All views at once.
    for (const panel of document.querySelectorAll<HTMLElement>('[role=tabpanel]')) panel.hidden = panel.innerHTML === ''
    // Screenshots show the last painted frame.
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    const isWide = document.documentElement.scrollWidth > innerWidth
    const wide = [...document.body.querySelectorAll('*')].filter(
      element => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.visually-hidden'),
    )
    return {
      verdict: document.querySelector('#verdict')?.getAttribute('data-verdict') ?? '',
      badge: document.querySelector('.badge')?.textContent ?? '',
      headline: document.querySelector('.headline')?.textContent ?? '',
      failedChecks: document.querySelectorAll('.checks li[data-status="failed"]').length,
      overflowing: [
        ...(isWide ? ['the page'] : []),
        ...wide.map(({ tagName, className }) => `${tagName}.${className}`),
      ],
    }
  })
}

async function until<Arguments extends readonly unknown[]>(
  page: BrowserPage,
  condition: (...args: Arguments) => boolean,
  ...args: Arguments
): Promise<void> {
  for (const start = Date.now(); Date.now() - start < WAIT; await sleep(20)) {
    if (await page.evaluate(condition, ...args)) return
  }
  assert.fail(`the page never came to this: ${condition}`)
}

async function axeViolations(page: BrowserPage): Promise<readonly string[]> {
  await page.run(axe.source)
  return page.evaluate(async () => {
    const { violations } = await Reflect.get(globalThis, 'axe').run(document, { resultTypes: ['violations'] })
    return violations.flatMap((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
      violation.nodes.map(({ html, failureSummary }) => `${violation.id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
  })
}

/** Collects errors, console output and policy violations inside the page, for browsers that do not report them. */
async function watch(page: BrowserPage): Promise<void> {
  await page.evaluate(() => {
    const seen: string[] = []
    Reflect.set(globalThis, 'seen', seen)
    for (const level of ['error', 'warn', 'log'] as const) {
      console[level] = (...words: unknown[]) => void seen.push(`console ${level}: ${words.join(' ')}`)
    }
    addEventListener('error', ({ message }) => seen.push(`an error: ${message}`))
    addEventListener('unhandledrejection', ({ reason }) => seen.push(`an error: ${reason}`))
    document.addEventListener('securitypolicyviolation', event => {
      seen.push(`the policy was violated: ${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
}

/** The problems that the browser and the page report, and requests to other origins. */
async function problemsOf(page: BrowserPage, origin: string): Promise<readonly string[]> {
  const seen = await page.evaluate(() => Reflect.get(globalThis, 'seen') as string[])
  const requests = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  assert.ok(requests.includes(`${origin}explorer.js`))
  const strangers = requests.filter(request => !request.startsWith(origin)).map(request => `a request to ${request}`)
  return [...(page.complaints?.() ?? []), ...seen, ...strangers]
}
