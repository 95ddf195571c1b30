/** For Node, Bun and Deno: runs `corpus.json`, optionally without WebAssembly, and prints the report as JSON. */
import { readFileSync } from 'node:fs'
import { loadCheck } from './check.ts'

const { bun, deno, node } = process.versions
const version = bun ?? deno ?? node
if (process.argv.includes('--without-webassembly')) Reflect.deleteProperty(globalThis, 'WebAssembly')
const check = await loadCheck()
const report = check(JSON.parse(readFileSync('corpus.json', 'utf8')))
console.log(JSON.stringify({ version, ...report }))
