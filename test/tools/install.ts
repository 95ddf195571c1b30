/**
 * Installs the packages of the folders that it is given, which only some scripts need. Each has a lock file of its own, and what was
 * installed from that is kept.
 */
import { execSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

for (const folder of process.argv.slice(2)) {
  const lock = readFileSync(join(folder, 'package-lock.json'))
  const installed = join(folder, 'node_modules/.installed-lock.json')
  if (existsSync(installed) && readFileSync(installed).equals(lock)) continue
  console.log(`installing what ${folder} needs`)
  const options = '--ignore-scripts --no-audit --no-fund --loglevel=error'
  execSync(`npm ci --prefix ${folder} ${options}`, { stdio: ['ignore', 'ignore', 'inherit'] })
  writeFileSync(installed, lock)
}
