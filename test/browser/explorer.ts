import { strict as assert } from 'node:assert'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { exampleSources } from '../../src/explorer/examples.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { createWorld } from '../../src/world.ts'
import { launch } from './launch.ts'
import { serve } from './site.ts'

/**
 * The explorer in a real browser, from a file server with a strict policy: every example and its verdict, the keyboard,
 * narrow screens, both colour schemes, hostile files, and no requests to other origins.
 */
const FOLDER = 'docs/explorer'
const WAIT = 30_000

const browser = await launch()
const strict = await serve(FOLDER)
const fast = await serve(FOLDER, true)

/** Everything that must not happen on a page. Checked to be empty after each check. */
const complaints: string[] = []
let wasmRefusals = 0
let requests = 0

/** The only violation of the strict policy: the hash kernels. Their fallback takes over. */
const WASM_REFUSAL = 'script-src wasm-eval'

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
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event => {
      Reflect.get(window, 'onViolation')(`${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
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

const verdictOf = async (page: Page): Promise<string> => {
  await page.waitForFunction(() => {
    const verdict = document.querySelector('#verdict')
    return verdict?.getAttribute('aria-busy') === 'false' && !verdict.textContent?.includes('Verifying')
  })
  return (await page.locator('#verdict').getAttribute('data-verdict')) ?? ''
}
const headlineOf = (page: Page): Promise<string> => page.locator('.headline').innerText()

async function choose(page: Page, title: string): Promise<string> {
  // The list is initially closed in narrow windows.
  await page.locator('#examples').evaluate(list => list.setAttribute('open', ''))
  await page.locator('#examples button', { hasText: new RegExp(`^${title.replace(/[\^]/g, '\\$&')}$`) }).click()
  await page.locator('#proof:not([hidden]), #verdict[data-verdict="none"]').first().waitFor()
  return verdictOf(page)
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
    const { expected } = JSON.parse(readFileSync(`vectors/${path}`, 'utf8'))
    const verdict = await choose(page, title)
    const headline = await headlineOf(page)
    assert.equal(verdict, expected.valid ? 'verified' : 'refused', `${group}: ${title}`)
    if (!expected.valid) assert.equal(headline, `Refused: ${expected.code}`, title)
    assert.equal(await page.locator('.checks li[data-status="failed"]').count(), expected.valid ? 0 : 1, title)
  }
  await closePage(opened)
  return `${exampleSources.length} examples have their verdicts`
}

async function checkAppearance(): Promise<string> {
  let looked = 0
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [320, 390, 1280]) {
      const opened = await openPage(strict.origin, { colorScheme, viewport: { width, height: 800 } })
      const { page } = opened
      assert.deepEqual(await axeViolations(page), [], `before a file, ${colorScheme} ${width}`)
      for (const { title } of exampleSources) {
        await choose(page, title)
        await page.evaluate(() => {
          for (const details of document.querySelectorAll('details')) details.open = true
        })
        assert.deepEqual(await overflowing(page), [], `${title} at ${width}`)
        const isSampled =
          width !== 390 && /^(Contract with slots|Absent slot|Inner node altered|From an L1)/.test(title)
        if (isSampled) assert.deepEqual(await axeViolations(page), [], `${title}, ${colorScheme} ${width}`)
        looked++
      }
      await closePage(opened)
    }
  }
  return `${looked} views: nothing sticks out, axe finds nothing`
}

/** The page opens on an example. The verdict is green only for inputs that the visitor stated. Wrong input is not a refusal. */
async function checkFirstView(): Promise<string> {
  const opened = await openPage(strict.origin, { viewport: { width: 1280, height: 900 } })
  const { page } = opened
  await page.locator('#proof:not([hidden])').waitFor()
  assert.equal(await verdictOf(page), 'verified')
  assert.match(await headlineOf(page), /^Consistent with the L1 block hash that the file states: this account exists/)
  assert.equal(await page.locator('#verdict[data-stated]').count(), 0)
  assert.deepEqual(
    await page.locator('.chain-box').evaluateAll(boxes => boxes.map(box => box.getAttribute('data-state'))),
    ['trusted', ...['passed', 'passed', 'passed', 'passed']],
  )
  const hash = await page.inputValue('#trusted')
  await page.fill('#trusted', hash.slice(0, -1))
  await page.locator('#verdict[data-verdict="unjudged"]').waitFor()
  assert.equal(await headlineOf(page), 'Check your input')
  assert.equal(await page.getAttribute('#trusted', 'aria-invalid'), 'true')
  assert.match(await page.locator('#trusted-source').innerText(), /64 hexadecimal digits: there are 63 digits/)
  await page.fill('#trusted', hash)
  await page.locator('#verdict[data-verdict="verified"]').waitFor()
  assert.equal(await page.getAttribute('#trusted', 'aria-invalid'), null)
  assert.match(
    await headlineOf(page),
    /^Verified against the L1 block hash that you stated, with other inputs from the file/,
  )
  await page.getByRole('button', { name: 'This is what I asked for' }).click()
  await page.locator('#verdict[data-stated]').waitFor()
  assert.match(await headlineOf(page), /^Verified against the L1 block hash that you stated: this account exists/)
  assert.deepEqual(await axeViolations(page), [])
  await choose(page, 'Neighbours with a leaf between')
  const links = page.locator('.link')
  assert.deepEqual(await links.evaluateAll(all => all.map(link => link.hasAttribute('data-elsewhere'))), [true, true])
  await closePage(opened)
  return 'it opens on an example, and is green only for what the visitor stated'
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
  await tabTo(page, '#file')
  await tabTo(page, '#paste')
  await tabTo(page, '#examples li:nth-child(2) button')
  await page.keyboard.press('Enter')
  await page.locator('#proof:not([hidden])').waitFor()
  assert.equal(await verdictOf(page), 'verified')
  await tabTo(page, '#trusted')
  await page.keyboard.press('End')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('0')
  await page.locator('#verdict[data-verdict="refused"]').waitFor()
  assert.equal(await headlineOf(page), 'Refused: STATE_ROOT_MISMATCH')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('7')
  await page.locator('#verdict[data-verdict="verified"]').waitFor()
  await tabTo(page, '.proofs li:nth-child(2) button')
  await page.keyboard.press('Enter')
  await page.locator('.gap').waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'proof')
  await tabTo(page, '.fold summary')
  await page.keyboard.press('Enter')
  assert.ok(await page.locator('.fold details[open]').count())
  await tabTo(page, '.level')
  assert.match(await page.locator('.path .explanation').first().innerText(), /^Level \d+\. Node \d+ makes the sibling/)
  await tabTo(page, '[role=option]')
  await page.keyboard.press('ArrowDown')
  const explanation = await page.locator('.bytes .explanation').first().innerText()
  assert.match(explanation, /^next Index of the leaf with the next larger key hash/)
  await page.keyboard.press('End')
  assert.equal(await page.locator('[role=option]:focus').getAttribute('aria-selected'), 'true')
  await closePage(opened)
  return 'the keyboard reaches everything'
}

const folder = mkdtempSync(join(tmpdir(), 'explorer-'))

/** Chooses a file on disk, so that the browser reads it without passing it through the page first. */
function chooseFile(page: Page, text: string | Buffer): Promise<void> {
  const path = join(folder, 'answer.json')
  writeFileSync(path, text)
  return page.setInputFiles('#file', path)
}

const contract = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))

/** A bare answer, a pasted one, a dropped one, a dragged example. The visitor edits the question in between. */
async function checkWaysIn(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  const { answer, stateRoot, storageKeys } = contract
  await chooseFile(page, JSON.stringify(answer))
  await page.locator('#verdict[data-verdict="unjudged"]').waitFor()
  assert.equal(await page.locator('.checks li[data-status="passed"]').count(), 0)
  await page.fill('#trusted', stateRoot)
  await page.locator('#verdict[data-verdict="verified"]').waitFor()
  assert.match(
    await page.locator('#verdict').innerText(),
    /came from the answer: check that this is what you asked for/,
  )
  await page.fill('#storageKeys', storageKeys.toReversed().join('\n'))
  await page.locator('#verdict[data-verdict="refused"]').waitFor()
  assert.equal(await headlineOf(page), 'Refused: KEY_MISMATCH')
  await page.getByRole('button', { name: 'Clear' }).click()
  assert.equal(await page.inputValue('#trusted'), '')

  const paste = (text: string) =>
    page.evaluate(pasted => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      document.querySelector('#paste')?.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }))
    }, text)
  await paste(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer }))
  await page.locator('#verdict[data-verdict="unjudged"]').waitFor()
  await page.fill('#trusted', stateRoot)
  await page.locator('#verdict[data-verdict="verified"]').waitFor()

  await page.evaluate(text => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([text], 'dropped.json'))
    window.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
  }, JSON.stringify(contract))
  await page.locator('#verdict[data-verdict="verified"]').waitFor()
  assert.match(await page.locator('#file-status').innerText(), /^dropped\.json: vector, 5 storage proofs/)

  // Dropped as a desktop does it.
  const devtools = await opened.context.newCDPSession(page)
  const other = join(folder, 'other.json')
  writeFileSync(other, JSON.stringify(contract))
  const drops: readonly (readonly [files: string[], says: RegExp])[] = [
    [[folder], /^This is a folder\. Open one of the files in it\.$/],
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

  // High enough that nothing scrolls under the pointer.
  await page.setViewportSize({ width: 1280, height: 1600 })
  await page.locator('#examples li', { hasText: 'Root of another block' }).dragTo(page.locator('#drop'))
  await page.locator('#verdict[data-verdict="refused"]').waitFor()
  assert.equal(await headlineOf(page), 'Refused: STATE_ROOT_MISMATCH')
  await closePage(opened)
  return 'files, pasted text, drops and dragged examples are read; the verdict follows the form'
}

/** Measures the longest time in ms during which `work` blocks the page. */
async function longestPause(page: Page, work: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    let last = performance.now()
    Reflect.set(window, 'longest', 0)
    setInterval(() => {
      const now = performance.now()
      Reflect.set(window, 'longest', Math.max(Reflect.get(window, 'longest'), now - last))
      last = now
    }, 20)
  })
  await work()
  return page.evaluate(() => Math.round(Reflect.get(window, 'longest')))
}

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
    ['15 MiB of brackets', `{"accountProof":${'['.repeat(15 * MIB)}`, /not JSON/],
    ['6 MiB nested', `{"accountProof":${'['.repeat(3 * MIB)}${']'.repeat(3 * MIB)}}`, /nested more than/],
    [
      '100,000 proofs',
      JSON.stringify({ ...contract.answer, storageProofs: Array.from({ length: 100_000 }, () => junk) }),
      /Not verified yet/,
    ],
    ['15 MiB in one string', JSON.stringify({ accountProof: { key: '0'.repeat(15 * MIB) } }), /Not verified yet/],
    ['60,000 keys', JSON.stringify(withKeys(60_000)), / 0 of its 60000 slots exist/],
    ['17 MiB', '{}'.padEnd(17 * MIB), /larger than 16 MiB/],
    ['no text', Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
    ['nothing', ' ', /empty/],
    ['something else', '{"a":1}', /not an answer, a JSON-RPC response/],
    [
      'markup',
      JSON.stringify({ jsonrpc: '2.0', error: { code: 1, message: '<img src=x onerror=alert(1)>‮' } }),
      /ANSWER_IS_ERROR.*<img src=x onerror=alert\(1\)>\?/s,
    ],
  ]
  const pauses: string[] = []
  for (const [name, text, seen] of files) {
    const pause = await longestPause(page, async () => {
      await chooseFile(page, text)
      await page.waitForFunction(
        pattern => new RegExp(pattern, 's').test(document.querySelector('#verdict')?.textContent ?? ''),
        seen.source,
      )
      if (name === '60,000 keys') return
      await page.fill('#trusted', `0x${'00'.repeat(32)}`)
      await page.fill('#address', `0x${'00'.repeat(20)}`)
      await page.selectOption('#scheme', 'poseidon2')
      await verdictOf(page)
    })
    if (name !== '60,000 keys') assert.equal(await page.locator('#verdict[data-verdict="verified"]').count(), 0, name)
    assert.equal(await page.locator('main img, main script').count(), 0, name)
    const elements = await page.locator('*').count()
    assert.ok(elements < 3000, `${name}: ${elements} elements`)
    pauses.push(`${name} ${pause}`)
    assert.ok(pause < 3000, `${name}: the page stood still for ${pause} ms`)
    await page.getByRole('button', { name: 'Clear' }).click()
  }

  const { storageKeys, ...question } = manySlots(1000)
  await chooseFile(page, JSON.stringify({ scheme: 'poseidon2', ...question, storageKeys, expected: { valid: true } }))
  await page.locator('#proof:not([hidden])').waitFor()
  assert.equal(await verdictOf(page), 'verified')
  assert.match(await headlineOf(page), /1000 of its 1000 slots exist/)
  assert.equal(await page.locator('.proofs li').count(), 20)
  await page.getByRole('button', { name: 'Show 20 more of 1001' }).click()
  assert.equal(await page.locator('.proofs li').count(), 40)
  await closePage(opened)
  return `hostile files leave the page alive; longest pauses in ms: ${pauses.join(', ')}`
}

/** A worker that never answers simulates a file that takes forever. */
async function checkStopping(): Promise<string> {
  const opened = await openPage(strict.origin)
  const { page } = opened
  await page.route('**/worker.js', route =>
    route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => { for (;;) {} }' }),
  )
  await page.reload()
  await page.locator('#examples button').first().click()
  await page.unroute('**/worker.js')
  await page.getByRole('button', { name: 'Stop' }).click()
  assert.equal(await page.locator('#file-status').innerText(), 'Stopped.')
  assert.equal(await choose(page, 'Contract with slots'), 'verified')

  await page.route('**/worker.js', route =>
    route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => { for (;;) {} }' }),
  )
  await page.reload()
  await page.locator('#examples button').first().click()
  await page.unroute('**/worker.js')
  await page.getByText('Given up: it took longer than 15 seconds.').first().waitFor()
  assert.equal(await choose(page, 'Inner node altered'), 'refused')

  await page.route('**/worker.js', route => route.abort())
  const blocked = page.waitForEvent('console')
  await page.reload()
  await page.locator('#no-worker:not([hidden])').waitFor()
  await blocked
  await opened.context.close()
  // The browser reports the script that was blocked.
  assert.ok(complaints.length > 0 && complaints.every(complaint => complaint.includes('ERR_FAILED')), complaints.join())
  complaints.length = 0
  return 'what takes too long is stopped, by hand and by itself'
}

/** The page opened from disk, where browsers provide no worker. */
async function checkFromDisk(): Promise<string> {
  const start = pathToFileURL(`${FOLDER}/index.html`).href
  const { page, context } = await openPage('file:', {}, start)
  assert.match(await page.locator('#no-worker').innerText(), /^Opened without a web server/)
  assert.equal(await choose(page, 'Absent slot'), 'verified')
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
    checkKeyboard,
    checkWaysIn,
    checkAppearance,
    checkHostileFiles,
    checkStopping,
    checkFromDisk,
  ]
  for (const [index, check] of checks.entries()) {
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
