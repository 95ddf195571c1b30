import { type Browser, chromium } from 'playwright-core'

const { CHROMIUM = '/usr/bin/chromium' } = process.env

/** Launches Chromium without its background requests. */
export const launch = (...more: readonly string[]): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  })
