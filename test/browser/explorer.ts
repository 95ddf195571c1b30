import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { exampleSources } from '../../src/site/examples.ts'
import { launch } from './launch.ts'
import { serve } from './site.ts'

/**
 * The explorer in a real browser, from a file server with a strict policy: every example and its verdict, the keyboard, the
 * address, narrow screens, both colour schemes, hostile files, nothing that moves, and no requests to other origins.
 */
const FOLDER = 'docs/explorer'
const WAIT = 120_000

const browser = await launch()
const strict = await serve(FOLDER)
const fast = await serve(FOLDER, true)

/** Everything that must not happen on a page. Checked to be empty after each check. */
const complaints: string[] = []
let wasmRefusals = 0
let requests = 0

/** The only violation of the strict policy: the hash kernels. Their fallback takes over. */
const WASM_REFUSAL = 'script-src wasm-eval'

/**
 * Reports violations of the policy, and the size of the largest message from the worker. Holds, until they are released, replies of
 * the worker by their kind and what the browser reads: `text` to keep it, `read` to unpack a link, `pack` to make one. The time
 * after which the page gives a request up is over when a test says so, however slow the machine is.
 */
const IN_PAGE = `
  document.addEventListener('securitypolicyviolation', event => {
    onViolation(event.effectiveDirective + ' ' + event.blockedURI)
  })
  const later = window.setTimeout
  window.setTimeout = (work, ms) => {
    if (!(ms >= 15_000)) return later(work, ms)
    window.giveUp = work
    return 0
  }
  let kinds = []
  window.largest = 0
  window.held = []
  window.hold = names => (kinds = names)
  window.release = () => {
    kinds = []
    for (const goOn of held.splice(0)) goOn()
  }
  const size = data => JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? String(value) : value)).length
  window.Worker = class extends Worker {
    addEventListener(type, listener) {
      super.addEventListener(type, event => {
        if (type === 'message') largest = Math.max(largest, size(event.data))
        if (kinds.includes(event.data?.kind)) held.push(() => listener(event))
        else listener(event)
      })
    }
  }
  for (const [type, method, kind] of [
    [Blob, 'text', 'text'], [ReadableStreamDefaultReader, 'read', 'read'], [Response, 'arrayBuffer', 'pack'],
  ]) {
    const original = type.prototype[method]
    type.prototype[method] = async function () {
      if (kinds.includes(kind)) await new Promise(goOn => held.push(goOn))
      return original.call(this)
    }
  }
`
const hold = (page: Page, ...kinds: readonly string[]) => page.evaluate(`hold(${JSON.stringify(kinds)})`)
/** Waits until something is held. */
const untilHeld = (page: Page) => page.waitForFunction(() => Reflect.get(window, 'held').length > 0)
const release = (page: Page) => page.evaluate('release()')

/** @param origin the origin of every request the page may send */
async function openPage(
  origin: string,
  options: Parameters<Browser['newContext']>[0] = {},
  start = origin,
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT)
  page.on('request', request => {
    requests++
    const url = request.url()
    if (!url.startsWith(origin)) complaints.push(`a request to ${url}`)
  })
  page.on('console', message => complaints.push(`console ${message.type()}: ${message.text()}`))
  page.on('pageerror', error => complaints.push(`an error: ${error.message}`))
  await context.exposeFunction('onViolation', (violation: string) => {
    if (violation === WASM_REFUSAL) wasmRefusals++
    else complaints.push(`the policy was violated: ${violation}`)
  })
  await page.addInitScript({ content: IN_PAGE })
  page.on('worker', async worker => {
    await worker
      .evaluate(() => {
        const seen: string[] = []
        Reflect.set(self, 'violations', seen)
        self.addEventListener('securitypolicyviolation', event => {
          seen.push(`${event.effectiveDirective} ${event.blockedURI}`)
        })
      })
      .catch(() => {})
  })
  await page.goto(start)
  return { page, context }
}

/** Collects the policy violations of the page's workers, then closes the page. */
async function closePage({ page, context }: { page: Page; context: BrowserContext }): Promise<void> {
  for (const worker of page.workers()) {
    for (const violation of await worker.evaluate(() => Reflect.get(self, 'violations') as string[])) {
      if (violation === WASM_REFUSAL) wasmRefusals++
      else complaints.push(`the policy was violated: ${violation}`)
    }
  }
  await context.close()
}

/** The page says so, and all of its views are of the same verdict. */
const [VERIFIED, CONSISTENT, REFUSED, UNJUDGED] = ['verified', 'consistent', 'refused', 'unjudged'].map(
  word => `#results:not([data-stale]) #verdict[data-verdict="${word}"]`,
) as [string, string, string, string]
/** Waits until nothing is verified any more. */
const verdictOf = async (page: Page): Promise<string> => {
  await page.waitForFunction(() => {
    const isBusy = document.querySelector('#verdict')?.getAttribute('aria-busy') !== 'false'
    return !isBusy && !document.querySelector('[data-stale]')
  })
  return (await page.locator('#verdict').getAttribute('data-verdict')) ?? ''
}
const badgeOf = (page: Page): Promise<string> => page.locator('.badge').innerText()
const headlineOf = (page: Page): Promise<string> => page.locator('.headline').innerText()
const tabOf = (page: Page): Promise<string> => page.locator('[role=tab][aria-selected=true]').innerText()

async function choose(page: Page, title: string): Promise<string> {
  await page.locator('#examples-button').click()
  await page.locator('#examples').getByRole('button', { name: title, exact: true }).click()
  await page.locator('#file-status', { hasText: `“${title}”:` }).waitFor()
  return verdictOf(page)
}

/** What an example is expected to come to, and the badge of its verdict. */
function expectationOf(path: string): { verdict: string; badge: string } {
  const { expected } = JSON.parse(readFileSync(`vectors/${path}`, 'utf8'))
  return expected.valid
    ? { verdict: 'consistent', badge: 'Consistent' }
    : { verdict: 'refused', badge: `Refused: ${expected.code}` }
}

/** Elements that overflow the window horizontally. */
const overflowing = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const wide = [...document.body.querySelectorAll('*')].filter(
      element => element.getBoundingClientRect().right > window.innerWidth + 1 && !element.closest('.visually-hidden'),
    )
    const isWide = document.documentElement.scrollWidth > window.innerWidth
    return [...(isWide ? ['the page'] : []), ...wide.map(element => `${element.tagName}.${element.className}`)]
  })

async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { violations } = await Reflect.get(window, 'axe').run(document, { resultTypes: ['violations'] })
    return violations.flatMap((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
      violation.nodes.map(({ html, failureSummary }) => `${violation.id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
  })
}

async function checkExamples(origin: string): Promise<string> {
  const opened = await openPage(origin)
  const { page } = opened
  for (const { title, path, group } of exampleSources) {
    const { verdict, badge } = expectationOf(path)
    assert.equal(await choose(page, title), verdict, `${group}: ${title}`)
    assert.equal(await badgeOf(page), badge, title)
    assert.equal(await page.locator('.checks li[data-status="failed"]').count(), verdict === 'refused' ? 1 : 0, title)
  }
  await closePage(opened)
  return `${exampleSources.length} examples have their verdicts`
}

/** For axe: verified, absent, refused, and each other kind. */
const SAMPLED = [
  'Absent slot',
  'Inner node altered',
  'From an L1 block hash',
  'Message from L2',
  'State diff of a range of blocks',
  'Logs of a range of blocks',
]

async function checkAppearance(): Promise<string> {
  let looked = 0
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of colorScheme === 'light' ? [320, 390, 1280] : [1280]) {
      const opened = await openPage(strict.origin, { colorScheme, viewport: { width, height: 800 } })
      const { page } = opened
      assert.deepEqual(await axeViolations(page), [], `before a file, ${colorScheme} ${width}`)
      // Colours move nothing, so in the dark only some are looked at.
      const isAll = colorScheme === 'light'
      for (const { title } of exampleSources.filter(one => isAll || SAMPLED.includes(one.title))) {
        await choose(page, title)
        await page.evaluate(() => {
          for (const details of document.querySelectorAll('details')) details.open = true
        })
        const isSampled = width === (colorScheme === 'light' ? 320 : 1280) && SAMPLED.includes(title)
        for (const tab of await page.getByRole('tab').all()) {
          await tab.click()
          const where = `${title}, ${await tabOf(page)}, ${colorScheme} ${width}`
          assert.deepEqual(await overflowing(page), [], where)
          if (isSampled) assert.deepEqual(await axeViolations(page), [], where)
          looked++
        }
      }
      await closePage(opened)
    }
  }
  return `${looked} views: nothing sticks out, axe finds nothing`
}

/** The page opens on an example. The verdict is green only for inputs that the visitor vouches for. Wrong input is not a refusal. */
async function checkFirstView(): Promise<string> {
  const opened = await openPage(strict.origin, { viewport: { width: 1280, height: 900 } })
  const { page } = opened
  await page.locator('#views:not([hidden])').waitFor()
  assert.equal(await verdictOf(page), 'consistent')
  assert.equal(await badgeOf(page), 'Consistent')
  const colour = (name: string) =>
    page.locator('#results').evaluate((one, wanted) => getComputedStyle(one).getPropertyValue(wanted), name)
  const tint = () => colour('--good')
  assert.equal(await tint(), await colour('--accent'))
  assert.equal(await headlineOf(page), 'Nobody has confirmed the L1 block hash and rollup contract.')
  assert.equal(
    await page.locator('.basis').innerText(),
    'If they are right, for the L2 block, address and storage keys that the file names: this account exists and holds 5 wei; 1 of its 2 slots exists.',
  )
  const links = page.locator('.chain > li')
  assert.deepEqual(await links.evaluateAll(all => all.map(link => link.getAttribute('data-state'))), [
    'assumed',
    ...['passed', 'passed', 'passed', 'passed'],
  ])
  assert.deepEqual(await page.locator('.chain .word').allInnerTexts(), ['not confirmed', ...Array(4).fill('follows')])
  const hash = await page.inputValue('#trusted')
  await page.fill('#trusted', hash.slice(0, -1))
  await page.locator(UNJUDGED).waitFor()
  assert.equal(await badgeOf(page), 'Check your input')
  assert.equal(await headlineOf(page), 'The root or hash that you trust is not valid.')
  assert.equal(await page.getAttribute('#trusted', 'aria-invalid'), 'true')
  assert.equal(await page.locator('#trusted-source').innerText(), '63 digits instead of 64')
  await page.locator('.headline').click()
  await page.getByRole('button', { name: 'Correct it' }).click()
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'trusted')
  // Whoever puts the digit back has stated nothing.
  await page.fill('#trusted', hash)
  await page.locator(CONSISTENT).waitFor()
  assert.equal(await page.getAttribute('#trusted', 'aria-invalid'), null)
  assert.match(
    await page.locator('#comparing-file').innerText(),
    new RegExp(`L1 block hash, of L1 block 24000000, 20\\S+Z: ${hash}$`),
  )
  const wrong = `${hash.slice(0, 20)}${hash[20] === '0' ? '1' : '0'}${hash.slice(21)}`
  await page.fill('#compared', wrong)
  assert.match(
    await page.locator('#comparing-result').innerText(),
    /^Not the same: at digit 19, the file has \w, and your/,
  )
  assert.equal(await page.locator('#comparing mark').innerText(), hash[20])
  assert.equal(await verdictOf(page), 'consistent')
  await page.fill('#compared', hash.toUpperCase().replace('0X', '0x'))
  assert.equal(await verdictOf(page), 'consistent')
  assert.equal(await page.locator('#comparing-label').innerText(), 'The rollup contract from a source of your own')
  assert.equal(await page.locator('#trusted-source').innerText(), 'confirmed by you')
  assert.deepEqual(await page.locator('.chain .word').allInnerTexts(), ['you trust it', ...Array(4).fill('follows')])
  await page.fill('#compared', await page.inputValue('#rollup'))
  await page.locator(VERIFIED).waitFor()
  assert.equal(await badgeOf(page), 'Verified')
  assert.equal(await tint(), await colour('--pass'))
  assert.equal(await page.locator('#comparing:visible').count(), 0)
  // Whoever has confirmed the last of them is led on.
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'verdict')
  assert.deepEqual(await page.locator('.chain .word').allInnerTexts(), ['you trust it', ...Array(4).fill('proven')])
  assert.deepEqual(await axeViolations(page), [])
  await checkNextFile(page, hash)
  await choose(page, 'Logs of a range of blocks')
  for (const field of ['#trusted', '#rollup']) {
    await page.fill('#compared', await page.inputValue(field))
    await verdictOf(page)
  }
  await page.locator(VERIFIED).waitFor()
  assert.equal(await badgeOf(page), 'Verified')
  await choose(page, 'Neighbours with a leaf between')
  await page.getByRole('tab', { name: 'Proof' }).click()
  const says = await page.locator('.says').allInnerTexts()
  assert.deepEqual(
    says.map(words => words.includes('another leaf')),
    [true, false, true],
  )
  await closePage(opened)
  return 'it opens on an example, and is green only for what the visitor vouches for'
}

/** What was said of one file is not said of the next, and a hash of one kind is no root of another. */
async function checkNextFile(page: Page, hash: string): Promise<void> {
  const next = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-timestamp.json', 'utf8'))
  assert.equal(await openFile(page, next), 'consistent')
  assert.equal(await page.locator('#comparing:visible').count(), 1)
  assert.equal(await page.inputValue('#trusted'), next.claim.trusted.l1BlockHash)
  assert.notEqual(await page.inputValue('#trusted'), hash)
  assert.equal(await page.inputValue('#compared'), '')
  assert.equal(await page.locator('#trusted-source').innerText(), 'from the file')
  await page.selectOption('#trustedKind', 'l2StateRoot')
  await page.locator(UNJUDGED).waitFor()
  assert.equal(await badgeOf(page), 'Not verified yet')
  assert.equal(await page.inputValue('#trusted'), '')
  await page.selectOption('#trustedKind', 'l1BlockHash')
  await page.locator(CONSISTENT).waitFor()
  assert.equal(await page.inputValue('#trusted'), next.claim.trusted.l1BlockHash)
  // What is typed stays, and says so. As a root of another kind, it does not.
  await page.fill('#trusted', hash)
  await page.locator(REFUSED).waitFor()
  await openFile(page, next.bundle)
  assert.equal(await page.locator('#trusted-source').innerText(), 'typed before this file')
  assert.equal(await page.inputValue('#trusted'), hash)
  await openFile(page, contract.answer)
  assert.equal(await page.inputValue('#trusted'), '')
  await page.getByRole('button', { name: 'Clear' }).click()
}

/** The key stands where its hash lies, even outside of its neighbours. */
async function checkNumberLine(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  const places = async (title: string): Promise<number[]> => {
    await choose(page, title)
    await page.getByRole('tab', { name: 'Proof' }).click()
    return page
      .locator('[data-enlarged] .point')
      .evaluateAll(all => all.map(point => point.getBoundingClientRect().left))
  }
  const [left = 0, key = 0, right = 0] = await places('Absent account')
  assert.ok(left < key && key < right, `${left} ${key} ${right}`)
  const [first = 0, wrong = 0] = await places('Key in another gap')
  assert.ok(wrong < first, `${wrong} ${first}`)
  await closePage(opened)
  return 'a key is drawn where it lies'
}

/** The address names an example, or the hash of a file, and the view; never what is in the file. */
async function checkAddress(): Promise<string> {
  const opened = await openPage(strict.origin, { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = opened
  const fragment = () => page.evaluate(() => location.hash)
  await choose(page, 'Absent slot')
  assert.equal(await fragment(), '#absent-slot')
  await page.getByRole('tab', { name: 'Proof' }).click()
  assert.equal(await fragment(), '#absent-slot/proof')
  await page.getByRole('button', { name: 'Previous proof' }).click()
  await page.getByText('Proof of the account').waitFor()
  assert.equal(await fragment(), '#absent-slot/proof/0')
  await choose(page, 'Inner node altered')
  assert.equal(await tabOf(page), 'Overview')
  await page.goBack()
  await page.locator('#file-status', { hasText: '“Absent slot”:' }).waitFor()
  await verdictOf(page)
  await page.getByText('Proof of the account').waitFor()
  await page.goBack()
  await page.getByText('Proof of slot 1').waitFor()
  await page.goForward()
  await page.getByText('Proof of the account').waitFor()
  await page.reload()
  await page.getByText('Proof of the account').waitFor()
  await verdictOf(page)
  await page.getByRole('button', { name: 'Copy Key', exact: true }).click()
  await page.locator('#copied', { hasText: 'Copied.' }).waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  assert.match(copied, /^0x[0-9a-f]{40}$/)

  const text = JSON.stringify(contract)
  const file = `${await chooseFile(page, text)}: vector`
  await page.locator('#file-status', { hasText: file }).waitFor()
  await verdictOf(page)
  const digest = createHash('sha256').update(text).digest('hex')
  assert.equal(await fragment(), `#sha256-${digest}`)
  await page.getByRole('tab', { name: 'Proof' }).click()
  await choose(page, 'Absent account')
  await page.goBack()
  await page.locator('#file-status', { hasText: file }).waitFor()
  await verdictOf(page)
  assert.equal(await tabOf(page), 'Proof')
  // A reload keeps the file in this tab. Another tab has the address alone, unless it is a link with the file.
  await page.reload()
  await page.locator('#file-status', { hasText: file }).waitFor()
  assert.equal(await verdictOf(page), 'consistent')
  assert.equal(await tabOf(page), 'Proof')
  await page.getByRole('button', { name: 'Copy a link to it' }).click()
  await page.locator('#copied', { hasText: 'The link has the file, and nothing of what you entered.' }).waitFor()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  assert.match(link, /\/#z\.[\w-]{1000,}\/proof$/)
  const other = await openPage(strict.origin, {}, `${strict.origin}#sha256-${digest}`)
  await other.page
    .getByText(`This address is of a file with the SHA-256 ${digest.slice(0, 16)}…`)
    .first()
    .waitFor()
  await closePage(other)
  const linked = await openPage(strict.origin, {}, link)
  await linked.page.locator('#file-status', { hasText: 'The file of the link: vector, 5 storage proofs' }).waitFor()
  assert.equal(await verdictOf(linked.page), 'consistent')
  assert.equal(await tabOf(linked.page), 'Proof')
  assert.equal(await linked.page.evaluate(() => location.hash.slice(0, 72)), `#sha256-${digest}`)
  await closePage(linked)
  for (const hostile of [
    'z.AAAA',
    'z.not_deflate',
    `z.${deflateRawSync(Buffer.alloc(2 ** 24)).toString('base64url')}`,
  ]) {
    const bad = await openPage(strict.origin, {}, `${strict.origin}#${hostile}`)
    await bad.page.getByText('This link carries no file that this page can unpack').first().waitFor()
    await closePage(bad)
  }
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.locator('.headline', { hasText: 'What does the server say?' }).waitFor()
  await page.reload()
  await page
    .getByText(`This address is of a file with the SHA-256 ${digest.slice(0, 16)}…`)
    .first()
    .waitFor()
  await closePage(opened)
  return 'the address can be shared; back and forward lead to where one was'
}

/** What the visitor has stated goes with a reload. Nothing that a stranger puts into a link is ever taken for it. */
async function checkTrust(): Promise<string> {
  const packed = (content: unknown) => `z.${deflateRawSync(JSON.stringify(content)).toString('base64url')}`
  const { bundle, claim, ...vector } = JSON.parse(
    readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8'),
  )
  const opened = await openPage(strict.origin, { viewport: { width: 1280, height: 900 } })
  const { page } = opened
  const follow = async (content: unknown) => {
    await page.goto('about:blank')
    await page.goto(`${strict.origin}#${packed(content)}`)
    await page.locator('#file-status', { hasText: 'The file of the link' }).waitFor()
    return verdictOf(page)
  }
  const name = await chooseFile(page, JSON.stringify(bundle))
  const status = page.locator('#file-status', { hasText: `${name}: evidence bundle` })
  await status.waitFor()
  await verdictOf(page)
  await page.fill('#trusted', claim.trusted.l1BlockHash)
  await page.fill('#rollup', claim.rollup.address)
  await page.locator(VERIFIED).waitFor()
  await page.reload()
  await status.waitFor()
  assert.equal(await verdictOf(page), 'unjudged')
  assert.equal(await page.inputValue('#trusted'), '')
  // In the same tab, another file with the same claim: its sender could have stated that, too.
  assert.equal(await follow({ ...vector, bundle, claim }), 'consistent')
  assert.equal(await page.locator('#trusted-source').innerText(), 'from the file')
  const field = (value: unknown, source = 'user') => ({ value, source })
  const words = { trusted: field(claim.trusted.l1BlockHash), rollup: field(claim.rollup.address, 'confirmed') }
  for (const crafted of [
    { ...vector, bundle, claim, words, source: 'user', trusted: claim.trusted },
    { ...bundle, claim, words, suggested: words, verdict: 'verified', confirmed: true },
  ]) {
    assert.notEqual(await follow(crafted), 'verified')
  }
  const source = packed({ ...vector, bundle, claim })
  for (const more of ['/trusted/', '/overview/0/', '?trusted=', '&words=']) {
    const start = `${strict.origin}#${source}${more}${claim.trusted.l1BlockHash}`
    const other = await openPage(strict.origin, {}, start)
    await other.page.locator('#views:not([hidden])').waitFor()
    assert.equal(await verdictOf(other.page), 'consistent', more)
    await closePage(other)
  }
  assert.equal(await follow(bundle), 'unjudged')
  await closePage(opened)
  return 'no reload and no link states anything'
}

const TEXT_OF = (name: string) => `${name}: vector, 5 storage proofs`
/** Types another last digit into a field, or gives it any other value, without a look at what is shown. */
const typeInto = (page: Page, id: string, value?: string) =>
  page.locator(id).evaluate((field, typed) => {
    if (!(field instanceof HTMLInputElement)) return
    field.value = typed ?? `${field.value.slice(0, -1)}${field.value.endsWith('0') ? '1' : '0'}`
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }, value)

/** What the visitor does while a file is read leaves that file in peace. */
async function checkLoading(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  const status = page.locator('#file-status')
  await choose(page, 'Absent slot')
  await page.getByRole('tab', { name: 'Proof' }).click()
  await page.locator('#bytes .digits').nth(2).press('f')
  await page.locator(REFUSED).waitFor()
  // Whoever types into the form, or puts a digit of the earlier file back.
  await hold(page, 'load')
  const first = await chooseFile(page, JSON.stringify(contract))
  await untilHeld(page)
  assert.equal(await page.locator('#changed:visible, #share:visible').count(), 0)
  await typeInto(page, '#address', `0x${'11'.repeat(20)}`)
  await page.locator('#put-back').evaluate(button => (button as HTMLElement).click())
  await release(page)
  await status.filter({ hasText: TEXT_OF(first) }).waitFor()
  assert.equal(await verdictOf(page), 'refused')
  assert.equal(await badgeOf(page), 'Refused: KEY_MISMATCH')
  assert.equal(await page.locator('#address-source').innerText(), 'typed before this file')
  assert.match(await page.evaluate(() => location.hash), /^#sha256-/)
  // Two files one after the other, and the browser's back button.
  await hold(page, 'load')
  await chooseFile(page, JSON.stringify(contract.answer))
  await untilHeld(page)
  const last = await chooseFile(page, JSON.stringify({ ...contract, description: 'another' }))
  await release(page)
  await status.filter({ hasText: TEXT_OF(last) }).waitFor()
  await verdictOf(page)
  await hold(page, 'load')
  await chooseFile(page, JSON.stringify(contract.answer))
  await untilHeld(page)
  await page.goBack()
  await status.filter({ hasText: first }).waitFor()
  await release(page)
  await status.filter({ hasText: TEXT_OF(first) }).waitFor()
  await verdictOf(page)
  // Whoever clears the page, while the file is read and while it is kept.
  for (const kind of ['load', 'text']) {
    await hold(page, kind)
    await chooseFile(page, JSON.stringify({ ...contract, description: kind }))
    await untilHeld(page)
    await page.getByRole('button', { name: 'Clear' }).click()
    await release(page)
    assert.equal(await verdictOf(page), 'none', kind)
    assert.equal(await headlineOf(page), 'What does the server say?')
    assert.equal(await page.evaluate(() => history.state), null, kind)
  }
  // Whoever opens a file while that of a link is unpacked.
  await page.goto('about:blank')
  await page.goto(`${strict.origin}`)
  await verdictOf(page)
  await hold(page, 'read')
  const packed = deflateRawSync('{}').toString('base64url')
  await page.evaluate(link => {
    location.hash = link
  }, `z.${packed}`)
  await untilHeld(page)
  assert.equal(await openFile(page, contract), 'consistent')
  await release(page)
  await page.evaluate(() => new Promise(requestAnimationFrame))
  // The worker has it, too.
  await typeInto(page, '#address', `0x${'11'.repeat(20)}`)
  await page.locator(REFUSED).waitFor()
  assert.match(await status.innerText(), /^answer-\d+\.json: /)
  assert.equal(await badgeOf(page), 'Refused: KEY_MISMATCH')
  await closePage(opened)
  return 'whatever happens while a file is read, the page shows the last one'
}

/** What the visitor does while a verdict is on its way has its verdict. */
async function checkVerifying(): Promise<string> {
  const opened = await openPage(strict.origin, { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = opened
  const fragment = (wanted: string) => page.waitForFunction(hash => location.hash === hash, wanted)
  await choose(page, 'Absent slot')
  await page.getByRole('tab', { name: 'Proof' }).click()
  await page.getByRole('button', { name: 'Previous proof' }).click()
  await page.getByText('Proof of the account').waitFor()
  // Back to another proof of the same file.
  await hold(page, 'verify')
  await typeInto(page, '#trusted')
  await untilHeld(page)
  await page.goBack()
  await fragment('#absent-slot/proof')
  await release(page)
  await page.locator(REFUSED).waitFor()
  await page.getByText('Proof of slot 1').or(page.getByText('Proof of the account')).waitFor()
  await typeInto(page, '#trusted', JSON.parse(readFileSync(ABSENT_SLOT, 'utf8')).stateRoot)
  await page.locator(CONSISTENT).waitFor()
  await page.getByText('Proof of slot 1').waitFor()
  // To the next proof and back, faster than the worker.
  await hold(page, 'proof')
  await page.getByRole('button', { name: 'Previous proof' }).click()
  await untilHeld(page)
  await page.goBack()
  await fragment('#absent-slot/proof')
  await release(page)
  await page.evaluate(() => new Promise(requestAnimationFrame))
  await page.getByText('Proof of slot 1').waitFor()
  // A digit and a field at once.
  await page.getByRole('tab', { name: 'Proof' }).click()
  const digits = page.locator('#bytes .digits').nth(2)
  const text = await digits.innerText()
  await digits.evaluate(
    (element, digit) => {
      element.dispatchEvent(new KeyboardEvent('keydown', { key: digit, bubbles: true }))
      document.querySelector('#trusted')?.dispatchEvent(new InputEvent('input', { bubbles: true }))
    },
    text.startsWith('0') ? '1' : '0',
  )
  await page.locator(REFUSED).waitFor()
  assert.match(
    await page.locator('#changed').innerText(),
    /^Refused: SUB_ROOT_MISMATCH\. You changed 1 digit of this file\./,
  )
  await page.getByRole('button', { name: 'Put it back' }).click()
  await page.locator(CONSISTENT).waitFor()
  // Whoever types on after Enter keeps the focus.
  await page.locator('#trusted').focus()
  await hold(page, 'verify')
  await page.keyboard.press('Enter')
  await untilHeld(page)
  await page.keyboard.press('End')
  await page.keyboard.press('Backspace')
  await release(page)
  await page.locator(UNJUDGED).waitFor()
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'trusted')
  await page.getByRole('tab', { name: 'File' }).click()
  // A part of the file that is opened meanwhile.
  await hold(page, 'part')
  await page.locator('#file summary').first().click()
  await untilHeld(page)
  await typeInto(page, '#trusted')
  await release(page)
  await page.locator(UNJUDGED).waitFor()
  await page.locator('#file .tree .tree > li .key').first().waitFor()
  // Another file does not wait for it, and a link is that of the view in which it was asked for.
  await hold(page, 'verify')
  await typeInto(page, '#trusted')
  await untilHeld(page)
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.locator('.headline', { hasText: 'What does the server say?' }).waitFor()
  await release(page)
  assert.equal(await verdictOf(page), 'none')
  assert.equal(await openFile(page, contract), 'consistent')
  await hold(page, 'pack')
  await page.getByRole('button', { name: 'Copy a link to it' }).click()
  await untilHeld(page)
  await page.getByRole('tab', { name: 'File' }).click()
  await release(page)
  await page.locator('#copied', { hasText: 'The link has the file' }).waitFor()
  assert.doesNotMatch(await page.evaluate(() => navigator.clipboard.readText()), /\/file/)
  await closePage(opened)
  return 'whatever happens while a verdict is on its way, the page shows the last one'
}
const ABSENT_SLOT = 'vectors/poseidon2/valid/contract-slot-absent-between.json'

/** Nothing moves while the page loads, while one types, and between the views of a file. */
async function checkStillness(): Promise<string> {
  const found: string[] = []
  for (const width of [1440, 390]) {
    const opened = await openPage(strict.origin, { viewport: { width, height: 900 } })
    const { page } = opened
    await page.evaluate(() => {
      Reflect.set(window, 'shifts', 0)
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) {
          Reflect.set(window, 'shifts', Reflect.get(window, 'shifts') + Reflect.get(entry, 'value'))
        }
      }).observe({ type: 'layout-shift', buffered: true })
    })
    const shifts = () => page.evaluate(() => Reflect.get(window, 'shifts') as number)
    await page.locator('#views:not([hidden])').waitFor()
    const onLoad = await shifts()
    assert.ok(onLoad < 0.1, `${onLoad} on load at ${width}`)
    await page.locator('#statement').evaluate(form => form.setAttribute('open', ''))
    await page.locator('#trusted').focus()
    const before = await shifts()
    const places = () =>
      page.evaluate(() =>
        ['#trusted', '#address', '#chain', '#tabs'].map(
          one => document.querySelector(one)?.getBoundingClientRect().top,
        ),
      )
    const tops = await places()
    const hash = await page.inputValue('#trusted')
    await page.keyboard.press('End')
    await page.keyboard.press('Backspace')
    await page.locator(UNJUDGED).waitFor()
    await page.keyboard.type(hash.slice(-1))
    await page.locator(CONSISTENT).waitFor()
    assert.deepEqual(await places(), tops, `${width}`)
    const whileTyping = (await shifts()) - before
    assert.ok(whileTyping < 0.01, `${whileTyping} while typing at ${width}`)
    found.push(`${width} pixels: ${onLoad.toFixed(3)} on load, ${whileTyping.toFixed(3)} while typing`)
    await closePage(opened)
  }
  return `nothing moves; layout shift at ${found.join('; ')}`
}

/** A list of traces of several megabytes is verified beside the page, which shows some of its changes at a time. */
async function checkTraces(): Promise<string> {
  const opened = await openPage(fast.origin)
  const { page } = opened
  const world = createWorld(poseidon2)
  const parentStateRoot = world.stateRoot()
  const addressOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as const
  const accounts = Array.from({ length: 500 }, (_, index) => ({
    address: addressOf(index + 1),
    account: { balance: 7n },
  }))
  const traces = world.applyBlock(accounts)
  const result = {
    zkParentStateRootHash: parentStateRoot,
    zkEndStateRootHash: world.stateRoot(),
    zkStateMerkleProof: [traces],
  }
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result })
  assert.ok(text.length > 3 * MIB, `${text.length}`)
  const name = await chooseFile(page, text)
  await page.locator('#file-status', { hasText: `${name}: ` }).waitFor()
  assert.equal(await verdictOf(page), 'unjudged')
  await page.selectOption('#scheme', 'poseidon2')
  await page.locator(CONSISTENT).waitFor()
  const largest = await largestMessage(page)
  assert.match(
    await page.locator('.basis').innerText(),
    /^If they are right, these changes, of 500 accounts and 0 slots, lead from one root to the other\.$/,
  )
  const rows = page.locator('tbody tr')
  assert.equal(await rows.count(), 20)
  await page.getByRole('button', { name: 'Show 20 more of 500' }).click()
  assert.equal(await rows.count(), 40)
  assert.match(await page.locator('.changes .hint').innerText(), /^The first 500 of 3000 changes: /)
  assert.match(await rows.nth(1).innerText(), /balance\s+nothing\s+7/)
  assert.ok((await page.locator('*').count()) < 3000)
  await page.fill('#endRoot', `0x${'00'.repeat(32)}`)
  await page.locator(REFUSED).waitFor()
  assert.equal(await badgeOf(page), 'Refused: TRANSITION_END_MISMATCH')
  await closePage(opened)
  return `${Math.round(text.length / MIB)} MiB of traces leave the page alive; largest message: ${largest} characters`
}

/** On paper, everything that the tabs hold follows one after the other, without what one would click. */
async function checkPrint(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  await choose(page, 'Absent slot')
  await page.emulateMedia({ media: 'print' })
  const shown = await page
    .locator('[role=tabpanel]')
    .evaluateAll(all => all.map(panel => panel.getBoundingClientRect().height > 0))
  assert.equal(await page.locator('#comparing:visible').count(), 0)
  // The file is identified by its digest: it may be long.
  assert.deepEqual(shown, [true, true, false])
  const links = await page.locator('.chain > li').count()
  assert.ok(links > 2)
  assert.equal(await page.locator('.more:visible').count(), links)
  const record = await page.locator('#record').innerText()
  for (const part of [
    /Example “Absent slot”/,
    /SHA-256\s+[0-9a-f]{64}/,
    /Consistent\. Nobody has/,
    /20\d\d-\d\d-\d\dT/,
    /0\.1\.0/,
  ]) {
    assert.match(record, part)
  }
  // Nothing is folded.
  const inFold = () =>
    page
      .locator('#results details:not([open], #file details) > :not(summary)')
      .evaluateAll(all => all.map(one => one.checkVisibility({ contentVisibilityAuto: true })))
  const unfolded = await inFold()
  assert.ok(unfolded.length > 3 && unfolded.every(isSeen => isSeen), `${unfolded}`)
  assert.equal(await page.getByRole('tab').count(), 0)
  assert.equal(await page.locator('.actions:visible').count(), 0)
  await page.emulateMedia({ media: 'screen' })
  assert.ok((await inFold()).every(isSeen => !isSeen))
  // It is a record of what is shown.
  await page.getByRole('button', { name: 'Clear' }).click()
  assert.equal(await page.locator('#record').textContent(), '')
  await closePage(opened)
  return 'all of it is printed'
}

/** Any digit can be another one and be put back, in the bytes and in the file; the verdict follows. */
async function checkDigits(): Promise<string> {
  const opened = await openPage(strict.origin, { viewport: { width: 1280, height: 900 } })
  const { page } = opened
  const shown = (part: string) => page.locator(`#${part} [data-changed]`)
  await choose(page, 'Absent slot')
  await page.getByRole('tab', { name: 'Proof' }).click()
  const hKey = page.locator('#bytes .digits').nth(2)
  const text = await hKey.innerText()
  await hKey.click({ position: { x: 3, y: 8 } })
  await page.locator(REFUSED).waitFor()
  assert.equal(await badgeOf(page), 'Refused: SUB_ROOT_MISMATCH')
  const next = ((Number.parseInt(text[0] ?? '', 16) + 1) % 16).toString(16)
  assert.equal(await hKey.innerText(), next + text.slice(1))
  assert.match(
    await page.locator('#changed').innerText(),
    /^Refused: SUB_ROOT_MISMATCH\. You changed 1 digit of this file\. This is not what the server sent\./,
  )
  await page.getByRole('button', { name: 'Left neighbour: show the leaf (node 41) in the file' }).click()
  assert.equal(await tabOf(page), 'File')
  await shown('file').waitFor()
  assert.equal(await shown('file').getAttribute('title'), `The file has ${text[0]}`)
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === '41')
  // Another digit of the same leaf, by the keyboard; and a digit of an inner node.
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('7')
  await page.locator('#changed', { hasText: 'You changed 2 digits' }).waitFor()
  await verdictOf(page)
  assert.equal(await shown('file').count(), 2)
  await page
    .getByRole('button', { name: 'Show the bytes of answer.storageProofs.0.leftProof.proofRelatedNodes.41' })
    .click()
  assert.equal(await tabOf(page), 'Proof')
  assert.equal(await shown('bytes').count(), 2)
  await page.getByRole('button', { name: 'Put it back' }).click()
  await page.locator(CONSISTENT).waitFor()
  assert.equal(await page.locator('[data-changed]').count(), 0)
  assert.equal(await hKey.innerText(), text)
  assert.equal(await page.locator('#changed:visible').count(), 0)
  // Whoever types quickly loses no key, whenever a verdict comes.
  const typed = [...text.slice(0, 24)].map(digit => (digit === '5' ? '6' : '5')).join('')
  await hKey.focus()
  for (let steps = 0; steps < 64; steps++) await page.keyboard.press('ArrowLeft')
  await page.keyboard.type(typed)
  await page.locator('#changed', { hasText: 'You changed 24 digits' }).waitFor()
  await page.locator(REFUSED).waitFor()
  assert.equal(await hKey.innerText(), typed + text.slice(24))
  await page.getByRole('button', { name: 'Put it back' }).click()
  await page.locator(CONSISTENT).waitFor()
  // What is changed goes with the file.
  await hKey.click({ position: { x: 3, y: 8 } })
  await page.locator(REFUSED).waitFor()
  assert.equal(await choose(page, 'Absent account'), 'consistent')
  assert.equal(await page.locator('#changed:visible').count(), 0)
  // Long lists say how much more there is.
  await openFile(page, { scheme: 'poseidon2', ...manySlots(120), expected: { valid: true } })
  await page.getByRole('tab', { name: 'File' }).click()
  await page.locator('#file summary', { hasText: 'storageKeys' }).click()
  await page.getByRole('button', { name: 'Show more: 50 of 120 are shown' }).click()
  await page.getByRole('button', { name: 'Show more: 100 of 120 are shown' }).waitFor()
  await closePage(opened)
  return 'a digit that is changed is refused, wherever it is, and can be put back'
}

/** With forced colours, one tab looks selected, and the arrows between the links of the chain are there. */
async function checkForcedColours(): Promise<string> {
  const opened = await openPage(strict.origin, { forcedColors: 'active', viewport: { width: 1280, height: 900 } })
  const { page } = opened
  await choose(page, 'Absent slot')
  await page.getByRole('tab', { name: 'Proof' }).click()
  const [arrow, line, panel, ...tabs] = await page.evaluate(() => [
    ...[
      ['.chain > li:nth-child(2) .link', '::before'],
      ['.level .line', '::before'],
      ['.panel', ''],
    ].map(([selector = '', part = '']) => {
      const element = document.querySelector(selector)
      return element ? getComputedStyle(element, part).backgroundColor : ''
    }),
    ...[...document.querySelectorAll('[role=tab]')].map(tab => getComputedStyle(tab).borderBottomColor),
  ])
  assert.deepEqual(
    tabs.map(color => color === panel),
    [true, false, true],
  )
  // What has come of a copy is no box as long as there is nothing to say, and the points of the legend are there.
  const [box, dot] = await page.evaluate(() => [
    document.querySelector('#copied')?.getBoundingClientRect().height,
    getComputedStyle(document.querySelector('.legend .dot') ?? document.body).backgroundColor,
  ])
  assert.equal(box, 0)
  assert.notEqual(dot, panel)
  assert.notEqual(arrow, panel)
  assert.notEqual(line, panel)
  await closePage(opened)
  return 'with forced colours, nothing that is drawn gets lost'
}

/** On the narrowest phone, the page still says what it is, and no word, hash or row is squeezed. */
async function checkPhone(): Promise<string> {
  const opened = await openPage(strict.origin, { viewport: { width: 320, height: 800 } })
  const { page } = opened
  const lines = (selector: string) =>
    page.locator(selector).evaluateAll(all =>
      all.map(one => {
        const range = document.createRange()
        range.selectNodeContents(one)
        return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size
      }),
    )
  const ones = async (selector: string) => {
    const found = await lines(`${selector}:visible`)
    assert.ok(found.length > 0, selector)
    assert.deepEqual(new Set(found), new Set([1]), selector)
  }
  await page.locator('#views:not([hidden])').waitFor()
  assert.match(await page.locator('header p').innerText(), /^Verifies what a server says about a rollup/)
  assert.deepEqual(await page.locator('header nav a').allInnerTexts(), ['Documents', 'Command', 'Source'])
  await ones('#tabs button')
  await ones('.chain .title')
  await ones('.chain .brief:not(:empty)')
  await choose(page, 'State diff of a range of blocks')
  await ones('.chip')
  // What the row above says, too, leaves no empty lines.
  const gaps = await page
    .locator('tr[data-same] > td:nth-child(3)')
    .evaluateAll(all =>
      all.map(one => one.getBoundingClientRect().top - (one.parentElement?.getBoundingClientRect().top ?? 0)),
    )
  assert.ok(gaps.length > 10 && Math.max(...gaps) < 10, `${gaps}`)
  await closePage(opened)
  return 'nothing is squeezed at 320 pixels'
}

/** Each button and link says what it is about, so that a list of them can be read. */
async function checkNames(): Promise<string> {
  const opened = await openPage(strict.origin, { viewport: { width: 1280, height: 900 } })
  const { page } = opened
  let count = 0
  const look = async (part: string, where: string) => {
    const names = await page
      .locator(`${part} button:visible, ${part} summary:visible`)
      .evaluateAll(all =>
        all
          .filter(one => !one.closest('.path, .tree'))
          .map(one => (one.getAttribute('aria-label') ?? one.textContent ?? '').trim()),
      )
    const twice = names.filter((name, index) => names.indexOf(name) !== index)
    assert.deepEqual(twice, [], where)
    count += names.length
  }
  for (const { title } of exampleSources) {
    await choose(page, title)
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      await look('#views', `${title}, ${await tabOf(page)}`)
    }
    for (const link of await page.locator('.link').all()) {
      await link.click()
      await look('#chain', `${title}, ${await link.innerText()}`)
    }
  }
  await closePage(opened)
  return `${count} names of buttons, none twice in a view`
}

/** Five files one after another: true, forged, of other kinds. What is said of each is true of it alone. */
async function checkAuditor(): Promise<string> {
  const opened = await openPage(strict.origin, { viewport: { width: 1280, height: 900 } })
  const { page } = opened
  const read = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))
  const text = (selector: string) => page.locator(selector).innerText()
  const openNext = async (content: unknown, word: string) => {
    assert.equal(await openFile(page, content), word)
  }
  const wordsOf = () => page.locator('.chain .word').allInnerTexts()

  // 1. Evidence from L1, which the auditor compares with a hash and a contract of their own.
  const first = read('evidence/valid/poseidon2-block-hash')
  await openNext(first.bundle, 'unjudged')
  assert.equal(await headlineOf(page), 'Enter the L1 block hash that you trust.')
  await page.fill('#trusted', first.claim.trusted.l1BlockHash)
  await page.fill('#rollup', first.claim.rollup.address)
  await page.locator(VERIFIED).waitFor()
  assert.match(await text('.basis'), /^Rests on the L1 block hash 0x\S+, which you typed\./)

  // 2. A forged header under the same hash. What was typed stays, and says so.
  const forged = read('evidence/invalid/header-forged-state')
  await openNext(forged.bundle, 'refused')
  assert.equal(await badgeOf(page), 'Refused: HEADER_HASH_MISMATCH')
  assert.equal(await text('#trusted-source'), 'typed before this file')
  assert.match(await text('.failure'), /What to do: The file has a header that says L1 block 24000000 and hashes to 0x/)
  assert.match(await text('.failure'), /if this is its hash, the file is of another block .* if not, it is forged/)
  const row = await page.locator('.failure a').getAttribute('href')
  assert.equal(row, '../checks.md#:~:text=HEADER_HASH_MISMATCH')
  assert.ok(readFileSync('docs/checks.md', 'utf8').includes('`HEADER_HASH_MISMATCH`'))
  assert.deepEqual(
    await wordsOf(),
    ['★ you trust it', '✗ refused', '· not checked', '· not checked'].map(word => word.slice(2)),
  )

  // 3. An answer of a server: a hash of L1 is no root of it.
  await openNext(contract.answer, 'unjudged')
  assert.equal(await page.inputValue('#trusted'), '')
  assert.equal(await headlineOf(page), 'Enter the state root that you trust.')
  await page.fill('#trusted', contract.stateRoot)
  await page.locator(VERIFIED).waitFor()
  assert.match(await text('.basis'), /Verified for the address and storage keys that the answer names/)

  // 4. A message, which is about L1 again.
  const message = read('messages/valid/evidence-from-l2')
  await openNext(message, 'consistent')
  assert.match(await headlineOf(page), /^Nobody has confirmed the L1 block hash/)
  assert.equal(await page.inputValue('#trusted'), message.claim.trusted.l1BlockHash)
  assert.ok(!(await wordsOf()).includes('proven'))

  // 5. A call, which this page does not verify.
  await chooseFile(page, JSON.stringify(read('calls/valid/timestamp')))
  await page.locator('.headline', { hasText: 'This is a call as evidence: the command line verifies it' }).waitFor()
  assert.equal(await verdictOf(page), 'none')
  assert.equal(await page.locator('.picture:visible, #views:visible').count(), 0)
  assert.equal(await page.locator('#changed:visible, #comparing:visible').count(), 0)
  await closePage(opened)
  return 'of five files one after another, each is judged by what is said of it alone'
}

/** Presses Tab until the focused element matches. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(wanted => document.activeElement?.matches(wanted), selector)) return
  }
  assert.fail(`the tab key does not lead to ${selector}`)
}

async function checkKeyboard(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  await tabTo(page, '#choose')
  await tabTo(page, '#examples-button')
  await page.keyboard.press('Enter')
  await tabTo(page, '#examples section:nth-child(2) li:nth-child(1) button')
  await page.keyboard.press('Enter')
  await page.locator('#file-status', { hasText: 'Contract with slots' }).waitFor()
  assert.equal(await verdictOf(page), 'consistent')
  await page.evaluate(() => Reflect.get(document.activeElement ?? {}, 'blur')?.call(document.activeElement))
  await tabTo(page, '#trusted')
  await page.keyboard.press('End')
  const last = (await page.inputValue('#trusted')).slice(-1)
  await page.keyboard.press('Backspace')
  await page.keyboard.type(last === '0' ? '1' : '0')
  await page.locator(REFUSED).waitFor()
  assert.equal(await badgeOf(page), 'Refused: STATE_ROOT_MISMATCH')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Enter')
  await page.locator(UNJUDGED).waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'trusted')
  await page.keyboard.press('End')
  await page.keyboard.type(last)
  await page.locator(CONSISTENT).waitFor()
  // A link of the chain unfolds, one at a time.
  await tabTo(page, '.link')
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('.more:visible h3').innerText(), 'L2 state')
  await tabTo(page, '.chain > li:nth-child(2) .link')
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('.more:visible h3').innerText(), 'Account')
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('.more:visible').count(), 0)
  await tabTo(page, '[role=tab]')
  await page.keyboard.press('ArrowRight')
  assert.equal(await tabOf(page), 'Proof')
  await page.keyboard.press('End')
  assert.equal(await tabOf(page), 'File')
  await page.keyboard.press('Home')
  await tabTo(page, '.proofs li:nth-child(2) > button')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.id === 'proof')
  await page.getByText('Proof of slot 1').waitFor()
  await tabTo(page, '.fold summary')
  await page.keyboard.press('Enter')
  assert.ok(await page.locator('.fold details[open]').count())
  await tabTo(page, '.level')
  await page.keyboard.press('Enter')
  assert.match(
    await page.locator('[open] > .level + p').innerText(),
    /^Node 1 makes the sibling: 0x[0-9a-f]{64}\. The node on the path is 0x[0-9a-f]{64}\. The hash of both/,
  )
  await tabTo(page, '#bytes .digits')
  await page.keyboard.press('ArrowDown')
  const next = page.locator('.part', { has: page.locator('.digits:focus') })
  assert.match(await next.innerText(), /^next = .+ Index of the leaf with the next larger key hash/)
  await page.keyboard.press('End')
  assert.equal(await page.locator('.digits:focus').getAttribute('aria-label'), 'hVal, 32 bytes')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('f')
  await page.locator(REFUSED).waitFor()
  assert.equal(await page.locator('.digits:focus').getAttribute('aria-label'), 'hVal, 32 bytes')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Backspace')
  await page.locator(CONSISTENT).waitFor()
  await closePage(opened)
  return 'the keyboard reaches everything'
}

const folder = mkdtempSync(join(tmpdir(), 'explorer-'))

let chosen = 0

/**
 * Chooses a file on disk, so that the browser reads it without passing it through the page first.
 *
 * @returns its name, which no other file has
 */
async function chooseFile(page: Page, text: string | Buffer): Promise<string> {
  const name = `answer-${++chosen}.json`
  writeFileSync(join(folder, name), text)
  await page.setInputFiles('#choose', join(folder, name))
  return name
}

/** Chooses a file, and waits for its verdict. */
async function openFile(page: Page, content: unknown): Promise<string> {
  const name = await chooseFile(page, JSON.stringify(content))
  await page.locator('#file-status', { hasText: `${name}: ` }).waitFor()
  return verdictOf(page)
}

const contract = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))

/** A bare answer, a pasted one, a dropped one. The visitor edits the question in between. */
async function checkWaysIn(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  const { answer, stateRoot, storageKeys } = contract
  assert.equal(await openFile(page, answer), 'unjudged')
  assert.equal(await page.locator('.checks li[data-status="passed"]').count(), 0)
  await page.fill('#trusted', stateRoot)
  await page.locator(VERIFIED).waitFor()
  assert.match(
    await page.locator('.basis').innerText(),
    /Verified for the address and storage keys that the answer names/,
  )
  await page.fill('#storageKeys', storageKeys.toReversed().join('\n'))
  await page.locator(REFUSED).waitFor()
  assert.equal(await badgeOf(page), 'Refused: KEY_MISMATCH')
  await page.getByRole('button', { name: 'Clear' }).click()
  assert.equal(await page.inputValue('#trusted'), '')

  const paste = (text: string) =>
    page.evaluate(pasted => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      document.querySelector('#paste')?.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }))
    }, text)
  await paste(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer }))
  await page.locator('#file-status', { hasText: 'The pasted text: ' }).waitFor()
  assert.equal(await verdictOf(page), 'unjudged')
  await page.fill('#trusted', stateRoot)
  await page.locator(VERIFIED).waitFor()

  await page.evaluate(text => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([text], 'dropped.json'))
    window.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
  }, JSON.stringify(contract))
  await page.locator('#file-status', { hasText: /^dropped\.json: vector, 5 storage proofs/ }).waitFor()
  assert.equal(await verdictOf(page), 'verified')

  // Dropped as a desktop does it.
  const devtools = await opened.context.newCDPSession(page)
  const other = join(folder, 'other.json')
  writeFileSync(other, JSON.stringify(contract))
  const drops: readonly (readonly [files: string[], says: RegExp])[] = [
    [[folder], /^It cannot be read\. It is a folder, /],
    [[other, other, other], /^These are 3 files\. This page shows one at a time\.$/],
    [[other], /^other\.json: vector, 5 storage proofs/],
  ]
  for (const [files, says] of drops) {
    for (const type of ['dragEnter', 'drop'] as const) {
      const data = { items: [], files, dragOperationsMask: 1 }
      await devtools.send('Input.dispatchDragEvent', { type, x: 100, y: 100, data })
    }
    await page.locator('#file-status', { hasText: says }).waitFor()
  }

  await closePage(opened)
  return 'files, pasted text and drops are read; the verdict follows the form'
}

/**
 * The page cannot stand still for a file that it never has: all of the work is the worker's, and what that tells is bounded.
 *
 * @returns the characters of the largest message
 */
async function largestMessage(page: Page): Promise<number> {
  assert.equal(await page.evaluate(() => 'exploreOnPage' in window), false, 'the worker does the work')
  const largest = (await page.evaluate('largest')) as number
  assert.ok(largest > 0 && largest < MAX_MESSAGE, `a message of ${largest} characters`)
  return largest
}
/** 4,096 rows of slots, which an honest file can have. */
const MAX_MESSAGE = 2 ** 20

function manySlots(count: number): { answer: unknown; stateRoot: string; address: string; storageKeys: string[] } {
  const world = createWorld(poseidon2)
  const address = `0x${'ab'.repeat(20)}` as const
  const keys = Array.from({ length: count }, (_, index) => `0x${index.toString(16).padStart(64, '0')}` as const)
  world.setAccount(address, { balance: 1n })
  for (const key of keys) world.setStorage(address, { key, value: `0x${'01'.repeat(32)}` })
  return { answer: world.getProof(address, keys), stateRoot: world.stateRoot(), address, storageKeys: keys }
}

/** A valid, long bundle that requests many slots of an account without storage. */
function withKeys(count: number): unknown {
  const vector = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-l2-root.json', 'utf8'))
  const world = createWorld(poseidon2)
  const address = `0x${'ab'.repeat(20)}` as const
  world.setAccount(address, { balance: 1n })
  const storageKeys = Array.from({ length: count }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
  const { rollup } = vector.claim
  return {
    ...vector,
    claim: { rollup, trusted: { l2StateRoot: world.stateRoot() } },
    bundle: { ...vector.bundle, request: { address, storageKeys }, answer: world.getProof(address) },
  }
}

const MIB = 2 ** 20

async function checkHostileFiles(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  const junk = { key: `0x${'00'.repeat(32)}`, leafIndex: 1, proof: { value: '0x', proofRelatedNodes: [] } }
  const files: readonly (readonly [name: string, text: string | Buffer, seen: RegExp])[] = [
    ['15 MiB of brackets', `{"accountProof":${'['.repeat(15 * MIB)}`, /more than this program reads: nested/],
    ['6 MiB nested', `{"accountProof":${'['.repeat(3 * MIB)}${']'.repeat(3 * MIB)}}`, /nested more than/],
    [
      '100,000 proofs',
      JSON.stringify({ ...contract.answer, storageProofs: Array.from({ length: 100_000 }, () => junk) }),
      /Not verified yet/,
    ],
    ['15 MiB in one string', JSON.stringify({ accountProof: { key: '0'.repeat(15 * MIB) } }), /Not verified yet/],
    ['60,000 keys', JSON.stringify(withKeys(60_000)), /; 0 of its 60000 slots exist/],
    ['17 MiB', '{}'.padEnd(17 * MIB), /larger than 16 MiB\. The command/],
    ['no text', Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
    ['nothing', ' ', /empty/],
    ['something else', '{"a":1}', /not an answer, a JSON-RPC response/],
    ['records', '{"a":1}\n{"a":2}\n', /one JSON text per line: the command audit reads such files/],
    [
      'markup',
      JSON.stringify({ jsonrpc: '2.0', error: { code: 1, message: '<img src=x onerror=alert(1)>‮' } }),
      /sent an error, and no proof: <img src=x onerror=alert\(1\)>\?/s,
    ],
  ]
  for (const [name, text, seen] of files) {
    await chooseFile(page, text)
    await page.waitForFunction(
      pattern => new RegExp(pattern, 's').test(document.querySelector('#verdict')?.textContent ?? ''),
      seen.source,
    )
    await verdictOf(page)
    if (name !== '60,000 keys') {
      // Nothing of the file before is left to be confirmed.
      assert.equal(await page.locator('#comparing:visible').count(), 0, name)
      await page.fill('#trusted', `0x${'00'.repeat(32)}`)
      await page.fill('#address', `0x${'00'.repeat(20)}`)
      await page.selectOption('#scheme', 'poseidon2')
      await verdictOf(page)
      assert.equal(await page.locator('#verdict[data-verdict="verified"]').count(), 0, name)
    }
    assert.equal(await page.locator('main img, main script').count(), 0, name)
    const elements = await page.locator('*').count()
    assert.ok(elements < 3000, `${name}: ${elements} elements`)
    await page.getByRole('button', { name: 'Clear' }).click()
  }
  const largest = await largestMessage(page)

  const { storageKeys, ...question } = manySlots(1000)
  const many = { scheme: 'poseidon2', ...question, storageKeys, expected: { valid: true } }
  assert.equal(await openFile(page, many), 'consistent')
  assert.match(await page.locator('.basis').innerText(), /1000 of its 1000 slots exist/)
  assert.equal(await page.locator('.proofs li').count(), 20)
  await page.getByRole('button', { name: 'Show 20 more of 1001' }).click()
  assert.equal(await page.locator('.proofs li').count(), 40)
  await closePage(opened)
  return `hostile files leave the page alive; largest message: ${largest} characters`
}

/** A worker that never answers simulates a file that takes forever. */
async function checkStopping(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  await page.route('**/worker.js', route =>
    route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => { for (;;) {} }' }),
  )
  await page.reload()
  await page.locator('#examples-button').click()
  await page.locator('#examples button').first().click()
  await page.unroute('**/worker.js')
  assert.equal(await choose(page, 'Contract with slots'), 'consistent')

  await page.route('**/worker.js', route =>
    route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => { for (;;) {} }' }),
  )
  await page.reload()
  await page.locator('#examples-button').click()
  await page.locator('#examples button').first().click()
  await page.evaluate('giveUp()')
  await page.getByText('Given up: it took longer than 15 seconds.').first().waitFor()
  await page.unroute('**/worker.js')
  assert.equal(await choose(page, 'Inner node altered'), 'refused')

  await page.route('**/worker.js', route => route.abort())
  await page.reload()
  await page.getByText('The worker broke down').first().waitFor()
  await page.unroute('**/worker.js')
  assert.equal(await choose(page, 'Inner node altered'), 'refused')
  await closePage(opened)
  return 'what takes too long is stopped, for another file and by itself'
}

/** The page opened from disk, where browsers provide no worker. */
async function checkFromDisk(): Promise<string> {
  const start = pathToFileURL(`${FOLDER}/index.html`).href
  const { page, context } = await openPage('file:', {}, start)
  assert.match(await page.locator('#no-worker').innerText(), /^Opened from disk: files up to 2 MiB/)
  assert.equal(await choose(page, 'Absent slot'), 'consistent')
  assert.equal(await choose(page, 'Key raised by the modulus'), 'refused')
  await context.close()
  return 'it works from the disk too'
}

try {
  const checks = [
    () => checkExamples(strict.origin),
    () => {
      assert.ok(wasmRefusals > 0, 'the strict policy refuses WebAssembly')
      wasmRefusals = 0
      return checkExamples(fast.origin)
    },
    checkFirstView,
    checkNumberLine,
    checkAddress,
    checkTrust,
    checkLoading,
    checkVerifying,
    checkStillness,
    checkTraces,
    checkPrint,
    checkKeyboard,
    checkDigits,
    checkForcedColours,
    checkNames,
    checkPhone,
    checkAuditor,
    checkWaysIn,
    checkAppearance,
    checkHostileFiles,
    checkStopping,
    checkFromDisk,
  ]
  /** With names of checks as arguments, only these run. */
  const wanted = process.argv.slice(2)
  for (const [index, check] of checks.entries()) {
    if (wanted.length > 0 && !wanted.includes(check.name)) continue
    console.log(await check())
    if (index === 1) assert.equal(wasmRefusals, 0, 'WebAssembly is used where it is allowed')
    assert.deepEqual(complaints, [])
  }
  console.log(
    `${requests} requests, none to anywhere else; no errors, no violations but WebAssembly where it is refused`,
  )
} finally {
  rmSync(folder, { recursive: true })
  await browser.close()
  strict.server.close()
  fast.server.close()
}
