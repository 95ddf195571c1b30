import { existsSync, readdirSync } from 'node:fs'

/** A browser installed by Debian. */
export interface Installed {
  readonly name: string
  /** The package that installs it. */
  readonly debian: string
  readonly executable: string
}

const LIBRARIES = '/usr/lib'
/** The path contains the machine's architecture. */
const miniBrowser = readdirSync(LIBRARIES)
  .map(folder => `${LIBRARIES}/${folder}/webkit2gtk-4.1/MiniBrowser`)
  .find(path => existsSync(path))

const { CI, CHROMIUM, FIREFOX, MINIBROWSER } = process.env
export const chromium: Installed = {
  name: 'Chromium',
  debian: 'chromium',
  executable: CHROMIUM ?? '/usr/bin/chromium',
}
export const firefox: Installed = {
  name: 'Firefox',
  debian: 'firefox-esr',
  executable: FIREFOX ?? '/usr/bin/firefox-esr',
}
export const webkit: Installed = {
  name: 'WebKitGTK',
  debian: 'webkit2gtk-driver xvfb',
  executable: MINIBROWSER ?? miniBrowser ?? 'MiniBrowser',
}

/**
 * Returns whether a browser is installed. In CI, a missing browser is an error. Elsewhere its tests are skipped, and the
 * reason is printed.
 *
 * @param skipped which tests are skipped without the browser
 */
export function isInstalled({ name, debian, executable }: Installed, skipped: string): boolean {
  if (existsSync(executable)) return true
  const reason = `${name} is not installed (apt-get install ${debian}): ${skipped}`
  if (CI !== undefined) throw new Error(reason)
  console.log(reason)
  return false
}
