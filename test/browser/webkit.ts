import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../port.ts'
import type { Display } from './display.ts'
import { webkit } from './installed.ts'
import type { BrowserPage, Key, OpenPage } from './page.ts'

/** The code points of keys: W3C WebDriver, section 17.4.2. */
const KEYS: Readonly<Record<Key, string>> = { Tab: '\uE004', Enter: '\uE007', ArrowDown: '\uE015', End: '\uE010' }
/** The field that identifies an element: W3C WebDriver, section 12. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'

/** Shrinks the browser's toolbar, which would keep the window wider than a phone. */
const TOOLBAR_STYLE =
  'headerbar, headerbar *, toolbar, toolbar *, entry, button { min-width: 0; padding: 0; margin: 0; border-width: 0; font-size: 1px }'

/** Opens WebKitGTK through its own driver, with the W3C WebDriver protocol. */
export function webkitOn({ name }: Display): OpenPage {
  return async ({ width, height, colorScheme }) => {
    const port = await freePort()
    const home = mkdtempSync(join(tmpdir(), 'webkit-'))
    mkdirSync(join(home, 'gtk-3.0'))
    writeFileSync(join(home, 'gtk-3.0', 'gtk.css'), TOOLBAR_STYLE)
    const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
      env: { ...process.env, DISPLAY: name, HOME: home, XDG_CONFIG_HOME: home },
      stdio: ['ignore', 'ignore', 'inherit'],
    })

    async function call(method: 'POST' | 'GET' | 'DELETE', path: string, body?: object): Promise<unknown> {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      })
      const { value } = (await response.json()) as { value: unknown }
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`)
      return value
    }

    const args = ['--automation']
    if (colorScheme === 'dark') args.push('--dark-mode')
    const options = { binary: webkit.executable, args }
    const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options } }
    await untilListening(port, driver)
    const { sessionId } = (await call('POST', '/session', { capabilities })) as { sessionId: string }
    const session = `/session/${sessionId}`
    const post = (path: string, body: object) => call('POST', `${session}/${path}`, body)
    await post('window/rect', { width, height })
    return {
      goto: async url => {
        await post('url', { url })
      },
      evaluate: (script, ...args) =>
        post('execute/sync', { script: `return (${script})(...arguments)`, args }) as never,
      run: async source => {
        await post('execute/sync', { script: source, args: [] })
      },
      async press(key) {
        const actions = ['keyDown', 'keyUp'].map(type => ({ type, value: KEYS[key] }))
        await post('actions', { actions: [{ type: 'key', id: 'keyboard', actions }] })
      },
      async chooseFile(selector, path) {
        const element = (await post('element', { using: 'css selector', value: selector })) as Record<string, string>
        await post(`element/${element[ELEMENT]}/value`, { text: path })
      },
      screenshot: async () => Buffer.from((await call('GET', `${session}/screenshot`)) as string, 'base64'),
      async close() {
        await call('DELETE', session)
        driver.kill()
        if (driver.exitCode === null) await once(driver, 'exit')
        rmSync(home, { recursive: true, force: true, maxRetries: 5 })
      },
    } satisfies BrowserPage
  }
}

async function untilListening(port: number, driver: ChildProcess): Promise<void> {
  while (driver.exitCode === null) {
    const response = await fetch(`http://127.0.0.1:${port}/status`).catch(() => undefined)
    if (response?.ok) return
    await sleep(100)
  }
  throw new Error('WebKitWebDriver has ended')
}
