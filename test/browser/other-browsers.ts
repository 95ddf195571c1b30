/**
 * Checks the explorer's views in Firefox and WebKitGTK. SCREENSHOTS is a folder for screenshots, if set.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDisplay } from './display.ts'
import { openFirefox } from './firefox.ts'
import { firefox, isInstalled, webkit } from './installed.ts'
import type { OpenPage } from './page.ts'
import { serve } from './site.ts'
import { checkViews } from './views.ts'
import { webkitOn } from './webkit.ts'

const { SCREENSHOTS } = process.env
const { server, origin } = await serve('docs/explorer', true)

async function check(name: string, open: OpenPage): Promise<void> {
  const folder = SCREENSHOTS && join(SCREENSHOTS, name)
  if (folder) mkdirSync(folder, { recursive: true })
  const views = await checkViews(open, origin, folder)
  console.log(
    `${name}: ${views} views have their verdicts; nothing sticks out, axe finds nothing, nothing else is asked`,
  )
}

try {
  if (isInstalled(firefox, 'its views are not tested')) await check(firefox.name, openFirefox)
  if (isInstalled(webkit, 'its views are not tested')) {
    const display = await openDisplay()
    try {
      await check(webkit.name, webkitOn(display))
    } finally {
      await display.close()
    }
  }
} finally {
  server.close()
  server.closeAllConnections()
}
