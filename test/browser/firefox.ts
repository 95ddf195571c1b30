import puppeteer from 'puppeteer-core'
import { firefox } from './installed.ts'
import type { OpenPage } from './page.ts'

/** Opens Firefox through WebDriver BiDi, which needs no separate driver. */
export const openFirefox: OpenPage = async ({ width, height, colorScheme }) => {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: firefox.executable,
    defaultViewport: { width, height },
    extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1 },
  })
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', message => complaints.push(`console ${message.type()}: ${message.text()}`))
  page.on('pageerror', error => complaints.push(`an error: ${error}`))
  return {
    goto: async url => {
      await page.goto(url)
    },
    evaluate: (script, ...args) => page.evaluate(script as never, ...args),
    run: async source => {
      await page.evaluate(source)
    },
    press: key => page.keyboard.press(key),
    async chooseFile(selector, path) {
      const input = await page.$(`input${selector}`)
      if (input === null) throw new Error(`no ${selector}`)
      await (input as never as { uploadFile(path: string): Promise<void> }).uploadFile(path)
    },
    screenshot: () => page.screenshot(),
    complaints: () => complaints,
    close: () => browser.close(),
  }
}
