#!/usr/bin/env node
/** Imports nothing before it knows the version, because an older Node would end in a SyntaxError while it links the modules. */
const { node } = process.versions
const [major = 0, minor = 0] = node.split('.').map(Number)
if (major > 20 || (major === 20 && minor >= 19)) await import('./dist/start.js')
else {
  process.stderr.write(`rollup-state-proof: it needs Node 20.19 or later, and this is Node ${node}\n`)
  process.exitCode = 2
}
